"""The generator of Python bindings: operators in, the C++ by which Python calls them out.

    python -m opgen.gen_python native_functions.yaml tags.yaml out packaged/autograd

This is a shell: definitions, old signatures and derivatives to a program, the program to files, files
to disk.  What is written is listed in `opgen.dest.python_table`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from opgen.autograd_program import AutogradProgram
from opgen.dest.python_bindings import emit_python_functions, emit_python_methods
from opgen.dest.python_enum_tag import emit_python_enum_tag
from opgen.dest.python_return_types import emit_python_return_types
from opgen.dest.python_table import BINDING_EMITTERS, NODE_EMITTERS, EmitPython, PythonEmitter
from opgen.diagnostics import Diagnostics, UserError
from opgen.frontend.deprecated import load_deprecated
from opgen.frontend.native_functions import load_program
from opgen.gen_autograd import derive_autograd
from opgen.output.console import Progress
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files
from opgen.program import Program
from opgen.shell import autograd_parser, run_as_program, run_command

__all__ = ["entry_point", "gen", "gen_autograd_python", "generate", "load_python", "load_python_autograd", "main"]


def gen_autograd_python(
    native_functions_path: str | os.PathLike[str],
    tags_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd_dir: str | os.PathLike[str],
) -> None:
    """Writes the bindings, and the Python types of autograd's nodes; raises UserError with every mistake found."""
    log, folder = Diagnostics(), Path(autograd_dir)
    program = load_python_autograd(Path(native_functions_path), Path(tags_path), folder, log)
    if program is None:
        raise UserError(*log.found)
    write_files(generate(program, TemplateSet(folder / "templates")), {"install": Path(out)})


def gen(
    out: str | os.PathLike[str],
    native_yaml_path: str | os.PathLike[str],
    tags_yaml_path: str | os.PathLike[str],
    deprecated_yaml_path: str | os.PathLike[str],
    template_path: str | os.PathLike[str],
    *,
    symint: bool = True,
) -> None:
    """Writes the bindings alone, by default with symbolic integers; raises UserError with every mistake found."""
    log = Diagnostics()
    program = load_python(Path(native_yaml_path), Path(tags_yaml_path), Path(deprecated_yaml_path), log)
    if program is None:
        raise UserError(*log.found)
    emitters: tuple[EmitPython, ...] = (
        partial(emit_python_methods, symint=symint),
        partial(emit_python_functions, symint=symint),
        emit_python_return_types,
        emit_python_enum_tag,
    )
    bindings = tuple(PythonEmitter("bindings", emit) for emit in emitters)
    files = generate_bindings(program, TemplateSet(template_path), bindings)
    write_files(files, {"install": Path(out)})


def load_python(functions: Path, tags: Path, deprecated: Path, log: Diagnostics) -> Program | None:
    """The operators with their old signatures; None, with the reasons logged, if anything is wrong."""
    program = load_program(functions, tags, log)
    if program is None:
        return None
    forms = load_deprecated(deprecated, program.functions, log)
    return None if log.has_errors else replace(program, deprecated=forms)


def load_python_autograd(functions: Path, tags: Path, folder: Path, log: Diagnostics) -> AutogradProgram | None:
    """The operators with their old signatures and derivatives; None, with the reasons logged, if any is wrong."""
    program = load_program(functions, tags, log)
    if program is None:
        return None
    forms = load_deprecated(folder / "deprecated.yaml", program.functions, log)
    program = replace(program, deprecated=forms)
    derived = derive_autograd(program, folder / "derivatives.yaml", log, program.selector)
    return None if log.has_errors else derived


def generate(program: AutogradProgram, templates: TemplateSet, *, quiet: bool = True) -> tuple[OutputFile, ...]:
    """Every file of a run, as values; mistakes found on the way are one `UserError`."""
    bindings = generate_bindings(program.program, templates, BINDING_EMITTERS, quiet=quiet)
    nodes = [file for emitter in NODE_EMITTERS for file in emitter.emit(program, templates)]
    return (*bindings, *nodes)


def generate_bindings(
    program: Program, templates: TemplateSet, emitters: Sequence[PythonEmitter], *, quiet: bool = True
) -> tuple[OutputFile, ...]:
    """The files that are made of operators alone; mistakes of all of them are one `UserError`."""
    log, files = Diagnostics(), list[OutputFile]()
    with Progress(len(emitters) + 1, sys.stderr, enabled=not quiet) as progress:
        for emitter in emitters:
            progress.advance(emitter.name)
            try:
                files.extend(emitter.emit(program, templates))
            except UserError as problem:
                log.extend(problem.diagnostics)
    log.raise_errors()
    return tuple(files)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_command(autograd_parser("gen_python", "Generate the bindings of operators to Python."), _run, argv)


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    program = load_python_autograd(given.native_functions, given.tags, given.autograd, log)
    if program is None:
        return None
    files = generate(program, TemplateSet(given.autograd / "templates"), quiet=given.quiet)
    return write_files(files, {"install": given.out}, dry_run=given.dry_run)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
