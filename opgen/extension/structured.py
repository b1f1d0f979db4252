"""A group with a structured kernel → the wrapper of each of its forms under a key.

The class templates of `detail/Structured.h`, one for each form, handle the outputs.  Under Meta only the
shape function is called.  Shape functions of pointwise operators mostly don't support symbolic sizes; for
these the wrapper broadcasts the sizes itself, and calls the shape function on tensors of one element for the
dtype and other properties.

    detail::Out<mylib::native::structured_blend_out, Memory, 1> op(out);
    op.meta(self, other);
    op_.impl(self, other, op_.maybe_get_output(0));
    op_.given_.copy_back();
    return out;
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from opgen.api.translate import call_arguments
from opgen.api.types import CONST_TENSOR, Binding, Expr, NamedCType
from opgen.dest.device_guards import device_check
from opgen.dest.kernel_calls import Wrapper, block
from opgen.extension.extension import Extension
from opgen.model import (
    BackendIndex,
    BaseTy,
    BaseType,
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
    SchemaKind,
)

_TENSOR: Final = BaseType(BaseTy.Tensor)
_CLASSES: Final = MappingProxyType(
    {SchemaKind.functional: "Functional", SchemaKind.inplace: "Inplace", SchemaKind.out: "Out"}
)


def wrap_structured(
    extension: Extension, group: NativeFunctionsGroup, function: NativeFunction, index: BackendIndex
) -> Wrapper:
    """Return the wrapper of one form of a group."""
    prefix = f"wrapper_{index.dispatch_key}_{function.func.name.overload_name}_"
    signature = extension.signatures(function).kernel(index).with_prefix(prefix)
    name = signature.name()
    parent = _parent(extension, group, index)
    statements = [*device_check(function, index, name)]
    if index.dispatch_key is DispatchKey.Meta and is_elementwise(group):
        statements += _symbolic(extension, group, function, index, parent)
    given = _changed(function)
    arguments = f"({', '.join(given)})" if given else ""
    statements.append(f"{_form(function, group, parent)} op_{arguments};")
    statements += _calls(extension, group, function, index)
    statements += _results(function, _outputs(function))
    return Wrapper(function, name, signature, f"{signature.defn(name)} {{\n{block(statements)}}}\n")


def _parent(extension: Extension, group: NativeFunctionsGroup, index: BackendIndex) -> str:
    """Return the name of the author's class."""
    kernel = index.get_kernel(group)
    if kernel is None or index.dispatch_key is DispatchKey.Meta:
        return f"::{extension.namespace}::meta::structured_{extension.program.group_signatures(group).meta_name}"
    return f"::{kernel.cpp_namespace}::structured_{kernel.kernel}"


def _form(function: NativeFunction, group: NativeFunctionsGroup, parent: str) -> str:
    delegates = ", /*Delegates=*/true" if group.out.structured_inherits is not None else ""
    return f"detail::{_CLASSES[function.func.kind()]}<{parent}, Memory, {_outputs(function)}{delegates}>"


def _outputs(function: NativeFunction) -> int:
    return len(function.func.returns)


def _changed(function: NativeFunction) -> list[str]:
    """Return the names of the output tensors."""
    if function.func.kind() is SchemaKind.inplace:
        return ["self"]
    return [argument.name for argument in function.func.arguments.out]


def _calls(
    extension: Extension, group: NativeFunctionsGroup, function: NativeFunction, index: BackendIndex
) -> list[str]:
    """Return statements that call the shape function, then the kernel."""
    structured, precomputed = extension.program.group_signatures(group), group.out.precomputed
    parameters = extension.signatures(function).kernel(index).arguments
    at_hand: list[Expr | Binding] = [Expr(parameter.name, parameter.nctype) for parameter in parameters]
    meta = f"op_.meta({call_arguments(at_hand, structured.meta_arguments)});"
    if index.dispatch_key is DispatchKey.Meta:
        return [meta]
    statements = [meta]
    if precomputed is not None:
        statements = [f"[[maybe_unused]] const auto precompute_ = {meta}"]
        values = precomputed.added_and_replacing()
        at_hand += [Expr(f"precompute_.{b.name}", b.nctype) for b in structured.impl_arguments if b.argument in values]
    at_hand += [
        Expr(f"op_.maybe_get_output({at})", NamedCType(argument.name, CONST_TENSOR))
        for at, argument in enumerate(group.out.func.arguments.out)
    ]
    return [*statements, f"op_.impl({call_arguments(at_hand, structured.impl_arguments)});"]


def _results(function: NativeFunction, outputs: int) -> list[str]:
    """Return statements that copy proxies back to the caller's tensors and return."""
    if function.func.kind() is SchemaKind.functional:
        return [_return([f"std::move(op_.outputs_[{at}])" for at in range(outputs)], "std::make_tuple")]
    return ["op_.given_.copy_back();", _return(_changed(function), "std::forward_as_tuple")]


def _return(values: list[str], tie: str) -> str:
    return f"return {values[0]};" if len(values) == 1 else f"return {tie}({', '.join(values)});"


# ------------------------------------------------------------------------------- symbolic sizes


def is_elementwise(group: NativeFunctionsGroup) -> bool:
    """Return whether results have the broadcast sizes of the operands."""
    arguments = group.functional.func.arguments.flat_non_out
    tensors = [a for a in arguments if a.type.is_tensor_like()]
    tags = group.functional.tags | group.out.tags
    return "pointwise" in tags and bool(tensors) and all(a.type == _TENSOR for a in tensors)


def _symbolic(
    extension: Extension, group: NativeFunctionsGroup, function: NativeFunction, index: BackendIndex, parent: str
) -> list[str]:
    """Return statements that handle symbolic sizes and return."""
    tensors = [a.name for a in group.functional.func.arguments.flat_non_out if a.type == _TENSOR]
    parameters = extension.signatures(function).kernel(index).arguments
    at_hand = [Expr(f"shape_.stand_in({p.name})" if p.name in tensors else p.name, p.nctype) for p in parameters]
    structured = extension.program.group_signatures(group)
    probe = _form(group.functional, group, parent)
    body = [
        f"{probe} told_;",
        f"told_.meta({call_arguments(at_hand, structured.meta_arguments)});",
        *_SYMBOLIC_RESULTS[function.func.kind()](function, _outputs(function)),
    ]
    return [
        f"const detail::Elementwise shape_({{{', '.join(tensors)}}});",
        "if (C10_UNLIKELY(shape_.is_symbolic())) {",
        *[f"  {line}" for line in body],
        "}",
    ]


def _allocated(function: NativeFunction, outputs: int) -> list[str]:
    del function
    return [_return([f"shape_.allocate(told_.outputs_[{at}])" for at in range(outputs)], "std::make_tuple")]


def _resized(function: NativeFunction, outputs: int) -> list[str]:
    del outputs
    names = _changed(function)
    resized = [f"shape_.resize({name}, told_.outputs_[{at}]);" for at, name in enumerate(names)]
    return [*resized, _return(names, "std::forward_as_tuple")]


def _checked(function: NativeFunction, outputs: int) -> list[str]:
    del function, outputs
    return ["shape_.check_inplace(self, told_.outputs_[0]);", "return self;"]


_SYMBOLIC_RESULTS: Final = MappingProxyType(
    {
        SchemaKind.functional: _allocated,
        SchemaKind.out: _resized,
        SchemaKind.inplace: _checked,
    }
)
