"""A C++ function's parameters → the call of its operator.

The types of their arguments may differ, as for `empty` and the operator `empty.memory_format`:

    empty(at::IntArrayRef size, at::TensorOptions options={}, …)
    →  at::_ops::empty_memory_format::call(c10::fromIntArrayRefSlow(size),
                                           c10::optTypeMetaToScalarType(options.dtype_opt()), …)
"""

from __future__ import annotations

from opgen.api.cpp import CppSignature
from opgen.api.dispatcher import DispatcherSignature
from opgen.api.translate import call_arguments


def operator_call(caller: CppSignature, operator: DispatcherSignature) -> str:
    """Return the call of `operator` from inside the C++ function `caller`."""
    return f"at::_ops::{operator.func.name.unambiguous_name()}::call({operator_arguments(caller, operator)})"


def operator_arguments(caller: CppSignature, operator: DispatcherSignature) -> str:
    """Return the arguments of that call."""
    return call_arguments(caller.arguments, operator.arguments, method=caller.method)
