"""The generator of Python bindings: operators in, the C++ by which Python calls them out.

    python -m opgen.gen_python native_functions.yaml tags.yaml out packaged/autograd

This is a shell: definitions, old signatures and derivatives to a program, the program to files, files
to disk.  What is written is listed in `opgen.dest.python_table`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from opgen.autograd_program import AutogradProgram
from opgen.dest.python_table import BINDING_EMITTERS, NODE_EMITTERS
from opgen.diagnostics import Diagnostics, UserError
from opgen.entry import run_as_program
from opgen.frontend.deprecated import load_deprecated
from opgen.frontend.native_functions import load_program
from opgen.frontend.python_functions import derive_python
from opgen.gen_autograd import derive_autograd
from opgen.inputs import autograd_templates
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files
from opgen.python_program import PythonProgram
from opgen.shell import autograd_parser, collect_files, run_command

__all__ = ["entry_point", "gen", "gen_autograd_python", "generate", "load_python", "main"]


def gen_autograd_python(
    native_functions_path: str | os.PathLike[str],
    tags_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd_dir: str | os.PathLike[str],
) -> None:
    """Writes the bindings, and the Python types of autograd's nodes; raises UserError with every mistake found."""
    log, folder = Diagnostics(), Path(autograd_dir)
    loaded = _load(Path(native_functions_path), Path(tags_path), folder, log)
    if loaded is None:
        raise UserError(*log.found)
    write_files(_generate_all(*loaded, TemplateSet(autograd_templates(folder))), {"install": Path(out)})


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
    program = load_python(Path(native_yaml_path), Path(tags_yaml_path), Path(deprecated_yaml_path), log, symint=symint)
    if program is None:
        raise UserError(*log.found)
    write_files(generate(program, TemplateSet(template_path)), {"install": Path(out)})


def load_python(
    functions: Path, tags: Path, deprecated: Path, log: Diagnostics, *, symint: bool = True
) -> PythonProgram | None:
    """The operators as Python sees them; None, with the reasons logged, if anything is wrong."""
    program = load_program(functions, tags, log)
    if program is None:
        return None
    python = derive_python(program, load_deprecated(deprecated, program.functions, log), log, symint=symint)
    return None if log.has_errors else python


def _load(functions: Path, tags: Path, folder: Path, log: Diagnostics) -> tuple[PythonProgram, AutogradProgram] | None:
    """The operators as Python and as autograd see them; every mistake in either is logged."""
    program = load_program(functions, tags, log)
    if program is None:
        return None
    python = derive_python(program, load_deprecated(folder / "deprecated.yaml", program.functions, log), log)
    autograd = derive_autograd(program, folder / "derivatives.yaml", log, program.selector)
    return None if python is None or autograd is None or log.has_errors else (python, autograd)


def generate(program: PythonProgram, templates: TemplateSet, *, quiet: bool = True) -> tuple[OutputFile, ...]:
    """The bindings, as values; mistakes in templates are one `UserError`."""
    return collect_files(BINDING_EMITTERS, lambda emitter: emitter.emit(program, templates), quiet=quiet)


def _generate_all(
    python: PythonProgram, autograd: AutogradProgram, templates: TemplateSet, *, quiet: bool = True
) -> tuple[OutputFile, ...]:
    """The bindings, and what shows autograd's nodes to Python."""
    nodes = collect_files(NODE_EMITTERS, lambda emitter: emitter.emit(autograd, templates), quiet=quiet)
    return (*generate(python, templates, quiet=quiet), *nodes)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_command(autograd_parser("gen_python", "Generate the bindings of operators to Python."), _run, argv)


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    loaded = _load(given.native_functions, given.tags, given.autograd, log)
    if loaded is None:
        return None
    files = _generate_all(*loaded, TemplateSet(autograd_templates(given.autograd)), quiet=given.quiet)
    return write_files(files, {"install": given.out}, dry_run=given.dry_run)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
