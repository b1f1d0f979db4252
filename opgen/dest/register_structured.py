"""A group with a structured kernel → for each form a class that allocates its outputs, and a wrapper.

The author writes a meta function, which passes the sizes of the outputs to `set_output…`, and an impl, which computes
into existing outputs.  The generated class derives from the author's and defines `set_output…` for one form: allocate
the results, resize the out arguments, or check `self`.  If an out argument has other strides than the kernel needs, the
kernel writes to a proxy, which is then copied.  The wrapper calls both:

    structured_add_out_functional op;
    op.meta(self, other, alpha);
    op.impl(self, other, alpha, op.outputs_[0]);
    return std::move(op.outputs_[0]);

Under Meta there is no impl; under CompositeExplicitAutogradNonFunctional the operator's out form
is called instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from opgen.api.translate import call_arguments
from opgen.api.types import CONST_TENSOR, MUTABLE_TENSOR, CType, Expr, NamedCType
from opgen.dest.device_guards import device_check, enter_device
from opgen.dest.kernel_calls import KernelCalls, Wrapper, block
from opgen.dest.native_aot import call_impl, has_stub
from opgen.frozen_dataclass import dataclass
from opgen.model import BackendIndex, DispatchKey, NativeFunction, NativeFunctionsGroup, SchemaKind


@dataclass(frozen=True, slots=True)
class StructuredClass:
    """The generated class of one form of a group under one key."""

    name: str
    parent: str
    """The author's class."""
    key: DispatchKey
    kind: SchemaKind
    outputs: int
    delegates: bool
    """Whether it forwards outputs to the class in `structured_inherits`."""
    has_names: bool
    """Whether outputs may have named dimensions."""
    guard: str | None
    """The class of the guard that it holds, if any."""


def wrap_structured(
    calls: KernelCalls, group: NativeFunctionsGroup, function: NativeFunction, index: BackendIndex
) -> Wrapper:
    """Return the class and the wrapper for one form of a group, under the key of `index`."""
    signature = calls.program.signatures(function).kernel(index).with_prefix(f"wrapper_{index.dispatch_key}_")
    name = signature.name()
    generated = class_of(calls, group, function, index)
    statements = [
        *device_check(function, index, name),
        f"{generated.name} op{constructor_arguments(function)};",
        *kernel_calls(calls, group, function, index),
        *result_statements(function, generated.outputs),
    ]
    definition = f"{render_class(generated)}\n{signature.defn(name)} {{\n{block(statements)}}}"
    return Wrapper(function, name, signature, definition)


def class_of(
    calls: KernelCalls, group: NativeFunctionsGroup, function: NativeFunction, index: BackendIndex
) -> StructuredClass:
    """Return the class for `function`, a form of `group`, under the key of `index`."""
    key, kind = index.dispatch_key, function.func.kind()
    kernel = index.get_kernel(group)
    if kernel is None:
        meta = f"structured_{calls.program.group_signatures(group).meta_name}"
        parent = f"at::meta::{meta}"
        name = f"{meta}_{'meta' if key is DispatchKey.Meta else 'default_backend'}_{kind.name}"
    else:
        parent = f"{kernel.cpp_namespace}::structured_{kernel.kernel}"
        name = f"structured_{kernel.kernel}_{kind.name}"
    delegates = group.out.structured_inherits is not None
    has_names = calls.program.release.named_dimensions
    return StructuredClass(
        name, parent, key, kind, len(function.func.returns), delegates, has_names, calls.guard_class(key)
    )


# ------------------------------------------------------------------------------------ the class


def render_class(generated: StructuredClass) -> str:
    """Return the class, without the wrapper."""
    return assemble_class(generated, constructor(generated), set_output_functions(generated))


def assemble_class(generated: StructuredClass, constructor: str, set_output: str) -> str:
    """Return the class around its constructor and the functions that set outputs."""
    owns = generated.kind is SchemaKind.functional
    members = [f"  std::array<{'Tensor' if owns else 'std::reference_wrapper<Tensor>'}, {generated.outputs}> outputs_;"]
    if not owns:
        members.append(f"  std::array<::std::optional<Tensor>, {generated.outputs}> proxy_outputs_;")
    if generated.guard is not None:
        members.append(f"  {generated.guard} guard_;")
    lines = "\n".join(members)
    return f"""\
struct {generated.name} final : public {generated.parent} {{
{constructor}\
{set_output}
  const Tensor& maybe_get_output(int64_t output_idx) override {{
    return {_OWN_OUTPUT if owns else _GIVEN_OUTPUT};
  }}
{lines}
}};"""


def set_output_functions(generated: StructuredClass) -> str:
    """Return the two methods by which the meta function declares an output."""
    methods = (("set_output_strided", True), ("set_output_raw_strided", False))
    return "\n".join(
        [
            set_output_function(
                method, generated, set_output_body(generated.key, generated.kind, may_restride=may_restride)
            )
            for method, may_restride in methods
        ]
    )


_OWN_OUTPUT: Final = "outputs_[output_idx]"
_GIVEN_OUTPUT: Final = (
    "proxy_outputs_[output_idx].has_value() ? *proxy_outputs_[output_idx] : outputs_[output_idx].get()"
)


def constructor(generated: StructuredClass) -> str:
    """Return the constructor, which takes the caller's tensors; empty if they are allocated."""
    if generated.kind is SchemaKind.functional:
        return ""
    names = ["self"] if generated.kind is SchemaKind.inplace else [f"out{at}" for at in range(generated.outputs)]
    parameters = ", ".join([f"Tensor& {name}" for name in names])
    references = ", ".join([f"std::ref({name})" for name in names])
    return f"  {generated.name}({parameters}) : outputs_{{ {references} }} {{}}\n"


_NAME_DIMENSIONS: Final = (
    "if (!names.empty()) {",
    "  namedinference::propagate_names(outputs_[output_idx], names);",
    "}",
)


def set_output_body(key: DispatchKey | None, kind: SchemaKind, *, may_restride: bool) -> tuple[str, ...]:
    """Return the statements that allocate or check an output, on the device of the key `key` if it has one.

    Unless `may_restride`, the kernel supports any strides and needs no proxy.
    """
    return (*(() if key is None else enter_device(key)), *_provide_output(kind, may_restride))


def set_output_function(method: str, generated: StructuredClass, body: Iterable[str]) -> str:
    """Return one of the two methods by which the meta function declares an output."""
    statements = list(body)
    if generated.has_names:
        statements += _NAME_DIMENSIONS
    names, taken = (", names", ", DimnameList names") if generated.has_names else ("", "")
    if generated.delegates:
        # Last, since the author's class may use this output.
        statements.append(f"{generated.parent}::set_output_raw_strided(output_idx, sizes, strides, options{names});")
    return f"""\
  void {method}(int64_t output_idx, IntArrayRef sizes, IntArrayRef strides, TensorOptions options{taken}) override {{
{block(statements, "    ")}  }}"""


def _provide_output(kind: SchemaKind, may_restride: bool) -> tuple[str, ...]:
    """Return statements that allocate an output, or resize the given one."""
    if kind is SchemaKind.functional:
        return ("outputs_[output_idx] = create_out(sizes, strides, options);",)
    prepare = "resize_out(out, sizes, strides, options);"
    if kind is SchemaKind.inplace:
        prepare = "check_inplace(out, sizes, options);"
    ready = ("const auto& out = outputs_[output_idx].get();", prepare)
    if not may_restride:
        return ready
    return (
        *ready,
        "auto maybe_proxy = maybe_create_proxy(out, sizes, strides, options);",
        "if (C10_UNLIKELY(maybe_proxy.has_value())) {",
        "  proxy_outputs_[output_idx] = std::move(maybe_proxy).value();",
        "}",
    )


# ---------------------------------------------------------------------------------- the wrapper


def constructor_arguments(function: NativeFunction) -> str:
    """Return the constructor's arguments in parentheses; empty for a functional form."""
    kind = function.func.kind()
    if kind is SchemaKind.functional:
        return ""
    return "(self)" if kind is SchemaKind.inplace else f"({', '.join(_out_names(function))})"


def kernel_calls(
    calls: KernelCalls, group: NativeFunctionsGroup, function: NativeFunction, index: BackendIndex
) -> list[str]:
    """Return statements that call the meta function, then the impl or the operator's out form."""
    program, precomputed = calls.program, group.out.precomputed
    structured, key = program.group_signatures(group), index.dispatch_key
    parameters = program.signatures(function).kernel(index).arguments
    at_hand = [Expr(parameter.name, parameter.nctype) for parameter in parameters]
    meta = f"op.meta({call_arguments(at_hand, structured.meta_arguments)});"
    statements = [meta]
    if precomputed is not None:
        statements = [f"auto precompute = {meta}", "(void)precompute;"]
        values = precomputed.added_and_replacing()
        # A precomputed value replaces its argument, even in a call of an operator that takes the argument.
        at_hand += [Expr(f"precompute.{b.name}", b.nctype) for b in structured.impl_arguments if b.argument in values]
    if key is DispatchKey.CompositeExplicitAutogradNonFunctional:
        out_form = program.signatures(group.out).cpp_backend.most_faithful_signature()
        at_hand += _outputs(group, function, MUTABLE_TENSOR)
        statements.append(f"at::{out_form.name()}({call_arguments(at_hand, out_form.arguments)});")
    elif key is not DispatchKey.Meta:
        at_hand += _outputs(group, function, CONST_TENSOR)
        arguments = call_arguments(at_hand, structured.impl_arguments)
        statements += call_impl(group, key, arguments, has_stub=has_stub(program, group, key))
    return statements


def _outputs(group: NativeFunctionsGroup, function: NativeFunction, ctype: CType) -> list[Expr]:
    """Return the outputs of the generated class for `function`, as out arguments of the out form."""
    proxied = function.func.kind() is SchemaKind.out
    written = "op.maybe_get_output({})" if proxied else "op.outputs_[{}]"
    return [Expr(written.format(at), NamedCType(name, ctype)) for at, name in enumerate(_out_names(group.out))]


def _out_names(function: NativeFunction) -> list[str]:
    return [argument.name for argument in function.func.arguments.out]


def result_statements(function: NativeFunction, outputs: int) -> list[str]:
    """Yield statements that copy proxies back, and return."""
    kind = function.func.kind()
    if kind is SchemaKind.functional:
        moved = [f"std::move(op.outputs_[{at}])" for at in range(outputs)]
        return [f"return {moved[0]};" if outputs == 1 else f"return std::make_tuple({', '.join(moved)});"]
    copies = [
        f"if (op.proxy_outputs_[{at}].has_value()) op.outputs_[{at}].get().copy_(*op.proxy_outputs_[{at}]);"
        for at in range(outputs)
    ]
    if kind is SchemaKind.inplace:
        return [*copies, "return self;"]
    names = ", ".join(_out_names(function))
    return [*copies, f"return {names};" if outputs == 1 else f"return std::forward_as_tuple({names});"]
