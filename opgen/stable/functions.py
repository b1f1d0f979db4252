"""Operators → the functions of the Python package, in Python, and their stub.

A function with one overload has the signature of that overload. If there are several, torch resolves the overload.

    def blend(input, other, *, weight=0.5, out=None):
        if out is not None:
            return _ops.blend.out(input, other, weight=weight, out=out)
        return _ops.blend.default(input, other, weight=weight)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from opgen.api.python import PythonArgument, PythonNumber, PythonOutArgument, PythonSignature, structseq_fieldnames
from opgen.api.python_overloads import Overload, takes_numbers
from opgen.api.python_stubs import legal_name, stub_default, stub_function
from opgen.dest.stubs import render_stubs
from opgen.extension.documentation import render_doc
from opgen.extension.python_package import RETURN_TYPES
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, ListType, NativeFunction, Type
from opgen.program.python import PythonFunction, PythonProgram

_NOT_FINITE: Final = ("inf", "-inf", "nan")
_OPTIONS: Final = ("dtype", "layout", "device", "pin_memory")


@dataclass(frozen=True, slots=True)
class FunctionText:
    """The template values of a function of the package."""

    name: str
    parameters: str
    docstring: tuple[str, ...]
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Self(PythonArgument):
    """The renaming of `self` next to an argument called `input`: `self` keeps its name."""

    def python_name(self, *, method: bool = False, deprecated: bool = False) -> str:
        return self.name


def _disambiguate(overloads: Sequence[Overload]) -> tuple[Overload, ...]:
    """Return the overloads with distinct parameter names."""
    return tuple([_with_self(o) if _has_input(o) else o for o in overloads if not (_has_input(o) and takes_numbers(o))])


def _has_input(overload: Overload) -> bool:
    return any(argument.name == "input" for argument in overload.signature.arguments())


def _with_self(overload: Overload) -> Overload:
    signature = overload.signature
    arguments = [_Self(a.name, a.type, a.default) if a.name == "self" else a for a in signature.input_args]
    return replace(overload, signature=replace(signature, input_args=tuple(arguments)))


def render_function(function: PythonFunction, python: PythonProgram) -> FunctionText:
    """Return a function of the package."""
    function = replace(function, overloads=_disambiguate(function.overloads))
    written = [overload for overload in function.overloads if not takes_numbers(overload)]
    doc = _docstring(render_doc(function, python))
    if len(written) == 1:
        numbers = {a.name for o in function.overloads for a in o.signature.input_args if isinstance(a, PythonNumber)}
        statements = tuple(_statements(written[0], numbers))
        return FunctionText(function.name, _parameters(written[0].signature), doc, statements)
    return FunctionText(function.name, "*args, **kwargs", doc, tuple(_dispatch(function.name, written)))


def render_stub(function: PythonFunction) -> str:
    """Return the definitions of a function in the stub."""
    distinct = _disambiguate(function.overloads)
    written = [overload for overload in distinct if not takes_numbers(overload)]
    overloads = distinct if len(written) == 1 else written
    stubs = dict.fromkeys(stub_function(overload.signature, return_types=RETURN_TYPES) for overload in overloads)
    return render_stubs(stubs, "")


def _docstring(text: str) -> tuple[str, ...]:
    escaped = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = [f"    {line}" if line else "" for line in escaped.split("\n")]
    return ('    """' + lines[0].lstrip(), *lines[1:], '    """')


# ------------------------------------------------------------------------------------ signatures


def _parameters(signature: PythonSignature) -> str:
    parts = [_name(a) + _default(a) for a in signature.arguments()]
    if len(parts) > len(signature.input_args):
        parts.insert(len(signature.input_args), "*")
    return ", ".join(parts)


def _name(argument: PythonArgument) -> str:
    return legal_name(argument.python_name())


def _default(argument: PythonArgument) -> str:
    if argument.default is None:
        return ""
    if argument.default in _NOT_FINITE:
        return f'=_float("{argument.default}")'
    text = stub_default(argument.default, argument.type)
    is_format = argument.type.base_ty is BaseTy.MemoryFormat and text != "None"
    text = text if not is_format or text.startswith("torch.") else f"torch.{text}"
    return f"={text.replace('torch.', '_torch.')}" if text.startswith("torch.") else f"={text}"


# ------------------------------------------------------------------------------------------ calls


def _statements(overload: Overload, numbers: set[str]) -> Iterator[str]:
    """Yield the body of a function with one overload."""
    signature, base, out = overload.signature, overload.base, overload.outplace
    names = {a.name: _name(a) for a in signature.arguments() if not isinstance(a, PythonOutArgument)}
    operands = [names[a.name] for a in signature.input_args if _is_operand(a)]
    if numbers:
        are_tensors = " and ".join([f"_isinstance({operand}, _Tensor)" for operand in operands])
        yield f"if not ({are_tensors}):"
        yield f"    {', '.join(operands)} = _opgen.with_tensors({', '.join(operands)})"
    for argument in signature.arguments():
        count = _one_for_list(argument.type)
        if count is not None and not isinstance(argument, PythonOutArgument):
            yield f"{_name(argument)} = _opgen.listed({_name(argument)}, {count})"
    if out is not None:
        yield "if out is not None:"
        yield f"    return {_wrapped(overload.signature, _call(out, _with_outs(names, out)))}"
    call = _call(base, names)
    if any(a.name == "requires_grad" for a in signature.tensor_options_args):
        call = f"_opgen.with_grad({call}, requires_grad)"
    yield f"return {_wrapped(signature, call)}"


def _is_operand(argument: PythonArgument) -> bool:
    return argument.type.base_ty is BaseTy.Tensor and not isinstance(argument.type, ListType)


def _one_for_list(type: Type) -> int | None:
    """Return the size of a list for which torch's parser takes one element, but the dispatcher doesn't."""
    as_list = type.is_list_like()
    if as_list is None or as_list.size is None or as_list.elem.base_ty not in (BaseTy.SymInt, BaseTy.Tensor):
        return None
    return as_list.size


def _with_outs(names: dict[str, str], out: NativeFunction) -> dict[str, str]:
    outs = out.func.arguments.out
    if len(outs) == 1:
        return {**names, outs[0].name: "out"}
    return {**names, **{argument.name: f"out[{index}]" for index, argument in enumerate(outs)}}


def _call(function: NativeFunction, names: dict[str, str]) -> str:
    name, arguments = function.func.name, function.func.arguments
    given = [names[a.name] for a in arguments.flat_positional]
    by_name = [a.name for a in (*arguments.flat_kwarg_only, *arguments.out) if a.name in names]
    operator = f"_ops.{name.name}.{name.overload_name or 'default'}"
    # A Python keyword can't be a keyword argument.
    spelled = [n for n in by_name if legal_name(n) == n]
    others = [n for n in by_name if n not in spelled]
    given += [f"{n}={names[n]}" for n in spelled]
    if others:
        given.append(f"**{{{', '.join([f'{n!r}: {names[n]}' for n in others])}}}")
    return f"{operator}({', '.join(given)})"


def _wrapped(signature: PythonSignature, call: str) -> str:
    """Return the conversion of a call's result: to a named tuple, or from a list to a tuple."""
    if structseq_fieldnames(signature.returns):
        return f"_types.{signature.name}(*{call})"
    if len(signature.returns) == 1 and isinstance(signature.returns[0].type, ListType):
        return f"_tuple({call})"
    return call


# ------------------------------------------------------------------------------------- overloads


def _dispatch(name: str, overloads: Sequence[Overload]) -> Iterator[str]:
    """Yield the body of a function with several overloads."""
    outs: dict[int, list[str]] = {}
    for overload in overloads:
        if overload.outplace is not None:
            arguments = overload.outplace.func.arguments.out
            outs.setdefault(len(arguments), [argument.name for argument in arguments])
    call = f"_opgen.call(_ops.{name}, args, kwargs, {outs!r})"
    counts = {len(o.signature.returns) for o in overloads if structseq_fieldnames(o.signature.returns)}
    lists = any(isinstance(r.type, ListType) for o in overloads for r in o.signature.returns)
    if not counts and not lists:
        yield f"return {call}"
        return
    yield f"result = {call}"
    if counts:
        sizes = ", ".join(str(count) for count in sorted(counts))
        yield f"if _isinstance(result, _tuple) and _len(result) in ({sizes},):"
        yield f"    return _types.{name}(*result)"
    yield "return _tuple(result) if _isinstance(result, _list) else result"
