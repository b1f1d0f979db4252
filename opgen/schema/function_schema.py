"""The text of a schema ⇄ a frozen value: `str(FunctionSchema.parse(text)) == text` in torch's spelling.

The other properties of an operator, such as its variants, are in `opgen.model`.

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
    """Mutates no argument, except for a few operators whose names don't show it."""
    inplace = auto()
    """Mutates `self` and returns it: the name ends in `_`."""
    out = auto()
    """Writes its results to keyword-only out arguments."""
    mutable = auto()
    """Mutates positional arguments after `self`."""
    scratch = auto()
    """An out form that also takes scratch buffers (`_scratch_…`)."""


class SchemaMemo:
    """A memo of parsed parts of schemas.

    1,100 of the 9,000 arguments in torch's definitions are distinct, and 1,300 of the 2,600 argument lists.
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
    is_lenient: bool = field(default=False, repr=False, compare=False)
    """Whether it was parsed by torch.library's rules: mutated arguments determine the kind, not the name."""
    _kind: SchemaKind = field(init=False, repr=False, compare=False)
    _signature: FunctionSchema | None = field(default=None, init=False, repr=False, compare=False)
    """`signature()` without options, memoized, since functions are grouped and compared by it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kind", _kind_of(self.name, self.arguments, self.is_lenient))

    @staticmethod
    def parse(text: str, memo: SchemaMemo | None = None) -> FunctionSchema:
        """Parse `text`, a schema.

        Parts in `memo` are reused instead of parsed again.
        Raises SchemaError with the offsets of the error.
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
        # Only TorchScript's own operators, which are exempt from the rules, have a namespace here.
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
        """Whether any argument is mutated."""
        return bool(self.arguments.mutated)

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
        """Return whether a result is a mutated argument."""
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

        Its name, arguments and returns don't depend on the form.  Arguments that the form mutates but
        doesn't return are returned after the other returns.

        With `strip_default`, arguments have no defaults.  With `strip_view_copy_name`, a `_copy` form has
        its view's name.  With `keep_return_names`, returns keep their names, and returned
        mutated arguments are named `<argument>_out`.
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
        mutated = (Return(f"{a.name}_out" if keep_names else None, a.type, None) for a in self._unreturned())
        return (*returns, *mutated)

    def _unreturned(self) -> list[Argument]:
        """Return the mutated arguments that are not returned."""
        mutated = self.arguments.mutated
        if not mutated:
            return []
        returned = self.aliased_return_names()
        return [a for a in mutated if a.name not in returned]

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


def _kind_of(name: OperatorName, arguments: Arguments, is_lenient: bool) -> SchemaKind:
    if arguments.out and any(a.name.startswith("_scratch_") for a in arguments.out):
        return SchemaKind.scratch
    if name.name.inplace:
        return SchemaKind.inplace
    if arguments.out:
        return SchemaKind.out
    is_mutable = arguments.mutated and (is_lenient or arguments.post_self_positional_mutable)
    return SchemaKind.mutable if is_mutable else SchemaKind.functional


_BERNOULLI_P: Final = "bernoulli.p"
"""An ATen operator whose in-place and out forms have a default that its functional form doesn't have."""


def _view_base(base: str) -> str:
    """Return the name that a view shares with its `_copy` form, or its inverse with the `_scatter` form."""
    if base.endswith("_copy"):
        return base.removesuffix("_copy")
    return base.removesuffix("_scatter") + "_inverse" if base.endswith("_scatter") else base


def check_argument_names(func: FunctionSchema, text: str) -> None:
    """Raise SchemaError if two arguments of the schema in `text` have the same name, which C++ doesn't allow.

    torch does register such schemas, such as that of `static_runtime::clamp_nan_to_num`.
    """
    seen: set[str] = set()
    for argument in func.arguments.flat_all:
        if argument.name in seen:
            start, end = argument_offsets(text, lenient=func.is_lenient)[argument.name]
            message = f"two arguments are named '{argument.name}': no function in C++ can have both"
            raise SchemaError(text, start, end, "schema-duplicate-argument", message)
        seen.add(argument.name)


def argument_offsets(text: str, *, lenient: bool = False) -> dict[str, tuple[int, int]]:
    """Return the start and end offset of each argument in a schema, by its name."""
    cursor = Cursor(text, lenient=lenient)
    OperatorName.read(cursor)
    cursor.expect("(", "after the operator's name")
    return Arguments.read_flat(cursor)[3]


def check_schema(schema: FunctionSchema, cursor: Cursor, returns_start: int) -> None:
    """Check the rules between name, arguments and returns of an operator.  Raises SchemaError."""
    if not _returns_outs(schema):
        expected = [a.type.spell(a.annotation) for a in _results(schema)]
        text = ", ".join(expected)
        cursor.fail(
            f"'{schema.name}' must return its out arguments, in their order",
            returns_start,
            len(cursor.text),
            f"write '-> {text if len(expected) == 1 else f'({text})'}'",
            "schema-out-returns",
        )
    if schema.name.name.inplace:
        _check_inplace(schema, cursor, returns_start)


def _check_inplace(schema: FunctionSchema, cursor: Cursor, returns_start: int) -> None:
    self_arg = schema.arguments.self_arg
    if self_arg is None or not _mutates_self(schema):
        start, end = argument_offsets(cursor.text).get("self", (0, len(str(schema.name))))
        problem = "has no argument 'self'" if self_arg is None else "does not write to 'self'"
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
            f"write '-> {self_arg.argument.type.spell(self_arg.argument.annotation)}'",
            "schema-inplace",
        )


def _mutates_self(schema: FunctionSchema) -> bool:
    self_arg = schema.arguments.self_arg
    return self_arg is not None and self_arg.argument.is_write


def _returns_self(schema: FunctionSchema) -> bool:
    """Return whether `schema` returns nothing or `self`; anything is allowed if `self` is not a Tensor."""
    self_arg, returns = schema.arguments.self_arg, schema.returns
    if not returns or self_arg is None or self_arg.argument.type is not _TENSOR:
        return True
    return len(returns) == 1 and returns[0].annotation == self_arg.argument.annotation


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
