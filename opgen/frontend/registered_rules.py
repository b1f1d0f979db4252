"""The schemas of an extension → the errors that torch would raise when it loads the library or calls an operator.

torch's schema parser accepts nearly anything.  Each of these errors is reported with its location.

    ops.yaml:3:31: error: argument 'y' has no default, but follows one that has [default-order]
        3 | - func: mylib::f(Tensor x, int n=1, Tensor y) -> Tensor
          |                                     ^^^^^^^^ torch allows it for lists and keyword-only arguments
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from opgen.diagnostics import Diagnostic
from opgen.frontend.default_rules import expected_default
from opgen.frontend.entries import Entry
from opgen.model import BaseTy, BaseType, DictType, ListType, OptionalType, ScriptType, TupleType, Type
from opgen.schema.registered import DTYPE_NUMBERS

_UNREGISTRABLE: Final = frozenset({BaseTy.DimVector, BaseTy.Dimname, BaseTy.GraphModule})
"""Types of torch's YAML that torch.library's schemas don't support."""
_UNPARSABLE: Final = frozenset({"AnyList", "AnyTuple", "PyObject"})
"""Types that torch prints in schemas but can't parse."""
_DEVICE: Final = re.compile(r"""(["'])[a-z]+(:\d+)?\1""")
_IMAGINARY: Final = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?j")
_NULLABLE: Final = frozenset({BaseTy.Tensor, BaseTy.Generator})
_TENSOR: Final = BaseType(BaseTy.Tensor)
_KEYS: Final = frozenset({"str", "int", "float", "complex", "bool", "Tensor"})


def check_registered_types(entries: Collection[Entry]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each type and each order of defaults that torch rejects."""
    for entry in entries:
        if entry.function.func.is_lenient:
            yield from _check_entry(entry)
            yield from _check_default_order(entry)


def _check_entry(entry: Entry) -> Iterator[Diagnostic]:
    func = entry.function.func
    if func.arguments.is_vararg or func.is_varret:
        message = f"'{func.name}' has '...' in its schema, so no C++ function has its signature"
        yield Diagnostic("unsupported-type", message, entry.name_span, "name the arguments, or register it by hand")
    for argument in func.arguments.flat_all:
        reason = _rejection_reason(argument.type, is_nested=False)
        if reason:
            message = f"argument '{argument.name}': {reason}"
            yield Diagnostic("unsupported-type", message, entry.argument_span(argument.name))
        if argument.is_write and not argument.type.is_tensor_like() and not entry.function.is_boxed:
            message = f"argument '{argument.name}': '{argument.type}' can't be written to, only tensors can"
            yield Diagnostic("unsupported-type", message, entry.argument_span(argument.name))
        if argument.is_write and argument.default is not None and argument.type == _TENSOR:
            message = f"argument '{argument.name}' is written to, so no C++ function can have a default for it"
            yield Diagnostic("bad-default", message, entry.argument_span(argument.name), "make it a 'Tensor?'")
    for returned in func.returns:
        reason = _rejection_reason(returned.type, is_nested=False)
        if returned.is_write and returned.type.is_list_like():
            reason = "a list that is written to can't be returned: return nothing"
        if reason:
            yield Diagnostic("unsupported-type", f"the returns: {reason}", entry.returns_span)
            return


def _rejection_reason(type: Type, *, is_nested: bool = True) -> str:
    """Return why torch registers no operator with the type; empty if it does."""
    if isinstance(type, OptionalType):
        return _rejection_reason(type.elem, is_nested=is_nested)
    if isinstance(type, ListType):
        if type.size is not None and is_nested:
            return f"a list with a size, '{type}', can't be within another type"
        return _rejection_reason(type.elem)
    if isinstance(type, TupleType):
        return next(filter(None, map(_rejection_reason, type.elements)), "")
    if isinstance(type, DictType):
        if str(type.key) not in _KEYS:
            return f"'{type.key}' can't be the key of a dictionary: torch has {', '.join(sorted(_KEYS))}"
        return _rejection_reason(type.key) or _rejection_reason(type.value)
    if isinstance(type, BaseType) and type.name in _UNREGISTRABLE:
        return f"torch registers no operator with the type '{type}'"
    if isinstance(type, ScriptType) and type.name in _UNPARSABLE:
        return f"torch's schema parser doesn't know the type '{type}'"
    if isinstance(type, ScriptType) and re.fullmatch(r"t(\d+|[A-Z]\w*)?", type.name):
        return f"'{type}' is a type variable, and torch registers no operator that has one"
    return ""


def _check_default_order(entry: Entry) -> Iterator[Diagnostic]:
    has_default = False
    for argument in entry.function.func.arguments.flat_positional:
        if has_default and argument.default is None and not isinstance(argument.type, ListType):
            message = f"argument '{argument.name}' has no default, but follows one that has"
            label = "torch allows it for lists and keyword-only arguments"
            yield Diagnostic("default-order", message, entry.argument_span(argument.name), label)
        has_default = has_default or argument.default is not None


def _expected_list(default: str, type: ListType) -> str:
    """Return the fix for a list's default, whose elements have defaults of their own type."""
    if not (default.startswith("[") and default.endswith("]")):
        return f"write a list of {type.elem}, as in '[…]'"
    words = [word.strip() for word in default[1:-1].split(",") if word.strip()]
    return next(filter(None, [expected_registered_default(word, type.elem) for word in words]), "")


def expected_registered_default(default: str, type: Type) -> str:
    """Return the fix for a default that torch can't use; empty if torch can use it."""
    elem = type.elem if isinstance(type, OptionalType) else type
    is_nullable = elem is not type or (isinstance(type, BaseType) and type.name in _NULLABLE)
    if default == "None":
        return "" if is_nullable else f"only '{type}?' can be None"
    suffix = ", or 'None'" if is_nullable else ""
    if isinstance(elem, ScriptType) and elem.name == "complex":
        return "" if _IMAGINARY.fullmatch(default) else f"a 'complex' is an imaginary number, as in '1j'{suffix}"
    if isinstance(elem, ListType) and elem is type and str(elem.elem) in ("complex", "ScalarType"):
        return _expected_list(default, elem)
    if not isinstance(elem, BaseType):
        return expected_default(default, type)
    if elem.name is BaseTy.ScalarType:
        legal = default in DTYPE_NUMBERS or default.isdigit()
        return "" if legal else f"a 'ScalarType' is a type's name without 'torch.', as in 'float32'{suffix}"
    if elem.name is BaseTy.Device:
        if is_nullable:
            return "'Device?' takes only 'None': torch reads another default as text, which no kernel takes"
        return "" if _DEVICE.fullmatch(default) else "a 'Device' is in quotes, as in '\"cpu\"'"
    if elem.name is BaseTy.bool and default in ("0", "1"):
        return ""
    if elem.name is BaseTy.Scalar and _IMAGINARY.fullmatch(default):
        return ""
    if elem.name in (BaseTy.Layout, BaseTy.MemoryFormat) and default.isdigit():
        return ""
    return expected_default(default, type)
