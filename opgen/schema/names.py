"""The names of operators (`__iadd__`, `add_`, `add.out`) ⇄ their parts.

OperatorName.parse("add_.Tensor")       base "add", in-place, overload "Tensor"
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final

from opgen.frozen_dataclass import dataclass
from opgen.schema.lexer import Cursor, SchemaError

AUGMENTED_ASSIGNMENT_NAMES: Final = ("add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or")
"""Names of Python's augmented assignments: only these may follow `__i` in an in-place dunder name."""


_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
OVERLOAD_NAME: Final = re.compile(r"\w+", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class BaseOperatorName:
    """The parts of an operator's name without its overload."""

    base: str
    """The name without in-place underscore, dunder underscores or `_functional`."""
    inplace: bool
    dunder_method: bool
    """Whether it is spelled `__and__` (or `__iand__` in place)."""
    functional_overload: bool = False
    """Whether it ends in `_functional`, the functional form of a mutable operator."""
    namespace: str | None = None
    """The namespace before `::`, if any."""
    text: str = field(init=False, repr=False)
    """The full name."""

    def __post_init__(self) -> None:
        if self.dunder_method:
            name = f"__{'i' if self.inplace else ''}{self.base}__"
        else:
            name = f"{self.base}{'_' if self.inplace else '_functional' if self.functional_overload else ''}"
        object.__setattr__(self, "text", f"{self.namespace}::{name}" if self.namespace else name)

    @staticmethod
    def parse(text: str) -> BaseOperatorName:
        """Parse `text`, a name.  Raises SchemaError."""
        namespace, _, name = text.rpartition("::")
        if not _IDENTIFIER.fullmatch(name):
            raise SchemaError(
                text, len(text) - len(name), len(text), "schema-syntax", f"{name!r} is not an operator name"
            )
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
    """The full name."""

    def __post_init__(self) -> None:
        text = f"{self.name.text}.{self.overload_name}" if self.overload_name else self.name.text
        object.__setattr__(self, "text", text)

    @staticmethod
    def parse(text: str) -> OperatorName:
        """Parse `text`, a name.  Raises SchemaError."""
        name, dot, overload = text.partition(".")
        if dot and not OVERLOAD_NAME.fullmatch(overload):
            start = len(name) + 1 if overload else len(name)
            raise SchemaError(text, start, len(text), "schema-syntax", f"{overload!r} is not an overload name")
        return OperatorName(BaseOperatorName.parse(name), overload)

    @staticmethod
    def read(cursor: Cursor) -> OperatorName:
        """Read the name ahead.  Raises SchemaError."""
        start = cursor.start
        cursor.name("the name of an operator")
        while cursor.accept("::"):
            cursor.name("a name after '::'")
        base = BaseOperatorName.parse(cursor.text[start : cursor.previous_end])
        if not cursor.accept("."):
            return OperatorName(base, "")
        overload_start = cursor.start
        while cursor.kind in ("name", "number") and cursor.start == max(overload_start, cursor.previous_end):
            cursor.take()
        overload = cursor.text[overload_start : cursor.previous_end]
        if not OVERLOAD_NAME.fullmatch(overload):
            cursor.fail_ahead("expected the name of an overload after '.'")
        return OperatorName(base, overload)

    def unambiguous_name(self) -> str:
        """Return the name as one C++ identifier: `add_out` for `add.out`."""
        return f"{self.name.text}_{self.overload_name}" if self.overload_name else self.name.text

    def remove_inplace(self) -> OperatorName:
        """Return the name without its in-place suffix and its namespace."""
        return OperatorName(BaseOperatorName(self.name.base, False, self.name.dunder_method), self.overload_name)

    def with_overload(self, overload: str) -> OperatorName:
        """Return the name of the operator's overload `overload`, without the namespace."""
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
