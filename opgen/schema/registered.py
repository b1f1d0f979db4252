"""A schema for `TORCH_LIBRARY` or `torch.library` ⇄ a `FunctionSchema`, printed as torch prints it.

torch's own parser accepts more than torchgen: `Tensor! x`, mutation of any argument, any name.  By its rules, the
schema kind is inferred from mutated arguments and returns, and a trailing `_` means in-place only if these agree.

    parse_registered("fill(Tensor! dst, Tensor src) -> ()")     fill(Tensor(a0!) dst, Tensor src) -> ()
    torch_text(parse_registered("f(float x=1) -> ()"))          f(float x=1.) -> ()
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from opgen.schema.arguments import Argument, Arguments
from opgen.schema.function_schema import FunctionSchema
from opgen.schema.lexer import Cursor
from opgen.schema.names import BaseOperatorName, OperatorName
from opgen.schema.returns import Return, read_returns
from opgen.schema.types import BaseTy, BaseType, ListType, OptionalType, ScriptType, Type

_TENSOR: Final = BaseType(BaseTy.Tensor)
_LEGAL_OVERLOAD: Final = re.compile(r"(?!default$|__)[A-Za-z_]\w*", re.ASCII)


def parse_registered(text: str) -> FunctionSchema:
    """Parse `text`, a schema with or without a namespace, as torch does when an operator is registered.

    Raises SchemaError with the offsets of the error.
    """
    cursor = Cursor(text, lenient=True)
    name = _read_name(cursor)
    cursor.expect("(", "after the operator's name")
    positional, keyword_only, is_vararg, _ = Arguments.read_flat(cursor)
    cursor.expect("->", "after the arguments")
    returns, is_varret = read_returns(cursor)
    if cursor.ahead == ",":
        cursor.fail_ahead("put several returns in parentheses", f"write '-> ({text[text.rfind('->') + 2 :].strip()})'")
    cursor.expect_end("the returns")
    has_outs = _has_outs(positional, keyword_only, returns)
    arguments = Arguments.arrange(positional, keyword_only, is_vararg, has_outs=has_outs, are_options_optional=True)
    if not _is_inplace(positional, keyword_only, returns):
        name = _remove_inplace(name)
    return FunctionSchema(name, arguments, returns, is_varret, is_lenient=True)


def _read_name(cursor: Cursor) -> OperatorName:
    cursor.check_word("an operator")
    start = cursor.start
    name = OperatorName.read(cursor)
    if name.overload_name and not _LEGAL_OVERLOAD.fullmatch(name.overload_name):
        message = f"'{name.overload_name}' is not a valid overload name: torch rejects it"
        end = cursor.previous_end
        label = "use a word that isn't 'default' and doesn't start with '__'"
        cursor.fail(message, max(start, end - len(name.overload_name)), end, label, "bad-overload")
    return name


def _has_outs(positional: Sequence[Argument], keyword_only: Sequence[Argument], returns: Sequence[Return]) -> bool:
    """Return whether the mutated keyword-only arguments are out arguments: last, and returned."""
    outs = [argument for argument in keyword_only if argument.is_write]
    if not outs or list(keyword_only[-len(outs) :]) != outs or any(a.is_write for a in positional):
        return False
    if any(isinstance(argument.type, OptionalType) for argument in outs):
        return False
    if not returns:
        return len(outs) > 1 or outs[0].type is not _TENSOR
    return [(r.type, r.annotation) for r in returns] == [(a.type, a.annotation) for a in outs]


def _is_inplace(positional: Sequence[Argument], keyword_only: Sequence[Argument], returns: Sequence[Return]) -> bool:
    """Return whether the operator mutates only `self`, a tensor or a list of tensors, and returns it or nothing."""
    mutated = [argument for argument in (*positional, *keyword_only) if argument.is_write]
    if [argument.name for argument in mutated] != ["self"] or mutated[0] not in positional:
        return False
    self_arg = mutated[0]
    if self_arg.type is not _TENSOR:
        return self_arg.type == ListType(_TENSOR, None) and not returns
    return not returns or (len(returns) == 1 and returns[0].annotation == self_arg.annotation)


def _remove_inplace(name: OperatorName) -> OperatorName:
    """Return the name with its trailing `_` as an ordinary character, not an in-place suffix."""
    base = name.name
    if not base.inplace:
        return name
    text = base.text.rpartition("::")[2]
    return OperatorName(BaseOperatorName(text, False, False, False, base.namespace), name.overload_name)


# -------------------------------------------------------------------------------- torch's spelling


def torch_text(schema: FunctionSchema) -> str:
    """Return the schema as torch prints it: annotations before the `?`, and normalized defaults."""
    keyword_only = [_argument_text(a) for a in (*schema.arguments.flat_kwarg_only, *schema.arguments.out)]
    parts = [_argument_text(argument) for argument in schema.arguments.flat_positional]
    parts += ["..."] if schema.arguments.is_vararg else []
    parts += ["*", *keyword_only] if keyword_only else []
    returns = [_return_text(returned) for returned in schema.returns] + (["..."] if schema.is_varret else [])
    is_single = len(returns) == 1 and not schema.is_varret and not returns[0].startswith("(")
    listed = returns[0] if is_single else f"({', '.join(returns)})"
    return f"{schema.name}({', '.join(parts)}) -> {'...' if returns == ['...'] else listed}"


def _argument_text(argument: Argument) -> str:
    default = "" if argument.default is None else f"={default_text(argument.default, argument.type)}"
    return f"{_type_text(argument.type, argument)} {argument.name}{default}"


def _return_text(returned: Return) -> str:
    return f"{_type_text(returned.type, returned)}{f' {returned.name}' if returned.name else ''}"


def _type_text(type: Type, holder: Argument | Return) -> str:
    """Return a type as torch spells it: `DeviceIndex` is printed as `int`, and annotations are where torch has them."""
    annotation = holder.annotation
    if isinstance(type, BaseType) and type.name is BaseTy.DeviceIndex:
        return "int"
    is_optional_element = isinstance(type, ListType) and isinstance(type.elem, OptionalType)
    if annotation is not None and is_optional_element and not annotation.suffixes_before:
        return f"{type.elem}({annotation}){type.suffix()}"  # type: ignore[attr-defined]
    return type.spell(annotation)


_NAMED_VALUES: Final = MappingProxyType({"contiguous_format": "0", "strided": "0", "Mean": "1"})
DTYPES: Final = (
    *(("uint8", "byte"), ("int8", "char"), ("int16", "short"), ("int32", "int"), ("int64", "long")),
    *(("float16", "half"), ("float32", "float"), ("float64", "double")),
    *(("complex32", "chalf"), ("complex64", "cfloat"), ("complex128", "cdouble"), ("bool",)),
    *(("qint8",), ("quint8",), ("qint32",), ("bfloat16",), ("quint4x2",), ("quint2x4",)),
    *(("bits1x8",), ("bits2x4",), ("bits4x2",), ("bits8",), ("bits16",)),
    *(("float8_e5m2",), ("float8_e4m3fn",), ("float8_e5m2fnuz",), ("float8_e4m3fnuz",)),
    *(("uint16",), ("uint32",), ("uint64",)),
)
"""The names of dtypes, in the order of `at::ScalarType`."""
DTYPE_NUMBERS: Final = MappingProxyType({word: number for number, words in enumerate(DTYPES) for word in words})


def default_text(default: str, type: Type) -> str:
    """Return the default, normalized as torch prints it."""
    elem = type.elem if isinstance(type, OptionalType) else type
    if default == "None":
        return default
    if isinstance(elem, ListType):
        return _list_text(default, elem, is_optional=elem is not type)
    if not isinstance(elem, BaseType):
        return _complex_text(default) if isinstance(elem, ScriptType) else default
    if elem.name is BaseTy.str:
        return _string_text(default)
    if elem.name is BaseTy.Device:
        return default[1:-1]
    if elem.name is BaseTy.ScalarType and default in DTYPE_NUMBERS:
        return str(DTYPE_NUMBERS[default])
    if default in _NAMED_VALUES:
        return _NAMED_VALUES[default]
    return _number_text(default, is_float=type is elem and elem.name is BaseTy.float)


def _list_text(default: str, type: ListType, *, is_optional: bool) -> str:
    is_float = type.is_base_ty_like(BaseTy.float) and not is_optional
    if default.startswith("["):
        words = [word.strip() for word in default[1:-1].split(",") if word.strip()]
    elif type.size is None or is_optional or type.base_ty is BaseTy.int:
        return _number_text(default, is_float=is_float)
    else:
        words = [default] * type.size
    return f"[{', '.join(_number_text(word, is_float=is_float) for word in words)}]"


def _number_text(text: str, *, is_float: bool) -> str:
    if text in ("True", "False"):
        return text
    if text.endswith("j"):
        return _complex_text(text)
    is_whole = re.fullmatch(r"-?\d+", text) is not None
    if is_whole and not is_float:
        return str(int(text))
    value = f"{float(text) or 0.0:.17g}"
    return f"{value}." if re.fullmatch(r"-?\d+", value) else value


def _complex_text(text: str) -> str:
    imaginary = _number_text(text.removesuffix("j"), is_float=True)
    return f"0.+{imaginary}j" if not imaginary.startswith("-") else f"-0.{imaginary}j"


def _string_text(text: str) -> str:
    """Return a string literal in double quotes, preserving existing escapes."""
    inner = text[1:-1]
    return '"' + re.sub(r"""(?<!\\)(["'])""", r"\\\1", inner) + '"'
