"""All operators → the sources that bind them to Python: `python_torch_functions_N.cpp` and its like.

Each of Python's faces (the module torch and some below it, the methods of tensors) is a table of C++
functions, one a name; see `python_methods` for what such a function does.

    static PyMethodDef fft_functions[] = {
      {"fft_fft", castPyCFunctionWithKeywords(THPVariable_fft_fft), METH_VARARGS | METH_KEYWORDS, nullptr},
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from opgen.api.python import has_tensor_options, makes_tensor
from opgen.api.python_overloads import (
    OverloadError,
    Pair,
    Selection,
    group_by_name,
    is_in_module,
    is_py_torch_function,
    is_py_variable_method,
    load_signatures,
)
from opgen.api.types import UnsupportedTypeError
from opgen.dest.includes import ops_include
from opgen.dest.python_methods import Binding, PythonModule, render_binding
from opgen.diagnostics import Diagnostic, Diagnostics, Note
from opgen.model import NativeFunction
from opgen.output.files import OutputFile, emit_sharded
from opgen.output.template import TemplateSet
from opgen.program import Program

TORCH_SHARDS: Final = 3
"""How many files the functions of the module torch are split over."""

TORCH: Final = PythonModule("torch", "THPVariableFunctionsModule", is_static=True)
TENSOR: Final = PythonModule("torch.Tensor", "THPVariableClass", is_class=True)


@dataclass(frozen=True, slots=True)
class _ModuleFile:
    """A module below torch that has a file of its own."""

    file: str
    module: PythonModule
    selection: Selection


_MODULE_FILES: Final = tuple(
    _ModuleFile(
        f"python_{name}_functions.cpp",
        PythonModule(f"torch.{name}", f"THP{word}VariableFunctionsModule"),
        is_in_module(name),
    )
    for name, word in (
        ("nn", "NN"),
        ("fft", "FFT"),
        ("linalg", "Linalg"),
        ("nested", "Nested"),
        ("sparse", "Sparse"),
        ("special", "Special"),
    )
)


def emit_python_methods(program: Program, templates: TemplateSet, *, symint: bool = True) -> Iterator[OutputFile]:
    """Yields `python_variable_methods.cpp`; without `symint`, with plain integers only."""
    pairs = load_signatures(program.functions, program.deprecated, method=True, symint=symint)
    bindings = _sorted(_bindings(program, pairs, TENSOR, is_py_variable_method))
    yield _render("python_variable_methods.cpp", bindings, templates)


def emit_python_functions(program: Program, templates: TemplateSet, *, symint: bool = True) -> Iterator[OutputFile]:
    """Yields `python_torch_functions_N.cpp`, and `python_nn_functions.cpp` and its like."""
    pairs = load_signatures(program.functions, program.deprecated, method=False, symint=symint)
    yield from emit_sharded(
        templates,
        "python_torch_functions.cpp",
        {},
        _bindings(program, pairs, TORCH, is_py_torch_function),
        key=lambda binding: binding.base_name,
        item_env=_item_env,
        shards=TORCH_SHARDS,
        sharded_keys=_KEYS,
    )
    for file in _MODULE_FILES:
        yield _render(file.file, _sorted(_bindings(program, pairs, file.module, file.selection)), templates)


def _bindings(program: Program, pairs: tuple[Pair, ...], module: PythonModule, selection: Selection) -> list[Binding]:
    """The bindings of the selected functions; a `UserError` for all that can't be bound."""
    log, bindings = Diagnostics(), []
    for overloads in group_by_name(pairs, selection).values():
        before = log.error_count
        for pair in overloads:
            _check_options(pair.function, log)
        if log.error_count > before:
            continue
        try:
            bindings.append(render_binding(overloads, module, program.signatures))
        except OverloadError as problem:
            log.extend([overload_diagnostic(problem)])
        except UnsupportedTypeError as problem:
            log.extend([type_diagnostic(problem, overloads)])
    log.raise_errors()
    return bindings


def _check_options(function: NativeFunction, log: Diagnostics) -> None:
    """Python gives the options of a tensor to what makes one, so both have to agree about which function does."""
    if function.func.is_out_fn():
        return
    makes = makes_tensor(function.func, function.category_override)
    if makes and not has_tensor_options(function):
        message = f"'{function.func.name}' makes a tensor, but its schema has no tensor options"
        label = "add dtype, layout, device and pin_memory, or write 'category_override: dummy'"
        log.error("python-options", message, function.loc, label)
    elif has_tensor_options(function) and not makes:
        message = f"'{function.func.name}' has tensor options, but takes tensors to make its result of"
        label = "write 'category_override: factory'"
        log.error("python-options", message, function.loc, label)


def overload_diagnostic(problem: OverloadError) -> Diagnostic:
    """The mistake of operators that Python can't tell apart."""
    notes = tuple(Note(f"beside '{other.func.name}'", other.loc) for other in problem.others)
    return Diagnostic("python-overloads", str(problem), problem.function.loc, "", notes)


def type_diagnostic(problem: UnsupportedTypeError, overloads: list[Pair]) -> Diagnostic:
    """The mistake of a type that can't come from Python."""
    at_fault = next(
        (p.function for p in overloads if any(a.type == problem.type for a in p.signature.arguments())),
        overloads[0].function,
    )
    message = f"'{at_fault.func.name}' can't be bound to Python: {problem}"
    return Diagnostic("python-type", message, at_fault.loc)


def _sorted(bindings: list[Binding]) -> list[Binding]:
    return sorted(bindings, key=lambda binding: binding.name)


# --------------------------------------------------------------------------------------- files

_KEYS: Final = ("ops_headers", "py_forwards", "py_method_defs", "py_methods")


def _item_env(binding: Binding) -> Mapping[str, list[str]]:
    return {
        "ops_headers": [ops_include(binding.base_name)],
        "py_forwards": [binding.forward],
        "py_method_defs": [binding.method_def],
        "py_methods": [binding.method],
    }


def _render(file: str, bindings: list[Binding], templates: TemplateSet) -> OutputFile:
    envs = [_item_env(binding) for binding in bindings]
    env = {key: [text for item in envs for text in item[key]] for key in _KEYS}
    return OutputFile(file, templates.render(file, env))
