"""The text of a schema ⇄ a frozen value: `str(FunctionSchema.parse(text)) == text` in torch's spelling.

What an operator is for (its kernels, its variants) is in `opgen.model`.

    FunctionSchema.parse("add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")
        .name.name.base        "add"
        .name.overload_name    "out"
        .arguments.out         (Argument "Tensor(a!) out",)
        .kind()                SchemaKind.out
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from enum import Enum, auto
from typing import Final, cast

from opgen.frozen_dataclass import dataclass
from opgen.schema.arguments import Argument, Arguments
from opgen.schema.lexer import Cursor, Memo, SchemaError
from opgen.schema.names import BaseOperatorName, OperatorName
from opgen.schema.returns import Return, read_returns
from opgen.schema.types import BaseTy, BaseType

_TENSOR: Final = BaseType(BaseTy.Tensor)


class SchemaKind(Enum):
    """The form of an operator that a schema declares."""

    __hash__ = object.__hash__  # by identity, which runs no Python code

    functional = auto()
    """Writes to no argument, except for a few operators whose names don't show it."""
    inplace = auto()
    """Writes to `self` and returns it: the name ends in `_`."""
    out = auto()
    """Writes its results to keyword-only out arguments."""
    mutable = auto()
    """Writes to positional arguments after `self`."""
    scratch = auto()
    """An out form that also takes scratch buffers (`_scratch_…`)."""


class SchemaMemo:
    """The parts that many schemas have in common.

    Of the 9,000 arguments in torch's definitions 1,100 are different, of the 2,600 lists of arguments 1,300.
    """

    def __init__(self) -> None:
        argument = Memo(Argument.read, r", |\) ->|$")
        self.arguments = Memo(lambda cursor: Arguments.read(cursor, read_argument=argument.read)[0], r"(?<=\)) ->")
        self.returns = Memo(read_returns, "$")


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    """A whole schema: `name.overload(arguments) -> returns`."""

    name: OperatorName
    arguments: Arguments
    returns: tuple[Return, ...]
    is_varret: bool = False
    """Whether the returns end in `...`."""
    is_liberal: bool = field(default=False, repr=False, compare=False)
    """Whether the form follows from what is written to, rather than from torchgen's rules about names."""
    _kind: SchemaKind = field(init=False, repr=False, compare=False)
    _signature: FunctionSchema | None = field(default=None, init=False, repr=False, compare=False)
    """`signature()` without options, memoized: functions are grouped by it, and compared several times."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kind", _kind_of(self.name, self.arguments, self.is_liberal))

    @staticmethod
    def parse(text: str, memo: SchemaMemo | None = None) -> FunctionSchema:
        """Parse `text`, a schema.

        Parts that `memo` has from other schemas are shared instead of parsed again.
        Raises SchemaError with the offsets of the characters that are wrong.
        """
        parts = SchemaMemo() if memo is None else memo
        cursor = Cursor(text)
        name = OperatorName.read(cursor)
        cursor.expect("(", "after the operator's name")
        arguments = parts.arguments.read(cursor)
        cursor.expect("->", "after the arguments")
        returns_start = cursor.start
        returns, is_varret = parts.returns.read(cursor)
        cursor.expect_end("the returns")
        schema = FunctionSchema(name, arguments, returns, is_varret)
        # Only TorchScript's own operators, which may break the rules, have a namespace here.
        if name.name.namespace is None:
            check_schema(schema, cursor, returns_start)
        return schema

    def schema_order_arguments(self) -> Iterator[Argument]:
        """Return the arguments in the order of the schema: positional, keyword-only, out."""
        return iter(self.arguments.flat_all)

    def kind(self) -> SchemaKind:
        """Return the form of the operator."""
        return self._kind

    def is_out_fn(self) -> bool:
        """Return whether results are written to out arguments."""
        return bool(self.arguments.out)

    def is_functional_fn(self) -> bool:
        """Return whether this is the functional form of a mutable operator, according to its name."""
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
        """Return whether any argument is a SymInt or a list of SymInts."""
        return self.arguments.has_symint_arg()

    def aliased_return_names(self) -> list[str | None]:
        """Return, for each result, the name of the argument that it aliases, or None."""
        return [self._aliased_name(r) for r in self.returns]

    def returns_are_aliased(self) -> bool:
        """Return whether a result is a written argument."""
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
        """Return the signature, which is equal for all forms of one operator.

        It has no marks of the form in its name, arguments and returns.  After the form's own returns,
        it returns each argument that the form writes to and doesn't return.

        With `strip_default`, arguments have no defaults.  With `strip_view_copy_name`, a `_copy` form has
        its view's name.  With `keep_return_names`, returns keep their names, and those of written
        arguments are named `<argument>_out`.
        """
        if strip_default or strip_view_copy_name or keep_return_names:
            return self._derive_signature(strip_default, strip_view_copy_name, keep_return_names)
        if self._signature is None:
            object.__setattr__(self, "_signature", self._derive_signature(False, False, False))
        return cast("FunctionSchema", self._signature)

    def _derive_signature(
        self, strip_default: bool, strip_view_copy_name: bool, keep_return_names: bool
    ) -> FunctionSchema:
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
        """Return the written arguments that are not returned."""
        written = self.arguments.written
        if not written:
            return []
        returned = self.aliased_return_names()
        return [a for a in written if a.name not in returned]

    def view_signature(self) -> FunctionSchema:
        """Return the signature that a view operator shares with its `_copy` form."""
        return self.signature(strip_view_copy_name=_view_base(self.name.name.base) != self.name.name.base)

    def with_name(self, name: OperatorName) -> FunctionSchema:
        """Return the same schema under another name."""
        return replace(self, name=name)

    def __str__(self) -> str:
        parts = [returned.text for returned in self.returns]
        if self.is_varret:
            parts.append("...")
        returns = parts[0] if len(parts) == 1 and not parts[0].startswith("(") else f"({', '.join(parts)})"
        return f"{self.name.text}({self.arguments}) -> {returns}"


def _kind_of(name: OperatorName, arguments: Arguments, is_liberal: bool) -> SchemaKind:
    if arguments.out and any(a.name.startswith("_scratch_") for a in arguments.out):
        return SchemaKind.scratch
    if name.name.inplace:
        return SchemaKind.inplace
    if arguments.out:
        return SchemaKind.out
    is_mutable = arguments.written and (is_liberal or arguments.post_self_positional_mutable)
    return SchemaKind.mutable if is_mutable else SchemaKind.functional


_BERNOULLI_P: Final = "bernoulli.p"
"""The functional form of ATen whose in-place and out forms have a default that it doesn't have itself."""


def _view_base(base: str) -> str:
    """Return the name that a view shares with its `_copy` form, or its inverse with the `_scatter` form."""
    if base.endswith("_copy"):
        return base.removesuffix("_copy")
    return base.removesuffix("_scatter") + "_inverse" if base.endswith("_scatter") else base


def check_argument_names(func: FunctionSchema, text: str) -> None:
    """Raise SchemaError if two arguments of the schema in `text` have one name: no function in C++ can have them.

    torch registers such schemas: `static_runtime::clamp_nan_to_num` is one.
    """
    seen: set[str] = set()
    for argument in func.arguments.flat_all:
        if argument.name in seen:
            start, end = argument_places(text, liberal=func.is_liberal)[argument.name]
            message = f"two arguments are named '{argument.name}': no function in C++ can have both"
            raise SchemaError(text, start, end, "schema-duplicate-argument", message)
        seen.add(argument.name)


def argument_places(text: str, *, liberal: bool = False) -> dict[str, tuple[int, int]]:
    """Return the start and end offset of each argument in a schema, by its name."""
    cursor = Cursor(text, liberal=liberal)
    OperatorName.read(cursor)
    cursor.expect("(", "after the operator's name")
    return Arguments.read_flat(cursor)[3]


def check_schema(schema: FunctionSchema, cursor: Cursor, returns_start: int) -> None:
    """Check the rules between name, arguments and returns of an operator.  Raises SchemaError."""
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
        _check_inplace(schema, cursor, returns_start)


def _check_inplace(schema: FunctionSchema, cursor: Cursor, returns_start: int) -> None:
    own = schema.arguments.self_arg
    if own is None or not _writes_self(schema):
        start, end = argument_places(cursor.text).get("self", (0, len(str(schema.name))))
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
    """Return whether `schema` returns nothing or `self`; anything is allowed if `self` is not a Tensor."""
    own, returns = schema.arguments.self_arg, schema.returns
    if not returns or own is None or own.argument.type is not _TENSOR:
        return True
    return len(returns) == 1 and returns[0].annotation == own.argument.annotation


def _returns_outs(schema: FunctionSchema) -> bool:
    """Return whether `schema` returns its out arguments in order, or nothing."""
    outs, returns = _results(schema), schema.returns
    if not returns:
        return len(outs) != 1 or outs[0].type is not _TENSOR
    return not outs or [(r.type, r.annotation) for r in returns] == [(a.type, a.annotation) for a in outs]


def _results(schema: FunctionSchema) -> Sequence[Argument]:
    """Return the out arguments that are not scratch buffers."""
    outs = schema.arguments.out
    is_plain = schema.kind() is not SchemaKind.scratch
    return outs if is_plain else [a for a in outs if not a.name.startswith("_scratch_")]
