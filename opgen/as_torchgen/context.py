"""Functions about operators → the same functions, which know the operator that they are at.

Within, the operator's choices about C++ types hold (`local`), and errors say at which operator they are.
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
    """Make an operator, or the out form of a group, the one that code within is about."""
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
    """Run a function at the operator that is its first argument of that kind, or that such a list begins with."""
    return context.within(native_function_manager, func)


with_native_function_and = with_native_function
with_native_function_and_index = with_native_function
with_native_function_and_indices = with_native_function
method_with_native_function = with_native_function
method_with_nested_native_function = with_native_function
