"""Lists of operators that compiled models call → the `Shims` of a run.

    per_device:
      - abs
      - op: _flash_attention_forward
        since: 2.11
        later_arguments:
          - since: 2.12
            arguments: block_table, num_splits

The list for torch's own operators is in the package; a user's file extends it and overrides its
entries.  docs/aoti-shims.md describes the format.
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
    word = scalar(node)
    parts = _RELEASE.fullmatch(word.text)
    if parts is None:
        message = f"'{word.text}' is not a release of torch"
        raise UserError(Diagnostic("bad-release", message, word.span, "write it as '2.12' or '2.12.1'"))
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
class _Entry:
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
    """Return the suffixes of the names of torch's own C functions per device: `abs`, `add_Tensor`."""
    _, per_device = _read_list(packaged_fallback_ops(), Diagnostics(), is_packaged=True)
    return frozenset(entry.name.partition("::")[2].replace(".", "_") for entry in per_device)


def load_shims(
    functions: Iterable[NativeFunction], extra: Source | Path | None, release: Release, log: Diagnostics
) -> Shims:
    """Return the operators of the package's list that are among `functions`, and those of a user's list.

    Entries of the package's list that are newer than the release are skipped, and so are entries with errors, which
    are logged.
    """
    by_name = {function.qualified_name: function for function in functions}
    lists = [_read_list(packaged_fallback_ops(), log, is_packaged=True)]
    if extra is not None:
        lists.append(_read_list(extra, log, is_packaged=False))
    per_device = _merge(_filter_released(entries, by_name, release) for _, entries in lists)
    any_device = _merge(_filter_released(entries, by_name, release) for entries, _ in lists)
    _remark_undefined((*any_device, *per_device), by_name, log)
    return Shims(
        any_device=tuple(_resolve_all(any_device, by_name, log, any_device=True)),
        per_device=tuple(_resolve_all(per_device, by_name, log, any_device=False)),
    )


# ------------------------------------------------------------------------------------- reading


def _read_list(where: Source | Path, log: Diagnostics, *, is_packaged: bool) -> tuple[list[_Entry], list[_Entry]]:
    """Return the device-independent entries, and the entries per device."""
    root = load_yaml(where, log)
    values = None if root is None else read_fields(root, TABLE, "a list of operators with shims", log)
    if values is None:
        return [], []
    any_device = list(_read_entries(values[ANY_DEVICE], log, is_packaged))
    return any_device, list(_read_entries(values[PER_DEVICE], log, is_packaged))


def _read_entries(nodes: Iterable[Node], log: Diagnostics, is_packaged: bool) -> Iterator[_Entry]:
    first_by_name: dict[str, _Entry] = {}
    for node in nodes:
        entry = _read_entry(node, log, is_packaged)
        if entry is None:
            continue
        first = first_by_name.setdefault(entry.name, entry)
        if first is entry:
            yield entry
        else:
            note = Note("first listed here", first.op.span)
            log.error("duplicate-shim", f"'{entry.op.text}' is listed twice", entry.op.span, notes=[note])


def _read_entry(node: Node, log: Diagnostics, is_packaged: bool) -> _Entry | None:
    if isinstance(node, Scalar) and node.text:
        return _Entry(node, None, (), False, is_packaged)
    values = read_fields(node, ENTRY_TABLE, "an operator with a shim", log)
    if values is None:
        return None
    later = tuple(_read_later(values[LATER_ARGUMENTS], log))
    return _Entry(values[OP], values[SINCE], later, values[NULL_RESULTS], is_packaged)


def _read_later(nodes: Iterable[Node], log: Diagnostics) -> Iterator[_Later]:
    for node in nodes:
        values = read_fields(node, LATER_TABLE, "an entry of 'later_arguments'", log)
        if values is not None:
            yield _Later(values[ARGUMENTS], values[LATER_SINCE])


def _merge(lists: Iterable[Iterable[_Entry]]) -> tuple[_Entry, ...]:
    """Return all entries; the last one if an operator has several."""
    return tuple({entry.name: entry for entries in lists for entry in entries}.values())


# ----------------------------------------------------------------------------------- resolving


def _filter_released(
    entries: Iterable[_Entry], by_name: Mapping[str, NativeFunction], release: Release
) -> Iterator[_Entry]:
    """Yield the entries, without those of the package's list that are newer than the release."""
    for entry in entries:
        function = by_name.get(entry.name)
        if not entry.is_packaged or function is None:
            yield entry
        elif entry.since is None or release.has(entry.since):
            names = {argument.name for argument in function.func.arguments.flat_non_out}
            later = [part for part in entry.later_arguments if any(word.text in names for word in part.words)]
            yield replace(entry, later_arguments=tuple(later))


def _remark_undefined(entries: Iterable[_Entry], by_name: Mapping[str, NativeFunction], log: Diagnostics) -> None:
    undefined = dict.fromkeys(entry.name for entry in entries if entry.is_packaged and entry.name not in by_name)
    if undefined:
        names = ", ".join(list(undefined)[:3]) + (", ..." if len(undefined) > 3 else "")
        message = f"{len(undefined)} of torch's operators with C functions are not defined here: {names}"
        log.remark("shim-not-defined", message)


def _resolve_all(
    entries: Iterable[_Entry], by_name: Mapping[str, NativeFunction], log: Diagnostics, *, any_device: bool
) -> Iterator[ShimmedOperator]:
    for entry in entries:
        function = by_name.get(entry.name)
        if function is None:
            if not entry.is_packaged:
                log.extend([_unknown_operator(entry, by_name)])
            continue
        problems = list(_problems(entry, function, any_device))
        log.extend(problems)
        if not problems:
            yield _resolve(entry, function)


def _unknown_operator(entry: _Entry, by_name: Mapping[str, NativeFunction]) -> Diagnostic:
    near = closest(entry.name, by_name)
    overloads = [name for name in by_name if name.partition(".")[0] == entry.name.partition(".")[0]]
    label = f"did you mean '{near}'?" if near and not overloads else ""
    if overloads:
        label = f"its overloads: {', '.join(overloads)}"
    return Diagnostic("unknown-operator", f"there is no operator '{entry.name}'", entry.op.span, label)


def _resolve(entry: _Entry, function: NativeFunction) -> ShimmedOperator:
    later = tuple(
        LaterArguments(frozenset(word.text for word in part.words), _macro(part.since))
        for part in entry.later_arguments
    )
    return ShimmedOperator(function, None if entry.since is None else _macro(entry.since), later, entry.null_results)


def _problems(entry: _Entry, function: NativeFunction, any_device: bool) -> Iterator[Diagnostic]:
    """Yield the reasons why the operator can't have the C functions of its entry."""
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


def _later_problems(entry: _Entry, function: NativeFunction) -> Iterator[Diagnostic]:
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
