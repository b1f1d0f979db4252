"""A C++ source → the registrations in its `TORCH_LIBRARY` blocks.

TORCH_LIBRARY(mylib, m) { m.def("f(Tensor x) -> Tensor"); }      a schema
TORCH_LIBRARY_IMPL(mylib, CPU, m) { m.impl("f", TORCH_FN(f)); }   a kernel
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from opgen.importing.registration import Registration

_LITERAL: Final = re.compile(
    r'\s*(?:R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<plain>(?:[^"\\]|\\.)*)")\s*', re.DOTALL
)
_COMMENT_OR_LITERAL: Final = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL
)
_BLOCK: Final = re.compile(
    r"\b(?:STABLE_)?TORCH_LIBRARY(?P<kind>_IMPL|_FRAGMENT)?(?:_EXPAND)?\s*\(\s*(?P<namespace>\w+)\s*,\s*"
    r"(?:(?P<key>\w+)\s*,\s*)?(?P<variable>\w+)\s*\)\s*\{"
)
_KERNEL: Final = re.compile(r"(?:TORCH_FN|TORCH_BOX)\s*\(\s*&?\s*([\w:]+)\s*\)|&?\s*([A-Za-z_][\w:]*)\s*$")
_TAG: Final = re.compile(r"\bTag::(\w+)")
_DEVICE_KEYS: Final = MappingProxyType(
    {"kCPU": "CPU", "kCUDA": "CUDA", "kMeta": "Meta", "kXPU": "XPU", "kMPS": "MPS", "kHIP": "CUDA"}
)


def read_cpp(text: str) -> Iterator[Registration]:
    """Yield the registrations in `text`."""
    plain = _without_comments(text)
    for block in _BLOCK.finditer(plain):
        end = _closing(plain, block.end() - 1)
        key = block["key"] if block["kind"] == "_IMPL" else ""
        calls = re.compile(rf"\b{block['variable']}\s*\.\s*(def|impl)\s*\(")
        for call in calls.finditer(plain, block.end(), end):
            inside = plain[call.end() : _closing(plain, call.end() - 1)]
            read = _definition if call[1] == "def" else _implementation
            yield read(block["namespace"], inside, call.start(), key or "")


def _without_comments(text: str) -> str:
    """Return the text with comments replaced by blanks, which keeps offsets."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0]) if found[0][:2] in ("//", "/*") else found[0]

    return _COMMENT_OR_LITERAL.sub(blank, text)


_NESTING: Final = re.compile(r'[(){}\[\]]|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL)


def _closing(text: str, opening: int) -> int:
    """Return the offset of the bracket that closes the one at `opening`."""
    depth = 0
    for found in _NESTING.finditer(text, opening):
        depth += {"(": 1, "{": 1, "[": 1}.get(found[0], 0) - {")": 1, "}": 1, "]": 1}.get(found[0], 0)
        if depth == 0:
            return found.start()
    return len(text)


def _arguments(inside: str) -> list[str]:
    """Return the source text of the arguments of a call."""
    parts, depth, start = [], 0, 0
    for found in re.finditer(rf"{_NESTING.pattern}|,", inside, re.DOTALL):
        depth += {"(": 1, "{": 1, "[": 1}.get(found[0], 0) - {")": 1, "}": 1, "]": 1}.get(found[0], 0)
        if found[0] == "," and depth == 0:
            parts.append(inside[start : found.start()].strip())
            start = found.end()
    return [part for part in (*parts, inside[start:].strip()) if part]


_ESCAPES: Final = MappingProxyType({"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"})


def _literal(text: str) -> str | None:
    """Return the value of a literal, or of several in a row; None if it isn't one."""
    inner = re.sub(
        r"^(?:TORCH_SELECTIVE_SCHEMA|TORCH_SELECTIVE_NAME|at::|torch::schema)\s*\((.*)\)$", r"\1", text, flags=re.S
    )
    pieces, position = [], 0
    while found := _LITERAL.match(inner, position):
        raw, plain = found["raw"], found["plain"]
        pieces.append(raw if raw is not None else re.sub(r"\\(.)", lambda e: _ESCAPES.get(e[1], e[1]), plain))
        position = found.end()
    return " ".join("".join(pieces).split()) if pieces and position == len(inner) else None


def _definition(namespace: str, inside: str, offset: int, _: str) -> Registration:
    arguments = _arguments(inside)
    schema = _literal(arguments[0]) if arguments else None
    if schema is None:
        return Registration(namespace, "", offset, problem="a schema that is not a literal can't be read")
    namespace, schema = _split(namespace, schema)
    if "(" not in schema:
        problem = f"'{namespace}::{schema}' has no schema here: torch infers it from the kernel"
        return Registration(namespace, schema, offset, problem=problem)
    rest = ", ".join(arguments[1:])
    tags = tuple(_TAG.findall(rest))
    kernel = _kernel_name(arguments[-1]) if len(arguments) > 1 and "Tag::" not in arguments[-1] else ""
    return Registration(namespace, schema, offset, "CompositeImplicitAutograd" if kernel else "", kernel, tags)


def _implementation(namespace: str, inside: str, offset: int, key: str) -> Registration:
    arguments = _arguments(inside)
    name = _literal(arguments[0]) if arguments else None
    if name is None:
        return Registration(
            namespace, "", offset, problem="a kernel of an operator whose name is not a literal can't be read"
        )
    namespace, name = _split(namespace, name)
    given = re.search(r"DispatchKey::(\w+)|\b(k(?:CPU|CUDA|Meta|XPU|MPS|HIP))\b", ", ".join(arguments[1:]))
    if given:
        key = given[1] or _DEVICE_KEYS[given[2]]
    kernel = _kernel_name(arguments[-1].rstrip(")") if arguments[-1].startswith("torch::dispatch") else arguments[-1])
    if not kernel:
        problem = f"the kernel of '{namespace}::{name}' under {key or 'all keys'} is not a named function"
        return Registration(namespace, name, offset, problem=problem)
    return Registration(namespace, name, offset, key or "CompositeImplicitAutograd", kernel)


def _split(namespace: str, text: str) -> tuple[str, str]:
    """Return the namespace in a name, or else that of the block, and the rest of the name."""
    head, colons, rest = text.partition("(")[0].partition("::")
    return (head, text[len(head) + 2 :]) if colons and rest else (namespace, text)


def _kernel_name(text: str) -> str:
    found = _KERNEL.search(text.strip())
    return (found[1] or found[2]).removeprefix("::") if found else ""
