"""The generator for backends outside of torch: a backend YAML in, the class of its kernels and their registrations out.

    python -m opgen.gen_backend_stubs --from-torch --source-yaml backend.yaml --output-dir out

writes `out/<Key>NativeFunctions.h`, `out/Register<Key>.cpp` and, if the backend has kernels for autograd,
`out/RegisterAutograd<Key>.cpp`.  This is a shell: operators and the backend to values, those to files,
files to disk.  What the YAML says is read by `opgen.backend.backend_yaml`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from opgen.backend.native_class import emit_class_header
from opgen.backend.registrations import RegistrationStyle, emit_registrations
from opgen.diagnostics import Diagnostics, UserError
from opgen.output.files import OutputFile
from opgen.output.report import WriteReport
from opgen.run.backend_flags import (
    BackendInputs,
    add_backend_flags,
    describe_check,
    load_backend_inputs,
    write_backend,
)
from opgen.run.entry import run_as_program
from opgen.run.shell import run_command

__all__ = ["build_parser", "entry_point", "generate", "main", "run"]

LIST_FLAG: Final = "--output-list"


def run(
    source_yaml: str | os.PathLike[str],
    output_dir: str | os.PathLike[str],
    dry_run: bool = False,
    impl_path: str | os.PathLike[str] | None = None,
    *,
    from_torch: bool = False,
) -> None:
    """Writes the files of a backend; raises UserError with every mistake found."""
    flags = ["-s", os.fspath(source_yaml), "-o", os.fspath(output_dir), "--dry-run", str(dry_run).lower(), "--quiet"]
    flags += [] if impl_path is None else ["--impl-path", os.fspath(impl_path)]
    flags += ["--from-torch"] if from_torch else []
    log = Diagnostics()
    if _run(build_parser().parse_args(flags), log) is None:
        raise UserError(*log.found)


def build_parser() -> argparse.ArgumentParser:
    """The command line: that of torch's generator, and flags of our own."""
    parser = argparse.ArgumentParser(
        prog="opgen gen_backend_stubs",
        description="Generate the class of a backend's kernels, and their registrations.",
        allow_abbrev=False,
    )
    add_backend_flags(parser)
    parser.add_argument(
        "--include-prefix",
        metavar="PATH",
        help="include the header of the class as PATH/<Key>NativeFunctions.h; '' for no path; default: DIR",
    )
    parser.add_argument(
        "--per-operator-headers",
        "--per_operator_headers",
        action="store_true",
        help="include torch's headers operator by operator",
    )
    parser.add_argument(
        "--register-when-called",
        nargs="?",
        const="",
        metavar="NAME",
        help="register kernels in a function Register<NAME><Key>NativeFunctions(), and not when the library is loaded",
    )
    parser.add_argument(LIST_FLAG, type=Path, metavar="FILE", help="list the files written in FILE, one a line")
    return parser


def generate(inputs: BackendInputs, style: RegistrationStyle) -> tuple[OutputFile, ...]:
    """Every file of a run, as values; mistakes in templates are one `UserError`."""
    backend, program, templates = inputs.backend, inputs.program, inputs.templates
    return (
        *emit_class_header(backend, program, templates),
        *emit_registrations(backend, program, templates, style),
    )


def _style(given: argparse.Namespace) -> RegistrationStyle:
    prefix: str = os.fspath(given.output_dir) if given.include_prefix is None else given.include_prefix
    return RegistrationStyle(
        header_folder=prefix.rstrip("/"),
        per_operator_headers=given.per_operator_headers,
        eager_registration=given.register_when_called is None,
        backend_name=given.register_when_called or "",
    )


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    """Reads, generates and writes; None, with the reasons logged, if the inputs are wrong."""
    inputs = load_backend_inputs(given, log)
    if inputs is None:
        return None
    files = generate(inputs, _style(given))
    if not files:
        log.warning("backend-without-kernels", f"'{given.source_yaml}' lists no kernel, so there is nothing to write")
    listed = "".join(f"{given.output_dir / file.path}\n" for file in files)
    others = [(given.output_list, listed)] if given.output_list is not None else []
    report = write_backend("gen_backend_stubs", files, given, inputs, others)
    if not given.quiet:
        sys.stdout.write(describe_check(inputs, given.impl_path))
    return report


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_command(build_parser(), _run, argv)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
