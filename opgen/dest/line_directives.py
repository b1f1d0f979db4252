"""Formulas → C++ with `#line` directives, so that compilers report errors at the line in the YAML.

#line 7 "ops/autograd/derivatives.yaml"
         grad * ohter
#line 214 "RegisterDerivatives.cpp"

A formula keeps its column.  The second directive restores the generated file's own line number, which is set once the
whole file is rendered.
"""

from __future__ import annotations

from typing import Final

from opgen.api.autograd import FormulaPlace
from opgen.dest.cpp_text import string_literal

_RESUME: Final = "#line resume"


def place_formula(formula: str, place: FormulaPlace | None) -> str:
    """Return a formula with directives around it; unchanged if it has no location."""
    if place is None:
        return formula
    indent = " " * (place.column - 1)
    return f"\n#line {place.line} {string_literal(place.path)}\n{indent}{formula}\n{_RESUME}\n"


def resume_lines(text: str, path: str) -> str:
    """Return the text of the file `path` with the line numbers after formulas filled in."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if line == _RESUME:
            lines[index] = f"#line {index + 2} {string_literal(path)}"
    return "\n".join(lines)
