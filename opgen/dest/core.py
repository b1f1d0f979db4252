r"""The names of operators, arguments and tags → the lists in torch's core.

`core/ATenOpList.cpp` has torch's own operators, `core/aten_interned_strings.h` the names that get a
symbol, and `enum_tag.h` (in `core`, or in a folder for header-only files) the tags.

    {"aten::add", "Tensor"},         _(aten, add) \         enum class Tag { core, … };
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from opgen.model import NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_OPERATOR_WORDS: Final = frozenset(
    ("and", "and_eq", "bitand", "bitor", "compl", "not", "not_eq", "or", "or_eq", "xor", "xor_eq")
)
"""Operator keywords of C++, which can't be names of symbols."""


def emit_core_headers(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `core/aten_interned_strings.h` and `enum_tag.h`."""
    del options
    yield OutputFile("core/aten_interned_strings.h", _render_symbols(program, templates), group="core_")
    env = {"enum_of_valid_tags": ",\n".join(sorted(program.tags))}
    text = templates.render("enum_tag.h", env)
    yield OutputFile("enum_tag.h", text, root="headeronly", group=None)


def emit_core_sources(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `core/ATenOpList.cpp`."""
    del options
    text = templates.render("ATenOpList.cpp", {"aten_ops": list(map(_listed, program.functions))})
    yield OutputFile("core/ATenOpList.cpp", text, group="core_")


def _listed(function: NativeFunction) -> str:
    name = function.func.name
    return f'{{"{function.namespace}::{name.name}", "{name.overload_name}"}},'


def _render_symbols(program: Program, templates: TemplateSet) -> str:
    """Return the header with a symbol for each operator's name, with and without the suffix of its form."""
    names = [function.func.name.name for function in program.functions]
    operators = {spelling for name in names for spelling in (str(name), name.base)}
    arguments = {argument.name for function in program.functions for argument in function.func.arguments.flat_all}
    env = {
        "aten_symbols": _symbol_lines("aten", operators - _OPERATOR_WORDS),
        "attr_symbols": _symbol_lines("attr", arguments),
    }
    return templates.render("aten_interned_strings.h", env)


def _symbol_lines(namespace: str, names: Collection[str]) -> str:
    """Return the body of a macro that applies another one to each name."""
    return " \\\n".join([f"_({namespace}, {name})" for name in sorted(names)])
