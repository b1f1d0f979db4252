"""Derived forms → `CompositeKernels.cpp`, with their generated kernels.

The `_copy` form of a view copies the view; a functional form copies the arguments that the mutating form
writes to; an out form copies the results of the functional form.

    at::Tensor & norm_out(const at::Tensor & self, double p, at::Tensor & out) {
      auto result = ::mylib::_ops::norm::call(self, p);
      ::mylib::detail::composite_kernels::write_out(out, result);
      return out;
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.api.signatures import DispatcherSignature, NativeSignature
from opgen.api.translate import translate
from opgen.api.types import CONST_TENSOR, MUTABLE_TENSOR, Binding, CType, Expr, NamedCType
from opgen.dest.kernel_calls import block
from opgen.dispatch_keys import DispatchKey
from opgen.extension.extension import Extension
from opgen.extension.includes import operator_headers, render_file
from opgen.extension.operators import call
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, NativeFunctionsGroup, NativeFunctionsViewGroup, get_view_copy_name
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

_KEYS = (DispatchKey.CompositeExplicitAutograd, DispatchKey.CompositeExplicitAutogradNonFunctional)


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel to generate: its namespace and signature."""

    namespace: str
    name: str
    signature: NativeSignature | DispatcherSignature

    def definition(self, statements: list[str]) -> str:
        """Return the kernel in its namespace."""
        body = f"{self.signature.defn(self.name)} {{\n{block(statements)}}}"
        return f"namespace {self.namespace} {{\n{body}\n}} // namespace {self.namespace}\n"

    def result(self, values: list[str]) -> list[str]:
        """Return the return statement, if any."""
        if not values:
            return []
        value = values[0] if len(values) == 1 else f"{self.signature.returns}({', '.join(values)})"
        return [f"return {value};"]


def emit_composites(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `CompositeKernels.cpp`, if any kernel is generated."""
    made = [*_view_copies(extension), *_derived(extension)]
    if not made:
        return
    names = {function.root_name for function, _ in made} | {
        group.view_copy.root_name for group in extension.program.view_groups if group.view_copy is not None
    }
    includes = [*operator_headers(extension, "_ops", names), *operator_headers(extension, "_native", names)]
    yield render_file(
        extension,
        templates,
        "CompositeKernels.cpp",
        "CompositeKernels.cpp",
        includes=includes,
        definitions=[text for _, text in made],
    )


def _helper(extension: Extension, name: str) -> str:
    """Return the qualified name of a helper function of the file."""
    return f"::{extension.namespace}::detail::composite_kernels::{name}"


def _view_copies(extension: Extension) -> Iterator[tuple[NativeFunction, str]]:
    for group in extension.program.view_groups:
        copy = group.view_copy
        if copy is None or copy.func.name != get_view_copy_name(group.view):
            continue
        kernel = _kernel(extension, copy, DispatchKey.CompositeExplicitAutogradNonFunctional)
        if kernel is not None:
            yield group.view, _view_copy(extension, group, kernel)


def _view_copy(extension: Extension, group: NativeFunctionsViewGroup, kernel: _Kernel) -> str:
    goals = extension.signatures(group.view).dispatcher.arguments
    arguments = ", ".join(expr.expr for expr in translate(kernel.signature.arguments, goals))
    return kernel.definition([f"return {_helper(extension, 'copy_view')}({call(extension, group.view, arguments)});"])


def _derived(extension: Extension) -> Iterator[tuple[NativeFunction, str]]:
    for group in extension.program.groups:
        for function, render in ((group.functional, _functional), (group.out, _out)):
            if "generated" in function.tags:
                kernel = _kernel(extension, function, DispatchKey.CompositeExplicitAutograd)
                if kernel is not None:
                    yield function, render(extension, group, kernel)


def _kernel(extension: Extension, function: NativeFunction, key: DispatchKey) -> _Kernel | None:
    index = extension.program.backend_indices.get(key)
    found = index.get_kernel(function) if index is not None else None
    if index is None or found is None:
        return None
    return _Kernel(found.cpp_namespace, found.kernel, extension.signatures(function).kernel(index))


def _functional(extension: Extension, group: NativeFunctionsGroup, kernel: _Kernel) -> str:
    """Return the kernel of a functional form, which calls the mutating form on copies."""
    origin = group.inplace or group.mutable or group.functional
    written = [a.name for a in origin.func.arguments.flat_all if a.is_write]
    copies = {name: f"{name}_copy" for name in written}
    context = [
        Expr(copies[b.name], NamedCType(b.name, _copied_type(b))) if b.name in copies else b
        for b in kernel.signature.arguments
    ]
    exprs = translate(context, extension.signatures(origin).dispatcher.arguments)
    returned = origin.func.aliased_return_names()
    fresh = [
        "result_" if len(returned) == 1 else f"std::get<{at}>(result_)"
        for at, argument in enumerate(returned)
        if argument is None
    ]
    called = call(extension, origin, ", ".join(expr.expr for expr in exprs))
    return kernel.definition(
        [
            *[f"auto {copy} = {_helper(extension, 'copy_argument')}({name});" for name, copy in copies.items()],
            f"{'[[maybe_unused]] auto result_ = ' if returned else ''}{called};",
            *kernel.result([*fresh, *copies.values()]),
        ]
    )


def _copied_type(binding: Binding) -> CType:
    """Return the C++ type of a mutable copy."""
    return MUTABLE_TENSOR if binding.nctype.type == CONST_TENSOR else binding.nctype.type


def _out(extension: Extension, group: NativeFunctionsGroup, kernel: _Kernel) -> str:
    """Return the kernel of an out form, which copies the results of the functional form."""
    outs = [argument.name for argument in group.out.func.arguments.out]
    # The tensor options of the functional form are those of the out argument, whatever its name.
    context: list[Expr | Binding] = [Expr(outs[0], NamedCType("out", CONST_TENSOR)), *kernel.signature.arguments]
    origin = group.mutable if group.mutable is not None and group.mutable.func.returns else group.functional
    exprs = translate(context, extension.signatures(origin).dispatcher.arguments)
    called = call(extension, origin, ", ".join(expr.expr for expr in exprs))
    count = len(origin.func.returns)
    results = ["result_"] if count == 1 else [f"std::get<{at}>(result_)" for at in range(len(outs))]
    return kernel.definition(
        [
            f"auto result_ = {called};",
            *[
                f"{_helper(extension, 'write_out')}({out}, {result});"
                for out, result in zip(outs, results, strict=True)
            ],
            *kernel.result(outs if group.out.func.returns else []),
        ]
    )
