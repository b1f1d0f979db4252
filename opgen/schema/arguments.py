"""The text of a schema's arguments ⇄ frozen values, in the groups that calling conventions need.

Arguments.parse("Tensor self, *, Scalar alpha=1, Tensor(a!) out")
    .self_arg       SelfArgument("Tensor self")
    .kwarg_only     ("Scalar alpha=1",)
    .out            ("Tensor(a!) out",)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from typing import Final

from opgen.frozen_dataclass import dataclass
from opgen.schema.lexer import Cursor, parse_whole
from opgen.schema.types import Annotation, BaseTy, BaseType, OptionalType, Type, read_annotated_type


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a schema."""

    name: str
    type: Type
    default: str | None
    """The default as spelled in the schema; None if there is none."""
    annotation: Annotation | None
    """The alias annotation; None if there is none."""
    schema_name: str | None = field(default=None, repr=False, compare=False)
    """Its name in the schema, if that is not a valid C++ identifier, or clashes, and so differs from `name`."""
    is_write: bool = field(init=False, repr=False, compare=False)
    """Whether the operator mutates this argument."""
    text: str = field(init=False, repr=False, compare=False)
    """The argument as a schema spells it."""

    def __post_init__(self) -> None:
        annotation = self.annotation
        default = "" if self.default is None else f"={self.default}"
        object.__setattr__(self, "is_write", annotation is not None and annotation.is_write)
        name = self.name if self.schema_name is None else self.schema_name
        object.__setattr__(self, "text", f"{self.type.spell(annotation)} {name}{default}")

    @staticmethod
    def parse(text: str) -> Argument:
        """Parse `text`, an argument.  Raises SchemaError."""
        return parse_whole(text, "an argument", Argument.read)

    @staticmethod
    def read(cursor: Cursor) -> Argument:
        """Read the argument ahead.  Raises SchemaError."""
        type, annotation = read_annotated_type(cursor)
        if cursor.lenient:
            cursor.check_word("an argument")
        name = cursor.name("the name of the argument")
        default = _read_default(cursor) if cursor.accept("=") else None
        return Argument(name, type, default, annotation)

    @property
    def alias_info(self) -> Annotation | None:
        """Alias of `annotation`, kept for torchgen compatibility."""
        return self.annotation

    def __str__(self) -> str:
        return self.text


_CLOSING: Final = (("(", ")"), ("[", "]"), ("{", "}"))


def parse_default(text: str) -> str:
    """Parse `text`, a default, and return it without outer white space.  Raises SchemaError."""
    return parse_whole(text, "a default", _read_default)


def _read_default(cursor: Cursor) -> str:
    """Read a default, up to the comma or bracket that ends the argument."""
    start, closers = cursor.start, ""
    while cursor.kind != "end":
        text, kind = cursor.ahead, cursor.kind
        if kind == "punctuation":
            if not closers and text in (",", ")"):
                break
            closers = _pending_closers(cursor, text, closers)
        cursor.take()
    if closers:
        cursor.fail_ahead(f"expected '{closers[-1]}' to close the default")
    if cursor.start == start:
        cursor.fail_ahead("expected a default after '='")
    return cursor.text[start : cursor.previous_end]


def _pending_closers(cursor: Cursor, text: str, closers: str) -> str:
    """Return the closing brackets that are still expected after `text`, punctuation in a default."""
    for opening, closing in _CLOSING:
        if text == opening:
            return closers + closing
        if text == closing:
            if not closers.endswith(closing):
                cursor.fail_ahead("the brackets of this default don't match")
            return closers[:-1]
    if text not in (",", ".", "-", ":", "::"):
        cursor.fail_ahead("expected ',' or ')' after the default")
    return closers


@dataclass(frozen=True, slots=True)
class SelfArgument:
    """The argument that is `self` when the operator is called as a method."""

    argument: Argument


@dataclass(frozen=True, slots=True)
class TensorOptionsArguments:
    """Consecutive arguments `dtype, layout, device, pin_memory`, which C++ takes as one TensorOptions."""

    dtype: Argument
    layout: Argument
    device: Argument
    pin_memory: Argument

    def all(self) -> tuple[Argument, ...]:
        """Return the four in the schema's order."""
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
    """Return the index at which four consecutive arguments are tensor options; None if there is none."""
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
    """Split arguments into those before `self`, `self`, and those after it; without `self`, all are after it."""
    for index, argument in enumerate(positional):
        if argument.name == "self":
            return positional[:index], SelfArgument(argument), positional[index + 1 :]
    return (), None, positional


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a schema, grouped as calling conventions need them."""

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
    """Mutated keyword-only arguments."""
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
    mutated: tuple[Argument, ...] = field(init=False, repr=False, compare=False)
    """All arguments that the operator mutates, the out arguments first."""
    base_types: frozenset[BaseTy | None] = field(init=False, repr=False, compare=False)
    """The base types of all arguments but the out arguments, without lists and optionals."""

    def __post_init__(self) -> None:
        # Computed once, since they are read often.
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
        keep(self, "mutated", tuple([a for a in self.out + non_out if a.is_write]) if annotations else ())
        keep(self, "base_types", frozenset([a.type.base_ty for a in non_out]))

    @staticmethod
    def parse(text: str) -> Arguments:
        """Parse `text`, arguments without parentheses.  Raises SchemaError."""

        def read(cursor: Cursor) -> Arguments:
            return Arguments.read(cursor, close="")[0]

        return parse_whole(text, "the arguments", read)

    @staticmethod
    def read(
        cursor: Cursor, close: str = ")", read_argument: Callable[[Cursor], Argument] = Argument.read
    ) -> tuple[Arguments, dict[str, tuple[int, int]]]:
        """Read the arguments ahead, up to and with `close`.

        Returns them, and the start and end of each argument by its name.  Raises SchemaError.
        """
        positional, kwarg_only, is_vararg, offsets = Arguments.read_flat(cursor, close, read_argument)
        return Arguments.arrange(positional, kwarg_only, is_vararg), offsets

    @staticmethod
    def read_flat(
        cursor: Cursor, close: str = ")", read_argument: Callable[[Cursor], Argument] = Argument.read
    ) -> tuple[tuple[Argument, ...], tuple[Argument, ...], bool, dict[str, tuple[int, int]]]:
        """Read the arguments ahead, up to and with `close`.

        Returns the positional and the keyword-only ones, whether the positional ones end in `...`, and the start
        and end of each by its name.  Raises SchemaError.
        """
        positional: list[Argument] = []
        kwarg_only: list[Argument] = []
        offsets: dict[str, tuple[int, int]] = {}
        target, is_vararg = positional, False
        while not _at_close(cursor, close, bool(offsets) or target is kwarg_only or is_vararg):
            start = cursor.start
            if cursor.accept("*"):
                if target is kwarg_only:
                    cursor.fail("keyword-only arguments have already started", start, start + 1)
                target = kwarg_only
            elif cursor.accept("..."):
                is_vararg = True
            else:
                argument = read_argument(cursor)
                _check_argument(cursor, argument, start, kwarg_only if target is kwarg_only else None)
                target.append(argument)
                offsets[argument.name] = (start, cursor.previous_end)
        if close:
            cursor.expect(close, "")
        return tuple(positional), tuple(kwarg_only), is_vararg, offsets

    @staticmethod
    def arrange(
        positional: tuple[Argument, ...],
        kwarg_only: tuple[Argument, ...],
        is_vararg: bool = False,
        *,
        has_outs: bool = True,
        are_options_optional: bool = False,
    ) -> Arguments:
        """Group arguments that are given in the schema's order.

        Without `has_outs`, mutated keyword-only arguments aren't out arguments.  With `are_options_optional`, only
        optional arguments are tensor options.
        """
        before, self_arg, after = _split_at_self(positional)
        if not kwarg_only:
            return Arguments(before, self_arg, after, (), None, (), (), is_vararg)
        plain = tuple([a for a in kwarg_only if not (has_outs and a.is_write)])
        out = tuple([a for a in kwarg_only if has_outs and a.is_write])
        index = _find_tensor_options(plain)
        if (
            index is not None
            and are_options_optional
            and not all(isinstance(a.type, OptionalType) for a in plain[index : index + 4])
        ):
            index = None
        if index is None:
            return Arguments(before, self_arg, after, plain, None, (), out, is_vararg)
        options = TensorOptionsArguments(*plain[index : index + 4])
        return Arguments(before, self_arg, after, plain[:index], options, plain[index + 4 :], out, is_vararg)

    # Unlike in the `flat_` fields, `self` and the tensor options are one item each.

    @property
    def positional(self) -> tuple[Argument | SelfArgument, ...]:
        """Positional arguments, `self` as a SelfArgument."""
        self_args = (self.self_arg,) if self.self_arg is not None else ()
        return (*self.pre_self_positional, *self_args, *self.post_self_positional)

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
        """Mutated positional arguments after `self`."""
        return tuple([a for a in self.post_self_positional if a.is_write])

    def mutable_arg_names(self) -> tuple[str, ...]:
        """Return the names of all mutated arguments."""
        return tuple([a.name for a in self.flat_all if a.is_write])

    def has_tensor_arg(self) -> bool:
        """Return whether any argument but the out arguments is a tensor or a list of tensors."""
        return BaseTy.Tensor in self.base_types

    def has_symint_arg(self) -> bool:
        """Return whether any argument but the out arguments is a SymInt or a list of SymInts."""
        return BaseTy.SymInt in self.base_types

    def has_generator_arg(self) -> bool:
        """Return whether any argument but the out arguments is a generator."""
        return BaseTy.Generator in self.base_types

    def signature(self, *, strip_default: bool = False) -> Arguments:
        """Return the arguments that all forms share: without annotations, out arguments and tensor options.

        The out form of a factory has no tensor options: it uses those of its out argument.
        """
        if not strip_default and not self.annotations and self.tensor_options is None:
            return self

        def strip(argument: Argument) -> Argument:
            default = None if strip_default else argument.default
            if default is argument.default and argument.annotation is None:
                return argument
            return Argument(argument.name, argument.type, default, None)

        self_arg = self.self_arg
        keyword_only = self.pre_tensor_options_kwarg_only + self.post_tensor_options_kwarg_only
        return Arguments(
            tuple(map(strip, self.pre_self_positional)),
            SelfArgument(strip(self_arg.argument)) if self_arg is not None else None,
            tuple(map(strip, self.post_self_positional)),
            tuple(map(strip, keyword_only)),
            None,
            (),
            (),
            self.is_vararg,
        )

    def map(self, change: Callable[[Argument], Argument]) -> Arguments:
        """Return the same groups with `change` applied to each argument."""
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
        """Return the arguments without an alias annotation on `self`."""
        if self.self_arg is None:
            return self
        return replace(self, self_arg=SelfArgument(replace(self.self_arg.argument, annotation=None)))

    def with_out_args(self, outs: Iterable[Argument]) -> Arguments:
        """Return the arguments with `outs` before the existing out arguments."""
        return replace(self, out=tuple(outs) + self.out)

    def __str__(self) -> str:
        keyword_only = [a.text for a in self.flat_kwarg_only + self.out]
        return _join_arguments([a.text for a in self.flat_positional], self.is_vararg, keyword_only)


def _join_arguments(positional: list[str], is_vararg: bool, keyword_only: list[str]) -> str:
    """Join the texts of arguments as in a schema."""
    if is_vararg:
        positional = [*positional, "..."]
    return ", ".join([*positional, "*", *keyword_only] if keyword_only else positional)


def _at_close(cursor: Cursor, close: str, has_previous: bool) -> bool:
    """Return whether the arguments end here; otherwise skip the comma between two arguments."""
    ends = cursor.ahead == close if close else cursor.kind == "end"
    if not ends and has_previous:
        cursor.expect(",", f"or '{close}' after the argument" if close else "after the argument")
    return ends


def _check_argument(
    cursor: Cursor,
    argument: Argument,
    start: int,
    kwarg_only: list[Argument] | None,
) -> None:
    """Check `argument` against those before it.  Raises SchemaError."""
    if kwarg_only and kwarg_only[-1].is_write and not argument.is_write and not cursor.lenient:
        cursor.fail(
            f"'{argument.name}' comes after the out argument '{kwarg_only[-1].name}'",
            start,
            cursor.previous_end,
            "out arguments come last",
            "schema-out-arguments",
        )
