"""A program of operators of one namespace → `Extension`, the input of the emitters of an extension.

It is the front end's program, adapted to builds outside of torch: kernels without an explicit
namespace are in `mylib::native` instead of torch's namespace, and a structured operator's kernel is
structured under every key for dense tensors.

    extension.namespace          "mylib"
    extension.program            the operators, their groups and kernels
    extension.keys               the dispatch keys that kernels are registered under, in order
    extension.signatures(f)      their signatures
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from opgen.api.signatures import Signatures
from opgen.dest.group_kernels import GroupKernels, KernelKind, KernelMap
from opgen.dispatch_keys import DispatchKey, is_generic_dispatch_key
from opgen.extension.backends import backend
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.model import (
    DEFAULT_KERNEL_NAMESPACE,
    BackendIndex,
    BackendMetadata,
    NativeFunction,
    OperatorName,
)
from opgen.program.autograd import AutogradProgram
from opgen.program.program import Program
from opgen.program.python import PythonProgram
from opgen.program.shape_functions import ShapeFunctions
from opgen.releases.release import Release


@dataclass(frozen=True, slots=True)
class ExtensionOptions:
    """The options of a run."""

    is_fragment: bool = False
    """Whether the library is also defined elsewhere (`TORCH_LIBRARY_FRAGMENT`)."""
    dispatch_keys: frozenset[DispatchKey] | None = None
    """The keys to write registrations for; None for all keys in the definitions."""
    stable_abi: Release | None = None
    """The oldest release of torch that a library in the stable ABI supports; None without the stable ABI."""
    kernel_builder: bool = False
    """Whether Hugging Face's kernel-builder builds the library, in the stable ABI, and sets its namespace."""
    shim_root: str | None = None
    """The root folder of AOTInductor's shims: `install`, to be in the units, or `aoti`; None for no shims."""


@dataclass(frozen=True, slots=True, eq=False)
class Extension:
    """The operators of one namespace, and the options of their library."""

    program: Program
    namespace: str
    """The namespace of the operators, and of the generated C++ code."""
    options: ExtensionOptions
    keys: tuple[DispatchKey, ...]
    """The keys that kernels are registered under, in the order of the definitions."""
    kernels: KernelMap = field(repr=False)
    autograd: AutogradProgram | None = None
    """The operators' derivatives; None if there are none."""
    python: PythonProgram | None = None
    """The operators as functions of a Python package; None if the extension has none."""
    shape_functions: ShapeFunctions | None = None
    """Shape functions in Python, which the package registers; None if there are none."""

    def signatures(self, function: NativeFunction) -> Signatures:
        """Return the function's signatures, which are cached."""
        return self.program.signatures(function)

    def groups_under(self, key: DispatchKey) -> Iterator[GroupKernels]:
        """Yield the operators with kernels under the key, group by group."""
        for group_kernels in self.kernels.groups_under(key):
            forms = tuple((form, kind) for form, kind in group_kernels.forms if _is_wanted(group_kernels, form, kind))
            if forms:
                yield replace(group_kernels, forms=forms)

    @property
    def package(self) -> str:
        """The name of the Python package."""
        return self.namespace

    @property
    def macro_prefix(self) -> str:
        """The prefix of the extension's macros."""
        return self.namespace.upper()

    def environment(self) -> dict[str, object]:
        """Return the values available in all templates."""
        return {
            "namespace": self.namespace,
            "prefix": self.macro_prefix,
            "api": f"{self.macro_prefix}_API",
            "kernel_builder": self.options.kernel_builder,
        }


def _is_wanted(group_kernels: GroupKernels, form: NativeFunction, kind: KernelKind) -> bool:
    """Return whether a form gets a kernel under a key.

    A structured operator needs none under CompositeExplicitAutogradNonFunctional: every backend has
    all of its forms already.
    """
    if kind is KernelKind.STRUCTURED:
        return group_kernels.index.dispatch_key is not DispatchKey.CompositeExplicitAutogradNonFunctional
    return True


def derive_extension(program: Program, namespace: str, options: ExtensionOptions) -> Extension:
    """Return the extension for a program whose operators are in `namespace`."""
    structured = frozenset(group.out.func.name for group in program.structured_groups)
    indices = FrozenMap(
        (key, _own_index(index, namespace, structured)) for key, index in program.backend_indices.items()
    )
    own = replace(program, backend_indices=indices, _signatures={}, _group_signatures={}, _view_signatures={})
    found = Extension(own, namespace, options, (), KernelMap(own))
    return replace(found, keys=tuple(_used_keys(found)))


def _own_index(index: BackendIndex, namespace: str, structured: frozenset[OperatorName]) -> BackendIndex:
    known = backend(index.dispatch_key)

    def own(name: OperatorName, kernel: BackendMetadata) -> BackendMetadata:
        home = kernel.cpp_namespace
        return replace(
            kernel,
            cpp_namespace=f"{namespace}::native" if home == DEFAULT_KERNEL_NAMESPACE else home,
            structured=name in structured and known.is_dense and index.dispatch_key is not DispatchKey.Meta,
        )

    kernels = FrozenMap((name, own(name, kernel)) for name, kernel in index.index.items())
    return replace(index, device_guard=known.has_many_devices, index=kernels)


def _used_keys(extension: Extension) -> Iterator[DispatchKey]:
    """Yield the keys that kernels are registered under; Meta may have generated ones."""
    wanted = extension.options.dispatch_keys
    for key in dict.fromkeys((*extension.program.backend_indices, DispatchKey.Meta)):
        if wanted is not None and key not in wanted and not is_generic_dispatch_key(key):
            continue
        if next(extension.groups_under(key), None) is not None:
            yield key
