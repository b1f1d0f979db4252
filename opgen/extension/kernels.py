"""The kernels that operators name → the declarations that their authors' definitions must match.

`ops/blend_native.h` declares an operator's kernels in their namespaces, and
`ops/blend_meta.h` the class whose `meta` is the shape function of a structured one; `NativeFunctions.h`
and `NativeMetaFunctions.h` include them all.  A kernel whose definition differs from its declaration is a compiler
or linker error.

    struct MYLIB_API structured_blend_out : public mylib::meta::structured_blend {
      void impl(const at::Tensor & self, const at::Tensor & other, const at::Tensor & out);
    };
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Final, TypeAlias

from opgen.api import structured
from opgen.api.types import render_defns
from opgen.dest.includes import by_root_name
from opgen.dest.meta_functions import render_precomputed
from opgen.extension.batching import batch_rule_signature
from opgen.extension.extension import Extension
from opgen.extension.includes import header, include_all, operator_headers, render_file, type_includes
from opgen.extension.operators import origin
from opgen.frozen_dataclass import dataclass
from opgen.model import BackendIndex, BackendMetadata, DispatchKey, NativeFunction, NativeFunctionsGroup
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

_Group: TypeAlias = NativeFunction | NativeFunctionsGroup

_KNOWN_PARENTS: Final = MappingProxyType({"TensorIteratorBase": "ATen/TensorIterator.h"})
"""torch's base classes of shape functions, by their names in `at`, and their headers."""


def emit_native_headers(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `NativeFunctions.h`, `NativeMetaFunctions.h`, `MetaBase.h` and the headers that they include."""
    groups = by_root_name(extension.program.grouped)
    yield render_file(extension, templates, "MetaBase.h", "MetaBase.h")
    with_meta = [name for name, items in groups.items() if any(_is_structured(item) for item in items)]
    for name, items in groups.items():
        yield _native_header(extension, templates, name, items, has_meta=name in with_meta)
        if name in with_meta:
            yield _meta_header(extension, templates, name, items)
    yield include_all(extension, templates, "NativeFunctions.h", operator_headers(extension, "_native"))
    metas = operator_headers(extension, "_meta", with_meta)
    yield include_all(extension, templates, "NativeMetaFunctions.h", metas)


def _is_structured(item: _Group) -> bool:
    return isinstance(item, NativeFunctionsGroup) and item.structured


# ------------------------------------------------------------------------------- shape functions


def _meta_header(extension: Extension, templates: TemplateSet, name: str, items: Iterable[_Group]) -> OutputFile:
    groups = [item for item in items if isinstance(item, NativeFunctionsGroup) and item.structured]
    parents = [group.out.structured_inherits for group in groups]
    includes = list(dict.fromkeys(_parent_header(parent) for parent in parents if parent is not None))
    classes = [_meta_class(extension, group) for group in groups]
    return render_file(
        extension,
        templates,
        f"ops/{name}_meta.h",
        "MetaHeader.h",
        includes=includes,
        type_includes=type_includes(classes),
        classes=classes,
    )


def _parent_header(parent: str) -> str:
    """Return the header of a shape function's base class: the author's header has the name of the class."""
    known = _KNOWN_PARENTS.get(parent.removeprefix("at::"))
    return known or f"{parent.replace('::', '/')}.h"


def _meta_class(extension: Extension, group: NativeFunctionsGroup) -> str:
    signatures = extension.program.group_signatures(group)
    parent = group.out.structured_inherits or f"{extension.namespace}::MetaBase"
    if parent in _KNOWN_PARENTS:
        parent = f"at::{parent}"
    returns, before = "void", ""
    if group.out.precomputed is not None:
        values = [structured.argument(a) for a in group.out.precomputed.added_and_replacing()]
        returns, before = "meta_return_ty", render_precomputed(values).replace("TORCH_API ", "")
    return (
        f"struct {extension.macro_prefix}_API structured_{signatures.meta_name} : public {parent} {{\n"
        f"{before}"
        f"  {returns} meta({render_defns(signatures.meta_arguments)});\n"
        "};"
    )


# --------------------------------------------------------------------------------------- kernels


@dataclass(frozen=True, slots=True)
class _Block:
    """A C++ namespace and its declarations."""

    name: str
    declarations: tuple[str, ...]


def _native_header(
    extension: Extension, templates: TemplateSet, name: str, items: Iterable[_Group], *, has_meta: bool
) -> OutputFile:
    blocks: dict[str, dict[str, NativeFunction]] = {}
    for item in items:
        for kernel, form, declaration in _declarations(extension, item):
            blocks.setdefault(kernel.cpp_namespace, {}).setdefault(declaration, form)
    includes = [header(extension, f"ops/{name}_meta.h")] if has_meta else []
    return render_file(
        extension,
        templates,
        f"ops/{name}_native.h",
        "NativeHeader.h",
        includes=includes,
        type_includes=type_includes(text for declared in blocks.values() for text in declared),
        blocks=[
            _Block(space, tuple(f"// {origin(extension, form)}\n{text}" for text, form in declared.items()))
            for space, declared in blocks.items()
        ],
    )


def _declarations(extension: Extension, item: _Group) -> Iterator[tuple[BackendMetadata, NativeFunction, str]]:
    """Yield the kernels of a function or group by key, with their forms and declarations."""
    forms = tuple(item.functions()) if isinstance(item, NativeFunctionsGroup) else (item,)
    for index in extension.program.backend_indices.values():
        for form in forms:
            kernel = index.get_kernel(form)
            if kernel is None:
                continue
            if kernel.structured and isinstance(item, NativeFunctionsGroup):
                yield kernel, form, structured_class(extension, kernel, item)
            else:
                yield kernel, form, _kernel_declaration(extension, index, kernel, form)


def _kernel_declaration(
    extension: Extension, index: BackendIndex, kernel: BackendMetadata, function: NativeFunction
) -> str:
    if index.dispatch_key is DispatchKey.FuncTorchBatched:
        return f"{extension.macro_prefix}_API {batch_rule_signature(extension, function, kernel)};"
    declaration = extension.signatures(function).kernel(index).decl(kernel.kernel)
    return f"{extension.macro_prefix}_API {declaration};"


def structured_class(extension: Extension, kernel: BackendMetadata, group: NativeFunctionsGroup) -> str:
    """Return the class of a structured kernel."""
    signatures = extension.program.group_signatures(group)
    parent = f"{extension.namespace}::meta::structured_{signatures.meta_name}"
    return (
        f"struct {extension.macro_prefix}_API structured_{kernel.kernel} : public {parent} {{\n"
        f"  void impl({render_defns(signatures.impl_arguments)});\n"
        "};"
    )
