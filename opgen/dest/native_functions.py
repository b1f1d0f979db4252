"""The kernels that operators name → their C++ declarations, in the kernels' namespaces.

`NativeFunctions.h` has all of them, or one header per operator, `ops/add_native.h`.  A structured kernel
is declared as a class whose `impl` its author defines; any other as a function.

    struct TORCH_API structured_ufunc_add_CPU : public at::meta::structured_add_Tensor {
      void impl(const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha, const at::Tensor & out);
    };
    TORCH_API at::Tensor add_sparse(const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha=1);

A kernel of several operators or keys is declared once per header.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from opgen.api.types import render_defns
from opgen.dest.includes import by_root_name, ops_include
from opgen.model import (
    DEFAULT_KERNEL_NAMESPACE,
    BackendIndex,
    BackendMetadata,
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
    OperatorName,
)
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_Group: TypeAlias = NativeFunction | NativeFunctionsGroup
_Declared: TypeAlias = tuple[str, str]
"""A declaration, split at its export macro."""

EXPORT: Final = "TORCH_API"
"""The default export macro of declarations."""


def emit_native_headers(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `NativeFunctions.h` and the `ops/…_native.h`."""
    kernels = _Kernels(program.backend_indices.values())
    if options.per_operator_headers:
        for root_name, groups in by_root_name(program.grouped).items():
            yield _emit_operator(program, kernels, templates, root_name, groups)
        root_names = {group.root_name for group in program.grouped}
        includes = [ops_include(root_name, "_native") for root_name in sorted(root_names)]
        declarations: list[str] = []
    else:
        includes = ["#include <ATen/NativeMetaFunctions.h>"]
        declarations = _render_namespaces(program, kernels, program.grouped)
    env = {"NativeFunctions_includes": includes, "NativeFunctions_declarations": declarations}
    yield OutputFile("NativeFunctions.h", templates.render("NativeFunctions.h", env))


def _emit_operator(
    program: Program, kernels: _Kernels, templates: TemplateSet, root_name: str, groups: Iterable[_Group]
) -> OutputFile:
    has_meta = any(isinstance(g, NativeFunctionsGroup) and g.structured for g in groups)
    env = {
        "extra_includes": ops_include(root_name, "_meta") if has_meta else "",
        "native_function_declarations": _render_namespaces(program, kernels, groups),
    }
    text = templates.render("NativeFunction.h", env)
    return OutputFile(f"ops/{root_name}_native.h", text, group="ops_", operator=root_name)


def _render_namespaces(program: Program, kernels: _Kernels, groups: Iterable[_Group]) -> list[str]:
    """Return a block for each namespace with kernels of these operators; an empty one if there are no kernels."""
    blocks: dict[str, dict[_Declared, str]] = {}
    for group in groups:
        for kernel, declared, export in _declarations(program, kernels, group):
            # A kernel of several keys has the export macro of the first one.
            blocks.setdefault(kernel.cpp_namespace, {}).setdefault(declared, export)
    if not blocks:
        blocks[DEFAULT_KERNEL_NAMESPACE] = {}
    return [
        _render_namespace(name, [f"{word}{export} {rest}" for (word, rest), export in declarations.items()])
        for name, declarations in blocks.items()
    ]


def _render_namespace(name: str, declarations: Iterable[str]) -> str:
    parts = name.split("::")
    opened = "".join([f"namespace {part} {{\n" for part in parts])
    closed = "".join([f"}} // namespace {part}\n" for part in reversed(parts)])
    return opened + "".join([f"{declaration}\n" for declaration in declarations]) + closed


def _declarations(
    program: Program, kernels: _Kernels, group: _Group
) -> Iterator[tuple[BackendMetadata, _Declared, str]]:
    """Yield the kernels of a function or group by key, each with its declaration and export macro."""
    if isinstance(group, NativeFunction):
        for index, kernel in kernels.of(group):
            declared = _declare_function(program, index, kernel, group)
            yield kernel, declared, _kernel_export(program, index, kernel)
        return
    kernels_by_key = [
        (index, kernel, function) for function in group.functions() for index, kernel in kernels.of(function)
    ]
    for index, kernel, function in sorted(kernels_by_key, key=lambda item: kernels.position(item[0])):
        if kernel.structured:
            export = program.release.class_exports.get(index.dispatch_key, EXPORT)
            yield kernel, _declare_class(program, kernel, group), export
        else:
            declared = _declare_function(program, index, kernel, function)
            yield kernel, declared, _kernel_export(program, index, kernel)


def _kernel_export(program: Program, index: BackendIndex, kernel: BackendMetadata) -> str:
    release = program.release
    if kernel.kernel in release.exported_kernels:
        return EXPORT
    return release.kernel_exports.get(index.dispatch_key, EXPORT)


def _declare_function(
    program: Program, index: BackendIndex, kernel: BackendMetadata, function: NativeFunction
) -> _Declared:
    return "", f"{program.signatures(function).kernel(index).decl(kernel.kernel)};"


def _declare_class(program: Program, kernel: BackendMetadata, group: NativeFunctionsGroup) -> _Declared:
    signatures = program.group_signatures(group)
    return "struct ", (
        f"structured_{kernel.kernel} : public at::meta::structured_{signatures.meta_name} {{\n"
        f"  void impl({render_defns(signatures.impl_arguments)});\n"
        "};"
    )


def render_structured_class(
    program: Program, index: BackendIndex, kernel: BackendMetadata, group: NativeFunctionsGroup
) -> str:
    """Return the class of a structured kernel."""
    word, rest = _declare_class(program, kernel, group)
    return f"{word}{program.release.class_exports.get(index.dispatch_key, EXPORT)} {rest}"


class _Kernels:
    """The kernels of each operator, under the keys in their order."""

    def __init__(self, indices: Iterable[BackendIndex]) -> None:
        self._of: dict[OperatorName, list[tuple[BackendIndex, BackendMetadata]]] = {}
        self._positions: dict[DispatchKey, int] = {}
        for index in indices:
            self._positions[index.dispatch_key] = len(self._positions)
            for name, kernel in index.index.items():
                self._of.setdefault(name, []).append((index, kernel))

    def of(self, function: NativeFunction) -> Sequence[tuple[BackendIndex, BackendMetadata]]:
        """Return the kernels of one operator."""
        return self._of.get(function.func.name, ())

    def position(self, index: BackendIndex) -> int:
        """Return the position of the index's key among the keys."""
        return self._positions[index.dispatch_key]
