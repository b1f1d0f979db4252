"""Kernels that operators name → `mylib/Kernels.h`, which declares them, and `Register….cpp`, which registers them.

`Register.cpp` also defines the schemas. The registrations of each device are in a separate source, because only
builds for the device compile its kernels.

    torch::stable::Tensor blend(const torch::stable::Tensor & self, double by);            // Kernels.h

    STABLE_TORCH_LIBRARY_IMPL(mylib, CPU, m) { m.impl("blend", TORCH_BOX(&kernel_CPU_blend)); }    // Register.cpp
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.dest.cpp_text import string_literal
from opgen.dest.group_kernels import KernelKind
from opgen.dispatch_keys import DispatchKey
from opgen.extension.backends import backend
from opgen.extension.extension import Extension
from opgen.extension.includes import header, render_file
from opgen.extension.operators import origin
from opgen.extension.python_bindings import BINDINGS_GROUP
from opgen.frozen_dataclass import dataclass
from opgen.model import Argument, BackendMetadata, BaseTy, BaseType, DeviceCheckType, ListType, NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.releases.release import Release
from opgen.stable.types import boxed_result, headers_of, kernel_result, parameter_type

TARGET_MACRO: Final = "TORCH_TARGET_VERSION"
"""The macro that sets the oldest release that a library supports, for torch's headers."""
REGISTRATIONS: Final = "Register.cpp"
"""The source that defines the schemas."""
_PYTHON_MODULE: Final = "PythonModule.cpp"
_TENSOR: Final = BaseType(BaseTy.Tensor)


def target_definition(release: Release) -> str:
    """Return the definition that every source is compiled with: `TORCH_TARGET_VERSION=0x020a000000000000ULL`."""
    return f"{TARGET_MACRO}={_target_value(release)}"


def _target_value(release: Release) -> str:
    major, minor = release.version
    return f"0x{major:02x}{minor:02x}000000000000ULL"


# ---------------------------------------------------------------------------------------- header


@dataclass(frozen=True, slots=True)
class _Block:
    """A C++ namespace and its declarations."""

    name: str
    declarations: tuple[str, ...]


def emit_kernel_header(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `Kernels.h`."""
    release = extension.options.stable_abi
    assert release is not None
    blocks: dict[str, dict[str, None]] = {}
    for key in extension.keys:
        for function, kernel in _kernels(extension, key):
            declaration = f"{kernel_result(function.func)} {kernel.kernel}({_parameters(function)});"
            blocks.setdefault(kernel.cpp_namespace, {})[declaration] = None
    yield render_file(
        extension,
        templates,
        "Kernels.h",
        "Kernels.h",
        macro=TARGET_MACRO,
        target=_target_value(release),
        release=release.name,
        includes=headers_of(declaration for block in blocks.values() for declaration in block),
        blocks=[_Block(name, tuple(block)) for name, block in blocks.items()],
    )


def _kernels(extension: Extension, key: DispatchKey) -> Iterator[tuple[NativeFunction, BackendMetadata]]:
    """Yield the operators with a kernel under `key`; derived forms have their kernels in Python."""
    for group_kernels in extension.groups_under(key):
        for function, kind in group_kernels.forms:
            kernel = group_kernels.index.get_kernel(function)
            if kind is KernelKind.KERNEL and kernel is not None and "generated" not in function.tags:
                yield function, kernel


def _parameters(function: NativeFunction) -> str:
    arguments = function.func.arguments.flat_all
    return ", ".join([f"{parameter_type(argument)} {argument.name}" for argument in arguments])


# --------------------------------------------------------------------------------- registrations


@dataclass(frozen=True, slots=True)
class _Definition:
    """A schema as a C++ literal, and its tags."""

    schema: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Registered:
    """The template values of a kernel's wrapper."""

    origin: str
    operator: str
    name: str
    result: str
    parameters: str
    statements: tuple[str, ...]
    call: str


@dataclass(frozen=True, slots=True)
class _Key:
    """The registrations under a dispatch key."""

    name: str
    kernels: tuple[_Registered, ...]


def emit_registrations(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `Register.cpp`, and `Register<Key>.cpp` for each key of a device."""
    release = extension.options.stable_abi
    assert release is not None
    keys = [(key, _registered(extension, key)) for key in extension.keys]
    here = [_Key(str(key), kernels) for key, kernels in keys if kernels and not backend(key).source_group]
    functions = extension.program.functions
    definitions = [_Definition(string_literal(extension.signatures(f).schema), _tags(f, release)) for f in functions]
    yield _source(extension, templates, REGISTRATIONS, here, "", definitions=definitions)
    for key, kernels in keys:
        group = backend(key).source_group
        if group and kernels:
            yield _source(extension, templates, f"Register{key}.cpp", [_Key(str(key), kernels)], group, definitions=[])


def _source(
    extension: Extension,
    templates: TemplateSet,
    path: str,
    keys: list[_Key],
    group: str,
    *,
    definitions: list[_Definition],
) -> OutputFile:
    file = render_file(
        extension,
        templates,
        path,
        "Register.cpp",
        kernels_header=header(extension, "Kernels.h"),
        keys=keys,
        definitions=definitions,
        definition_macro=_macro(extension, "_FRAGMENT" if extension.options.is_fragment else ""),
        implementation_macro=_macro(extension, "_IMPL"),
        library="TORCH_EXTENSION_NAME" if extension.options.kernel_builder else extension.namespace,
        has_module=extension.options.kernel_builder and path == REGISTRATIONS,
        guards=bool(group),
    )
    return OutputFile(file.path, file.text, file.root, group)


def _macro(extension: Extension, kind: str) -> str:
    """Return torch's macro for a block of registrations, or kernel-builder's, which expands the name first."""
    return f"STABLE_TORCH_LIBRARY{kind}{'_EXPAND' if extension.options.kernel_builder else ''}"


def _tags(function: NativeFunction, release: Release) -> tuple[str, ...]:
    return tuple([f"torch::headeronly::Tag::{tag}" for tag in sorted(function.tags & release.stable_tags)])


def _registered(extension: Extension, key: DispatchKey) -> tuple[_Registered, ...]:
    return tuple([_wrap(extension, function, kernel, key) for function, kernel in _kernels(extension, key)])


def _wrap(extension: Extension, function: NativeFunction, kernel: BackendMetadata, key: DispatchKey) -> _Registered:
    func = function.func
    call = f"::{kernel.cpp_namespace}::{kernel.kernel}({', '.join([a.name for a in func.arguments.flat_all])})"
    return _Registered(
        origin=origin(extension, function),
        operator=string_literal(str(func.name)),
        name=f"kernel_{key}_{func.name.unambiguous_name()}",
        result=boxed_result(func),
        parameters=_parameters(function),
        statements=tuple(_device_statements(function, key)),
        call=call,
    )


def _device_statements(function: NativeFunction, key: DispatchKey) -> Iterator[str]:
    """Yield the statements that check the tensors' devices and set the current device."""
    if not backend(key).has_many_devices:
        return
    tensors = [a.name for a in _device_arguments(function) if a.type == _TENSOR]
    if function.device_check is not DeviceCheckType.NoCheck and len(tensors) > 1:
        names = ", ".join([f"&{tensor}" for tensor in tensors])
        yield f'check_devices("{function.qualified_name}", {{{names}}});'
    index = _device_index(function)
    if function.device_guard and index:
        yield f"const torch::stable::accelerator::DeviceGuard device_guard_({index});"


def _device_index(function: NativeFunction) -> str:
    """Return the index of the current device, from a tensor, a list of tensors or a factory's option."""
    options = function.func.arguments.tensor_options
    if options is not None:
        device = options.device.name
        return f"device_index({device})"
    for argument in _device_arguments(function):
        if argument.type == _TENSOR:
            return f"{argument.name}.get_device_index()"
        if isinstance(argument.type, ListType) and argument.type.elem == _TENSOR:
            return f"device_index({argument.name})"
    return ""


def _device_arguments(function: NativeFunction) -> list[Argument]:
    """Return the arguments that determine the device; keyword-only tensors may be on any device."""
    arguments = function.func.arguments
    return [*arguments.flat_positional, *arguments.out]


# --------------------------------------------------------------------------------- Python module


def emit_python_module(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `PythonModule.cpp`, an empty module: importing it loads the library."""
    if extension.python is not None:
        file = render_file(extension, templates, _PYTHON_MODULE, _PYTHON_MODULE)
        yield OutputFile(file.path, file.text, file.root, BINDINGS_GROUP)
