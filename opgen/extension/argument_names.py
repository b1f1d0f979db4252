"""A program of an extension → the same, with other names in C++ for arguments that generated code can't have.

torch takes names that C++ doesn't (`default`), that are macros (`linux`), or that generated code uses itself (`op`).
Such an argument keeps its name in the schema and in Python; in C++ it has the prefix `opgen_`.

    mylib::pick(Tensor x, int op)    →    pick(const at::Tensor & x, int64_t opgen_op)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from opgen.frontend.cpp_names import KEYWORDS
from opgen.model import (
    Argument,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    OperatorName,
)
from opgen.program.program import Program

T = TypeVar("T", bound="NativeFunction | NativeFunctionsGroup | NativeFunctionsViewGroup")

PREFIX: Final = "opgen_"
"""What the names of arguments begin with that have another name in the schema."""
_MACROS: Final = frozenset(
    {
        *("assert", "errno", "i386", "linux", "major", "minor", "makedev", "offsetof", "setjmp", "sigsetjmp"),
        *("stderr", "stdin", "stdout", "unix", "va_arg", "va_copy", "va_end", "va_start", "alloca", "bool", "strdupa"),
        *("near", "far", "small", "interface", "min", "max", "environ", "fileno", "getc", "putc", "isnan", "isinf"),
    }
)
"""Plain words that are macros in headers of C, on one platform or another."""
_USED: Final = frozenset(
    {
        *("op", "dispatchKeySet", "keys", "stack", "find", "guard", "call", "redispatch", "options", "self_"),
        *("device_of", "common_device", "globalContext", "device_guard", "result", "args", "kwargs", "parser"),
        *("count_write", "count", "check_inplace", "rebase", "mark", "not_implemented", "graph", "listed", "number"),
        *("own", "borrow", "wrap", "unwrap", "replace", "batch", "boxed", "call_override", "to_python", "Tensor"),
        *("grad_fn", "grads", "no_gil", "detail", "native", "meta", "structured", "schema", "name", "overload_name"),
    }
)
"""Words that generated functions use for things of their own."""
_LOCAL: Final = re.compile(
    r"\w*_|_\w*|\w+_(value|values|parts|bdim|batch_rule)|\w+_t|wrapper_\w+|opgen_\w*|[A-Z][A-Z0-9_]*|Py\w*"
)
"""What the names of local variables in generated functions look like, and those of macros."""


def is_renamed(name: str) -> bool:
    """Whether an argument called `name` has another name in C++."""
    return name in KEYWORDS or name in _MACROS or name in _USED or _LOCAL.fullmatch(name) is not None


def parameter_name(name: str) -> str:
    """Return what C++ calls the argument `name`."""
    return f"{PREFIX}{name}" if is_renamed(name) else name


def rename_arguments(program: Program, kept: Collection[OperatorName]) -> Program:
    """Return the program with names that generated C++ can have; the operators in `kept` stay as they are."""
    changed = {
        function.func.name: _rename(function)
        for function in program.functions
        if function.func.name not in kept and _has_renamed(function)
    }
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


def _has_renamed(function: NativeFunction) -> bool:
    """Whether arguments get other names: not those of structured kernels, whose authors name them elsewhere too."""
    is_free = not function.part_of_structured_group and not function.ufunc_inner_loop
    return is_free and any(is_renamed(argument.name) for argument in function.func.arguments.flat_all)


def _rename(function: NativeFunction) -> NativeFunction:
    def rename(argument: Argument) -> Argument:
        if not is_renamed(argument.name):
            return argument
        return replace(argument, name=parameter_name(argument.name), schema_name=argument.name)

    func = function.func
    return replace(function, func=replace(func, arguments=func.arguments.map(rename)))


def _swap(item: T, changed: Mapping[OperatorName, NativeFunction]) -> T:
    """The function or group with its functions exchanged for the changed ones of their names."""
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
