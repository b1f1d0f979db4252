"""The differences between releases of torch, field by field.

    release.missing_types       the types that schemas can't use
    release.xpu_keys            the dispatch keys only in builds for XPU

Code reads these fields instead of comparing versions; only lists that users may write have `since` (`Release.has`). The
module of each release defines it as the previous one plus changes.
"""

from __future__ import annotations

from opgen.dispatch_keys import DispatchKey
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.schema.types import BaseTy


@dataclass(frozen=True, slots=True)
class Release:
    """One release of torch."""

    version: tuple[int, int]
    """Major and minor number."""

    # Definitions.
    missing_types: frozenset[BaseTy]
    """Types of other releases, older or newer, that schemas can't have."""
    missing_keys: frozenset[DispatchKey]
    """Dispatch keys of other releases, older or newer, that no kernel can be registered under."""
    unseeded_operators: frozenset[str]
    """Operators that don't need the tag `nondeterministic_seeded`, although their names suggest randomness."""
    without_functional_form: frozenset[str]
    """Operators that mutate arguments without a functional form, since functionalization never sees them."""
    tags: frozenset[str]
    """The tags of torch's own operators: the members of `at::Tag`."""
    form_tags: frozenset[str]
    """Tags that operators have for their form, if the definitions declare them."""

    # Generated code.
    named_dimensions: bool
    """Whether `set_output_…` of structured kernels takes names of dimensions."""
    keep_dtype_of_out: frozenset[str]
    """Out forms whose default `dtype` is that of the out argument."""
    complex_gradients: frozenset[str]
    """Operators whose formulas support complex tensors; autograd rejects complex tensors for others."""
    nodes_are_shared: bool
    """Whether autograd nodes are held by `std::shared_ptr` rather than `c10::intrusive_ptr`."""
    node_hooks: bool
    """Whether autograd kernels call hooks for the nodes that they create."""
    avoids_copies: bool
    """Whether autograd kernels of foreach operators avoid copies of nodes and storages."""
    override_check: str
    """The C++ function that returns whether Python overrides a method of a tensor."""
    methods_start_devices: bool
    """Whether methods that create tensors initialize the device even for tensor subclasses with Python dispatch."""
    autograd_shards: int
    """The number of files for autograd's and the tracer's kernels."""
    views_own_values: bool
    """Whether classes that replay views store tensors by value."""
    takes_one_view: bool
    """Whether one view of several is replayed without the others."""
    native_aot_stubs: bool
    """Whether there are stubs for ahead-of-time compiled kernels."""
    exported_kernels: frozenset[str]
    """Kernels of devices that `TORCH_API` exports, whatever `kernel_exports` says."""
    lazy_nodes_move_text: bool
    """Whether `ToString` of lazy nodes returns `std::move(ss).str()` rather than `ss.str()`."""
    shims_have_guards: bool
    """Whether C shims are declared only for callers that expect their release."""
    rocm_guard: str
    """The class of the device guard in structured kernels under ROCm."""
    rocm_guard_header: str
    """The header of device guards under ROCm."""
    class_exports: FrozenMap[DispatchKey, str]
    """The macro that exports the classes of structured kernels, for keys where it isn't `TORCH_API`."""
    kernel_exports: FrozenMap[DispatchKey, str]
    """The macro that exports other kernels, and the C++ functions of a key, where it isn't `TORCH_API`."""

    # Dispatch keys.
    xpu_keys: tuple[DispatchKey, ...]
    """The keys that only a build for XPU writes files for."""

    # The stable ABI, for a library that supports this release and newer ones.
    stable_types: frozenset[BaseTy]
    """The base types that can be passed to and from torch."""
    stable_tags: frozenset[str]
    """The tags that operators can be defined with."""

    @property
    def name(self) -> str:
        """`2.13`"""
        return f"{self.version[0]}.{self.version[1]}"

    def has(self, version: tuple[int, int, int]) -> bool:
        """Return whether this release is `version` of torch or newer."""
        return version[:2] <= self.version
