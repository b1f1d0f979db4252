"""The types of the schema language, and the alias annotations written among them.

    Type.parse("Tensor[]?")         OptionalType(ListType(BaseType(Tensor), None))
    Annotation.parse("a -> *")      Annotation(("a",), False, ("*",))

Each class reads itself from a `Cursor` (`read`) or from a whole text (`parse`) and prints itself with `str`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from opgen.diagnostics import expected
from opgen.schema.lexer import Cursor, T, parse_whole

MAX_TYPE_DEPTH: Final = 32
"""Most types within each other that a schema may have, so that whoever walks types may recurse."""


MAX_SIZE_DIGITS: Final = 9
"""Most digits of the N in `T[N]`."""


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
    ("const", "leave it out: an argument isn't written to unless it is annotated, as in 'Tensor(a!)'"),
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
"""Types of C++ and of Python, and what the schema language says in their stead."""


_SCRIPT_GENERICS: Final = frozenset({"Await", "Future", "RRef"})


class BaseTy(Enum):
    """The types that an operator's signature is built of."""

    __hash__ = object.__hash__  # by identity, which needs no Python code

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
    """A type of the schema language; the base of all of them."""

    text: str = field(init=False, repr=False, compare=False)
    """How a schema spells it."""
    base_ty: BaseTy | None = field(init=False, repr=False, compare=False)
    """What it is, or is a list or an optional of; None if that isn't among `BaseTy`."""

    @staticmethod
    def parse(text: str) -> Type:
        """The type that `text` spells, with no alias annotation.  Raises SchemaError."""
        return parse_whole(text, "a type", Type.read)

    @staticmethod
    def read(cursor: Cursor) -> Type:
        """The type ahead; an alias annotation in it is a SchemaError."""
        start = cursor.start
        type, annotation = read_annotated_type(cursor)
        if annotation is not None and not cursor.liberal:
            cursor.fail("an alias annotation has no meaning here", start, cursor.previous_end)
        return type  # torch's parser drops the annotations within a dictionary or a tuple

    def is_base_ty_like(self, base_ty: BaseTy) -> bool:
        """Whether this is `base_ty`, or a list or an optional of it."""
        return self.base_ty is base_ty

    def is_tensor_like(self) -> bool:
        """Whether this is a tensor, or a list or an optional of tensors."""
        return self.base_ty is BaseTy.Tensor

    def is_generator_like(self) -> bool:
        """Whether this is a generator, or an optional one."""
        return self.base_ty is BaseTy.Generator

    def is_symint_like(self) -> bool:
        """Whether this is a SymInt, or a list or an optional of them."""
        return self.base_ty is BaseTy.SymInt

    def is_nullable(self) -> bool:
        """Whether None may be given for it, or for an element of it."""
        return False

    def is_list_like(self) -> ListType | None:
        """The list that this is, or that it is an optional of; None if it is neither."""
        return None

    def spell(self, annotation: Annotation | None) -> str:
        """The type with an alias annotation written where it belongs."""
        return self.text if annotation is None else f"{self.text}({annotation.text})"

    def __str__(self) -> str:
        return self.text

    def _keep(self, text: str, base_ty: BaseTy | None = None) -> None:
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "base_ty", base_ty)


@dataclass(frozen=True, slots=True, eq=False)
class BaseType(Type):
    """One of the types of `BaseTy`, by itself.

    There is one object for each, whoever asks for it: nothing is compared more often than types, and of these
    Python can tell without running any of our code.
    """

    name: BaseTy

    def __new__(cls, name: BaseTy) -> BaseType:
        return _BASE_TYPES[name]

    def __init__(self, name: BaseTy) -> None:
        """Sets nothing: what is asked for has been made."""

    def __reduce__(self) -> tuple[type[BaseType], tuple[BaseTy]]:
        return BaseType, (self.name,)


def _make_base_type(name: BaseTy) -> BaseType:
    made = object.__new__(BaseType)
    object.__setattr__(made, "name", name)
    made._keep(name.name, name)
    return made


@dataclass(frozen=True, slots=True)
class _Wrapper(Type):
    """A type written as another type and a suffix."""

    elem: Type
    """The type before the suffix."""

    def __post_init__(self) -> None:
        self._keep(f"{self.elem.text}{self.suffix()}", self.elem.base_ty)

    def suffix(self) -> str:
        """What is written after the element's type."""
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
    """`T[]`, or `T[N]`: a list, which one T may stand for if it has a size."""

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
    """A type with its suffixes and, wherever it is written, its alias annotation."""
    cursor.depth += 1
    type = _read_plain_type(cursor)
    annotation, suffixes = None, 0
    while cursor.kind == "punctuation":
        if cursor.depth + suffixes > MAX_TYPE_DEPTH:
            cursor.fail("types are nested too deep", cursor.start, cursor.ends[cursor.index])
        if cursor.accept("?"):
            type, suffixes = OptionalType(type), suffixes + 1
        elif cursor.accept("["):
            type, suffixes = ListType(type, _read_size(cursor)), suffixes + 1
        elif cursor.ahead == "(":
            start = cursor.start
            cursor.take()
            found = Annotation.read(cursor, suffixes)
            cursor.expect(")", "after the alias annotation")
            if annotation is not None:
                cursor.fail("a type has one alias annotation, this is the second", start, cursor.previous_end)
            annotation = found
        elif cursor.liberal and annotation is None and cursor.accept("!"):
            annotation = Annotation((cursor.fresh_alias_set(),), True, (), suffixes)
        else:
            break
    cursor.depth -= 1
    return type, annotation


def parse_annotated_type(text: str) -> tuple[Type, Annotation | None]:
    """The type that `text` spells and its alias annotation.  Raises SchemaError."""
    return parse_whole(text, "a type", read_annotated_type)


def _read_size(cursor: Cursor) -> int | None:
    if cursor.accept("]"):
        return None
    if cursor.kind != "number" or not cursor.ahead.isdigit():
        cursor.fail_ahead("expected ']' or the size of the list")
    if len(cursor.ahead) > MAX_SIZE_DIGITS:
        cursor.fail("no list has this size", cursor.start, cursor.ends[cursor.index])
    size = int(cursor.take())
    cursor.expect("]", "after the size of the list")
    return size


_BASE_TYPES: Final[Mapping[BaseTy, BaseType]] = MappingProxyType({ty: _make_base_type(ty) for ty in BaseTy})
_BASE_TYPES_BY_NAME: Final[Mapping[str, BaseType]] = MappingProxyType({ty.text: ty for ty in _BASE_TYPES.values()})


_SUGGESTED: Final = tuple(ty.name for ty in BaseTy if ty is not BaseTy.Dimname)
"""The types that any release of torch has."""


def _read_plain_type(cursor: Cursor) -> Type:
    start = cursor.start
    if cursor.depth > MAX_TYPE_DEPTH:
        cursor.fail("types are nested too deep", cursor.start, cursor.ends[cursor.index])
    if cursor.accept("("):
        elements = _read_list(cursor, ")", Type.read)
        return TupleType(elements)
    name = cursor.name("a type")
    known = _BASE_TYPES_BY_NAME.get(name)
    if known is not None:
        return known
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
    label = dict(_FOREIGN_TYPES).get(name) or expected(name, _SUGGESTED, limit=len(_SUGGESTED))
    cursor.fail(f"unknown type '{name}'", start, cursor.previous_end, label, "unknown-type")


def _read_custom_class(cursor: Cursor, start: int) -> Type:
    while cursor.accept("."):
        cursor.name("a name after '.'")
    name = cursor.text[start : cursor.previous_end]
    if not name.startswith(_CUSTOM_CLASS_PREFIX):
        cursor.fail(
            f"'{name}' is no class bound to torch",
            start,
            cursor.previous_end,
            f"such a name starts with {_CUSTOM_CLASS_PREFIX}",
            "unknown-type",
        )
    return CustomClassType(name[len(_CUSTOM_CLASS_PREFIX) :])


def _read_list(cursor: Cursor, close: str, read: Callable[[Cursor], T]) -> tuple[T, ...]:
    """Items separated by commas, up to and with the closing bracket."""
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
    """Whether the operator writes to it (`!`)."""
    alias_set_after: tuple[str, ...]
    """The memory it may share after the call (what follows `->`); empty if not written."""
    suffixes_before: int = 0
    """How many of the type's suffixes stand before it: 0 in `Tensor(a!)[]`, 1 in `Tensor[](a!)`."""
    text: str = field(init=False, repr=False, compare=False)
    """How a schema spells it, without parentheses."""

    def __post_init__(self) -> None:
        arrow = f" -> {'|'.join(self.alias_set_after)}" if self.alias_set_after else ""
        text = f"{'|'.join(self.alias_set)}{'!' if self.is_write else ''}{arrow}"
        object.__setattr__(self, "text", text)

    @staticmethod
    def parse(text: str) -> Annotation:
        """The annotation that `text` (no parentheses) spells.  Raises SchemaError."""
        return parse_whole(text, "an alias annotation", Annotation.read)

    @staticmethod
    def read(cursor: Cursor, suffixes_before: int = 0) -> Annotation:
        """The annotation ahead."""
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
