"""The text of a type, with alias annotations ⇄ frozen values.

    Type.parse("Tensor[]?")         OptionalType(ListType(BaseType(Tensor), None))
    Annotation.parse("a -> *")      Annotation(("a",), False, ("*",))

Each class reads itself from a `Cursor` (`read`) or from a whole text (`parse`) and prints itself with `str`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from opgen.diagnostics import expected
from opgen.frozen_dataclass import dataclass
from opgen.schema.lexer import Cursor, T, parse_whole

MAX_TYPE_DEPTH: Final = 32
"""Maximum nesting depth of a type."""


MAX_SIZE_DIGITS: Final = 9
"""Maximum number of digits of the N in `T[N]`."""


_CUSTOM_CLASS_PREFIX: Final = "__torch__.torch.classes."
_TYPE_VARIABLE: Final = re.compile(r"t(\d+|[A-Z]\w*)?")
_SCRIPT_NAMES: Final = frozenset(
    {
        "Any",
        "AnyClassType",
        "AnyEnumType",
        "AnyList",
        "AnyTuple",
        "Capsule",
        "NoneType",
        "PyObject",
        "complex",
        "list",
        "number",
        "tuple",
    }
)


_FOREIGN_TYPES: Final = (
    ("ArrayRef", "write 'int[]' for a list of int"),
    ("IntArrayRef", "write 'int[]'"),
    ("List", "write 'int[]' for a list of int"),
    ("Optional", "write 'Tensor?' for a Tensor or None"),
    ("SymIntArrayRef", "write 'SymInt[]'"),
    ("TensorList", "write 'Tensor[]'"),
    ("Tuple", "write '(Tensor, Tensor)' for two returns"),
    ("at", "types are written without a namespace"),
    ("c10", "types are written without a namespace"),
    ("const", "remove it: an argument is read-only unless it is annotated, as in 'Tensor(a!)'"),
    ("double", "write 'float', which has the precision of C++'s double"),
    ("int32_t", "write 'int', which has 64 bits"),
    ("int64_t", "write 'int', which has 64 bits"),
    ("list", "write 'int[]' for a list of int"),
    ("optional", "write 'Tensor?' for a Tensor or None"),
    ("size_t", "write 'int', which has 64 bits"),
    ("std", "types are written without a namespace"),
    ("string", "write 'str'"),
    ("torch", "types are written without a namespace"),
    ("tuple", "write '(Tensor, Tensor)' for two returns"),
    ("void", "write '()' for no returns"),
)
"""Types of C++ and Python, and the advice for schemas that use them."""


_SCRIPT_GENERICS: Final = frozenset({"Await", "Future", "RRef", "Union"})


class BaseTy(Enum):
    """The base types of schemas."""

    __hash__ = object.__hash__  # by identity, which runs no Python code

    Generator = auto()
    ScalarType = auto()
    Tensor = auto()
    int = auto()
    DimVector = auto()
    Dimname = auto()
    float = auto()
    str = auto()
    bool = auto()
    Layout = auto()
    Device = auto()
    DeviceIndex = auto()
    Scalar = auto()
    MemoryFormat = auto()
    QScheme = auto()
    Storage = auto()
    Stream = auto()
    SymInt = auto()
    SymBool = auto()
    GraphModule = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """Base class of the types of the schema language."""

    text: str = field(init=False, repr=False, compare=False)
    """The type as a schema spells it."""
    base_ty: BaseTy | None = field(init=False, repr=False, compare=False)
    """The base type without lists and optionals; None if it is not in `BaseTy`."""

    @staticmethod
    def parse(text: str) -> Type:
        """Parse `text`, a type without an alias annotation.  Raises SchemaError."""
        return parse_whole(text, "a type", Type.read)

    @staticmethod
    def read(cursor: Cursor) -> Type:
        """Read the type ahead, without an alias annotation.  Raises SchemaError."""
        start = cursor.start
        type, annotation = read_annotated_type(cursor)
        if annotation is not None and not cursor.lenient:
            cursor.fail("an alias annotation has no meaning here", start, cursor.previous_end)
        return type  # torch's parser also drops annotations inside a dictionary or a tuple

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        """Return whether this is `base_ty`, or a list or an optional of it."""
        return self.base_ty is base_ty

    def is_tensor_like(self) -> bool:
        """Return whether this is a tensor, or a list or an optional of tensors."""
        return self.base_ty is BaseTy.Tensor

    def is_generator_like(self) -> bool:
        """Return whether this is a generator, or an optional generator."""
        return self.base_ty is BaseTy.Generator

    def is_symint_like(self) -> bool:
        """Return whether this is a SymInt, or a list or an optional of SymInts."""
        return self.base_ty is BaseTy.SymInt

    def is_nullable(self) -> bool:
        """Return whether it, or an element of it, may be None."""
        return False

    def is_list_like(self) -> ListType | None:
        """Return the list type that this is, or is an optional of; None otherwise."""
        return None

    def spell(self, annotation: Annotation | None) -> str:
        """Return the type's text with an alias annotation in its place."""
        return self.text if annotation is None else f"{self.text}({annotation.text})"

    def __str__(self) -> str:
        return self.text

    def _keep(self, text: str, base_ty: BaseTy | None = None) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "base_ty", base_ty)


@dataclass(frozen=True, slots=True, eq=False)
class BaseType(Type):
    """A type of `BaseTy`.

    There is one object per type, so comparisons run no Python code.
    """

    name: BaseTy

    def __new__(cls, name: BaseTy) -> BaseType:
        return _BASE_TYPES[name]

    def __init__(self, name: BaseTy) -> None:
        """Set nothing: `__new__` returns a finished object."""

    def __reduce__(self) -> tuple[type[BaseType], tuple[BaseTy]]:
        return BaseType, (self.name,)


def _make_base_type(name: BaseTy) -> BaseType:
    base_type = object.__new__(BaseType)
    object.__setattr__(base_type, "name", name)
    base_type._keep(name.name, name)
    return base_type


@dataclass(frozen=True, slots=True)
class _Wrapper(Type):
    """A type spelled as another type and a suffix."""

    elem: Type
    """The type before the suffix."""

    def __post_init__(self) -> None:
        self._keep(f"{self.elem.text}{self.suffix()}", self.elem.base_ty)

    def suffix(self) -> str:
        """Return the suffix after the element's type."""
        raise NotImplementedError

    def spell(self, annotation: Annotation | None) -> str:
        if annotation is None:
            return self.text
        if annotation.suffixes_before >= _suffix_count(self):
            return f"{self.text}({annotation.text})"
        return f"{self.elem.spell(annotation)}{self.suffix()}"


@dataclass(frozen=True, slots=True)
class OptionalType(_Wrapper):
    """`T?`: a T or None."""

    def suffix(self) -> str:
        return "?"

    def is_nullable(self) -> bool:
        return True

    def is_list_like(self) -> ListType | None:
        return self.elem.is_list_like()


@dataclass(frozen=True, slots=True)
class ListType(_Wrapper):
    """`T[]` or `T[N]`: a list; a single T is accepted for `T[N]`."""

    size: int | None
    """N in `T[N]`; None if no size is given."""

    def suffix(self) -> str:
        return "[]" if self.size is None else f"[{self.size}]"

    def is_nullable(self) -> bool:
        return self.elem.is_nullable()

    def is_list_like(self) -> ListType | None:
        return self


@dataclass(frozen=True, slots=True)
class CustomClassType(Type):
    """A class bound with `torch::class_`, e.g. `__torch__.torch.classes.rnn.CellParamsBase`."""

    class_name: str
    """The name after `__torch__.torch.classes.`."""

    def __post_init__(self) -> None:
        self._keep(f"{_CUSTOM_CLASS_PREFIX}{self.class_name}")


@dataclass(frozen=True, slots=True)
class DictType(Type):
    """`Dict(K, V)`."""

    key: Type
    value: Type

    def __post_init__(self) -> None:
        self._keep(f"Dict({self.key}, {self.value})")


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    """`(A, B)` as a type."""

    elements: tuple[Type, ...]

    def __post_init__(self) -> None:
        self._keep(f"({', '.join(map(str, self.elements))})")


@dataclass(frozen=True, slots=True)
class ScriptType(Type):
    """A type that only TorchScript's own operators have: `t`, `Any`, `complex`, `Future(t)`."""

    name: str
    parameters: tuple[Type, ...] = ()

    def __post_init__(self) -> None:
        inside = f"({', '.join(map(str, self.parameters))})" if self.parameters else ""
        self._keep(f"{self.name}{inside}")


def _suffix_count(type: Type) -> int:
    return 1 + _suffix_count(type.elem) if isinstance(type, _Wrapper) else 0


def read_annotated_type(cursor: Cursor) -> tuple[Type, Annotation | None]:
    """Read a type with its suffixes, and the alias annotation among them.  Raises SchemaError."""
    cursor.depth += 1
    type = _read_plain_type(cursor)
    annotation, suffixes = None, 0
    while cursor.kind == "punctuation":
        if cursor.depth + suffixes > MAX_TYPE_DEPTH:
            cursor.fail("types are nested too deep", cursor.start, cursor.end)
        if cursor.accept("?"):
            # torch reads `T??` as `T?`.
            type = type if cursor.lenient and isinstance(type, OptionalType) else OptionalType(type)
            suffixes += 1
        elif cursor.accept("["):
            type, suffixes = ListType(type, _read_size(cursor)), suffixes + 1
        elif cursor.ahead == "(":
            start = cursor.start
            cursor.take()
            new_annotation = Annotation.read(cursor, suffixes)
            cursor.expect(")", "after the alias annotation")
            if annotation is not None:
                cursor.fail("a type has one alias annotation, this is the second", start, cursor.previous_end)
            annotation = new_annotation
        elif cursor.lenient and annotation is None and cursor.accept("!"):
            annotation = Annotation((cursor.fresh_alias_set(),), True, (), suffixes)
        else:
            break
    cursor.depth -= 1
    return type, annotation


def parse_annotated_type(text: str) -> tuple[Type, Annotation | None]:
    """Parse `text`, a type with an optional alias annotation.  Raises SchemaError."""
    return parse_whole(text, "a type", read_annotated_type)


def _read_size(cursor: Cursor) -> int | None:
    if cursor.accept("]"):
        return None
    if cursor.kind != "number" or not cursor.ahead.isdigit():
        cursor.fail_ahead("expected ']' or the size of the list")
    if len(cursor.ahead) > MAX_SIZE_DIGITS:
        cursor.fail("this size is too large", cursor.start, cursor.end)
    size = int(cursor.take())
    cursor.expect("]", "after the size of the list")
    return size


_BASE_TYPES: Final[Mapping[BaseTy, BaseType]] = MappingProxyType({ty: _make_base_type(ty) for ty in BaseTy})
_BASE_TYPES_BY_NAME: Final[Mapping[str, BaseType]] = MappingProxyType({ty.text: ty for ty in _BASE_TYPES.values()})


OF_SOME_RELEASES: Final = frozenset({BaseTy.Dimname})
"""The types that some release of torch doesn't have: `missing_types` of that release."""
_SUGGESTED_TYPES: Final = tuple(ty.name for ty in BaseTy if ty not in OF_SOME_RELEASES)


def _read_plain_type(cursor: Cursor) -> Type:
    start = cursor.start
    if cursor.depth > MAX_TYPE_DEPTH:
        cursor.fail("types are nested too deep", cursor.start, cursor.end)
    if cursor.accept("("):
        elements = _read_list(cursor, ")", Type.read)
        return TupleType(elements)
    name = cursor.name("a type")
    base_type = _BASE_TYPES_BY_NAME.get(name)
    if base_type is not None:
        return base_type
    if name == "Dict":
        cursor.expect("(", "after Dict")
        key = Type.read(cursor)
        cursor.expect(",", "between the key's type and the value's")
        value = Type.read(cursor)
        cursor.expect(")", "after the value's type")
        return DictType(key, value)
    if name in _SCRIPT_GENERICS and cursor.accept("("):
        return ScriptType(name, _read_list(cursor, ")", Type.read))
    if name == "__torch__" and cursor.ahead == ".":
        return _read_custom_class(cursor, start)
    if name in _SCRIPT_NAMES or _TYPE_VARIABLE.fullmatch(name):
        return ScriptType(name)
    label = dict(_FOREIGN_TYPES).get(name) or expected(name, _SUGGESTED_TYPES, limit=len(_SUGGESTED_TYPES))
    cursor.fail(f"unknown type '{name}'", start, cursor.previous_end, label, "unknown-type")


def _read_custom_class(cursor: Cursor, start: int) -> Type:
    while cursor.accept("."):
        cursor.name("a name after '.'")
    name = cursor.text[start : cursor.previous_end]
    if not name.startswith(_CUSTOM_CLASS_PREFIX):
        cursor.fail(
            f"'{name}' is not a class bound with torch::class_",
            start,
            cursor.previous_end,
            f"the name must start with {_CUSTOM_CLASS_PREFIX}",
            "unknown-type",
        )
    return CustomClassType(name[len(_CUSTOM_CLASS_PREFIX) :])


def _read_list(cursor: Cursor, close: str, read: Callable[[Cursor], T]) -> tuple[T, ...]:
    """Read items separated by commas, up to and including the closing bracket."""
    items: list[T] = []
    if cursor.accept(close):
        return ()
    while True:
        items.append(read(cursor))
        if cursor.accept(close):
            return tuple(items)
        cursor.expect(",", f"or '{close}'")


@dataclass(frozen=True, slots=True)
class Annotation:
    """An alias annotation: `a`, `a!`, `a -> *`, `a|b`, without its parentheses."""

    alias_set: tuple[str, ...]
    """Names of the memory that the value may share."""
    is_write: bool
    """Whether the operator mutates it (`!`)."""
    alias_set_after: tuple[str, ...]
    """Names of the memory that it may share after the call (after `->`); empty without `->`."""
    suffixes_before: int = 0
    """The number of the type's suffixes before it: 0 in `Tensor(a!)[]`, 1 in `Tensor[](a!)`."""
    text: str = field(init=False, repr=False, compare=False)
    """The annotation as a schema spells it, without parentheses."""

    def __post_init__(self) -> None:
        arrow = f" -> {'|'.join(self.alias_set_after)}" if self.alias_set_after else ""
        text = f"{'|'.join(self.alias_set)}{'!' if self.is_write else ''}{arrow}"
        object.__setattr__(self, "text", text)

    @staticmethod
    def parse(text: str) -> Annotation:
        """Parse `text`, an annotation without parentheses.  Raises SchemaError."""
        return parse_whole(text, "an alias annotation", Annotation.read)

    @staticmethod
    def read(cursor: Cursor, suffixes_before: int = 0) -> Annotation:
        """Read the annotation ahead.  Raises SchemaError."""
        before = _read_alias_set(cursor)
        is_write = cursor.accept("!")
        after = _read_alias_set(cursor) if cursor.accept("->") else ()
        return Annotation(before, is_write, after, suffixes_before)

    def __str__(self) -> str:
        return self.text


def _read_alias_set(cursor: Cursor) -> tuple[str, ...]:
    names = [cursor.take() if cursor.ahead == "*" else cursor.name("the name of an alias set, or '*'")]
    while cursor.accept("|"):
        names.append(cursor.name("the name of an alias set"))
    return tuple(names)
