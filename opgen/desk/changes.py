"""The facts of operators before and after a change → the changes of each operator, and what they break.

    compare_operators(before, after)    →   (Change("mylib::scale", old, new, breaks_callers=("…",), …), …)
    render_text(changes)                →   a report for a terminal

A change breaks callers if a previously valid call becomes invalid, and compiled code if a program that was
linked against the old library can't run with the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from opgen.desk.facts import OperatorFacts
from opgen.frozen_dataclass import dataclass
from opgen.model import Argument, BaseTy, BaseType, FunctionSchema, ListType, OptionalType, Type

_ASPECTS: Final[tuple[tuple[str, Callable[[OperatorFacts], Mapping[str, str]]], ...]] = (
    ("schema", lambda facts: {"": facts.schema}),
    ("C++", lambda facts: {str(number): text for number, text in enumerate(facts.cpp)}),
    ("Python", lambda facts: {"": facts.python}),
    ("kernels", lambda facts: facts.kernels),
    ("gradients", lambda facts: facts.gradients),
    ("tags", lambda facts: dict.fromkeys(facts.tags, "")),
    ("selected", lambda facts: {"": str(facts.is_selected)}),
)
"""The compared property of an operator: strings by name; the name is empty if there is only one."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One changed string: None if it is absent."""

    aspect: str
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """The changes of one operator."""

    name: str
    kind: str
    """added, removed or changed"""
    edits: tuple[Edit, ...]
    breaks_callers: tuple[str, ...]
    """The reasons why calls break; empty if they don't."""
    breaks_compiled_code: tuple[str, ...]
    """The reasons why programs must be recompiled; empty if they needn't be."""


def compare_operators(before: Mapping[str, OperatorFacts], after: Mapping[str, OperatorFacts]) -> tuple[Change, ...]:
    """Return the operators that change, sorted by name."""
    changes = (_compare(name, before.get(name), after.get(name)) for name in sorted({*before, *after}))
    return tuple(change for change in changes if change is not None)


def _compare(name: str, old: OperatorFacts | None, new: OperatorFacts | None) -> Change | None:
    edits = tuple(_edits(old, new))
    if not edits:
        return None
    if old is None:
        return Change(name, "added", edits, (), ())
    if new is None:
        removed = ("the operator is removed",)
        return Change(name, "removed", edits, removed, removed)
    calls = (*_why_calls_break(old.func, new.func), *_lost_support(old, new))
    return Change(name, "changed", edits, calls, tuple(_why_links_break(old, new)))


def _edits(old: OperatorFacts | None, new: OperatorFacts | None) -> Iterator[Edit]:
    for aspect, read in _ASPECTS:
        before, after = ({} if facts is None else read(facts) for facts in (old, new))
        for name in sorted({*before, *after}):
            was, now = before.get(name), after.get(name)
            is_news = aspect != "selected" or (old is not None and new is not None)
            if was != now and is_news:
                yield Edit(aspect, "" if aspect == "C++" else name, was, now)


# --------------------------------------------------------------------------------- what breaks


def _why_calls_break(old: FunctionSchema, new: FunctionSchema) -> Iterator[str]:
    before = {argument.name: argument for argument in old.arguments.flat_all}
    after = {argument.name: argument for argument in new.arguments.flat_all}
    yield from (f"the argument '{name}' is removed" for name in before if name not in after)
    for name, argument in after.items():
        if name not in before:
            if argument.default is None:
                yield f"the new argument '{name}' has no default"
        else:
            yield from _why_argument_breaks(before[name], argument)
    yield from _why_positions_break(old, new)
    if [(r.type.text, r.name) for r in old.returns] != [(r.type.text, r.name) for r in new.returns]:
        yield "the returns change"


def _lost_support(old: OperatorFacts, new: OperatorFacts) -> Iterator[str]:
    """Yield the support that unchanged calls lose."""
    if old.is_selected and not new.is_selected:
        yield "the operator is no longer registered"
    if not any(key.startswith("Composite") for key in new.kernels):
        # A form without kernels uses those of the form that it delegates to.
        removed = [key for key in old.kernels if key not in new.kernels and not key.startswith("Composite")]
        yield from (f"there is no longer a kernel for {key}" for key in removed if new.kernels)
    if old.gradients and not new.gradients and "CompositeImplicitAutograd" not in new.kernels:
        yield "it can no longer be differentiated"


def _why_argument_breaks(old: Argument, new: Argument) -> Iterator[str]:
    if not _accepts(new.type, old.type):
        yield f"the argument '{new.name}' is '{new.type}', not '{old.type}'"
    if old.default is not None and new.default is None:
        yield f"the argument '{new.name}' no longer has a default"
    elif old.default != new.default:
        yield f"the default of '{new.name}' is {new.default}, not {old.default}"
    if not old.is_write and new.is_write:
        yield f"the argument '{new.name}' is written to"


def _why_positions_break(old: FunctionSchema, new: FunctionSchema) -> Iterator[str]:
    """Yield the positional arguments that moved or became keyword-only."""
    after = [argument.name for argument in new.arguments.flat_positional]
    kept = {argument.name for argument in new.arguments.flat_all}
    for index, argument in enumerate(old.arguments.flat_positional):
        if argument.name not in kept:
            continue
        if argument.name not in after:
            yield f"the argument '{argument.name}' is keyword-only"
        elif after.index(argument.name) != index:
            yield f"the argument '{argument.name}' is at another position"


_WIDER: Final = (
    (BaseTy.SymInt, BaseTy.int),
    (BaseTy.float, BaseTy.int),
    (BaseTy.Scalar, BaseTy.int),
    (BaseTy.Scalar, BaseTy.float),
    (BaseTy.Scalar, BaseTy.bool),
)
"""Pairs of types: the first accepts every value of the second."""


def _accepts(wide: Type, narrow: Type) -> bool:
    """Return whether `wide` accepts every value of `narrow`."""
    if wide == narrow:
        return True
    if isinstance(wide, OptionalType):
        return _accepts(wide.elem, narrow.elem if isinstance(narrow, OptionalType) else narrow)
    if isinstance(wide, ListType) and isinstance(narrow, ListType):
        # A list of any size takes all lists; one with a size takes a single element too.
        return narrow.size in (None, wide.size) and _accepts(wide.elem, narrow.elem)
    if isinstance(wide, BaseType) and isinstance(narrow, BaseType):
        return (wide.name, narrow.name) in _WIDER
    return False


def _why_links_break(old: OperatorFacts, new: OperatorFacts) -> Iterator[str]:
    missing = [symbol for symbol in old.symbols if symbol not in new.symbols]
    yield from (f"'{symbol}' no longer exists" for symbol in missing)


# --------------------------------------------------------------------------------- reports


def render_text(changes: Sequence[Change], files: Mapping[str, str]) -> str:
    """Return the report for a terminal; `files` says of each file that changes how: `+`, `-` or `~`."""
    parts = ["\n".join(_text_lines(change)) + "\n" for change in changes]
    if files:
        noun = "file" if len(files) == 1 else "files"
        parts.append(
            "".join([f"{len(files):,} {noun}\n", *(f"  {mark} {path}\n" for path, mark in sorted(files.items()))])
        )
    return "\n".join(parts)


def _text_lines(change: Change) -> Iterator[str]:
    yield f"{change.name}: {change.kind}{_verdict(change)}"
    for edit in change.edits:
        label = f"{edit.aspect} {edit.name}".strip()
        yield from (f"  {sign} {label}: {text}".rstrip(": ") for sign, text in _sides(edit))
    yield from (f"  ! breaks callers: {reason}" for reason in change.breaks_callers)
    yield from (f"  ! breaks compiled code: {reason}" for reason in change.breaks_compiled_code)


def _sides(edit: Edit) -> Iterator[tuple[str, str]]:
    if edit.before is not None:
        yield "-", edit.before
    if edit.after is not None:
        yield "+", edit.after


def _verdict(change: Change) -> str:
    broken = [what for what, reasons in _broken(change) if reasons]
    return f", breaks {' and '.join(broken)}" if broken else ""


def _broken(change: Change) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (("callers", change.breaks_callers), ("compiled code", change.breaks_compiled_code))


def render_markdown(changes: Sequence[Change], files: Mapping[str, str]) -> str:
    """Return the report as Markdown, for a comment on a change."""
    lines = ["| operator | change | breaks callers | breaks compiled code |", "|---|---|---|---|"]
    lines += [
        f"| `{change.name}` | {change.kind} | {_cell(change.breaks_callers)} | {_cell(change.breaks_compiled_code)} |"
        for change in changes
    ]
    for change in changes:
        lines += ["", f"### `{change.name}`", "", "```diff"]
        for edit in change.edits:
            label = f"{edit.aspect} {edit.name}".strip()
            lines += [f"{sign} {label}: {text}".rstrip(": ") for sign, text in _sides(edit)]
        lines.append("```")
    if files:
        count = "1 generated file changes" if len(files) == 1 else f"{len(files):,} generated files change"
        lines += ["", f"{count}."]
    return "\n".join(lines) + "\n" if changes or files else "No operator changes.\n"


def _cell(reasons: Sequence[str]) -> str:
    return "<br>".join(reason.replace("|", "\\|") for reason in reasons)


def to_json(changes: Sequence[Change], files: Mapping[str, str]) -> dict[str, Any]:
    """Return the report as values of JSON."""
    return {
        "operators": [
            {
                "name": change.name,
                "change": change.kind,
                "edits": [
                    {"aspect": edit.aspect, "name": edit.name, "before": edit.before, "after": edit.after}
                    for edit in change.edits
                ],
                "breaks_callers": list(change.breaks_callers),
                "breaks_compiled_code": list(change.breaks_compiled_code),
            }
            for change in changes
        ],
        "files": dict(sorted(files.items())),
    }
