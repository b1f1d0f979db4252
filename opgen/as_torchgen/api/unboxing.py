"""torchgen's `api.unboxing`: arguments on an interpreter's stack → the C++ arguments of a function."""

from __future__ import annotations

from dataclasses import replace

from opgen.api import unboxing
from opgen.api.types import CType
from opgen.api.unboxing import name as name
from opgen.as_torchgen import local
from opgen.as_torchgen.api.types.bindings import Binding, as_bindings
from opgen.as_torchgen.api.types.signatures import CppSignatureGroup
from opgen.as_torchgen.errors import asserted
from opgen.model import NativeFunction, Type


@asserted()
def convert_arguments(f: NativeFunction) -> tuple[list[Binding], list[str]]:
    """Return the arguments of the operator's C++ function, and the code that computes them."""
    bindings, code = unboxing.convert_arguments(f)
    taken = CppSignatureGroup.from_native_function(f, method=False).most_faithful_signature().arguments()
    made = as_bindings(bindings)
    return [replace(each, default=own.default) for each, own in zip(made, taken)], code


@asserted()
def argumenttype_ivalue_convert(
    t: Type, arg_name: str, *, mutable: bool = False
) -> tuple[str, CType, list[str], list[str]]:
    """Return the variable, its type, the code that sets it, and the declarations before that."""
    return unboxing.argumenttype_ivalue_convert(t, arg_name, mutable=mutable, policy=local.policy())
