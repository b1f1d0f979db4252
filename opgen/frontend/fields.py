"""A mapping node and a table of fields → values, and a diagnostic for every other key.

A table consists of `Field`s: each has a name, a converter, and a default unless it is required.
Values are indexed by field, so that their types are known:

    VARIANTS = Field("variants", word_list, default=())
    DEVICE_GUARD = Field("device_guard", boolean, default=True)
    TABLE = Table.of(VARIANTS, DEVICE_GUARD)

    values = read_fields(node, TABLE, "entry 'abs'", log)
    values[DEVICE_GUARD]        # a bool, True unless the entry says otherwise

A converter takes a node to a value, or raises a `UserError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias, TypeVar

from opgen.diagnostics import Diagnostic, Diagnostics, Span, UserError, closest, did_you_mean, expected
from opgen.frontend.nodes import ListNode, MappingNode, Node, Scalar
from opgen.frozen_dataclass import dataclass

T = TypeVar("T")
U = TypeVar("U")
T_co = TypeVar("T_co", covariant=True)
Convert: TypeAlias = Callable[[Node], T]
"""Converts a node to a value.  Raises UserError."""

_BOOLEANS: Final = MappingProxyType(
    {
        spelling: value
        for value, words in ((True, ("true", "yes", "on")), (False, ("false", "no", "off")))
        for word in words
        for spelling in (word, word.capitalize(), word.upper())
    }
)
_UNREADABLE = re.compile(r"\s*:\s+[*!]")
"""The text before a value that is empty only because of an unknown alias or a tag."""
_KEY_WITHOUT_SPACE = re.compile(r"\w+:(?!:)(?=\S)", re.ASCII)


class _Required(Enum):
    REQUIRED = "there is no default"


_REQUIRED: Final = _Required.REQUIRED


@dataclass(frozen=True, slots=True, eq=False)
class Field(Generic[T_co]):
    """A key that a mapping may have; fields compare by identity."""

    name: str
    convert: Convert[T_co]
    default: T_co | _Required = _REQUIRED
    """The value of an absent key; without a default, the key is required."""
    may_be_empty: bool = False
    """Whether a key without a value means the default; otherwise it is an error."""
    description: str = ""
    """One sentence for editors and for the reference of keys."""
    attribute: str = ""
    """The attribute that has the value, if the key alone determines one."""
    to_attribute: Callable[[Any], object] | None = None
    """Converts the value to that of the attribute, which has no location; None if they are the same."""


@dataclass(frozen=True, slots=True)
class Table:
    """The legal keys of a mapping, and the required ones."""

    fields: Mapping[str, Field[Any]]
    required: tuple[Field[Any], ...]

    @staticmethod
    def of(*fields: Field[Any]) -> Table:
        """Return a table of these fields, in the order of messages."""
        by_name = MappingProxyType({field.name: field for field in fields})
        return Table(by_name, tuple(field for field in fields if field.default is _REQUIRED))


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a mapping, by field."""

    node: MappingNode
    written: Mapping[Field[Any], Any]
    """The values of the keys that are present."""

    def __getitem__(self, field: Field[T]) -> T:
        """Return the value of `field`, or its default."""
        value: T = self.written.get(field, field.default)
        return value

    def __contains__(self, field: Field[Any]) -> bool:
        """Return whether the key is present and legal."""
        return field in self.written

    def span(self, field: Field[Any]) -> Span:
        """Return the span of the value of `field`; of the whole mapping if the key is absent."""
        return (self.node.get(field.name) or self.node).span


def read_fields(node: Node, table: Table, what: str | Callable[[], str], log: Diagnostics) -> Values | None:
    """Read `node` by `table`; `what` names it in messages, as in `entry 'abs'`, or returns that name lazily.

    Unknown keys and values that can't be converted are logged, and the rest is read.  Returns None if
    the node is not a mapping, or a required field is missing or can't be converted.
    """
    if not isinstance(node, MappingNode):
        listing = "it has keys such as " + ", ".join(f"'{name}: ...'" for name in list(table.fields)[:2])
        message = f"{_name_of(what)} must be a mapping, not {kind_of(node)}"
        log.error("wrong-kind", message, node.span, missing_space(node) or listing)
        return None
    written: dict[Field[Any], object] = {}
    for key, value in node.entries:
        field = table.fields.get(key.text)
        # `value[0]` is the text or the items.  `is_empty` distinguishes an empty scalar (`key:`) from an empty string.
        if field is None or (not value[0] and isinstance(value, Scalar) and value.is_empty):
            _report(key, value, field, table, what, log)
            continue
        try:
            written[field] = field.convert(value)
        except UserError as problem:
            log.extend(problem.diagnostics)
    missing = [field.name for field in table.required if field not in written]
    if missing:
        check_present(node, missing, _name_of(what), log)
        return None
    return Values(node, written)


def _name_of(what: str | Callable[[], str]) -> str:
    return what if isinstance(what, str) else what()


def _report(
    key: Scalar, value: Node, field: Field[Any] | None, table: Table, what: str | Callable[[], str], log: Diagnostics
) -> None:
    """Log that a key is unknown, or that it has no value."""
    if field is None:
        label = did_you_mean(key.text, table.fields) or expected(key.text, table.fields)
        log.error("unknown-key", f"unknown key '{key.text}' in {_name_of(what)}", key.span, label)
    elif not field.may_be_empty and not _UNREADABLE.match(key.source.text, key.end):
        # Otherwise an empty value is legal, or the YAML reader has reported its tag or unknown alias.
        label = (_comment_hint(value) if isinstance(value, Scalar) else "") or "write a value, or remove the key"
        log.error("missing-value", f"the key '{key.text}' of {_name_of(what)} has no value", key.span, label)


def check_present(node: MappingNode, required: Collection[str], what: str, log: Diagnostics) -> None:
    """Log each missing required key, unless another key looks like a misspelling of it."""
    keys = [key.text for key, _ in node.entries]
    for name in required:
        if name not in keys and not any(closest(key, required) == name for key in keys):
            start = node.entries[0][0].span if node.entries else node.span
            log.error("missing-key", f"the key '{name}' is missing from {what}", start, f"add '{name}: ...'")


def _comment_hint(value: Scalar) -> str:
    return "' #' starts a comment in YAML: quote the value" if value.trailing_comment() else ""


def missing_space(node: Node) -> str:
    """Return a hint for a scalar that a space after the colon would make a mapping; empty for other nodes."""
    match = _KEY_WITHOUT_SPACE.match(node.text) if isinstance(node, Scalar) and node.is_plain else None
    return f"put a space after '{match.group()}'" if match else ""


def kind_of(node: Node) -> str:
    """Return a description of the kind of `node`."""
    if isinstance(node, Scalar):
        return "text" if node.text else "an empty value"
    return "a list" if isinstance(node, ListNode) else "a mapping"


def wrong_kind(node: Node, wanted: str) -> UserError:
    """Return the error for a node that isn't of the kind `wanted`."""
    return UserError(Diagnostic("wrong-kind", f"expected {wanted} here, not {kind_of(node)}", node.span))


def scalar(node: Node) -> Scalar:
    """Return `node` as a non-empty scalar.  Raises UserError."""
    if not isinstance(node, Scalar) or not node.text:
        raise wrong_kind(node, "text")
    return node


def text(node: Node) -> str:
    """Return the text of `node`, which must not be empty.  Raises UserError."""
    return scalar(node).text


def boolean(node: Node) -> bool:
    """Convert any of YAML's spellings of true and false, without quotes.  Raises UserError."""
    word = scalar(node)
    value = _BOOLEANS.get(word.text)
    if value is None or word.style:
        label = "expected True or False" + ("" if word.is_plain else ", without quotes")
        raise UserError(Diagnostic("bad-boolean", f"'{word.text}' is neither true nor false", word.span, label))
    return value


def word_list(node: Node) -> tuple[Scalar, ...]:
    """Return the words of a list, or of one scalar with commas between words.  Raises UserError."""
    if isinstance(node, ListNode):
        return _LIST_OF_SCALARS(node)
    whole = scalar(node)
    if "," not in whole.text and not whole.style:
        return (whole,)  # a plain scalar has no leading or trailing white space
    words, offset = [], 0
    for part in whole.text.split(","):
        word = part.strip()
        if not word:
            raise UserError(Diagnostic("missing-value", "a word is missing next to a comma", whole.span))
        words.append(_part(whole, word, offset + part.index(word)))
        offset += len(part) + 1
    return tuple(words)


def _part(whole: Scalar, word: str, offset: int) -> Scalar:
    """Return a word of a scalar as a scalar."""
    span = whole.span_at(offset, offset + len(word))
    return Scalar(word, whole.source, span.start, span.end)


def list_of(convert: Convert[T]) -> Convert[tuple[T, ...]]:
    """Return a converter for lists of items; it reports the errors of all items."""

    def read(node: Node) -> tuple[T, ...]:
        if not isinstance(node, ListNode):
            raise wrong_kind(node, "a list")
        log, values = Diagnostics(), []
        for item in node.items:
            try:
                values.append(convert(item))
            except UserError as problem:
                log.extend(problem.diagnostics)
        log.raise_errors()
        return tuple(values)

    return read


_LIST_OF_SCALARS: Final = list_of(scalar)


def mapping_of(convert_key: Convert[T], convert: Convert[U]) -> Convert[tuple[tuple[T, U], ...]]:
    """Return a converter for mappings to pairs, in file order; it reports the errors of all pairs."""

    def read(node: Node) -> tuple[tuple[T, U], ...]:
        if not isinstance(node, MappingNode):
            raise wrong_kind(node, "a mapping")
        log, pairs = Diagnostics(), []
        for key, value in node.entries:
            try:
                pairs.append((convert_key(key), convert(value)))
            except UserError as problem:
                log.extend(problem.diagnostics)
        log.raise_errors()
        return tuple(pairs)

    return read


@dataclass(frozen=True, slots=True)
class OneOf(Generic[T_co]):
    """Converts the words in `legal` to their values; `what` names such a word in messages."""

    what: str
    legal: Mapping[str, T_co]

    def __call__(self, node: Node) -> T_co:
        """Return the value of the word in `node`.  Raises UserError."""
        found = scalar(node)
        if found.text not in self.legal:
            message, id = f"'{found.text}' is not a {self.what}", f"unknown-{self.what.replace(' ', '-')}"
            raise UserError(Diagnostic(id, message, found.span, expected(found.text, self.legal)))
        return self.legal[found.text]
