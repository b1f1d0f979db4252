"""The emitters of the Python generators, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from opgen.dest.autograd_table import EmitAutograd
from opgen.on_demand import OnDemand
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

if TYPE_CHECKING:
    from opgen.program.python import PythonProgram


@dataclass(frozen=True, slots=True)
class PythonEmitter:
    """One family of output files, made of the operators."""

    name: str
    """What the progress bar calls it."""
    emit: Callable[[PythonProgram, TemplateSet], Iterator[OutputFile]]


@dataclass(frozen=True, slots=True)
class NodeEmitter:
    """One family of output files, made of the derivatives."""

    name: str
    emit: EmitAutograd
    cost: int
    """As for those of autograd."""


BINDING_EMITTERS: Final[tuple[PythonEmitter, ...]] = (
    PythonEmitter("methods", OnDemand("opgen.dest.python_bindings", "emit_python_methods")),
    PythonEmitter("functions", OnDemand("opgen.dest.python_bindings", "emit_python_functions")),
    PythonEmitter("return types", OnDemand("opgen.dest.python_return_types", "emit_python_return_types")),
    PythonEmitter("tags", OnDemand("opgen.dest.python_enum_tag", "emit_python_enum_tag")),
)
"""What binds operators to Python."""

NODE_EMITTERS: Final[tuple[NodeEmitter, ...]] = (
    NodeEmitter("nodes", OnDemand("opgen.dest.python_nodes", "emit_python_node_headers"), cost=1),
    NodeEmitter("nodes", OnDemand("opgen.dest.python_nodes", "emit_python_node_sources"), cost=20),
)
"""What shows the nodes of autograd's graph to Python."""
