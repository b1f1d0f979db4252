"""The documentation of operators → the docstring of a Python function.

Each signature is followed by the `doc` of its operator.  For an operator
without `doc`, the docstring names the documented operator that it is a form of.

    blend(input, other, *, weight=0.5, out=None) -> Tensor

    Goes from `input` towards `other` by `weight`.
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.api.python import PythonSignature
from opgen.api.python_overloads import Overload, takes_numbers
from opgen.api.python_parser import TENSOR
from opgen.api.python_stubs import stub_default
from opgen.model import NativeFunction, SchemaKind, Type
from opgen.program.python import PythonFunction, PythonProgram


def render_doc(function: PythonFunction, python: PythonProgram) -> str:
    """Return the docstring of a function."""
    overloads = [overload for overload in function.overloads if not takes_numbers(overload)]
    paragraphs: list[str] = []
    for overload in overloads:
        paragraphs.append(signature_line(overload.signature))
        if overload.base.doc is not None:
            paragraphs.append(_text(overload.base, overload.base.doc))
    if all(overload.base.doc is None for overload in overloads):
        paragraphs += _origin(overloads, python)
    return "\n\n".join(paragraphs) + "\n"


def signature_line(signature: PythonSignature) -> str:
    """`blend(input, other, *, weight=0.5, out=None) -> Tensor`."""
    parts = [argument.python_name() + _default(argument.default, argument.type) for argument in signature.arguments()]
    if len(parts) > len(signature.input_args):
        parts.insert(len(signature.input_args), "*")
    returned = [f"{r.type} {r.name}" if r.name is not None else str(r.type) for r in signature.returns]
    result = f"({', '.join(returned)})" if len(returned) > 1 else "".join(returned) or "None"
    return f"{signature.name}({', '.join(parts)}) -> {result}"


def _default(default: str | None, type: Type) -> str:
    return "" if default is None else f"={stub_default(default, type)}"


def _text(function: NativeFunction, doc: str) -> str:
    """Return the text of `doc`; the tensor called self in schemas is called input in Python."""
    own = function.func.arguments.self_arg
    is_renamed = own is not None and own.argument.type == TENSOR
    return doc.strip().replace("`self`", "`input`") if is_renamed else doc.strip()


def _origin(overloads: list[Overload], python: PythonProgram) -> Iterator[str]:
    """Yield a sentence that names the documented operator that these are a form of, if there is one."""
    name, tags = overloads[0].base.func.name.name, overloads[0].base.tags
    base = name.base.removesuffix("_copy") if "view_copy" in tags else name.base
    others = [other for other in python.bound if other.root_name == base and other.doc is not None]
    if not others or not overloads:
        return
    other = others[0].func.name.name
    if "view_copy" in tags:
        yield f"The result of `{other}`, as a tensor with memory of its own."
    elif overloads[0].base.func.kind() is SchemaKind.inplace:
        yield f"In-place `{other}`: changes and returns `input`."
    elif str(other) != str(name):
        yield f"`{other}` without its writes: returns the changed values instead."
