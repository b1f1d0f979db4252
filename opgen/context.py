"""An error anywhere in the work on an operator → the same error, which says at which operator it was.

    with native_function_manager(function):
        emit(function)

    @with_native_function
    def emit(function): ...

torchgen has these to set what its functions read behind the scenes; opgen's functions read nothing but their
arguments, so that only the account of errors is left.  Programs written for torchgen run with them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import ParamSpec, TypeAlias, TypeVar

from opgen.model import NativeFunction, NativeFunctionsGroup, NativeFunctionsViewGroup

__all__ = [
    "method_with_native_function",
    "method_with_nested_native_function",
    "native_function_manager",
    "with_native_function",
    "with_native_function_and",
    "with_native_function_and_index",
    "with_native_function_and_indices",
]

P = ParamSpec("P")
T = TypeVar("T")
Operator: TypeAlias = NativeFunction | NativeFunctionsGroup | NativeFunctionsViewGroup


@contextmanager
def native_function_manager(g: Operator) -> Iterator[None]:
    """Make errors within say at which operator, and where that is defined."""
    try:
        yield
    except Exception as error:
        function = _function_of(g)
        # The first argument is what an exception shows; notes would do, but Python 3.10 has none.
        where = f"\n  at {function.loc}:\n    {function.func}"
        if error.args and isinstance(error.args[0], str):
            error.args = (error.args[0] + where, *error.args[1:])
        raise


def with_native_function(func: Callable[P, T]) -> Callable[P, T]:
    """Make errors of a function say at which operator: the first argument that is one, or a group."""
    return within(native_function_manager, func)


with_native_function_and = with_native_function
"""For a function with a second argument of any kind."""
with_native_function_and_index = with_native_function
"""For a function with a backend's index behind the operator."""
with_native_function_and_indices = with_native_function
"""For a function with the indices of backends behind the operator."""
method_with_native_function = with_native_function
"""For a method whose first argument is an operator."""
method_with_nested_native_function = with_native_function
"""For a method whose first argument is a list that begins with an operator."""


def within(manager: Callable[[Operator], AbstractContextManager[None]], func: Callable[P, T]) -> Callable[P, T]:
    """Return the function that runs `func` within the manager of its first argument that is an operator or a group."""

    @wraps(func)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        for value in (*args, *kwargs.values()):
            operator = _operator_in(value)
            if operator is not None:
                with manager(operator):
                    return func(*args, **kwargs)
        return func(*args, **kwargs)

    return wrapped


def _operator_in(value: object) -> Operator | None:
    """Return the operator or group that an argument is, or that a list begins with."""
    if isinstance(value, (list, tuple)) and value:
        value = value[0]
    return value if isinstance(value, (NativeFunction, NativeFunctionsGroup, NativeFunctionsViewGroup)) else None


def _function_of(g: Operator) -> NativeFunction:
    if isinstance(g, NativeFunctionsGroup):
        return g.functional
    return g.view if isinstance(g, NativeFunctionsViewGroup) else g
