"""`opgen lsp`: serve an editor over standard input and output (needs `pip install 'opgen[lsp]'`).

Diagnostics while you type, `explain` on hover, and "go to definition" for delegates, derivatives and kernels.
"""

from __future__ import annotations

import argparse
import importlib
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.run.command import Command, Group, Result
from opgen.run.flags import add_torch_version, add_verbosity


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flag that editors pass, and those of every command."""
    parser.add_argument("--stdio", action="store_true", help="use standard input and output, which is the default")
    add_verbosity(parser)
    add_torch_version(parser)


def load(options: argparse.Namespace, log: Diagnostics) -> Result | None:
    """Serve until the editor ends the session; None, with an error logged, if pygls is missing."""
    try:
        server = importlib.import_module("opgen.commands._language_server").build_server(options.torch_version)
    except ModuleNotFoundError as problem:
        if problem.name is None or problem.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        log.error("pygls-missing", "the language server needs pygls", label="pip install 'opgen[lsp]'")
        return None
    server.start_io()
    return Result("")


COMMAND: Final = Command(
    name="lsp",
    group=Group.OPERATORS,
    summary="serve an editor: diagnostics while you type, explanations, definitions",
    produces="Speaks the Language Server Protocol on standard input and output.  Needs pip install 'opgen[lsp]'.",
    add_flags=add_flags,
    load=load,
)
