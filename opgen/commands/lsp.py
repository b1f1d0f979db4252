"""`opgen lsp`: serve an editor over standard input and output (needs `pip install 'opgen[lsp]'`).

Diagnostics while you type, `explain` on hover, and "go to definition" for delegates, derivatives and kernels.
"""

from __future__ import annotations

import argparse
import importlib
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.run.command import Answer, Command, Group
from opgen.run.flags import add_torch_version, add_volume


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flag that editors pass, and those of every command."""
    parser.add_argument("--stdio", action="store_true", help="use standard input and output, which is the default")
    add_volume(parser)
    add_torch_version(parser)


def load(given: argparse.Namespace, log: Diagnostics) -> Answer | None:
    """Serve until the editor ends the session; None, with the reason logged, if pygls is missing."""
    try:
        server = importlib.import_module("opgen.commands._language_server").build_server(given.torch_version)
    except ModuleNotFoundError as problem:
        if problem.name is None or problem.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        log.error("pygls-missing", "the language server needs pygls", label="pip install 'opgen[lsp]'")
        return None
    server.start_io()
    return Answer("")


COMMAND: Final = Command(
    name="lsp",
    group=Group.OPERATORS,
    summary="serve an editor: diagnostics while you type, explanations, definitions",
    produces="Speaks the Language Server Protocol on standard input and output.  Needs pip install 'opgen[lsp]'.",
    add_flags=add_flags,
    load=load,
)
