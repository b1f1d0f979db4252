"""The library that autograd's C++ is compiled in, torch or an extension → its names and choices.

The emitters of autograd support both; this module has the differences.

    torch_home(release).redispatch(function, symint=False)        at::redispatch::add
    extension_home("mylib").redispatch(function, symint=False)    ::mylib::_ops::add_Tensor::redispatch
"""

from __future__ import annotations

from typing import Final

from opgen.api import cpp
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, OperatorName
from opgen.releases.release import Release

_NAMESPACE: Final = "aten"


@dataclass(frozen=True, slots=True)
class AutogradHome:
    """The names and choices of a library that has autograd kernels: torch, or an extension."""

    exports: str
    """The macro that exports node classes; empty if other libraries don't need them."""
    node_pointer: str
    """The template of pointers to nodes."""
    make_node: str
    """The expression that creates a node, with placeholders for its class and its arguments."""
    fires_hooks: bool
    """Whether kernels call the hooks for new nodes."""
    avoids_copies: bool
    """Whether kernels of foreach operators avoid copies of nodes and storages."""
    complex_gradients: frozenset[str]
    """Operators of torch whose formulas support complex tensors."""
    entry_points: str
    """The namespace of a class for each operator, which redispatches; empty for torch's own functions."""
    kernel_prefix: str
    """Prefix of kernel names, so that formulas that call an operator don't find its kernel."""
    checks_results: bool
    """Whether debug builds check the storages of arguments and results."""
    has_decompositions: bool
    """Whether torch may have a decomposition of an operator without a formula for its tangents."""
    saves_more_types: bool
    """Whether nodes can save values of types that torch's own formulas never use."""
    fills_gradients: bool
    """Whether formulas run only if a gradient is defined, with zeros for undefined gradients in lists."""
    no_tangents_reason: str
    """The reason given in the error for tangents without a formula."""

    def redispatch(self, function: NativeFunction, *, symint: bool) -> str:
        """Return the function that calls an operator's next kernel; `symint` says whether it takes any `SymInt`."""
        if self.entry_points:
            return f"{self.entry_points}::{operator_struct(function.func.name)}::redispatch"
        name = cpp.name(function.func, faithful_name_for_out_overloads=True, symint_overload=symint)
        return f"at::redispatch::{name}"


def torch_home(release: Release) -> AutogradHome:
    """Return the home in torch's own sources, for a release."""
    return AutogradHome(
        exports="TORCH_API",
        node_pointer="std::shared_ptr" if release.nodes_are_shared else "c10::intrusive_ptr",
        make_node="std::shared_ptr<{0}>(new {0}({1}), deleteNode)"
        if release.nodes_are_shared
        else "c10::make_intrusive<{0}>({1})",
        fires_hooks=release.node_hooks,
        avoids_copies=release.avoids_copies,
        complex_gradients=release.complex_gradients,
        entry_points="",
        kernel_prefix="",
        checks_results=True,
        has_decompositions=True,
        saves_more_types=False,
        fills_gradients=False,
        no_tangents_reason=(
            "because it has not been implemented yet.\\nPlease file an issue to PyTorch at "
            "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml "
            "so that we can prioritize its implementation."
        ),
    )


def extension_home(namespace: str) -> AutogradHome:
    """Return the home in an extension with one namespace."""
    return AutogradHome(
        exports="",
        node_pointer="detail::NodePointer",
        make_node="detail::make_node<{0}>({1})",
        fires_hooks=False,
        avoids_copies=True,
        complex_gradients=frozenset(),
        entry_points=f"::{namespace}::_ops",
        kernel_prefix="record_",
        checks_results=False,
        has_decompositions=False,
        saves_more_types=True,
        fills_gradients=True,
        no_tangents_reason="because it has not been implemented yet.",
    )


_MEMBERS: Final = frozenset({"call", "name", "overload_name", "ptr_schema", "redispatch", "schema", "schema_str"})
"""Members of the class of each operator in an extension."""


def operator_struct(name: OperatorName) -> str:
    """Return the name of an operator's class in an extension: the operator's name, unless a member has this name."""
    text = name.unambiguous_name()
    return f"opgen_{text}" if text in _MEMBERS else text


def is_of_torch(function: NativeFunction) -> bool:
    """Return whether an operator is torch's, so that torch's lists of names apply to it."""
    return function.namespace == _NAMESPACE
