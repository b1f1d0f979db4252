"""All operators → the sources that bind them to Python: `python_torch_functions_N.cpp` and its like.

Each binding target (the module torch, some modules below it, the methods of tensors) is a table of C++
functions, one a name; see `python_methods` for what such a function does.

    static PyMethodDef fft_functions[] = {
      {"fft_fft", castPyCFunctionWithKeywords(THPVariable_fft_fft), METH_VARARGS | METH_KEYWORDS, nullptr},
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from opgen.dest.includes import ops_include
from opgen.dest.presence import Presence
from opgen.dest.python_methods import PythonBinding, PythonModule, render_binding
from opgen.model import Variant
from opgen.output.files import OutputFile, emit_sharded, unique
from opgen.output.template import TemplateSet
from opgen.program.python import PythonFunction, PythonProgram
from opgen.releases.release import Release

TORCH_SHARDS: Final = 3
"""How many files the functions of the module torch are split over."""

TORCH: Final = PythonModule("torch", "THPVariableFunctionsModule", is_static=True)


_MODULES: Final = tuple(
    (name, PythonModule(f"torch.{name}", f"THP{word}VariableFunctionsModule"))
    for name, word in (
        ("nn", "NN"),
        ("fft", "FFT"),
        ("linalg", "Linalg"),
        ("nested", "Nested"),
        ("sparse", "Sparse"),
        ("special", "Special"),
    )
)
"""The modules below torch, each of which has its own file."""


def emit_python_methods(program: PythonProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `python_variable_methods.cpp`."""
    module = tensor_module(program.program.release)
    bindings = _sorted(_bindings(program, program.methods, module))
    members = (f for f in program.program.functions if Variant.method in f.variants)
    asked = {
        "has_binding": Presence(frozenset(binding.name for binding in bindings)),
        "has_method": Presence.of(members),
    }
    yield _render("python_variable_methods.cpp", bindings, templates, asked)


def tensor_module(release: Release) -> PythonModule:
    """Return the class of tensors, in a release of torch."""
    return PythonModule(
        "torch.Tensor",
        "THPVariableClass",
        is_class=True,
        override_check=release.override_check,
        starts_devices=release.methods_start_devices,
    )


def emit_python_functions(program: PythonProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `python_torch_functions_N.cpp`, and `python_nn_functions.cpp` and its like."""
    yield from emit_sharded(
        templates,
        "python_torch_functions.cpp",
        {},
        _bindings(program, program.functions_of(None), TORCH),
        key=lambda binding: binding.base_name,
        item_env=_item_env,
        shards=TORCH_SHARDS,
        sharded_keys=_KEYS,
    )
    for name, module in _MODULES:
        bindings = _sorted(_bindings(program, program.functions_of(name), module))
        yield _render(f"python_{name}_functions.cpp", bindings, templates)


def _bindings(program: PythonProgram, functions: Iterable[PythonFunction], module: PythonModule) -> list[PythonBinding]:
    return [render_binding(function, module, program.program.signatures) for function in functions]


def _sorted(bindings: list[PythonBinding]) -> list[PythonBinding]:
    return sorted(bindings, key=lambda binding: binding.name)


# --------------------------------------------------------------------------------------- files

_KEYS: Final = ("ops_headers", "py_forwards", "py_method_defs", "py_methods")


def _item_env(binding: PythonBinding) -> Mapping[str, list[str]]:
    return {
        "ops_headers": [ops_include(binding.base_name)],
        "py_forwards": [binding.forward],
        "py_method_defs": [binding.method_def],
        "py_methods": [binding.method],
    }


def _render(
    file: str, bindings: list[PythonBinding], templates: TemplateSet, more: Mapping[str, object] = MappingProxyType({})
) -> OutputFile:
    envs = [_item_env(binding) for binding in bindings]
    env = {key: [text for item in envs for text in item[key]] for key in _KEYS}
    text = templates.render(file, {**env, **more, "unique_ops_headers": unique(env["ops_headers"])})
    return OutputFile(file, text)
