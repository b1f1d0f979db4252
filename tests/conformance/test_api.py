"""Every signature of every operator of torch's, ours against torchgen's.

torchgen reads torch's own definitions and says what the C++ of each calling convention is; ours
must say the same.  Only its public functions are called.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

torchgen = pytest.importorskip("torchgen")

import torchgen.api.cpp as their_cpp  # noqa: E402
import torchgen.api.functionalization as their_functionalization  # noqa: E402
import torchgen.api.meta as their_meta  # noqa: E402
import torchgen.api.structured as their_structured  # noqa: E402
import torchgen.api.types as their_types  # noqa: E402
import torchgen.api.ufunc as their_ufunc  # noqa: E402
import torchgen.gen as their_gen  # noqa: E402
import torchgen.local as their_local  # noqa: E402
import torchgen.model as their_model  # noqa: E402

from opgen.api import cpp, functionalization, structured, ufunc  # noqa: E402
from opgen.api.cpp import CppSignatureGroup  # noqa: E402
from opgen.api.dispatcher import DispatcherSignature  # noqa: E402
from opgen.api.native import NativeSignature  # noqa: E402
from opgen.api.signatures import GroupSignatures, Signatures, ViewGroupSignatures  # noqa: E402
from opgen.api.types import BaseCType, VectorizedCType, opmath_t, scalar_t  # noqa: E402
from opgen.diagnostics import Source  # noqa: E402
from opgen.model import (  # noqa: E402
    Argument,
    BackendIndex,
    BackendMetadata,
    DeviceCheckType,
    DispatchKey,
    FunctionSchema,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    OperatorName,
    Precompute,
    Variant,
)


@cache
def parsed_yaml() -> Any:
    """Torch's own definitions as torchgen reads them, derived operators too."""
    native = os.path.join(os.path.dirname(torchgen.__file__), "packaged", "ATen", "native")
    return their_gen.parse_native_yaml(f"{native}/native_functions.yaml", f"{native}/tags.yaml")


def our_precompute(precomputed: Any) -> Precompute | None:
    """Our value for torchgen's `precomputed`."""
    if precomputed is None:
        return None
    replace = {
        name: tuple(Argument.parse(str(a)) for a in replacing) for name, replacing in precomputed.replace.items()
    }
    return Precompute(replace, tuple(Argument.parse(str(a)) for a in precomputed.add or ()))


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
        precomputed=our_precompute(function.precomputed),
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
    return [(function, ours(function)) for function in parsed_yaml().native_functions]


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
        if method and fallback_binding == mine.manual_cpp_binding:
            assert actual == Signatures(mine).cpp_method
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


def in_group(functions: Any) -> Any:
    """torchgen's thread-local policy for a group."""
    return their_local.parametrize(
        use_const_ref_for_mutable_tensors=functions.use_const_ref_for_mutable_tensors,
        use_ilistref_for_tensor_lists=functions.part_of_structured_group,
    )


def our_group(group: Any) -> NativeFunctionsGroup:
    """Our value for torchgen's group."""
    forms = (group.functional, group.inplace, group.mutable, group.out)
    return NativeFunctionsGroup(*(None if form is None else ours(form) for form in forms))  # type: ignore[arg-type]


def structured_groups() -> list[Any]:
    """torchgen's structured groups."""
    grouped = their_gen.get_grouped_native_functions(parsed_yaml().native_functions)
    return [g for g in grouped if isinstance(g, their_model.NativeFunctionsGroup) and g.structured]


def test_structured() -> None:
    assert len(structured_groups()) > 200
    for theirs in structured_groups():
        mine = GroupSignatures(our_group(theirs))
        with in_group(theirs.out):
            assert mine.meta_name == their_meta.name(theirs)
            for part in ("meta_arguments", "impl_arguments", "out_arguments"):
                expected = getattr(their_structured, part)(theirs)
                assert spell_bindings(getattr(mine, part)) == spell_bindings(expected)
                assert spell_bindings(getattr(structured, part)(mine.group)) == spell_bindings(expected)
            expected = their_types.StructuredImplSignature(theirs, "kernel_out")
            assert mine.impl("kernel_out").defn() == expected.defn()


def test_views() -> None:
    grouped = their_gen.get_grouped_by_view_native_functions(parsed_yaml().native_functions)
    groups = [g for g in grouped if isinstance(g, their_model.NativeFunctionsViewGroup)]
    assert len(groups) > 80
    for theirs in groups:
        forms = (theirs.view, theirs.view_copy, theirs.view_inplace)
        group = NativeFunctionsViewGroup(*(None if f is None else ours(f) for f in forms))  # type: ignore[arg-type]
        with in_group(theirs.view):
            check_view_group(group, theirs)
        for form in (theirs.view, theirs.view_inplace):
            if form is not None:
                with in_group(form):
                    check_view_meta(ours(form), form.func)


def check_view_group(group: NativeFunctionsViewGroup, theirs: Any) -> None:
    mine = ViewGroupSignatures(group)
    expected = their_types.ViewInverseSignature(theirs)
    assert mine.inverse.name == expected.name()
    assert mine.inverse.decl() + ";" == expected.decl()
    assert mine.reverse_name == their_functionalization.reverse_name(theirs.view, True)
    if theirs.view_copy is not None:
        for name, reapply in ((mine.replay_name, True), (mine.copy_name, False)):
            assert name == their_functionalization.name(
                theirs, is_reverse=False, include_namespace=True, reapply_views=reapply
            )


def check_view_meta(function: NativeFunction, func: Any) -> None:
    mine = Signatures(function).view_meta
    assert mine.classname == their_functionalization.classname(func)
    assert functionalization.classname(function.func, True) == their_functionalization.classname(func, True)
    assert mine.is_multi_output == their_functionalization.is_multi_output(func)
    for part in ("base_ctor_arguments", "extra_ctor_arguments", "attributes"):
        assert spell_bindings(getattr(mine, part)) == spell_bindings(getattr(their_functionalization, part)(func))
    for bindings, is_reverse in ((mine.forward_arguments, False), (mine.reverse_arguments, True)):
        assert spell_bindings(bindings) == spell_bindings(their_functionalization.op_arguments(func, is_reverse))
    expected = their_functionalization.returns_type(func).cpp_type()
    assert functionalization.returns_type(function.func).cpp_type() == expected


def test_ufuncs() -> None:
    theirs = [g for g in structured_groups() if g.out.ufunc_inner_loop]
    assert theirs
    for their_group in theirs:
        group = our_group(their_group)
        with in_group(their_group.out):
            check_ufunc(group, their_group)


def check_ufunc(group: NativeFunctionsGroup, theirs: Any) -> None:
    for key in ("CPU", "CUDA"):
        expected = their_ufunc.kernel_name(theirs, their_model.DispatchKey[key])
        assert ufunc.kernel_name(group, DispatchKey[key]) == expected
    assert spell_bindings(ufunc.stub_arguments(group)) == spell_bindings(their_ufunc.stub_arguments(theirs))
    their_scalar = their_types.BaseCType(their_types.scalar_t)
    for mine, their_ctype in (
        (BaseCType(scalar_t), their_scalar),
        (BaseCType(opmath_t), their_types.BaseCType(their_types.opmath_t)),
        (VectorizedCType(BaseCType(scalar_t)), their_types.VectorizedCType(their_scalar)),
    ):
        assert spell_bindings(ufunc.ufunc_arguments(group, compute_t=mine)) == spell_bindings(
            their_ufunc.ufunc_arguments(theirs, compute_t=their_ctype)
        )
    for index in (None, 0, 1):
        actual = ufunc.ufunctor_arguments(group, scalar_tensor_idx=index, scalar_t=scalar_t)
        expected = their_ufunc.ufunctor_arguments(theirs, scalar_tensor_idx=index, scalar_t=their_types.scalar_t)
        assert spell_bindings(actual.ctor) == spell_bindings(expected.ctor)
        assert spell_bindings(actual.apply) == spell_bindings(expected.apply)


@pytest.mark.parametrize("external", [False, True])
def test_kernel_signatures(external: bool) -> None:
    for their_index in parsed_yaml().backend_indices.values():
        index = BackendIndex(
            DispatchKey[their_index.dispatch_key.name],
            their_index.use_out_as_primary,
            their_index.device_guard,
            external,
            {
                OperatorName.parse(str(name)): BackendMetadata(k.kernel, k.structured, k.cpp_namespace)
                for name, k in their_index.index.items()
            },
        )
        their_index = dataclasses.replace(their_index, external=external)
        for theirs, mine in with_policy():
            if theirs.func.name in their_index.index:
                expected = their_types.kernel_signature(theirs, their_index, prefix="wrap_")
                actual = Signatures(mine).kernel(index).with_prefix("wrap_")
                assert actual.decl() == expected.decl()


def test_signatures_are_derived_once() -> None:
    signatures = Signatures(pairs()[0][1])
    assert signatures.cpp is signatures.cpp
    assert signatures.dispatcher_nosymint is signatures.dispatcher
    assert signatures.native_symint is signatures.native


def test_deriving_everything_is_quick() -> None:
    functions = [mine for _, mine in pairs()]
    start = time.process_time()
    for function in functions:
        signatures = Signatures(function)
        for kind in ("dispatcher", "dispatcher_nosymint", "native", "native_symint", "cpp", "cpp_method"):
            getattr(signatures, kind)
    # Takes a fraction of that; the bound is for machines that are slow and busy.
    assert time.process_time() - start < 2.5
