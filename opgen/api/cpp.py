"""A schema → the signatures of its public C++ functions, `at::add` and `Tensor::add`.

An operator has up to four of them for `at::` and four for `Tensor`.  The usual signature takes out
arguments first and tensor options as one `TensorOptions`; the *faithful* one takes the arguments
as the schema has them, with no defaults.  Each of the two exists once with plain integers and, if
the schema has a `SymInt`, once with `c10::SymInt`.  How the functions reach the dispatcher is
defined in `dispatcher`.

    add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)

    at::Tensor & add_out(at::Tensor & out, const at::Tensor & self, const at::Tensor & other,
                         const at::Scalar & alpha=1)
    at::Tensor & add_outf(const at::Tensor & self, const at::Tensor & other,
                          const at::Scalar & alpha, at::Tensor & out)

`argumenttype_type` and `returns_type` are where most other conventions get their types from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from opgen.api.boxing import is_argument_boxed, is_return_boxed, owned_ctype
from opgen.api.cpp_defaults import default_expr as default_expr
from opgen.api.cpp_defaults import is_base
from opgen.api.types import (
    BASE_TYPE_TO_CPP,
    BOOL,
    CONST_OPTIONAL_SCALAR,
    CONST_OPTIONAL_TENSOR,
    CONST_SCALAR,
    CONST_TENSOR,
    DEFAULT_POLICY,
    DIMNAME_LIST,
    I_TENSOR_LIST_REF,
    INT_ARRAY_REF,
    LONG,
    LONG_VECTOR,
    MUTABLE_TENSOR,
    OPTIONAL_INT_ARRAY_REF,
    OPTIONAL_SYM_INT_ARRAY_REF,
    OPTIONAL_TENSOR_LIST,
    SCALAR,
    SCALAR_ARRAY_REF,
    STRING,
    SYM_INT_ARRAY_REF,
    SYM_INT_VECTOR,
    TENSOR,
    TENSOR_LIST,
    TENSOR_OPTIONS,
    VOID,
    ArgName,
    ArrayCType,
    ArrayRefCType,
    BaseCType,
    Binding,
    CType,
    NamedCType,
    OptionalCType,
    SpecialArgName,
    TupleCType,
    TypePolicy,
    UnsupportedTypeError,
    VectorCType,
    render_decls,
    render_defns,
    render_types,
)
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    Arguments,
    BaseTy,
    BaseType,
    FunctionSchema,
    ListType,
    NativeFunction,
    OptionalType,
    Return,
    SelfArgument,
    TensorOptionsArguments,
    Type,
)

DISPATCH_KEY_SET_PARAMETER: Final = "c10::DispatchKeySet dispatchKeySet"
"""The first parameter of a function that redispatches."""

_NO_NAMES: Final[frozenset[str]] = frozenset()

# ---------------------------------------------------------------------------------------- names


def name(func: FunctionSchema, *, faithful_name_for_out_overloads: bool = False, symint_overload: bool = False) -> str:
    """Return the public C++ name of `func`: `add`, `add_`, `add_out`, `add_outf`, `empty_symint`."""
    stem = func.name.name.text
    if symint_overload:
        stem += "_symint"
    if func.arguments.out:
        stem += "_outf" if faithful_name_for_out_overloads else "_out"
    return stem


def plain_name(func: FunctionSchema) -> str:
    """Return the operator's name without its overload: `add`, `add_`, `__and__`."""
    return func.name.name.text


def return_names(function: NativeFunction, *, fallback_name: str = "result") -> tuple[str, ...]:
    """Return the names of the values that `function` returns.

    An out function's results are its out arguments, an in-place function's is `self`; others have
    the name that the schema gives, or `fallback_name`, numbered if there are several.
    """
    func = function.func
    count = len(func.returns)
    if func.name.name.inplace:
        return ("self",) * count
    if func.arguments.out:
        return tuple([argument.name for argument in func.arguments.out[:count]])
    if count == 1 and func.returns[0].name is None:
        return (fallback_name,)
    return tuple([_return_name(func, index, fallback_name) for index in range(count)])


def _return_name(func: FunctionSchema, index: int, fallback_name: str) -> str:
    name = func.returns[index].name
    if name is None:
        return fallback_name if len(func.returns) == 1 else f"{fallback_name}{index}"
    if any(argument.name == name for argument in func.arguments.flat_all):
        return f"{name}_return"
    return name


# ---------------------------------------------------------------------------------------- types


@dataclass(frozen=True, slots=True)
class _TypeTable:
    """The C++ types of the usual kinds of arguments, by base type."""

    value: Mapping[BaseTy, CType]
    """`T`, if it is always passed by value; tensors and scalars are not."""
    plain: Mapping[BaseTy, CType]
    """A parameter for `T`."""
    optional: Mapping[BaseTy, CType]
    """A parameter for `T?`."""
    array: Mapping[BaseTy, CType]
    """A parameter for `T[]`; there is none for bool."""
    optional_array: Mapping[BaseTy, CType]
    """A parameter for `T[]?`, if it is not the optional of the one for `T[]`."""


def _type_table(symint: bool) -> _TypeTable:
    value: dict[BaseTy, CType] = {ty: BaseCType(cpp) for ty, cpp in BASE_TYPE_TO_CPP.items()}
    del value[BaseTy.Tensor], value[BaseTy.Scalar]
    symbolic, optional_symbolic = SYM_INT_ARRAY_REF, OPTIONAL_SYM_INT_ARRAY_REF
    if not symint:
        value[BaseTy.SymInt] = LONG
        symbolic, optional_symbolic = INT_ARRAY_REF, OPTIONAL_INT_ARRAY_REF
    array: dict[BaseTy, CType] = {ty: ArrayRefCType(ctype) for ty, ctype in value.items()}
    array |= {
        BaseTy.Tensor: TENSOR_LIST,
        BaseTy.Scalar: SCALAR_ARRAY_REF,
        BaseTy.int: INT_ARRAY_REF,
        BaseTy.SymInt: symbolic,
        BaseTy.Dimname: DIMNAME_LIST,
    }
    del array[BaseTy.bool]
    optional: dict[BaseTy, CType] = {ty: OptionalCType(ctype) for ty, ctype in value.items()}
    optional |= {BaseTy.Tensor: CONST_OPTIONAL_TENSOR, BaseTy.Scalar: CONST_OPTIONAL_SCALAR}
    return _TypeTable(
        value=MappingProxyType(value),
        plain=MappingProxyType(value | {BaseTy.Tensor: CONST_TENSOR, BaseTy.Scalar: CONST_SCALAR}),
        optional=MappingProxyType(optional),
        array=MappingProxyType(array),
        optional_array=MappingProxyType(
            {
                BaseTy.int: OPTIONAL_INT_ARRAY_REF,
                BaseTy.SymInt: optional_symbolic,
                BaseTy.Tensor: OptionalCType(TENSOR_LIST),
            }
        ),
    )


_TABLES: Final = (_type_table(symint=False), _type_table(symint=True))
"""With plain integers, and with `c10::SymInt`."""
_VECTORS: Final = (
    MappingProxyType({BaseTy.int: LONG_VECTOR, BaseTy.SymInt: LONG_VECTOR}),
    MappingProxyType({BaseTy.int: LONG_VECTOR, BaseTy.SymInt: SYM_INT_VECTOR}),
)
_OBJECTS: Final = MappingProxyType({BaseTy.Tensor: TENSOR, BaseTy.Scalar: SCALAR})
"""The by-value types of values that are passed by reference."""
_RETURNED: Final = MappingProxyType({**_TABLES[True].value, **_OBJECTS})


def value_ctype(t: Type, *, symint: bool = False) -> CType | None:
    """Return the C++ type of a `t` that is always passed by value; else None.  Raises UnsupportedTypeError."""
    if isinstance(t, BaseType):
        ctype = _TABLES[symint].value.get(t.name)
        if ctype is None and t.name not in _OBJECTS:
            raise UnsupportedTypeError(t, "has no C++ type")
        return ctype
    if isinstance(t, OptionalType):
        elem = value_ctype(t.elem, symint=symint)
        return None if elem is None else OptionalCType(elem)
    if isinstance(t, ListType):
        return _bool_array(t) if is_base(t.elem, BaseTy.bool) else None
    raise UnsupportedTypeError(t, "has no C++ type")


def _bool_array(t: ListType) -> CType:
    if t.size is None:
        raise UnsupportedTypeError(t, "needs a size: an array of bool is passed by value")
    return ArrayCType(BOOL, t.size)


def valuetype_type(t: Type, *, binds: ArgName, symint: bool = False) -> NamedCType | None:
    """Return `value_ctype` that carries the argument `binds`."""
    ctype = value_ctype(t, symint=symint)
    return None if ctype is None else NamedCType(binds, ctype)


_BOXED_AS_USUAL: Final[Mapping[Type, CType]] = MappingProxyType(
    {
        OptionalType(BaseType(BaseTy.Tensor)): CONST_OPTIONAL_TENSOR,
        OptionalType(ListType(BaseType(BaseTy.Tensor), None)): OptionalCType(TENSOR_LIST),
    }
)
"""Arguments that only the boxed convention passes, but that have their usual C++ type."""


def argument_ctype(
    t: Type,
    *,
    mutable: bool,
    symint: bool = False,
    policy: TypePolicy = DEFAULT_POLICY,
    remove_non_owning_ref_types: bool = False,
) -> CType:
    """Return the C++ type of a parameter for an argument of type `t`.

    `mutable` says that the argument is mutated.  With `remove_non_owning_ref_types`, lists of
    integers are vectors, for a parameter that outlives the call.
    """
    if policy.is_boxed and is_argument_boxed(t, is_write=mutable):
        usual = _BOXED_AS_USUAL.get(t)
        return owned_ctype(t) if usual is None else usual
    if isinstance(t, BaseType):
        if mutable and t.name is BaseTy.Tensor and not policy.use_const_ref_for_mutable_tensors:
            return MUTABLE_TENSOR
        ctype = _TABLES[symint].plain.get(t.name)
        if ctype is not None:
            return ctype
    elif isinstance(t, OptionalType):
        return _optional_ctype(t, mutable, symint, policy)
    elif isinstance(t, ListType):
        if remove_non_owning_ref_types and isinstance(t.elem, BaseType) and t.elem.name in _VECTORS[symint]:
            return _VECTORS[symint][t.elem.name]
        return _list_ctype(t, mutable, symint, policy)
    raise UnsupportedTypeError(t, "has no C++ type")


def _optional_ctype(t: OptionalType, mutable: bool, symint: bool, policy: TypePolicy) -> CType:
    elem = t.elem
    ctype = None
    if isinstance(elem, BaseType):
        if mutable and elem.name is BaseTy.Tensor and not policy.use_const_ref_for_mutable_tensors:
            return MUTABLE_TENSOR
        ctype = _TABLES[symint].optional.get(elem.name)
    elif isinstance(elem, ListType) and isinstance(elem.elem, BaseType):
        ctype = _TABLES[symint].optional_array.get(elem.elem.name)
    return ctype or OptionalCType(argument_ctype(elem, mutable=mutable, symint=symint, policy=policy))


def _list_ctype(t: ListType, mutable: bool, symint: bool, policy: TypePolicy) -> CType:
    elem = t.elem
    if isinstance(elem, BaseType):
        if elem.name is BaseTy.bool:
            return _bool_array(t)
        if elem.name is BaseTy.Tensor and policy.use_ilistref_for_tensor_lists:
            return I_TENSOR_LIST_REF
        ctype = _TABLES[symint].array.get(elem.name)
        if ctype is not None:
            return ctype
    elif isinstance(elem, OptionalType) and is_base(elem.elem, BaseTy.Tensor):
        return OPTIONAL_TENSOR_LIST
    return ArrayRefCType(argument_ctype(elem, mutable=mutable, symint=symint, policy=policy))


def argumenttype_type(
    t: Type,
    *,
    mutable: bool,
    binds: ArgName,
    symint: bool = False,
    policy: TypePolicy = DEFAULT_POLICY,
    remove_non_owning_ref_types: bool = False,
) -> NamedCType:
    """Return `argument_ctype` that carries the argument `binds`.  Raises UnsupportedTypeError."""
    ctype = argument_ctype(
        t,
        mutable=mutable,
        symint=symint,
        policy=policy,
        remove_non_owning_ref_types=remove_non_owning_ref_types,
    )
    return NamedCType(binds, ctype)


def argument_type(
    a: Argument, *, binds: ArgName, symint: bool = False, policy: TypePolicy = DEFAULT_POLICY
) -> NamedCType:
    """Return the type of the parameter for the argument `a`, carrying `binds`.  Raises UnsupportedTypeError."""
    return NamedCType(binds, argument_ctype(a.type, mutable=a.is_write, symint=symint, policy=policy))


def returntype_type(t: Type, *, mutable: bool, policy: TypePolicy = DEFAULT_POLICY) -> CType:
    """Return the C++ type of a returned `t`; a `SymInt` stays one.  Raises UnsupportedTypeError."""
    if policy.is_boxed and is_return_boxed(t):
        return owned_ctype(t, list_type="::std::vector")
    if policy.is_boxed or policy.returns_values:
        mutable = False  # boxed results are values, never references
    if policy.owns_strings and t.base_ty is BaseTy.str:
        return _owned_string_ctype(t)
    if isinstance(t, BaseType):
        if mutable and t.name is BaseTy.Tensor:
            return CONST_TENSOR if policy.use_const_ref_for_mutable_tensors else MUTABLE_TENSOR
        returned = _RETURNED.get(t.name)
        if returned is None:
            raise UnsupportedTypeError(t, "has no C++ type")
        return returned
    value = value_ctype(t, symint=True)
    if value is not None:
        return value
    if isinstance(t, ListType):
        if mutable:
            raise UnsupportedTypeError(t, "can't be returned as a mutable list: return nothing")
        if t.size is not None:
            raise UnsupportedTypeError(t, "can't be returned: drop the size")
        return VectorCType(returntype_type(t.elem, mutable=False, policy=policy))
    if isinstance(t, OptionalType) and is_base(t.elem, BaseTy.Tensor):
        return OptionalCType(returntype_type(t.elem, mutable=mutable, policy=policy))
    raise UnsupportedTypeError(t, "can't be returned")


def _owned_string_ctype(t: Type) -> CType:
    """Return the C++ type of a returned string, optional string or list of strings: `std::string` owns its text."""
    if isinstance(t, OptionalType):
        return OptionalCType(_owned_string_ctype(t.elem))
    return VectorCType(_owned_string_ctype(t.elem)) if isinstance(t, ListType) else STRING


def returns_type(rs: Sequence[Return], *, policy: TypePolicy = DEFAULT_POLICY) -> CType:
    """Return the C++ return type for `rs`: void, one type, or a tuple.  Raises UnsupportedTypeError."""
    if len(rs) == 1:
        return return_type(rs[0], policy=policy)
    if not rs:
        return VOID
    return TupleCType(tuple([return_type(r, policy=policy) for r in rs]))


def return_type(r: Return, *, policy: TypePolicy = DEFAULT_POLICY) -> CType:
    """Return the C++ type of one returned value.  Raises UnsupportedTypeError."""
    mutable = r.annotation is not None and r.annotation.is_write
    return returntype_type(r.type, mutable=mutable, policy=policy)


# ------------------------------------------------------------------------------------ arguments


def _options_default(options: TensorOptionsArguments) -> str | None:
    """Return the default of the `TensorOptions` for four arguments; None if it has none."""
    if all(option.default == "None" for option in options.all()):
        return "{}"
    return "at::kLong" if options.dtype.default == "long" else None


def argument(
    a: Argument | TensorOptionsArguments | SelfArgument,
    *,
    cpp_no_default_args: frozenset[str] = _NO_NAMES,
    method: bool,
    faithful: bool,
    symint: bool = False,
    has_tensor_options: bool,
    policy: TypePolicy = DEFAULT_POLICY,
) -> list[Binding]:
    """Return the parameters for `a`: one, or none (a method's self), or four (faithful tensor options)."""
    if isinstance(a, TensorOptionsArguments):
        return _options(a, faithful, symint, policy)
    if isinstance(a, SelfArgument):
        own = a.argument
        nctype = argument_type(own, binds=own.name, symint=symint, policy=policy)
        return [] if method else [Binding(own.name, nctype, own)]
    is_redundant = has_tensor_options and a.name == "memory_format"
    binds = SpecialArgName.possibly_redundant_memory_format if is_redundant else a.name
    default = None
    if a.default is not None and not faithful and a.name not in cpp_no_default_args:
        default = default_expr(a.default, a.type, symint=symint)
    return [Binding(a.name, argument_type(a, binds=binds, symint=symint, policy=policy), a, default)]


def _options(options: TensorOptionsArguments, faithful: bool, symint: bool, policy: TypePolicy) -> list[Binding]:
    """Return the parameters for tensor options: four if `faithful`, else one for all."""
    if not faithful:
        return [Binding("options", NamedCType("options", TENSOR_OPTIONS), options, _options_default(options))]
    return [
        Binding(option.name, argument_type(option, binds=option.name, symint=symint, policy=policy), options)
        for option in options.all()
    ]


def arguments(
    arguments: Arguments,
    *,
    faithful: bool,
    symint: bool = False,
    method: bool,
    cpp_no_default_args: frozenset[str] = _NO_NAMES,
    policy: TypePolicy = DEFAULT_POLICY,
) -> tuple[Binding, ...]:
    """Return the parameters of a C++ function with these arguments: out arguments first, unless `faithful`."""
    listed = (*arguments.non_out, *arguments.out) if faithful else (*arguments.out, *arguments.non_out)
    bindings = [
        binding
        for a in listed
        for binding in argument(
            a,
            cpp_no_default_args=cpp_no_default_args,
            method=method,
            faithful=faithful,
            symint=symint,
            has_tensor_options=arguments.tensor_options is not None,
            policy=policy,
        )
    ]
    return without_early_defaults(bindings)


def without_early_defaults(bindings: Sequence[Binding]) -> tuple[Binding, ...]:
    """Drop the defaults before a parameter that has none: schemas allow them, C++ doesn't."""
    required = [index for index, binding in enumerate(bindings) if binding.default is None]
    first = required[-1] if required else 0
    if all(binding.default is None for binding in bindings[:first]):
        return tuple(bindings)
    early = [replace(binding, default=None) for binding in bindings[:first]]
    return (*early, *bindings[first:])


# ----------------------------------------------------------------------------------- signatures


@dataclass(frozen=True, slots=True)
class CppSignature:
    """The signature of one public C++ function."""

    func: FunctionSchema
    method: bool
    """Whether it is a method of `Tensor`, which has no parameter `self`."""
    faithful: bool
    """Whether it takes the arguments in the schema's order, with no defaults."""
    symint: bool
    """Whether it takes `c10::SymInt` where the schema has `SymInt`."""
    fallback_binding: bool
    """Whether it is named `__dispatch_…`, since the function with the usual name is handwritten."""
    policy: TypePolicy
    arguments: tuple[Binding, ...]
    returns: CType

    @staticmethod
    def derive(
        function: NativeFunction,
        *,
        method: bool = False,
        faithful: bool = False,
        symint: bool = False,
        fallback_binding: bool = False,
    ) -> CppSignature:
        """Return the signature of `function` of the given kind."""
        func, policy = function.func, TypePolicy.from_function(function)
        bindings = arguments(
            func.arguments,
            faithful=faithful,
            symint=symint,
            method=method,
            cpp_no_default_args=function.cpp_no_default_args,
            policy=policy,
        )
        returns = returns_type(func.returns, policy=policy)
        return CppSignature(func, method, faithful, symint, fallback_binding, policy, bindings, returns)

    def as_method(self) -> CppSignature:
        """Return the method that goes with this function: the same without self."""
        self_arg = self.func.arguments.self_arg
        itself = None if self_arg is None else self_arg.argument
        others = tuple([binding for binding in self.arguments if binding.argument is not itself])
        return CppSignature(
            self.func, True, self.faithful, self.symint, self.fallback_binding, self.policy, others, self.returns
        )

    def name(self, *, suppress_symint_suffix: bool = False) -> str:
        """Return the function's C++ name, optionally without its `_symint`."""
        stem = name(
            self.func,
            faithful_name_for_out_overloads=self.faithful,
            symint_overload=self.symint and not suppress_symint_suffix,
        )
        return f"__dispatch_{stem}" if self.fallback_binding else stem

    def decl(
        self,
        *,
        name: str | None = None,
        prefix: str = "",
        is_redispatching_fn: bool = False,
        suppress_symint_suffix: bool = False,
    ) -> str:
        """Return the declaration, without its semicolon: `at::Tensor sum(const at::Tensor & self, int64_t dim=0)`."""
        if name is None:
            name = prefix + self.name(suppress_symint_suffix=suppress_symint_suffix)
        parameters = render_decls(self.arguments)
        if is_redispatching_fn:
            parameters = after_key_set(parameters)
        return f"{self.returns.spelled} {name}({parameters})"

    def defn(self, *, name: str | None = None, prefix: str = "", is_redispatching_fn: bool = False) -> str:
        """Return the head of the definition: the declaration without defaults."""
        if name is None:
            name = prefix + self.name()
        parameters = render_defns(self.arguments)
        if is_redispatching_fn:
            parameters = after_key_set(parameters)
        return f"{self.returns.spelled} {name}({parameters})"

    def type(self) -> str:
        """Return the C++ function type: `at::Tensor (const at::Tensor &, int64_t)`."""
        return f"{self.returns.spelled} ({render_types(self.arguments)})"

    def ptr_type(self) -> str:
        """Return the C++ pointer-to-function type: `at::Tensor (*)(const at::Tensor &, int64_t)`."""
        return f"{self.returns.spelled} (*)({render_types(self.arguments)})"


def after_key_set(parameters: str) -> str:
    """Return the parameters of a function that redispatches: the key set, then `parameters`."""
    return f"{DISPATCH_KEY_SET_PARAMETER}, {parameters}" if parameters else DISPATCH_KEY_SET_PARAMETER


@dataclass(frozen=True, slots=True)
class CppSignatureGroup:
    """The C++ functions of one operator, all of `at::` or all methods."""

    func: FunctionSchema
    signature: CppSignature
    """The usual one."""
    faithful_signature: CppSignature | None
    """The faithful one, if it differs: there are tensor options or out arguments."""
    symint_signature: CppSignature | None
    """The usual one with `c10::SymInt`, if the schema has any."""
    symint_faithful_signature: CppSignature | None
    """The faithful one with `c10::SymInt`, if it differs and the schema has any."""

    @staticmethod
    def from_native_function(
        function: NativeFunction, *, method: bool, fallback_binding: bool = False
    ) -> CppSignatureGroup:
        """Return every C++ function of `function`."""
        func, policy = function.func, TypePolicy.from_function(function)
        returns = returns_type(func.returns, policy=policy)

        def derive(faithful: bool, symint: bool) -> CppSignature:
            bindings = arguments(
                func.arguments,
                faithful=faithful,
                symint=symint,
                method=method,
                cpp_no_default_args=function.cpp_no_default_args,
                policy=policy,
            )
            return CppSignature(func, method, faithful, symint, fallback_binding, policy, bindings, returns)

        has_faithful = func.arguments.tensor_options is not None or bool(func.arguments.out)
        has_symint = func.has_symint()
        return CppSignatureGroup(
            func,
            derive(False, False),
            derive(True, False) if has_faithful else None,
            derive(False, True) if has_symint else None,
            derive(True, True) if has_faithful and has_symint else None,
        )

    def as_methods(self) -> CppSignatureGroup:
        """Return the methods that go with these functions: the same without self."""

        def as_method(signature: CppSignature | None) -> CppSignature | None:
            return None if signature is None else signature.as_method()

        return CppSignatureGroup(
            self.func,
            self.signature.as_method(),
            as_method(self.faithful_signature),
            as_method(self.symint_signature),
            as_method(self.symint_faithful_signature),
        )

    def most_faithful_signature(self) -> CppSignature:
        """Return the faithful one with plain integers, or the usual one if that is faithful."""
        return self.faithful_signature or self.signature

    def signatures(self, *, symint: bool = True) -> Iterator[CppSignature]:
        """Yield those that exist, the usual one first; without `symint`, those with plain integers."""
        yield self.signature
        if self.faithful_signature is not None:
            yield self.faithful_signature
        if symint and self.symint_signature is not None:
            yield self.symint_signature
        if symint and self.symint_faithful_signature is not None:
            yield self.symint_faithful_signature
