"""Formulas → C++ that compilers report at the line of the YAML that they were written in.

#line 7 "ops/autograd/derivatives.yaml"
         grad * ohter
#line 214 "RegisterDerivatives.cpp"

A formula keeps its column.  After it, the generated file goes on with its own numbers, which are known once the whole
file is rendered.
"""

from __future__ import annotations

from typing import Final

from opgen.api.autograd import FormulaPlace
from opgen.dest.cpp_text import string_literal

_RESUME: Final = "#line resume"


def place_formula(formula: str, place: FormulaPlace | None) -> str:
    """Return a formula with directives around it; the same formula if it has no place."""
    if place is None:
        return formula
    indent = " " * (place.column - 1)
    return f"\n#line {place.line} {string_literal(place.path)}\n{indent}{formula}\n{_RESUME}\n"


def resume_lines(text: str, path: str) -> str:
    """Return the text of the file `path` with the numbers of the lines that follow formulas."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if line == _RESUME:
            lines[index] = f"#line {index + 2} {string_literal(path)}"
    return "\n".join(lines)
