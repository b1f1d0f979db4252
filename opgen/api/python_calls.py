"""Arguments parsed by torch's parser → the call of the C++ function.

A binding calls a lambda that releases the GIL.  The lambda takes the arguments in the order of the
usual C++ function (tensors by value or const reference), and is called with values extracted from the
parser's result `_r`.  Tensor options are combined first; several out arguments are one list.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor

    auto dispatch_add = [](const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha) -> at::Tensor
      { … return self.add(other, alpha); }
    dispatch_add(_r.tensor(0), _r.tensor(1), _r.scalar(2))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from opgen.api import cpp, types
from opgen.api.python import PythonNumber, PythonSignature
from opgen.api.python_parser import TENSOR
from opgen.api.signatures import Signatures
from opgen.api.types import Binding
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, FunctionSchema, Variant

# ------------------------------------------------------------------------------------- the call


@dataclass(frozen=True, slots=True)
class DispatchCall:
    """The parts of a binding's call of one overload."""

    inits: tuple[str, ...]
    """Lines before the lambda: options, the list of out arguments, checks."""
    parameters: str
    """The parameters of the lambda: `const at::Tensor & self, int64_t dim`."""
    return_type: str
    target: str
    """The C++ call in the lambda: `self.add(other, alpha)`."""
    arguments: tuple[str, ...]
    """The arguments of the lambda."""
    requires_grad: str | None
    """The expression for whether the result requires grad; None if the C++ function sets it."""


def parsed_values(signature: PythonSignature, *, spells_defaults: bool = False) -> dict[str, str]:
    """Return the C++ expressions for all arguments by name, in the parser's order.

    A number passed instead of a tensor is converted to a tensor, with the dtype promoted from the other tensors.
    With `spells_defaults` the expressions contain the defaults, so the parser needn't have them.
    """
    values = {
        a.name: a.parsed_value(index, spells_default=spells_defaults) for index, a in enumerate(signature.arguments())
    }
    numbers = [a.name for a in signature.input_args if isinstance(a, PythonNumber)]
    if numbers:
        tensors = [values[a.name] for a in signature.input_args if a.type == TENSOR]
        values |= {name: f"number({', '.join((values[name], *tensors))})" for name in numbers}
    return values


def dispatch_call(
    signature: PythonSignature,
    signatures: Signatures,
    values: Mapping[str, str],
    *,
    namespace: str | None = None,
    starts_devices: bool = False,
    parameter_name: Callable[[str], str] = str,
) -> DispatchCall:
    """Return how the overload with this Python signature and these parsed values calls its C++ function.

    The function is in `namespace`; without one, it is torch's, which handles `requires_grad` if it takes options.
    With `starts_devices`, methods start the device of any tensor.  `parameter_name` maps an argument's name to C++.
    """
    func = signatures.func
    bindings = _lambda_bindings(signature, signatures)
    names = [binding.name for binding in bindings]
    has_options = func.arguments.tensor_options is not None
    needs_lines = has_options or func.arguments.out or _named_lists(func)
    inits, in_scope = _prepare(signature, func, values, starts_devices) if needs_lines else ((), values)
    sets_requires_grad = has_options and not signature.method and namespace is None
    needs_requires_grad = bool(signature.tensor_options_args) and not sets_requires_grad
    return DispatchCall(
        inits=inits,
        parameters=_lambda_parameters(bindings, signature, parameter_name),
        # The lambda returns by value.
        return_type=signatures.dispatcher.returns.remove_const_ref().spelled,
        target=_target(signature, signatures, [*map(parameter_name, names)], namespace),
        # Arguments without a parsed value are variables of the same name: `options`, a method's `self`.
        arguments=tuple([in_scope.get(name, name) for name in names]),
        requires_grad=values["requires_grad"] if needs_requires_grad else None,
    )


def _lambda_bindings(signature: PythonSignature, signatures: Signatures) -> tuple[Binding, ...]:
    """Return the parameters of the C++ function for the signature's schema."""
    arguments = signatures.func.arguments
    if signature.deprecated is not None:
        return cpp.arguments(
            signature.deprecated.schema.arguments,
            faithful=False,
            symint=signature.symint,
            method=False,
            policy=signatures.policy,
        )
    if arguments.tensor_options is not None:
        group = signatures.cpp
        return ((group.symint_signature if signature.symint else None) or group.signature).arguments
    # Without options, the C++ function has the parameters of the dispatcher's, but out arguments first.
    bindings = (signatures.dispatcher if signature.symint else signatures.dispatcher_nosymint).arguments
    outs = len(arguments.out)
    return (*bindings[-outs:], *bindings[:-outs]) if outs else bindings


def _lambda_parameters(
    bindings: Sequence[Binding], signature: PythonSignature, parameter_name: Callable[[str], str]
) -> str:
    """Return the lambda's parameters in C++."""
    parts = []
    for binding in bindings:
        spelled = binding.nctype.type.spelled
        if spelled == types.MUTABLE_TENSOR.spelled:
            spelled = _mutated_type(binding.name, signature)
        parts.append(f"{spelled} {parameter_name(binding.name)}")
    return ", ".join(parts)


def _mutated_type(name: str, signature: PythonSignature) -> str:
    """Return the type of a mutated tensor in the lambda: by value, or a method's self by reference.

    Several out arguments are references to the elements of one list.
    """
    if name == "self" and signature.method:
        return types.CONST_TENSOR.spelled
    outputs = () if signature.output_args is None else signature.output_args.outputs
    is_one_of_several = len(outputs) > 1 and any(name == output.name for output in outputs)
    return (types.MUTABLE_TENSOR if is_one_of_several else types.TENSOR).spelled


def _target(signature: PythonSignature, signatures: Signatures, names: list[str], own_namespace: str | None) -> str:
    """Return the call of the C++ function with the lambda's parameters."""
    func = signatures.func
    name = cpp.name(func, symint_overload=signature.symint and signatures.has_symint)
    if signature.deprecated is not None:
        # The expressions are for the out variant, if there is one.
        names = [e for e in signature.deprecated.expressions if func.is_out_fn() or e != "out"]
    if own_namespace is not None:
        return f"::{own_namespace}::{name}({', '.join(names)})"
    if func.arguments.self_arg is not None and Variant.method in signatures.function.variants:
        index = names.index("self")
        return f"self.{name}({', '.join(names[:index] + names[index + 1 :])})"
    is_in_torch = func.arguments.tensor_options is not None or func.name.name.base.endswith("_like")
    namespace = "torch" if is_in_torch else "at"
    return f"{namespace}::{name}({', '.join(names)})"


# ------------------------------------------------------------------------------ lines before it

Preparation: TypeAlias = tuple[tuple[str, ...], Mapping[str, str]]
"""Lines before the lambda, and the values of arguments; variables that the lines define replace parsed values."""


def _prepare(
    signature: PythonSignature, func: FunctionSchema, values: Mapping[str, str], starts_devices: bool
) -> Preparation:
    """Return the lines that unpack out arguments, collect options and start devices."""
    lines: list[str] = []
    variables: dict[str, str] = {}
    for name in _named_lists(func):
        lines += [
            f"auto __{name} = {values[name]};",
            f"::std::optional<DimnameList> {name} = "
            f"__{name} ? ::std::make_optional(DimnameList(__{name}.value())) : ::std::nullopt;",
        ]
        variables[name] = name
    out = signature.output_args if func.is_out_fn() else None
    if out is not None and len(out.outputs) > 1:
        lines.append(f"auto out = {values['out']};")
        variables |= {output.name: f"out[{index}]" for index, output in enumerate(out.outputs)}
    if func.arguments.tensor_options is not None:
        if not signature.method and "self" in values:
            lines.append(f"auto self = {values['self']};")
            variables["self"] = "self"
        lines += [_options(values), _device_initialization(signature, starts_devices)]
    elif signature.tensor_options_args and out is not None:
        lines.append(_out_check(values, out.name))
    return tuple(lines), {**values, **variables}


def _named_lists(func: FunctionSchema) -> list[str]:
    """Return the optional lists of names: the parser returns vectors, which must outlive the call."""
    return [a.name for a in func.arguments.flat_all if a.type.base_ty is BaseTy.Dimname and a.type.is_nullable()]


def _options(values: Mapping[str, str]) -> str:
    return (
        "const auto options = TensorOptions()\n"
        f"    .dtype({values['dtype']})\n"
        f"    .device({values['device']})\n"
        f"    .layout({values['layout']})\n"
        f"    .requires_grad({values['requires_grad']})\n"
        f"    .pinned_memory({values['pin_memory']});"
    )


def _device_initialization(signature: PythonSignature, starts_devices: bool) -> str:
    """Return the statement that initializes the device; a tensor subclass may have no device to initialize."""
    if starts_devices or not signature.method:
        return "torch::utils::maybe_initialize_device(options);"
    return "if (!at::impl::tensor_has_dispatch(self)) {\n  torch::utils::maybe_initialize_device(options);\n}"


def _out_check(values: Mapping[str, str], out: str) -> str:
    """Return the check that the out tensor matches the options beside it."""
    at = {name: index for index, name in enumerate(values)}
    return (
        f"check_out_type_matches({values[out]}, {values['dtype']},\n"
        f"                       _r.isNone({at['dtype']}), {values['layout']},\n"
        f"                       {values['device']}, _r.isNone({at['device']}));"
    )
