"""The input of the emitters of Python bindings: operators and their Python functions.

The front end builds one `PythonProgram` from the definitions and deprecated.yaml.

    program.bound                      the operators that get bindings
    program.functions                  the functions of torch and of the modules below it
    program.methods                    the methods of tensors
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.api.python_overloads import Overload, Pair
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction
from opgen.program.program import Program


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """One function or method of Python."""

    name: str
    module: str | None
    """The module below torch that it is in; None for torch itself, and for methods."""
    pairs: tuple[Pair, ...]
    """Its operators with their signatures, in definition order; then deprecated signatures."""
    overloads: tuple[Overload, ...]
    """Its signatures in the order in which the parser tries them."""


@dataclass(frozen=True, slots=True, eq=False)
class PythonProgram:
    """The operators of a run with their Python functions."""

    program: Program
    bound: tuple[NativeFunction, ...]
    """The operators that get bindings."""
    functions: tuple[PythonFunction, ...]
    """In order of first appearance in the definitions."""
    methods: tuple[PythonFunction, ...]

    def functions_of(self, module: str | None) -> Iterator[PythonFunction]:
        """Yield the functions of torch, or of a module below it."""
        return (function for function in self.functions if function.module == module)
