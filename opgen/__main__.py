"""The `opgen` command: the first word says what to do, the rest are its flags.

    opgen gen --install-dir out        python -m opgen gen …

Each command is imported when it is asked for, so that a run with nothing to do is over at once.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from opgen import __version__
from opgen.releases.known import describe_releases
from opgen.run.entry import run_as_program

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "gen": "write the sources of ATen, or of a set of operators like it",
        "check": "say what gen would change",
        "check_aoti_c_shim": "say whether kept headers of AOTInductor's shims are what the operators give",
        "diff": "say what changes between two definitions files",
        "gen_autograd": "write the kernels that record gradients, from derivatives.yaml",
        "gen_python": "write the Python bindings",
        "gen_pyi": "write type stubs of the bindings",
        "gen_annotated_fn_args": "write what arguments the functions of torch take, for tests of overrides",
        "gen_static_runtime": "write the operators of the static runtime, and their tests",
        "gen_backend_stubs": "write the registrations of a backend that lives outside of torch",
        "gen_lazy_tensor": "write the nodes and kernels of a backend that is lazy",
        "gen_unboxing": "write kernels for TorchScript's interpreter, for selected operators",
        "select": "make, join and check selections of operators for small builds",
        "gen_mobile_upgraders": "write what the mobile interpreter runs in the place of operators that have changed",
        "decompositions": "write the functions that TorchScript may put in the place of operators",
        "fuse": "write the patterns that Inductor looks for in graphs",
        "new": "lay out a project of operators of one's own",
    }
)
"""The module of each command is named after it."""


CMAKE_DIR_FLAG: Final = "--cmake-dir"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command that the command line names; returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == [CMAKE_DIR_FLAG]:
        sys.stdout.write(f"{Path(__file__).resolve().parent / 'cmake'}\n")
        return 0
    if not arguments or arguments[0] not in COMMANDS:
        _build_parser().parse_args(arguments[:1])
    code: int = importlib.import_module(f"opgen.{arguments[0]}").main(arguments[1:])
    return code


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="opgen",
        description="Generate the code of PyTorch operators.",
        epilog="'opgen gen --help' lists the flags of gen, which check and diff take too.",
    )
    parser.add_argument("--version", action="version", version=f"opgen {__version__}, for {describe_releases()}")
    parser.add_argument(CMAKE_DIR_FLAG, action="store_true", help="say where the CMake package is, for -Dopgen_DIR=")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, what in COMMANDS.items():
        commands.add_parser(name, help=what)
    return parser


def entry_point() -> None:
    """Runs as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
