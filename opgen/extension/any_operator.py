"""Operators that other emitters don't support → `RegisterAnyOperator.cpp`, with boxed kernels that read schemas.

Such an operator has a type that only the boxed calling convention supports, or it mutates arguments and has no
functional form, or its tensors and devices don't contribute to the dispatch key set.

    mylib::scale_into(Tensor(a!) dst, float by) -> Tensor(a!)

gets a functional form, `mylib::_functional_scale_into(Tensor dst, float by) -> Tensor`, and a kernel for
functionalization that calls it.  Operators that torch functionalizes itself are left to torch, which
may avoid the copy that a functional form makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from opgen.dest.cpp_text import string_literal
from opgen.extension.autograd_fallback import needs_fallback
from opgen.extension.derivatives import with_derivatives
from opgen.extension.extension import Extension
from opgen.extension.includes import render_file
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    DictType,
    FunctionSchema,
    ListType,
    NativeFunction,
    OptionalType,
    Return,
    TupleType,
    Type,
)
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

_TENSOR: Final = BaseType(BaseTy.Tensor)
_OPTIONAL_TENSOR_LIST: Final = ListType(OptionalType(_TENSOR), None)
_DISPATCHED_TYPES: Final = frozenset(
    {
        _TENSOR,
        OptionalType(_TENSOR),
        ListType(_TENSOR, None),
        _OPTIONAL_TENSOR_LIST,
    }
)
"""Types whose tensors contribute to the dispatch key set."""
FUNCTIONAL_PREFIX: Final = "_functional_"
"""Prefix of functional forms that only functionalization calls."""


def emit_any_operator(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterAnyOperator.cpp` and its header, if there are any such operators."""
    functions = [f for f in extension.program.functions if not f.has_composite_implicit_autograd_kernel]
    functional = [f for f in functions if needs_functional_form(extension, f)]
    boxed = [f for f in functions if f.is_boxed]
    selecting = [f for f in extension.program.functions if _needs_backend_select(f)]
    derived = {info.func.func.name for info in with_derivatives(extension)}
    undifferentiated = [f for f in boxed if f.func.name not in derived and needs_fallback(extension, f)]
    if not (functional or boxed or selecting):
        return
    yield render_file(extension, templates, "detail/Nodes.h", "detail/Nodes.h")
    header = "detail/AnyOperator.h"
    yield render_file(extension, templates, header, header, functional_prefix=FUNCTIONAL_PREFIX)
    forms = [string_literal(f"{FUNCTIONAL_PREFIX}{f.func.name}") for f in functional]
    yield render_file(
        extension,
        templates,
        "RegisterAnyOperator.cpp",
        "RegisterAnyOperator.cpp",
        schemas=[string_literal(functional_schema(f.func)) for f in functional],
        forms=forms,
        functional=_names(functional),
        writing=_names([f for f in boxed if f.func.arguments.mutated]),
        undifferentiated=[*_names(undifferentiated), *forms],
        selecting=_names(selecting),
    )


def _names(functions: list[NativeFunction]) -> list[str]:
    return [string_literal(str(function.func.name)) for function in functions]


# -------------------------------------------------------------------------------- functional forms


def needs_functional_form(extension: Extension, function: NativeFunction) -> bool:
    """Return whether functionalization needs a generated form: the operator mutates and torch makes none."""
    if not function.func.arguments.mutated or function.has_composite_implicit_autograd_kernel:
        return False
    in_group = any(function in group.functions() for group in extension.program.groups)
    return not in_group and not is_functionalized_by_torch(function.func)


def is_functionalized_by_torch(func: FunctionSchema) -> bool:
    """Return whether torch.compile functionalizes the operator itself: it returns nothing, or new tensors."""
    # torch accepts `Tensor?[]` here, but fails if the list contains None.
    is_supported = all(a.type in _DISPATCHED_TYPES and a.type != _OPTIONAL_TENSOR_LIST for a in func.arguments.mutated)
    return is_supported and all(r.annotation is None and r.type == _TENSOR for r in func.returns)


def functional_schema(func: FunctionSchema) -> str:
    """Return the schema of the functional form: it returns the new results, then the mutated arguments."""

    def plain(argument: Argument) -> Argument:
        return replace(argument, annotation=None)

    arguments = func.arguments.map(plain)
    aliased = func.aliased_return_names()
    mutated = [a for a in func.arguments.flat_all if a.is_write]
    names = {a.name for a in mutated}
    new_results = [
        Return(None, r.type, None) for r, name in zip(func.returns, aliased, strict=True) if name not in names
    ]
    returns = (*new_results, *(Return(None, a.type, None) for a in mutated))
    results = ", ".join(str(r) for r in returns)
    is_single = len(returns) == 1 and not results.startswith("(")
    return f"{FUNCTIONAL_PREFIX}{func.name}({arguments}) -> {results if is_single else f'({results})'}"


# -------------------------------------------------------------------------------- backends


def _needs_backend_select(function: NativeFunction) -> bool:
    """Return whether BackendSelect must find the backend in tensors or devices that the dispatcher ignores."""
    types = [argument.type for argument in function.func.arguments.flat_all]
    if any(_is_dispatched(type) for type in types):
        return False
    return any(_may_hold(type, (BaseTy.Tensor, BaseTy.Device)) for type in types)


def _is_dispatched(type: Type) -> bool:
    return (ListType(type.elem, None) if isinstance(type, ListType) else type) in _DISPATCHED_TYPES


def _may_hold(type: Type, bases: tuple[BaseTy, ...]) -> bool:
    """Return whether a value of the type may be or contain one of `bases`; `Any` and classes may."""
    if isinstance(type, (ListType, OptionalType)):
        return _may_hold(type.elem, bases)
    if isinstance(type, DictType):
        return _may_hold(type.key, bases) or _may_hold(type.value, bases)
    if isinstance(type, TupleType):
        return any(_may_hold(each, bases) for each in type.elements)
    return type.name in bases if isinstance(type, BaseType) else str(type) != "complex"
