"""The keys of an entry of native_functions.yaml: their converters, attributes and descriptions.

    TABLE.fields["device_guard"]      Field("device_guard", boolean, default=True, attribute="device_guard", …)

A key whose value depends on others of its entry, such as `precomputed`, has no `attribute`: `entries` reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

from opgen.diagnostics import Diagnostic, Note, UserError
from opgen.frontend.cpp_names import identifier, qualified_name
from opgen.frontend.fields import (
    Field,
    OneOf,
    Table,
    boolean,
    kind_of,
    missing_space,
    scalar,
    text,
    word_list,
)
from opgen.frontend.nodes import ListNode, MappingNode, Node, Scalar
from opgen.model import DeviceCheckType, OperatorName, SchemaError, Variant

_variant: Final = OneOf("variant", Variant.__members__)
_VARIANTS: Final = MappingProxyType(
    {
        "function": frozenset({Variant.function}),
        "method": frozenset({Variant.method}),
        "function, method": frozenset({Variant.function, Variant.method}),
    }
)
"""The usual spellings."""


def _variants(node: Node) -> frozenset[Variant]:
    usual = _VARIANTS.get(node.text) if isinstance(node, Scalar) else None
    return frozenset([_variant(word) for word in word_list(node)]) if usual is None else usual


def _operator_names(node: Node) -> tuple[tuple[OperatorName, Scalar], ...]:
    return tuple([(_operator_name(word), word) for word in word_list(node)])


def _operator_name(word: Scalar) -> OperatorName:
    try:
        return OperatorName.parse(word.text)
    except SchemaError as problem:
        raise schema_diagnostic(problem, word, 0) from None


def _delegate(node: Node) -> tuple[OperatorName, Scalar]:
    word = scalar(node)
    return _operator_name(word), word


def _dispatch(node: Node) -> MappingNode:
    if isinstance(node, MappingNode):
        return node
    message = f"a dispatch table must be a mapping, not {kind_of(node)}"
    label = "write 'CPU: kernel' on a line of its own" + (", without '- '" if isinstance(node, ListNode) else "")
    label = missing_space(node) or label
    raise UserError(Diagnostic("wrong-kind", message, node.span, label))


def _scalars(node: Node) -> tuple[Scalar, ...]:
    return tuple(scalar(item) for item in node.items) if isinstance(node, ListNode) else (scalar(node),)


def word_set(words: Iterable[Scalar]) -> frozenset[str]:
    """Return the words as a set of strings."""
    return frozenset([word.text for word in words])


def schema_diagnostic(problem: SchemaError, where: Scalar, offset: int) -> UserError:
    """Return an error in a schema, with its location in the scalar."""
    start = min(offset + problem.start, len(where.text))
    span = where.span_at(start, max(start, min(offset + problem.end, len(where.text))))
    notes = []
    if where.trailing_comment() is not None:
        notes.append(Note("' #' starts a comment in YAML: quote the value", where.trailing_comment()))
    return UserError(Diagnostic(problem.id, problem.message, span, problem.label, tuple(notes)))


FUNC = Field("func", scalar, description="The operator's schema: namespace::name.overload(arguments) -> returns.")
VARIANTS = Field(
    "variants",
    _variants,
    default=_VARIANTS["function"],
    description="How C++ calls the operator: as a function, as a method of Tensor, or both.",
    attribute="variants",
)
DISPATCH: Field[MappingNode | None] = Field(
    "dispatch",
    _dispatch,
    default=None,
    description="The kernel under each dispatch key. Without it, the operator is CompositeImplicitAutograd.",
)
STRUCTURED = Field(
    "structured",
    boolean,
    default=False,
    description="Marks the out form of an operator whose shape function and kernels are classes.",
    attribute="structured",
)
STRUCTURED_DELEGATE: Field[tuple[OperatorName, Scalar] | None] = Field(
    "structured_delegate",
    _delegate,
    default=None,
    description="The structured out form that this form calls.",
    attribute="structured_delegate",
    to_attribute=lambda delegate: delegate[0],
)
STRUCTURED_INHERITS: Field[Scalar | None] = Field(
    "structured_inherits",
    qualified_name,
    default=None,
    description="The class that a structured operator derives from, such as TensorIteratorBase.",
    attribute="structured_inherits",
    to_attribute=lambda name: name.text,
)
PRECOMPUTED: Field[tuple[Scalar, ...]] = Field(
    "precomputed",
    _scalars,
    default=(),
    description="Values that the shape function computes for the kernels, in place of arguments or added.",
)
AUTOGEN: Field[tuple[tuple[OperatorName, Scalar], ...]] = Field(
    "autogen",
    _operator_names,
    default=(),
    description="Forms that are derived: the out form, and the functional form of an in-place operator.",
    attribute="autogen",
    to_attribute=lambda names: tuple([name for name, _ in names]),
)
MANUAL_KERNEL_REGISTRATION = Field(
    "manual_kernel_registration",
    boolean,
    default=False,
    description="True if you register the kernels yourself.",
    attribute="manual_kernel_registration",
)
MANUAL_CPP_BINDING = Field(
    "manual_cpp_binding",
    boolean,
    default=False,
    description="True if you write the C++ function that users call.",
    attribute="manual_cpp_binding",
)
PYTHON_MODULE: Field[Scalar | None] = Field(
    "python_module",
    identifier,
    default=None,
    description="The module under torch._C that binds the operator, such as nn or linalg.",
    attribute="python_module",
    to_attribute=lambda name: name.text,
)
CATEGORY_OVERRIDE: Field[str | None] = Field(
    "category_override",
    text,
    default=None,
    description="The category of an operator whose schema does not tell it: factory or dummy.",
    attribute="category_override",
)
DEVICE_GUARD = Field(
    "device_guard",
    boolean,
    default=True,
    description="Whether the tensors' device becomes the current one while a CUDA or XPU kernel runs.",
    attribute="device_guard",
)
DEVICE_CHECK = Field(
    "device_check",
    OneOf("device check", DeviceCheckType.__members__),
    default=DeviceCheckType.ExactSame,
    description="Whether generated code checks that all tensors are on one device.",
    attribute="device_check",
)
CPP_NO_DEFAULT_ARGS: Field[tuple[Scalar, ...]] = Field(
    "cpp_no_default_args",
    word_list,
    default=(),
    description="Arguments whose defaults C++ must not see, because a call would be ambiguous.",
    attribute="cpp_no_default_args",
    to_attribute=word_set,
)
USE_CONST_REF = Field(
    "use_const_ref_for_mutable_tensors",
    boolean,
    default=False,
    description="True to pass and return written tensors as const at::Tensor &.",
    attribute="use_const_ref_for_mutable_tensors",
)
UFUNC_INNER_LOOP: Field[Node | None] = Field(
    "ufunc_inner_loop",
    lambda node: node,
    default=None,
    description="The loop bodies of an elementwise operator, with their element types.",
)
TAGS: Field[tuple[Scalar, ...]] = Field(
    "tags", word_list, default=(), description="Tags from tags.yaml that compilers and transforms read."
)
RANDOM: Field[bool | None] = Field(
    "random",
    boolean,
    default=None,
    description="False for an operator that draws no random numbers although its name suggests it.",
)
DOC: Field[str | None] = Field(
    "doc", text, default=None, description="The docstring of the Python function.", attribute="doc"
)

TABLE: Final = Table.of(
    FUNC,
    VARIANTS,
    DISPATCH,
    STRUCTURED,
    STRUCTURED_DELEGATE,
    STRUCTURED_INHERITS,
    PRECOMPUTED,
    AUTOGEN,
    MANUAL_KERNEL_REGISTRATION,
    MANUAL_CPP_BINDING,
    PYTHON_MODULE,
    CATEGORY_OVERRIDE,
    DEVICE_GUARD,
    DEVICE_CHECK,
    CPP_NO_DEFAULT_ARGS,
    USE_CONST_REF,
    UFUNC_INNER_LOOP,
    TAGS,
    RANDOM,
    DOC,
)
"""Every key that an entry may have.

All but two are torch's.  `random: False` is for an operator that isn't random although its name suggests it,
and `doc` is the operator's documentation.
"""
