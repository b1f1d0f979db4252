"""Two definitions of one function in stubs → in what way the one says something else than the other.

    differences("def f(a: int = ...) -> Tensor: ...", "def f(a: Number = 1, *, out: …) -> Tensor: ...")
    →  {"hidden", "narrower", "out"}

Types are compared by what they mean: `int` is `_int`, and of two unions the order is of no account.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "out": "torch leaves out the keyword 'out', which the function takes",
        "overloads": "torch leaves out overloads that the function has",
        "narrower": "torch names a type that is narrower than what the function takes",
        "joined": "torch has one definition for what the function takes in two ways",
        "default": "torch writes another default",
        "vaguer": "torch says less of what is returned",
        "left out": "torch leaves out a parameter that has a default, or its default",
        "hidden": "torch writes '...' for a default",
        "name": "torch names a parameter otherwise than the function does",
        "order": "torch has the parameters in another order than the function",
        "by position": "torch lets a parameter be given by position that must be named",
        "type": "torch names a type that the function doesn't take",
        "unknown": "torch has a parameter that the function doesn't take",
        "optional": "torch lets a parameter be left out that must be given",
        "returns": "torch says that something else is returned",
    }
)
"""In what ways torch's stubs differ from ours, and what that means."""

WRONG: Final = frozenset({"name", "order", "by position", "type", "unknown", "optional", "returns"})
"""Differences by which torch's stubs allow a call that torch refuses, or promise a result that it doesn't give."""

_ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{name: f"_{name}" for name in ("int", "float", "bool", "complex")},
        "_size": "Sequence[_int]",
        "Number": "_int | _float | _bool",
    }
)
_WITHIN: Final = frozenset({("_int", "_float"), ("_int", "_complex"), ("_float", "_complex"), ("_bool", "_int")})
"""Types that a type checker takes for others."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a definition."""

    name: str
    is_keyword_only: bool
    type: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition of a function."""

    parameters: tuple[Parameter, ...]
    returns: str

    def named(self) -> dict[str, Parameter]:
        return {parameter.name: parameter for parameter in self.parameters}


def read_definitions(text: str, of_class: str | None = None) -> dict[str, list[Definition]]:
    """The definitions of each function in a file, or of each method of a class in it."""
    body: Iterable[ast.stmt] = ast.parse(text).body
    if of_class is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == of_class)
    found: dict[str, list[Definition]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            returns = ast.unparse(node.returns) if node.returns is not None else ""
            found.setdefault(node.name, []).append(Definition(tuple(_parameters(node.args)), returns))
    return found


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    lacking = len(positional) - len(arguments.defaults)
    defaults = [None] * lacking + list(arguments.defaults)
    yield from (_parameter(one, default, False) for one, default in zip(positional, defaults, strict=True))
    if arguments.vararg is not None:
        yield Parameter(f"*{arguments.vararg.arg}", False, _text(arguments.vararg.annotation) or "", None)
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    yield from (_parameter(one, default, True) for one, default in named)


def _parameter(one: ast.arg, default: ast.expr | None, is_keyword_only: bool) -> Parameter:
    return Parameter(one.arg, is_keyword_only, _text(one.annotation) or "", _text(default))


def _text(node: ast.expr | None) -> str | None:
    return None if node is None else ast.unparse(node)


# ------------------------------------------------------------------------------ what differs


def compare(ours: Sequence[Definition], theirs: Sequence[Definition]) -> frozenset[str]:
    """How the definitions of one function differ; nothing if they say the same."""
    found: set[str] = set()
    matched: set[int] = set()
    for one in theirs:
        ways = [differences(mine, one) for mine in ours]
        best = min(
            range(len(ours)), key=lambda index: ("unknown" in ways[index], len(ways[index] & WRONG), len(ways[index]))
        )
        matched.add(best)
        found |= ways[best]
        if "optional" in ways[best] and _is_taken(_without_optional(one, ours[best]), ours):
            found = found - {"optional"} | {"joined"}
    return frozenset(found | ({"overloads"} if len(matched) < len(ours) else set()))


def _without_optional(theirs: Definition, ours: Definition) -> Definition:
    """Their definition without the parameters that have a default there and none in ours."""
    required = {name for name, parameter in ours.named().items() if parameter.default is None}
    left = [one for one in theirs.parameters if one.default is None or one.name not in required]
    return Definition(tuple(left), theirs.returns)


def _is_taken(theirs: Definition, ours: Sequence[Definition]) -> bool:
    return any(not differences(mine, theirs) & WRONG for mine in ours)


def differences(ours: Definition, theirs: Definition) -> frozenset[str]:
    """In which of the ways of `REASONS` their definition differs from ours."""
    pairs, found = _pairs(ours, theirs)
    for mine, other in pairs:
        found |= set(_of_parameter(mine, other))
    given = [other.name for _, other in pairs]
    for mine in ours.parameters:
        if mine.name not in [one.name for one, _ in pairs]:
            found.add("optional" if mine.default is None else "out" if mine.name == "out" else "left out")
    expected = [other.name for mine in ours.parameters for one, other in pairs if one is mine]
    positional = {other.name for _, other in pairs if not other.is_keyword_only}
    if [name for name in given if name in positional] != [name for name in expected if name in positional]:
        found.add("order")
    returned, promised = _alternatives(ours.returns), _alternatives(theirs.returns)
    if returned != promised:
        found.add("vaguer" if _all_within(returned, promised) else "returns")
    return frozenset(found)


def _pairs(ours: Definition, theirs: Definition) -> tuple[list[tuple[Parameter, Parameter]], set[str]]:
    """Parameters that are the same, in their order; by name or, if neither has the other's name, by place."""
    mine, others = ours.named(), theirs.named()
    pairs: list[tuple[Parameter, Parameter]] = []
    found: set[str] = set()
    for index, other in enumerate(theirs.parameters):
        same = mine.get(other.name)
        at_place = ours.parameters[index] if index < len(ours.parameters) else other
        if same is None and not (at_place.is_keyword_only or other.is_keyword_only) and at_place.name not in others:
            same = at_place
            found.add("name")
        if same is None:
            found.add("unknown")
        else:
            pairs.append((same, other))
    return pairs, found


def _of_parameter(mine: Parameter, other: Parameter) -> Iterator[str]:
    if mine.is_keyword_only and not other.is_keyword_only:
        yield "by position"
    if other.is_keyword_only and not mine.is_keyword_only:
        yield "narrower"
    if other.default != mine.default:
        yield from _of_default(mine, other)
    ours, theirs = _alternatives(mine.type), _alternatives(other.type)
    if mine.default is None and other.default == "None":
        theirs -= {"None"}
    if ours != theirs:
        yield "narrower" if _all_within(theirs, ours) else "type"


def _all_within(some: Iterable[str], others: Iterable[str]) -> bool:
    """Whether each of some types is of one of the others."""
    return all(any(_takes(other, one) for other in others) for one in some)


def _of_default(mine: Parameter, other: Parameter) -> Iterator[str]:
    if mine.default is None:
        yield "optional"
    elif other.default is None:
        yield "left out"
    elif other.default == "...":
        yield "hidden"
    elif not _is_equal(mine.default, other.default):
        yield "default"


def _is_equal(first: str, second: str) -> bool:
    try:
        return bool(ast.literal_eval(first) == ast.literal_eval(second))
    except ValueError:
        return False


def _alternatives(spelled: str) -> frozenset[str]:
    """The types of a union; each in the one spelling that it has here."""
    node = ast.parse(spelled or "Any", mode="eval").body
    return frozenset(_spelled(node))


def _spelled(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.BinOp):
        yield from _spelled(node.left)
        yield from _spelled(node.right)
    elif isinstance(node, ast.Name) and node.id in _ALIASES:
        yield from _ALIASES[node.id].split(" | ")
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Tuple):
        inside = sorted(_spelled(node.slice))
        yield f"{ast.unparse(node.value)}[{' | '.join(inside)}]"
    else:
        yield ast.unparse(node).removeprefix("torch.").replace("tuple[int, ...]", "tuple[_int, ...]")


def _takes(mine: str, theirs: str) -> bool:
    """Whether all that is of their type is of ours."""
    if mine == theirs or (theirs, mine) in _WITHIN:
        return True
    if mine.startswith("Sequence[") and theirs.startswith(("Sequence[", "tuple[", "list")):
        inside = mine[len("Sequence[") : -1].split(" | ")
        elements = theirs.partition("[")[2].removesuffix("]").removesuffix(", ...").split(" | ")
        return theirs == "list" or all(element in inside for element in elements)
    return mine == "str" and theirs.startswith("Literal[")
