"""Dispatch keys → `Register<Key>.cpp`, which wraps and registers kernels, and the functions of `mylib::cpu`.

A wrapper sets a device guard if the key's backend has several devices, and calls the author's kernel; for a
structured kernel it makes the outputs that the form needs (see the template `detail/Structured.h`).

    at::Tensor wrapper_CPU__blend(const at::Tensor & self, const at::Tensor & other) {
      detail::Functional<mylib::native::structured_blend_out, Memory, 1> op;
      op.meta(self, other);
      op.impl(self, other, op.outputs_[0]);
      return std::move(op.outputs_[0]);
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from opgen.dest.cpp_text import string_literal
from opgen.dest.device_guards import device_check, device_guard
from opgen.dest.group_kernels import GroupKernels, KernelKind
from opgen.dest.kernel_calls import KernelCalls, Wrapper, block
from opgen.dest.register_unstructured import wrap_meta_inplace, wrapper_name
from opgen.dispatch_keys import DispatchKey, is_cuda_dispatch_key
from opgen.extension.backends import Backend, backend
from opgen.extension.batching import is_decomposed_by_vmap, wrap_batch_rule
from opgen.extension.extension import Extension
from opgen.extension.includes import header, include_all, operator_headers, render_file, type_includes
from opgen.extension.operators import origin
from opgen.extension.structured import wrap_structured
from opgen.frozen_dataclass import dataclass
from opgen.model import BackendIndex, NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

_GENERATED_KEYS: Final = (DispatchKey.ADInplaceOrView, DispatchKey.Batched, DispatchKey.Functionalize)
"""Keys with a separate file for generated kernels."""


def emit_backend_headers(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `CPUFunctions.h` and the `ops/…_cpu_dispatch.h` that it includes, for each key."""
    for key in filter(has_functions, extension.keys):
        declared: dict[str, list[str]] = {}
        for group_kernels in extension.groups_under(key):
            lines = declared.setdefault(group_kernels.first.root_name, [])
            for form, _ in group_kernels.forms:
                lines += [signature.decl() for signature in extension.signatures(form).cpp_backend.signatures()]
        suffix = f"_{key.lower()}_dispatch"
        for name, declarations in declared.items():
            yield render_file(
                extension,
                templates,
                f"ops/{name}{suffix}.h",
                "BackendHeader.h",
                backend=key.lower(),
                declarations=declarations,
                type_includes=type_includes(declarations),
            )
        yield include_all(extension, templates, f"{key}Functions.h", operator_headers(extension, suffix, declared))


def emit_structured_headers(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the helper headers for the registrations of structured kernels."""
    if extension.program.structured_groups:
        for path in ("detail/Structured.h", "detail/Elementwise.h"):
            yield render_file(extension, templates, path, path)


def emit_registrations(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the registrations of each key that has kernels."""
    calls = KernelCalls(extension.program)
    for key in extension.keys:
        yield _registrations(extension, calls, key, templates)


def has_functions(key: DispatchKey) -> bool:
    """Return whether kernels under the key can be called directly, bypassing the dispatcher: only those of backends."""
    return key is not DispatchKey.FuncTorchBatched


@dataclass(frozen=True, slots=True)
class _Registered:
    """The template values of a wrapper."""

    origin: str
    operator: str
    function: str
    """The registered function: the wrapper, unboxed or boxed."""
    definition: str


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of the key's namespace."""

    definition: str
    call: str


def _registrations(extension: Extension, calls: KernelCalls, key: DispatchKey, templates: TemplateSet) -> OutputFile:
    group_kernels, known = tuple(extension.groups_under(key)), backend(key)
    wrappers = [_wrap(extension, calls, each, form, kind) for each in group_kernels for form, kind in each.forms]
    allocates = any(kind is KernelKind.STRUCTURED for each in group_kernels for _, kind in each.forms)
    env = {
        "key": str(key),
        "backend": key.lower(),
        "unit": f"register_{key.lower()}",
        "includes": [*_includes(extension, known, group_kernels, allocates), *_device_includes(key)],
        "allocates": allocates,
        "finds_devices": any("(device_in(" in wrapper.definition for wrapper in wrappers),
        "wrappers": [_registered(extension, wrapper) for wrapper in wrappers],
        "decomposed": [
            _registered(extension, w) for w in wrappers if is_decomposed_by_vmap(extension, w.function, key)
        ],
        "functions": list(_functions(calls, wrappers)) if has_functions(key) else [],
        **_memory(known),
    }
    name = f"Register{key}Kernels.cpp" if key in _GENERATED_KEYS else f"Register{key}.cpp"
    file = render_file(extension, templates, name, "RegisterKernels.cpp", **env)
    return OutputFile(file.path, file.text, group=known.source_group)


def _memory(known: Backend) -> dict[str, str]:
    """Return how outputs of structured kernels are allocated."""
    own = known.allocator
    return {
        "empty": f"at::detail::empty_{own.suffix}" if own else "at::empty",
        "empty_strided": f"at::detail::empty_strided_{own.suffix}" if own else "at::empty_strided",
        "memory_options": "options.device(at::kMeta)" if known.device == "Meta" else "options",
        "guard": "OneDeviceGuard" if known.has_many_devices else "NoGuard",
    }


def _includes(
    extension: Extension, known: Backend, group_kernels: Iterable[GroupKernels], allocates: bool
) -> Iterator[str]:
    if allocates:
        if known.allocator is not None:
            yield known.allocator.include
        yield header(extension, "detail/Structured.h")
        yield header(extension, "detail/Elementwise.h")
    if known.key is DispatchKey.FuncTorchBatched:
        yield header(extension, "detail/Batching.h")
    if any(form.is_boxed for each in group_kernels for form, _ in each.forms):
        yield header(extension, "detail/Boxing.h")
    names = {each.first.root_name for each in group_kernels}
    yield from operator_headers(extension, "_native", names)
    yield from operator_headers(extension, "_ops", names)
    if has_functions(known.key):
        yield from operator_headers(extension, f"_{known.key.lower()}_dispatch", names)


def _device_includes(key: DispatchKey) -> tuple[str, ...]:
    return ("ATen/Context.h",) if is_cuda_dispatch_key(key) else ()


def _wrap(
    extension: Extension, calls: KernelCalls, group_kernels: GroupKernels, form: NativeFunction, kind: KernelKind
) -> Wrapper:
    if group_kernels.index.dispatch_key is DispatchKey.FuncTorchBatched:
        return wrap_batch_rule(extension, form, group_kernels.index)
    if kind is KernelKind.STRUCTURED and group_kernels.group is not None:
        return wrap_structured(extension, group_kernels.group, form, group_kernels.index)
    if kind is KernelKind.META_INPLACE:
        return wrap_meta_inplace(calls, form, group_kernels.index)
    return _wrap_kernel(calls, form, group_kernels.index)


def _wrap_kernel(calls: KernelCalls, function: NativeFunction, index: BackendIndex) -> Wrapper:
    """Return the wrapper of an operator's kernel under a key."""
    kernel = index.index[function.func.name]
    arguments = calls.kernel_arguments(function, index)
    name = wrapper_name(function, index.dispatch_key)
    statements = [
        *device_check(function, index, name),
        *device_guard(function, index),
        f"return ::{kernel.cpp_namespace}::{kernel.kernel}({arguments});",
    ]
    signature = calls.program.signatures(function).dispatcher
    return Wrapper(function, name, signature, f"{signature.defn(name)} {{\n{block(statements)}}}\n")


def _registered(extension: Extension, wrapper: Wrapper) -> _Registered:
    name = string_literal(str(wrapper.function.func.name))
    is_boxed = wrapper.function.is_boxed
    function = f"::{extension.namespace}::detail::boxed<&{wrapper.name}>()" if is_boxed else f"TORCH_FN({wrapper.name})"
    return _Registered(origin(extension, wrapper.function), name, function, wrapper.definition)


def _functions(calls: KernelCalls, wrappers: Iterable[Wrapper]) -> Iterator[_Function]:
    for wrapper in wrappers:
        for head, arguments in calls.public_calls(wrapper):
            yield _Function(head, f"{wrapper.name}({arguments})")
