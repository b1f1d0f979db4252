"""The sources of an extension → `Unit_0.cpp` …, which include them, so that a compiler reads torch's headers once.

Most of the compile time is for torch's headers.  A library with few operators is one unit; one with many is several,
which compile in parallel.  Sources with loops are separate, since they are compiled with other flags.

    #include "Operators.cpp"
    #include "RegisterCPU.cpp"
    …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Final

from opgen.extension.extension import Extension
from opgen.extension.includes import render_file
from opgen.extension.python_bindings import PATH as BINDINGS
from opgen.extension.ufuncs import is_loop
from opgen.output.emitter import Emitter, OnDemand, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

INCLUDED_GROUP: Final = "included_"
"""The source list of the files that units include."""
UNIT_SIZE: Final = 150_000
"""The number of characters of source that take about as long to compile as the headers."""

EMITTERS: Final[tuple[Emitter[Extension, TemplateSet], ...]] = (
    Emitter("operators", OnDemand("opgen.extension.operators", "emit_operator_sources")),
    Emitter("schemas", OnDemand("opgen.extension.schemas", "emit_schemas")),
    Emitter("registrations", OnDemand("opgen.extension.registrations", "emit_registrations")),
    Emitter("ufuncs", OnDemand("opgen.extension.ufuncs", "emit_ufuncs")),
    Emitter("derived forms", OnDemand("opgen.extension.composites", "emit_composites")),
    Emitter("functionalization", OnDemand("opgen.extension.functionalization", "emit_functionalization")),
    Emitter("vmap", OnDemand("opgen.extension.batching", "emit_batching")),
    Emitter("views and writes", OnDemand("opgen.extension.versions", "emit_view_helpers")),
    Emitter("views and writes", OnDemand("opgen.extension.versions", "emit_versions")),
    Emitter("derivatives", OnDemand("opgen.extension.derivatives", "emit_derivatives")),
    Emitter("autograd", OnDemand("opgen.extension.autograd_fallback", "emit_autograd_fallback")),
    Emitter("Python bindings", OnDemand("opgen.extension.python_bindings", "emit_python_support")),
    Emitter("any operator", OnDemand("opgen.extension.any_operator", "emit_any_operator")),
    Emitter("shims", OnDemand("opgen.extension.aoti_shims", "emit_shims")),
)
"""The emitters of sources in units.  Sources from emitters in the table of the command are compiled separately."""

_AUTOGRAD: Final = ("RegisterADInplaceOrView", "RegisterAnyOperator", "RegisterAutogradFallback", "RegisterDerivatives")
"""Names, or prefixes, of the sources that need autograd's headers."""


def emit_sources(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the sources of the library, and the units that include them."""
    files = collect_files(bind(EMITTERS, extension, templates))
    included = [file for file in files if _is_included(file)]
    for file in files:
        yield replace(file, group=INCLUDED_GROUP) if _is_included(file) else file
    units = _units(sorted(included, key=lambda file: file.path))
    for index, sources in enumerate(units):
        includes = [file.path for file in sources]
        bindings = BINDINGS if extension.python is not None and index == len(units) - 1 else ""
        yield render_file(extension, templates, f"Unit_{index}.cpp", "Unit.cpp", includes=includes, bindings=bindings)


def _is_included(file: OutputFile) -> bool:
    return (
        file.root == "install" and file.group == "" and PurePosixPath(file.path).suffix == ".cpp" and not is_loop(file)
    )


def _units(sources: Sequence[OutputFile]) -> list[list[OutputFile]]:
    """Return the sources of each unit; those that need autograd's headers are in separate units."""
    if sum(len(file.text) for file in sources) <= UNIT_SIZE:
        return [list(sources)] if sources else []
    autograd = [file for file in sources if file.path.startswith(_AUTOGRAD)]
    others = [file for file in sources if not file.path.startswith(_AUTOGRAD)]
    return list(chain(_pack(autograd), _pack(others)))


def _pack(sources: Sequence[OutputFile]) -> Iterator[list[OutputFile]]:
    """Yield the sources of each unit, in order and up to the size of a unit."""
    unit: list[OutputFile] = []
    for file in sources:
        if unit and sum(len(each.text) for each in unit) + len(file.text) > UNIT_SIZE:
            yield unit
            unit = []
        unit.append(file)
    if unit:
        yield unit
