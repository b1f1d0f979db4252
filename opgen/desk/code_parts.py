r"""Generated files → the parts of them that belong to one operator.

    index = index_code(files, functions)
    index["add.Tensor"]    →  [Part("RegisterCPU_0.cpp", 1205, "at::Tensor wrapper_CPU_add_Tensor(…) {\n…}"), …]

A file is split at its outermost definitions.  A definition belongs to an operator if the comment above it has the
operator's schema, if the file registers it for the operator, or if it has the operator's name.  Definitions in the
same file that it uses also belong to the operator, unless other operators use them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from opgen.desk.registrations import BLOCK, is_repetition
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction
from opgen.output.files import OutputFile

_SUFFIXES: Final = (".h", ".cpp", ".cu")
_COMMENT: Final = re.compile(r"^// (?:\S+: )?\w+::([\w.]+)\(", re.MULTILINE)
_REGISTRATION: Final = re.compile(r'^\s*m\.impl\(\s*"([^"]+)",[^;]*?(\w+)\W*;', re.MULTILINE)
_CLASS: Final = re.compile(r"^(?:struct|class)\s+(?:[A-Z_]+\s+)?(\w+)", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^(?=\S)[^/\n(]*?([\w:~]+)\(", re.MULTILINE)
_NODE: Final = re.compile(r"\b[A-Z]\w*Backward\w*\b")
"""A class of an autograd node; torch has these in other files than the kernels that use them."""
_NODES: Final = re.compile(r"autograd/Functions\.\w+$")
_WORD: Final = re.compile(r"\w+")
_NO_DEFINITION: Final = (" ", "\t", "#", "}", "namespace ", "using ", "extern ", "static const ", "constexpr ")
_OPERATORS: Final = re.compile(r"(^|/)Operators(_\d+)?\.\w+$|_ops\.h$")
"""The files in which operators are structs with the names of the operators."""


@dataclass(frozen=True, slots=True)
class Part:
    """A definition in a generated file."""

    path: str
    line: int
    """Its first line, comments included."""
    text: str


def index_code(
    files: Iterable[OutputFile], functions: Sequence[NativeFunction], kernels: Mapping[str, Iterable[str]]
) -> dict[str, list[Part]]:
    """Return the parts of each operator by its name, without its namespace.

    `kernels` has the names of the generated kernels, by operator.
    """
    by_symbol = {function.func.name.unambiguous_name(): str(function.func.name) for function in functions}
    by_kernel = {kernel: operator for operator, names in kernels.items() for kernel in names}
    roots = {str(function.func.name): function.root_name for function in functions}
    by_node, index = dict[str, set[str]](), dict[str, list[Part]]()
    for file in sorted(files, key=lambda file: _NODES.search(file.path) is not None):
        if not file.path.endswith(_SUFFIXES) or is_repetition(file):
            continue
        parts = _split(file)
        owners = [found & roots.keys() for found in _first_owners(file, parts, by_symbol, by_kernel)]
        if _NODES.search(file.path):
            owners = [{each for name in _names(part.text) for each in by_node.get(name, ())} for part in parts]
        for part, operators in zip(parts, _with_used_parts(parts, owners, roots), strict=True):
            for operator in sorted(operators):
                index.setdefault(operator, []).append(part)
            for node in _NODE.findall(part.text) if operators else ():
                by_node.setdefault(node, set()).update(operators)
    return index


def _split(file: OutputFile) -> list[Part]:
    """Return the outermost definitions of a file, each with the comment above it."""
    lines, parts, number = file.text.split("\n"), list[Part](), 0
    while number < len(lines):
        start = number
        while number < len(lines) and lines[number].startswith("//"):
            number += 1
        if number == len(lines) or not lines[number] or lines[number].startswith(_NO_DEFINITION):
            number += 1
            continue
        number = _end_of(lines, number)
        parts.append(Part(file.path, start + 1, "\n".join(lines[start:number])))
    return parts


def _end_of(lines: Sequence[str], number: int) -> int:
    """Return the number of the line after the definition that starts in a line."""
    depth = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        depth += line.count("{") - line.count("}")
        if line in ("}", "};") or (depth <= 0 and line.endswith((";", "}"))):
            break
    return number


def _first_owners(
    file: OutputFile, parts: Sequence[Part], by_symbol: Mapping[str, str], by_kernel: Mapping[str, str]
) -> list[set[str]]:
    """Return the operators of each part, from its comment, its registration or its name."""
    registered: dict[str, str] = {}
    for operator, function in _REGISTRATION.findall(file.text):
        registered.setdefault(function, operator)
    owners = list[set[str]]()
    for part in parts:
        found = set(_COMMENT.findall(part.text)[:1])
        for name in () if found else _names(part.text):
            if name in registered:
                found.add(registered[name])
            elif _OPERATORS.search(file.path) and name in by_symbol:
                found.add(by_symbol[name])
            elif "Kernels" in file.path and name in by_kernel:
                found.add(by_kernel[name])
            elif name.endswith("_generated_plumbing"):
                found.add(by_symbol.get(name.removesuffix("_generated_plumbing"), ""))
        owners.append(found)
    return owners


def _names(text: str) -> Iterator[str]:
    """Yield the name of a definition: of the class, of the function, or of the class of a member."""
    found = None if BLOCK.match(text) else _CLASS.search(text) or _FUNCTION.search(text)
    if found is not None:
        yield found.group(1).partition("::")[0]


def _with_used_parts(parts: Sequence[Part], owners: Sequence[set[str]], roots: Mapping[str, str]) -> Iterator[set[str]]:
    """Yield the operators of each part; parts that are used by operators of several names have none."""
    defined: dict[str, list[int]] = {}
    for number, part in enumerate(parts):
        for name in _names(part.text):
            defined.setdefault(name, []).append(number)
    words = [defined.keys() & set(_WORD.findall(part.text)) for part in parts]
    reached = [set(found) for found in owners]
    waiting = [number for number, found in enumerate(owners) if found]
    while waiting:
        number = waiting.pop()
        for word in words[number]:
            for used in defined[word]:
                if not owners[used] and not reached[number] <= reached[used]:
                    reached[used] |= reached[number]
                    waiting.append(used)
    for own, found in zip(owners, reached, strict=True):
        yield found if own or len({roots.get(operator) for operator in found}) == 1 else set()
