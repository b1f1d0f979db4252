"""The Python bindings of operators: their table of emitters, and how the Python functions are derived.

`gen_python`, `gen_autograd` and `gen_pyi` share it.  The first two name `emit_bindings` in their tables, so that
only the worker that emits bindings imports this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

from opgen.commands._autograd import emit_derived
from opgen.diagnostics import Diagnostics
from opgen.frontend.deprecated import load_deprecated
from opgen.frontend.native_functions import load_program
from opgen.frontend.python_functions import derive_python
from opgen.output.emitter import Emitter, OnDemand
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.program.python import PythonProgram

BINDING_EMITTERS: Final[tuple[Emitter[PythonProgram, TemplateSet], ...]] = (
    Emitter("methods", OnDemand("opgen.dest.python_bindings", "emit_python_methods")),
    Emitter("functions", OnDemand("opgen.dest.python_bindings", "emit_python_functions")),
    Emitter("return types", OnDemand("opgen.dest.python_return_types", "emit_python_return_types")),
    Emitter("tags", OnDemand("opgen.dest.python_enum_tag", "emit_python_enum_tag")),
)
"""The bindings of operators."""


def emit_bindings(program: Program, deprecated: Path, templates: TemplateSet) -> Iterable[OutputFile]:
    """Derive the Python functions, with the signatures in `deprecated`, and return the files of the bindings."""
    return emit_derived(partial(_derive, program, deprecated), BINDING_EMITTERS, templates)


def _derive(program: Program, deprecated: Path, log: Diagnostics, *, symint: bool = True) -> PythonProgram | None:
    python = derive_python(program, load_deprecated(deprecated, program.functions, log), log, symint=symint)
    return None if log.has_errors else python


def load_python(
    functions: Path,
    tags: Path,
    deprecated: Path,
    log: Diagnostics,
    *,
    symint: bool = True,
    torch: str | None = None,
) -> PythonProgram | None:
    """Load the operators with their Python bindings; return None, with errors logged, if it fails."""
    program = load_program(functions, tags, log, torch=torch)
    return None if program is None else _derive(program, deprecated, log, symint=symint)
