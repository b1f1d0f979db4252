"""torchgen's signatures, whose `arguments` is a method, with the current options (`local`)."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

from opgen.api import cpp, dispatcher, native, structured, types
from opgen.as_torchgen import local
from opgen.as_torchgen.api.types.bindings import Binding, as_bindings
from opgen.as_torchgen.errors import asserted
from opgen.frozen_dataclass import dataclass
from opgen.model import BackendIndex, FunctionSchema, NativeFunction, NativeFunctionsGroup


class _Signature:
    """The base class of signatures."""

    __slots__ = ()

    def _value(self) -> cpp.CppSignature | dispatcher.DispatcherSignature | native.NativeSignature:
        """Return opgen's signature, with the current options."""
        raise NotImplementedError

    def arguments(self) -> list[Binding]:
        """Return the parameters."""
        return as_bindings(self._value().arguments)

    def returns_type(self) -> types.CType:
        """Return the return type."""
        return self._value().returns

    def ptr_type(self) -> str:
        """Return the type of a pointer to the function."""
        return self._value().ptr_type()


class _TypedSignature(_Signature):
    """The base class of signatures of public functions."""

    __slots__ = ()

    def _value(self) -> cpp.CppSignature | dispatcher.DispatcherSignature:
        raise NotImplementedError

    def type(self) -> str:
        """Return the type of the function."""
        return self._value().type()


@dataclass(frozen=True, slots=True)
class CppSignature(_TypedSignature):
    """The signature of one public C++ function."""

    func: FunctionSchema
    method: bool
    faithful: bool
    symint: bool
    cpp_no_default_args: Set[str]
    fallback_binding: bool = False

    @asserted()
    def _value(self) -> cpp.CppSignature:
        func, policy = self.func, local.policy()
        bindings = cpp.arguments(
            func.arguments,
            faithful=self.faithful,
            symint=self.symint,
            method=self.method,
            cpp_no_default_args=frozenset(self.cpp_no_default_args),
            policy=policy,
        )
        returns = cpp.returns_type(func.returns, policy=policy)
        flags = (self.method, self.faithful, self.symint, self.fallback_binding)
        return cpp.CppSignature(func, *flags, policy, bindings, returns)

    def name(self, *, suppress_symint_suffix: bool = False) -> str:
        """Return the function's name."""
        return self._value().name(suppress_symint_suffix=suppress_symint_suffix)

    def decl(self, **how: Any) -> str:
        """Return the declaration, without its semicolon."""
        return self._value().decl(**how)

    def defn(self, **how: Any) -> str:
        """Return the head of the definition."""
        return self._value().defn(**how)


@dataclass(frozen=True, slots=True)
class CppSignatureGroup:
    """The C++ functions of one operator, all of `at::` or all methods."""

    func: FunctionSchema
    signature: CppSignature
    faithful_signature: CppSignature | None
    symint_signature: CppSignature | None
    symint_faithful_signature: CppSignature | None

    @staticmethod
    def from_native_function(f: NativeFunction, *, method: bool, fallback_binding: bool = False) -> CppSignatureGroup:
        """Return every C++ function of `f`."""

        def make(faithful: bool, symint: bool) -> CppSignature:
            return CppSignature(f.func, method, faithful, symint, f.cpp_no_default_args, fallback_binding)

        has_faithful = f.func.arguments.tensor_options is not None or bool(f.func.arguments.out)
        has_symint = f.func.has_symint()
        return CppSignatureGroup(
            f.func,
            make(False, False),
            make(True, False) if has_faithful else None,
            make(False, True) if has_symint else None,
            make(True, True) if has_faithful and has_symint else None,
        )

    def most_faithful_signature(self) -> CppSignature:
        """Return the faithful signature, or the usual one if that is faithful."""
        return self.faithful_signature or self.signature

    def signatures(self, *, symint: bool = True) -> Iterator[CppSignature]:
        """Yield the existing signatures; without `symint`, those with plain integers."""
        plain = (self.signature, self.faithful_signature)
        with_symint = (self.symint_signature, self.symint_faithful_signature) if symint else ()
        yield from (each for each in (*plain, *with_symint) if each is not None)


@dataclass(frozen=True, slots=True)
class DispatcherSignature(_TypedSignature):
    """The signature of an operator in the dispatcher."""

    func: FunctionSchema
    prefix: str = ""
    symint: bool = True

    @staticmethod
    def from_schema(func: FunctionSchema, *, prefix: str = "", symint: bool = True) -> DispatcherSignature:
        """Return the signature of an operator with this schema."""
        return DispatcherSignature(func, prefix, symint)

    @asserted()
    def _value(self) -> dispatcher.DispatcherSignature:
        return dispatcher.DispatcherSignature.from_schema(
            self.func, symint=self.symint, prefix=self.prefix, policy=local.policy()
        )

    def name(self) -> str:
        """Return the function's name."""
        return self.prefix + dispatcher.name(self.func)

    def decl(self, name: str | None = None) -> str:
        """Return the declaration, without its semicolon."""
        return self._value().decl(name)

    def defn(self, name: str | None = None, *, is_redispatching_fn: bool = False) -> str:
        """Return the head of the definition."""
        return self._value().defn(name, is_redispatching_fn=is_redispatching_fn)

    def exprs(self) -> list[types.Expr]:
        """Return the parameters as expressions."""
        return self._value().exprs()


@dataclass(frozen=True, slots=True)
class NativeSignature(_Signature):
    """The signature of a handwritten kernel."""

    func: FunctionSchema
    symint: bool
    prefix: str = ""

    @asserted()
    def _value(self) -> native.NativeSignature:
        return native.NativeSignature.from_schema(
            self.func, symint=self.symint, prefix=self.prefix, policy=local.policy()
        )

    def name(self) -> str:
        """Return the kernel's default name."""
        return self.prefix + native.name(self.func)

    def decl(self, name: str | None = None) -> str:
        """Return the declaration, without its semicolon."""
        return self._value().decl(name)

    def defn(self, name: str | None = None) -> str:
        """Return the head of the definition."""
        return self._value().defn(name)

    def dispatcher_exprs(self) -> list[types.Expr]:
        """Return the arguments of a call to the dispatcher from inside the kernel."""
        return self._value().dispatcher_exprs()


@dataclass(frozen=True, slots=True)
class StructuredImplSignature:
    """The signature of a structured kernel's impl function."""

    g: NativeFunctionsGroup
    name: str

    def arguments(self) -> list[Binding]:
        """Return the parameters."""
        return as_bindings(structured.impl_arguments(self.g))

    def defn(self, name: str | None = None) -> str:
        """Return the head of the definition."""
        return structured.StructuredImplSignature.derive(self.g, self.name if name is None else name).defn()


def kernel_signature(
    f: NativeFunction, backend_index: BackendIndex, *, prefix: str = ""
) -> NativeSignature | DispatcherSignature:
    """Return the signature of the handwritten kernel of `f` under a key."""
    kernel = backend_index.get_kernel(f)
    symint = kernel is not None and kernel.supports_symint()
    if backend_index.external:
        return DispatcherSignature(f.func, prefix, symint)
    return NativeSignature(f.func, symint, prefix)
