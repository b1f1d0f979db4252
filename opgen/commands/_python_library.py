"""The API of `opgen.gen_python` for programs."""

from __future__ import annotations

import os
from pathlib import Path

from opgen.commands._autograd import write_for_program
from opgen.commands._bindings import BINDING_EMITTERS, load_python
from opgen.commands.gen_python import load
from opgen.diagnostics import Diagnostics
from opgen.output.emitter import bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.python import PythonProgram
from opgen.run.work import Work, install_root, write_or_raise

__all__ = ["gen", "gen_autograd_python", "generate", "load_python"]


def gen_autograd_python(
    native_functions_path: str | os.PathLike[str],
    tags_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd_dir: str | os.PathLike[str],
) -> None:
    """Write the bindings and the Python types of autograd's nodes; raise `UserError` with all errors."""
    write_for_program(load, native_functions_path, tags_path, out, autograd_dir)


def gen(
    out: str | os.PathLike[str],
    native_yaml_path: str | os.PathLike[str],
    tags_yaml_path: str | os.PathLike[str],
    deprecated_yaml_path: str | os.PathLike[str],
    template_path: str | os.PathLike[str],
    *,
    symint: bool = True,
) -> None:
    """Write the bindings alone, by default with symbolic integers; raise `UserError` with all errors."""
    paths = Path(native_yaml_path), Path(tags_yaml_path), Path(deprecated_yaml_path)
    templates = TemplateSet(template_path)

    def load_work(log: Diagnostics) -> Work | None:
        program = load_python(*paths, log, symint=symint)
        if program is None:
            return None
        return Work(bind(BINDING_EMITTERS, program, templates), install_root(Path(out)), templates)

    write_or_raise(load_work)


def generate(program: PythonProgram, templates: TemplateSet) -> tuple[OutputFile, ...]:
    """Return the bindings as values; raise one `UserError` with all template errors."""
    return collect_files(bind(BINDING_EMITTERS, program, templates))
