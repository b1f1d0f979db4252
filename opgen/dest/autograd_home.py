"""The library that autograd's C++ is compiled in, torch or an extension → its names and choices.

The emitters of autograd make both, and take from here what differs.

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
    """The expression that makes a node, with places for its class and for the arguments."""
    fires_hooks: bool
    """Whether kernels call the hooks for new nodes."""
    spares_copies: bool
    """Whether kernels of operators on lists copy neither nodes nor storages."""
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
    keeps_more: bool
    """Whether nodes keep values of types, too, that no formula of torch's own uses."""
    fills_gradients: bool
    """Whether formulas run only if a gradient is defined, and find zeros for those of a list that are undefined."""
    lacks_tangents: str
    """Why tangents are refused where there is no formula for them."""

    def redispatch(self, function: NativeFunction, *, symint: bool) -> str:
        """Return the function that calls an operator's next kernel; `symint` says whether it takes any `SymInt`."""
        if self.entry_points:
            return f"{self.entry_points}::{operator_struct(function.func.name)}::redispatch"
        name = cpp.name(function.func, faithful_name_for_out_overloads=True, symint_overload=symint)
        return f"at::redispatch::{name}"


def torch_home(release: Release) -> AutogradHome:
    """Torch's own sources, of a release."""
    return AutogradHome(
        exports="TORCH_API",
        node_pointer="std::shared_ptr" if release.nodes_are_shared else "c10::intrusive_ptr",
        make_node="std::shared_ptr<{0}>(new {0}({1}), deleteNode)"
        if release.nodes_are_shared
        else "c10::make_intrusive<{0}>({1})",
        fires_hooks=release.node_hooks,
        spares_copies=release.spares_copies,
        complex_gradients=release.complex_gradients,
        entry_points="",
        kernel_prefix="",
        checks_results=True,
        has_decompositions=True,
        keeps_more=False,
        fills_gradients=False,
        lacks_tangents=(
            "because it has not been implemented yet.\\nPlease file an issue to PyTorch at "
            "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml "
            "so that we can prioritize its implementation."
        ),
    )


def extension_home(namespace: str) -> AutogradHome:
    """Return a library of operators of one namespace, compiled outside of torch."""
    return AutogradHome(
        exports="",
        node_pointer="detail::NodePointer",
        make_node="detail::make_node<{0}>({1})",
        fires_hooks=False,
        spares_copies=True,
        complex_gradients=frozenset(),
        entry_points=f"::{namespace}::_ops",
        kernel_prefix="record_",
        checks_results=False,
        has_decompositions=False,
        keeps_more=True,
        fills_gradients=True,
        lacks_tangents="because it has not been implemented yet.",
    )


_MEMBERS: Final = frozenset({"call", "name", "overload_name", "ptr_schema", "redispatch", "schema", "schema_str"})
"""Members of the class of each operator in an extension."""


def operator_struct(name: OperatorName) -> str:
    """Return what an extension calls an operator's class: by the operator's name, unless a member is called so."""
    text = name.unambiguous_name()
    return f"opgen_{text}" if text in _MEMBERS else text


def is_of_torch(function: NativeFunction) -> bool:
    """Return whether an operator is torch's, so that torch's lists of names apply to it."""
    return function.namespace == _NAMESPACE
