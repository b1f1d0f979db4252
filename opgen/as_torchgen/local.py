"""torchgen's thread-local options for C++ types.

opgen passes them as an argument, a `TypePolicy`; `policy()` returns the current one.
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
    """Return the current options."""
    return _locals.policy


def use_const_ref_for_mutable_tensors() -> bool:
    """Return whether mutated tensors are `const Tensor &`."""
    return _locals.policy.use_const_ref_for_mutable_tensors


def use_ilistref_for_tensor_lists() -> bool:
    """Return whether tensor lists are `const ITensorListRef &`."""
    return _locals.policy.use_ilistref_for_tensor_lists


@contextmanager
def parametrize(*, use_const_ref_for_mutable_tensors: bool, use_ilistref_for_tensor_lists: bool) -> Iterator[None]:
    """Set the options in this context."""
    before = _locals.policy
    _locals.policy = TypePolicy(use_const_ref_for_mutable_tensors, use_ilistref_for_tensor_lists)
    try:
        yield
    finally:
        _locals.policy = before
