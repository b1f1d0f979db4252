"""The emitters of the Python generators, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from opgen.dest.autograd_table import EmitAutograd
from opgen.dest.python_bindings import emit_python_functions, emit_python_methods
from opgen.dest.python_enum_tag import emit_python_enum_tag
from opgen.dest.python_nodes import emit_python_node_headers, emit_python_node_sources
from opgen.dest.python_return_types import emit_python_return_types
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.python_program import PythonProgram
from opgen.values import dataclass

EmitPython = Callable[[PythonProgram, TemplateSet], Iterator[OutputFile]]


@dataclass(frozen=True, slots=True)
class PythonEmitter:
    """One family of output files, made of the operators."""

    name: str
    """What the progress bar calls it."""
    emit: EmitPython


@dataclass(frozen=True, slots=True)
class NodeEmitter:
    """One family of output files, made of the derivatives."""

    name: str
    emit: EmitAutograd
    cost: int
    """As for those of autograd."""


BINDING_EMITTERS: Final[tuple[PythonEmitter, ...]] = (
    PythonEmitter("methods", emit_python_methods),
    PythonEmitter("functions", emit_python_functions),
    PythonEmitter("return types", emit_python_return_types),
    PythonEmitter("tags", emit_python_enum_tag),
)
"""What binds operators to Python."""

NODE_EMITTERS: Final[tuple[NodeEmitter, ...]] = (
    NodeEmitter("nodes", emit_python_node_headers, cost=1),
    NodeEmitter("nodes", emit_python_node_sources, cost=20),
)
"""What shows the nodes of autograd's graph to Python."""
