"""Dispatch keys → `Register<Key>_N.cpp`: wrappers of all kernels, their registrations, their functions.

Each group of operators with kernels under a key has three parts: the wrappers, in an anonymous
namespace; their registration with the dispatcher; and functions in the key's namespace, which call the
wrappers directly.  Unselected operators are not registered, but have the other parts.

    at::Tensor wrapper_CPU__view_as_real(const at::Tensor & self) { return at::native::view_as_real(self); }
    TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("view_as_real", TORCH_FN(wrapper_CPU__view_as_real)); }
    namespace cpu { at::Tensor view_as_real(const at::Tensor & self) { … } }

`register_unstructured` and `register_structured` render the wrappers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from opgen.dest.cpp_text import string_literal
from opgen.dest.dispatch_key_files import dependency_group
from opgen.dest.group_kernels import GroupKernels, KernelKind, KernelMap
from opgen.dest.kernel_calls import KernelCalls, Wrapper, block
from opgen.dest.native_aot import stub_includes
from opgen.dest.origin import definition_place
from opgen.dest.register_helpers import device_includes, helper_functions, helper_includes, kernel_includes
from opgen.dest.register_structured import wrap_structured
from opgen.dest.register_unstructured import wrap_kernel, wrap_meta_inplace
from opgen.model import DispatchKey, NativeFunction
from opgen.output.files import OutputFile, emit_sharded
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_TEMPLATE: Final = "RegisterDispatchKey.cpp"
_DEFINITIONS_TEMPLATE: Final = "RegisterDispatchDefinitions.ini"
_CPU_SHARDS: Final = 4
"""The CPU's registrations, which every build has, are split to compile in parallel."""


def emit_register_dispatch_key(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the registrations of each dispatch key."""
    calls, kernels = KernelCalls(program, rocm=options.rocm), KernelMap(program)

    def render(group_kernels: GroupKernels) -> tuple[str, bool, str]:
        text = templates.render(_DEFINITIONS_TEMPLATE, definitions_env(group_kernels, calls, options))
        return group_kernels.first.root_name, group_kernels.has_kernel, text

    for key in options.dispatch_keys:
        yield from _emit_key(key, list(map(render, kernels.groups_under(key))), program, options, templates)


def _emit_key(
    key: DispatchKey,
    parts: Sequence[tuple[str, bool, str]],
    program: Program,
    options: Options,
    templates: TemplateSet,
) -> Iterator[OutputFile]:
    """Yield the registrations of one key."""
    yield from emit_sharded(
        templates,
        _TEMPLATE,
        _file_env(key, parts, program, options),
        parts,
        key=lambda part: part[0],
        item_env=lambda part: {"dispatch_definitions": [part[2]]},
        shards=_CPU_SHARDS if key is DispatchKey.CPU else 1,
        sharded_keys={"dispatch_definitions"},
        path=f"Register{key}.cpp",
        group=dependency_group(key, options),
    )


def _file_env(
    key: DispatchKey, parts: Sequence[tuple[str, bool, str]], program: Program, options: Options
) -> Mapping[str, object]:
    """Return the values that all shards of a key share."""
    # Without registrations, the helper functions are unused.
    needs_none = not parts and key is not DispatchKey.CompositeImplicitAutogradNestedTensor
    helpers_for = DispatchKey.Undefined if needs_none else key
    *helpers, macros = helper_includes(helpers_for, options)
    return {
        "extra_cuda_headers": device_includes(key, options, program.release),
        "external_backend_headers": "",
        "dispatch_headers": [*helpers, *stub_includes(program, key), macros],
        "ops_headers": kernel_includes(key, {name for name, has_kernel, _ in parts if has_kernel}, options),
        "dispatch_helpers": helper_functions(helpers_for),
        "dispatch_definitions": [],
    }


def definitions_env(group_kernels: GroupKernels, calls: KernelCalls, options: Options) -> Mapping[str, object]:
    """Return the definitions and registrations of one group under a key, by template variable."""
    wrappers = [wrap(calls, group_kernels, form, kind) for form, kind in group_kernels.forms]
    return {
        "origin": _origin(group_kernels, options),
        "ns_prologue": "namespace at {",
        "ns_epilogue": "} // namespace at",
        "dispatch_namespace": group_kernels.index.dispatch_key.lower(),
        "dispatch_anonymous_definitions": "\n".join([wrapper.definition for wrapper in wrappers]),
        "static_init_dispatch_registrations": render_registrations(group_kernels, wrappers, calls.program, options),
        "deferred_dispatch_registrations": "",
        "dispatch_namespaced_definitions": "\n".join([calls.public_definitions(wrapper) for wrapper in wrappers]),
    }


def _origin(group_kernels: GroupKernels, options: Options) -> str:
    """Return the comment with the group's operators and the location of the first one."""
    names = ", ".join([form.qualified_name for form, _ in group_kernels.forms])
    place = definition_place(group_kernels.first, options)
    return f"{place}: {names}" if place else names


def wrap(calls: KernelCalls, group_kernels: GroupKernels, form: NativeFunction, kind: KernelKind) -> Wrapper:
    """Return the wrapper of one form of a group."""
    if kind is KernelKind.STRUCTURED and group_kernels.group is not None:
        return wrap_structured(calls, group_kernels.group, form, group_kernels.index)
    wrap_form = wrap_meta_inplace if kind is KernelKind.META_INPLACE else wrap_kernel
    return wrap_form(calls, form, group_kernels.index)


def render_registrations(
    group_kernels: GroupKernels, wrappers: Iterable[Wrapper], program: Program, options: Options
) -> str:
    """Return the registrations of the wrappers of selected operators; empty if there are none."""
    if options.skip_dispatcher_op_registration:
        return ""
    registrations = [
        f"m.impl({string_literal(str(wrapper.function.func.name))}, TORCH_FN({wrapper.name}));"
        for wrapper in wrappers
        if program.selector.is_native_function_selected(wrapper.function)
    ]
    if not registrations:
        return ""
    head = f"TORCH_LIBRARY_IMPL({group_kernels.first.namespace}, {group_kernels.index.dispatch_key}, m)"
    return f"{head} {{\n{block(registrations)}}}"
