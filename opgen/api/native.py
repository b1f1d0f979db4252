"""A schema → the signature of a handwritten kernel, `at::native::add`.

The convention is the dispatcher's, with two differences: there are defaults (except in out
functions), so that kernels can call each other as users call operators, and a mutated optional
tensor is a mutable optional.  A kernel may be written for plain integers or for
`c10::SymInt`.

    new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, ...) -> Tensor

    at::Tensor new_empty(const at::Tensor & self, at::IntArrayRef size,
                         ::std::optional<at::ScalarType> dtype={}, ...)
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.api import cpp, dispatcher
from opgen.api.translate import translate
from opgen.api.types import (
    DEFAULT_POLICY,
    MUTABLE_OPTIONAL_TENSOR,
    ArgName,
    Binding,
    CType,
    Expr,
    NamedCType,
    TypePolicy,
    render_decls,
    render_defns,
)
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    FunctionSchema,
    NativeFunction,
    OptionalType,
    Return,
    SelfArgument,
    TensorOptionsArguments,
    Type,
)


def name(func: FunctionSchema) -> str:
    """Return the kernel's name if the operator names none: `add_Tensor`, `add_out_out` for `add.out`."""
    stem = cpp.plain_name(func)
    if func.is_out_fn():
        stem += "_out"
    return f"{stem}_{func.name.overload_name}" if func.name.overload_name else stem


def argument_ctype(t: Type, *, mutable: bool, symint: bool, policy: TypePolicy = DEFAULT_POLICY) -> CType:
    """Return the C++ type of a kernel's parameter for an argument of type `t`."""
    if (
        mutable
        and isinstance(t, OptionalType)
        and isinstance(t.elem, BaseType)
        and t.elem.name is BaseTy.Tensor
        and not policy.use_const_ref_for_mutable_tensors
        and not policy.is_boxed
    ):
        return MUTABLE_OPTIONAL_TENSOR
    return cpp.argument_ctype(t, mutable=mutable, symint=symint, policy=policy)


def argumenttype_type(
    t: Type, *, mutable: bool, binds: ArgName, symint: bool, policy: TypePolicy = DEFAULT_POLICY
) -> NamedCType:
    """`argument_ctype`, standing for the argument `binds`."""
    return NamedCType(binds, argument_ctype(t, mutable=mutable, symint=symint, policy=policy))


def argument_type(a: Argument, *, binds: ArgName, symint: bool, policy: TypePolicy = DEFAULT_POLICY) -> NamedCType:
    """Return the type of the parameter for the argument `a`, standing for `binds`."""
    return argumenttype_type(a.type, mutable=a.is_write, binds=binds, symint=symint, policy=policy)


def returns_type(rs: Sequence[Return], *, policy: TypePolicy = DEFAULT_POLICY) -> CType:
    """Return the return type; the same as that of the C++ functions."""
    return cpp.returns_type(rs, policy=policy)


def argument(
    a: Argument | SelfArgument | TensorOptionsArguments,
    *,
    is_out: bool,
    symint: bool,
    policy: TypePolicy = DEFAULT_POLICY,
) -> list[Binding]:
    """Return the parameters for `a`: one, or four for tensor options; no defaults in an out function."""
    if isinstance(a, TensorOptionsArguments):
        # The default is always an empty initializer, since the kernel handles the schema's defaults.
        default = None if is_out else "{}"
        return [
            Binding(o.name, argument_type(o, binds=o.name, symint=symint, policy=policy), a, default) for o in a.all()
        ]
    plain = a.argument if isinstance(a, SelfArgument) else a
    default = None
    if plain.default is not None and not is_out:
        default = cpp.default_expr(plain.default, plain.type, symint=symint)
    nctype = argument_type(plain, binds=plain.name, symint=symint, policy=policy)
    return [Binding(plain.name, nctype, plain, default)]


def arguments(func: FunctionSchema, *, symint: bool, policy: TypePolicy = DEFAULT_POLICY) -> tuple[Binding, ...]:
    """Return the parameters for all arguments of `func`, in the schema's order."""
    own, is_out = func.arguments, func.is_out_fn()
    bindings = [
        binding
        for a in (*own.non_out, *own.out)
        for binding in argument(a, is_out=is_out, symint=symint, policy=policy)
    ]
    return cpp.without_early_defaults(bindings)


@dataclass(frozen=True, slots=True)
class NativeSignature:
    """The signature of a kernel of an operator."""

    func: FunctionSchema
    symint: bool
    """Whether the kernel takes `c10::SymInt` for `SymInt`."""
    prefix: str
    """The prefix of the kernel's name."""
    policy: TypePolicy
    arguments: tuple[Binding, ...]
    returns: CType

    @staticmethod
    def derive(function: NativeFunction, *, symint: bool, prefix: str = "") -> NativeSignature:
        """Return the signature of a kernel of `function`."""
        policy = TypePolicy.from_function(function)
        return NativeSignature.from_schema(function.func, symint=symint, prefix=prefix, policy=policy)

    @staticmethod
    def from_schema(
        func: FunctionSchema,
        *,
        symint: bool,
        prefix: str = "",
        policy: TypePolicy = DEFAULT_POLICY,
    ) -> NativeSignature:
        """Return the signature of a kernel of an operator with the schema `func` and the policy `policy`."""
        bindings = arguments(func, symint=symint, policy=policy)
        return NativeSignature(func, symint, prefix, policy, bindings, returns_type(func.returns, policy=policy))

    def with_prefix(self, prefix: str) -> NativeSignature:
        """Return the same signature with `prefix` before the function's name."""
        return NativeSignature(self.func, self.symint, prefix, self.policy, self.arguments, self.returns)

    def name(self) -> str:
        """Return the kernel's C++ name, if its operator names none."""
        return self.prefix + name(self.func)

    def decl(self, name: str | None = None) -> str:
        """Return the declaration, without its semicolon: `at::Tensor sum(const at::Tensor & self, int64_t dim=0)`."""
        return f"{self.returns.spelled} {self.name() if name is None else name}({render_decls(self.arguments)})"

    def defn(self, name: str | None = None) -> str:
        """Return the head of the definition: the declaration without defaults."""
        return f"{self.returns.spelled} {self.name() if name is None else name}({render_defns(self.arguments)})"

    def ptr_type(self) -> str:
        """Return the C++ pointer-to-function type, parameters named: `at::Tensor (*)(const at::Tensor & self)`."""
        return f"{self.returns.spelled} (*)({render_defns(self.arguments)})"

    def returns_type(self) -> CType:
        """Return the return type."""
        return self.returns

    def dispatcher_exprs(self) -> list[Expr]:
        """Return the arguments of a call to the dispatcher from inside the kernel."""
        goals = dispatcher.arguments(self.func, policy=self.policy)
        return translate(self.arguments, goals)
