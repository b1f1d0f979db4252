"""Python functions → `annotated_fn_args.py`, from which torch's tests build arguments for each of them.

The file maps functions to their required arguments.

    torch._C._VariableFunctions.neg: [{'is_kwarg_only': 'False', 'name': 'self', 'simple_type': 'Tensor'}],
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from opgen.api.python_overloads import (
    is_in_module,
    is_py_torch_function,
    is_py_variable_method,
    should_generate_py_binding,
)
from opgen.api.python_parser import argument_type_size, argument_type_str
from opgen.model import Argument, BaseOperatorName, NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program

_OWNERS: Final = (
    ("torch._C._VariableFunctions", is_py_torch_function),
    ("torch._C._nn", is_in_module("nn")),
    ("torch._C._linalg", is_in_module("linalg")),
    ("torch._C._special", is_in_module("special")),
    ("torch._C._fft", is_in_module("fft")),
    ("torch.Tensor", is_py_variable_method),
)
"""The Python modules and classes of functions, in file order."""


_CALLED_BY_POSITION: Final = frozenset({"diagonal", "round", "round_", "scatter_"})
"""Functions that the tests always call without keyword arguments."""


def emit_annotated_fn_args(program: Program, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `annotated_fn_args.py`."""
    bound = [function for function in program.functions if should_generate_py_binding(function)]
    lines = [
        f"    {owner}.{function.func.name.name}: {render_arguments(function)},"
        for owner, is_selected in _OWNERS
        for function in _by_name(filter(is_selected, bound))
    ]
    text = templates.render("annotated_fn_args.py.in", {"annotated_args": "\n".join(lines)})
    yield OutputFile("annotated_fn_args.py", text)


def _by_name(functions: Iterable[NativeFunction]) -> Iterator[NativeFunction]:
    """Yield the functions with all overloads of a name together."""
    by_name: dict[BaseOperatorName, list[NativeFunction]] = {}
    for function in functions:
        by_name.setdefault(function.func.name.name, []).append(function)
    for overloads in by_name.values():
        yield from overloads


def render_arguments(function: NativeFunction) -> str:
    """Return the arguments without defaults, as a list of dictionaries."""
    arguments = function.func.arguments
    required = [_render(argument, is_kwarg_only=False) for argument in _required(arguments.flat_positional)]
    if str(function.func.name.name) not in _CALLED_BY_POSITION:
        required += [_render(argument, is_kwarg_only=True) for argument in _required(arguments.flat_kwarg_only)]
    return f"[{', '.join(required)}]"


def _required(arguments: tuple[Argument, ...]) -> list[Argument]:
    return [argument for argument in arguments if argument.default is None]


def _render(argument: Argument, *, is_kwarg_only: bool) -> str:
    entry: dict[str, object] = {
        "is_kwarg_only": str(is_kwarg_only),
        "name": argument.name,
        "simple_type": argument_type_str(argument.type, simple_type=True),
    }
    size = argument_type_size(argument.type)
    return repr(entry if size is None else {**entry, "size": size})
