"""An operator and its derivatives → the values that its kernel is rendered from.

neg(Tensor self) -> Tensor   →   Kernel(parameters=(self,), inputs=(self,), outputs=(result,), …)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import (
    DifferentiabilityInfo,
    DifferentiableOutput,
    ForwardDerivative,
    NativeFunctionWithDifferentiabilityInfo,
    gen_differentiable_outputs,
    is_differentiable,
    is_foreach_func,
)
from opgen.api.dispatcher import DispatcherSignature
from opgen.api.signatures import Signatures
from opgen.api.types import OPTIONAL_TENSOR_LIST, Binding
from opgen.dest.autograd_home import AutogradHome, is_of_torch
from opgen.dest.autograd_kernels import is_view_family, with_overload
from opgen.dest.autograd_operators import NEVER_DIFFERENTIABLE
from opgen.dest.line_directives import place_formula
from opgen.dest.variable_type_checks import CHECKS, DebugChecks
from opgen.frozen_dataclass import dataclass
from opgen.model import Argument, NativeFunction, SchemaKind

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "const at::Tensor &": "tensor",
        "at::Tensor &": "tensor",
        "at::TensorList": "list",
        "const at::ITensorListRef &": "list",
        OPTIONAL_TENSOR_LIST.spelled: "optional list",
    }
)
"""The kinds of parameters that debug builds check, by type.  Tensors and lists are also unpacked."""
_NONE_RENAMED: Final[Mapping[str, Parameter]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A parameter of kernels, and the code for it."""

    name: str
    defn: str
    """The parameter in a definition."""
    is_tensor_like: bool
    is_symint_like: bool
    is_list: bool
    """Whether it is a list or an optional list, of any type."""
    element: str
    """The parameter, or its current element if it is a list."""
    is_tangent_defined: str
    """The C++ condition that it has a forward gradient."""
    unpacking: str
    """The statement that unpacks it, without the trailing argument index; empty if it isn't unpacked."""
    unpacked: str
    """Its name in the kernel after unpacking."""
    checks: DebugChecks | None
    """The checks of debug builds."""

    @staticmethod
    def derive(binding: Binding, *, avoids_copies: bool) -> Parameter:
        """Return a parameter of the dispatcher's signature."""
        name, argument = binding.name, binding.argument
        assert isinstance(argument, Argument), "the dispatcher takes options one by one"
        type = argument.type
        kind = _KINDS.get(binding.type, "")
        is_list = type.is_list_like() is not None
        is_unpacked = kind in ("tensor", "list")
        unpacked = f"{name}_" if is_unpacked else name
        return Parameter(
            name=name,
            defn=binding.defn(),
            is_tensor_like=type.is_tensor_like(),
            is_symint_like=type.is_symint_like(),
            is_list=is_list,
            element=f"{name}[i]" if is_list else name,
            is_tangent_defined=f"isFwGradDefined{'TensorList' if is_list else ''}({name})",
            unpacking=f'  auto{"" if is_list else "&"} {unpacked} = unpack({name}, "{name}", ' if is_unpacked else "",
            unpacked=unpacked,
            checks=CHECKS[kind](unpacked, reserves=avoids_copies) if kind else None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ParameterMemo:
    """A memo of the parameters of a run's kernels."""

    home: AutogradHome
    # Keyed by id() for speed; signatures keep the bindings alive.
    _by_binding: dict[int, Parameter] = field(default_factory=dict)
    _by_definition: dict[str, Parameter] = field(default_factory=dict)

    def of(self, signature: DispatcherSignature) -> tuple[Parameter, ...]:
        """Return the parameters of an operator's kernels."""
        by_id = self._by_binding
        return tuple([by_id.get(id(binding)) or self._learn(binding) for binding in signature.arguments])

    def _learn(self, binding: Binding) -> Parameter:
        # Types of the schema with the same C++ spelling have the same properties here.
        defn = binding.defn()
        parameter = self._by_definition.get(defn)
        if parameter is None:
            parameter = self._by_definition[defn] = Parameter.derive(binding, avoids_copies=self.home.avoids_copies)
        self._by_binding[id(binding)] = parameter
        return parameter


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """The names of an operator."""

    operator: str
    """The name with overload: `add_.Tensor`."""
    root: str
    """The root name, which all forms share: `add`."""
    base: str
    """The root name with the underscore of an in-place form: `add_`."""
    cpp: str
    """The name of the function in C++."""
    kernel: str
    """The name of kernels: the C++ name with the overload."""
    is_of_torch: bool
    """Whether the operator is torch's, so that torch's lists of names apply."""

    @staticmethod
    def of(function: NativeFunction) -> Names:
        """Return the names of an operator."""
        root, cpp_name = function.root_name, cpp.name(function.func)
        return Names(
            operator=function.func.name.text,
            root=root,
            base=f"{root}_" if function.func.kind() is SchemaKind.inplace else root,
            cpp=cpp_name,
            kernel=with_overload(cpp_name, function),
            is_of_torch=is_of_torch(function),
        )

    @property
    def is_never_differentiable(self) -> bool:
        """Whether the operator needs no gradient, whatever its arguments."""
        return self.root in NEVER_DIFFERENTIABLE and self.is_of_torch


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """The values from which a kernel for a dispatch key is rendered."""

    function: NativeFunction
    names: Names
    home: AutogradHome
    signatures: Signatures
    parameters: tuple[Parameter, ...]
    inputs: tuple[Parameter, ...]
    """The parameters that may require a gradient."""
    read: tuple[Parameter, ...]
    """The inputs that aren't out arguments."""
    differentiated: tuple[Parameter, ...]
    """The inputs with a formula for their gradient."""
    outputs: tuple[DifferentiableOutput, ...]
    """The results that may have a gradient."""
    info: DifferentiabilityInfo | None
    derivatives: DifferentiabilityInfo | None
    """`info`, if any argument has a gradient; otherwise None, and the node only reports a missing derivative."""
    forward: tuple[ForwardDerivative, ...]
    formula_names: tuple[str, ...]
    """The names of the inputs in forward formulas."""
    condition: str
    """The condition under which the results are differentiable, in brackets; empty if there is none."""
    renamed: Mapping[str, Parameter]
    """Names in the formulas of an in-place foreach operator, which are those of the per-tensor operator."""
    is_inplace: bool
    """Whether it is an in-place form."""
    is_out: bool
    """Whether it is an out form."""
    writes: bool
    """Whether it mutates `self` or out arguments."""
    is_foreach: bool
    """Whether it is a foreach operator."""
    is_view: bool
    """Whether a result shares memory with an argument."""
    records: bool
    """Whether the graph may be recorded."""

    @property
    def is_of_lists(self) -> bool:
        """Whether it is an in-place foreach operator, in which each tensor has its own node."""
        return self.is_foreach and self.is_inplace

    @property
    def is_view_family(self) -> bool:
        """Whether autograd tracks the operator's result, or its `self`, as a view."""
        return self.is_view and is_view_family(self.function)

    @property
    def length(self) -> str:
        """The number of tensors in the lists of a foreach operator, in C++."""
        return f"{next(parameter.name for parameter in self.inputs if parameter.is_list)}.size()"


def derive_kernel(
    matched: NativeFunctionWithDifferentiabilityInfo,
    key: str,
    names: Names,
    signatures: Signatures,
    home: AutogradHome,
    memo: ParameterMemo,
) -> Kernel:
    """Return the kernel of an operator for a dispatch key; `memo` memoizes parameters."""
    function, func = matched.func, matched.func.func
    info = matched.info.get(key) if matched.info is not None else None
    forward = matched.fw_derivatives.get(key, ()) if matched.fw_derivatives is not None else ()
    derivatives = info if info is not None and info.args_with_derivatives else None
    parameters = memo.of(signatures.dispatcher)
    refused = info.non_differentiable_arg_names if info is not None else ()
    inputs = tuple(
        [parameter for parameter in parameters if parameter.is_tensor_like and parameter.name not in refused]
    )
    outs = [parameter.name for parameter in func.arguments.out]
    read = tuple([parameter for parameter in inputs if parameter.name not in outs]) if outs else inputs
    kind, is_foreach = func.kind(), is_foreach_func(function)
    is_inplace = kind is SchemaKind.inplace
    renamed = _NONE_RENAMED
    if is_foreach and is_inplace and info is not None:
        renamed = _renamed(function, info, parameters)
    outputs = _outputs(matched, key, info, signatures.return_names)
    has_results = bool(outputs) or (is_foreach and is_inplace and _is_stated_differentiable(info))
    conditions = info.output_differentiability_conditions if info is not None else None
    return Kernel(
        function=function,
        names=names,
        home=home,
        signatures=signatures,
        parameters=parameters,
        inputs=inputs,
        read=read,
        differentiated=_differentiated(inputs, derivatives, renamed) if derivatives is not None else read,
        outputs=outputs,
        info=info,
        derivatives=derivatives,
        forward=forward,
        formula_names=_formula_names(inputs, renamed) if forward else (),
        condition=f"({place_formula(conditions[0], info.condition_place)})" if info is not None and conditions else "",
        renamed=renamed,
        is_inplace=is_inplace,
        is_out=bool(outs),
        writes=is_inplace or kind is SchemaKind.out,
        is_foreach=is_foreach,
        is_view=function.is_view_op,
        records=bool(read) and has_results and not names.is_never_differentiable,
    )


def _outputs(
    matched: NativeFunctionWithDifferentiabilityInfo, key: str, info: DifferentiabilityInfo | None, names: Sequence[str]
) -> tuple[DifferentiableOutput, ...]:
    """Return the results that may have a gradient, given the names of all results."""
    returns = matched.func.func.returns
    if len(returns) != 1 or (info is not None and info.output_differentiability is not None):
        return gen_differentiable_outputs(matched, key)
    # Fast path: nearly all operators have a single result.
    output = DifferentiableOutput(names[0], returns[0].type)
    return (output,) if is_differentiable(output.name, output.type, info) else ()


def _is_stated_differentiable(info: DifferentiabilityInfo | None) -> bool:
    """Return whether any result may have a gradient."""
    return info is None or info.output_differentiability is None or any(info.output_differentiability)


def _renamed(
    function: NativeFunction, info: DifferentiabilityInfo, parameters: Sequence[Parameter]
) -> dict[str, Parameter]:
    """Return the parameters of an in-place foreach operator, by their names in the per-tensor operator."""
    mine = parameters[: len(function.func.arguments.flat_non_out)]
    return {one.name: parameter for one, parameter in zip(info.func.func.arguments.flat_non_out, mine)}


def _differentiated(
    inputs: Sequence[Parameter], derivatives: DifferentiabilityInfo, renamed: Mapping[str, Parameter]
) -> tuple[Parameter, ...]:
    """Return the inputs that have a gradient."""
    names = {argument.name for argument in derivatives.args_with_derivatives}
    if renamed:
        names = {renamed[name].name if name in renamed else name for name in names}
    return tuple([parameter for parameter in inputs if parameter.name in names])


def _formula_names(inputs: Sequence[Parameter], renamed: Mapping[str, Parameter]) -> tuple[str, ...]:
    theirs = {mine.name: name for name, mine in renamed.items()}
    return tuple(
        [theirs.get(parameter.name, parameter.name) for parameter in inputs]
        if theirs
        else [parameter.name for parameter in inputs]
    )
