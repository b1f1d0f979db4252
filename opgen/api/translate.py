"""C++ expressions in scope → expressions of the types that a call needs.

Two functions for the same operator can take its arguments in different C++ types: one takes a
`TensorOptions` where the other takes dtype, layout, device and pin_memory; one takes an
`IntArrayRef` and the other a `SymIntArrayRef`.  A binding records which argument it carries, so
`translate` can derive the expressions of a call from one to the other: it looks up each goal among
the bindings, then tries the conversions listed here.

    options: at::TensorOptions   →   dtype: ::std::optional<at::ScalarType>
    c10::optTypeMetaToScalarType(options.dtype_opt())

Conversions that copy (a vector from an array reference) are tried only with `allow_expensive_conversions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from opgen.api.types import (
    BOOL,
    CONST_OPTIONAL_SCALAR,
    CONST_OPTIONAL_TENSOR,
    CONST_SCALAR,
    CONST_TENSOR,
    I_OPT_TENSOR_LIST_REF,
    INT_ARRAY_REF,
    LONG,
    LONG_VECTOR,
    MUTABLE_TENSOR,
    OPTIONAL_INT_ARRAY_REF,
    OPTIONAL_SCALAR,
    OPTIONAL_SCALAR_REF,
    OPTIONAL_SYM_INT_ARRAY_REF,
    OPTIONAL_TENSOR,
    OPTIONAL_TENSOR_LIST,
    OPTIONAL_TENSOR_REF,
    SYM_INT,
    SYM_INT_ARRAY_REF,
    SYM_INT_VECTOR,
    TENSOR_OPTIONS,
    ArgName,
    ArrayRefCType,
    BaseCType,
    Binding,
    ConstRefCType,
    CType,
    Expr,
    MutRefCType,
    NamedCType,
    OptionalCType,
    SpecialArgName,
    deviceT,
    layoutT,
    memoryFormatT,
    opmath_t,
    scalar_t,
    scalarTypeT,
)
from opgen.frozen_dataclass import dataclass


class UnsatError(Exception):
    """A goal can't be reached from the bindings, which indicates an opgen bug."""


Fact: TypeAlias = tuple[ArgName, str]
"""A value in scope: the argument that it carries, and its C++ type as spelled."""


@dataclass(frozen=True, slots=True)
class _Conversion:
    """A conversion from one C++ type to another."""

    source: CType
    template: str
    """C++ with `{0}` for the expression converted."""


_SCALAR_T: Final = BaseCType(scalar_t)
_OPMATH_T: Final = BaseCType(opmath_t)
_OPTIONAL_LONG: Final = OptionalCType(LONG)
_OPTIONAL_SYM_INT: Final = OptionalCType(SYM_INT)
_OPTIONAL_LONG_VECTOR: Final = OptionalCType(LONG_VECTOR)
_CONST_OPTIONS: Final = ConstRefCType(TENSOR_OPTIONS)
_OPTIONAL_MEMORY_FORMAT: Final = OptionalCType(BaseCType(memoryFormatT))


_TENSOR_VIEW: Final = _Conversion(
    CONST_OPTIONAL_TENSOR,
    "(({0}.has_value() && (*{0}).defined()) ? at::OptionalTensorRef(*{0}) : at::OptionalTensorRef())",
)
_SCALAR_VIEW: Final = _Conversion(
    CONST_OPTIONAL_SCALAR, "({0}.has_value() ? at::OptionalScalarRef(&({0}.value())) : at::OptionalScalarRef())"
)


def _if_has_value(then: str) -> str:
    return "{0}.has_value() ? ::std::make_optional(" + then + ") : ::std::nullopt"


def _same(*sources: CType) -> tuple[_Conversion, ...]:
    return tuple(_Conversion(source, "{0}") for source in sources)


def _then(first: _Conversion, template: str) -> _Conversion:
    return _Conversion(first.source, template.replace("{0}", first.template))


_CONVERSIONS: Final[Mapping[CType, tuple[_Conversion, ...]]] = MappingProxyType(
    {
        OPTIONAL_TENSOR_REF: (*_same(OPTIONAL_TENSOR), _TENSOR_VIEW),
        OPTIONAL_SCALAR_REF: (*_same(OPTIONAL_SCALAR), _SCALAR_VIEW),
        I_OPT_TENSOR_LIST_REF: (_Conversion(OPTIONAL_TENSOR_LIST, "at::IOptTensorListRef({0})"),),
        _OPMATH_T: (
            _Conversion(CONST_SCALAR, "({0}).to<opmath_t>()"),
            _Conversion(_SCALAR_T, "static_cast<opmath_t>({0})"),
        ),
        LONG: (_Conversion(SYM_INT, "{0}.guard_int(__FILE__, __LINE__)"),),
        SYM_INT: _same(LONG),
        _OPTIONAL_LONG: (_Conversion(_OPTIONAL_SYM_INT, _if_has_value("{0}->guard_int(__FILE__, __LINE__)")),),
        _OPTIONAL_SYM_INT: (_Conversion(_OPTIONAL_LONG, _if_has_value("c10::SymInt(*{0})")),),
        INT_ARRAY_REF: (
            *_same(LONG_VECTOR),
            _Conversion(SYM_INT_ARRAY_REF, "C10_AS_INTARRAYREF_SLOW({0})"),
        ),
        ArrayRefCType(LONG): (
            *_same(INT_ARRAY_REF, LONG_VECTOR),
            _Conversion(SYM_INT_ARRAY_REF, "C10_AS_INTARRAYREF_SLOW({0})"),
        ),
        SYM_INT_ARRAY_REF: (
            *_same(SYM_INT_VECTOR),
            _Conversion(INT_ARRAY_REF, "c10::fromIntArrayRefSlow({0})"),
        ),
        OPTIONAL_INT_ARRAY_REF: (
            *_same(_OPTIONAL_LONG_VECTOR),
            _Conversion(OPTIONAL_SYM_INT_ARRAY_REF, _if_has_value("C10_AS_INTARRAYREF_SLOW(*{0})")),
        ),
        OPTIONAL_SYM_INT_ARRAY_REF: (
            _Conversion(OPTIONAL_INT_ARRAY_REF, _if_has_value("c10::fromIntArrayRefSlow(*{0})")),
        ),
    }
)
"""The conversions to each type, best first, from values in scope; conversions don't chain."""

_COPIES: Final[Mapping[CType, tuple[_Conversion, ...]]] = MappingProxyType(
    {
        LONG_VECTOR: (_Conversion(INT_ARRAY_REF, "{0}.vec()"),),
        SYM_INT_VECTOR: (_Conversion(SYM_INT_ARRAY_REF, "{0}.vec()"),),
        _OPTIONAL_LONG_VECTOR: (_Conversion(OPTIONAL_INT_ARRAY_REF, _if_has_value("{0}->vec()")),),
        OPTIONAL_SCALAR: (
            _Conversion(OPTIONAL_SCALAR_REF, _if_has_value("{0}")),
            _then(_SCALAR_VIEW, _if_has_value("{0}")),
        ),
        OPTIONAL_TENSOR: (
            _Conversion(OPTIONAL_TENSOR_REF, _if_has_value("{0}")),
            _then(_TENSOR_VIEW, _if_has_value("{0}")),
        ),
    }
)
"""Conversions that copy."""


@dataclass(frozen=True, slots=True)
class _Option:
    """A tensor option, and templates of the expressions that read it."""

    name: str
    ctype: CType
    of_options: str
    """From a `TensorOptions`."""
    of_out: str
    """From an out tensor."""


_OPTIONS: Final = (
    _Option(
        "dtype",
        OptionalCType(BaseCType(scalarTypeT)),
        "c10::optTypeMetaToScalarType({0}.dtype_opt())",
        "{0}.scalar_type()",
    ),
    _Option("layout", OptionalCType(BaseCType(layoutT)), "{0}.layout_opt()", "{0}.layout()"),
    _Option("device", OptionalCType(BaseCType(deviceT)), "{0}.device_opt()", "{0}.device()"),
    _Option("pin_memory", OptionalCType(BOOL), "{0}.pinned_memory_opt()", "::std::nullopt"),
)


@dataclass(frozen=True, slots=True)
class _Solver:
    """Finds expressions for goals from expressions in scope."""

    in_scope: Mapping[Fact, str]
    allow_copies: bool

    def solve(self, name: ArgName, ctype: CType) -> str | None:
        """Return an expression of type `ctype` for the argument `name`; None if there is none."""
        expr = self.in_scope.get((name, ctype.spelled))
        if expr is None:
            expr = self._convert(name, ctype, _CONVERSIONS)
        if expr is None:
            expr = self._from_tensor_options(name, ctype)
        if expr is None and isinstance(ctype, ConstRefCType | MutRefCType):
            expr = self._refer(name, ctype)
        if expr is None and self.allow_copies:
            expr = self._convert(name, ctype, _COPIES)
        return expr

    def _convert(self, name: ArgName, ctype: CType, conversions: Mapping[CType, tuple[_Conversion, ...]]) -> str | None:
        for conversion in conversions.get(ctype, ()):
            source = self.in_scope.get((name, conversion.source.spelled))
            if source is not None:
                return conversion.template.format(source)
        return None

    def _refer(self, name: ArgName, ctype: ConstRefCType | MutRefCType) -> str | None:
        """Return a reference to a value, or one kind of reference from the other."""
        if isinstance(ctype, ConstRefCType):
            mutable = self.in_scope.get((name, MutRefCType(ctype.elem).spelled))
            return self.solve(name, ctype.elem) if mutable is None else mutable
        expr = self.solve(name, ctype.elem)
        if expr is None and ctype == MUTABLE_TENSOR:
            const = self.in_scope.get((name, CONST_TENSOR.spelled))
            return None if const is None else f"const_cast<Tensor&>({const})"
        return expr

    def _from_tensor_options(self, name: ArgName, ctype: CType) -> str | None:
        """Return tensor options: split, combined, or read from an out tensor."""
        if name == "options" and ctype == TENSOR_OPTIONS:
            return self._assemble_options()
        if name == "memory_format" and ctype == _OPTIONAL_MEMORY_FORMAT:
            return self._memory_format()
        for option in _OPTIONS:
            if name == option.name and ctype == option.ctype:
                whole = self._options()
                if whole is not None:
                    return option.of_options.format(whole)
                out = self.solve("out", CONST_TENSOR)
                return None if out is None else option.of_out.format(out)
        return None

    def _assemble_options(self) -> str | None:
        parts = [self.in_scope.get((each.name, each.ctype.spelled)) for each in _OPTIONS]
        if None in parts:
            return None
        return "TensorOptions().dtype({}).layout({}).device({}).pinned_memory({})".format(*parts)

    def _options(self) -> str | None:
        in_scope = self.in_scope
        return in_scope.get(("options", _CONST_OPTIONS.spelled)) or in_scope.get(("options", TENSOR_OPTIONS.spelled))

    def _memory_format(self) -> str | None:
        """Return the memory format next to tensor options, with a check that they don't conflict."""
        memory_format = self.in_scope.get(
            (SpecialArgName.possibly_redundant_memory_format, _OPTIONAL_MEMORY_FORMAT.spelled)
        )
        options = self._options()
        if memory_format is None or options is None:
            return memory_format
        return f"c10::impl::check_tensor_options_and_extract_memory_format({options}, {memory_format})"


def translate(
    bindings: Iterable[Expr | Binding],
    goals: Sequence[NamedCType | Binding],
    *,
    method: bool = False,
    allow_expensive_conversions: bool = False,
) -> list[Expr]:
    """Return an expression for each goal, in order, made from the bindings.

    The expression of a binding is its name.  With `method`, the code is in a member of `Tensor`, so
    `*this` is `self`.  If several bindings have the same argument and type, the last one is used.
    Raises `UnsatError` if a goal can't be reached.
    """
    types = [goal.nctype if isinstance(goal, Binding) else goal for goal in goals]
    exprs = _solve(_facts(bindings, method=method), types, allow_expensive_conversions)
    return [Expr(expr, goal) for expr, goal in zip(exprs, types, strict=True)]


def call_arguments(
    bindings: Sequence[Expr | Binding], goals: Sequence[NamedCType | Binding], *, method: bool = False
) -> str:
    """Return the result of `translate` as the arguments of a call."""
    types = [goal.nctype if isinstance(goal, Binding) else goal for goal in goals]
    return ", ".join(_solve(_facts(bindings, method=method), types, allow_copies=False))


def _facts(bindings: Iterable[Expr | Binding], *, method: bool) -> dict[Fact, str]:
    in_scope: dict[Fact, str] = {}
    for binding in bindings:
        if isinstance(binding, Binding):
            nctype = binding.nctype
            in_scope[nctype.name, nctype.type.spelled] = binding.name
        else:
            in_scope[binding.type.name, binding.type.type.spelled] = binding.expr
    if method:
        # Methods of Tensor are const even if they mutate the tensor.
        itself = "const_cast<Tensor&>(*this)"
        in_scope["self", MUTABLE_TENSOR.spelled] = in_scope["self", CONST_TENSOR.spelled] = itself
    return in_scope


def _solve(in_scope: dict[Fact, str], goals: Iterable[NamedCType], allow_copies: bool) -> list[str]:
    result: list[str] = []
    for goal in goals:
        expr = in_scope.get((goal.name, goal.type.spelled))  # fast path
        if expr is None:
            expr = _Solver(in_scope, allow_copies).solve(goal.name, goal.type)
        if expr is None:
            raise UnsatError(_explain(goal, in_scope))
        result.append(expr)
    return result


def _explain(goal: NamedCType, in_scope: dict[Fact, str]) -> str:
    context = "".join(f"\n  {ctype} {_spell(name)}  // {expr}" for (name, ctype), expr in in_scope.items())
    return f"no conversion to '{goal.cpp_type()} {_spell(goal.name)}' from:{context or ' nothing'}"


def _spell(name: ArgName) -> str:
    return name if isinstance(name, str) else name.name
