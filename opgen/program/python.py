"""Everything that the emitters of Python's side may see: operators, and the Python functions that they are.

The front end makes one `PythonProgram` of the definitions and deprecated.yaml.

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
    """Its operators with their signatures, in the order of the definitions; then old signatures."""
    overloads: tuple[Overload, ...]
    """Its signatures in the order in which the parser tries them."""


@dataclass(frozen=True, slots=True, eq=False)
class PythonProgram:
    """The operators of a run as Python sees them."""

    program: Program
    bound: tuple[NativeFunction, ...]
    """The operators that get bindings."""
    functions: tuple[PythonFunction, ...]
    """In the order in which the definitions first have something of each."""
    methods: tuple[PythonFunction, ...]

    def functions_of(self, module: str | None) -> Iterator[PythonFunction]:
        """Yield the functions of torch, or of a module below it."""
        return (function for function in self.functions if function.module == module)
