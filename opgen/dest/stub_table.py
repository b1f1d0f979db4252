"""The emitters of the stubs, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from opgen.dest.stubs import emit_function_stubs, emit_method_stubs, emit_return_type_stubs
from opgen.output.files import OutputFile
from opgen.program.python import PythonProgram


@dataclass(frozen=True, slots=True)
class StubEmitter:
    """One family of stub files, made of the operators and without templates."""

    name: str
    emit: Callable[[PythonProgram], Iterator[OutputFile]]


STUB_EMITTERS: Final[tuple[StubEmitter, ...]] = (
    StubEmitter("functions", emit_function_stubs),
    StubEmitter("methods", emit_method_stubs),
    StubEmitter("return types", emit_return_type_stubs),
)
"""What type checkers read."""
