"""A group of operators → the name of its meta function's class, `at::meta::structured_add_Tensor`.

The class is called after the functional form; the prefix `structured_` is written by the emitters.

    add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)  →  add_Tensor
"""

from __future__ import annotations

from opgen.model import NativeFunctionsGroup


def name(group: NativeFunctionsGroup) -> str:
    """Return the name of the group's meta function, without `structured_`."""
    return group.functional.func.name.unambiguous_name()
