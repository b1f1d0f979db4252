"""An extension's operators → its Python package, but for the module `_C` that is compiled.

`_functions.py` has the functions, `_functions.pyi` their types, `return_types` the named tuples. `_registrations.py`
registers what the stable ABI lacks, using `_support.py`, `_derivatives.py` and the author's `_meta.py`.

    _support.register_pointwise_fake("blend")
    _support.register_autograd("blend", _derivatives.Blend)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.api.python_parser import STUB_IMPORTS
from opgen.api.python_stubs import return_type_str_pyi
from opgen.dispatch_keys import DispatchKey
from opgen.extension.any_operator import FUNCTIONAL_PREFIX, functional_schema, needs_functional_form
from opgen.extension.autograd_fallback import needs_fallback
from opgen.extension.batching import is_batched_by_broadcasting
from opgen.extension.extension import Extension
from opgen.extension.python_package import FOLDER, RETURN_TYPES, named_returns
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, BaseType, NativeFunction, OptionalType, Return, SchemaKind
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.stable.derivatives import Differentiated, differentiated
from opgen.stable.functions import render_function, render_stub

_TENSOR: Final = BaseType(BaseTy.Tensor)
_OPERANDS: Final = (_TENSOR, OptionalType(_TENSOR))
_EMPTY_STUB: Final = "# The library; importing it registers the operators.\n"


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a named tuple."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class _NamedTuple:
    """A named tuple that a function returns."""

    name: str
    fields: tuple[_Field, ...]


def emit_python_package(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the files below `python/`, if the extension has a Python package."""
    python = extension.python
    if python is None:
        return
    functions = sorted(python.functions, key=lambda function: function.name)
    returns = named_returns(python)
    names = [function.name for function in functions]
    exported = sorted([*names, *([RETURN_TYPES] if returns else [])])
    derived = differentiated(extension)
    shapes = extension.shape_functions
    env = {**extension.environment(), "return_types": sorted(returns), "names": names, "exported": exported}

    def file(path: str, **more: object) -> OutputFile:
        text = templates.render(f"{FOLDER}/{path}.in", {**env, **more})
        return OutputFile(f"{FOLDER}/{extension.package}/{path}", text)

    yield file("__init__.py")
    yield file("_support.py")
    modules = [*(["_derivatives"] if derived else []), *(["_meta"] if shapes else [])]
    yield file("_registrations.py", imports=modules, statements=list(registrations(extension, derived)))
    if derived:
        yield file("_derivatives.py", derivatives=[found for one in derived for _, found in one.classes])
    if shapes:
        yield file("_meta.py", text=shapes.text)
    yield file("_functions.py", functions=[render_function(function, python) for function in functions])
    # The stub of an extension's module `_C`, whose functions these are.
    stubs = [render_stub(each) for each in functions]
    stub = templates.render(f"{FOLDER}/_C.pyi.in", {**env, "imports": STUB_IMPORTS, "functions": stubs})
    yield OutputFile(f"{FOLDER}/{extension.package}/_functions.pyi", stub)
    yield OutputFile(f"{FOLDER}/{extension.package}/_C.pyi", _EMPTY_STUB)
    if returns:
        yield file("return_types.py", classes=[_named_tuple(name, returns[name]) for name in sorted(returns)])
    yield OutputFile(f"{FOLDER}/{extension.package}/py.typed", "")


def _named_tuple(name: str, returns: tuple[Return, ...]) -> _NamedTuple:
    return _NamedTuple(name, tuple([_Field(r.name or "", return_type_str_pyi(r.type)) for r in returns]))


# --------------------------------------------------------------------------------- registrations


def registrations(extension: Extension, derived: list[Differentiated]) -> Iterator[str]:
    """Yield the statements that register autograd, fake kernels and the like."""
    functions = [f for f in extension.program.functions if not f.has_composite_implicit_autograd_kernel]
    yield from _derived_kernels(extension, functions)
    yield from _fakes(extension, functions)
    yield from _autograd(extension, functions, {one.function.func.name: one for one in derived})
    for function in functions:
        if function.func.arguments.mutated:
            yield f'_support.register_versions("{function.func.name}")'
    yield from _functionalization(extension, functions)
    for function in functions:
        if _is_batched(extension, function):
            yield f'_support.register_pointwise_vmap("{function.func.name}")'


def _derived_kernels(extension: Extension, functions: list[NativeFunction]) -> Iterator[str]:
    """Yield the kernels of derived forms."""
    for group in extension.program.groups:
        if "generated" in group.functional.tags and group.functional in functions:
            writing = group.inplace or group.mutable or group.out
            yield f'_support.register_functional("{group.functional.func.name}", "{writing.func.name}")'
        if "generated" in group.out.tags and group.out in functions:
            yield f'_support.register_out("{group.out.func.name}", "{group.functional.func.name}")'
    for function in functions:
        if needs_functional_form(extension, function) and _defined_functional(extension, function) is None:
            schema = functional_schema(function.func)
            yield f'_support.define_functional("{function.func.name}", {schema!r})'


def _fakes(extension: Extension, functions: list[NativeFunction]) -> Iterator[str]:
    shapes = extension.shape_functions
    given = {operator: name for name, operator in shapes.functions} if shapes else {}
    for function in functions:
        name = str(function.func.name)
        if name in given:
            yield f'_support.register_fake("{name}", _meta.{given[name]})'
        elif not (_has_meta_kernel(extension.program, function) or "generated" in function.tags):
            if is_pointwise(function):
                yield f'_support.register_pointwise_fake("{name}")'
            elif returns_writes(function):
                yield f'_support.register_written_fake("{name}")'


def _has_meta_kernel(program: Program, function: NativeFunction) -> bool:
    index = program.backend_indices.get(DispatchKey.Meta)
    return index is not None and index.has_kernel(function)


def has_automatic_fake(function: NativeFunction) -> bool:
    """Return whether the package generates a fake kernel for the operator."""
    return is_pointwise(function) or returns_writes(function)


def is_pointwise(function: NativeFunction) -> bool:
    """Return whether an operator's results have the broadcast sizes of its tensors."""
    tensors = [a.type for a in function.func.arguments.flat_all if a.type.is_tensor_like()]
    are_operands = bool(tensors) and all(type in _OPERANDS for type in tensors) and _TENSOR in tensors
    return "pointwise" in function.tags and are_operands and all(r.type == _TENSOR for r in function.func.returns)


def returns_writes(function: NativeFunction) -> bool:
    """Return whether an operator mutates arguments, and returns only these."""
    return bool(function.func.arguments.mutated) and None not in function.func.aliased_return_names()


def _autograd(
    extension: Extension, functions: list[NativeFunction], derived: dict[object, Differentiated]
) -> Iterator[str]:
    for function in functions:
        name, differentiated = function.func.name, derived.get(function.func.name)
        if function.func.arguments.out:
            yield f'_support.register_out_autograd("{name}")'
        elif differentiated is not None:
            for key, each in differentiated.classes:
                more = "" if key == DispatchKey.Autograd.name else f', "{key}"'
                yield f'_support.register_autograd("{name}", _derivatives.{each.name}{more})'
        elif needs_fallback(extension, function) and _may_require_grad(function):
            yield f'_support.register_autograd("{name}", None)'


def _may_require_grad(function: NativeFunction) -> bool:
    """Return whether the operator returns or mutates tensors, which may require gradients."""
    takes_tensors = any(a.type.is_tensor_like() for a in function.func.arguments.flat_all)
    returns_tensors = any(r.type.is_tensor_like() for r in function.func.returns)
    return takes_tensors and (returns_tensors or bool(function.func.arguments.mutated))


def _functionalization(extension: Extension, functions: list[NativeFunction]) -> Iterator[str]:
    for group in extension.program.groups:
        for function in group.functions():
            if function.func.arguments.mutated and function in functions:
                yield _functionalize(function, str(group.functional.func.name))
    for function in functions:
        if needs_functional_form(extension, function):
            defined = _defined_functional(extension, function)
            functional = f"{FUNCTIONAL_PREFIX}{function.func.name}" if defined is None else str(defined.func.name)
            yield _functionalize(function, functional)


def _defined_functional(extension: Extension, function: NativeFunction) -> NativeFunction | None:
    """Return the functional form in the definitions of an operator that is in no group; None if there is none."""
    signature = function.func.signature(strip_default=True)
    for other in extension.program.functions:
        is_functional = other.func.kind() is SchemaKind.functional and not other.func.arguments.mutated
        if is_functional and other.func.signature(strip_default=True) == signature:
            return other
    return None


def _functionalize(function: NativeFunction, functional: str) -> str:
    return f'_support.register_functionalization("{function.func.name}", "{functional}")'


def _is_batched(extension: Extension, function: NativeFunction) -> bool:
    """Return whether the kernel broadcasts over a batch; torch's vmap doesn't support keyword-only tensors."""
    named = any(a.type.is_tensor_like() for a in function.func.arguments.flat_kwarg_only)
    return is_batched_by_broadcasting(extension, function) and not named
