"""An out-of-tree backend → `Register<Key>.cpp` and `RegisterAutograd<Key>.cpp`, which register its kernels.

Each kernel has a wrapper that sets a device guard and calls the class's member.  If the backend has kernels of
functional forms, out variants and in-place forms are generated from them (see `register_functional`).

    at::Tensor wrapper_PrivateUse1__abs(const at::Tensor & self) {
      return my::ops::PrivateUse1NativeFunctions::abs(self);
    }
    TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("abs", TORCH_FN(wrapper_PrivateUse1__abs)); … }

Kernels are registered when the library is loaded or, optionally, when its function
`Register<Backend><Key>NativeFunctions()` is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from opgen.backend.backend_yaml import ExternalBackend
from opgen.backend.native_class import class_header
from opgen.dest.cpp_text import string_literal
from opgen.dest.group_kernels import KernelKind, implemented_forms
from opgen.dest.kernel_calls import KernelCalls, Wrapper, block
from opgen.dest.register_functional import wrap_functional
from opgen.dest.register_helpers import device_includes, helper_functions, helper_includes
from opgen.dest.register_unstructured import wrap_kernel
from opgen.frozen_dataclass import dataclass
from opgen.model import BackendIndex, DispatchKey, NativeFunctionsGroup
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program
from opgen.releases.release import Release

_TEMPLATE: Final = "RegisterDispatchKey.cpp"
_DEFINITIONS_TEMPLATE: Final = "RegisterDispatchDefinitions.ini"


@dataclass(frozen=True, slots=True)
class RegistrationStyle:
    """How registrations include headers, and when they run."""

    header_folder: str = ""
    """The prefix of the class's header in includes."""
    build_in_tree: bool = False
    """Whether the header is included with angle brackets."""
    per_operator_headers: bool = False
    """Whether torch's per-operator headers are included."""
    eager_registration: bool = True
    """Whether kernels are registered when the library is loaded, rather than by a function."""
    backend_name: str = ""
    """A part of the function's name."""


EAGER: Final = RegistrationStyle()


def emit_registrations(
    backend: ExternalBackend, program: Program, templates: TemplateSet, style: RegistrationStyle = EAGER
) -> Iterator[OutputFile]:
    """Yield the registrations of each key that the backend has kernels for."""
    calls = KernelCalls(program, backend.class_name)
    for index in backend.indices:
        wrappers = list(_wrappers(index, calls))
        definitions = templates.render(_DEFINITIONS_TEMPLATE, _definitions_env(index, wrappers, style))
        env = {**_file_env(backend, index, style, program.release), "dispatch_definitions": [definitions]}
        yield OutputFile(f"Register{index.dispatch_key}.cpp", templates.render(_TEMPLATE, env))


def _wrappers(index: BackendIndex, calls: KernelCalls) -> Iterator[Wrapper]:
    """Yield a wrapper for each form with a kernel under the key, in program order."""
    for item in calls.program.grouped:
        for form, kind in implemented_forms(item, index):
            if kind is KernelKind.FUNCTIONAL and isinstance(item, NativeFunctionsGroup):
                yield wrap_functional(calls, item, form, index)
            else:
                yield wrap_kernel(calls, form, index)


def _file_env(
    backend: ExternalBackend, index: BackendIndex, style: RegistrationStyle, release: Release
) -> Mapping[str, object]:
    """Return the values of a source's template that don't depend on operators."""
    options = Options(install_dir=Path(), per_operator_headers=style.per_operator_headers)
    return {
        "extra_cuda_headers": device_includes(index.dispatch_key, options, release),
        "external_backend_headers": [_class_include(backend, style), *backend.extra_headers],
        "dispatch_headers": helper_includes(index.dispatch_key, options),
        "ops_headers": "" if style.per_operator_headers else "#include <ATen/Functions.h>",
        "dispatch_helpers": helper_functions(index.dispatch_key),
    }


def _class_include(backend: ExternalBackend, style: RegistrationStyle) -> str:
    folder, header = style.header_folder, class_header(backend)
    path = f"{folder}/{header}" if folder else header
    return f"#include <{path}>" if style.build_in_tree else f'#include "{path}"'


def _definitions_env(index: BackendIndex, wrappers: Sequence[Wrapper], style: RegistrationStyle) -> dict[str, object]:
    """Return the wrappers and their registrations, by template variable."""
    key, eager = index.dispatch_key, style.eager_registration
    return {
        "origin": f"kernels of {key}",
        "ns_prologue": "namespace at {",
        "ns_epilogue": "} // namespace at",
        "dispatch_namespace": key.lower(),
        "dispatch_anonymous_definitions": "\n".join([wrapper.definition for wrapper in wrappers]),
        "static_init_dispatch_registrations": _register_at_load(key, wrappers) if eager else "",
        "deferred_dispatch_registrations": "" if eager else _register_when_called(key, wrappers, style.backend_name),
        "dispatch_namespaced_definitions": "",
    }


def _by_namespace(wrappers: Iterable[Wrapper]) -> dict[str, list[str]]:
    """Return the statements that register the wrappers, by operator library."""
    statements: dict[str, list[str]] = {}
    for wrapper in wrappers:
        name = string_literal(str(wrapper.function.func.name))
        statement = f"m.impl({name}, TORCH_FN({wrapper.name}));"
        statements.setdefault(wrapper.function.namespace, []).append(statement)
    return statements


def _register_at_load(key: DispatchKey, wrappers: Iterable[Wrapper]) -> str:
    return "\n".join(
        [
            f"TORCH_LIBRARY_IMPL({namespace}, {key}, m) {{\n{block(statements)}}}"
            for namespace, statements in _by_namespace(wrappers).items()
        ]
    )


def _register_when_called(key: DispatchKey, wrappers: Iterable[Wrapper], backend_name: str) -> str:
    head = f"TORCH_API void Register{backend_name}{key}NativeFunctions()"
    libraries = _by_namespace(wrappers)
    parts = [
        f"static auto m = MAKE_TORCH_LIBRARY_IMPL({namespace}, {key});\n{block(statements, '')}"
        for namespace, statements in libraries.items()
    ]
    # Each library has its own variable, in a block if there are several.
    body = "".join(parts if len(parts) == 1 else [f"{{\n{part}}}\n" for part in parts])
    return f"{head};\n{head} {{\n{body}}}"
