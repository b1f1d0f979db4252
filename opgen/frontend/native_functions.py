"""native_functions.yaml, tags.yaml and a selection → the `Program` of a run.

The passes of the front end: read, derive, check, group.  All errors are logged, and a program is
returned only if there are none.

    load_program(Path("ATen/native/native_functions.yaml"), Path("ATen/native/tags.yaml"), log)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from opgen.diagnostics import Diagnostics, Note, Source
from opgen.frontend.derive import Derived, derive_forms
from opgen.frontend.entries import Entry, operator_of, read_entry
from opgen.frontend.entry_fields import DISPATCH, FUNC
from opgen.frontend.fields import word_list
from opgen.frontend.functionalization_rules import check_functionalization
from opgen.frontend.groups import Forms, add_forms, group_forms, group_functions, group_views
from opgen.frontend.nodes import ListNode, MappingNode, Node, Scalar, load_yaml
from opgen.frontend.rules import check_between, check_each
from opgen.frontend.selection import ALLOW_UNKNOWN_FLAG, KnownOperators, select, warn_without_selection
from opgen.frontend.structured_rules import check_structured_types
from opgen.frontend.tags import TagDefinition, load_tags
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.model import (
    BackendIndex,
    BackendMetadata,
    BaseOperatorName,
    DispatchKey,
    NativeFunction,
    OperatorName,
    is_cuda_dispatch_key,
    is_xpu_dispatch_key,
)
from opgen.program.program import Program
from opgen.releases.choice import choose_release
from opgen.releases.known import newest_release
from opgen.releases.release import Release
from opgen.schema.function_schema import SchemaMemo

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Definitions:
    """The operators of a definitions file, with derived ones, before selection."""

    functions: tuple[NativeFunction, ...]
    """Functions with entries in file order, then the derived ones."""
    backend_indices: Mapping[DispatchKey, BackendIndex]
    tags: Mapping[str, TagDefinition]
    groups: Collection[Forms]
    """The functions, grouped by signature."""
    release: Release


def load_definitions(
    functions: Source | Path,
    tags: Source | Path,
    log: Diagnostics,
    ignored_keys: Iterable[DispatchKey] = (),
    torch: Release | str | None = None,
    *,
    is_extension: bool = False,
) -> Definitions | None:
    """Return the operators of a file and their derived forms; None, with errors logged, if it fails.

    `torch` is the release that they are for, or its version; by default, that of the source tree or else
    of the installed torch.
    """
    release = _release(functions, torch, log)
    if release is None:
        return None
    before = log.error_count
    legal_tags = load_tags(tags, log)
    has_legal_tags = log.error_count == before
    tags_to_check = legal_tags if has_legal_tags else None
    read_entries = _read_entries(
        functions, tags_to_check, frozenset(ignored_keys), release, log, is_extension=is_extension
    )
    _remark_ignored_kernels(read_entries.entries, ignored_keys, log)
    check_each(read_entries.entries, release, log)
    derived, groups = ([], defaultdict(dict)) if read_entries.has_unnamed else _derive(read_entries, release, log)
    if log.has_errors:
        return None
    entries = read_entries.entries
    derived_functions = [form.function for form in derived]
    add_forms(groups, derived_functions)
    all_functions = (*[entry.function for entry in entries], *derived_functions)
    return Definitions(all_functions, _index_kernels(entries, derived), legal_tags, groups.values(), release)


def _remark_ignored_kernels(entries: Iterable[Entry], ignored: Iterable[DispatchKey], log: Diagnostics) -> None:
    """Log the first kernel of each key whose kernels this build ignores."""
    names = [str(key) for key in ignored]
    first_words: dict[str, Scalar] = {}
    for entry in entries if names else ():
        table = entry.values[DISPATCH]
        for word in (word for keys, _ in table.entries for word in word_list(keys)) if table is not None else ():
            if word.text in names:
                first_words.setdefault(word.text, word)
    for name, word in first_words.items():
        message = f"kernels under '{name}' are not registered: this build doesn't enable it"
        log.remark("kernel-left-out", message, word.span, "'opgen gen --help' lists the flag that enables them")


def _release(functions: Source | Path, torch: Release | str | None, log: Diagnostics) -> Release | None:
    if isinstance(torch, Release):
        return torch
    choice = choose_release(functions if isinstance(functions, Path) else None, torch, log)
    return None if choice is None else choice.release


@dataclass(frozen=True, slots=True)
class _ReadEntries:
    """The entries of a file that were read without errors."""

    entries: tuple[Entry, ...] = ()
    unread: frozenset[str] = frozenset()
    """Names of operators with an unreadable entry, without overload and the suffix of the form."""
    has_unnamed: bool = False
    """Whether the name of any operator can't be read."""


def _derive(
    read_entries: _ReadEntries, release: Release, log: Diagnostics
) -> tuple[list[Derived], defaultdict[Hashable, Forms]]:
    """Derive the requested forms, and check entries against each other; return the derived forms and the groups.

    Operators with an unreadable entry are skipped: a form that seems missing may be defined there.
    """
    by_name = {entry.function.func.name.text: entry for entry in read_entries.entries}
    complete_entries = [entry for entry in read_entries.entries if entry.function.root_name not in read_entries.unread]
    groups = group_forms([entry.function for entry in complete_entries])
    derived = derive_forms(groups.values(), by_name, release, log)
    check_between(complete_entries, by_name, groups, derived, read_entries.unread, log)
    return derived, groups


def load_program(
    functions: Source | Path,
    tags: Source | Path,
    log: Diagnostics,
    *,
    selected_names: Sequence[str] | None = None,
    selection_path: Path | None = None,
    allow_unknown_operators: bool = False,
    ignored_keys: Iterable[DispatchKey] = (),
    torch: Release | str | None = None,
    is_extension: bool = False,
) -> Program | None:
    """Return the program of a run; None, with errors logged, if its inputs have errors.

    In an extension, any schema that torch can register is legal; other schemas must follow torchgen's rules.
    """
    definitions = load_definitions(functions, tags, log, ignored_keys, torch, is_extension=is_extension)
    known = None
    if definitions is not None and (selected_names is not None or selection_path is not None):
        names = [f"{f.namespace}::{f.func.name.text}" for f in definitions.functions]
        known = KnownOperators.of(names, must_exist=not allow_unknown_operators)
    elif allow_unknown_operators and definitions is not None:
        warn_without_selection(ALLOW_UNKNOWN_FLAG, log)
    selector = select(selected_names, selection_path, log, known)
    if definitions is None or selector is None or log.has_errors:
        return None
    grouped = tuple(group_functions(definitions.groups))
    view_grouped = tuple(group_views(definitions.functions))
    violations = [
        *check_structured_types(grouped),
        *check_functionalization(grouped, view_grouped, definitions.release),
    ]
    if violations:
        log.extend(violations)
        return None
    return Program(
        functions=definitions.functions,
        grouped=grouped,
        view_grouped=view_grouped,
        backend_indices=definitions.backend_indices,
        selector=selector,
        release=definitions.release,
        tags=FrozenMap((tag.name, tag.description) for tag in definitions.tags.values()),
    )


def load_readable_functions(
    functions: Source | Path, torch: Release | str | None = None, *, is_extension: bool = False
) -> list[NativeFunction]:
    """Return the operators of a file whose schemas can be parsed; errors are discarded."""
    log = Diagnostics()
    root = load_yaml(functions, log)
    if not isinstance(root, ListNode) or _release(functions, torch, log) is None:
        return []
    memo = SchemaMemo()
    by_name: dict[str, NativeFunction] = {}
    for node in root.items:
        # If an entry has errors, try its schema alone.
        for each in (node, _schema_only(node)):
            entry = read_entry(each, memo, None, (), frozenset(), log, is_extension=is_extension)
            if entry is not None:
                by_name.setdefault(str(entry.function.func.name), entry.function)
                break
    return list(by_name.values())


def _schema_only(node: Node) -> Node:
    if not isinstance(node, MappingNode):
        return node
    return node._replace(entries=tuple(entry for entry in node.entries if entry[0].text == FUNC.name))


def _read_entries(
    where: Source | Path,
    legal_tags: Mapping[str, TagDefinition] | None,
    ignored_keys: frozenset[DispatchKey],
    release: Release,
    log: Diagnostics,
    *,
    is_extension: bool,
) -> _ReadEntries:
    root = load_yaml(where, log)
    if root is None:
        return _ReadEntries()
    if not isinstance(root, ListNode):
        is_empty = isinstance(root, Scalar) and root.is_empty
        message = "this file has no operators" if is_empty else "a file of operator definitions must be a list"
        log.error("wrong-kind", message, root.span, "start each entry with '- func: ...'")
        return _ReadEntries()
    by_name: dict[str, Entry] = {}
    unread: set[str | None] = set()
    memo = SchemaMemo()
    # The sources of an extension support all releases, so its operators get the tags of the newest release.
    form_tags = newest_release().form_tags if is_extension else release.form_tags
    form_tags = form_tags if legal_tags is None else form_tags & legal_tags.keys()
    for node in root.items:
        entry = read_entry(node, memo, legal_tags, ignored_keys, form_tags, log, is_extension=is_extension)
        if entry is None:
            unread.add(_root_name(node))
            continue
        first = by_name.setdefault(entry.function.func.name.text, entry)
        if first is not entry:
            _report_duplicate(first, entry, log)
    return _ReadEntries(tuple(by_name.values()), frozenset(filter(None, unread)), None in unread)


def _root_name(node: Node) -> str | None:
    """Return the operator of an unreadable entry; None if its name is unreadable too."""
    name = operator_of(node)
    return BaseOperatorName.parse(name).base if name else None


def _report_duplicate(first: Entry, second: Entry, log: Diagnostics) -> None:
    name, span = second.function.func.name, second.name_span
    if first.function.namespace == second.function.namespace:
        note = Note("first defined here", first.name_span)
        log.error("duplicate-operator", f"the operator '{name}' is defined twice", span, notes=[note])
    else:
        namespaces = f"'{first.function.namespace}' and '{second.function.namespace}'"
        message = f"the operator '{name}' is defined in two namespaces, {namespaces}"
        label = "operators of one file must have different names"
        log.error("duplicate-operator", message, span, label, [Note("the other one is here", first.name_span)])


def _index_kernels(entries: Iterable[Entry], derived: Iterable[Derived]) -> FrozenMap[DispatchKey, BackendIndex]:
    """Return the kernels by dispatch key, in order of first appearance."""
    kernels: defaultdict[DispatchKey, dict[OperatorName, BackendMetadata]] = defaultdict(dict)
    for entry in entries:
        name = entry.function.func.name
        for key, kernel in entry.kernels.items():
            kernels[key][name] = kernel
    for form in derived:
        kernels[DispatchKey.CompositeExplicitAutograd][form.function.func.name] = form.kernel
    return FrozenMap((key, backend_index(key, index)) for key, index in kernels.items())


def backend_index(key: DispatchKey, index: Mapping[OperatorName, BackendMetadata]) -> BackendIndex:
    """Return the index of a backend of torch."""
    return BackendIndex(
        dispatch_key=key,
        use_out_as_primary=True,
        device_guard=is_cuda_dispatch_key(key) or is_xpu_dispatch_key(key),
        external=False,
        index=FrozenMap(index),
    )
