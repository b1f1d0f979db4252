"""torchgen's `api.dispatcher`: how the dispatcher calls kernels, with the current options (`local`)."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.api import dispatcher
from opgen.api.dispatcher import name as name
from opgen.api.types import ArgName, CType, NamedCType
from opgen.as_torchgen import local
from opgen.as_torchgen.api.types.bindings import Binding, as_bindings
from opgen.as_torchgen.errors import asserted
from opgen.model import Argument, FunctionSchema, Return, Type


@asserted()
def argumenttype_type(
    t: Type, *, mutable: bool, binds: ArgName, remove_non_owning_ref_types: bool = False, symint: bool = True
) -> NamedCType:
    """Return the type of the parameter for an argument of type `t`."""
    return dispatcher.argumenttype_type(
        t,
        mutable=mutable,
        binds=binds,
        symint=symint,
        policy=local.policy(),
        remove_non_owning_ref_types=remove_non_owning_ref_types,
    )


def argument_type(
    a: Argument, *, binds: ArgName, remove_non_owning_ref_types: bool = False, symint: bool = True
) -> NamedCType:
    """Return the type of the parameter for `a`."""
    return argumenttype_type(
        a.type,
        mutable=a.is_write,
        binds=binds,
        remove_non_owning_ref_types=remove_non_owning_ref_types,
        symint=symint,
    )


@asserted()
def returns_type(rs: Sequence[Return], *, symint: bool = True) -> CType:
    """Return the type of all results."""
    del symint
    return dispatcher.returns_type(rs, policy=local.policy())


@asserted()
def argument(a: Argument, *, remove_non_owning_ref_types: bool = False, symint: bool = True) -> Binding:
    """Return the parameter for `a`."""
    made = dispatcher.argument(
        a, symint=symint, policy=local.policy(), remove_non_owning_ref_types=remove_non_owning_ref_types
    )
    return as_bindings([made])[0]


@asserted()
def arguments(func: FunctionSchema, *, symint: bool = True) -> list[Binding]:
    """Return the parameters for all arguments."""
    return as_bindings(dispatcher.arguments(func, symint=symint, policy=local.policy()))
