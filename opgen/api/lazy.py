"""The calling convention of lazy backends: an operator's schema → the inputs and members of its graph node.

A lazy backend computes nothing when an operator is called; it adds a node to a graph.  The node's class
takes *values*, which are results of other nodes, for tensors and for numbers that may change from call to
call, and keeps everything else as members, *scalars*.

    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)   →   class AddTensor, three values
    select.int(Tensor self, int dim, SymInt index)             →   class SelectInt, a value, two scalars

Which C++ class holds a value is an argument, `value_class`: backends may have their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from opgen.api.types import (
    LONG,
    SCALAR,
    BaseCppType,
    BaseCType,
    CType,
    ListCType,
    OptionalCType,
    UnsupportedTypeError,
    VectorCType,
    boolT,
    deviceT,
    doubleT,
    generatorT,
    layoutT,
    memoryFormatT,
    scalarTypeT,
    stringT,
)
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    FunctionSchema,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    Type,
)

PROPERTY_SETS: Final = (
    ("ShapePrecompute", "ShapeCompute", "ShapeCache"),
    ("Lower", "LowerDeclOnly"),
    ("CanBeReused", "CanBeReusedDeclOnly"),
    ("CreateFn", "CreateFnDeclOnly"),
    ("TreatScalarsAsConstants",),
)
"""The properties of a node's class, in sets of mutually exclusive ones.

`ShapePrecompute`: the constructor takes the shapes; `ShapeCompute`: it computes them; `ShapeCache`: it
computes them unless they are cached.  `Lower`: the method that lowers the node to TorchScript.
`CanBeReused`: the method that compares a node with a new one.  `CreateFn`: a static function
that reuses or creates a node.  `…DeclOnly`: declared here, and handwritten.  `TreatScalarsAsConstants`:
numbers are scalars, not values.
"""

_SET_OF: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {word: words for words in PROPERTY_SETS for word in words}
)

VALUE_CLASS: Final = "torch::lazy::Value"
"""The C++ class of a value, unless a backend has its own."""
_TENSOR_LIST_VALUE: Final = BaseCType(BaseCppType("torch::lazy", "Value"))
"""The class of a list of tensors, which is one value."""

_SCALAR_TYPES: Final[Mapping[BaseTy, CType]] = MappingProxyType(
    {
        BaseTy.ScalarType: BaseCType(scalarTypeT),
        BaseTy.int: LONG,
        BaseTy.SymInt: LONG,
        BaseTy.bool: BaseCType(boolT),
        BaseTy.float: BaseCType(doubleT),
        BaseTy.str: BaseCType(stringT),
        BaseTy.Device: BaseCType(deviceT),
        BaseTy.Layout: BaseCType(layoutT),
        BaseTy.MemoryFormat: BaseCType(memoryFormatT),
        BaseTy.Generator: BaseCType(generatorT),
    }
)
"""The C++ types of arguments that are not values of the graph."""


@dataclass(frozen=True, slots=True)
class LazyIrProperties:
    """The properties of a node's class, at most one of each set."""

    names: frozenset[str] = frozenset()

    @staticmethod
    def of(*names: str) -> LazyIrProperties:
        """Return these properties; of each set, the last one that is named."""
        return LazyIrProperties().with_(*names)

    def with_(self, *names: str) -> LazyIrProperties:
        """Return the same with these properties, which replace others of their sets."""
        changed = self.names
        for name in names:
            changed = changed.difference(_SET_OF[name]) | {name}
        return LazyIrProperties(changed)

    def __getattr__(self, name: str) -> bool:
        """Return whether there is such a property: `properties.Lower`."""
        if name not in _SET_OF:
            raise AttributeError(f"there is no property '{name}'")
        return name in self.names


OPERATOR_PROPERTIES: Final = LazyIrProperties.of("ShapePrecompute", "Lower", "CanBeReused")
"""The properties of nodes for torch's operators."""
NON_NATIVE_PROPERTIES: Final = LazyIrProperties.of("ShapeCache", "LowerDeclOnly", "CanBeReused")
"""The properties of a backend's own nodes, unless it specifies others."""


def value_type(value_class: str) -> BaseCType:
    """Return the C++ type that is called `value_class`."""
    namespace, _, name = value_class.rpartition("::")
    return BaseCType(BaseCppType(namespace, name))


@dataclass(frozen=True, slots=True)
class _TypeRules:
    """The options that determine the C++ type of an argument."""

    value: BaseCType
    symint: bool
    """Integers that may be symbolic are values."""
    constants: bool
    """Numbers are scalars."""

    def ctype(self, type: Type) -> CType:
        if isinstance(type, BaseType):
            return self._base(type)
        if isinstance(type, OptionalType):
            return OptionalCType(self.ctype(type.elem))
        if isinstance(type, ListType):
            return self._list(type)
        raise UnsupportedTypeError(type, "has no place in a graph")

    def _base(self, type: BaseType) -> CType:
        if type.name is BaseTy.Tensor or (type.name is BaseTy.SymInt and self.symint):
            return self.value
        if type.name is BaseTy.Scalar:
            return SCALAR if self.constants else self.value
        ctype = _SCALAR_TYPES.get(type.name)
        if ctype is None:
            raise UnsupportedTypeError(type, "has no place in a graph")
        return ctype

    def _list(self, type: ListType) -> CType:
        elem = type.elem
        if elem == BaseType(BaseTy.Tensor):
            return _TENSOR_LIST_VALUE
        if elem == OptionalType(BaseType(BaseTy.Tensor)):
            return ListCType(OptionalCType(self.value))
        if elem == BaseType(BaseTy.SymInt):
            return VectorCType(LONG)
        if elem == BaseType(BaseTy.Scalar):
            return VectorCType(SCALAR)
        return VectorCType(self.ctype(elem))


def _innermost(ctype: CType) -> CType:
    while isinstance(ctype, (OptionalCType, VectorCType, ListCType)):
        ctype = ctype.elem
    return ctype


@dataclass(frozen=True, slots=True)
class LazyArgument:
    """An argument of an operator in the class of its node."""

    argument: Argument
    lazy_type: CType
    """Its C++ type in the node's constructor, without the reference."""
    is_lazy_value: bool
    """Whether it is the result of another node; otherwise it is a member."""
    is_wrapped_scalar: bool
    """Whether it is a number that needs its own node."""
    is_generator: bool
    is_symint_or_list: bool
    """Whether it is an integer, or a list of such, that may be symbolic."""

    @staticmethod
    def derive(
        argument: Argument, properties: LazyIrProperties, *, symint: bool, value_class: str = VALUE_CLASS
    ) -> LazyArgument:
        """Return `argument` as a node takes it.  Raises UnsupportedTypeError if it can't be in a graph."""
        value = value_type(value_class)
        rules = _TypeRules(value, symint, constants=properties.TreatScalarsAsConstants)
        ctype, type = rules.ctype(argument.type), argument.type
        return LazyArgument(
            argument,
            ctype,
            is_lazy_value=_innermost(ctype) in (value, _TENSOR_LIST_VALUE),
            is_wrapped_scalar=type.is_base_ty_like(BaseTy.Scalar) and type.is_list_like() is None,
            is_generator=type.is_generator_like(),
            is_symint_or_list=symint and type.is_symint_like(),
        )

    @property
    def name(self) -> str:
        """The argument's name, in C++ too."""
        return self.argument.name

    @property
    def orig_type(self) -> Type:
        """Its type in the schema."""
        return self.argument.type

    @property
    def is_optional(self) -> bool:
        """Whether it is optional."""
        return isinstance(self.argument.type, OptionalType)

    @property
    def is_tensor_list(self) -> bool:
        """Whether it is a list of tensors."""
        return self.argument.type.is_list_like() is not None and self.lazy_type == _TENSOR_LIST_VALUE


@dataclass(frozen=True, slots=True)
class LazyIrSchema:
    """An operator in terms of the class of its node."""

    func: FunctionSchema
    symint: bool
    """Whether integers that may be symbolic are taken as such."""
    properties: LazyIrProperties
    opkind: str | None
    """The C++ expression for the kind of operation; None to derive it from the name."""
    positional_args: tuple[LazyArgument, ...]
    keyword_args: tuple[LazyArgument, ...]

    @staticmethod
    def derive(
        func: FunctionSchema,
        properties: LazyIrProperties = OPERATOR_PROPERTIES,
        *,
        symint: bool,
        opkind: str | None = None,
        value_class: str = VALUE_CLASS,
    ) -> LazyIrSchema:
        """Return `func` as a node's class sees it.  Raises UnsupportedTypeError if an argument can't be in a graph."""

        def derived(arguments: Iterable[Argument]) -> tuple[LazyArgument, ...]:
            return tuple(
                LazyArgument.derive(argument, properties, symint=symint, value_class=value_class)
                for argument in arguments
            )

        given = func.arguments
        keyword = (*given.flat_kwarg_only, *given.out)
        return LazyIrSchema(func, symint, properties, opkind, derived(given.flat_positional), derived(keyword))

    @property
    def name(self) -> OperatorName:
        """The operator's name."""
        return self.func.name

    @property
    def returns(self) -> tuple[Return, ...]:
        """What the operator returns."""
        return self.func.returns

    @property
    def node_name(self) -> str:
        """The name of the node's class: `add.Tensor` is `AddTensor`, and so is `add_.Tensor`."""
        words = f"{self.aten_name}_{self.name.overload_name}".split("_")
        return "".join(word.capitalize() for word in words)

    @property
    def aten_name(self) -> str:
        """The operator's name without its overload: `add_`."""
        return str(self.name.name)

    @property
    def base_name(self) -> str:
        """The name that all forms and overloads of the operator share: `add`."""
        return self.name.name.base

    @property
    def returns_list(self) -> bool:
        """Whether it returns a list of tensors, however many there are."""
        return len(self.returns) == 1 and self.returns[0].type.is_list_like() is not None

    def filtered_args(
        self,
        positional: bool = True,
        keyword: bool = True,
        values: bool = True,
        scalars: bool = True,
        generator: bool = True,
    ) -> list[LazyArgument]:
        """Return the arguments of these kinds, in the schema's order; a generator is a scalar."""
        arguments = (*(self.positional_args if positional else ()), *(self.keyword_args if keyword else ()))
        return [
            argument
            for argument in arguments
            if (values if argument.is_lazy_value else scalars) and (generator or not argument.is_generator)
        ]

    @property
    def positional_values(self) -> list[LazyArgument]:
        """The values that are given by their position."""
        return self.filtered_args(keyword=False, scalars=False)

    @property
    def positional_scalars(self) -> list[LazyArgument]:
        """The scalars that are given by their position."""
        return self.filtered_args(keyword=False, values=False)

    @property
    def keyword_values(self) -> list[LazyArgument]:
        """The values that are given by name."""
        return self.filtered_args(positional=False, scalars=False)

    @property
    def keyword_scalars(self) -> list[LazyArgument]:
        """The scalars that are given by name."""
        return self.filtered_args(positional=False, values=False)
