"""Mutating operators and views → `RegisterFunctionalize.cpp`, which runs them without mutation and views.

Under functionalization (`torch.compile`, `torch.export`, `torch.func.functionalize`) a tensor is a wrapper
around a value that is never mutated.  A kernel unwraps its arguments, calls the
functional form, and assigns the results to the mutated arguments.  A view gets an object
that can replay it; its inverse is generic: it scatters into the base by the view's sizes and strides.

    at::Tensor & scale_(at::Tensor & self, double by) {
      …
      auto result_ = ::mylib::_ops::scale::call(unwrapped(self), by);
      detail::replace(self, result);
      return self;
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.api.functionalization import is_multi_output
from opgen.api.translate import translate
from opgen.api.types import CONST_TENSOR, Expr, NamedCType
from opgen.dest.cpp_text import string_literal
from opgen.dest.kernel_calls import block
from opgen.extension.extension import Extension
from opgen.extension.includes import header, operator_headers, render_file
from opgen.extension.operators import call
from opgen.frozen_dataclass import dataclass
from opgen.model import DispatchKey, NativeFunction, NativeFunctionsGroup, NativeFunctionsViewGroup, SchemaKind
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet


@dataclass(frozen=True, slots=True)
class _Registered:
    """The template values of a kernel."""

    operator: str
    function: str
    """What is registered: the kernel, as a function or in its boxed form."""
    definition: str


def emit_functionalization(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterFunctionalize.cpp`, if any operator mutates arguments or is a view."""
    kernels = [*_mutations(extension), *_views(extension)]
    if not kernels:
        return
    boxing = [header(extension, "detail/Boxing.h")] if any(function.is_boxed for function, _ in kernels) else []
    yield render_file(extension, templates, "detail/Functionalize.h", "detail/Functionalize.h")
    copies = (group.view_copy for group in extension.program.view_groups)
    names = {f.root_name for f in (*(function for function, _ in kernels), *copies) if f is not None}
    yield render_file(
        extension,
        templates,
        "RegisterFunctionalize.cpp",
        "RegisterFunctionalize.cpp",
        includes=[header(extension, "detail/Functionalize.h"), *boxing, *operator_headers(extension, "_ops", names)],
        kernels=[kernel for _, kernel in kernels],
    )


def kernel_name(function: NativeFunction) -> str:
    """Return the kernel's name."""
    return f"functionalize_{function.func.name.unambiguous_name()}"


def _registered(function: NativeFunction, definition: str) -> tuple[NativeFunction, _Registered]:
    name = kernel_name(function)
    registered = f"boxed<&{name}>()" if function.is_boxed else f"TORCH_FN({name})"
    return function, _Registered(string_literal(str(function.func.name)), registered, definition)


def _tensors(function: NativeFunction) -> list[str]:
    return [a.name for a in function.func.arguments.flat_all if a.type.is_tensor_like()]


def _call_with(extension: Extension, function: NativeFunction, names: dict[str, str]) -> str:
    """Return a call of `function`, with some arguments renamed."""
    bindings = extension.signatures(function).dispatcher.arguments
    return call(extension, function, ", ".join(names.get(b.name, b.name) for b in bindings))


# --------------------------------------------------------------------------------------- mutation


def _mutations(extension: Extension) -> Iterator[tuple[NativeFunction, _Registered]]:
    for group in extension.program.groups:
        for function in group.functions():
            writes = function.func.kind() is not SchemaKind.functional
            if (
                writes
                and not function.has_composite_implicit_autograd_kernel
                and not _has_own_kernel(extension, function)
            ):
                yield _registered(function, _mutation(extension, function, group))


def _has_own_kernel(extension: Extension, function: NativeFunction) -> bool:
    return extension.program.has_kernel(DispatchKey.Functionalize, function)


def _mutation(extension: Extension, function: NativeFunction, group: NativeFunctionsGroup) -> str:
    """Return the kernel of a mutating operator, which calls the functional form."""
    signature = extension.signatures(function).dispatcher
    tensors = _tensors(function)
    values = {name: f"{name}_value" for name in tensors}
    written = [a.name for a in function.func.arguments.flat_all if a.is_write]
    read = [name for name in tensors if name not in written]
    returned = function.func.aliased_return_names()
    statements = [
        f"if (!({' && '.join(f'detail::is_wrapped({name})' for name in written)})) {{",
        f"  detail::check_unwrapped({', '.join(['name_', *read])});",
        "  at::AutoDispatchSkipFunctionalize guard_;",
        *[f"  auto {value} = detail::unwrap({name});" for name, value in values.items()],
        *_return_unchanged(extension, function, values, returned),
        "}",
        *[f"auto {value} = detail::unwrap({name});" for name, value in values.items()],
        *_results(extension, function, group, values, written),
        *_return(function, str(signature.returns), returned),
    ]
    name = string_literal(function.qualified_name)
    body = [f"static constexpr const char* name_ = {name};", *statements]
    return f"{signature.defn(kernel_name(function))} {{\n{block(body)}}}\n"


def _return_unchanged(
    extension: Extension, function: NativeFunction, values: dict[str, str], returned: list[str | None]
) -> list[str]:
    """Return statements that call the operator itself and return the caller's tensors."""
    called = _call_with(extension, function, values)
    if not returned:
        return [f"  {called};", "  return;"]
    fresh = [_element("same_", at, len(returned)) if name is None else name for at, name in enumerate(returned)]
    if all(name is not None for name in returned):
        return [f"  {called};", f"  {_return_values(extension, function, fresh)}"]
    return [f"  auto same_ = {called};", f"  {_return_values(extension, function, fresh)}"]


def _return_values(extension: Extension, function: NativeFunction, values: list[str]) -> str:
    returns = extension.signatures(function).dispatcher.returns
    return f"return {values[0]};" if len(values) == 1 else f"return {returns}({', '.join(values)});"


def _results(
    extension: Extension,
    function: NativeFunction,
    group: NativeFunctionsGroup,
    values: dict[str, str],
    written: list[str],
) -> list[str]:
    """Return statements that call the functional form, wrap new results and assign the others to mutated arguments."""
    functional = group.functional
    count = len(functional.func.returns)
    fresh = function.func.aliased_return_names().count(None)
    statements = [
        f"auto result_ = [&] {{ at::AutoDispatchSkipFunctionalize guard_; return "
        f"{_call_functional(extension, function, functional, values)}; }}();"
    ]
    statements += [f"auto fresh_{at}_ = detail::wrap({_element('result_', at, count)});" for at in range(fresh)]
    statements += [
        f"detail::replace({name}, {_element('result_', at, count)});" for at, name in enumerate(written, fresh)
    ]
    return statements


def _call_functional(
    extension: Extension, function: NativeFunction, functional: NativeFunction, values: dict[str, str]
) -> str:
    """Return the call of the functional form; an out form takes its tensor options from its out argument."""
    known = {b.name: values.get(b.name, b.name) for b in extension.signatures(function).dispatcher.arguments}
    goals = extension.signatures(functional).dispatcher.arguments
    out = function.func.arguments.out
    options = [goal for goal in goals if goal.name not in known]
    if options:
        context = [Expr(values[out[0].name], NamedCType("out", CONST_TENSOR))] if out else []
        known.update(zip([o.name for o in options], [e.expr for e in translate(context, options)], strict=True))
    return call(extension, functional, ", ".join(known[goal.name] for goal in goals))


def _element(value: str, at: int, count: int) -> str:
    return value if count == 1 else f"std::get<{at}>({value})"


def _return(function: NativeFunction, returns: str, returned: list[str | None]) -> list[str]:
    if not returned:
        return []
    fresh = iter(range(len(returned)))
    names = [f"fresh_{next(fresh)}_" if name is None else name for name in returned]
    return [f"return {names[0]};" if len(names) == 1 else f"return {returns}({', '.join(names)});"]


# ------------------------------------------------------------------------------------------ views


def _views(extension: Extension) -> Iterator[tuple[NativeFunction, _Registered]]:
    for group in extension.program.view_groups:
        if not group.composite and group.view_copy is not None and not _has_own_kernel(extension, group.view):
            yield _registered(group.view, _view(extension, group))


def _view(extension: Extension, group: NativeFunctionsViewGroup) -> str:
    """Return the kernel of a view; its captures can replay the view from another base."""
    view, copy = group.view, group.view_copy or group.view
    signature = extension.signatures(view).dispatcher
    base, *others = [binding.name for binding in signature.arguments]
    captured = ", ".join(f"{name} = detail::own({name})" for name in others)
    borrowed = {name: f"detail::borrow({name})" for name in others}
    statements = [
        f"if (!detail::is_wrapped({base})) {{",
        "  at::AutoDispatchSkipFunctionalize guard_;",
        f"  return {_call_with(extension, view, {})};",
        "}",
        f"const bool is_symbolic_ = {' || '.join(f'detail::is_symbolic({name})' for name in others) or 'false'};",
        f"auto take_ = [{captured}](const at::Tensor& {base}, bool as_view_) {{",
        f"  return as_view_ ? detail::as_list({_call_with(extension, view, borrowed)})",
        f"                 : detail::as_list({_call_with(extension, copy, borrowed)});",
        "};",
        f"return detail::wrap_{'views' if is_multi_output(view.func) else 'view'}"
        f"({base}, std::move(take_), is_symbolic_);",
    ]
    return f"{signature.defn(kernel_name(view))} {{\n{block(statements)}}}\n"
