"""Turns native_functions.yaml, tags.yaml and a selection into the one `Program` of a run.

This is the front end's table of contents: read, derive, check, group.  Mistakes are logged, all of
them, and a program is only made if there are none.

    load_program(Path("ATen/native/native_functions.yaml"), Path("ATen/native/tags.yaml"), log)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opgen.diagnostics import Diagnostics, Note, Source
from opgen.frontend.derive import Derived, derive_forms
from opgen.frontend.entries import Entry, read_entry
from opgen.frontend.groups import group_forms, group_functions, group_views
from opgen.frontend.nodes import ListNode, load_yaml
from opgen.frontend.rules import check_entries
from opgen.frontend.selection import KnownOperators, select
from opgen.frontend.tags import TagDefinition, load_tags
from opgen.frozen_map import FrozenMap
from opgen.model import (
    BackendIndex,
    BackendMetadata,
    DispatchKey,
    NativeFunction,
    OperatorName,
    is_cuda_dispatch_key,
    is_xpu_dispatch_key,
)
from opgen.program import Program


@dataclass(frozen=True, slots=True)
class Definitions:
    """A definitions file, read and completed, before any selection."""

    functions: tuple[NativeFunction, ...]
    """Written functions in the file's order, then the derived ones."""
    backend_indices: Mapping[DispatchKey, BackendIndex]
    tags: Mapping[str, TagDefinition]


def load_definitions(
    functions: Source | Path, tags: Source | Path, log: Diagnostics, ignored_keys: Iterable[DispatchKey] = ()
) -> Definitions | None:
    """The operators of a file and those derived from them; None, with the reasons logged, if any is wrong."""
    legal_tags = load_tags(tags, log)
    entries = _read_entries(functions, legal_tags, frozenset(ignored_keys), log)
    return None if log.has_errors else _complete(entries, legal_tags, log)


def _complete(entries: list[Entry], tags: Mapping[str, TagDefinition], log: Diagnostics) -> Definitions | None:
    """Derives what well-formed entries ask for, and holds all of them against the rules."""
    by_name = {entry.function.func.name: entry for entry in entries}
    groups = group_forms(entry.function for entry in entries)
    derived = derive_forms(groups.values(), by_name, log)
    check_entries(entries, groups, derived, log)
    if log.has_errors:
        return None
    functions = (*(entry.function for entry in entries), *(made.function for made in derived))
    return Definitions(functions, _index_kernels(entries, derived), tags)


def load_program(
    functions: Source | Path,
    tags: Source | Path,
    log: Diagnostics,
    *,
    selected_names: Sequence[str] | None = None,
    selection_path: Path | None = None,
    ignored_keys: Iterable[DispatchKey] = (),
) -> Program | None:
    """The program of a run; None, with the reasons logged, if anything in its inputs is wrong."""
    definitions = load_definitions(functions, tags, log, ignored_keys)
    if definitions is None:
        return None
    known = KnownOperators.of(f"{f.namespace}::{f.func.name}" for f in definitions.functions)
    selector = select(selected_names, selection_path, log, known)
    if selector is None or log.has_errors:
        return None
    return Program(
        functions=definitions.functions,
        grouped=tuple(group_functions(group_forms(definitions.functions).values())),
        view_grouped=tuple(group_views(definitions.functions)),
        backend_indices=definitions.backend_indices,
        selector=selector,
        tags=FrozenMap((tag.name, tag.description) for tag in definitions.tags.values()),
    )


def _read_entries(
    where: Source | Path,
    legal_tags: Mapping[str, TagDefinition],
    ignored_keys: frozenset[DispatchKey],
    log: Diagnostics,
) -> list[Entry]:
    root = load_yaml(where, log)
    if root is None:
        return []
    if not isinstance(root, ListNode):
        label = "start each entry with '- func: ...'"
        log.error("wrong-kind", "a file of operator definitions must be a list", root.span, label)
        return []
    found: dict[tuple[str, OperatorName], Entry] = {}
    for node in root.items:
        entry = read_entry(node, legal_tags, ignored_keys, log)
        if entry is None:
            continue
        key = (entry.function.namespace, entry.function.func.name)
        first = found.setdefault(key, entry)
        if first is not entry:
            name = entry.function.func.name
            note = Note("first defined here", first.func.span)
            log.error("duplicate-operator", f"the operator '{name}' is defined twice", entry.func.span, notes=[note])
    return list(found.values())


def _index_kernels(entries: Iterable[Entry], derived: Iterable[Derived]) -> FrozenMap[DispatchKey, BackendIndex]:
    """The kernels by dispatch key, keys in the order in which they first come up."""
    kernels: dict[DispatchKey, dict[OperatorName, BackendMetadata]] = {}
    for entry in entries:
        for key, kernel in entry.kernels.items():
            kernels.setdefault(key, {})[entry.function.func.name] = kernel
    composite = DispatchKey.CompositeExplicitAutograd
    for made in derived:
        kernels.setdefault(composite, {})[made.function.func.name] = made.kernel
    return FrozenMap((key, backend_index(key, index)) for key, index in kernels.items())


def backend_index(key: DispatchKey, index: Mapping[OperatorName, BackendMetadata]) -> BackendIndex:
    """The index of one of torch's own backends."""
    return BackendIndex(
        dispatch_key=key,
        use_out_as_primary=True,
        device_guard=is_cuda_dispatch_key(key) or is_xpu_dispatch_key(key),
        external=False,
        index=FrozenMap(index),
    )
