"""torchgen's `api.cpp`: the calling convention of `at::` functions, with the current options (`local`)."""

from __future__ import annotations

from collections.abc import Sequence, Set

from opgen.api import cpp
from opgen.api.cpp import name as name
from opgen.api.types import ArgName, CType, NamedCType
from opgen.as_torchgen import local
from opgen.as_torchgen.api.types.bindings import Binding, as_bindings
from opgen.as_torchgen.errors import asserted
from opgen.model import (
    Argument,
    Arguments,
    NativeFunction,
    Return,
    SelfArgument,
    TensorOptionsArguments,
    Type,
)


@asserted()
def valuetype_type(t: Type, *, binds: ArgName, symint: bool = False) -> NamedCType | None:
    """Return the type of a value type; None for others."""
    return cpp.valuetype_type(t, binds=binds, symint=symint)


@asserted()
def argumenttype_type(
    t: Type, *, mutable: bool, binds: ArgName, remove_non_owning_ref_types: bool = False, symint: bool = False
) -> NamedCType:
    """Return the type of the parameter for an argument of type `t`."""
    return cpp.argumenttype_type(
        t,
        mutable=mutable,
        binds=binds,
        symint=symint,
        policy=local.policy(),
        remove_non_owning_ref_types=remove_non_owning_ref_types,
    )


def argument_type(a: Argument, *, binds: ArgName, symint: bool = False) -> NamedCType:
    """Return the type of the parameter for `a`."""
    return argumenttype_type(a.type, mutable=a.is_write, binds=binds, symint=symint)


@asserted()
def returntype_type(t: Type, *, mutable: bool, symint: bool = False) -> CType:
    """Return the type of a result."""
    del symint
    return cpp.returntype_type(t, mutable=mutable, policy=local.policy())


def return_type(r: Return, *, symint: bool = False) -> CType:
    """Return the type of a result."""
    return returntype_type(r.type, mutable=r.is_write, symint=symint)


@asserted()
def returns_type(rs: Sequence[Return], *, symint: bool = False) -> CType:
    """Return the type of all results: void, one type, or a tuple."""
    del symint
    return cpp.returns_type(rs, policy=local.policy())


def return_names(f: NativeFunction, *, fallback_name: str = "result") -> list[str]:
    """Return the names of the results."""
    return list(cpp.return_names(f, fallback_name=fallback_name))


@asserted()
def default_expr(d: str, t: Type, *, symint: bool) -> str:
    """Return the C++ expression for the default `d` of an argument of type `t`."""
    return cpp.default_expr(d, t, symint=symint)


@asserted()
def argument(
    a: Argument | TensorOptionsArguments | SelfArgument,
    *,
    cpp_no_default_args: Set[str],
    method: bool,
    faithful: bool,
    symint: bool = False,
    has_tensor_options: bool,
) -> list[Binding]:
    """Return the parameters for `a`."""
    return as_bindings(
        cpp.argument(
            a,
            cpp_no_default_args=frozenset(cpp_no_default_args),
            method=method,
            faithful=faithful,
            symint=symint,
            has_tensor_options=has_tensor_options,
            policy=local.policy(),
        )
    )


@asserted()
def arguments(
    arguments: Arguments, *, faithful: bool, symint: bool = False, method: bool, cpp_no_default_args: Set[str]
) -> list[Binding]:
    """Return the parameters for all arguments."""
    return as_bindings(
        cpp.arguments(
            arguments,
            faithful=faithful,
            symint=symint,
            method=method,
            cpp_no_default_args=frozenset(cpp_no_default_args),
            policy=local.policy(),
        )
    )
