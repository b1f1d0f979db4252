"""What torchgen keeps in variables of the thread: the choices about C++ types that hold for the moment.

opgen passes them as an argument, a `TypePolicy`; `policy()` is that of the moment.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from opgen.api.types import DEFAULT_POLICY, TypePolicy


class _Locals(threading.local):
    policy: TypePolicy = DEFAULT_POLICY


_locals: Final = _Locals()


def policy() -> TypePolicy:
    """Return the choices that hold for the moment."""
    return _locals.policy


def use_const_ref_for_mutable_tensors() -> bool:
    """Return whether tensors that are written to are `const Tensor &`."""
    return _locals.policy.use_const_ref_for_mutable_tensors


def use_ilistref_for_tensor_lists() -> bool:
    """Return whether lists of tensors are `const ITensorListRef &`."""
    return _locals.policy.use_ilistref_for_tensor_lists


@contextmanager
def parametrize(*, use_const_ref_for_mutable_tensors: bool, use_ilistref_for_tensor_lists: bool) -> Iterator[None]:
    """Make these choices within."""
    before = _locals.policy
    _locals.policy = TypePolicy(use_const_ref_for_mutable_tensors, use_ilistref_for_tensor_lists)
    try:
        yield
    finally:
        _locals.policy = before
