"""A program of an extension → the same program, with arguments renamed whose names C++ can't have.

torch accepts names that are keywords of C++ (`default`), macros (`linux`), or used by generated code (`op`).
Such an argument keeps its name in the schema and in Python; in C++ it gets the prefix `opgen_`.

    mylib::pick(Tensor x, int op)    →    pick(const at::Tensor & x, int64_t opgen_op)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeVar

from opgen.extension.derivative_names import clashing_names, rename_derivatives
from opgen.extension.macros import is_macro
from opgen.frontend.cpp_names import KEYWORDS
from opgen.model import (
    Argument,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    OperatorName,
)
from opgen.program.autograd import AutogradProgram
from opgen.program.program import Program

T = TypeVar("T", bound="NativeFunction | NativeFunctionsGroup | NativeFunctionsViewGroup")

PREFIX: Final = "opgen_"
"""Prefix of renamed arguments."""
_USED: Final = frozenset(
    {
        *("op", "dispatchKeySet", "keys", "stack", "find", "guard", "call", "redispatch", "options", "self_"),
        *("device_of", "device_in", "common_device", "globalContext", "device_guard", "result"),
        *("Device", "DeviceGuard", "OptionalDeviceGuard", "Storage", "TensorImpl", "TensorOptions", "IntArrayRef"),
        *("Memory", "Results"),
        *("args", "kwargs", "parser"),
        *("count_write", "count", "check_inplace", "rebase", "mark", "not_implemented", "graph", "listed", "number"),
        *("own", "borrow", "wrap", "unwrap", "replace", "batch", "boxed", "call_override", "to_python", "Tensor"),
        *("grad_fn", "grads", "no_gil", "detail", "native", "meta", "structured", "schema", "name", "overload_name"),
    }
)
"""Names that generated functions use."""
_LOCAL: Final = re.compile(
    r"\w*_|_\w*|\w+_(value|values|parts|bdim|batch_rule)|\w+_t|wrapper_\w+|opgen_\w*|[A-Z][A-Z0-9_]*|Py\w*"
)
"""Patterns of local variables in generated functions, and of macros."""


def is_renamed(name: str) -> bool:
    """Return whether an argument called `name` is renamed in C++."""
    return name in KEYWORDS or is_macro(name) or name in _USED or _LOCAL.fullmatch(name) is not None


def parameter_name(name: str) -> str:
    """Return the C++ name of the argument `name`."""
    return f"{PREFIX}{name}" if is_renamed(name) else name


def rename_arguments(
    program: Program, autograd: AutogradProgram | None, *, in_python: bool = False
) -> tuple[Program, AutogradProgram | None]:
    """Return the operators and their derivatives, with arguments renamed where C++ needs it.

    `in_python` says that formulas are in Python; the arguments of their operators keep their names.
    """
    clashing = {} if in_python else clashing_names(autograd)
    matched = autograd.functions if in_python and autograd is not None else ()
    kept = frozenset(one.func.func.name for one in matched if one.info)
    renamed = {
        function.func.name: {} if function.func.name in kept else _renamed(function, clashing)
        for function in program.functions
    }
    named = _rename_program(program, renamed)
    if autograd is None or in_python:
        return named, autograd
    return named, rename_derivatives(replace(autograd, program=named), renamed)


def is_renamable(function: NativeFunction) -> bool:
    """Return whether arguments may be renamed: not if the author's C++ also uses their names."""
    return not function.ufunc_inner_loop and function.precomputed is None


def _renamed(function: NativeFunction, clashing: Mapping[str, frozenset[str]]) -> Mapping[str, str]:
    """Return the arguments that are renamed, with their new names."""
    if not is_renamable(function):
        return {}
    own = clashing.get(function.func.name.name.base, frozenset())
    names = [argument.name for argument in function.func.arguments.flat_all]
    return {name: f"{PREFIX}{name}" for name in names if is_renamed(name) or name in own}


def _rename_program(program: Program, renamed: Mapping[OperatorName, Mapping[str, str]]) -> Program:
    changed = {f.func.name: _rename(f, renamed[f.func.name]) for f in program.functions if renamed[f.func.name]}
    if not changed:
        return program
    functions = tuple(_swap(function, changed) for function in program.functions)
    grouped = tuple(_swap(item, changed) for item in program.grouped)
    view_grouped = tuple(_swap(item, changed) for item in program.view_grouped)
    return replace(
        program,
        functions=functions,
        grouped=grouped,
        view_grouped=view_grouped,
        _signatures={},
        _group_signatures={},
        _view_signatures={},
    )


def _rename(function: NativeFunction, renamed: Mapping[str, str]) -> NativeFunction:
    def rename(argument: Argument) -> Argument:
        if argument.name not in renamed:
            return argument
        return replace(argument, name=renamed[argument.name], schema_name=argument.name)

    func = function.func
    return replace(function, func=replace(func, arguments=func.arguments.map(rename)))


def _swap(item: T, changed: Mapping[OperatorName, NativeFunction]) -> T:
    """Return the function or group, with its functions replaced by the changed ones of the same names."""
    if isinstance(item, NativeFunction):
        return changed.get(item.func.name, item)  # type: ignore[return-value]
    forms = ("functional", "inplace", "mutable", "out") if isinstance(item, NativeFunctionsGroup) else _VIEW_FORMS
    exchanged = {
        form: changed.get(function.func.name, function)
        for form in forms
        if (function := getattr(item, form)) is not None
    }
    return replace(item, **exchanged)


_VIEW_FORMS: Final = ("view", "view_copy", "view_inplace")
