"""The JIT schema language as frozen values: a schema string in, a `FunctionSchema` out, and back.

Each class reads itself from a `Cursor` (`read`) or from a whole text (`parse`) and prints itself
with `str`, so that `str(FunctionSchema.parse(text)) == text` for every text in torch's spelling.
What an operator is *for* (its kernels, its variants) is not here; see `opgen.model`.

    FunctionSchema.parse("add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")
        .name.name.base        "add"
        .name.overload_name    "out"
        .arguments.out         (Argument "Tensor(a!) out",)
        .kind()                SchemaKind.out
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from types import MappingProxyType
from typing import Final, TypeVar

from opgen.diagnostics import expected
from opgen.schema_lexer import Cursor, SchemaError
from opgen.values import dataclass, field, replace

__all__ = [
    "Annotation",
    "Argument",
    "Arguments",
    "BaseOperatorName",
    "BaseTy",
    "BaseType",
    "CustomClassType",
    "DictType",
    "FunctionSchema",
    "ListType",
    "OperatorName",
    "OptionalType",
    "Return",
    "SchemaError",
    "SchemaKind",
    "ScriptType",
    "SelfArgument",
    "TensorOptionsArguments",
    "TupleType",
    "Type",
    "keeps_rules",
    "parse_returns",
]

AUGMENTED_ASSIGNMENT_NAMES: Final = ("add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or")
"""Names of Python's augmented assignments: only these may follow `__i` in an in-place dunder name."""

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
        "number",
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
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
OVERLOAD_NAME: Final = re.compile(r"\w+", re.ASCII)
_T = TypeVar("_T")


# --------------------------------------------------------------------------- types


class BaseTy(Enum):
    """The types that an operator's signature is built of."""

    __hash__ = object.__hash__  # by identity, which needs no Python code

    Generator = auto()
    ScalarType = auto()
    Tensor = auto()
    int = auto()
    DimVector = auto()
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
        return _parse_whole(text, "a type", Type.read)

    @staticmethod
    def read(cursor: Cursor) -> Type:
        """The type ahead; an alias annotation in it is a SchemaError."""
        start = cursor.start
        type, annotation = _read_type(cursor)
        if annotation is not None:
            cursor.fail("an alias annotation has no meaning here", start, cursor.previous_end)
        return type

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


def _read_type(cursor: Cursor) -> tuple[Type, Annotation | None]:
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
        else:
            break
    cursor.depth -= 1
    return type, annotation


def parse_annotated_type(text: str) -> tuple[Type, Annotation | None]:
    """The type that `text` spells and its alias annotation.  Raises SchemaError."""
    return _parse_whole(text, "a type", _read_type)


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
_TENSOR: Final = BaseType(BaseTy.Tensor)
_BASE_TYPES_BY_NAME: Final[Mapping[str, BaseType]] = MappingProxyType({ty.text: ty for ty in _BASE_TYPES.values()})


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
    label = dict(_FOREIGN_TYPES).get(name) or expected(name, BaseTy.__members__, limit=len(BaseTy))
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


def _read_list(cursor: Cursor, close: str, read: Callable[[Cursor], _T]) -> tuple[_T, ...]:
    """Items separated by commas, up to and with the closing bracket."""
    items: list[_T] = []
    if cursor.accept(close):
        return ()
    while True:
        items.append(read(cursor))
        if cursor.accept(close):
            return tuple(items)
        cursor.expect(",", f"or '{close}'")


def _parse_whole(text: str, what: str, read: Callable[[Cursor], _T]) -> _T:
    cursor = Cursor(text)
    value = read(cursor)
    cursor.expect_end(what)
    return value


# --------------------------------------------------------------------------- arguments


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
        return _parse_whole(text, "an alias annotation", Annotation.read)

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


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a schema."""

    name: str
    type: Type
    default: str | None
    """The default as it is written in the schema; None if there is none."""
    annotation: Annotation | None
    """How it aliases other arguments or returns; None if it doesn't."""
    is_write: bool = field(init=False, repr=False, compare=False)
    """Whether the operator writes to this argument."""
    text: str = field(init=False, repr=False, compare=False)
    """How a schema spells it."""
    plain_text: str = field(init=False, repr=False, compare=False)
    """The same if it aliased nothing."""

    def __post_init__(self) -> None:
        annotation, keep = self.annotation, object.__setattr__
        tail = f" {self.name}" if self.default is None else f" {self.name}={self.default}"
        plain_text = f"{self.type.text}{tail}"
        keep(self, "is_write", annotation is not None and annotation.is_write)
        keep(self, "text", plain_text if annotation is None else f"{self.type.spell(annotation)}{tail}")
        keep(self, "plain_text", plain_text)

    @staticmethod
    def parse(text: str) -> Argument:
        """The argument that `text` spells.  Raises SchemaError."""
        return _parse_whole(text, "an argument", Argument.read)

    @staticmethod
    def read(cursor: Cursor) -> Argument:
        """The argument ahead."""
        type, annotation = _read_type(cursor)
        name = cursor.name("the name of the argument")
        default = _read_default(cursor) if cursor.accept("=") else None
        return Argument(name, type, default, annotation)

    @property
    def alias_info(self) -> Annotation | None:
        """The annotation, under the name that the JIT uses."""
        return self.annotation

    def __str__(self) -> str:
        return self.text


_CLOSING: Final = (("(", ")"), ("[", "]"), ("{", "}"))


def parse_default(text: str) -> str:
    """The default that `text` is, without outer white space.  Raises SchemaError."""
    return _parse_whole(text, "a default", _read_default)


def _read_default(cursor: Cursor) -> str:
    """The text of a default, up to the comma or bracket that ends the argument."""
    start, awaited = cursor.start, ""
    while cursor.kind != "end":
        text, kind = cursor.ahead, cursor.kind
        if kind == "punctuation":
            if not awaited and text in (",", ")"):
                break
            awaited = _awaited_after(cursor, text, awaited)
        cursor.take()
    if awaited:
        cursor.fail_ahead(f"expected '{awaited[-1]}' to close the default")
    if cursor.start == start:
        cursor.fail_ahead("expected a default after '='")
    return cursor.text[start : cursor.previous_end]


def _awaited_after(cursor: Cursor, text: str, awaited: str) -> str:
    """The closing brackets still to come, after the punctuation `text` of a default."""
    for opening, closing in _CLOSING:
        if text == opening:
            return awaited + closing
        if text == closing:
            if not awaited.endswith(closing):
                cursor.fail_ahead("the brackets of this default don't match")
            return awaited[:-1]
    if text not in (",", ".", "-", ":", "::"):
        cursor.fail_ahead("expected ',' or ')' after the default")
    return awaited


@dataclass(frozen=True, slots=True)
class Return:
    """One return of a schema."""

    name: str | None
    type: Type
    annotation: Annotation | None
    is_write: bool = field(init=False, repr=False, compare=False)
    """Whether this is an argument that the operator wrote to."""
    text: str = field(init=False, repr=False, compare=False)
    """How a schema spells it."""

    def __post_init__(self) -> None:
        annotation, keep = self.annotation, object.__setattr__
        keep(self, "is_write", annotation is not None and annotation.is_write)
        keep(self, "text", f"{self.type.spell(annotation)}{f' {self.name}' if self.name else ''}")

    @staticmethod
    def parse(text: str) -> Return:
        """The return that `text` spells.  Raises SchemaError."""
        return _parse_whole(text, "a return", Return.read)

    @staticmethod
    def read(cursor: Cursor) -> Return:
        """The return ahead."""
        type, annotation = _read_type(cursor)
        name = cursor.take() if cursor.kind == "name" else None
        return Return(name, type, annotation)

    @property
    def alias_info(self) -> Annotation | None:
        """The annotation, under the name that the JIT uses."""
        return self.annotation

    def __str__(self) -> str:
        return self.text


def parse_returns(return_decl: str) -> tuple[Return, ...]:
    """The returns that follow a schema's arrow: `Tensor`, `(Tensor a, Tensor b)` or `()`."""
    return _parse_whole(return_decl, "the returns", _read_returns)[0]


def _read_returns(cursor: Cursor) -> tuple[tuple[Return, ...], bool]:
    """The returns, and whether they end in `...`."""
    if not cursor.accept("("):
        return ((), True) if cursor.accept("...") else ((Return.read(cursor),), False)
    returns: list[Return] = []
    if cursor.accept(")"):
        return (), False
    while not cursor.accept("..."):
        returns.append(Return.read(cursor))
        if cursor.accept(")"):
            return tuple(returns), False
        cursor.expect(",", "or ')'")
    cursor.expect(")", "after '...'")
    return tuple(returns), True


@dataclass(frozen=True, slots=True)
class SelfArgument:
    """The argument that is `self` when the operator is called as a method."""

    argument: Argument


@dataclass(frozen=True, slots=True)
class TensorOptionsArguments:
    """`dtype, layout, device, pin_memory` in a row: C++ gathers them into TensorOptions."""

    dtype: Argument
    layout: Argument
    device: Argument
    pin_memory: Argument

    def all(self) -> tuple[Argument, ...]:
        """The four, in the schema's order."""
        return (self.dtype, self.layout, self.device, self.pin_memory)


_TENSOR_OPTIONS: Final = (
    ("dtype", BaseType(BaseTy.ScalarType)),
    ("layout", BaseType(BaseTy.Layout)),
    ("device", BaseType(BaseTy.Device)),
    ("pin_memory", BaseType(BaseTy.bool)),
)


def _is_option(argument: Argument, name: str, type: BaseType) -> bool:
    plain = argument.type.elem if isinstance(argument.type, OptionalType) else argument.type
    return argument.name == name and plain is type


def _find_tensor_options(arguments: tuple[Argument, ...]) -> int | None:
    """Index at which four arguments in a row are tensor options."""
    for index, argument in enumerate(arguments[:-3] if len(arguments) > 3 else ()):
        if argument.name == "dtype" and all(
            _is_option(candidate, *option)
            for candidate, option in zip(arguments[index : index + 4], _TENSOR_OPTIONS, strict=True)
        ):
            return index
    return None


def _split_at_self(
    positional: tuple[Argument, ...],
) -> tuple[tuple[Argument, ...], SelfArgument | None, tuple[Argument, ...]]:
    """The arguments before `self`, itself, and those after it; all are after it if there is none."""
    for at, argument in enumerate(positional):
        if argument.name == "self":
            return positional[:at], SelfArgument(argument), positional[at + 1 :]
    return (), None, positional


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a schema, sorted into the places that calling conventions tell apart."""

    pre_self_positional: tuple[Argument, ...]
    """Positional arguments before `self`; empty if there is no `self`."""
    self_arg: SelfArgument | None
    post_self_positional: tuple[Argument, ...]
    """Positional arguments after `self`; all of them if there is no `self`."""
    pre_tensor_options_kwarg_only: tuple[Argument, ...]
    """Keyword-only arguments before the tensor options; all of them if there are no options."""
    tensor_options: TensorOptionsArguments | None
    post_tensor_options_kwarg_only: tuple[Argument, ...]
    out: tuple[Argument, ...]
    """Keyword-only arguments that are written to."""
    is_vararg: bool = False
    """Whether the positional arguments end in `...`."""
    flat_positional: tuple[Argument, ...] = field(init=False, repr=False, compare=False)
    """All positional arguments."""
    flat_kwarg_only: tuple[Argument, ...] = field(init=False, repr=False, compare=False)
    """All keyword-only arguments that are not out arguments."""
    flat_non_out: tuple[Argument, ...] = field(init=False, repr=False, compare=False)
    """All arguments but the out arguments."""
    flat_all: tuple[Argument, ...] = field(init=False, repr=False, compare=False)
    """All arguments, in the schema's order."""
    annotations: tuple[Annotation, ...] = field(init=False, repr=False, compare=False)
    """The alias annotations of all arguments that have one, in the schema's order."""
    written: tuple[Argument, ...] = field(init=False, repr=False, compare=False)
    """All arguments that are written to, the out arguments first."""
    base_types: frozenset[BaseTy | None] = field(init=False, repr=False, compare=False)
    """What all arguments but the out arguments are, or are lists or optionals of."""
    signature_text: str = field(init=False, repr=False, compare=False)
    """`str(self.signature())`."""

    def __post_init__(self) -> None:
        # The same arguments, seen in other ways: asked for so often that it is worked out once.
        own = (self.self_arg.argument,) if self.self_arg is not None else ()
        options = self.tensor_options.all() if self.tensor_options is not None else ()
        positional = self.pre_self_positional + own + self.post_self_positional
        keyword_only = self.pre_tensor_options_kwarg_only + options + self.post_tensor_options_kwarg_only
        keep = object.__setattr__
        keep(self, "flat_positional", positional)
        keep(self, "flat_kwarg_only", keyword_only)
        non_out = positional + keyword_only
        keep(self, "flat_non_out", non_out)
        keep(self, "flat_all", non_out + self.out)
        annotations = tuple([a.annotation for a in non_out + self.out if a.annotation is not None])
        keep(self, "annotations", annotations)
        keep(self, "written", tuple([a for a in self.out + non_out if a.is_write]) if annotations else ())
        keep(self, "base_types", frozenset([a.type.base_ty for a in non_out]))
        spelled = [a.plain_text for a in self.pre_tensor_options_kwarg_only + self.post_tensor_options_kwarg_only]
        keep(self, "signature_text", _listed([a.plain_text for a in positional], self.is_vararg, spelled))

    @staticmethod
    def parse(text: str) -> Arguments:
        """The arguments that `text` (no parentheses) spells.  Raises SchemaError."""

        def read(cursor: Cursor) -> Arguments:
            return Arguments.read(cursor, close="")[0]

        return _parse_whole(text, "the arguments", read)

    @staticmethod
    def read(cursor: Cursor, close: str = ")") -> tuple[Arguments, dict[str, tuple[int, int]]]:
        """The arguments up to and with `close`, and the offsets of each by its name."""
        positional: list[Argument] = []
        kwarg_only: list[Argument] = []
        places: dict[str, tuple[int, int]] = {}
        into, is_vararg = positional, False
        while not _at_close(cursor, close, bool(places) or into is kwarg_only or is_vararg):
            start = cursor.start
            if cursor.accept("*"):
                if into is kwarg_only:
                    cursor.fail("the keyword-only arguments began already", start, start + 1)
                into = kwarg_only
            elif cursor.accept("..."):
                is_vararg = True
            else:
                argument = Argument.read(cursor)
                _check_argument(cursor, argument, start, places, kwarg_only if into is kwarg_only else None)
                into.append(argument)
                places[argument.name] = (start, cursor.previous_end)
        if close:
            cursor.expect(close, "")
        return Arguments.arrange(tuple(positional), tuple(kwarg_only), is_vararg), places

    @staticmethod
    def arrange(
        positional: tuple[Argument, ...], kwarg_only: tuple[Argument, ...], is_vararg: bool = False
    ) -> Arguments:
        """Sorts arguments, given in the schema's order, into their places."""
        before, self_arg, after = _split_at_self(positional)
        if not kwarg_only:
            return Arguments(before, self_arg, after, (), None, (), (), is_vararg)
        plain = tuple([a for a in kwarg_only if not a.is_write])
        out = tuple([a for a in kwarg_only if a.is_write])
        at = _find_tensor_options(plain)
        if at is None:
            return Arguments(before, self_arg, after, plain, None, (), out, is_vararg)
        options = TensorOptionsArguments(*plain[at : at + 4])
        return Arguments(before, self_arg, after, plain[:at], options, plain[at + 4 :], out, is_vararg)

    # Where `flat_` ones are plain Arguments, these keep self and the tensor options as one item each.

    @property
    def positional(self) -> tuple[Argument | SelfArgument, ...]:
        """Positional arguments, `self` as a SelfArgument."""
        own = (self.self_arg,) if self.self_arg is not None else ()
        return (*self.pre_self_positional, *own, *self.post_self_positional)

    @property
    def kwarg_only(self) -> tuple[Argument | TensorOptionsArguments, ...]:
        """Keyword-only arguments that are not out arguments, the tensor options as one."""
        options = (self.tensor_options,) if self.tensor_options is not None else ()
        return (*self.pre_tensor_options_kwarg_only, *options, *self.post_tensor_options_kwarg_only)

    @property
    def non_out(self) -> tuple[Argument | SelfArgument | TensorOptionsArguments, ...]:
        """All but the out arguments, `self` and the tensor options as one item each."""
        return (*self.positional, *self.kwarg_only)

    @property
    def all(self) -> tuple[Argument | SelfArgument | TensorOptionsArguments, ...]:
        """All arguments, `self` and the tensor options as one item each."""
        return (*self.positional, *self.kwarg_only, *self.out)

    @property
    def post_self_positional_mutable(self) -> tuple[Argument, ...]:
        """Positional arguments after `self` that are written to."""
        return tuple([a for a in self.post_self_positional if a.is_write])

    def mutable_arg_names(self) -> tuple[str, ...]:
        """Names of all arguments that are written to."""
        return tuple([a.name for a in self.flat_all if a.is_write])

    def has_tensor_arg(self) -> bool:
        """Whether any argument but the out arguments is a tensor or a list of them."""
        return BaseTy.Tensor in self.base_types

    def has_symint_arg(self) -> bool:
        """Whether any argument but the out arguments is a SymInt or a list of them."""
        return BaseTy.SymInt in self.base_types

    def has_generator_arg(self) -> bool:
        """Whether any argument but the out arguments is a generator."""
        return BaseTy.Generator in self.base_types

    def signature_text_without_defaults(self) -> str:
        """`str(self.signature(strip_default=True))`."""
        keyword_only = self.pre_tensor_options_kwarg_only + self.post_tensor_options_kwarg_only
        spelled = [f"{a.type.text} {a.name}" for a in keyword_only]
        return _listed([f"{a.type.text} {a.name}" for a in self.flat_positional], self.is_vararg, spelled)

    def signature(self, *, strip_default: bool = False) -> Arguments:
        """What the forms of one operator share: no annotations, out arguments or tensor options.

        (A factory takes its options from its out argument, so its out form has none.)
        """

        def strip(argument: Argument) -> Argument:
            default = None if strip_default else argument.default
            if default is argument.default and argument.annotation is None:
                return argument
            return Argument(argument.name, argument.type, default, None)

        own = self.self_arg
        return Arguments(
            tuple(map(strip, self.pre_self_positional)),
            SelfArgument(strip(own.argument)) if own is not None else None,
            tuple(map(strip, self.post_self_positional)),
            tuple(map(strip, self.pre_tensor_options_kwarg_only)),
            None,
            tuple(map(strip, self.post_tensor_options_kwarg_only)),
            (),
            self.is_vararg,
        )

    def map(self, change: Callable[[Argument], Argument]) -> Arguments:
        """The same arrangement with `change` applied to each argument."""
        options = self.tensor_options
        return Arguments(
            tuple(map(change, self.pre_self_positional)),
            SelfArgument(change(self.self_arg.argument)) if self.self_arg is not None else None,
            tuple(map(change, self.post_self_positional)),
            tuple(map(change, self.pre_tensor_options_kwarg_only)),
            TensorOptionsArguments(*map(change, options.all())) if options is not None else None,
            tuple(map(change, self.post_tensor_options_kwarg_only)),
            tuple(map(change, self.out)),
            self.is_vararg,
        )

    def remove_self_annotation(self) -> Arguments:
        """The same, with no alias annotation on `self`."""
        if self.self_arg is None:
            return self
        return replace(self, self_arg=SelfArgument(replace(self.self_arg.argument, annotation=None)))

    def with_out_args(self, outs: Iterable[Argument]) -> Arguments:
        """The same, with these out arguments before those that it has."""
        return replace(self, out=tuple(outs) + self.out)

    def __str__(self) -> str:
        keyword_only = [a.text for a in self.flat_kwarg_only + self.out]
        return _listed([a.text for a in self.flat_positional], self.is_vararg, keyword_only)


def _listed(positional: list[str], is_vararg: bool, keyword_only: list[str]) -> str:
    """Arguments, each spelled already, as a schema lists them."""
    if is_vararg:
        positional = [*positional, "..."]
    return ", ".join([*positional, "*", *keyword_only] if keyword_only else positional)


def _at_close(cursor: Cursor, close: str, has_previous: bool) -> bool:
    """Whether the arguments end here; otherwise steps past the comma between two of them."""
    ends = cursor.ahead == close if close else cursor.kind == "end"
    if not ends and has_previous:
        cursor.expect(",", f"or '{close}' after the argument" if close else "after the argument")
    return ends


def _check_argument(
    cursor: Cursor,
    argument: Argument,
    start: int,
    places: dict[str, tuple[int, int]],
    kwarg_only: list[Argument] | None,
) -> None:
    """Holds an argument just read against those before it."""
    if argument.name in places:
        cursor.fail(
            f"two arguments are named '{argument.name}'", start, cursor.previous_end, id="schema-duplicate-argument"
        )
    if kwarg_only and kwarg_only[-1].is_write and not argument.is_write:
        cursor.fail(
            f"'{argument.name}' stands after the out argument '{kwarg_only[-1].name}'",
            start,
            cursor.previous_end,
            "out arguments come last",
            "schema-out-arguments",
        )


# --------------------------------------------------------------------------- names


@dataclass(frozen=True, slots=True, eq=False)
class BaseOperatorName:
    """An operator's name without its overload, taken apart."""

    base: str
    """The name without in-place underscore, dunder underscores or `_functional`."""
    inplace: bool
    dunder_method: bool
    """Whether it is written `__and__` (or `__iand__` in place)."""
    functional_overload: bool = False
    """Whether it ends in `_functional`, the functional form of a mutable operator."""
    namespace: str | None = None
    """What is written before `::`, if anything."""
    text: str = field(init=False, repr=False)
    """The name as it is written."""

    def __post_init__(self) -> None:
        if self.dunder_method:
            name = f"__{'i' if self.inplace else ''}{self.base}__"
        else:
            name = f"{self.base}{'_' if self.inplace else '_functional' if self.functional_overload else ''}"
        object.__setattr__(self, "text", f"{self.namespace}::{name}" if self.namespace else name)

    @staticmethod
    def parse(text: str) -> BaseOperatorName:
        """The name that `text` spells.  Raises SchemaError."""
        namespace, _, name = text.rpartition("::")
        if not _IDENTIFIER.fullmatch(name):
            raise SchemaError(text, len(text) - len(name), len(text), "schema-syntax", f"{name!r} is no operator name")
        if not name.endswith("_"):
            base = name.removesuffix("_functional")
            return BaseOperatorName(base, False, False, base != name, namespace or None)
        if len(name) > 4 and name.startswith("__") and name.endswith("__"):
            base = name[2:-2]
            inplace = base.startswith("i") and base[1:] in AUGMENTED_ASSIGNMENT_NAMES
            return BaseOperatorName(base[1:] if inplace else base, inplace, True, False, namespace or None)
        return BaseOperatorName(name[:-1], True, False, False, namespace or None)

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BaseOperatorName) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@dataclass(frozen=True, slots=True, eq=False)
class OperatorName:
    """An operator's name with its overload: `add.out`."""

    name: BaseOperatorName
    overload_name: str
    """Empty for the default overload."""
    text: str = field(init=False, repr=False)
    """The name as it is written."""

    def __post_init__(self) -> None:
        text = f"{self.name.text}.{self.overload_name}" if self.overload_name else self.name.text
        object.__setattr__(self, "text", text)

    @staticmethod
    def parse(text: str) -> OperatorName:
        """The name that `text` spells.  Raises SchemaError."""
        name, dot, overload = text.partition(".")
        if dot and not OVERLOAD_NAME.fullmatch(overload):
            at = len(name) + 1 if overload else len(name)
            raise SchemaError(text, at, len(text), "schema-syntax", f"{overload!r} is no overload name")
        return OperatorName(BaseOperatorName.parse(name), overload)

    @staticmethod
    def read(cursor: Cursor) -> OperatorName:
        """The name ahead."""
        start = cursor.start
        cursor.name("the name of an operator")
        while cursor.accept("::"):
            cursor.name("a name after '::'")
        base = BaseOperatorName.parse(cursor.text[start : cursor.previous_end])
        if not cursor.accept("."):
            return OperatorName(base, "")
        at = cursor.start
        while cursor.kind in ("name", "number") and cursor.start == max(at, cursor.previous_end):
            cursor.take()
        overload = cursor.text[at : cursor.previous_end]
        if not OVERLOAD_NAME.fullmatch(overload):
            cursor.fail_ahead("expected the name of an overload after '.'")
        return OperatorName(base, overload)

    def unambiguous_name(self) -> str:
        """The name as one C++ identifier: `add_out` for `add.out`."""
        return f"{self.name.text}_{self.overload_name}" if self.overload_name else self.name.text

    def remove_inplace(self) -> OperatorName:
        """The name without its in-place mark (and without its namespace)."""
        return OperatorName(BaseOperatorName(self.name.base, False, self.name.dunder_method), self.overload_name)

    def with_overload(self, overload: str) -> OperatorName:
        """The same operator's overload `overload` (without the namespace)."""
        base = self.name
        return OperatorName(
            BaseOperatorName(base.base, base.inplace, base.dunder_method, base.functional_overload), overload
        )

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OperatorName) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


# --------------------------------------------------------------------------- the schema


class SchemaKind(Enum):
    """Which form of an operator a schema is."""

    __hash__ = object.__hash__  # by identity, which needs no Python code

    functional = auto()
    """Writes to no argument (nor to `self`, save for a few that the name doesn't tell of)."""
    inplace = auto()
    """Writes to `self` and returns it: the name ends in `_`."""
    out = auto()
    """Writes its results to keyword-only out arguments."""
    mutable = auto()
    """Writes to positional arguments after `self`."""
    scratch = auto()
    """An out form that also takes buffers to work in (`_scratch_…`)."""


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    """A whole schema: `name.overload(arguments) -> returns`."""

    name: OperatorName
    arguments: Arguments
    returns: tuple[Return, ...]
    is_varret: bool = False
    """Whether the returns end in `...`."""
    _kind: SchemaKind = field(init=False, repr=False, compare=False)
    _signature_text: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kind", _kind_of(self.name, self.arguments))

    @staticmethod
    def parse(text: str) -> FunctionSchema:
        """The schema that `text` spells.

        Raises SchemaError, with the offsets of the very characters that are wrong.
        """
        cursor = Cursor(text)
        name = OperatorName.read(cursor)
        cursor.expect("(", "after the operator's name")
        arguments, places = Arguments.read(cursor)
        cursor.expect("->", "after the arguments")
        returns_start = cursor.start
        returns, is_varret = _read_returns(cursor)
        cursor.expect_end("the returns")
        schema = FunctionSchema(name, arguments, returns, is_varret)
        # Only TorchScript's own operators, which need not keep the rules, are written with a namespace.
        if name.name.namespace is None:
            _check_schema(schema, cursor, places, returns_start)
        return schema

    def schema_order_arguments(self) -> Iterator[Argument]:
        """The arguments in the order of the schema: positional, keyword-only, out."""
        return iter(self.arguments.flat_all)

    def kind(self) -> SchemaKind:
        """Which form of an operator this is."""
        return self._kind

    def is_out_fn(self) -> bool:
        """Whether results are written to out arguments."""
        return bool(self.arguments.out)

    def is_functional_fn(self) -> bool:
        """Whether the name says that it is the functional form of a mutable operator."""
        return "functional" in self.name.overload_name

    @property
    def is_mutable(self) -> bool:
        """Whether any argument is written to."""
        return bool(self.arguments.written)

    @property
    def modifies_arguments(self) -> bool:
        """Whether this is an in-place, out or mutable form."""
        return self.kind() in (SchemaKind.inplace, SchemaKind.out, SchemaKind.mutable)

    def has_symint(self) -> bool:
        """Whether any argument is a SymInt or a list of them."""
        return self.arguments.has_symint_arg()

    def aliased_return_names(self) -> list[str | None]:
        """For each return, the name of the argument that it aliases, or None."""
        return [self._aliased_name(r) for r in self.returns]

    def returns_are_aliased(self) -> bool:
        """Whether a return is an argument that was written to."""
        return any(r.is_write for r in self.returns)

    def _aliased_name(self, returned: Return) -> str | None:
        if returned.annotation is None:
            return None
        shared = returned.annotation.text
        for argument in self.arguments.flat_all:
            if argument.annotation is not None and argument.annotation.text == shared:
                return argument.name
        return None

    def signature(
        self, *, strip_default: bool = False, strip_view_copy_name: bool = False, keep_return_names: bool = False
    ) -> FunctionSchema:
        """What all forms of one operator share; forms belong together if their signatures are equal.

        Marks of the form are gone from the name, the arguments and the returns.  The
        signature returns, after the form's own returns, every argument it writes to and doesn't
        return.
        `strip_view_copy_name` gives a `_copy` form its view's name; `keep_return_names` keeps them, and
        names the returns that stand for written arguments `<argument>_out`.
        """
        base = self.name.name.base
        if strip_view_copy_name:
            base = _view_base(base)
        name = OperatorName(BaseOperatorName(base, False, self.name.name.dunder_method), "")
        arguments = self.arguments.signature(strip_default=strip_default)
        if self.name.text == _BERNOULLI_P:
            arguments = arguments.map(lambda a: replace(a, default="0.5") if a.name == "p" else a)
        return FunctionSchema(name, arguments, self._signature_returns(keep_return_names))

    def _signature_returns(self, keep_names: bool) -> tuple[Return, ...]:
        returns = tuple([Return(r.name if keep_names else None, r.type, None) for r in self.returns])
        written = (Return(f"{a.name}_out" if keep_names else None, a.type, None) for a in self._unreturned())
        return (*returns, *written)

    def _unreturned(self) -> list[Argument]:
        """The arguments that are written to and don't come back."""
        written = self.arguments.written
        if not written:
            return []
        returned = self.aliased_return_names()
        return [a for a in written if a.name not in returned]

    def view_signature(self) -> FunctionSchema:
        """The signature that a view operator shares with its `_copy` form."""
        return self.signature(strip_view_copy_name=True)

    def signature_text(self) -> str:
        """`str(self.signature())`, worked out once: it is what functions are sorted by."""
        if not self._signature_text:
            is_plain = self.name.text != _BERNOULLI_P
            text = self._spell_signature(self.arguments.signature_text) if is_plain else str(self.signature())
            object.__setattr__(self, "_signature_text", text)
        return self._signature_text

    def signature_text_without_defaults(self) -> str:
        """`str(self.signature(strip_default=True))`."""
        if self.name.text == _BERNOULLI_P:
            return str(self.signature(strip_default=True))
        return self._spell_signature(self.arguments.signature_text_without_defaults())

    def _spell_signature(self, arguments: str) -> str:
        """What `signature` would be as text, without making it."""
        own = self.name.name
        base = f"__{own.base}__" if own.dunder_method else own.base
        types = [returned.type.text for returned in self.returns]
        if self.arguments.written:
            types += [argument.type.text for argument in self._unreturned()]
        returns = types[0] if len(types) == 1 and not types[0].startswith("(") else f"({', '.join(types)})"
        return f"{base}({arguments}) -> {returns}"

    def view_signature_text(self) -> str:
        """The view signature as text."""
        base = self.name.name.base
        return str(self.view_signature()) if base.endswith(("_copy", "_scatter")) else self.signature_text()

    def with_name(self, name: OperatorName) -> FunctionSchema:
        """The same schema under another name."""
        return replace(self, name=name)

    def __str__(self) -> str:
        parts = [returned.text for returned in self.returns]
        if self.is_varret:
            parts.append("...")
        returns = parts[0] if len(parts) == 1 and not parts[0].startswith("(") else f"({', '.join(parts)})"
        return f"{self.name.text}({self.arguments}) -> {returns}"


def _kind_of(name: OperatorName, arguments: Arguments) -> SchemaKind:
    if arguments.out and any(a.name.startswith("_scratch_") for a in arguments.out):
        return SchemaKind.scratch
    if name.name.inplace:
        return SchemaKind.inplace
    if arguments.out:
        return SchemaKind.out
    is_mutable = arguments.written and arguments.post_self_positional_mutable
    return SchemaKind.mutable if is_mutable else SchemaKind.functional


_BERNOULLI_P: Final = "bernoulli.p"
"""ATen's one functional form whose in-place and out forms have a default that it may not have itself."""


def _view_base(base: str) -> str:
    """The name that a view shares with its `_copy` form, and its inverse with its `_scatter` form."""
    if base.endswith("_copy"):
        return base.removesuffix("_copy")
    return base.removesuffix("_scatter") + "_inverse" if base.endswith("_scatter") else base


def argument_places(text: str) -> dict[str, tuple[int, int]]:
    """Where each argument of a schema stands, by its name: the offsets of its type's start and its own end."""
    cursor = Cursor(text)
    OperatorName.read(cursor)
    cursor.expect("(", "after the operator's name")
    return Arguments.read(cursor)[1]


def keeps_rules(schema: FunctionSchema) -> bool:
    """Whether `FunctionSchema.parse` would have nothing against what the parts say together."""
    if schema.arguments.out and not _returns_outs(schema):
        return False
    return not schema.name.name.inplace or (_writes_self(schema) and _returns_self(schema))


def _check_schema(
    schema: FunctionSchema, cursor: Cursor, places: dict[str, tuple[int, int]], returns_start: int
) -> None:
    """The rules that hold between the name, the arguments and the returns of an operator."""
    if not _returns_outs(schema):
        wanted = [a.type.spell(a.annotation) for a in _results(schema)]
        text = ", ".join(wanted)
        cursor.fail(
            f"'{schema.name}' must return its out arguments, in their order",
            returns_start,
            len(cursor.text),
            f"write '-> {text if len(wanted) == 1 else f'({text})'}'",
            "schema-out-returns",
        )
    if schema.name.name.inplace:
        _check_inplace(schema, cursor, places, returns_start)


def _check_inplace(
    schema: FunctionSchema, cursor: Cursor, places: dict[str, tuple[int, int]], returns_start: int
) -> None:
    own = schema.arguments.self_arg
    if own is None or not _writes_self(schema):
        start, end = places.get("self", (0, len(str(schema.name))))
        problem = "has no argument 'self'" if own is None else "does not write to 'self'"
        cursor.fail(
            f"'{schema.name}' is in-place by its name, but {problem}",
            start,
            end,
            "write 'Tensor(a!) self', or drop the '_' from the name",
            "schema-inplace",
        )
    if not _returns_self(schema):
        cursor.fail(
            f"'{schema.name}' is in-place, so it returns 'self' or nothing",
            returns_start,
            len(cursor.text),
            f"write '-> {own.argument.type.spell(own.argument.annotation)}'",
            "schema-inplace",
        )


def _writes_self(schema: FunctionSchema) -> bool:
    own = schema.arguments.self_arg
    return own is not None and own.argument.is_write


def _returns_self(schema: FunctionSchema) -> bool:
    """Whether what comes back is nothing or `self`; of what is no Tensor, anything may."""
    own, returns = schema.arguments.self_arg, schema.returns
    if not returns or own is None or own.argument.type is not _TENSOR:
        return True
    return len(returns) == 1 and returns[0].annotation == own.argument.annotation


def _returns_outs(schema: FunctionSchema) -> bool:
    """Whether out arguments come back as the returns, in order; or nothing comes back."""
    outs, returns = _results(schema), schema.returns
    if not returns:
        return len(outs) != 1 or outs[0].type is not _TENSOR
    return not outs or [(r.type, r.annotation) for r in returns] == [(a.type, a.annotation) for a in outs]


def _results(schema: FunctionSchema) -> Sequence[Argument]:
    """The out arguments that are no buffers to work in."""
    outs = schema.arguments.out
    is_plain = schema.kind() is not SchemaKind.scratch
    return outs if is_plain else [a for a in outs if not a.name.startswith("_scratch_")]
