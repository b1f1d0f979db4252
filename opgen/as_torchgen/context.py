"""Functions about operators → the same functions with the operator as context.

Inside, the operator's options for C++ types apply (`local`), and errors have its location.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from opgen import context
from opgen.api.types import TypePolicy
from opgen.as_torchgen import local
from opgen.model import NativeFunctionsGroup, NativeFunctionsViewGroup

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def native_function_manager(g: context.Operator) -> Iterator[None]:
    """Make an operator, or the out form of a group, the context of the code inside."""
    function = g.out if isinstance(g, NativeFunctionsGroup) else g
    function = function.view if isinstance(function, NativeFunctionsViewGroup) else function
    choices = TypePolicy.from_function(function)
    with (
        context.native_function_manager(g),
        local.parametrize(
            use_const_ref_for_mutable_tensors=choices.use_const_ref_for_mutable_tensors,
            use_ilistref_for_tensor_lists=choices.use_ilistref_for_tensor_lists,
        ),
    ):
        yield


def with_native_function(func: Callable[P, T]) -> Callable[P, T]:
    """Run a function in the context of its first operator argument, or of the first operator of a list."""
    return context.within(native_function_manager, func)


with_native_function_and = with_native_function
with_native_function_and_index = with_native_function
with_native_function_and_indices = with_native_function
method_with_native_function = with_native_function
method_with_nested_native_function = with_native_function
