"""Every signature of every operator of torch's, ours against torchgen's.

torchgen reads torch's own definitions and says what the C++ of each calling convention is; ours
must say the same.  Only its public functions are called.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

torchgen = pytest.importorskip("torchgen")

import torchgen.api.cpp as their_cpp  # noqa: E402
import torchgen.api.types as their_types  # noqa: E402
import torchgen.gen as their_gen  # noqa: E402
import torchgen.local as their_local  # noqa: E402

from opgen.api import cpp  # noqa: E402
from opgen.api.cpp import CppSignatureGroup  # noqa: E402
from opgen.api.dispatcher import DispatcherSignature  # noqa: E402
from opgen.api.native import NativeSignature  # noqa: E402
from opgen.diagnostics import Source  # noqa: E402
from opgen.model import DeviceCheckType, FunctionSchema, NativeFunction, OperatorName, Variant  # noqa: E402


@cache
def their_functions() -> list[Any]:
    """All of torch's operators as torchgen reads them, derived ones too."""
    native = os.path.join(os.path.dirname(torchgen.__file__), "packaged", "ATen", "native")
    parsed = their_gen.parse_native_yaml(f"{native}/native_functions.yaml", f"{native}/tags.yaml")
    return list(parsed.native_functions)


def ours(function: Any) -> NativeFunction:
    """Our value for torchgen's `function`."""
    delegate = function.structured_delegate
    return NativeFunction(
        namespace=function.namespace,
        func=FunctionSchema.parse(str(function.func)),
        use_const_ref_for_mutable_tensors=function.use_const_ref_for_mutable_tensors,
        device_guard=function.device_guard,
        device_check=DeviceCheckType[function.device_check.name],
        python_module=function.python_module,
        category_override=function.category_override,
        variants=frozenset(Variant[variant.name] for variant in function.variants),
        manual_kernel_registration=function.manual_kernel_registration,
        manual_cpp_binding=function.manual_cpp_binding,
        loc=Source("native_functions.yaml", "").span(0, 0),
        autogen=tuple(OperatorName.parse(str(name)) for name in function.autogen),
        ufunc_inner_loop={},
        structured=function.structured,
        structured_delegate=None if delegate is None else OperatorName.parse(str(delegate)),
        structured_inherits=function.structured_inherits,
        precomputed=None,
        cpp_no_default_args=frozenset(function.cpp_no_default_args),
        is_abstract=function.is_abstract,
        has_composite_implicit_autograd_kernel=function.has_composite_implicit_autograd_kernel,
        has_composite_implicit_autograd_nested_tensor_kernel=function.has_composite_implicit_autograd_nested_tensor_kernel,
        has_composite_explicit_autograd_kernel=function.has_composite_explicit_autograd_kernel,
        has_composite_explicit_autograd_non_functional_kernel=function.has_composite_explicit_autograd_non_functional_kernel,
        tags=frozenset(function.tags),
    )


@cache
def pairs() -> list[tuple[Any, NativeFunction]]:
    """torchgen's value for each operator with ours."""
    return [(function, ours(function)) for function in their_functions()]


def with_policy() -> Iterator[tuple[Any, NativeFunction]]:
    """The pairs; torchgen's thread-local policy is that of the pair at hand."""
    for theirs, mine in pairs():
        with their_local.parametrize(
            use_const_ref_for_mutable_tensors=theirs.use_const_ref_for_mutable_tensors,
            use_ilistref_for_tensor_lists=theirs.part_of_structured_group,
        ):
            yield theirs, mine


def spell_bindings(bindings: Any) -> list[tuple[str, str, str, str | None]]:
    """Everything that matters of some bindings, ours or torchgen's."""
    return [(b.name, str(b.nctype.name), b.nctype.cpp_type(), b.default) for b in bindings]


def spell_exprs(exprs: Any) -> list[tuple[str, str, str]]:
    """Everything that matters of some expressions, ours or torchgen's."""
    return [(e.expr, str(e.type.name), e.type.cpp_type()) for e in exprs]


GROUP_MEMBERS = ("signature", "faithful_signature", "symint_signature", "symint_faithful_signature")


def spell_cpp(signature: Any) -> list[object]:
    """All that a C++ signature says."""
    if signature is None:
        return []
    arguments = signature.arguments() if callable(signature.arguments) else signature.arguments
    return [
        signature.name(),
        signature.name(suppress_symint_suffix=True),
        signature.decl(),
        signature.decl(name="renamed", is_redispatching_fn=True),
        signature.decl(prefix="Tensor::", suppress_symint_suffix=True),
        signature.defn(),
        signature.defn(name="renamed", is_redispatching_fn=True),
        signature.defn(prefix="Tensor::"),
        signature.type(),
        signature.ptr_type(),
        spell_bindings(arguments),
    ]


@pytest.mark.parametrize("method", [False, True])
@pytest.mark.parametrize("fallback_binding", [False, True])
def test_cpp_signatures(method: bool, fallback_binding: bool) -> None:
    variant = "method" if method else "function"
    for theirs, mine in with_policy():
        if variant not in {v.name for v in theirs.variants}:
            continue
        expected = their_types.CppSignatureGroup.from_native_function(
            theirs, method=method, fallback_binding=fallback_binding
        )
        actual = CppSignatureGroup.from_native_function(mine, method=method, fallback_binding=fallback_binding)
        for member in GROUP_MEMBERS:
            assert spell_cpp(getattr(actual, member)) == spell_cpp(getattr(expected, member)), str(mine.func)
        assert actual.most_faithful_signature().decl() == expected.most_faithful_signature().decl()
        for symint in (False, True):
            assert [s.decl() for s in actual.signatures(symint=symint)] == [
                s.decl() for s in expected.signatures(symint=symint)
            ]


@pytest.mark.parametrize("symint", [False, True])
def test_dispatcher_signatures(symint: bool) -> None:
    for theirs, mine in with_policy():
        expected = their_types.DispatcherSignature.from_schema(theirs.func, symint=symint, prefix="wrap_")
        actual = DispatcherSignature.derive(mine, symint=symint, prefix="wrap_")
        for method in ("name", "decl", "defn", "type", "ptr_type"):
            assert getattr(actual, method)() == getattr(expected, method)(), str(mine.func)
        assert actual.defn("f", is_redispatching_fn=True) == expected.defn("f", is_redispatching_fn=True)
        assert actual.returns_type().cpp_type() == expected.returns_type().cpp_type()
        assert spell_bindings(actual.arguments) == spell_bindings(expected.arguments())
        assert spell_exprs(actual.exprs()) == spell_exprs(expected.exprs())


@pytest.mark.parametrize("symint", [False, True])
def test_native_signatures(symint: bool) -> None:
    for theirs, mine in with_policy():
        expected = their_types.NativeSignature(theirs.func, symint=symint, prefix="wrap_")
        actual = NativeSignature.derive(mine, symint=symint, prefix="wrap_")
        for method in ("name", "decl", "defn", "ptr_type"):
            assert getattr(actual, method)() == getattr(expected, method)(), str(mine.func)
        assert actual.decl("f") == expected.decl("f")
        assert actual.returns_type().cpp_type() == expected.returns_type().cpp_type()
        assert spell_bindings(actual.arguments) == spell_bindings(expected.arguments())
        assert spell_exprs(actual.dispatcher_exprs()) == spell_exprs(expected.dispatcher_exprs()), str(mine.func)


def test_return_names() -> None:
    for theirs, mine in pairs():
        assert list(cpp.return_names(mine)) == list(their_cpp.return_names(theirs))
        assert list(cpp.return_names(mine, fallback_name="ret")) == list(
            their_cpp.return_names(theirs, fallback_name="ret")
        )


def test_names() -> None:
    for theirs, mine in pairs():
        for faithful in (False, True):
            for symint in (False, True):
                flags = {"faithful_name_for_out_overloads": faithful, "symint_overload": symint}
                assert cpp.name(mine.func, **flags) == their_cpp.name(theirs.func, **flags)
