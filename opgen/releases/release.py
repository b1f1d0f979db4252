"""What differs between releases of torch, field by field.

    release.missing_types       the types that a schema can't have
    release.xpu_keys            the dispatch keys that only a build for XPU has

Code reads these fields and doesn't compare versions; only lists that users may write say `since` (`Release.has`). The
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

    # What definitions may say.
    missing_types: frozenset[BaseTy]
    """Types of other releases, older or newer, that schemas can't have."""
    missing_keys: frozenset[DispatchKey]
    """Dispatch keys of other releases, older or newer, that no kernel can be registered under."""
    unseeded_operators: frozenset[str]
    """Operators that sound random, but don't need the tag `nondeterministic_seeded`."""
    without_functional_form: frozenset[str]
    """Operators that write to an argument without a functional form: functionalization never meets them."""
    tags: frozenset[str]
    """The tags of torch's own operators: the members of `at::Tag`."""
    form_tags: frozenset[str]
    """Tags that operators have for their form, if the definitions declare them."""

    # What is written.
    named_dimensions: bool
    """Whether `set_output_…` of structured kernels takes names of dimensions."""
    keep_dtype_of_out: frozenset[str]
    """Out forms whose `dtype`, if it isn't given, is that of the out argument."""
    complex_gradients: frozenset[str]
    """Operators whose formulas hold for complex tensors as well; autograd refuses such tensors for others."""
    nodes_are_shared: bool
    """Whether nodes of autograd's graph are held by `std::shared_ptr`, rather than `c10::intrusive_ptr`."""
    node_hooks: bool
    """Whether autograd's kernels tell hooks of the nodes that they made."""
    avoids_copies: bool
    """Whether autograd's kernels of operators on lists copy neither nodes nor storages."""
    override_check: str
    """The C++ function that says whether Python overrides a method of a tensor."""
    methods_start_devices: bool
    """Whether methods that make tensors start the device even for a tensor that Python dispatches on."""
    autograd_shards: int
    """How many files autograd's and the tracer's kernels are split over."""
    views_own_values: bool
    """Whether classes that replay views keep tensors by value."""
    takes_one_view: bool
    """Whether one view of several is replayed without the others."""
    native_aot_stubs: bool
    """Whether there are stubs for kernels that are compiled ahead of time."""
    exported_kernels: frozenset[str]
    """Kernels of devices that `TORCH_API` exports, whatever `kernel_exports` says."""
    lazy_nodes_move_text: bool
    """Whether nodes of lazy backends move their text out of its stream."""
    shims_have_guards: bool
    """Whether functions with a C interface are declared only for callers that expect their release."""
    rocm_guard: str
    """The class of the guard that structured kernels hold under ROCm."""
    rocm_guard_header: str
    """The header of guards under ROCm."""
    class_exports: FrozenMap[DispatchKey, str]
    """The macro that exports the classes of structured kernels, for keys where it isn't `TORCH_API`."""
    kernel_exports: FrozenMap[DispatchKey, str]
    """The macro that exports other kernels, and the C++ functions of a key, where it isn't `TORCH_API`."""

    # Dispatch keys.
    xpu_keys: tuple[DispatchKey, ...]
    """The keys that only a build for XPU writes files for."""

    # The stable ABI, as a library sees it that runs with this release and newer ones.
    stable_types: frozenset[BaseTy]
    """The base types that can be passed to and from torch."""
    stable_tags: frozenset[str]
    """The tags that operators can be defined with."""

    @property
    def name(self) -> str:
        """`2.13`"""
        return f"{self.version[0]}.{self.version[1]}"

    def has(self, version: tuple[int, int, int]) -> bool:
        """Return whether this release has what came with `version` of torch."""
        return version[:2] <= self.version
