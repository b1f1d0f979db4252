"""A schema → the signature by which the dispatcher calls its kernels, `at::_ops::add_Tensor::call`.

The dispatcher's convention is close to the schema: arguments in its order, out arguments last,
tensor options spread, no defaults.  A `SymInt` is a `c10::SymInt` unless a caller asks for plain
integers.

    empty.out(SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)

    at::Tensor & empty_out(c10::SymIntArrayRef size,
                           ::std::optional<at::MemoryFormat> memory_format, at::Tensor & out)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from opgen.api import cpp
from opgen.api.types import (
    DEFAULT_POLICY,
    ArgName,
    Binding,
    CType,
    Expr,
    NamedCType,
    TypePolicy,
    UnsupportedTypeError,
    render_defns,
    render_types,
)
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    FunctionSchema,
    ListType,
    NativeFunction,
    OptionalType,
    Return,
    Type,
)

_TENSOR: Final = BaseType(BaseTy.Tensor)
_SCALAR: Final = BaseType(BaseTy.Scalar)
_GENERATOR: Final = BaseType(BaseTy.Generator)
_SYM_BOOL: Final = BaseType(BaseTy.SymBool)
_SYM_INT: Final = BaseType(BaseTy.SymInt)


def name(func: FunctionSchema) -> str:
    """Return the name of `func`: that of the usual C++ function."""
    return cpp.name(func)


def check_argument_type(t: Type) -> None:
    """Raise `UnsupportedTypeError` if torch's dispatcher can't pass a `t` to a kernel, though it can be spelled.

    The rules are those of `c10::IValue::to` and of the boxing of arguments.
    """
    _check_optional_once(t)
    _check_generator(t)
    if isinstance(t, OptionalType) and isinstance(t.elem, ListType):
        if t.elem.elem == OptionalType(_TENSOR):
            raise UnsupportedTypeError(t, "can't be passed to a kernel: drop the last '?'")
        t = t.elem
    if not isinstance(t, ListType):
        return
    elem = t.elem.elem if isinstance(t.elem, OptionalType) else t.elem
    if isinstance(elem, ListType):
        raise UnsupportedTypeError(t, "can't be passed to a kernel: it is a list of lists")
    if t.elem == _SYM_BOOL:
        raise UnsupportedTypeError(t, "can't be built from Python bools: use 'bool[2]', with its size")
    if elem is not t.elem and elem == _SCALAR:
        raise UnsupportedTypeError(t, "can't be passed to a kernel: use 'Scalar[]' or 'float?[]'")
    if elem is not t.elem and elem == _SYM_INT:
        raise UnsupportedTypeError(t, "can't be built from plain integers: use 'int?[]'")


def check_return_type(t: Type) -> None:
    """Raise `UnsupportedTypeError` if torch's dispatcher can't return a `t`, though it can be spelled."""
    _check_optional_once(t)
    _check_generator(t)
    if isinstance(t, ListType) and _innermost(t) == _SCALAR:
        raise UnsupportedTypeError(t, "can't be returned by a kernel: use 'float[]', 'int[]' or a tensor")


def _check_optional_once(t: Type) -> None:
    if isinstance(t, OptionalType) and isinstance(t.elem, OptionalType):
        raise UnsupportedTypeError(t, f"is optional twice: write '{t.elem}'")


def _check_generator(t: Type) -> None:
    """Check that generators are optional: the dispatcher only supports `Generator?`."""
    elem = t.elem if isinstance(t, OptionalType) and isinstance(t.elem, ListType) else t
    if _GENERATOR in (elem, _innermost(elem)):
        corrected = str(t).replace("Generator", "Generator?", 1)
        raise UnsupportedTypeError(t, f"is unknown to torch's dispatcher: write '{corrected}'")


def _innermost(t: Type) -> Type:
    return _innermost(t.elem) if isinstance(t, ListType) else t


def argumenttype_type(
    t: Type,
    *,
    mutable: bool,
    binds: ArgName,
    symint: bool = True,
    policy: TypePolicy = DEFAULT_POLICY,
    remove_non_owning_ref_types: bool = False,
) -> NamedCType:
    """Return the type of the parameter for an argument of type `t`, as `cpp.argumenttype_type` says."""
    return cpp.argumenttype_type(
        t,
        mutable=mutable,
        binds=binds,
        symint=symint,
        policy=policy,
        remove_non_owning_ref_types=remove_non_owning_ref_types,
    )


def argument(
    a: Argument,
    *,
    symint: bool = True,
    policy: TypePolicy = DEFAULT_POLICY,
    remove_non_owning_ref_types: bool = False,
) -> Binding:
    """Return the parameter for the argument `a`."""
    ctype = cpp.argument_ctype(
        a.type,
        mutable=a.is_write,
        symint=symint,
        policy=policy,
        remove_non_owning_ref_types=remove_non_owning_ref_types,
    )
    return Binding(a.name, NamedCType(a.name, ctype), a)


def arguments(
    func: FunctionSchema,
    *,
    symint: bool = True,
    policy: TypePolicy = DEFAULT_POLICY,
) -> tuple[Binding, ...]:
    """Return the parameters for all arguments of `func`, in the schema's order."""
    return tuple([argument(a, symint=symint, policy=policy) for a in func.arguments.flat_all])


def returns_type(rs: Sequence[Return], *, policy: TypePolicy = DEFAULT_POLICY) -> CType:
    """Return the return type; the same as that of the C++ functions."""
    return cpp.returns_type(rs, policy=policy)


@dataclass(frozen=True, slots=True)
class DispatcherSignature:
    """The signature of an operator as the dispatcher sees it."""

    func: FunctionSchema
    symint: bool
    """Whether it takes `c10::SymInt` for `SymInt`."""
    prefix: str
    """The prefix of the function's name."""
    policy: TypePolicy
    arguments: tuple[Binding, ...]
    returns: CType

    @staticmethod
    def derive(function: NativeFunction, *, symint: bool = True, prefix: str = "") -> DispatcherSignature:
        """Return the signature of `function`."""
        policy = TypePolicy.from_function(function)
        return DispatcherSignature.from_schema(function.func, symint=symint, prefix=prefix, policy=policy)

    @staticmethod
    def from_schema(
        func: FunctionSchema,
        *,
        symint: bool = True,
        prefix: str = "",
        policy: TypePolicy = DEFAULT_POLICY,
    ) -> DispatcherSignature:
        """Return the signature of an operator with the schema `func` and the policy `policy`."""
        bindings = arguments(func, symint=symint, policy=policy)
        returns = cpp.returns_type(func.returns, policy=policy)
        return DispatcherSignature(func, symint, prefix, policy, bindings, returns)

    def with_prefix(self, prefix: str) -> DispatcherSignature:
        """Return the same signature with `prefix` before the function's name."""
        return DispatcherSignature(self.func, self.symint, prefix, self.policy, self.arguments, self.returns)

    def name(self) -> str:
        """Return the function's C++ name."""
        return self.prefix + name(self.func)

    def decl(self, name: str | None = None) -> str:
        """Return the declaration, without its semicolon: `at::Tensor sum(const at::Tensor & self, int64_t dim)`."""
        return self.defn(name)

    def defn(self, name: str | None = None, *, is_redispatching_fn: bool = False) -> str:
        """Return the head of the definition; with the key set first for a function that redispatches."""
        parameters = render_defns(self.arguments)
        if is_redispatching_fn:
            parameters = ", ".join(filter(None, (cpp.DISPATCH_KEY_SET_PARAMETER, parameters)))
        return f"{self.returns.spelled} {self.name() if name is None else name}({parameters})"

    def exprs(self) -> list[Expr]:
        """Return the parameters as expressions, for a call from inside the function."""
        return [Expr(binding.name, binding.nctype) for binding in self.arguments]

    def type(self) -> str:
        """Return the C++ function type: `at::Tensor (const at::Tensor &, int64_t)`."""
        return f"{self.returns.spelled} ({render_types(self.arguments)})"

    def ptr_type(self) -> str:
        """Return the C++ pointer-to-function type: `at::Tensor (*)(const at::Tensor &, int64_t)`."""
        return f"{self.returns.spelled} (*)({render_types(self.arguments)})"

    def returns_type(self) -> CType:
        """Return the return type."""
        return self.returns
