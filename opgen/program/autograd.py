"""Everything that the emitters of autograd may see: operators, and their derivatives.

The front end makes one `AutogradProgram` of the definitions and derivatives.yaml.

    program.program                    the operators, as the emitters of ATen see them
    program.functions                  those that autograd gets kernels for, with their derivatives
    program.infos                      all derivatives, each of which is a class of nodes of the graph
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from opgen.api.autograd import DifferentiabilityInfo, NativeFunctionWithDifferentiabilityInfo
from opgen.api.autograd_nodes import SELF_POINTER, KnownMembers, Node
from opgen.frozen_dataclass import dataclass
from opgen.program.program import Program


@dataclass(frozen=True, slots=True, eq=False)
class AutogradProgram:
    """The operators of a run and their derivatives."""

    program: Program
    functions: tuple[NativeFunctionWithDifferentiabilityInfo, ...]
    """The operators that are selected for training, by their C++ names."""
    infos: tuple[DifferentiabilityInfo, ...]
    """The derivatives in the order of the file; then those of `_copy` operators."""
    list_infos: tuple[DifferentiabilityInfo, ...]
    """The derivatives that were derived for the selected operators on lists."""
    dispatch_keys: tuple[str, ...]
    """The keys that any operator has derivatives for, `Default` first."""
    # By identity; the program keeps what they are derived of alive.
    _nodes: dict[int, Node] = field(default_factory=dict, repr=False)
    _members: KnownMembers = field(default_factory=dict, repr=False)

    def nodes_of(self, infos: Iterable[DifferentiabilityInfo]) -> list[Node]:
        """Return the classes of nodes for entries that have gradients; each is derived once, shared by all emitters."""
        pointer = "shared_from_this()" if self.program.release.nodes_are_shared else SELF_POINTER
        nodes = []
        for info in infos:
            node = self._nodes.get(id(info))
            if node is None and info.op is not None:
                node = self._nodes[id(info)] = Node.of(info, info.op, known=self._members, self_pointer=pointer)
            if node is not None:
                nodes.append(node)
        return nodes
