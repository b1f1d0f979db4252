"""Operators → their C++ signatures, one calling convention per module.

Emitters use `signatures.Signatures`, which memoizes derived signatures, and the modules themselves
for anything else.  Everything here is a frozen value or a pure function.

    from opgen.api.signatures import Signatures, GroupSignatures, ViewGroupSignatures
    from opgen.api.translate import translate
    from opgen.api.types import Binding, Expr, NamedCType, BaseCType, tensorT

**signatures**: one object per operator or group, whose signatures are derived on first use

    Signatures(function)                # NativeFunction; a program keeps one each
        .function  .func  .schema: str  .policy  .has_symint  .return_names: tuple[str, ...]
        .cpp  .cpp_method  .cpp_backend # CppSignatureGroup: at::, Tensor::, at::cpu::
        .dispatcher  .dispatcher_nosymint           # DispatcherSignature
        .native  .native_symint                     # NativeSignature
        .kernel(backend_index)          # of the kernel under a key: native, or the dispatcher's if external
        .view_meta                      # ViewMeta, of a view operator
    GroupSignatures(group)              # NativeFunctionsGroup, structured
        .meta_name  .meta_arguments  .impl_arguments  .out_arguments  .impl(name) -> StructuredImplSignature
    ViewGroupSignatures(group)          # NativeFunctionsViewGroup
        .inverse: ViewInverseSignature  .replay_name  .copy_name  .reverse_name

`cpp` and `cpp_method` are named `__dispatch_…` if the real function is handwritten
(`manual_cpp_binding`); `cpp_backend` never is.  Use `.cpp_method` only for operators with the
method variant.  If the schema has no `SymInt`, the symint signatures are the same objects as the plain
ones; `has_symint` tells whether they differ.

**Signature objects.**  `arguments` (a tuple of `Binding`) and `returns` (a `CType`) are attributes.
Texts are methods; no declaration ends in a semicolon.

    CppSignature       .name(suppress_symint_suffix=)  .decl(name=, prefix=, is_redispatching_fn=,
                       suppress_symint_suffix=)  .defn(name=, prefix=, is_redispatching_fn=)  .type()
                       .ptr_type()  .as_method()  .func .method .faithful .symint .fallback_binding
    CppSignatureGroup  .signature  .faithful_signature | None  .symint_signature | None
                       .symint_faithful_signature | None  .most_faithful_signature()
                       .signatures(symint=True)
    DispatcherSignature .name() .decl(name) .defn(name, is_redispatching_fn=) .type() .ptr_type()
                       .exprs() .returns_type() .with_prefix(prefix)
    NativeSignature    .name() .decl(name) .defn(name) .ptr_type() .dispatcher_exprs()
                       .returns_type() .with_prefix(prefix)
    StructuredImplSignature .name .arguments .defn()
    ViewInverseSignature    .name .arguments .decl()
    ViewMeta           .classname .is_multi_output .is_as_strided .base_ctor_arguments
                       .extra_ctor_arguments .attributes .forward_arguments .reverse_arguments

Each class has a `derive(function, …)` (`CppSignatureGroup.from_native_function`), and the dispatcher
and native ones a `from_schema(func, symint=, policy=)` for a schema that belongs to no operator.

**types**: `CType` and its kinds with `.cpp_type(strip_ref=)` and `.remove_const_ref()` (`str(ctype)` is
`ctype.cpp_type()`, `==` compares spellings); `NamedCType(name, type)`; `Binding(name, nctype, argument,
default)` with `.type` `.decl()` `.defn()` `.no_default()` `.with_name(name)`; `Expr(expr, type)`;
`SpecialArgName`; `TypePolicy`; the names of C++ (`tensorT`, `longT`, `scalarTypeT`, …); composed types
made once (`TENSOR`, `CONST_TENSOR`, `INT_ARRAY_REF`, …); `render_decls`, `render_defns`,
`render_types` for parameter lists.

**translate**: `translate(bindings, goals, method=False, allow_expensive_conversions=False)` gives an
`Expr` for each goal (a `Binding` or `NamedCType`) out of bindings or expressions.

**cpp, dispatcher, native, structured, meta, ufunc, functionalization**: `name`, `arguments`,
`argument_type`, `returns_type` … of each convention.  `TypePolicy` replaces torchgen's
thread-local variables: pass `signatures.policy` as `policy=`, or omit it for the default.  A type
without a C++ type raises `UnsupportedTypeError`.
"""
