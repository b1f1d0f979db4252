"""Arguments that Python's parser has read → the call of the C++ function.

A binding makes the call in a lambda that lets go of Python's lock.  The lambda takes the arguments in
the order of the usual C++ function (tensors by value or const reference), and is called with what
is taken out of the parser's result `_r`.  Tensor options are gathered first; several out arguments
come as one list.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

    auto dispatch_add = [](const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha) -> at::Tensor
      { … return self.add(other, alpha); }
    dispatch_add(_r.tensor(0), _r.tensor(1), _r.scalar(2))
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from opgen.api import cpp
from opgen.api.cpp import CppSignature
from opgen.api.python import TENSOR, PythonArgument, PythonNumber, PythonSignature, has_tensor_options
from opgen.api.signatures import Signatures
from opgen.api.types import Binding, CType, TupleCType, UnsupportedTypeError
from opgen.model import BaseTy, BaseType, ListType, NativeFunction, OptionalType, Type, Variant
from opgen.values import dataclass

# ------------------------------------------------------------------- out of the parser's result

_UNPACKERS: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Tensor: "tensor",
        BaseTy.Scalar: "scalar",
        BaseTy.int: "toInt64",
        BaseTy.DeviceIndex: "toInt64",
        BaseTy.SymInt: "toSymInt",
        BaseTy.float: "toDouble",
        BaseTy.bool: "toBool",
        BaseTy.str: "stringView",
        BaseTy.ScalarType: "scalartype",
        BaseTy.Layout: "layout",
        BaseTy.Device: "device",
        BaseTy.MemoryFormat: "memoryformat",
        BaseTy.Storage: "storage",
        BaseTy.Stream: "stream",
    }
)
"""The parser's method that gives a value of a type; for an optional one, with `Optional` behind it."""

_LIST_UNPACKERS: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Tensor: "tensorlist",
        BaseTy.int: "intlist",
        BaseTy.SymInt: "symintlist",
        BaseTy.float: "doublelist",
        BaseTy.Scalar: "scalarlist",
    }
)


def arg_parser_unpack_method(argument: PythonArgument) -> str:
    """The parser's method that gives the value of `argument`."""
    t = argument.type
    if argument.default_init is not None:
        plain = t.elem if isinstance(t, OptionalType) else t
        return f"{_unpacker(plain)}WithDefault"
    if not isinstance(t, OptionalType):
        return _unpacker(t)
    if t.elem == BaseType(BaseTy.Generator):
        return "generator"
    if t.elem == TENSOR:
        return "optionalTensor"
    # With a default of its own, the value is always there.
    is_never_none = argument.default not in (None, "None")
    return _unpacker(t.elem) if is_never_none else f"{_unpacker(t.elem)}Optional"


def _unpacker(t: Type) -> str:
    if isinstance(t, BaseType) and t.name in _UNPACKERS:
        return _UNPACKERS[t.name]
    if isinstance(t, ListType):
        if t.elem == OptionalType(TENSOR):
            return "list_of_optional_tensors"
        if t.elem == TENSOR and t.size is not None:
            return f"tensorlist_n<{t.size}>"
        if isinstance(t.elem, BaseType) and t.elem.name in _LIST_UNPACKERS:
            return _LIST_UNPACKERS[t.elem.name]
    raise UnsupportedTypeError(t, "can't be given from Python")


def arg_parser_output_expr(index: int, argument: PythonArgument) -> str:
    """The C++ expression for the argument that the parser numbers `index`: `_r.toInt64(1)`."""
    default = "" if argument.default_init is None else f", {argument.default_init}"
    return f"_r.{arg_parser_unpack_method(argument)}({index}{default})"


# ------------------------------------------------------------------------------------- the call


@dataclass(frozen=True, slots=True)
class LambdaArgument:
    """A parameter of the lambda."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class DispatchCall:
    """Everything a binding says to call one overload."""

    inits: tuple[str, ...]
    """Lines before the lambda: options, a list of out arguments, checks."""
    parameters: tuple[LambdaArgument, ...]
    return_type: str
    target: str
    """The C++ call in the lambda: `self.add(other, alpha)`."""
    arguments: tuple[str, ...]
    """What the lambda is called with."""
    requires_grad: str | None
    """Whether the result is to require grad, where the C++ function doesn't see to it; None if it does."""


def parsed_values(signature: PythonSignature) -> dict[str, str]:
    """The C++ expressions for all arguments, by name and in the order in which the parser numbers them.

    A number that stands for a tensor becomes one, of the type that it gives beside the tensors that are there.
    """
    arguments = signature.arguments()
    values = {a.name: arg_parser_output_expr(index, a) for index, a in enumerate(arguments)}
    tensors = [values[a.name] for a in signature.input_args if a.type == TENSOR]
    for argument in arguments:
        if isinstance(argument, PythonNumber):
            values[argument.name] = f"number({', '.join((values[argument.name], *tensors))})"
    return values


def dispatch_call(
    signature: PythonSignature, signatures: Signatures, values: Mapping[str, str], *, namespace: str | None = None
) -> DispatchCall:
    """How the overload with this Python signature, and these parsed values, calls its C++ function.

    That is a function in `namespace`; without one, torch's, which sees to `requires_grad` if it takes options.
    """
    function = signatures.function
    bindings = _lambda_bindings(signature, signatures)
    inits = _inits(signature, function, values)
    requires_grad = None
    sees_to_grad = has_tensor_options(function) and not signature.method and namespace is None
    if signature.tensor_options_args and not sees_to_grad:
        requires_grad = values["requires_grad"]
    return DispatchCall(
        inits=inits,
        parameters=tuple([LambdaArgument(b.name, _lambda_type(b, signature)) for b in bindings]),
        return_type=_lambda_return(signatures, signature).cpp_type(),
        target=_target(signature, signatures, namespace),
        arguments=tuple([_value(b, signature, function, values) for b in bindings]),
        requires_grad=requires_grad,
    )


def _cpp_signature(signature: PythonSignature, signatures: Signatures) -> CppSignature:
    group = signatures.cpp
    return (group.symint_signature if signature.symint else None) or group.signature


def _lambda_bindings(signature: PythonSignature, signatures: Signatures) -> tuple[Binding, ...]:
    """The parameters of the C++ function whose schema the signature is of."""
    if signature.deprecated is None:
        return _cpp_signature(signature, signatures).arguments
    return cpp.arguments(
        signature.deprecated.schema.arguments,
        faithful=False,
        symint=signature.symint,
        method=False,
        policy=signatures.policy,
    )


def _lambda_type(binding: Binding, signature: PythonSignature) -> str:
    """How the lambda takes an argument: a tensor that is written to by value, a method's self by reference.

    Several out arguments are references to the elements of one list.
    """
    spelled = binding.type
    if spelled != "at::Tensor &":
        return spelled
    if binding.name == "self" and signature.method:
        return "const at::Tensor &"
    outputs = signature.output_args.outputs if signature.output_args is not None else ()
    is_one_of_several = len(outputs) > 1 and any(binding.name == output.name for output in outputs)
    return spelled if is_one_of_several else "at::Tensor"


def _lambda_return(signatures: Signatures, signature: PythonSignature) -> CType:
    """What the lambda returns: values, never references."""
    returns = _cpp_signature(signature, signatures).returns
    if isinstance(returns, TupleCType):
        return TupleCType(tuple(elem.remove_const_ref() for elem in returns.elems))
    return returns.remove_const_ref()


def _target(signature: PythonSignature, signatures: Signatures, own_namespace: str | None) -> str:
    function, called = signatures.function, _cpp_signature(signature, signatures)
    func = function.func
    name = cpp.name(func, symint_overload=called.symint)
    expressions = [binding.name for binding in called.arguments]
    if signature.deprecated is not None:
        # The expressions are those of the out form's call, if there is one.
        expressions = [e for e in signature.deprecated.expressions if func.is_out_fn() or e != "out"]
    if own_namespace is not None:
        return f"::{own_namespace}::{name}({', '.join(expressions)})"
    if Variant.method in function.variants and func.arguments.self_arg is not None:
        expressions.remove("self")
        return f"self.{name}({', '.join(expressions)})"
    namespace = "torch" if has_tensor_options(function) or func.name.name.base.endswith("_like") else "at"
    return f"{namespace}::{name}({', '.join(expressions)})"


def _value(binding: Binding, signature: PythonSignature, function: NativeFunction, values: Mapping[str, str]) -> str:
    """The expression that the lambda is called with for one of its parameters."""
    if binding.name == "options" and "options" not in values:
        return "options"
    if binding.name == "self" and (signature.method or has_tensor_options(function)):
        return "self"
    outputs = signature.output_args.outputs if signature.output_args is not None else ()
    if len(outputs) > 1:
        for index, output in enumerate(outputs):
            if output.name == binding.name:
                return f"out[{index}]"
    return values[binding.name]


# ------------------------------------------------------------------------------ lines before it


def _inits(signature: PythonSignature, function: NativeFunction, values: Mapping[str, str]) -> tuple[str, ...]:
    lines: list[str] = []
    outputs = signature.output_args if function.func.is_out_fn() else None
    if outputs is not None and len(outputs.outputs) > 1:
        lines.append(f"auto out = {values['out']};")
    if has_tensor_options(function):
        if not signature.method and "self" in values:
            lines.append(f"auto self = {values['self']};")
        lines.append(_options(values))
        lines.append(_device_initialization(signature))
    elif signature.tensor_options_args and outputs is not None:
        lines.append(_out_check(values, outputs.name))
    return tuple(lines)


def _options(values: Mapping[str, str]) -> str:
    return (
        "const auto options = TensorOptions()\n"
        f"    .dtype({values['dtype']})\n"
        f"    .device({values['device']})\n"
        f"    .layout({values['layout']})\n"
        f"    .requires_grad({values['requires_grad']})\n"
        f"    .pinned_memory({values['pin_memory']});"
    )


def _device_initialization(signature: PythonSignature) -> str:
    """Devices start lazily; a method's tensor that Python dispatches on may stand for no device at all."""
    if not signature.method:
        return "torch::utils::maybe_initialize_device(options);"
    return "if (!at::impl::tensor_has_dispatch(self)) {\n  torch::utils::maybe_initialize_device(options);\n}"


def _out_check(values: Mapping[str, str], out: str) -> str:
    """The check that an out tensor is what the options beside it say."""
    at = {name: index for index, name in enumerate(values)}
    return (
        f"check_out_type_matches({values[out]}, {values['dtype']},\n"
        f"                       _r.isNone({at['dtype']}), {values['layout']},\n"
        f"                       {values['device']}, _r.isNone({at['device']}));"
    )
