"""Operators without kernels of other emitters → `RegisterAnyOperator.cpp`, whose kernels read schemas.

Such an operator has a type that the boxed convention alone passes, or it writes and has no functional form, or
its tensors and devices are where the dispatcher doesn't look.

    mylib::scale_into(Tensor(a!) dst, float by) -> Tensor(a!)

gets a functional form, `mylib::_functional_scale_into(Tensor dst, float by) -> Tensor`, and a kernel of
functionalization that calls it.  Operators that torch functionalizes itself are left to torch, which
may spare the copy that a functional form makes.
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
_LIST_WITH_GAPS: Final = ListType(OptionalType(_TENSOR), None)
_DISPATCHED: Final = frozenset(
    {
        _TENSOR,
        OptionalType(_TENSOR),
        ListType(_TENSOR, None),
        _LIST_WITH_GAPS,
    }
)
"""Types in which the dispatcher looks for tensors."""
FUNCTIONAL_PREFIX: Final = "_functional_"
"""Prefix of functional forms that only functionalization calls."""


def emit_any_operator(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterAnyOperator.cpp` and its header, if there are any such operators."""
    functions = [f for f in extension.program.functions if not f.has_composite_implicit_autograd_kernel]
    functional = [f for f in functions if needs_functional_form(extension, f)]
    boxed = [f for f in functions if f.is_boxed]
    selecting = [f for f in extension.program.functions if _selects_backend(f)]
    derived = {one.func.func.name for one in with_derivatives(extension)}
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
    """Return whether functionalization needs a generated form: the operator writes, and torch can't make one itself."""
    if not function.func.arguments.mutated or function.has_composite_implicit_autograd_kernel:
        return False
    in_group = any(function in group.functions() for group in extension.program.groups)
    return not in_group and not is_functionalized_by_torch(function.func)


def is_functionalized_by_torch(func: FunctionSchema) -> bool:
    """Return whether torch's own compiler calls the operator on copies: it returns nothing, or fresh tensors."""
    # torch takes lists that may hold None, and fails when it does.
    written = all(a.type in _DISPATCHED and a.type != _LIST_WITH_GAPS for a in func.arguments.mutated)
    return written and all(r.annotation is None and r.type == _TENSOR for r in func.returns)


def functional_schema(func: FunctionSchema) -> str:
    """Return the schema of the form that returns, after results of its own, what `func` writes to."""

    def plain(argument: Argument) -> Argument:
        return replace(argument, annotation=None)

    arguments = func.arguments.map(plain)
    aliased = func.aliased_return_names()
    written = [a for a in func.arguments.flat_all if a.is_write]
    names = {a.name for a in written}
    fresh = [Return(None, r.type, None) for r, name in zip(func.returns, aliased, strict=True) if name not in names]
    returns = (*fresh, *(Return(None, a.type, None) for a in written))
    listed = ", ".join(str(r) for r in returns)
    is_single = len(returns) == 1 and not listed.startswith("(")
    return f"{FUNCTIONAL_PREFIX}{func.name}({arguments}) -> {listed if is_single else f'({listed})'}"


# -------------------------------------------------------------------------------- backends


def _selects_backend(function: NativeFunction) -> bool:
    """Return whether the dispatcher finds no backend although an argument has tensors or a device."""
    types = [argument.type for argument in function.func.arguments.flat_all]
    if any(_is_dispatched(type) for type in types):
        return False
    return any(_may_hold(type, (BaseTy.Tensor, BaseTy.Device)) for type in types)


def _is_dispatched(type: Type) -> bool:
    return (ListType(type.elem, None) if isinstance(type, ListType) else type) in _DISPATCHED


def _may_hold(type: Type, bases: tuple[BaseTy, ...]) -> bool:
    """Return whether a value of the type may be or hold one of `bases`; a value of any type, or of a class, may."""
    if isinstance(type, (ListType, OptionalType)):
        return _may_hold(type.elem, bases)
    if isinstance(type, DictType):
        return _may_hold(type.key, bases) or _may_hold(type.value, bases)
    if isinstance(type, TupleType):
        return any(_may_hold(each, bases) for each in type.elements)
    return type.name in bases if isinstance(type, BaseType) else str(type) != "complex"
