"""The API of `opgen.gen_autograd` for programs."""

from __future__ import annotations

import os
from pathlib import Path

from opgen.commands._autograd import DERIVATIVES
from opgen.commands._derivatives import kernel_emitters
from opgen.commands.gen_autograd import operator_emitters
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.autograd_functions import derive_autograd
from opgen.frontend.native_functions import load_program
from opgen.output.emitter import Emitter, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram
from opgen.run.inputs import autograd_templates
from opgen.run.work import Work, install_root, write_or_raise
from opgen.selective_build.selector import SelectiveBuilder


def gen_autograd(
    native_functions_path: str | os.PathLike[str],
    tags_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd_dir: str | os.PathLike[str],
    operator_selector: SelectiveBuilder | None = None,
    disable_autograd: bool = False,
) -> None:
    """Write the C++ of autograd; raise `UserError` with all errors."""
    folder = Path(autograd_dir)
    functions, tags = Path(native_functions_path), Path(tags_path)

    def load_work(log: Diagnostics) -> Work | None:
        program = load_autograd(functions, tags, folder / DERIVATIVES, log, operator_selector)
        if program is None:
            return None
        templates = TemplateSet(autograd_templates(folder))
        return Work(_bind_emitters(program, templates, disable_autograd), install_root(Path(out)), templates)

    write_or_raise(load_work)


def load_autograd(
    functions: Source | Path,
    tags: Source | Path,
    derivatives: Source | Path,
    log: Diagnostics,
    selector: SelectiveBuilder | None = None,
    *,
    selection_path: Path | None = None,
    allow_unknown_operators: bool = False,
) -> AutogradProgram | None:
    """Return the operators and derivatives of a run; None, with errors logged, if it fails.

    The selector, or the selection file if there is none, says which operators get kernels.
    """
    program = load_program(
        functions, tags, log, selection_path=selection_path, allow_unknown_operators=allow_unknown_operators
    )
    if program is None:
        return None
    return derive_autograd(program, derivatives, log, selector or program.selector)


def generate(
    program: AutogradProgram, templates: TemplateSet, *, disable_autograd: bool = False
) -> tuple[OutputFile, ...]:
    """Return every file of a run as a value; raise one `UserError` with all template errors."""
    return collect_files(_bind_emitters(program, templates, disable_autograd))


def _bind_emitters(program: AutogradProgram, templates: TemplateSet, disable_autograd: bool) -> tuple[Emitter[[]], ...]:
    return (
        *bind(kernel_emitters(disable_autograd=disable_autograd), program, templates),
        *bind(operator_emitters(disable_autograd=disable_autograd), program.program, templates),
    )
