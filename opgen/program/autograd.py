"""The input of autograd's emitters: operators and their derivatives.

The front end builds one `AutogradProgram` from the definitions and derivatives.yaml.

    program.program                    the operators, as the emitters of ATen see them
    program.functions                  the operators with autograd kernels, with their derivatives
    program.infos                      all derivatives, each with a class of autograd nodes
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from opgen.api.autograd import DifferentiabilityInfo, NativeFunctionWithDifferentiabilityInfo
from opgen.api.autograd_nodes import SELF_POINTER, MemberMemo, Node
from opgen.frozen_dataclass import dataclass
from opgen.program.program import Program


@dataclass(frozen=True, slots=True, eq=False)
class AutogradProgram:
    """The operators of a run and their derivatives."""

    program: Program
    functions: tuple[NativeFunctionWithDifferentiabilityInfo, ...]
    """The operators selected for training, sorted by C++ name."""
    infos: tuple[DifferentiabilityInfo, ...]
    """The derivatives in the order of the file; then those of `_copy` operators."""
    list_infos: tuple[DifferentiabilityInfo, ...]
    """The derivatives of the selected foreach operators."""
    dispatch_keys: tuple[str, ...]
    """The keys that any operator has derivatives for, `Default` first."""
    # Memoized by identity; the program keeps the keys alive.
    _nodes: dict[int, Node] = field(default_factory=dict, repr=False)
    _members: MemberMemo = field(default_factory=dict, repr=False)

    def nodes_of(self, infos: Iterable[DifferentiabilityInfo]) -> list[Node]:
        """Return the node classes of entries that have gradients; each is derived on first use."""
        pointer = "shared_from_this()" if self.program.release.nodes_are_shared else SELF_POINTER
        nodes = []
        for info in infos:
            node = self._nodes.get(id(info))
            if node is None and info.op is not None:
                node = self._nodes[id(info)] = Node.of(info, info.op, memo=self._members, self_pointer=pointer)
            if node is not None:
                nodes.append(node)
        return nodes
