"""The flags that several commands share → `RunFlags`; each is defined once.

    add_common_flags(parser)        --dry-run, --jobs, --stamp, --depfile and those of add_output_flags()
    add_output_flags(parser)        --quiet, --verbose, --version, --format, --torch-version
    add_install_dir(parser)         --install-dir
    add_definitions(parser)         --source-path or --from-torch

The spine reads them through `RunFlags.of(options)`.
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

Flags: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"


@dataclass(frozen=True, slots=True)
class RunFlags:
    """The flags that the spine reads; a command that doesn't have a flag uses its default."""

    quiet: bool = False
    verbose: bool = False
    dry_run: bool = False
    jobs: int = 0
    """The number of processes to use; 0 for one per core."""
    stamp: Path | None = None
    """The file to touch after each successful run."""
    depfile: Path | None = None
    """The file to write the dependencies of the stamp to."""
    format: str = TEXT
    """How diagnostics are printed: one of `FORMATS`."""

    @staticmethod
    def of(options: argparse.Namespace) -> RunFlags:
        """Return the flags among the options of a command."""
        values = vars(options)
        return RunFlags(**{each.name: values[each.name] for each in fields(RunFlags) if each.name in values})

    def render_success(self, log: Diagnostics) -> str:
        """Return the diagnostics of a successful run in the requested format."""
        if self.is_machine_readable:
            return self.render([] if self.quiet else log.sorted(with_remarks=self.verbose))
        return "" if self.quiet else log.render(with_remarks=self.verbose)

    def render_failure(self, log: Diagnostics) -> str:
        """Return the diagnostics of a failed run in the requested format."""
        if self.is_machine_readable:
            return self.render(log.sorted(with_remarks=False))
        return log.render(with_remarks=False)

    def render(self, diagnostics: Sequence[Diagnostic]) -> str:
        """Return the diagnostics in a machine-readable format."""
        return render_diagnostics(diagnostics, self.format)

    @property
    def is_machine_readable(self) -> bool:
        """Whether diagnostics are printed in a format other than text."""
        return self.format in FORMATS and self.format != TEXT

    @property
    def prints_document(self) -> bool:
        """Whether stdout contains the diagnostics as a document, and nothing else."""
        return self.format in DOCUMENTS

    def check(self, log: Diagnostics) -> None:
        """Report conflicting flags."""
        if self.depfile is not None and self.stamp is None:
            label = "the depfile says what the stamp depends on"
            log.error("flag-without-effect", f"{DEPFILE_FLAG} needs {STAMP_FLAG}", label=label)


def add_common_flags(parser: argparse.ArgumentParser, *, dry_run_takes_bool: bool = False, **output: Any) -> None:
    """Add the flags of every command that writes files; `output` is passed to `add_output_flags`."""
    add_dry_run(parser, takes_bool=dry_run_takes_bool)
    add_build(parser.add_argument_group("build systems"))
    add_output_flags(parser, **output)


def add_output_flags(
    parser: argparse.ArgumentParser,
    *,
    verbose: str = "name the files that change",
    formats: Sequence[str] = FORMATS,
    of_torch: bool = True,
) -> None:
    """Add the flags of every command that reports errors; `verbose` is the help text of `--verbose`.

    `of_torch` says whether the command reads definitions of operators, which are of a release of torch.
    """
    add_verbosity(parser, verbose=verbose)
    parser.add_argument(
        FORMAT_FLAG,
        choices=formats,
        default=TEXT,
        help="how to print diagnostics: as text, as JSON or SARIF on stdout, or as annotations for GitHub's workflows"
        + ("; markdown: how to print what changes, for a comment on it" if "markdown" in formats else ""),
    )
    if of_torch:
        add_torch_version(parser)


def add_verbosity(parser: argparse.ArgumentParser, *, verbose: str = "name the files that change") -> None:
    """Add the flags that every command has; `verbose` is the help text of `--verbose`."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-q", "--quiet", action="store_true", help="say nothing unless something is wrong")
    group.add_argument("-v", "--verbose", action="store_true", help=verbose)
    parser.add_argument("--version", action="version", version=f"opgen {__version__}, for {describe_releases()}")


def add_torch_version(parser: Flags) -> None:
    """Add the flag that names the release of torch."""
    parser.add_argument(
        TORCH_VERSION_FLAG,
        "--torch_version",
        metavar="VERSION",
        help="the release of torch that the definitions are of, such as 2.12; default: what the source tree says, "
        "or else the installed torch",
    )


def add_dry_run(parser: Flags, *, takes_bool: bool = False) -> None:
    """Add `--dry-run`; torch's backend generators spell it `--dry-run true`."""
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


def add_build(build: Flags) -> None:
    """Add the flags for build systems: the number of processes, the stamp and the depfile."""
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
    parser: Flags,
    *,
    folder: str = "folder of the definitions (native/*.yaml); default: opgen's own",
    torch: str = "use the definitions of the installed torch",
) -> None:
    """Add the flags that say where operators are defined; the default is opgen's own definitions."""
    sources = parser.add_mutually_exclusive_group()
    sources.add_argument("-s", SOURCE_PATH_FLAG, "--source_path", type=Path, metavar="DIR", help=folder)
    sources.add_argument(FROM_TORCH_FLAG, "--from_torch", action="store_true", help=torch)


def add_install_dir(parser: Flags) -> None:
    """Add the required flag that names the output folder."""
    parser.add_argument(
        "-d", "--install-dir", "--install_dir", type=Path, required=True, metavar="DIR", help="folder to write to"
    )
