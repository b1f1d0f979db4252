"""The dispatch keys and their properties.

A name in a `dispatch` table becomes a `DispatchKey`.  `opgen.model.BackendIndex` has the kernels under a
key.  Source of the names: torch's public `c10::DispatchKey`.

    DispatchKey.parse("SparseCUDA")  ->  DispatchKey.SparseCUDA  (str: "SparseCUDA", lower(): "sparsecuda")
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final


class DispatchKey(Enum):
    """A key that kernels can be registered under."""

    # Hashed by identity, which runs no Python code.
    __hash__ = object.__hash__

    Undefined = 0

    FPGA = auto()
    MAIA = auto()
    Vulkan = auto()
    Metal = auto()
    MKLDNN = auto()
    OpenGL = auto()
    OpenCL = auto()
    IDEEP = auto()
    CustomRNGKeyId = auto()
    MkldnnCPU = auto()
    Sparse = auto()
    SparseCsr = auto()
    NestedTensor = auto()
    Dense = auto()

    PythonTLSSnapshot = auto()
    PreDispatch = auto()
    PythonDispatcher = auto()
    Python = auto()
    FuncTorchDynamicLayerBackMode = auto()
    ZeroTensor = auto()
    Conjugate = auto()
    Negative = auto()
    BackendSelect = auto()
    Named = auto()
    AutogradOther = auto()
    AutogradFunctionality = auto()
    AutogradNestedTensor = auto()
    Tracer = auto()
    Autocast = auto()
    AutocastCPU = auto()
    AutocastCUDA = auto()
    AutocastXPU = auto()
    Batched = auto()
    VmapMode = auto()
    FuncTorchGradWrapper = auto()
    FuncTorchBatched = auto()
    BatchedNestedTensor = auto()
    FuncTorchVmapMode = auto()
    FuncTorchDynamicLayerFrontMode = auto()
    Functionalize = auto()
    TESTING_ONLY_GenericWrapper = auto()
    TESTING_ONLY_GenericMode = auto()
    ADInplaceOrView = auto()

    Autograd = auto()
    CompositeImplicitAutograd = auto()
    CompositeImplicitAutogradNestedTensor = auto()
    CompositeExplicitAutograd = auto()
    CompositeExplicitAutogradNonFunctional = auto()
    FuncTorchBatchedDecomposition = auto()

    CPU = auto()
    CUDA = auto()
    HIP = auto()
    XLA = auto()
    MTIA = auto()
    MPS = auto()
    IPU = auto()
    XPU = auto()
    HPU = auto()
    VE = auto()
    Lazy = auto()
    Meta = auto()
    PrivateUse1 = auto()
    PrivateUse2 = auto()
    PrivateUse3 = auto()

    QuantizedCPU = auto()
    QuantizedCUDA = auto()
    QuantizedHIP = auto()
    QuantizedXLA = auto()
    QuantizedMTIA = auto()
    QuantizedMPS = auto()
    QuantizedIPU = auto()
    QuantizedXPU = auto()
    QuantizedHPU = auto()
    QuantizedVE = auto()
    QuantizedLazy = auto()
    QuantizedMeta = auto()
    QuantizedPrivateUse1 = auto()
    QuantizedPrivateUse2 = auto()
    QuantizedPrivateUse3 = auto()

    SparseCPU = auto()
    SparseCUDA = auto()
    SparseHIP = auto()
    SparseXLA = auto()
    SparseMTIA = auto()
    SparseMPS = auto()
    SparseIPU = auto()
    SparseXPU = auto()
    SparseHPU = auto()
    SparseVE = auto()
    SparseLazy = auto()
    SparseMeta = auto()
    SparsePrivateUse1 = auto()
    SparsePrivateUse2 = auto()
    SparsePrivateUse3 = auto()

    SparseCsrCPU = auto()
    SparseCsrCUDA = auto()
    SparseCsrHIP = auto()
    SparseCsrXLA = auto()
    SparseCsrMTIA = auto()
    SparseCsrMPS = auto()
    SparseCsrIPU = auto()
    SparseCsrXPU = auto()
    SparseCsrHPU = auto()
    SparseCsrVE = auto()
    SparseCsrLazy = auto()
    SparseCsrMeta = auto()
    SparseCsrPrivateUse1 = auto()
    SparseCsrPrivateUse2 = auto()
    SparseCsrPrivateUse3 = auto()

    NestedTensorCPU = auto()
    NestedTensorCUDA = auto()
    NestedTensorHIP = auto()
    NestedTensorXLA = auto()
    NestedTensorMTIA = auto()
    NestedTensorMPS = auto()
    NestedTensorIPU = auto()
    NestedTensorXPU = auto()
    NestedTensorHPU = auto()
    NestedTensorVE = auto()
    NestedTensorLazy = auto()
    NestedTensorMeta = auto()
    NestedTensorPrivateUse1 = auto()
    NestedTensorPrivateUse2 = auto()
    NestedTensorPrivateUse3 = auto()

    AutogradCPU = auto()
    AutogradCUDA = auto()
    AutogradHIP = auto()
    AutogradXLA = auto()
    AutogradMTIA = auto()
    AutogradMPS = auto()
    AutogradIPU = auto()
    AutogradXPU = auto()
    AutogradHPU = auto()
    AutogradVE = auto()
    AutogradLazy = auto()
    AutogradMeta = auto()
    AutogradPrivateUse1 = auto()
    AutogradPrivateUse2 = auto()
    AutogradPrivateUse3 = auto()

    def __str__(self) -> str:
        return self._name_  # like `name`, but without its slow descriptor

    def lower(self) -> str:
        """Return the name in lower case, as used in file names and C++ namespaces."""
        return self.name.lower()

    @staticmethod
    def parse(value: str) -> DispatchKey:
        """Return the key of that name.  Raises KeyError."""
        return DispatchKey[value]


BACKEND_COMPONENTS: Final = (
    "CPU",
    "CUDA",
    "HIP",
    "XLA",
    "MTIA",
    "MPS",
    "IPU",
    "XPU",
    "HPU",
    "VE",
    "Lazy",
    "Meta",
    "PrivateUse1",
    "PrivateUse2",
    "PrivateUse3",
)
"""The backends that each functionality below exists for."""

FUNCTIONALITY_KEYS: Final = ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd")
"""The prefixes of keys that exist once per device."""

_CUDA_KEYS: Final = frozenset(DispatchKey[f"{functionality}CUDA"] for functionality in FUNCTIONALITY_KEYS)
_XPU_KEYS: Final = frozenset(DispatchKey[f"{functionality}XPU"] for functionality in FUNCTIONALITY_KEYS)

STRUCTURED_DISPATCH_KEYS: Final = frozenset(
    {DispatchKey.CPU, DispatchKey.CUDA, DispatchKey.MPS, DispatchKey.MTIA, DispatchKey.XPU}
)
"""Keys under which the kernel of a structured operator is a structured kernel."""

UFUNC_DISPATCH_KEYS: Final = (DispatchKey.CPU, DispatchKey.CUDA)
"""Keys for which kernels are generated from a ufunc's inner loop."""

GENERIC_DISPATCH_KEYS: Final = (
    DispatchKey.CompositeImplicitAutograd,
    DispatchKey.CompositeImplicitAutogradNestedTensor,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)
"""Keys whose kernels work for any backend."""


def is_generic_dispatch_key(dk: DispatchKey) -> bool:
    """Return whether a kernel under this key works for any backend."""
    return dk in GENERIC_DISPATCH_KEYS


def is_cuda_dispatch_key(dk: DispatchKey) -> bool:
    """Return whether kernels under this key run on CUDA devices."""
    return dk in _CUDA_KEYS


def is_xpu_dispatch_key(dk: DispatchKey) -> bool:
    """Return whether kernels under this key run on XPU devices."""
    return dk in _XPU_KEYS


def is_structured_dispatch_key(dk: DispatchKey) -> bool:
    """Return whether the kernel of a structured operator under this key is a structured kernel."""
    return dk in STRUCTURED_DISPATCH_KEYS


def is_ufunc_dispatch_key(dk: DispatchKey) -> bool:
    """Return whether kernels under this key are generated from a ufunc's inner loop."""
    return dk in UFUNC_DISPATCH_KEYS


TORCH_DISPATCH_KEYS: Final = (
    DispatchKey.CPU,
    DispatchKey.SparseCPU,
    DispatchKey.SparseCsrCPU,
    DispatchKey.MkldnnCPU,
    DispatchKey.CUDA,
    DispatchKey.MPS,
    DispatchKey.XPU,
    DispatchKey.SparseXPU,
    DispatchKey.SparseCsrXPU,
    DispatchKey.SparseCUDA,
    DispatchKey.SparseCsrCUDA,
    DispatchKey.SparseMPS,
    DispatchKey.SparseCsrMPS,
    DispatchKey.QuantizedCPU,
    DispatchKey.QuantizedCUDA,
    DispatchKey.CompositeImplicitAutograd,
    DispatchKey.CompositeImplicitAutogradNestedTensor,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
    DispatchKey.NestedTensorCPU,
    DispatchKey.NestedTensorCUDA,
    DispatchKey.NestedTensorXPU,
    DispatchKey.NestedTensorHPU,
    DispatchKey.Meta,
    DispatchKey.SparseMeta,
    DispatchKey.SparseCsrMeta,
    DispatchKey.QuantizedMeta,
    DispatchKey.NestedTensorMeta,
    DispatchKey.ZeroTensor,
    DispatchKey.MTIA,
)
"""The keys that torch's own build registers kernels under, in the order in which it writes them.

The list is for all releases: where one has none of these kernels, its definitions name none. Only which keys need
`--xpu` differs (`Release.xpu_keys`).
"""

MPS_DISPATCH_KEYS: Final = (DispatchKey.MPS, DispatchKey.SparseMPS, DispatchKey.SparseCsrMPS)
"""The keys of torch that only a build for MPS has."""

MTIA_DISPATCH_KEYS: Final = (DispatchKey.MTIA,)
"""The keys of torch that only a build for MTIA has."""
