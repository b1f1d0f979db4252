"""The flags that several commands share → `RunFlags`; each is defined once.

    add_flags_of_all(parser)        --dry-run, --jobs, --stamp, --depfile and those of add_talk()
    add_talk(parser)                --quiet, --verbose, --version, --torch-version
    add_install_dir(parser)         --install-dir
    add_definitions(parser)         --source-path or --from-torch

`RunFlags.of(options)` is what the spine reads of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, TypeAlias

from opgen import __version__
from opgen.diagnostics import Diagnostic, Diagnostics
from opgen.frozen_dataclass import dataclass
from opgen.output.diagnostic_formats import DOCUMENTS, FORMATS, TEXT, render_diagnostics
from opgen.releases.choice import TORCH_VERSION_FLAG
from opgen.releases.known import describe_releases
from opgen.run.inputs import FROM_TORCH_FLAG, SOURCE_PATH_FLAG

STAMP_FLAG: Final = "--stamp"
DEPFILE_FLAG: Final = "--depfile"
FORMAT_FLAG: Final = "--format"

_TRUE: Final = frozenset({"true", "yes", "on", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "0"})

_Flags: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"


@dataclass(frozen=True, slots=True)
class RunFlags:
    """The flags that the spine reads; a command without one of them has its default."""

    quiet: bool = False
    verbose: bool = False
    dry_run: bool = False
    jobs: int = 0
    """How many processes to use; 0 for as many as can run at once."""
    stamp: Path | None = None
    """The file whose time says when a run last found everything in order."""
    depfile: Path | None = None
    """Where to write what the stamp depends on."""
    format: str = TEXT
    """How diagnostics are printed: a word of `FORMATS`."""

    @staticmethod
    def of(options: argparse.Namespace) -> RunFlags:
        """Return the flags among the options of a command."""
        given = vars(options)
        return RunFlags(**{each.name: given[each.name] for each in fields(RunFlags) if each.name in given})

    def remarks(self, log: Diagnostics) -> str:
        """Return the diagnostics of a run that succeeds, in the format that was asked for."""
        if self.is_for_programs:
            return self.render([] if self.quiet else log.sorted(with_remarks=self.verbose))
        return "" if self.quiet else log.render(with_remarks=self.verbose)

    def mistakes(self, log: Diagnostics) -> str:
        """Return the diagnostics of a run that fails, in the format that was asked for."""
        if self.is_for_programs:
            return self.render(log.sorted(with_remarks=False))
        return log.render(with_remarks=False)

    def render(self, diagnostics: Sequence[Diagnostic]) -> str:
        """Return the diagnostics in a format for programs."""
        return render_diagnostics(diagnostics, self.format)

    @property
    def is_for_programs(self) -> bool:
        """Whether diagnostics are printed in a format other than text."""
        return self.format in FORMATS and self.format != TEXT

    @property
    def prints_document(self) -> bool:
        """Whether stdout has the diagnostics as a document, and nothing else."""
        return self.format in DOCUMENTS

    def check(self, log: Diagnostics) -> None:
        """Report flags that don't go together."""
        if self.depfile is not None and self.stamp is None:
            label = "the depfile says what the stamp depends on"
            log.error("flag-without-effect", f"{DEPFILE_FLAG} needs {STAMP_FLAG}", label=label)


def add_flags_of_all(parser: argparse.ArgumentParser, *, dry_run_takes_bool: bool = False, **talk: Any) -> None:
    """Add the flags of every command that writes files; `talk` goes to `add_talk`."""
    add_dry_run(parser, takes_bool=dry_run_takes_bool)
    add_build(parser.add_argument_group("build systems"))
    add_talk(parser, **talk)


def add_talk(
    parser: argparse.ArgumentParser,
    *,
    verbose: str = "name the files that change",
    formats: Sequence[str] = FORMATS,
) -> None:
    """Add the flags of every command that reads definitions; `verbose` is the help text of `--verbose`."""
    add_volume(parser, verbose=verbose)
    parser.add_argument(
        FORMAT_FLAG,
        choices=formats,
        default=TEXT,
        help="how to print diagnostics: as text, as JSON or SARIF on stdout, or as annotations for GitHub's workflows"
        + ("; markdown: how to print what changes, for a comment on it" if "markdown" in formats else ""),
    )
    add_torch_version(parser)


def add_volume(parser: argparse.ArgumentParser, *, verbose: str = "name the files that change") -> None:
    """Add the flags that every command has; `verbose` is the help text of `--verbose`."""
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("-q", "--quiet", action="store_true", help="say nothing unless something is wrong")
    talk.add_argument("-v", "--verbose", action="store_true", help=verbose)
    parser.add_argument("--version", action="version", version=f"opgen {__version__}, for {describe_releases()}")


def add_torch_version(parser: _Flags) -> None:
    """Add the flag that names the release of torch."""
    parser.add_argument(
        TORCH_VERSION_FLAG,
        "--torch_version",
        metavar="VERSION",
        help="the release of torch that the definitions are of, such as 2.12; default: what the source tree says, "
        "or else the installed torch",
    )


def add_dry_run(parser: _Flags, *, takes_bool: bool = False) -> None:
    """Add the flag of a run that writes nothing; torch's backend generators write it `--dry-run true`."""
    text = "write nothing, but say what would change"
    if takes_bool:
        parser.add_argument(
            "--dry-run",
            "--dry_run",
            nargs="?",
            type=_read_bool,
            const=True,
            default=False,
            metavar="BOOL",
            help=text,
        )
    else:
        parser.add_argument("--dry-run", "--dry_run", action="store_true", help=text)


def _read_bool(text: str) -> bool:
    if text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    raise argparse.ArgumentTypeError(f"'{text}' is neither true nor false")


def add_build(build: _Flags) -> None:
    """Add what build systems need: the number of processes, and files to wait for."""
    build.add_argument(
        "-j", "--jobs", type=_job_count, default=0, metavar="N", help="use at most N processes; default: one per core"
    )
    build.add_argument(
        STAMP_FLAG, type=Path, metavar="FILE", help="touch FILE at the end of each run that succeeds, changes or not"
    )
    build.add_argument(
        DEPFILE_FLAG,
        type=Path,
        metavar="FILE",
        help=f"write to FILE, in Make's syntax, every file that the run read, as what {STAMP_FLAG} depends on",
    )


def _job_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of processes")
    return int(text)


def add_definitions(
    parser: _Flags,
    *,
    folder: str = "folder of the definitions (native/*.yaml); default: opgen's own",
    torch: str = "use the definitions of the installed torch",
) -> None:
    """Add the flags that say where operators are defined; the default is opgen's own definitions."""
    sources = parser.add_mutually_exclusive_group()
    sources.add_argument("-s", SOURCE_PATH_FLAG, "--source_path", type=Path, metavar="DIR", help=folder)
    sources.add_argument(FROM_TORCH_FLAG, "--from_torch", action="store_true", help=torch)


def add_install_dir(parser: _Flags) -> None:
    """Add the flag of the output folder for commands that have no default for it."""
    parser.add_argument(
        "-d", "--install-dir", "--install_dir", type=Path, required=True, metavar="DIR", help="folder to write to"
    )
