"""Flags that several commands have, each said once; and those of generators that write to one folder.

add_talk(parser)               --quiet, --verbose, --version, --torch-version
add_dry_run(parser)            --dry-run
add_definitions(parser)        --source-path or --from-torch
add_build(group)               --jobs, --stamp, --depfile
install_parser("gen_static_runtime", "Generate …")     --install-dir, --dry-run, --quiet, --verbose, --version
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final, TypeAlias

from opgen import __version__
from opgen.releases.choice import TORCH_VERSION_FLAG
from opgen.releases.known import describe_releases
from opgen.run.inputs import FROM_TORCH_FLAG, SOURCE_PATH_FLAG

STAMP_FLAG: Final = "--stamp"
DEPFILE_FLAG: Final = "--depfile"

_Flags: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"


def add_talk(parser: argparse.ArgumentParser, *, verbose: str = "name the files that change") -> None:
    """How much a run says, and the version; `verbose` is what more it says then."""
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("-q", "--quiet", action="store_true", help="say nothing unless something is wrong")
    talk.add_argument("-v", "--verbose", action="store_true", help=verbose)
    parser.add_argument("--version", action="version", version=f"opgen {__version__}, for {describe_releases()}")
    add_torch_version(parser)


def add_torch_version(parser: _Flags) -> None:
    """The flag that names the release of torch."""
    parser.add_argument(
        TORCH_VERSION_FLAG,
        "--torch_version",
        metavar="VERSION",
        help="the release of torch that the definitions are of, such as 2.12; default: what the source tree says, "
        "or else the installed torch",
    )


def add_dry_run(parser: _Flags) -> None:
    """The flag of a run that writes nothing."""
    parser.add_argument("--dry-run", "--dry_run", action="store_true", help="write nothing, but say what would change")


def add_definitions(
    parser: _Flags,
    *,
    folder: str = "folder of the definitions (native/*.yaml); default: opgen's own",
    torch: str = "use the definitions of the installed torch",
) -> None:
    """The flags that say where operators are defined; without them, opgen's own are taken."""
    sources = parser.add_mutually_exclusive_group()
    sources.add_argument("-s", SOURCE_PATH_FLAG, "--source_path", type=Path, metavar="DIR", help=folder)
    sources.add_argument(FROM_TORCH_FLAG, "--from_torch", action="store_true", help=torch)


def add_build(build: _Flags) -> None:
    """What build systems want: the number of processes, and files to wait for."""
    build.add_argument(
        "-j", "--jobs", type=_job_count, default=0, metavar="N", help="use N processes; default: one for each core"
    )
    build.add_argument(
        STAMP_FLAG, type=Path, metavar="FILE", help="touch FILE at the end of each run that succeeds, changes or not"
    )
    build.add_argument(
        DEPFILE_FLAG,
        type=Path,
        metavar="FILE",
        help=f"say in FILE, as Make does, what the file of {STAMP_FLAG} depends on: all that was read",
    )


def _job_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of processes")
    return int(text)


def install_parser(command: str, description: str) -> argparse.ArgumentParser:
    """The command line of generators that write to one folder, which has to be named: no place suits all."""
    parser = argparse.ArgumentParser(prog=f"opgen {command}", description=description, allow_abbrev=False)
    parser.add_argument(
        "-d", "--install-dir", "--install_dir", type=Path, required=True, metavar="DIR", help="folder to write to"
    )
    add_dry_run(parser)
    add_talk(parser)
    return parser
