"""A schema → the signature of its Python function or method, as torch's argument parser reads it.

Python sees one function where the schema language has several: the form with out arguments and the
functional form are one signature with `out=None`, and a factory takes dtype, layout, device,
pin_memory and requires_grad as keywords, whether its own schema names them or not (the out form's
doesn't).  `python_parser` has the parser's spelling of types, `python_calls` the calls of C++,
`python_overloads` the overloads in the order in which the parser tries them, and `python_stubs` the definitions for
type checkers.

    add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)

    add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor out=None)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Final, TypeAlias

from opgen.api import cpp
from opgen.api.python_parser import (
    TENSOR,
    argument_type_str,
    default_value,
    has_optional_method,
    may_be_none,
    parser_default,
    unpack_method,
    unsupported_default,
)
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    FunctionSchema,
    ListType,
    NativeFunction,
    OptionalType,
    Return,
    TensorOptionsArguments,
    Type,
)

SCALAR: Final = BaseType(BaseTy.Scalar)


def without_symint(t: Type) -> Type:
    """Return `t` with plain integers instead of `SymInt`."""
    if isinstance(t, BaseType):
        return BaseType(BaseTy.int) if t.name is BaseTy.SymInt else t
    if isinstance(t, OptionalType):
        return OptionalType(without_symint(t.elem))
    return ListType(without_symint(t.elem), t.size) if isinstance(t, ListType) else t


# ----------------------------------------------------------------------------- arguments


@dataclass(frozen=True, slots=True)
class PythonArgument:
    """One parameter of a Python function."""

    name: str
    """The name in the schema; the tensor `self` is `input` in Python."""
    type: Type
    default: str | None
    """The default as in a schema; None if the argument is required."""
    default_init: str | None = None
    """The C++ value for None, if that isn't `nullopt`."""
    # Computed on first use; functions share equal arguments.
    _spelled: str = field(default="", init=False, repr=False, compare=False)
    _unpack_method: str = field(default="", init=False, repr=False, compare=False)

    def python_name(self, *, method: bool = False, deprecated: bool = False) -> str:
        """Return the name in calls."""
        is_input = self.name == "self" and self.type == TENSOR and not method and not deprecated
        return "input" if is_input else self.name

    def argument_str(self, *, method: bool = False) -> str:
        """Return the argument in the parser's syntax: `int64_t dim=0`."""
        if method and self.name == "self":
            return self._spell(self.python_name(method=True))
        if not self._spelled:
            object.__setattr__(self, "_spelled", self._spell(self.python_name()))
        return self._spelled

    def _spell(self, name: str) -> str:
        if unsupported_default(self.default, self.type):
            return f"{argument_type_str(self.type).removesuffix('?')}? {name}=None"
        default = "" if self.default is None else f"={parser_default(self.default, self.type)}"
        return f"{argument_type_str(self.type)} {name}{default}"

    def parsed_value(self, index: int, *, spells_default: bool = False) -> str:
        """Return the C++ expression for the parsed value at this index: `_r.toInt64(1)`.

        With `spells_default` the expression contains the default: `(_r.isNone(1) ? 0 : _r.toInt64(1))`.
        """
        init = self.default_init
        if not self._unpack_method:
            method = unpack_method(self.type, self.default, has_init=init is not None)
            object.__setattr__(self, "_unpack_method", method)
        value = f"_r.{self._unpack_method}({index})" if init is None else f"_r.{self._unpack_method}({index}, {init})"
        absent = unsupported_default(self.default, self.type)
        if not absent and spells_default and init is None:
            absent = default_value(self.default, self.type)
        if absent:
            return f"(_r.isNone({index}) ? {absent} : {value})"
        if isinstance(self.type, BaseType):
            return value
        if may_be_none(self.type, self.default) and not has_optional_method(self.type):
            return f"(_r.isNone({index}) ? ::std::nullopt : ::std::make_optional({value}))"
        return value


@dataclass(frozen=True, slots=True)
class PythonNumber(PythonArgument):
    """A number that callers pass instead of a tensor; its type is `Scalar`."""

    def python_name(self, *, method: bool = False, deprecated: bool = False) -> str:
        tensor = PythonArgument(self.name, TENSOR, self.default)
        return tensor.python_name(method=method, deprecated=deprecated)


@dataclass(frozen=True, slots=True)
class PythonSelf(PythonArgument):
    """An argument `self` that is not renamed, since another one is called `input`."""

    def python_name(self, *, method: bool = False, deprecated: bool = False) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class PythonOutArgument(PythonArgument):
    """The argument `out` in Python, for all out arguments of the schema."""

    outputs: tuple[PythonArgument, ...] = ()
    """The out arguments of the schema, in order."""

    @staticmethod
    def from_outputs(outputs: tuple[PythonArgument, ...]) -> PythonOutArgument | None:
        """Return the argument for these; None for none.  Several tensors are one list of that size."""
        if not outputs:
            return None
        if len(outputs) == 1:
            only = outputs[0]
            return PythonOutArgument(only.name, only.type, "None", None, outputs)
        return PythonOutArgument("out", ListType(TENSOR, len(outputs)), "None", None, outputs)


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A deprecated signature, and how its arguments map to those of the current one."""

    schema: FunctionSchema
    """The deprecated schema."""
    expressions: tuple[str, ...]
    """The arguments of the C++ function, out arguments first: names of the deprecated schema, or literals."""


@dataclass(frozen=True, slots=True)
class PythonSignature:
    """The signature of one overload of a Python function or method."""

    name: str
    input_args: tuple[PythonArgument, ...]
    """Arguments that may be positional, without the self of a method."""
    input_kwargs: tuple[PythonArgument, ...]
    """Arguments that are keyword-only."""
    output_args: PythonOutArgument | None
    tensor_options_args: tuple[PythonArgument, ...]
    """dtype, layout, device, pin_memory and requires_grad of a factory function, or nothing."""
    returns: tuple[Return, ...]
    method: bool
    symint: bool = True
    """Whether it takes symbolic integers; otherwise the types above have plain ones."""
    deprecated: Deprecation | None = None
    _spelled: str = field(default="", init=False, repr=False, compare=False)

    def arguments(self, *, skip_outputs: bool = False, skip_tensor_options: bool = False) -> tuple[PythonArgument, ...]:
        """Return all arguments, in the parser's order."""
        outputs = () if skip_outputs or self.output_args is None else (self.output_args,)
        options = () if skip_tensor_options else self.tensor_options_args
        return (*self.input_args, *self.input_kwargs, *outputs, *options)

    def arguments_count(self) -> int:
        """Return the number of arguments."""
        inputs = len(self.input_args) + len(self.input_kwargs)
        return inputs + (self.output_args is not None) + len(self.tensor_options_args)

    def output_idx(self) -> int:
        """Return the index of `out`; None if there is none."""
        return len(self.input_args) + len(self.input_kwargs)

    def signature_str(self, *, skip_outputs: bool = False) -> str:
        """Return the signature in the parser's syntax: `sum(Tensor input, *, ScalarType? dtype=None)`."""
        if skip_outputs and self.output_args is not None:
            return self._spell(self.arguments(skip_outputs=True))
        if not self._spelled:
            object.__setattr__(self, "_spelled", self._spell(self.arguments()))
        return self._spelled

    def _spell(self, arguments: Sequence[PythonArgument]) -> str:
        parts = [argument.argument_str(method=self.method) for argument in arguments]
        if len(parts) > len(self.input_args):
            parts.insert(len(self.input_args), "*")
        return f"{self.name}({', '.join(parts)}){'|deprecated' if self.deprecated else ''}"

    def as_method(self) -> PythonSignature:
        """Return the signature of the method: the same without self."""
        return PythonSignature(
            self.name,
            tuple([argument for argument in self.input_args if argument.name != "self"]),
            self.input_kwargs,
            self.output_args,
            self.tensor_options_args,
            self.returns,
            True,
            self.symint,
            self.deprecated,
        )

    def with_out_form(self, out: PythonSignature) -> PythonSignature:
        """Return the signature that a functional form shares with its out variant."""
        # Only the functional form's schema has the defaults of the options.
        return PythonSignature(
            self.name,
            self.input_args,
            self.input_kwargs,
            out.output_args,
            self.tensor_options_args,
            self.returns,
            self.method,
            self.symint,
            out.deprecated,
        )


# ---------------------------------------------------------------------------- signatures


ArgumentMemo: TypeAlias = dict[int, PythonArgument]
"""The Python arguments for arguments of schemas, by identity; equal arguments of schemas are one object."""


@dataclass(frozen=True, slots=True, eq=False)
class PythonSignatures:
    """The memoized signatures of all operators of a run, as functions and as methods."""

    symint: bool = True
    """Whether signatures take symbolic integers."""
    _arguments: ArgumentMemo = field(default_factory=dict, init=False, repr=False)
    # Memoized by identity, which is faster than by name; functions outlive this object.
    _functions: dict[int, PythonSignature] = field(default_factory=dict, init=False, repr=False)

    def of(self, function: NativeFunction, *, method: bool = False) -> PythonSignature:
        """Return the signature of a function, as a function of a module or as a method of tensors."""
        signature = self._functions.get(id(function))
        if signature is None:
            signature = self._functions[id(function)] = self._derive(function.func, function.category_override)
        return signature.as_method() if method else signature

    def deprecated(self, deprecation: Deprecation, function: NativeFunction, *, method: bool) -> PythonSignature:
        """Return the deprecated signature of a function."""
        own = self._derive(deprecation.schema, function.category_override)
        return replace(own.as_method() if method else own, deprecated=deprecation)

    def _derive(self, func: FunctionSchema, category_override: str | None) -> PythonSignature:
        return signature_from_schema(
            func, category_override=category_override, symint=self.symint, memo=self._arguments
        )


def signature(function: NativeFunction, *, method: bool = False, symint: bool = True) -> PythonSignature:
    """Return the signature of a function, as a function of a module or as a method of tensors."""
    return signature_from_schema(
        function.func, category_override=function.category_override, method=method, symint=symint
    )


def signature_from_schema(
    func: FunctionSchema,
    *,
    category_override: str | None,
    method: bool = False,
    symint: bool = True,
    memo: ArgumentMemo | None = None,
) -> PythonSignature:
    """Return the signature of a function with this schema and category; memoize its arguments."""
    arguments, memo = func.arguments, {} if memo is None else memo
    function = PythonSignature(
        name=func.name.name.text,
        input_args=_python_arguments(arguments.flat_positional, symint, memo),
        input_kwargs=_python_arguments(
            arguments.pre_tensor_options_kwarg_only + arguments.post_tensor_options_kwarg_only, symint, memo
        ),
        output_args=PythonOutArgument.from_outputs(_python_arguments(arguments.out, symint, memo)),
        tensor_options_args=_tensor_options_args(func, category_override),
        returns=func.returns,
        method=False,
        symint=symint,
    )
    return function.as_method() if method else function


def _python_arguments(arguments: tuple[Argument, ...], symint: bool, memo: ArgumentMemo) -> tuple[PythonArgument, ...]:
    return tuple([memo.get(id(a)) or _python_argument(a, symint, memo) for a in arguments]) if arguments else ()


def _python_argument(a: Argument, symint: bool, memo: ArgumentMemo) -> PythonArgument:
    type, default, init = a.type if symint else without_symint(a.type), a.default, None
    if default is not None and default[:1] in ("'", '"') and ", " in default:
        # The parser ends the argument at the comma, so the default is None instead.
        default, init = "None", cpp.default_expr(default, BaseType(BaseTy.str), symint=False)
    argument = memo[id(a)] = PythonArgument(a.name, type, default, init)
    return argument


WITH_OPTIONS: Final = "with options"
WITHOUT_OPTIONS: Final = "without options"
"""Categories of operators outside of torch: their schemas determine whether callers pass tensor options."""


def makes_tensor(func: FunctionSchema, category_override: str | None) -> bool:
    """Return whether callers pass tensor options: to a factory, a `new_…` or a `…_like` operator."""
    if category_override in (WITH_OPTIONS, WITHOUT_OPTIONS):
        return category_override == WITH_OPTIONS
    return (
        is_factory(func, category_override)
        or func.name.name.base.startswith("new_")
        or (func.name.name.base.endswith("_like") and not func.is_out_fn())
    )


def is_factory(func: FunctionSchema, category_override: str | None) -> bool:
    """Return whether the function creates a tensor without taking one, or has the category of a factory."""
    if category_override not in (None, WITH_OPTIONS):
        return category_override == "factory"
    return not func.arguments.has_tensor_arg() and any(r.type.is_tensor_like() for r in func.returns)


def _tensor_options_args(func: FunctionSchema, category_override: str | None) -> tuple[PythonArgument, ...]:
    if not makes_tensor(func, category_override):
        return ()
    options = func.arguments.tensor_options
    device = "torch::tensors::get_default_device()" if is_factory(func, category_override) else None

    def optional(name: str, ty: BaseTy, default: str, init: str | None = None) -> PythonArgument:
        return PythonArgument(name, OptionalType(BaseType(ty)), default, init)

    return (
        optional("dtype", BaseTy.ScalarType, "None", _option_init(options, "dtype")),
        optional("layout", BaseTy.Layout, "None", _option_init(options, "layout")),
        optional("device", BaseTy.Device, "None", device),
        optional("pin_memory", BaseTy.bool, "False"),
        optional("requires_grad", BaseTy.bool, "False"),
    )


def _option_init(options: TensorOptionsArguments | None, name: str) -> str | None:
    """Return the C++ value of an option that isn't passed, if the schema has a default for it."""
    if options is None:
        return None
    option = options.dtype if name == "dtype" else options.layout
    if option.default in (None, "None"):
        return None
    return cpp.default_expr(option.default or "", option.type, symint=False)


def has_tensor_options(function: NativeFunction) -> bool:
    """Return whether the schema itself has tensor options."""
    return function.func.arguments.tensor_options is not None


def structseq_fieldnames(returns: tuple[Return, ...]) -> tuple[str, ...]:
    """Return the field names of the returned named tuple; none for one value or a plain tuple."""
    if len(returns) < 2:
        return ()
    names = tuple([r.name for r in returns if r.name is not None])
    return names if len(names) == len(returns) else ()
