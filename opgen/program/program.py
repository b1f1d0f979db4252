"""The input of emitters: the checked operators, their kernels, and the options of a run.

The front end builds one `Program` from the definitions; emitters turn it, and the `Options` of the
run, into files.  Both are immutable.

    program.functions                       every operator, with derived ones, in order
    program.signatures(function).dispatcher its dispatcher signature, derived once
    program.backend_indices[DispatchKey.CPU].get_kernel(function)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from opgen.api.c_shim import NO_SHIMS, Shims
from opgen.api.signatures import GroupSignatures, Signatures, ViewGroupSignatures
from opgen.dispatch_keys import (
    GENERIC_DISPATCH_KEYS,
    MPS_DISPATCH_KEYS,
    MTIA_DISPATCH_KEYS,
)
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    BackendIndex,
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
)
from opgen.releases.release import Release
from opgen.selective_build.selector import SelectiveBuilder


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run of the ATen generator."""

    install_dir: Path
    aoti_install_dir: Path | None = None
    """The folder of the AOTInductor shims; None to write none."""
    headeronly_install_dir: Path | None = None
    """The folder of header-only files; None for `core` in the install directory."""
    output_dependencies: Path | None = None
    """File to write lists of the outputs to, instead of the outputs; None to write the outputs."""
    dry_run: bool = False
    per_operator_headers: bool = False
    rocm: bool = False
    """Whether CUDA means ROCm/HIP."""
    dispatch_keys: tuple[DispatchKey, ...] = ()
    """The keys that registrations and headers are written for, in torch's order."""
    static_dispatch_keys: tuple[DispatchKey, ...] = ()
    """Backends that functions call directly, bypassing the dispatcher; usually none."""
    skip_dispatcher_op_registration: bool = False
    force_schema_registration: bool = False
    """Whether schemas of unselected operators are registered too."""
    generate: frozenset[str] = frozenset({"headers", "sources", "declarations_yaml"})
    shim_keys: tuple[DispatchKey, ...] = (DispatchKey.CPU, DispatchKey.CUDA)
    """The devices that get shims, even if no code is generated for their kernels."""
    update_aoti_c_shim: bool = False
    extend_aoti_c_shim: bool = False

    @property
    def writes_shim_headers(self) -> bool:
        """Whether the headers of the shims are written rather than compared."""
        return self.aoti_install_dir is not None and self.update_aoti_c_shim

    @property
    def functions_keys(self) -> frozenset[DispatchKey]:
        """The keys that get their own C++ functions, such as `at::cpu::add`."""
        return frozenset((*(k for k in self.dispatch_keys if k in _KEYS_WITH_FUNCTIONS), *self.static_dispatch_keys))


_KEYS_WITH_FUNCTIONS: Final = (
    *GENERIC_DISPATCH_KEYS,
    *MPS_DISPATCH_KEYS,
    *MTIA_DISPATCH_KEYS,
    DispatchKey.CPU,
    DispatchKey.CUDA,
    DispatchKey.XPU,
    DispatchKey.Meta,
)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """One set of definitions, parsed, completed with derived operators, and checked."""

    functions: tuple[NativeFunction, ...]
    """Every operator overload, including derived ones, in the order used in generated files."""
    grouped: tuple[NativeFunction | NativeFunctionsGroup, ...]
    """The functions, those that share a signature as one group."""
    view_grouped: tuple[NativeFunction | NativeFunctionsViewGroup, ...]
    """The functions, a view with its `_copy` and in-place forms as one group."""
    backend_indices: Mapping[DispatchKey, BackendIndex]
    """The kernels under each key that any operator names."""
    selector: SelectiveBuilder
    """The operators to register."""
    release: Release
    """The release of torch that the definitions are for."""
    tags: Mapping[str, str]
    """Legal tags and their descriptions, in declaration order."""
    native_aot: frozenset[tuple[str, DispatchKey]] = frozenset()
    """Functional forms of structured operators, by name, with a kernel under a key that is compiled ahead of time."""
    shims: Shims = NO_SHIMS
    """The operators with C functions; empty unless the run writes such functions."""
    # Memoized by identity, which is faster than by name; each value keeps its key alive.
    _signatures: dict[int, Signatures] = field(default_factory=dict, repr=False)
    _group_signatures: dict[int, GroupSignatures] = field(default_factory=dict, repr=False)
    _view_signatures: dict[int, ViewGroupSignatures] = field(default_factory=dict, repr=False)

    def signatures(self, function: NativeFunction) -> Signatures:
        """Return the function's signatures under each calling convention; derived on first use."""
        cached = self._signatures.get(id(function))
        if cached is None:
            cached = self._signatures[id(function)] = Signatures(function)
        return cached

    def group_signatures(self, group: NativeFunctionsGroup) -> GroupSignatures:
        """Return the signatures of a group's structured kernels; derived on first use."""
        cached = self._group_signatures.get(id(group))
        if cached is None:
            cached = self._group_signatures[id(group)] = GroupSignatures(group)
        return cached

    def view_signatures(self, group: NativeFunctionsViewGroup) -> ViewGroupSignatures:
        """Return the signatures with which functionalization replays a view; derived on first use."""
        cached = self._view_signatures.get(id(group))
        if cached is None:
            cached = self._view_signatures[id(group)] = ViewGroupSignatures(group)
        return cached

    def has_kernel(self, key: DispatchKey, function: NativeFunction) -> bool:
        """Return whether the operator's entry names a kernel under the key."""
        index = self.backend_indices.get(key)
        return index is not None and index.has_kernel(function)

    @property
    def groups(self) -> tuple[NativeFunctionsGroup, ...]:
        """The groups of functional and out forms, structured or not."""
        return tuple(g for g in self.grouped if isinstance(g, NativeFunctionsGroup))

    @property
    def structured_groups(self) -> tuple[NativeFunctionsGroup, ...]:
        """The groups that have structured kernels."""
        return tuple(g for g in self.groups if g.structured)

    @property
    def view_groups(self) -> tuple[NativeFunctionsViewGroup, ...]:
        """The groups of views."""
        return tuple(g for g in self.view_grouped if isinstance(g, NativeFunctionsViewGroup))
