"""One operator → its functionalization kernel, which runs it without mutations and views.

Under functionalization a tensor is a wrapper around a value that is never mutated.  A kernel unwraps
its arguments and calls the functional form, and the result becomes the new value of the mutated
arguments.  A view is a copy with an object that can replay it after its base changes (the classes are
in `view_meta`).  If no argument is wrapped, the kernel calls the operator itself.

    at::Tensor & abs_(c10::DispatchKeySet dispatchKeySet, at::Tensor & self) {
      …
      tmp_output = at::_ops::abs::call(self_);
      at::functionalization::impl::replace_(self, tmp_output);
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from opgen.api import native
from opgen.api.signatures import DispatcherSignature
from opgen.api.translate import translate
from opgen.api.types import CONST_TENSOR, I_TENSOR_LIST_REF, TENSOR_LIST, CType, Expr, NamedCType
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    BaseTy,
    BaseType,
    ListType,
    NativeFunction,
    NativeFunctionsViewGroup,
    OptionalType,
    SchemaKind,
    Type,
)
from opgen.output.snippets import Snippets
from opgen.program.program import Program

_SNIPPETS: Final = Snippets("functionalization_kernels.cpp")


def kernel_name(function: NativeFunction) -> str:
    """Return the name of the kernel in `index::functionalization`."""
    return native.name(function.func)


# ---------------------------------------------------------------------------------- arguments


@dataclass(frozen=True, slots=True)
class _Tensor:
    """An argument that is a tensor or contains tensors."""

    name: str
    owned: str
    """The C++ type of the unwrapped value."""
    copied: str
    """The argument as a value of that type, if there is no wrapper."""
    is_plain: bool
    """Whether it is neither optional nor a list."""

    @property
    def is_functional(self) -> str:
        """The C++ condition that the argument is wrapped."""
        return f"at::functionalization::impl::isFunctionalTensor({self.name})"


@dataclass(frozen=True, slots=True)
class _Parameters:
    """The parameters of a kernel."""

    names: tuple[str, ...]
    tensors: tuple[_Tensor, ...]

    @staticmethod
    def of(signature: DispatcherSignature) -> _Parameters:
        """Return the parameters of the kernel with this signature."""
        names = tuple([binding.name for binding in signature.arguments])
        schema_arguments = signature.func.arguments.flat_all
        tensors = [
            _tensor(binding.name, binding.nctype.type, argument.type)
            for binding, argument in zip(signature.arguments, schema_arguments, strict=True)
            if argument.type.is_tensor_like()
        ]
        return _Parameters(names, tuple(tensors))

    def call(self, function: NativeFunction, suffix: str) -> str:
        """Return a call of `function` with these arguments; tensors under names with `suffix`."""
        renamed = {tensor.name for tensor in self.tensors}
        return _call(function, [name + suffix if name in renamed else name for name in self.names])


def _tensor(name: str, ctype: CType, type: Type) -> _Tensor:
    is_plain = isinstance(type, BaseType)
    if ctype == TENSOR_LIST:
        return _Tensor(name, "::std::vector<at::Tensor>", f"{name}.vec()", is_plain)
    if ctype == I_TENSOR_LIST_REF:
        return _Tensor(name, "::std::vector<at::Tensor>", f"{{{name}.begin(), {name}.end()}}", is_plain)
    return _Tensor(name, str(ctype.remove_const_ref()), name, is_plain)


def _call(function: NativeFunction, arguments: Iterable[str]) -> str:
    return f"at::_ops::{function.func.name.unambiguous_name()}::call({', '.join(arguments)})"


def _unwrap(tensors: Sequence[_Tensor], *, sync: bool) -> str:
    """Return statements that unwrap each tensor `x` to `x_`."""
    return _SNIPPETS.render("unwrapped", tensors=tensors, sync=sync)


def _call_on_meta(function: NativeFunction, parameters: _Parameters, assign: str = "") -> str:
    """Return statements that call `function` with meta tensors instead of its tensors."""
    statement = f"{assign}{parameters.call(function, '_meta')}"
    return _SNIPPETS.render("call_on_meta", tensors=parameters.tensors, statement=statement)


# ----------------------------------------------------------------------------------- mutation


@dataclass(frozen=True, slots=True)
class _Effects:
    """The mutated arguments and the results of an operator."""

    mutated: tuple[str, ...]
    """Names of the arguments that it mutates."""
    returned: tuple[str | None, ...]
    """For each returned value, the argument that it aliases; None for a new value."""

    @staticmethod
    def of(function: NativeFunction) -> _Effects:
        """Return the effects of `function`."""
        mutated = [argument.name for argument in function.func.arguments.flat_all if argument.is_write]
        return _Effects(tuple(mutated), tuple(function.func.aliased_return_names()))

    @property
    def fresh_count(self) -> int:
        """The number of new values."""
        return self.returned.count(None)


def _result(index: int, count: int) -> str:
    """Return one of `count` values that a call returned."""
    return "tmp_output" if count == 1 else f"std::get<{index}>(tmp_output)"


def render_mutation(program: Program, function: NativeFunction, functional: NativeFunction) -> str:
    """Return the kernel of `function`, which mutates arguments, using its functional form."""
    signature = program.signatures(function).dispatcher
    result = program.signatures(functional).dispatcher.returns
    parameters, effects = _Parameters.of(signature), _Effects.of(function)
    wrapped, mixed = _wrapping_conditions(parameters, effects)
    return _SNIPPETS.render(
        "mutation",
        head=signature.defn(kernel_name(function), is_redispatching_fn=True),
        checks_shapes="true" if _checks_shapes(function) else "false",
        call_on_meta=_call_on_meta(function, parameters),
        unwrapped=_unwrap(parameters.tensors, sync=True),
        wrapped=wrapped,
        mixed=mixed,
        call_unchanged=_call_unchanged(function, signature, parameters, effects),
        result=result,
        call_functional=_call_functional(program, function, functional, parameters),
        take_results=_take_results(effects, len(functional.func.returns)),
        returned=_render_return(signature, effects, [f"output_{index}" for index in range(effects.fresh_count)]),
    )


def _checks_shapes(function: NativeFunction) -> bool:
    """Return whether `function` first runs on meta tensors, since it may reject inputs of the functional form."""
    # Of the mutating forms, only in-place ones always have a meta kernel.  There are no meta storages.
    takes_storage = any(a.type.is_base_ty_like(BaseTy.Storage) for a in function.func.arguments.flat_all)
    return function.func.kind() is SchemaKind.inplace and not takes_storage


def _wrapping_conditions(parameters: _Parameters, effects: _Effects) -> tuple[str, str]:
    """Return the conditions that all mutated tensors are wrapped, and that others are wrapped and none is on XLA."""
    read = [tensor for tensor in parameters.tensors if tensor.name not in effects.mutated]
    all_mutated = [tensor.is_functional for tensor in parameters.tensors if tensor.name in effects.mutated]
    any_read = [tensor.is_functional for tensor in read]
    # XLA tensors may be copied to others: `cpu_tensor.copy_(xla_tensor)` is valid.
    any_xla = [f"{tensor.name}.device().type() == c10::DeviceType::XLA" for tensor in read if tensor.is_plain]
    mixed = f"!({' || '.join(['false', *any_xla])}) && ({' || '.join(['false', *any_read])})"
    return " && ".join(["true", *all_mutated]), mixed


def _call_unchanged(
    function: NativeFunction, signature: DispatcherSignature, parameters: _Parameters, effects: _Effects
) -> str:
    """Return statements that call `function` itself and return."""
    call, returned = parameters.call(function, "_"), effects.returned
    if not returned:
        return f"      {call};\n"
    fresh = [_result(index, len(returned)) for index, argument in enumerate(returned) if argument is None]
    owned = signature.returns.remove_const_ref()
    return f"      {owned} tmp_output = {call};\n  {_render_return(signature, effects, fresh)}"


def _render_return(signature: DispatcherSignature, effects: _Effects, fresh: Iterable[str]) -> str:
    """Return the statement that returns the aliased arguments and the `fresh` values."""
    rest = iter(fresh)
    values = [next(rest) if argument is None else argument for argument in effects.returned]
    if not values:
        return ""
    value = values[0] if len(values) == 1 else f"{signature.returns}({', '.join(values)})"
    return f"    return {value};\n"


def _call_functional(
    program: Program, function: NativeFunction, functional: NativeFunction, parameters: _Parameters
) -> str:
    """Return a call of the functional form with the unwrapped arguments."""
    exprs = dict(zip(parameters.names, parameters.names, strict=True))
    exprs.update((tensor.name, f"{tensor.name}_") for tensor in parameters.tensors)
    out = function.func.arguments.out
    if str(function.func.name) in program.release.keep_dtype_of_out:
        exprs["dtype"] = "dtype.has_value() ? dtype : std::optional<at::ScalarType>(out_.scalar_type())"
    goals = program.signatures(functional).dispatcher.arguments
    # An out form has no tensor options; it uses those of its out argument.
    options = [goal for goal in goals if goal.name not in exprs]
    context = [Expr(f"{out[0].name}_", NamedCType("out", CONST_TENSOR))] if out else []
    exprs.update(zip([goal.name for goal in options], [e.expr for e in translate(context, options)], strict=True))
    return _call(functional, [exprs[goal.name] for goal in goals])


def _take_results(effects: _Effects, count: int) -> str:
    """Return statements that wrap the new results, and store the others in the mutated arguments."""
    fresh = [
        f"    auto output_{index} = at::functionalization::impl::to_functional_tensor({_result(index, count)});\n"
        for index in range(effects.fresh_count)
    ]
    replaced = [
        _replace(name, _result(index, count)) for index, name in enumerate(effects.mutated, effects.fresh_count)
    ]
    return "".join(fresh + replaced)


def _replace(name: str, value: str) -> str:
    return _SNIPPETS.render("replace", name=name, value=value)


# -------------------------------------------------------------------------------------- views


def render_view(program: Program, group: NativeFunctionsViewGroup) -> str:
    """Return the kernel of a view operator."""
    view, copy = group.view, group.view_copy or group.view
    signature = program.signatures(view).dispatcher
    parameters = _Parameters.of(signature)
    return _SNIPPETS.render(
        "view",
        head=signature.defn(kernel_name(view), is_redispatching_fn=True),
        unwrapped=_unwrap(parameters.tensors, sync=False),
        base=parameters.names[0],
        view=parameters.call(view, "_"),
        copy=parameters.call(copy, "_"),
        inverse_return_mode=_SNIPPETS.render("inverse_return_mode"),
        reference=_compute_reference(view, signature, parameters),
        returns=signature.returns,
        view_meta=_make_view_meta(program, view),
    )


def render_inplace_view(program: Program, function: NativeFunction) -> str:
    """Return the kernel of an in-place view."""
    signature = program.signatures(function).dispatcher
    parameters = _Parameters.of(signature)
    return _SNIPPETS.render(
        "inplace_view",
        head=signature.defn(kernel_name(function), is_redispatching_fn=True),
        base=parameters.names[0],
        unwrapped=_unwrap(parameters.tensors, sync=False),
        view=parameters.call(function, "_"),
        inverse_return_mode=_SNIPPETS.render("inverse_return_mode"),
        view_meta=_make_view_meta(program, function),
        reference=_compute_reference(function, signature, parameters),
    )


def _compute_reference(function: NativeFunction, signature: DispatcherSignature, parameters: _Parameters) -> str:
    """Return statements that find the result's strides, for backends that don't keep them."""
    return _SNIPPETS.render(
        "reference",
        base=parameters.names[0],
        type=signature.returns.remove_const_ref(),
        call_on_meta=_call_on_meta(function, parameters, "reference_tensor_output = "),
    )


def _make_view_meta(program: Program, function: NativeFunction) -> str:
    """Return statements that create `view_meta`, which replays the view."""
    view_meta = program.signatures(function).view_meta
    parameters = function.func.arguments.flat_all[1:]
    index = ["0"] if view_meta.is_multi_output else []
    arguments = ["has_symbolic_inputs", *index, "reapply_views", "inverse_return_mode", *(a.name for a in parameters)]
    return _SNIPPETS.render(
        "view_meta",
        conditions=[condition for a in parameters if (condition := _is_symbolic(a.name, a.type))],
        arguments=arguments,
        classname=view_meta.classname,
    )


def _is_symbolic(value: str, type: Type) -> str | None:
    """Return the condition that the value contains a symbolic integer; None if it can't."""
    if isinstance(type, OptionalType):
        inner = _is_symbolic(f"(*{value})", type.elem)
        return inner and f"{value}.has_value() ? {inner} : false"
    if isinstance(type, ListType) and type.elem == BaseType(BaseTy.SymInt):
        return f"std::any_of({value}.begin(), {value}.end(), [=](auto& arg) {{ return arg.is_symbolic(); }})"
    return f"{value}.is_symbolic()" if type == BaseType(BaseTy.SymInt) else None
