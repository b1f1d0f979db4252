"""The text after a schema's arrow ⇄ frozen values, the returns.

parse_returns("(Tensor values, Tensor indices)")    two `Return`s with names
"""

from __future__ import annotations

from dataclasses import field

from opgen.frozen_dataclass import dataclass
from opgen.schema.lexer import Cursor, parse_whole
from opgen.schema.types import Annotation, Type, read_annotated_type


@dataclass(frozen=True, slots=True)
class Return:
    """One return of a schema."""

    name: str | None
    type: Type
    annotation: Annotation | None
    is_write: bool = field(init=False, repr=False, compare=False)
    """Whether this is a mutated argument."""
    text: str = field(init=False, repr=False, compare=False)
    """The return as a schema spells it."""

    def __post_init__(self) -> None:
        annotation, set_field = self.annotation, object.__setattr__
        set_field(self, "is_write", annotation is not None and annotation.is_write)
        set_field(self, "text", f"{self.type.spell(annotation)}{f' {self.name}' if self.name else ''}")

    @staticmethod
    def parse(text: str) -> Return:
        """Parse `text`, a return.  Raises SchemaError."""
        return parse_whole(text, "a return", Return.read)

    @staticmethod
    def read(cursor: Cursor) -> Return:
        """Read the return ahead.  Raises SchemaError."""
        type, annotation = read_annotated_type(cursor)
        if cursor.lenient:
            cursor.check_word("a return")
        name = cursor.take() if cursor.kind == "name" else None
        return Return(name, type, annotation)

    @property
    def alias_info(self) -> Annotation | None:
        """Alias of `annotation`, kept for torchgen compatibility."""
        return self.annotation

    def __str__(self) -> str:
        return self.text


def parse_returns(return_decl: str) -> tuple[Return, ...]:
    """Parse the text after a schema's arrow: `Tensor`, `(Tensor a, Tensor b)` or `()`.  Raises SchemaError."""
    return parse_whole(return_decl, "the returns", read_returns)[0]


def read_returns(cursor: Cursor) -> tuple[tuple[Return, ...], bool]:
    """Read the returns ahead, and whether they end in `...`.  Raises SchemaError."""
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
