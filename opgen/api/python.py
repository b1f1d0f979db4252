"""A schema → the signature of its Python function or method, as torch's argument parser reads it.

Python sees one function where the schema language has several: the form with out arguments and the
functional form are one signature with `out=None`, and a factory takes dtype, layout, device,
pin_memory and requires_grad as keywords, whether its own schema names them or not (the out form's
doesn't).  How parsed arguments reach C++ is the business of `python_calls`, which overloads are
bound and in which order the parser tries them that of `python_overloads`, and what a type checker
is told that of `python_stubs`.

    add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)

    add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor out=None)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from opgen.api import cpp
from opgen.api.types import UnsupportedTypeError
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
from opgen.values import dataclass

TENSOR: Final = BaseType(BaseTy.Tensor)
BOOL: Final = BaseType(BaseTy.bool)

SCALAR: Final = BaseType(BaseTy.Scalar)

PARSER_TYPES: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Tensor: "Tensor",
        BaseTy.int: "int64_t",
        BaseTy.float: "double",
        BaseTy.str: "c10::string_view",
        BaseTy.SymInt: "SymInt",
        **{
            ty: ty.name
            for ty in (
                BaseTy.bool,
                BaseTy.Scalar,
                BaseTy.ScalarType,
                BaseTy.Generator,
                BaseTy.Layout,
                BaseTy.Device,
                BaseTy.DeviceIndex,
                BaseTy.MemoryFormat,
                BaseTy.Storage,
                BaseTy.Stream,
                BaseTy.QScheme,
            )
        },
    }
)
"""What the argument parser calls each type; a type that isn't here can't come from Python."""

_PARSER_LISTS: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Tensor: "TensorList",
        BaseTy.int: "IntArrayRef",
        BaseTy.SymInt: "SymIntArrayRef",
        BaseTy.Scalar: "ScalarList",
    }
)

# --------------------------------------------------------------------------------- types


def argument_type_str(t: Type, *, simple_type: bool = False) -> str:
    """How the argument parser spells `t`; with `simple_type`, without the size of a list."""
    if isinstance(t, BaseType):
        if t.name in PARSER_TYPES:
            return PARSER_TYPES[t.name]
    elif isinstance(t, OptionalType):
        return f"{argument_type_str(t.elem, simple_type=simple_type)}?"
    elif isinstance(t, ListType):
        return _list_type_str(t, simple_type)
    raise UnsupportedTypeError(t, "can't be given from Python")


def _list_type_str(t: ListType, simple_type: bool) -> str:
    elem = t.elem
    if isinstance(elem, OptionalType) and elem.elem == TENSOR:
        return "c10::List<::std::optional<Tensor>>"
    if elem == BOOL and t.size is not None:
        return f"::std::array<bool,{t.size}>"
    if not isinstance(elem, BaseType) or elem == BOOL:
        raise UnsupportedTypeError(t, "can't be given from Python")
    name = _PARSER_LISTS.get(elem.name)
    if name is None:
        return f"ArrayRef<{argument_type_str(elem)}>"
    return name if t.size is None or simple_type else f"{name}[{t.size}]"


def argument_type_size(t: Type) -> int | None:
    """The size of a list that one element may stand for in Python; None if there is none."""
    as_list = t.is_list_like()
    return None if as_list is None or as_list.elem == BOOL else as_list.size


def without_symint(t: Type) -> Type:
    """`t` with plain integers in place of `SymInt`."""
    if isinstance(t, BaseType):
        return BaseType(BaseTy.int) if t.name is BaseTy.SymInt else t
    if isinstance(t, OptionalType):
        return OptionalType(without_symint(t.elem))
    return ListType(without_symint(t.elem), t.size) if isinstance(t, ListType) else t


# ------------------------------------------------------------------------------ defaults

_DEFAULT_WORDS: Final = MappingProxyType(
    {
        "[]": "None",
        "Mean": "at::Reduction::Mean",
        "contiguous_format": "c10::MemoryFormat::Contiguous",
        "long": "at::kLong",
    }
)
"""Defaults that the parser spells otherwise than the schema does."""
_EXPONENT: Final = re.compile(r"[-+]?[\d.]+e[-+]?\d+")


def parser_default(default: str, t: Type) -> str:
    """The default of a schema as the argument parser reads it."""
    if default[:1] in ("'", '"'):
        return cpp.default_expr(default, BaseType(BaseTy.str), symint=False)
    if default.startswith("[") and default != "[]" and t.is_list_like():
        # The parser takes what comes after a space for the next argument.
        return "{" + default[1:-1].replace(" ", "") + "}"
    if "e" in default and _EXPONENT.fullmatch(default):
        return str(float(default))
    return _DEFAULT_WORDS.get(default, default)


# ----------------------------------------------------------------------------- arguments


@dataclass(frozen=True, slots=True)
class PythonArgument:
    """One parameter of a Python function."""

    name: str
    """The name in the schema; a tensor called `self` is `input` in Python."""
    type: Type
    default: str | None
    """The default as a schema spells it; None if the argument must be given."""
    default_init: str | None = None
    """The C++ value to use where None is given, if that isn't `nullopt`."""

    def python_name(self, *, method: bool = False, deprecated: bool = False) -> str:
        """What callers name it."""
        is_input = self.name == "self" and self.type == TENSOR and not method and not deprecated
        return "input" if is_input else self.name

    def argument_str(self, *, method: bool = False) -> str:
        """The argument as the parser reads it: `int64_t dim=0`."""
        type = argument_type_str(self.type)
        default = "" if self.default is None else f"={parser_default(self.default, self.type)}"
        return f"{type} {self.python_name(method=method)}{default}"


@dataclass(frozen=True, slots=True)
class PythonNumber(PythonArgument):
    """A number that callers give where the schema has a tensor; its type is `Scalar`."""

    def python_name(self, *, method: bool = False, deprecated: bool = False) -> str:
        tensor = PythonArgument(self.name, TENSOR, self.default)
        return tensor.python_name(method=method, deprecated=deprecated)


@dataclass(frozen=True, slots=True)
class PythonOutArgument(PythonArgument):
    """The one `out` in Python that stands for all out arguments of the schema."""

    outputs: tuple[PythonArgument, ...] = ()
    """The out arguments of the schema, in order."""

    @staticmethod
    def from_outputs(outputs: tuple[PythonArgument, ...]) -> PythonOutArgument | None:
        """The argument for these; None for none.  Several tensors come as one list of that size."""
        if not outputs:
            return None
        if len(outputs) == 1:
            only = outputs[0]
            return PythonOutArgument(only.name, only.type, "None", None, outputs)
        return PythonOutArgument("out", ListType(TENSOR, len(outputs)), "None", None, outputs)


@dataclass(frozen=True, slots=True)
class Deprecation:
    """That a signature is an old one, and how a call in its terms reads in today's."""

    schema: FunctionSchema
    """The old schema."""
    expressions: tuple[str, ...]
    """The arguments of the C++ function, out arguments first: names of the old schema, or literals."""


@dataclass(frozen=True, slots=True)
class PythonSignature:
    """The signature of one overload of a Python function or method."""

    name: str
    input_args: tuple[PythonArgument, ...]
    """Arguments that may be given by position; a method's are without self."""
    input_kwargs: tuple[PythonArgument, ...]
    """Arguments that must be given by name."""
    output_args: PythonOutArgument | None
    tensor_options_args: tuple[PythonArgument, ...]
    """dtype, layout, device, pin_memory and requires_grad of a function that makes a tensor, or nothing."""
    returns: tuple[Return, ...]
    method: bool
    symint: bool = True
    """Whether symbolic integers are taken as such; else the types above have plain ones."""
    deprecated: Deprecation | None = None

    def arguments(self, *, skip_outputs: bool = False, skip_tensor_options: bool = False) -> tuple[PythonArgument, ...]:
        """All arguments, in the order in which the parser numbers them."""
        outputs = () if skip_outputs or self.output_args is None else (self.output_args,)
        options = () if skip_tensor_options else self.tensor_options_args
        return (*self.input_args, *self.input_kwargs, *outputs, *options)

    def arguments_count(self) -> int:
        """How many arguments there are."""
        return len(self.arguments())

    def output_idx(self) -> int:
        """The number of `out`, if there is one."""
        return len(self.input_args) + len(self.input_kwargs)

    def signature_str(self, *, skip_outputs: bool = False) -> str:
        """The signature as the parser reads it: `sum(Tensor input, *, ScalarType? dtype=None)`."""
        parts = [argument.argument_str(method=self.method) for argument in self.arguments(skip_outputs=skip_outputs)]
        if len(parts) > len(self.input_args):
            parts.insert(len(self.input_args), "*")
        return f"{self.name}({', '.join(parts)}){'|deprecated' if self.deprecated else ''}"


# ---------------------------------------------------------------------------- signatures


def signature(function: NativeFunction, *, method: bool = False, symint: bool = True) -> PythonSignature:
    """The signature of a function, as a member of a module or as a method of tensors."""
    return signature_from_schema(
        function.func, category_override=function.category_override, method=method, symint=symint
    )


def signature_from_schema(
    func: FunctionSchema, *, category_override: str | None, method: bool = False, symint: bool = True
) -> PythonSignature:
    """The signature of a function with this schema and category."""
    arguments = func.arguments
    positional = arguments.flat_positional
    if method and arguments.self_arg is not None:
        positional = arguments.pre_self_positional + arguments.post_self_positional
    keywords = arguments.pre_tensor_options_kwarg_only + arguments.post_tensor_options_kwarg_only
    return PythonSignature(
        name=str(func.name.name),
        input_args=_python_arguments(positional, symint),
        input_kwargs=_python_arguments(keywords, symint),
        output_args=PythonOutArgument.from_outputs(_python_arguments(arguments.out, symint)),
        tensor_options_args=_tensor_options_args(func, category_override),
        returns=func.returns,
        method=method,
        symint=symint,
    )


def deprecated_signature(
    deprecation: Deprecation, function: NativeFunction, *, method: bool, symint: bool = True
) -> PythonSignature:
    """The old signature of a function."""
    own = signature_from_schema(
        deprecation.schema, category_override=function.category_override, method=method, symint=symint
    )
    return replace(own, deprecated=deprecation)


def _python_arguments(arguments: tuple[Argument, ...], symint: bool) -> tuple[PythonArgument, ...]:
    return tuple([PythonArgument(a.name, a.type if symint else without_symint(a.type), a.default) for a in arguments])


WITH_OPTIONS: Final = "with options"
WITHOUT_OPTIONS: Final = "without options"
"""Categories of operators that aren't torch's: their schemas settle whether callers say what tensor they want."""


def makes_tensor(func: FunctionSchema, category_override: str | None) -> bool:
    """Whether callers say what tensor they want made: of a factory, a `new_…` or a `…_like`."""
    if category_override in (WITH_OPTIONS, WITHOUT_OPTIONS):
        return category_override == WITH_OPTIONS
    return (
        is_factory(func, category_override)
        or func.name.name.base.startswith("new_")
        or (func.name.name.base.endswith("_like") and not func.is_out_fn())
    )


def is_factory(func: FunctionSchema, category_override: str | None) -> bool:
    """Whether the function makes a tensor out of something else than tensors, or says it does."""
    if category_override not in (None, WITH_OPTIONS):
        return category_override == "factory"
    return any(r.type.is_tensor_like() for r in func.returns) and not func.arguments.has_tensor_arg()


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
    """The C++ value of an option that isn't given, if the schema has a default of its own."""
    if options is None:
        return None
    option = options.dtype if name == "dtype" else options.layout
    if option.default in (None, "None"):
        return None
    return cpp.default_expr(option.default or "", option.type, symint=False)


def has_tensor_options(function: NativeFunction) -> bool:
    """Whether the function's own schema has tensor options."""
    return function.func.arguments.tensor_options is not None


def structseq_fieldnames(returns: tuple[Return, ...]) -> tuple[str, ...]:
    """The names of the fields of what is returned; none if it is one value, or a tuple without names."""
    names = tuple(r.name for r in returns if r.name is not None)
    return names if len(returns) > 1 and len(names) == len(returns) else ()
