"""Operators → the functions that compute the shapes of their results.

For structured operators and copies of views, the operator itself computes the shapes, on meta tensors.  For all
others the backend's author writes a shape function, which a header must declare:

    TORCH_API std::vector<torch::lazy::Shape> compute_shape_bincount(const at::Tensor & self, …);
"""

from __future__ import annotations

from opgen.api.dispatcher import DispatcherSignature
from opgen.api.native import NativeSignature
from opgen.api.signatures import kernel_signature
from opgen.api.types import render_decls
from opgen.frozen_dataclass import dataclass
from opgen.model import BackendIndex, NativeFunction

VIEW_COPY_TAG = "view_copy"


@dataclass(frozen=True, slots=True)
class ComputeShapeSignature:
    """The signature of a handwritten shape function."""

    kernel: str
    """The name of the operator's kernel."""
    signature: DispatcherSignature | NativeSignature
    """The signature of the operator's kernel, which has the same parameters."""

    @property
    def name(self) -> str:
        """The function's name."""
        return f"compute_shape_{self.kernel}"

    @property
    def shape_decl(self) -> str:
        """The declaration, without its semicolon."""
        parameters = render_decls(self.signature.arguments)
        return f"TORCH_API std::vector<torch::lazy::Shape> {self.name}({parameters})"

    @property
    def shape_call(self) -> str:
        """The call in the operator's kernel."""
        return f"torch::lazy::{self.name}({', '.join(binding.name for binding in self.signature.arguments)})"


@dataclass(frozen=True, slots=True)
class GenLazyShapeInferenceDefinition:
    """Finds the shape functions that must be handwritten."""

    backend_index: BackendIndex
    tensor_class: str

    def __call__(self, function: NativeFunction) -> list[str]:
        """Return the declaration of the function for an operator, if there must be one."""
        signature = shape_signature(function, self.backend_index)
        return [] if signature is None else [f"{signature.shape_decl};"]


def meta_namespace(function: NativeFunction) -> str | None:
    """Return the namespace with the operator on meta tensors; None if there is none."""
    if function.structured or function.structured_delegate is not None:
        return "at::meta"
    is_copy = VIEW_COPY_TAG in function.tags and function.has_composite_explicit_autograd_non_functional_kernel
    return "at::compositeexplicitautogradnonfunctional" if is_copy else None


def shape_signature(function: NativeFunction, backend_index: BackendIndex) -> ComputeShapeSignature | None:
    """Return the handwritten shape function of an operator; None if none is needed."""
    kernel = backend_index.get_kernel(function)
    if kernel is None or meta_namespace(function) is not None:
        return None
    return ComputeShapeSignature(kernel.kernel, kernel_signature(function, backend_index))
