"""A backend YAML → the frozen `ExternalBackend` that generators read, or all errors in the file.

An out-of-tree backend lists the operators of torch that it has kernels for:

    backend: PrivateUse1
    cpp_namespace: my::ops
    supported: [abs, view]
    symint: [view]

becomes a backend with two kernels, `my::ops::PrivateUse1NativeFunctions::abs` and `…::view_symint`.
The kernels of `autograd` are registered under the key's autograd key, all others under the key itself.
`full_codegen`, `ir_gen` and `non_native` are for lazy backends, for which `opgen.lazy` generates code.
Every error is logged; the result is None if there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from opgen.api.cpp import name as cpp_name
from opgen.api.lazy import PROPERTY_SETS
from opgen.backend.listed_operators import Listed, Listings, check_lists
from opgen.diagnostics import Diagnostic, Diagnostics, Source, Span, UserError, expected
from opgen.dispatch_keys import is_generic_dispatch_key
from opgen.frontend.cpp_names import identifier, qualified_name
from opgen.frontend.entry_fields import schema_diagnostic
from opgen.frontend.fields import (
    Field,
    OneOf,
    Table,
    Values,
    boolean,
    check_present,
    list_of,
    read_fields,
    scalar,
    text,
)
from opgen.frontend.nodes import ListNode, Node, Scalar, load_yaml
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.model import (
    BackendIndex,
    BackendMetadata,
    DeviceCheckType,
    DispatchKey,
    FunctionSchema,
    OperatorName,
    SchemaError,
)
from opgen.program.program import Program
from opgen.schema.function_schema import check_argument_names


@dataclass(frozen=True, slots=True)
class NonNative:
    """A node of a lazy backend's graph that is not an operator of torch."""

    func: FunctionSchema
    """Its name, parameters and results."""
    opkind: str | None
    """The C++ expression of its operator, such as `at::prim::Constant`; None if derived from the name."""
    properties: tuple[str, ...]
    """Which parts of its class are generated, and how."""
    loc: Span
    """Its place in the YAML file."""


@dataclass(frozen=True, slots=True, eq=False)
class ExternalBackend:
    """A backend YAML, checked against the defined operators."""

    key: DispatchKey
    autograd_key: DispatchKey | None
    """The dispatch key of the kernels of `autograd`; None if there are none."""
    class_name: str
    """The C++ class that has the kernels as static members."""
    cpp_namespace: str
    """The C++ namespace of the class."""
    extra_headers: tuple[str, ...]
    """The first lines of the sources, mostly includes."""
    index: BackendIndex
    """The kernels under the key: of `supported`, then of `full_codegen`."""
    autograd_index: BackendIndex | None
    """The kernels under the autograd key; None if there are none."""
    supported: tuple[OperatorName, ...]
    autograd: tuple[OperatorName, ...]
    symint: tuple[OperatorName, ...]
    """Operators whose kernels take `c10::SymInt`, and are named `…_symint`."""
    full_codegen: tuple[OperatorName, ...]
    """Operators of a lazy backend whose kernels and nodes are generated."""
    ir_gen: tuple[OperatorName, ...]
    """Operators of a lazy backend with generated nodes and handwritten kernels."""
    non_native: tuple[NonNative, ...]
    places: Mapping[OperatorName, Span]
    """The places of the operators with kernels or nodes."""

    @property
    def indices(self) -> tuple[BackendIndex, ...]:
        """The indices that have kernels."""
        return tuple(index for index in (self.index, self.autograd_index) if index is not None and index.index)

    @property
    def kernel_scope(self) -> str:
        """The qualifier of a kernel's name: the class, with its namespace."""
        return f"{self.cpp_namespace}::{self.class_name}"


# ------------------------------------------------------------------------------------- fields


def _dispatch_key(node: Node) -> DispatchKey:
    word = scalar(node)
    key = OneOf("dispatch key", DispatchKey.__members__)(word)
    if key in (DispatchKey.Undefined, DispatchKey.Meta) or is_generic_dispatch_key(key):
        label = "write the dispatch key of a device, such as PrivateUse1"
        raise UserError(
            Diagnostic("backend-not-a-device", f"'{word.text}' is not the dispatch key of a backend", word.span, label)
        )
    return key


def _header_lines(node: Node) -> tuple[str, ...]:
    """Return lines of C++, as a list or as a text of several lines."""
    lines = list_of(text)(node) if isinstance(node, ListNode) else (text(node),)
    return tuple(line for each in lines if each for line in each.removesuffix("\n").split("\n"))


def _operators(node: Node) -> tuple[Scalar, ...]:
    return list_of(scalar)(node)


def _nodes(node: Node) -> tuple[Node, ...]:
    return list_of(lambda item: item)(node)


# These two are required, but errors in the other keys are reported without them too.
BACKEND: Field[DispatchKey | None] = Field(
    "backend", _dispatch_key, default=None, description="The backend's dispatch key."
)
CPP_NAMESPACE: Field[Scalar | None] = Field(
    "cpp_namespace", qualified_name, default=None, description="The C++ namespace of the class that has the kernels."
)
CLASS_NAME: Field[Scalar | None] = Field(
    "class_name",
    identifier,
    default=None,
    may_be_empty=True,
    description="The C++ class whose static members are the kernels.",
)
EXTRA_HEADERS: Field[tuple[str, ...]] = Field(
    "extra_headers",
    _header_lines,
    default=(),
    may_be_empty=True,
    description="Lines at the top of the generated sources, such as includes.",
)
USE_OUT_AS_PRIMARY = Field(
    "use_out_as_primary",
    boolean,
    default=False,
    description="Whether out kernels are written, and other forms are derived from them.",
)
DEVICE_GUARD = Field(
    "device_guard",
    boolean,
    default=False,
    description="Whether the tensors' device becomes the current one while a kernel runs.",
)
SUPPORTED: Field[tuple[Scalar, ...]] = Field(
    "supported", _operators, default=(), may_be_empty=True, description="Operators with a kernel of the backend."
)
AUTOGRAD: Field[tuple[Scalar, ...]] = Field(
    "autograd",
    _operators,
    default=(),
    may_be_empty=True,
    description="Operators with a kernel under the backend's autograd key.",
)
SYMINT: Field[tuple[Scalar, ...]] = Field(
    "symint", _operators, default=(), may_be_empty=True, description="Operators whose kernels take symbolic integers."
)
FULL_CODEGEN: Field[tuple[Scalar, ...]] = Field(
    "full_codegen",
    _operators,
    default=(),
    may_be_empty=True,
    description="Operators of a lazy backend whose kernels and nodes are generated.",
)
IR_GEN: Field[tuple[Scalar, ...]] = Field(
    "ir_gen",
    _operators,
    default=(),
    may_be_empty=True,
    description="Operators of a lazy backend whose nodes are generated; you write their kernels.",
)
NON_NATIVE: Field[tuple[Node, ...]] = Field(
    "non_native",
    _nodes,
    default=(),
    may_be_empty=True,
    description="Nodes of a lazy backend for operators that torch does not have.",
)
TABLE: Final = Table.of(
    BACKEND,
    CPP_NAMESPACE,
    CLASS_NAME,
    EXTRA_HEADERS,
    USE_OUT_AS_PRIMARY,
    DEVICE_GUARD,
    SUPPORTED,
    AUTOGRAD,
    SYMINT,
    FULL_CODEGEN,
    IR_GEN,
    NON_NATIVE,
)
"""Every key that a backend YAML may have."""

_PROPERTY_SETS: Final = MappingProxyType({word: words for words in PROPERTY_SETS for word in words})

_COPY: Final = "_copy_from"
"""The operator by which torch copies between a device and the CPU."""

FUNC = Field("func", scalar, description="The schema of the node.")
OPKIND: Field[str | None] = Field(
    "opkind",
    text,
    default=None,
    description="The C++ expression for what the node computes, such as at::prim::Constant.",
)
PROPERTIES: Field[tuple[Scalar, ...]] = Field(
    "properties",
    _operators,
    default=(),
    may_be_empty=True,
    description="Which parts of the node's class are generated, and how.",
)
NODE_TABLE: Final = Table.of(FUNC, OPKIND, PROPERTIES)


# ------------------------------------------------------------------------------------- reading


def load_backend(where: Source | Path, program: Program, log: Diagnostics) -> ExternalBackend | None:
    """Return the backend of a YAML file; None, with errors logged, if it has errors."""
    before = log.error_count
    root = load_yaml(where, log)
    values = None if root is None else read_fields(root, TABLE, "a backend", log)
    if values is None:
        return None
    required = [field.name for field in (BACKEND, CPP_NAMESPACE) if field not in values]
    check_present(values.node, required, "a backend", log)
    non_native = tuple(_read_non_native(values[NON_NATIVE], log))
    listed = check_lists(_listings(values), values[BACKEND], program, log)
    _warn_of_copies(values, listed, log)
    key, namespace = values[BACKEND], values[CPP_NAMESPACE]
    autograd_key = _autograd_key(key, values, log)
    if key is None or namespace is None or log.error_count > before:
        return None
    class_name = values[CLASS_NAME]
    kernels = (*listed.supported, *listed.full_codegen)
    return ExternalBackend(
        key=key,
        autograd_key=autograd_key,
        class_name=f"{key}NativeFunctions" if class_name is None else class_name.text,
        cpp_namespace=namespace.text,
        extra_headers=values[EXTRA_HEADERS],
        index=_index(key, kernels, namespace.text, listed, values),
        autograd_index=(
            None if autograd_key is None else _index(autograd_key, listed.autograd, namespace.text, listed, values)
        ),
        supported=listed.supported,
        autograd=listed.autograd,
        symint=listed.symint,
        full_codegen=listed.full_codegen,
        ir_gen=listed.ir_gen,
        non_native=non_native,
        places=listed.places,
    )


def _listings(values: Values) -> Listings:
    return Listings(
        supported=values[SUPPORTED],
        autograd=values[AUTOGRAD],
        symint=values[SYMINT],
        full_codegen=values[FULL_CODEGEN],
        ir_gen=values[IR_GEN],
    )


def _autograd_key(key: DispatchKey | None, values: Values, log: Diagnostics) -> DispatchKey | None:
    """Return the dispatch key of the kernels of `autograd`; None if there are none, or no such key."""
    if key is None or not values[AUTOGRAD]:
        return None
    name = f"Autograd{key}"
    found = DispatchKey.__members__.get(name)
    if found is None:
        message = f"kernels for autograd have no dispatch key: there is no '{name}'"
        log.error("no-autograd-key", message, values.span(AUTOGRAD))
    return found


def _warn_of_copies(values: Values, listed: Listed, log: Diagnostics) -> None:
    """Warn about a kernel for copies between devices, if its wrapper would reject them."""
    for name in listed.supported:
        checks = listed.functions[name].device_check is not DeviceCheckType.NoCheck
        if values[DEVICE_GUARD] and checks and str(name) == _COPY:
            message = f"with 'device_guard', '{name}' refuses tensors on different devices, so it can't copy"
            label = "register it by hand, or remove 'device_guard'"
            log.warning("copy-refuses-devices", message, listed.places[name], label)


def _index(
    key: DispatchKey, names: Iterable[OperatorName], cpp_namespace: str, listed: Listed, values: Values
) -> BackendIndex:
    """Return the index with the kernels of the named operators under `key`."""
    symint = frozenset(listed.symint)
    kernels: dict[OperatorName, BackendMetadata] = {}
    for name in names:
        kernel = cpp_name(listed.functions[name].func) + ("_symint" if name in symint else "")
        kernels[name] = BackendMetadata(kernel, structured=False, cpp_namespace=cpp_namespace)
    return BackendIndex(
        dispatch_key=key,
        use_out_as_primary=values[USE_OUT_AS_PRIMARY],
        device_guard=values[DEVICE_GUARD],
        external=True,
        index=FrozenMap(kernels),
    )


# --------------------------------------------------------------------------------- non-native


def _read_non_native(nodes: Iterable[Node], log: Diagnostics) -> Iterator[NonNative]:
    for node in nodes:
        values = read_fields(node, NODE_TABLE, "an entry of 'non_native'", log)
        if values is None:
            continue
        where = values[FUNC]
        properties = tuple(_check_properties(values[PROPERTIES], log))
        try:
            schema = FunctionSchema.parse(where.text)
            check_argument_names(schema, where.text)
        except SchemaError as problem:
            log.extend(schema_diagnostic(problem, where, 0).diagnostics)
            continue
        yield NonNative(schema, values[OPKIND], properties, where.span)


def _check_properties(words: Iterable[Scalar], log: Diagnostics) -> Iterator[str]:
    """Return the valid properties; of mutually exclusive ones, the first."""
    chosen: dict[tuple[str, ...], str] = {}
    for word in words:
        others = _PROPERTY_SETS.get(word.text)
        if others is None:
            label = expected(word.text, _PROPERTY_SETS)
            log.error("unknown-property", f"there is no property '{word.text}'", word.span, label)
        elif others in chosen:
            message = f"'{word.text}' can't be combined with '{chosen[others]}'"
            log.error("conflicting-properties", message, word.span, "remove one of the two")
        else:
            chosen[others] = word.text
            yield word.text
