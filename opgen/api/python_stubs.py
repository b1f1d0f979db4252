"""Python signatures → their definitions in a stub file, for type checkers.

The parser accepts more than the types of a schema: one integer for a list of fixed size, a device's
name for a device, and the elements of a list as separate arguments.  Stubs include all of these.

    sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor

    def sum(
        input: Tensor,
        dim: _int | _size | None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor: ...
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from opgen.api.python import PythonArgument, PythonOutArgument, PythonSignature, structseq_fieldnames
from opgen.api.python_parser import STUB_NUMBER, STUB_TYPES, TENSOR, parser_default
from opgen.api.types import UnsupportedTypeError
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, BaseType, ListType, OptionalType, Return, Type

LINE_LENGTH: Final = 88
"""Maximum length of a definition on one line."""

# --------------------------------------------------------------------------------- types

_RETURNED_TYPES: Final[Mapping[BaseTy, str]] = MappingProxyType({**STUB_TYPES, BaseTy.Device: "_device"})
"""The Python types of results, by the type in the schema."""


def argument_type_str_pyi(t: Type) -> str:
    """Return the Python type that an argument of type `t` accepts."""
    if isinstance(t, BaseType) and t.name in STUB_TYPES:
        return STUB_TYPES[t.name]
    if isinstance(t, OptionalType):
        return _or_none(argument_type_str_pyi(t.elem))
    if isinstance(t, ListType):
        return _list_type(t)
    raise UnsupportedTypeError(t, "can't be given from Python")


def _or_none(spelled: str) -> str:
    return spelled if spelled.endswith("| None") else f"{spelled} | None"


def _list_type(t: ListType) -> str:
    if t.elem == BaseType(BaseTy.int):
        # `_size` is torch's name for a sequence of integers.
        return "_size" if t.size is None else "_int | _size"
    if t.elem == TENSOR:
        tensors = "tuple[Tensor, ...] | list[Tensor]"
        return tensors if t.size is None else f"Tensor | {tensors}"
    elem = argument_type_str_pyi(t.elem)
    if t.elem == OptionalType(TENSOR):
        return f"tuple[{elem}, ...] | list[{elem}] | None"
    if t.elem == BaseType(BaseTy.SymInt) and t.size is not None:
        return f"{elem} | Sequence[{elem}]"
    return f"Sequence[{elem}]"


def return_type_str_pyi(t: Type) -> str:
    """Return the Python type of a result of type `t`; `Any` if it has no name."""
    if isinstance(t, BaseType) and t.name in _RETURNED_TYPES:
        return _RETURNED_TYPES[t.name]
    if isinstance(t, OptionalType):
        return _or_none(return_type_str_pyi(t.elem))
    if isinstance(t, ListType):
        return f"tuple[{return_type_str_pyi(t.elem)}, ...]"
    return "Any"


RETURN_TYPES: Final = "torch.return_types"
"""The module of the named tuples that torch's functions return."""


def returns_str_pyi(signature: PythonSignature, return_types: str = RETURN_TYPES) -> str:
    """Return the type of a function's result: None, one type, a tuple, or a named tuple of `return_types`."""
    if structseq_fieldnames(signature.returns):
        return f"{return_types}.{signature.name}"
    types = [return_type_str_pyi(r.type) for r in signature.returns]
    if not types:
        return "None"
    return types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"


# ------------------------------------------------------------------------------ defaults

_DEFAULT_WORDS: Final = MappingProxyType({"[]": "()", "Mean": "1", "contiguous_format": "contiguous_format"})
"""Defaults that Python spells differently than schemas do."""


def stub_default(default: str, t: Type) -> str:
    """Return the default in Python."""
    word = _DEFAULT_WORDS.get(default)
    if word is not None:
        return word
    if default.startswith("[") and t.is_list_like():
        items = [item.strip() for item in default[1:-1].split(",")]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if default == "long":
        return "torch.int64"
    return parser_default(default, t)


# --------------------------------------------------------------------------- definitions


@dataclass(frozen=True, slots=True)
class StubParameter:
    """One parameter of a function in a stub."""

    name: str
    type: str
    default: str | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" + ("" if self.default is None else f" = {self.default}")


@dataclass(frozen=True, slots=True)
class StubFunction:
    """One definition of a function in a stub."""

    name: str
    parameters: tuple[str, ...]
    """Parameters, including a method's `self` and the star before keyword-only ones."""
    returns: str

    def render(self, indent: str = "") -> str:
        """Return `def neg(input: Tensor) -> Tensor: ...`, on several lines if it is long."""
        line = f"{indent}def {self.name}({', '.join(self.parameters)}) -> {self.returns}: ..."
        if len(line) <= LINE_LENGTH:
            return line
        parameters = "".join([f"{indent}    {parameter},\n" for parameter in self.parameters])
        return f"{indent}def {self.name}(\n{parameters}{indent}) -> {self.returns}: ..."


def stub_parameter(
    argument: PythonArgument, signature: PythonSignature, *, is_out_required: bool = False, none_for_empty: bool = False
) -> StubParameter:
    """Return the parameter for an argument."""
    name = argument.python_name(method=signature.method, deprecated=signature.deprecated is not None)
    spelled = argument_type_str_pyi(argument.type)
    if argument.default is None or (is_out_required and isinstance(argument, PythonOutArgument)):
        return StubParameter(legal_name(name), spelled)
    if none_for_empty and argument.default == "[]":
        return StubParameter(legal_name(name), _or_none(spelled), "None")
    is_optional = argument.default == "None" or (argument.default == "[]" and not argument.type.is_list_like())
    spelled = _or_none(spelled) if is_optional else spelled
    return StubParameter(legal_name(name), spelled, stub_default(argument.default, argument.type))


def legal_name(name: str) -> str:
    """Return `name`, with an underscore after it if it is a keyword of Python."""
    return f"{name}_" if keyword.iskeyword(name) else name


def stub_function(
    signature: PythonSignature,
    *,
    is_out_required: bool = False,
    none_for_empty: bool = False,
    return_types: str = RETURN_TYPES,
) -> StubFunction:
    """Return the definition for a signature, in which `out` may be required.

    The parser accepts None for a list that is empty by default; torch's own stubs include this only for some functions.
    """
    positional = [stub_parameter(a, signature, none_for_empty=none_for_empty) for a in signature.input_args]
    return _function(signature, _legal_order(positional), "*", return_types, is_out_required=is_out_required)


def _legal_order(parameters: Iterable[StubParameter]) -> list[str]:
    """Return the parameters; after one with a default, torch takes a list that has none, but Python doesn't."""
    found, has_default = [], False
    for each in parameters:
        has_default = has_default or each.default is not None
        found.append(str(replace(each, default="...") if has_default and each.default is None else each))
    return found


def stub_function_vararg(signature: PythonSignature, *, return_types: str = RETURN_TYPES) -> StubFunction | None:
    """Return the definition that takes the elements of the only positional argument, a list, as varargs."""
    if len(signature.input_args) != 1 or signature.deprecated is not None:
        return None
    (argument,) = signature.input_args
    if not isinstance(argument.type, ListType):
        return None
    if argument.type.elem not in (BaseType(BaseTy.int), BaseType(BaseTy.SymInt)):
        return None
    elements = StubParameter(f"*{legal_name(argument.name)}", argument_type_str_pyi(argument.type.elem))
    return _function(signature, [str(elements)], "", return_types)


def _function(
    signature: PythonSignature,
    positional: Sequence[str],
    star: str,
    return_types: str,
    *,
    is_out_required: bool = False,
) -> StubFunction:
    own = ["self"] if signature.method else []
    named = signature.arguments()[len(signature.input_args) :]
    keywords = [str(stub_parameter(a, signature, is_out_required=is_out_required)) for a in named]
    stars = [star] if star and keywords else []
    return StubFunction(
        signature.name, (*own, *positional, *stars, *keywords), returns_str_pyi(signature, return_types)
    )


# -------------------------------------------------------------------------------- arithmetic

_ARITHMETIC: Final = MappingProxyType(
    {
        "add": (STUB_NUMBER, (StubParameter("alpha", f"{STUB_NUMBER} | None", "1"),)),
        "sub": (STUB_NUMBER, (StubParameter("alpha", f"{STUB_NUMBER} | None", "1"),)),
        "mul": (STUB_NUMBER, ()),
        "div": ("Number", (StubParameter("rounding_mode", "str | None", "None"),)),
        "floor_divide": ("Number", ()),
        "true_divide": ("Number", ()),
    }
)
"""Operators that accept numbers as tensors: the types of the numbers, and the keyword-only parameters."""


def arithmetic_stub(signature: PythonSignature) -> StubFunction | None:
    """Return the definition of an arithmetic operator that takes numbers; None for other functions."""
    name = signature.name.removesuffix("_")
    operands = [a for a in signature.input_args if a.type == TENSOR]
    if name not in _ARITHMETIC or len(operands) != (1 if signature.method else 2):
        return None
    numbers, keywords = _ARITHMETIC[name]
    if not signature.method:
        parameters = [StubParameter("input", f"Tensor | {numbers}")]
        keywords += (StubParameter("out", "Tensor | None", "None"),)
    else:
        parameters = []
        numbers += "" if name == "div" else " | torch.SymInt | torch.SymFloat"
    parameters.append(StubParameter("other", f"Tensor | {numbers}"))
    own = ["self"] if signature.method else []
    stars = ["*"] if keywords else []
    return StubFunction(signature.name, (*own, *map(str, parameters), *stars, *map(str, keywords)), "Tensor")


_BITWISE: Final = frozenset(f"__{i}{name}__" for i in ("", "i") for name in ("and", "lshift", "or", "rshift", "xor"))


def bitwise_stub(name: str) -> StubFunction | None:
    """Return the definition of a bitwise operator that takes a tensor or a number; None for other methods."""
    if name not in _BITWISE:
        return None
    return StubFunction(name, ("self", str(StubParameter("other", "Tensor | _int"))), "Tensor")


# ----------------------------------------------------------------------------- named tuples


def structseq_class(name: str, returns: Sequence[Return]) -> str:
    """Return the class of a named tuple."""
    types = [return_type_str_pyi(r.type) for r in returns]
    base = f"tuple[{', '.join(types)}]"
    # A field that is called as a keyword has no attribute that Python could write.
    named = [(r.name, type) for r, type in zip(returns, types, strict=True) if not keyword.iskeyword(r.name or "")]
    fields = "".join([f"    @property\n    def {name}(self) -> {type}: ...\n" for name, type in named])
    return (
        f"class {name}({base}):\n"
        f"{fields}"
        f"    def __new__(cls, sequence: {base}) -> Self: ...\n"
        f"    n_fields: Final[_int] = {len(types)}\n"
        f"    n_sequence_fields: Final[_int] = {len(types)}\n"
        "    n_unnamed_fields: Final[_int] = 0\n"
        "    def __init_subclass__(cls) -> NoReturn: ...\n"
    )
