r"""Functions that decompose operators → `decomposition_registry_util.cpp`, from which TorchScript reads them.

Decomposition("aten::var(Tensor self, bool unbiased=True) -> Tensor", "var", "def var(input: Tensor, …\n")

R"(def var(input: Tensor,
…
{"aten::var(Tensor self, bool unbiased=True) -> Tensor", "var"},
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from opgen.dest.cpp_text import string_literal
from opgen.frozen_dataclass import dataclass
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

NAME: Final = "decomposition_registry_util.cpp"

LONGEST_LITERAL: Final = 8000
"""Maximum number of characters in a string literal, since some compilers support only 16 KiB."""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A composite operator."""

    schema: str
    """With its library's name, as TorchScript prints it."""
    function: str
    """The name of the function that decomposes the operator."""
    source: str
    """The function in TorchScript."""


def emit_decompositions(decompositions: Sequence[Decomposition], templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `decomposition_registry_util.cpp`; functions of several operators are not repeated."""
    functions = {each.function: each.source for each in decompositions}
    text = "".join(f"{source}\n" for source in functions.values())
    env = {
        "sources": "\n".join(raw_literals(text)),
        "mapping": [f"{{{string_literal(each.schema)}, {string_literal(each.function)}}}," for each in decompositions],
    }
    yield OutputFile(NAME, templates.render(NAME, env))


def raw_literals(text: str) -> Iterator[str]:
    """Return `text` as adjacent raw literals of a few whole lines each."""
    delimiter = next(mark for mark in ("", *(f"D{number}" for number in range(1000))) if f'){mark}"' not in text)
    piece = ""
    for line in _short_lines(text):
        if len(piece) + len(line) > LONGEST_LITERAL:
            yield f'R"{delimiter}({piece}){delimiter}"'
            piece = ""
        piece += line
    yield f'R"{delimiter}({piece}){delimiter}"'


def _short_lines(text: str) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        yield from (line[start : start + LONGEST_LITERAL] for start in range(0, len(line), LONGEST_LITERAL))
