"""The operators of an extension → `Shims.cpp`, that AOTInductor's models call, and `aoti.py`.

`Shims.cpp` has a C function for each operator with a kernel for CPU or for all devices; `ShimsCUDA.cpp` and the like
are for other devices.  The module `aoti` of the Python package has what a model must be compiled with.

    AOTITorchError aoti_mylib_cpu_blend(AtenTensorHandle self, AtenTensorHandle other, AtenTensorHandle* ret0) {
      AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
        auto result_ = ::mylib::cpu::blend(resolve_tensor_dispatch_flags(self), resolve_tensor_dispatch_flags(other));
        *ret0 = new_tensor_handle(std::move(result_));
      });
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from opgen.api.c_shim import call_name
from opgen.api.types import UnsupportedTypeError
from opgen.diagnostics import Diagnostic
from opgen.dispatch_keys import DispatchKey
from opgen.extension.backends import backend
from opgen.extension.extension import Extension
from opgen.extension.includes import operator_headers, render_file
from opgen.extension.schemas import registered_tags
from opgen.extension.shim_signatures import ShimSignature, is_called_by_models, shim_signature
from opgen.frontend.fallback_ops import packaged_shim_names
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, SchemaKind
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

_DEVICES: Final[Mapping[DispatchKey, str]] = MappingProxyType(
    {DispatchKey.CPU: "cpu", DispatchKey.CUDA: "cuda", DispatchKey.XPU: "xpu", DispatchKey.MPS: "mps"}
)
"""The devices that AOTInductor compiles for, by the keys of their kernels."""
_COMPOSITE_KEYS: Final = (
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)
"""Keys whose kernels are used for devices without a kernel."""


@dataclass(frozen=True, slots=True)
class Shim:
    """The C function of a kernel."""

    function: NativeFunction
    key: DispatchKey
    symbol: str
    """Its name: `aoti_mylib_cpu_blend`."""
    callee: str
    """The C++ function that it calls: `::mylib::cpu::blend`."""
    signature: ShimSignature


@dataclass(frozen=True, slots=True)
class _Adapter:
    """The template values of a function that a model calls."""

    name: str
    template: str
    parameters: str
    symbol: str
    declared: str
    """The parameters of the C function."""
    arguments: str
    clears_result: bool


@dataclass(frozen=True, slots=True)
class _Adapted:
    """The template values of an operator and its adapters."""

    packet: str
    overload: str
    adapters: tuple[_Adapter, ...]


def emit_shims(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the sources of the C functions, if requested."""
    root = extension.options.shim_root
    if root is None:
        return
    files: dict[str, list[Shim]] = {"": []}
    for shim in _shims(extension):
        files.setdefault(backend(shim.key).source_group, []).append(shim)
    for group, shims in files.items():
        device = group.removesuffix("_").upper()
        text = render_file(
            extension,
            templates,
            f"Shims{device}.cpp",
            "Shims.cpp",
            unit=f"shims_{group}".removesuffix("_"),
            is_first=not group,
            includes=sorted({include for shim in shims for include in _includes(extension, shim)}),
            shims=shims,
        ).text
        yield OutputFile(f"Shims{device}.cpp", text, root, group)


def _includes(extension: Extension, shim: Shim) -> list[str]:
    return operator_headers(extension, f"_{shim.key.lower()}_dispatch", [shim.function.root_name])


def emit_aoti_module(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `aoti.py` of the Python package, if there are C functions."""
    if extension.options.shim_root is None or extension.python is None:
        return
    env = {**extension.environment(), "operators": list(_adapted(extension))}
    text = templates.render("python/aoti.py.in", env)
    yield OutputFile(f"python/{extension.package}/aoti.py", text)


# ------------------------------------------------------------------------- which operators have which


@dataclass(frozen=True, slots=True)
class _Found:
    """The operators that models can call through C functions, and the reasons why others can't be called."""

    signatures: Mapping[NativeFunction, ShimSignature]
    problems: tuple[tuple[NativeFunction, str], ...]


def check_shims(extension: Extension) -> Iterator[Diagnostic]:
    """Yield a warning for each operator that a model can't call through a C function."""
    if extension.options.shim_root is None:
        return
    label = "compiled models call it through the dispatcher"
    for function, problem in _find(extension).problems:
        message = f"'{function.func.name}' has no shim for AOTInductor: {problem}"
        yield Diagnostic("no-shim", message, function.loc, label, severity="warning")


def _find(extension: Extension) -> _Found:
    names_of_torch = packaged_shim_names()
    signatures: dict[NativeFunction, ShimSignature] = {}
    problems: list[tuple[NativeFunction, str]] = []
    first: dict[tuple[str, tuple[str, ...]], NativeFunction] = {}
    for function in (each for each in extension.program.functions if _is_called(extension, each)):
        name = _torch_name(function)
        problem = f"torch has one of this name, 'aoti_torch_cpu_{name}'" if name in names_of_torch else ""
        try:
            signature = shim_signature(function)
        except UnsupportedTypeError as unsupported:
            problem = problem or str(unsupported)
        else:
            earlier = first.setdefault((name, signature.types), function)
            if earlier is not function:
                problem = problem or f"its arguments have the same types in C++ as those of '{earlier.func.name}'"
        if not problem:
            signatures[function] = signature
        elif "generated" not in function.tags and function.func.kind() is not SchemaKind.out:
            problems.append((function, problem))
    return _Found(signatures, tuple(problems))


def _is_called(extension: Extension, function: NativeFunction) -> bool:
    """Return whether compiled models call a form: no composite ones, and out forms only if they are tagged."""
    is_found = function.func.kind() is not SchemaKind.out or "out" in registered_tags(extension.program, function)
    return is_found and is_called_by_models(function.func) and not function.has_composite_implicit_autograd_kernel


def _torch_name(function: NativeFunction) -> str:
    """Return the suffix of the name by which models call all overloads of an operator."""
    return str(function.func.name.name)


def _shims(extension: Extension) -> Iterator[Shim]:
    """Yield the C functions of all kernels."""
    signatures = _find(extension).signatures
    for key in (*_DEVICES, *_COMPOSITE_KEYS):
        if key in extension.keys:
            for form in (form for group_kernels in extension.groups_under(key) for form, _ in group_kernels.forms):
                if form in signatures:
                    yield _shim(extension, form, key, signatures[form])


def _shim(extension: Extension, form: NativeFunction, key: DispatchKey, signature: ShimSignature) -> Shim:
    symbol = f"aoti_{extension.namespace}_{key.lower()}_{form.func.name.unambiguous_name()}"
    return Shim(form, key, symbol, call_name(form, f"::{extension.namespace}::{key.lower()}"), signature)


def _adapted(extension: Extension) -> Iterator[_Adapted]:
    by_function: dict[NativeFunction, list[Shim]] = {}
    for shim in _shims(extension):
        by_function.setdefault(shim.function, []).append(shim)
    for function, shims in by_function.items():
        name = function.func.name
        yield _Adapted(str(name.name), name.overload_name or "default", tuple(_adapters(shims)))


def _adapters(shims: Iterable[Shim]) -> Iterator[_Adapter]:
    by_key = {shim.key: shim for shim in shims}
    composite = next((by_key[key] for key in _COMPOSITE_KEYS if key in by_key), None)
    for key, device in _DEVICES.items():
        shim = by_key.get(key, composite)
        if shim is not None:
            signature = shim.signature
            yield _Adapter(
                name=f"aoti_torch_{device}_{_torch_name(shim.function)}",
                template=signature.template,
                parameters=", ".join(signature.taken),
                symbol=shim.symbol,
                declared=signature.parameters,
                arguments=signature.handed_on,
                clears_result=not signature.results,
            )
