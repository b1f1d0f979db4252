"""torchgen's `api.native`: handwritten kernels, with the current options (`local`)."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.api import native
from opgen.api.native import name as name
from opgen.api.types import ArgName, CType, NamedCType
from opgen.as_torchgen import local
from opgen.as_torchgen.api.types.bindings import Binding, as_bindings
from opgen.as_torchgen.errors import asserted
from opgen.model import Argument, FunctionSchema, Return, SelfArgument, TensorOptionsArguments, Type


@asserted()
def argumenttype_type(t: Type, *, mutable: bool, binds: ArgName, symint: bool) -> NamedCType:
    """Return the type of the parameter for an argument of type `t`."""
    return native.argumenttype_type(t, mutable=mutable, binds=binds, symint=symint, policy=local.policy())


def argument_type(a: Argument, *, binds: ArgName, symint: bool) -> NamedCType:
    """Return the type of the parameter for `a`."""
    return argumenttype_type(a.type, mutable=a.is_write, binds=binds, symint=symint)


@asserted()
def returns_type(rs: Sequence[Return], *, symint: bool) -> CType:
    """Return the type of all results."""
    del symint
    return native.returns_type(rs, policy=local.policy())


@asserted()
def argument(a: Argument | SelfArgument | TensorOptionsArguments, *, is_out: bool, symint: bool) -> list[Binding]:
    """Return the parameters for `a`."""
    return as_bindings(native.argument(a, is_out=is_out, symint=symint, policy=local.policy()))


@asserted()
def arguments(func: FunctionSchema, *, symint: bool) -> list[Binding]:
    """Return the parameters for all arguments."""
    return as_bindings(native.arguments(func, symint=symint, policy=local.policy()))
