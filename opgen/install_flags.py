"""The flags of generators that write to one folder, which has to be named: there is no place that suits all.

install_parser("gen_static_runtime", "Generate …")     --install-dir, --dry-run, --quiet, --verbose, --version
add_definitions(parser)                                --source-path or --from-torch
"""

from __future__ import annotations

import argparse
from pathlib import Path

from opgen import __version__
from opgen.inputs import FROM_TORCH_FLAG, SOURCE_PATH_FLAG


def install_parser(command: str, description: str) -> argparse.ArgumentParser:
    """The command line that such generators have in common."""
    parser = argparse.ArgumentParser(prog=f"opgen {command}", description=description, allow_abbrev=False)
    parser.add_argument(
        "-d", "--install-dir", "--install_dir", type=Path, required=True, metavar="DIR", help="folder to write to"
    )
    parser.add_argument("--dry-run", "--dry_run", action="store_true", help="write nothing, but say what would change")
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("-q", "--quiet", action="store_true", help="say nothing unless something is wrong")
    talk.add_argument("-v", "--verbose", action="store_true", help="name the files that change")
    parser.add_argument("--version", action="version", version=f"opgen {__version__}")
    return parser


def add_definitions(parser: argparse.ArgumentParser) -> None:
    """The flags that say where operators are defined; without them, opgen's own are taken."""
    sources = parser.add_mutually_exclusive_group()
    sources.add_argument(
        "-s",
        SOURCE_PATH_FLAG,
        "--source_path",
        type=Path,
        metavar="DIR",
        help="folder of the definitions (native/*.yaml); default: opgen's own",
    )
    sources.add_argument(
        FROM_TORCH_FLAG, "--from_torch", action="store_true", help="use the definitions of the installed torch"
    )
