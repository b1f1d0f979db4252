"""Asks the calling conventions about every operator: a program against torchgen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torchgen.api.cpp as aten_cpp
import torchgen.api.meta as meta
from torchgen.api import cpp, dispatcher, python, structured, types, unboxing
from torchgen.api.lazy import LazyIrSchema, setValueT
from torchgen.api.python import (
    PythonSignatureGroup,
    PythonSignatureNativeFunctionPair,
    format_function_signature,
    returns_structseq_pyi,
)
from torchgen.api.translate import translate
from torchgen.api.types import (
    ArgName,
    BaseCppType,
    BaseCType,
    Binding,
    ConstRefCType,
    CppSignature,
    CppSignatureGroup,
    CType,
    DispatcherSignature,
    Expr,
    MutRefCType,
    NamedCType,
    NativeSignature,
    OptionalCType,
    SpecialArgName,
    TupleCType,
    VectorCType,
    boolT,
    doubleT,
    intArrayRefT,
    kernel_signature,
    longT,
    tensorT,
    voidT,
)
from torchgen.context import (
    method_with_native_function,
    method_with_nested_native_function,
    native_function_manager,
    with_native_function_and_index,
)
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import Argument, DispatchKey, NativeFunctionsGroup, SchemaKind


@dataclass(frozen=True)
class SpanCType(CType):
    """A type of the program's own, as a runtime with its own containers has it."""

    elem: CType

    def cpp_type(self, *, strip_ref: bool = False) -> str:
        return f"my::span<{self.elem.cpp_type(strip_ref=True)}>"

    def remove_const_ref(self) -> CType:
        return SpanCType(self.elem.remove_const_ref())


def binding_text(b: Any) -> list[object]:
    assert isinstance(b, Binding)
    assert isinstance(b.nctype, NamedCType)
    name: ArgName = b.nctype.name
    return [b.name, b.type, b.default, str(name), b.decl(), b.defn(), b.no_default().decl(), b.rename("z").defn()]


def ctype_text(t: Any) -> list[str]:
    assert isinstance(t, CType)
    return [t.cpp_type(), t.cpp_type(strip_ref=True), t.remove_const_ref().cpp_type()]


def exprs_text(exprs: Any) -> list[str]:
    assert all(isinstance(each, Expr) for each in exprs)
    return [f"{each.expr} : {each.type.cpp_type()}" for each in exprs]


def cpp_text(f: Any, *, method: bool) -> list[object]:
    group = CppSignatureGroup.from_native_function(f, method=method, fallback_binding=f.manual_cpp_binding)
    found: list[object] = [group.most_faithful_signature().decl()]
    wanted = DispatcherSignature.from_schema(f.func)
    for sig in group.signatures():
        assert isinstance(sig, CppSignature)
        found.append([sig.name(), sig.decl(), sig.defn(prefix="p_"), sig.type(), sig.ptr_type()])
        found.append([binding_text(b) for b in sig.arguments()])
        if not method:
            found.append(exprs_text(translate(sig.arguments(), wanted.arguments())))
    return found


def function_text(f: Any, indices: Any) -> dict[str, object]:
    func = f.func
    dispatch, native = DispatcherSignature.from_schema(func), NativeSignature(func, symint=True, prefix="n_")
    plain = DispatcherSignature.from_schema(func, prefix="w_", symint=False)
    convert, code = unboxing.convert_arguments(f)
    return {
        "cpp": cpp_text(f, method=False),
        "method": cpp_text(f, method=True) if func.arguments.self_arg is not None else [],
        "names": [cpp.name(func), aten_cpp.name(func, symint_overload=True), dispatcher.name(func), unboxing.name(f)],
        "dispatcher": [dispatch.name(), dispatch.decl(), dispatch.defn("g", is_redispatching_fn=True), dispatch.type()],
        "more": [dispatch.ptr_type(), exprs_text(dispatch.exprs()), dispatch.returns_type().cpp_type(), plain.decl()],
        "native": [
            native.name(),
            native.decl(),
            native.defn("g"),
            native.ptr_type(),
            exprs_text(native.dispatcher_exprs()),
        ],
        "returns": ctype_text(cpp.returns_type(func.returns, symint=True)),
        "types": [
            ctype_text(cpp.argumenttype_type(a.type, mutable=a.is_write, binds=a.name).type)
            for a in func.arguments.flat_all
        ],
        "owning": [
            cpp.argumenttype_type(
                a.type, mutable=a.is_write, binds=a.name, remove_non_owning_ref_types=True, symint=True
            ).cpp_type()
            for a in func.arguments.flat_all
        ],
        "defaults": [
            cpp.default_expr(a.default, a.type, symint=False) for a in func.arguments.flat_all if a.default is not None
        ],
        "unboxing": [[binding_text(b) for b in convert], "\n".join(code)],
        "kernels": [
            kernel_signature(f, indices[key], prefix="k_").decl()
            for key in (DispatchKey.CPU, DispatchKey.CompositeExplicitAutograd)
        ],
    }


def group_text(g: Any) -> dict[str, object]:
    found: dict[str, object] = {"meta": meta.name(g)}
    if g.structured:
        found["impl"] = [binding_text(b) for b in structured.impl_arguments(g)]
        found["meta arguments"] = [binding_text(b) for b in structured.meta_arguments(g)]
        found["out"] = [binding_text(b) for b in structured.out_arguments(g)]
        found["types"] = [
            structured.argument_type(a, binds=a.name).cpp_type()
            for a in g.functional.func.arguments.flat_all
            if isinstance(a, Argument)
        ]
    functional = python.PythonSignatureNativeFunctionPair(python.signature(g.functional), g.functional)
    out = PythonSignatureNativeFunctionPair(python.signature(g.out), g.out)
    pair = PythonSignatureGroup.from_pairs(functional, out if g.out.func.kind() is SchemaKind.out else None)
    made = PythonSignatureGroup(functional.signature, g.functional, None)
    found["python"] = [pair.base is g.functional, pair.outplace is g.out, pair.signature.name, made.outplace is None]
    return found


def lazy_text(f: Any) -> list[object]:
    schema = LazyIrSchema(f.func, symint=True)
    return [
        schema.node_name,
        schema.aten_name,
        schema.base_name,
        [[a.name, a.lazy_type.cpp_type(), a.is_generator, a.is_wrapped_scalar] for a in schema.filtered_args()],
        [[a.name for a in kind] for kind in (schema.positional_values, schema.positional_scalars)],
        [[a.name for a in kind] for kind in (schema.keyword_values, schema.keyword_scalars)],
        [schema.properties.Lower, schema.properties.ShapePrecompute, schema.properties.CreateFn],
    ]


class Contexts:
    """Methods that are told at which operator they are."""

    @method_with_native_function
    def returned(self, f: Any) -> str:
        return cpp.returns_type(f.func.returns, symint=False).cpp_type()

    @method_with_nested_native_function
    def nested(self, pair: Any) -> str:
        return f"{pair[1]} {DispatcherSignature.from_schema(pair[0].func).defn()}"


@with_native_function_and_index
def with_index(f: Any, index: Any) -> str:
    return str(kernel_signature(f, index).defn())


def small_values() -> dict[str, object]:
    tensor, long = BaseCType(tensorT), BaseCType(longT)
    shared = ConstRefCType(OptionalCType(tensor))
    made = (
        *(tensor, long, shared, MutRefCType(tensor), VectorCType(BaseCType(doubleT)), BaseCType(intArrayRefT)),
        *(TupleCType([tensor, BaseCType(boolT)]), BaseCType(voidT), BaseCType(BaseCppType("my", "Thing"))),
        *(SpanCType(tensor), ConstRefCType(SpanCType(ConstRefCType(tensor))), OptionalCType(SpanCType(long))),
    )
    named = NamedCType("x", SpanCType(tensor))
    goal = [NamedCType("a", ConstRefCType(tensor)), NamedCType("n", BaseCType(BaseCppType("c10", "SymInt")))]
    given = [Expr("a_", NamedCType("a", ConstRefCType(tensor))), Expr("n_", NamedCType("n", long))]
    special = SpecialArgName.possibly_redundant_memory_format
    signatures = [("f", ["a: int", "b"], "None"), ("f", [f"argument_number: int{n}" for n in range(9)], "int")]
    return {
        "types": [ctype_text(each) for each in made],
        "equal": [ConstRefCType(tensor) == ConstRefCType(BaseCType(tensorT)), tensor == long],
        "named": [named.cpp_type(), named.remove_const_ref().cpp_type(), named.with_name("y").name],
        "named again": Binding("x", named, None, "{}").decl(),
        "translated": exprs_text(translate(given, goal)),
        "special": [special.name, NamedCType(special, tensor).cpp_type(), str(types.BaseCppType("a", "b"))],
        "stub": [format_function_signature(*each) for each in signatures],
        "bare": format_function_signature("f"),
    }


def answers(path: str, tags_path: str) -> dict[str, object]:
    setValueT(BaseCppType("torch::lazy", "Value"))
    parsed = parse_native_yaml(path, tags_path)
    found: dict[str, object] = {}
    contexts = Contexts()
    for f in parsed.native_functions:
        with native_function_manager(f):
            found[f"function {f.func.name}"] = function_text(f, parsed.backend_indices)
        found[f"context {f.func.name}"] = [contexts.returned(f), contexts.nested([f, "and"])]
        found[f"index {f.func.name}"] = with_index(f, parsed.backend_indices[DispatchKey.CPU])
        # Of others torchgen has no signature in Python.
        unnamed = {r.name is None for r in f.func.returns}
        if len(unnamed) < 2 and all(a.name != "requires_grad" for a in f.func.arguments.flat_all):
            found[f"structseq {f.func.name}"] = returns_structseq_pyi(python.signature(f))
        if "Scalar[]" in str(f.func):
            continue  # torchgen makes values of the numbers, which no C++ goes with
        try:
            found[f"lazy {f.func.name}"] = lazy_text(f)
        except (AssertionError, NotImplementedError):
            found[f"lazy {f.func.name}"] = "refused"
    for g in get_grouped_native_functions(parsed.native_functions):
        if isinstance(g, NativeFunctionsGroup):
            with native_function_manager(g):
                found[f"group {g.functional.func.name}"] = group_text(g)
    return {**found, **{f"value {name}": value for name, value in small_values().items()}}
