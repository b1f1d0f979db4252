"""A selection, in a file or on the command line → a checked `SelectiveBuilder`.

A selection file:

    operators:
      aten::add.Tensor:
        is_root_operator: true
        include_all_overloads: false
    kernel_metadata:
      add_kernel: [float, int64_t]

The names on the command line are a source of their own, so that errors in them have locations too:

    --op-registration-whitelist:1:11: error: there is no operator 'aten::emty' [unknown-operator]
        1 | aten::add aten::emty
          |           ^^^^^^^^^^ did you mean 'aten::empty'?
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from opgen.diagnostics import Diagnostic, Diagnostics, Source, UserError, closest, did_you_mean, expected
from opgen.frontend.fields import Field, Table, boolean, list_of, mapping_of, read_fields, scalar, text, word_list
from opgen.frontend.nodes import MappingNode, Node, Scalar, load_yaml
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.selective_build.dtypes import DTYPES, TRACED_DTYPES
from opgen.selective_build.operator import SelectiveBuildOperator, strip_operator_overload_name
from opgen.selective_build.selector import SelectiveBuilder

OPERATOR_LIST_FLAG: Final = "--op-registration-whitelist"
BACKEND_LIST_FLAG: Final = "--backend-whitelist"
ALLOW_UNKNOWN_FLAG: Final = "--allow-unknown-operators"

MAX_SUGGESTIONS: Final = 10
"""Maximum number of unknown operators that get a suggestion."""

# Compiled on demand: most runs have no selection.
_LISTED = r"(?a:[\w.:-]+)"
_SPACED = r"[^\s,]+"
_OPERATOR = r"(?a:[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+(?:\.[A-Za-z_]\w*)?)"


@dataclass(frozen=True, slots=True)
class KnownOperators:
    """The operators that a selection may name."""

    names: frozenset[str]
    """With namespace and overload: `aten::add.Tensor`."""
    base_names: frozenset[str]
    """Without overload: `aten::add`."""
    namespaces: frozenset[str]
    must_exist: bool = True
    """Whether an unknown operator is an error rather than a warning."""

    @staticmethod
    def of(names: Iterable[str], must_exist: bool = True) -> KnownOperators:
        """Create from the operators' full names."""
        full = frozenset(names)
        namespaces = frozenset(name.partition("::")[0] for name in full)
        return KnownOperators(full, frozenset(map(strip_operator_overload_name, full)), namespaces, must_exist)


_Lists: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
_Words: TypeAlias = tuple[tuple[str, tuple[Scalar, ...]], ...]


def operator_name(node: Node) -> Scalar:
    """Return an operator with its namespace, and perhaps its overload."""
    name = scalar(node)
    if re.fullmatch(_OPERATOR, name.text):
        return name
    if "::" not in name.text:
        label = f"did you mean 'aten::{name.text}'?"
        raise UserError(Diagnostic("missing-namespace", f"the namespace of '{name.text}' is missing", name.span, label))
    label = "write namespace::name or namespace::name.overload"
    raise UserError(Diagnostic("bad-operator-name", f"'{name.text}' is not the name of an operator", name.span, label))


def listed_names(node: Node) -> tuple[str, ...]:
    """Return names of classes or features, which C++ gets as one list with semicolons."""
    log, words = Diagnostics(), word_list(node)
    for word in words:
        check_listed_name(word, log)
    log.raise_errors()
    return tuple(word.text for word in words)


def check_listed_name(word: Scalar, log: Diagnostics) -> None:
    """Log a name that would break the C++ list."""
    if not re.fullmatch(_LISTED, word.text):
        label = "use letters, digits, '_', '.', ':' and '-'"
        log.error("bad-selected-name", f"'{word.text}' is not a valid name of a class or feature", word.span, label)


def operators(node: Node) -> MappingNode:
    """Return the mapping of operators, whose values are read one by one."""
    if not isinstance(node, MappingNode):
        label = "write 'namespace::name: {}' for each"
        raise UserError(Diagnostic("wrong-kind", "the operators of a selection must be a mapping", node.span, label))
    return node


IS_ROOT = Field(
    "is_root_operator",
    boolean,
    default=True,
    description="Whether a model calls the operator, so that gen_unboxing writes a kernel for it.",
)
FOR_TRAINING = Field(
    "is_used_for_training", boolean, default=True, description="Whether the operator's autograd kernels are kept."
)
ALL_OVERLOADS = Field("include_all_overloads", boolean, default=True, description="Whether all overloads are kept.")
OPERATOR_DEBUG_INFO: Field[tuple[str, ...] | None] = Field(
    "debug_info", list_of(text), default=None, description="Where the operator comes from."
)
OPERATOR_TABLE = Table.of(IS_ROOT, FOR_TRAINING, ALL_OVERLOADS, OPERATOR_DEBUG_INFO)

ALL_OPERATORS = Field(
    "include_all_operators", boolean, default=False, description="True to keep every operator and every kernel."
)
ALL_ELSE = Field(
    "include_all_non_op_selectives",
    boolean,
    default=False,
    description="True to keep all kernels, classes and features.",
)
DEBUG_INFO: Field[tuple[str, ...] | None] = Field(
    "debug_info", list_of(text), default=None, description="Where the selection comes from."
)
OPERATORS: Field[MappingNode | None] = Field(
    "operators", operators, default=None, description="The operators to keep, each with what is kept of it."
)
KERNELS: Field[_Words] = Field(
    "kernel_metadata",
    mapping_of(text, word_list),
    default=(),
    description="Element types for which each kernel is compiled.",
)
ET_KERNELS: Field[_Lists] = Field(
    "et_kernel_metadata",
    mapping_of(text, list_of(text)),
    default=(),
    description="Kernels that ExecuTorch models need.",
)
CLASSES: Field[tuple[str, ...]] = Field(
    "custom_classes", listed_names, default=(), description="Classes bound to torch to keep."
)
FEATURES: Field[tuple[str, ...]] = Field(
    "build_features", listed_names, default=(), description="Build features to keep."
)
TABLE = Table.of(ALL_OPERATORS, ALL_ELSE, DEBUG_INFO, OPERATORS, KERNELS, ET_KERNELS, CLASSES, FEATURES)


def load_selection(
    where: Source | Path,
    log: Diagnostics,
    known: KnownOperators | None = None,
    dtypes: Collection[str] = DTYPES,
) -> SelectiveBuilder | None:
    """Return the selection in a YAML file, or None if it can't be used; `log` says why.

    `known` are the operators that it may name; None for any.
    """
    root = load_yaml(where, log)
    values = None if root is None else read_fields(root, TABLE, "a selection", log)
    if values is None:
        return None
    for tag, words in values[KERNELS]:
        check_dtypes(tag, words, log, dtypes)
    return SelectiveBuilder(
        include_all_operators=values[ALL_OPERATORS],
        _debug_info=values[DEBUG_INFO],
        operators=_read_operators(values[OPERATORS], log, known),
        kernel_metadata=FrozenMap({tag: tuple(word.text for word in words) for tag, words in values[KERNELS]}),
        et_kernel_metadata=FrozenMap(values[ET_KERNELS]),
        custom_classes=frozenset(values[CLASSES]),
        build_features=frozenset(values[FEATURES]),
        include_all_non_op_selectives=values[ALL_ELSE],
    )


def check_dtypes(tag: str, words: Iterable[Scalar], log: Diagnostics, legal: Collection[str] = DTYPES) -> None:
    """Log unknown dtypes of a kernel."""
    for word in words:
        if word.text not in legal:
            message = f"'{word.text}' of the kernel '{tag}' is not a dtype"
            log.error("unknown-dtype", message, word.span, expected(word.text, legal))


def selection_of_names(names: Sequence[str], log: Diagnostics, known: KnownOperators | None = None) -> SelectiveBuilder:
    """Return the selection for operators on the command line: for inference, with all overloads."""
    return selection_of_words(words_of_flag(OPERATOR_LIST_FLAG, names), log, known)


def selection_of_words(
    words: Iterable[Scalar], log: Diagnostics, known: KnownOperators | None = None
) -> SelectiveBuilder:
    """Return the selection for a list of operator names."""
    valid = checked_names(words, log)
    if known is not None:
        check_operators(((name, True) for name in valid), known, log)
    return SelectiveBuilder.from_legacy_op_registration_allow_list(
        {name.text for name in valid}, is_root_operator=True, is_used_for_training=False
    )


def load_words(where: Source | Path, log: Diagnostics) -> tuple[Scalar, ...]:
    """Return the words of a file: a YAML list, or words separated by white space."""
    root = load_yaml(where, log)
    try:
        if isinstance(root, Scalar):
            parts = ((root, match.span()) for match in re.finditer(_SPACED, root.text))
            return tuple(_part(whole, start, end) for whole, (start, end) in parts)
        return () if root is None else list_of(scalar)(root)
    except UserError as problem:
        log.extend(problem.diagnostics)
        return ()


def _part(whole: Scalar, start: int, end: int) -> Scalar:
    span = whole.span_at(start, end)
    return Scalar(whole.text[start:end], whole.source, span.start, span.end)


def select(
    names: Sequence[str] | None, path: Path | None, log: Diagnostics, known: KnownOperators | None = None
) -> SelectiveBuilder | None:
    """Return the selection of a command's flags; all operators without such flags."""
    if names is not None and path is not None:
        message = f"{OPERATOR_LIST_FLAG} and --op-selection-yaml-path can't be given together"
        log.error("conflicting-flags", message)
        return None
    if names is not None:
        return selection_of_names(names, log, known)
    return SelectiveBuilder.get_nop_selector() if path is None else load_selection(path, log, known, TRACED_DTYPES)


def warn_without_selection(flag: str, log: Diagnostics) -> None:
    """Report that a flag about selected operators is given and no selection is."""
    log.warning("flag-without-effect", f"{flag} has no effect without a selection", label="all operators are selected")


def check_words(flag: str, words: Sequence[str], what: str, legal: Collection[str], log: Diagnostics) -> None:
    """Log the words given to a flag that are not legal; `what` names such a word in messages."""
    for word in words_of_flag(flag, words):
        if word.text not in legal:
            label = expected(word.text, legal)
            log.error(f"unknown-{what.replace(' ', '-')}", f"there is no {what} '{word.text}'", word.span, label)


def check_operators(named: Iterable[tuple[Scalar, bool]], known: KnownOperators, log: Diagnostics) -> None:
    """Log the names that select no known operator; each is paired with whether it selects all overloads.

    An operator in an unknown namespace is only a warning, since it may be registered elsewhere.
    """
    suggestions_left = MAX_SUGGESTIONS
    for name, all_overloads in named:
        if name.text in known.names or (all_overloads and name.text in known.base_names):
            continue
        report = log.error if known.must_exist else log.warning
        namespace = name.text.partition("::")[0]
        if namespace not in known.namespaces and closest(namespace, known.namespaces) is None:
            message = f"no operator of '{namespace}' is defined here: '{name.text}' changes nothing"
            log.warning("unknown-namespace", message, name.span)
            continue
        label = _nearest(name.text, known) if suggestions_left > 0 else ""
        suggestions_left -= 1
        report("unknown-operator", f"there is no operator '{name.text}'", name.span, label)


def _nearest(name: str, known: KnownOperators) -> str:
    """Return the suggestion for an unknown operator."""
    base = strip_operator_overload_name(name)
    if name in known.base_names:
        return "it has overloads only: name one, or set 'include_all_overloads: true'"
    if base in known.base_names:
        overloads = sorted(full for full in known.names if strip_operator_overload_name(full) == base)
        return expected(name, overloads)
    candidates = known.names if "." in name else known.base_names
    return _did_you_mean_within(name, candidates) or _did_you_mean_within(base, known.base_names)


def _did_you_mean_within(name: str, candidates: Collection[str]) -> str:
    """Return the nearest name of the same namespace; of any, if there is no such namespace.

    Namespaces are not compared, since a common prefix would make all names similar.
    """
    namespace, _, name_in_namespace = name.partition("::")
    near = closest(
        name_in_namespace, (full.partition("::")[2] for full in candidates if full.startswith(f"{namespace}::"))
    )
    return (
        f"did you mean '{namespace}::{near}'?"
        if near
        else did_you_mean(name, _in_other_namespaces(namespace, candidates))
    )


def _in_other_namespaces(namespace: str, candidates: Collection[str]) -> Iterator[str]:
    return (full for full in candidates if not full.startswith(f"{namespace}::"))


def _read_operators(
    node: MappingNode | None, log: Diagnostics, known: KnownOperators | None
) -> FrozenMap[str, SelectiveBuildOperator]:
    entries = dict(node.entries) if node else {}
    read = [(name, _read_operator(name.text, entries[name], log)) for name in checked_names(entries, log)]
    kept = [(name, operator) for name, operator in read if operator is not None]
    if known is not None:
        check_operators(((name, operator.include_all_overloads) for name, operator in kept), known, log)
    return FrozenMap({name.text: operator for name, operator in kept})


def _read_operator(name: str, node: Node, log: Diagnostics) -> SelectiveBuildOperator | None:
    """Return one operator of a selection file; an empty value means the defaults."""
    if isinstance(node, Scalar) and node.is_empty:
        return SelectiveBuildOperator.from_legacy_operator_name_without_overload(name)
    values = read_fields(node, OPERATOR_TABLE, f"operator '{name}'", log)
    if values is None:
        return None
    return SelectiveBuildOperator(
        name, values[IS_ROOT], values[FOR_TRAINING], values[ALL_OVERLOADS], values[OPERATOR_DEBUG_INFO]
    )


def checked_names(names: Iterable[Scalar], log: Diagnostics) -> tuple[Scalar, ...]:
    """Return the `names` that are valid names of operators; log the others."""
    valid = []
    for name in names:
        try:
            valid.append(operator_name(name))
        except UserError as problem:
            log.extend(problem.diagnostics)
    return tuple(valid)


def words_of_flag(flag: str, words: Sequence[str]) -> tuple[Scalar, ...]:
    """Return the words given to a flag as scalars of one source line."""
    source, start, scalars = Source(flag, " ".join(words)), 0, []
    for word in words:
        scalars.append(Scalar(word, source, start, start + len(word)))
        start += len(word) + 1
    return tuple(scalars)
