"""One operator → all its signatures, each derived when first used and then memoized.

Emitters share signatures, so a program has one `Signatures` per operator, one `GroupSignatures` per
group and one `ViewGroupSignatures` per view group.  They only memoize what the modules of the calling
conventions derive.

    signatures = Signatures(function)
    signatures.dispatcher.defn("wrapper_CPU_add_Tensor")
"""

from __future__ import annotations

from functools import cached_property

from opgen.api import cpp, functionalization, meta, structured
from opgen.api.cpp import CppSignature, CppSignatureGroup
from opgen.api.dispatcher import DispatcherSignature
from opgen.api.functionalization import ViewInverseSignature, ViewMeta
from opgen.api.native import NativeSignature
from opgen.api.structured import StructuredImplSignature
from opgen.api.types import Binding, TypePolicy
from opgen.model import BackendIndex, NativeFunction, NativeFunctionsGroup, NativeFunctionsViewGroup

__all__ = [
    "CppSignature",
    "CppSignatureGroup",
    "DispatcherSignature",
    "GroupSignatures",
    "NativeSignature",
    "Signatures",
    "StructuredImplSignature",
    "ViewGroupSignatures",
    "ViewInverseSignature",
    "ViewMeta",
    "kernel_signature",
]


class Signatures:
    """The signatures of one operator."""

    def __init__(self, function: NativeFunction) -> None:
        self.function = function
        self.func = function.func

    @cached_property
    def schema(self) -> str:
        """The operator's schema as text, without its namespace."""
        return str(self.func)

    @cached_property
    def policy(self) -> TypePolicy:
        """The operator's policy for its C++ types."""
        return TypePolicy.from_function(self.function)

    @cached_property
    def has_symint(self) -> bool:
        """Whether an argument has type `SymInt` or contains it; without, symint signatures equal the plain ones."""
        return self.func.has_symint()

    @cached_property
    def cpp(self) -> CppSignatureGroup:
        """The functions of namespace `at`; named `__dispatch_…` if the real ones are handwritten."""
        return CppSignatureGroup.from_native_function(
            self.function, method=False, fallback_binding=self.function.manual_cpp_binding
        )

    @cached_property
    def cpp_method(self) -> CppSignatureGroup:
        """The methods of `Tensor`; named `__dispatch_…` if the real ones are handwritten."""
        return self.cpp.as_methods()

    @cached_property
    def cpp_backend(self) -> CppSignatureGroup:
        """The functions of a backend's namespace, `at::cpu`: as in `at`, always under the usual name."""
        if not self.function.manual_cpp_binding:
            return self.cpp
        return CppSignatureGroup.from_native_function(self.function, method=False)

    @cached_property
    def dispatcher(self) -> DispatcherSignature:
        """The dispatcher's signature with `c10::SymInt`."""
        return DispatcherSignature.derive(self.function)

    @cached_property
    def dispatcher_nosymint(self) -> DispatcherSignature:
        """The dispatcher's signature with plain integers."""
        if not self.has_symint:
            return self.dispatcher
        return DispatcherSignature.derive(self.function, symint=False)

    @cached_property
    def native(self) -> NativeSignature:
        """A kernel's signature with plain integers."""
        return NativeSignature.derive(self.function, symint=False)

    @cached_property
    def native_symint(self) -> NativeSignature:
        """A kernel's signature with `c10::SymInt`."""
        if not self.has_symint:
            return self.native
        return NativeSignature.derive(self.function, symint=True)

    @cached_property
    def return_names(self) -> tuple[str, ...]:
        """The names of the returned values; `result` if the schema has none."""
        return cpp.return_names(self.function)

    @cached_property
    def view_meta(self) -> ViewMeta:
        """The class with which functionalization replays the operator, a view."""
        return ViewMeta.derive(self.function)

    def kernel(self, backend_index: BackendIndex) -> NativeSignature | DispatcherSignature:
        """Return the signature of the operator's kernel under a dispatch key, as its author declares it.

        An external backend's kernel has the dispatcher's signature, any other a native one.  Kernels take plain
        integers unless their names contain `_symint`.
        """
        kernel = backend_index.get_kernel(self.function)
        symint = kernel is not None and kernel.supports_symint()
        if backend_index.external:
            return self.dispatcher if symint else self.dispatcher_nosymint
        return self.native_symint if symint else self.native


def kernel_signature(function: NativeFunction, backend_index: BackendIndex) -> NativeSignature | DispatcherSignature:
    """Return `Signatures.kernel` for a function whose signatures are not memoized."""
    return Signatures(function).kernel(backend_index)


class GroupSignatures:
    """The signatures of a group's structured kernels."""

    def __init__(self, group: NativeFunctionsGroup) -> None:
        self.group = group

    @cached_property
    def meta_name(self) -> str:
        """The name of the class of the meta function, without `structured_`."""
        return meta.name(self.group)

    @cached_property
    def meta_arguments(self) -> tuple[Binding, ...]:
        """The parameters of the meta function."""
        return structured.meta_arguments(self.group)

    @cached_property
    def impl_arguments(self) -> tuple[Binding, ...]:
        """The parameters of the impl function."""
        return structured.impl_arguments(self.group)

    @cached_property
    def out_arguments(self) -> tuple[Binding, ...]:
        """The parameters for the out arguments."""
        return structured.out_arguments(self.group)

    def impl(self, name: str) -> StructuredImplSignature:
        """Return the signature of the kernel `name`."""
        return StructuredImplSignature(name, self.impl_arguments)


class ViewGroupSignatures:
    """The signatures that functionalization uses for a view."""

    def __init__(self, group: NativeFunctionsViewGroup) -> None:
        self.group = group

    @cached_property
    def inverse(self) -> ViewInverseSignature:
        """The handwritten function that inverts the view."""
        return ViewInverseSignature.derive(self.group)

    @cached_property
    def replay_name(self) -> str:
        """The function that replays the view."""
        return functionalization.forward_name(self.group, reapply_views=True)

    @cached_property
    def copy_name(self) -> str:
        """The function that copies instead of viewing."""
        return functionalization.forward_name(self.group, reapply_views=False)

    @cached_property
    def reverse_name(self) -> str:
        """The qualified name of the function that inverts the view."""
        return functionalization.reverse_name(self.group.view, include_namespace=True)
