"""Lists of operators that compiled models call → the `Shims` of a run.

    per_device:
      - abs
      - op: _flash_attention_forward
        since: 2.11
        later_arguments:
          - since: 2.12
            arguments: block_table, num_splits

The list for torch's own operators is in the package; a user's file adds to it, and what it says of
an operator counts instead of what the package's says.  docs/aoti-shims.md describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from opgen.api.c_shim import LaterArguments, ShimmedOperator, Shims, c_functions
from opgen.api.types import UnsupportedTypeError
from opgen.diagnostics import Diagnostic, Diagnostics, Note, Source, Span, UserError, closest, did_you_mean
from opgen.frontend.fields import Field, Table, boolean, read_fields, scalar, word_list
from opgen.frontend.nodes import ListNode, Node, Scalar, load_yaml
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, Variant
from opgen.releases.release import Release

FLAG: Final = "--aoti-fallback-ops"

_PACKAGED: Final = "packaged/aoti/fallback_ops.yaml"
_RELEASE: Final = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?", re.ASCII)


def _release(node: Node) -> tuple[int, int, int]:
    """Return the version of the torch release `2.12` or `2.12.1`.  Raises UserError."""
    found = scalar(node)
    parts = _RELEASE.fullmatch(found.text)
    if parts is None:
        message = f"'{found.text}' is not a release of torch"
        raise UserError(Diagnostic("bad-release", message, found.span, "write it as '2.12' or '2.12.1'"))
    major, minor, patch = (int(part or 0) for part in parts.groups())
    return major, minor, patch


def _macro(version: tuple[int, int, int]) -> str:
    """Return the macro of a torch version."""
    return "TORCH_VERSION_" + "_".join(map(str, version))


def _nodes(node: Node) -> tuple[Node, ...]:
    if isinstance(node, ListNode):
        return node.items
    raise UserError(Diagnostic("wrong-kind", "expected a list here", node.span, "start each item with '- '"))


ANY_DEVICE: Field[tuple[Node, ...]] = Field("any_device", _nodes, default=())
PER_DEVICE: Field[tuple[Node, ...]] = Field("per_device", _nodes, default=())
TABLE = Table.of(ANY_DEVICE, PER_DEVICE)

OP = Field("op", scalar)
SINCE: Field[tuple[int, int, int] | None] = Field("since", _release, default=None)
LATER_ARGUMENTS: Field[tuple[Node, ...]] = Field("later_arguments", _nodes, default=())
NULL_RESULTS = Field("null_results", boolean, default=False)
ENTRY_TABLE = Table.of(OP, SINCE, LATER_ARGUMENTS, NULL_RESULTS)

ARGUMENTS = Field("arguments", word_list)
LATER_SINCE = Field("since", _release)
LATER_TABLE = Table.of(ARGUMENTS, LATER_SINCE)


@dataclass(frozen=True, slots=True)
class _Later:
    """The arguments that an entry names."""

    words: tuple[Scalar, ...]
    since: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Listed:
    """An entry of a list, before its operator is looked up."""

    op: Scalar
    since: tuple[int, int, int] | None
    later_arguments: tuple[_Later, ...]
    null_results: bool
    is_packaged: bool

    @property
    def name(self) -> str:
        """The full name: `aten::add.Tensor`."""
        return self.op.text if "::" in self.op.text else f"aten::{self.op.text}"


def packaged_fallback_ops() -> Source:
    """Return the list for torch's own operators."""
    text = (Path(__file__).parents[1] / _PACKAGED).read_text(encoding="utf-8")
    return Source(f"<opgen>/{_PACKAGED}", text)


def packaged_shim_names() -> frozenset[str]:
    """Return what the names of torch's own C functions for a device end in: `abs`, `add_Tensor`."""
    _, per_device = _read_list(packaged_fallback_ops(), Diagnostics(), is_packaged=True)
    return frozenset(entry.name.partition("::")[2].replace(".", "_") for entry in per_device)


def load_shims(
    functions: Iterable[NativeFunction], extra: Source | Path | None, release: Release, log: Diagnostics
) -> Shims:
    """Return the operators of the package's list that are among `functions`, and those of a user's list.

    Of the package's list, what came after the release is left out.  What is wrong with the lists is logged,
    and left out.
    """
    known = {function.qualified_name: function for function in functions}
    lists = [_read_list(packaged_fallback_ops(), log, is_packaged=True)]
    if extra is not None:
        lists.append(_read_list(extra, log, is_packaged=False))
    per_device = _merged(_released(entries, known, release) for _, entries in lists)
    any_device = _merged(_released(entries, known, release) for entries, _ in lists)
    _remark_absent((*any_device, *per_device), known, log)
    return Shims(
        any_device=tuple(_resolve_all(any_device, known, log, any_device=True)),
        per_device=tuple(_resolve_all(per_device, known, log, any_device=False)),
    )


# ------------------------------------------------------------------------------------- reading


def _read_list(where: Source | Path, log: Diagnostics, *, is_packaged: bool) -> tuple[list[_Listed], list[_Listed]]:
    """Return the entries for any device, and those for each."""
    root = load_yaml(where, log)
    values = None if root is None else read_fields(root, TABLE, "a list of operators with shims", log)
    if values is None:
        return [], []
    any_device = list(_read_entries(values[ANY_DEVICE], log, is_packaged))
    return any_device, list(_read_entries(values[PER_DEVICE], log, is_packaged))


def _read_entries(nodes: Iterable[Node], log: Diagnostics, is_packaged: bool) -> Iterator[_Listed]:
    found: dict[str, _Listed] = {}
    for node in nodes:
        entry = _read_entry(node, log, is_packaged)
        if entry is None:
            continue
        first = found.setdefault(entry.name, entry)
        if first is entry:
            yield entry
        else:
            note = Note("first listed here", first.op.span)
            log.error("duplicate-shim", f"'{entry.op.text}' is listed twice", entry.op.span, notes=[note])


def _read_entry(node: Node, log: Diagnostics, is_packaged: bool) -> _Listed | None:
    if isinstance(node, Scalar) and node.text:
        return _Listed(node, None, (), False, is_packaged)
    values = read_fields(node, ENTRY_TABLE, "an operator with a shim", log)
    if values is None:
        return None
    later = tuple(_read_later(values[LATER_ARGUMENTS], log))
    return _Listed(values[OP], values[SINCE], later, values[NULL_RESULTS], is_packaged)


def _read_later(nodes: Iterable[Node], log: Diagnostics) -> Iterator[_Later]:
    for node in nodes:
        values = read_fields(node, LATER_TABLE, "an entry of 'later_arguments'", log)
        if values is not None:
            yield _Later(values[ARGUMENTS], values[LATER_SINCE])


def _merged(lists: Iterable[Iterable[_Listed]]) -> tuple[_Listed, ...]:
    """Return all entries; the last one if an operator has several."""
    return tuple({entry.name: entry for entries in lists for entry in entries}.values())


# ----------------------------------------------------------------------------------- resolving


def _released(entries: Iterable[_Listed], known: Mapping[str, NativeFunction], release: Release) -> Iterator[_Listed]:
    """Yield the entries without what the package's list has for releases after this one."""
    for entry in entries:
        function = known.get(entry.name)
        if not entry.is_packaged or function is None:
            yield entry
        elif entry.since is None or release.has(entry.since):
            names = {argument.name for argument in function.func.arguments.flat_non_out}
            later = [part for part in entry.later_arguments if any(word.text in names for word in part.words)]
            yield replace(entry, later_arguments=tuple(later))


def _remark_absent(entries: Iterable[_Listed], known: Mapping[str, NativeFunction], log: Diagnostics) -> None:
    absent = dict.fromkeys(entry.name for entry in entries if entry.is_packaged and entry.name not in known)
    if absent:
        names = ", ".join(list(absent)[:3]) + (", ..." if len(absent) > 3 else "")
        message = f"{len(absent)} of torch's operators with C functions are not defined here: {names}"
        log.remark("shim-not-defined", message)


def _resolve_all(
    entries: Iterable[_Listed], known: Mapping[str, NativeFunction], log: Diagnostics, *, any_device: bool
) -> Iterator[ShimmedOperator]:
    for entry in entries:
        function = known.get(entry.name)
        if function is None:
            if not entry.is_packaged:
                log.extend([_unknown_operator(entry, known)])
            continue
        problems = list(_problems(entry, function, any_device))
        log.extend(problems)
        if not problems:
            yield _resolved(entry, function)


def _unknown_operator(entry: _Listed, known: Mapping[str, NativeFunction]) -> Diagnostic:
    near = closest(entry.name, known)
    overloads = [name for name in known if name.partition(".")[0] == entry.name.partition(".")[0]]
    label = f"did you mean '{near}'?" if near and not overloads else ""
    if overloads:
        label = f"its overloads: {', '.join(overloads)}"
    return Diagnostic("unknown-operator", f"there is no operator '{entry.name}'", entry.op.span, label)


def _resolved(entry: _Listed, function: NativeFunction) -> ShimmedOperator:
    later = tuple(
        LaterArguments(frozenset(word.text for word in part.words), _macro(part.since))
        for part in entry.later_arguments
    )
    return ShimmedOperator(function, None if entry.since is None else _macro(entry.since), later, entry.null_results)


def _problems(entry: _Listed, function: NativeFunction, any_device: bool) -> Iterator[Diagnostic]:
    """Return why the operator can't have the C functions of its entry."""
    yield from _later_problems(entry, function)
    if any_device and Variant.function not in function.variants and not function.func.has_symint():
        message = f"'{entry.name}' is only a method, so there is no C++ function to call"
        yield Diagnostic("shim-of-method", message, entry.op.span, "list it under 'per_device'")
    try:
        list(c_functions(ShimmedOperator(function), "cpu"))
    except UnsupportedTypeError as problem:
        schema = Note(f"it is {function.func}", function.loc)
        message = f"'{entry.name}' can't have a C function: {problem}"
        yield Diagnostic("shim-unsupported-type", message, entry.op.span, notes=(schema,))


def _later_problems(entry: _Listed, function: NativeFunction) -> Iterator[Diagnostic]:
    arguments = {a.name: a for a in function.func.arguments.flat_non_out}
    seen: dict[str, Span] = {}
    for word in (word for part in entry.later_arguments for word in part.words):
        if word.text not in arguments:
            message = f"'{entry.name}' has no argument '{word.text}'"
            yield Diagnostic("unknown-argument", message, word.span, _nearest(word.text, arguments))
        elif arguments[word.text].default is None:
            message = f"'{word.text}' has no default, so the function without it would have nothing to pass"
            yield Diagnostic("later-without-default", message, word.span)
        elif word.text in seen:
            note = Note("first here", seen[word.text])
            yield Diagnostic("duplicate-argument", f"'{word.text}' can be added only once", word.span, notes=(note,))
        seen.setdefault(word.text, word.span)


def _nearest(word: str, legal: Collection[str]) -> str:
    return did_you_mean(word, legal) or f"its arguments: {', '.join(legal)}"
