"""torchgen's `api.structured`: the meta function and the impl of structured kernels."""

from __future__ import annotations

from opgen.api import structured
from opgen.api.types import ArgName, NamedCType
from opgen.as_torchgen.api.types.bindings import Binding, as_bindings
from opgen.as_torchgen.errors import asserted
from opgen.model import Argument, NativeFunctionsGroup, SelfArgument, TensorOptionsArguments, Type


@asserted()
def argumenttype_type(t: Type, *, mutable: bool, binds: ArgName) -> NamedCType:
    """Return the type of the parameter for an argument of type `t`."""
    return structured.argumenttype_type(t, mutable=mutable, binds=binds)


def argument_type(a: Argument, *, binds: ArgName) -> NamedCType:
    """Return the type of the parameter for `a`."""
    return argumenttype_type(a.type, mutable=a.is_write, binds=binds)


@asserted()
def argument(a: Argument | SelfArgument | TensorOptionsArguments) -> list[Binding]:
    """Return the parameter for `a`."""
    return as_bindings([structured.argument(a)])


@asserted()
def impl_arguments(g: NativeFunctionsGroup) -> list[Binding]:
    """Return the parameters of the impl."""
    return as_bindings(structured.impl_arguments(g))


@asserted()
def meta_arguments(g: NativeFunctionsGroup) -> list[Binding]:
    """Return the parameters of the meta function."""
    return as_bindings(structured.meta_arguments(g))


@asserted()
def out_arguments(g: NativeFunctionsGroup) -> list[Binding]:
    """Return the parameters for the out arguments."""
    return as_bindings(structured.out_arguments(g))
