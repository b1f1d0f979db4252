"""An operator or group and a key's kernels → wrappers, their registrations, and the key's own functions.

    RegisterDispatchKey(index, Target.REGISTRATION, selector, …)(group)     # ['m.impl("abs", TORCH_FN(…));', …]

Programs subclass these two and override methods; each method calls the others through `self`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

from opgen.api.translate import call_arguments
from opgen.as_torchgen.api.types.signatures import (
    CppSignatureGroup,
    DispatcherSignature,
    NativeSignature,
    kernel_signature,
)
from opgen.as_torchgen.context import native_function_manager
from opgen.as_torchgen.errors import asserted
from opgen.as_torchgen.programs import program_of
from opgen.as_torchgen.utils import Target
from opgen.dest.cpp_text import string_literal
from opgen.dest.device_guards import check_devices, device_guard
from opgen.dest.group_kernels import KernelKind, implemented_forms
from opgen.dest.kernel_calls import KernelCalls, block
from opgen.dest.native_functions import EXPORT
from opgen.dest.register_functional import wrap_functional
from opgen.dest.register_helpers import helper_functions, helper_includes
from opgen.dest.register_structured import (
    StructuredClass,
    assemble_class,
    class_of,
    constructor,
    constructor_arguments,
    kernel_calls,
    result_statements,
    set_output_body,
    set_output_function,
)
from opgen.dest.register_unstructured import wrap_meta_inplace
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BackendIndex,
    DeviceCheckType,
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
    SchemaKind,
)
from opgen.program.program import Options
from opgen.selective_build.selector import SelectiveBuilder

_GUARDED_KEYS: Final = frozenset(
    {
        DispatchKey.CUDA,
        DispatchKey.CompositeExplicitAutogradNonFunctional,
        DispatchKey.MPS,
        DispatchKey.MTIA,
        DispatchKey.XPU,
    }
)
"""Keys whose structured kernels have a device guard.  A backend that adds a key adds its own, as with torchgen."""

Signature: TypeAlias = NativeSignature | DispatcherSignature


def gen_registration_headers(backend_index: BackendIndex, per_operator_headers: bool, rocm: bool) -> list[str]:
    """Return the includes that the helpers need."""
    options = Options(install_dir=Path(), per_operator_headers=per_operator_headers, rocm=rocm)
    return helper_includes(backend_index.dispatch_key, options)


def gen_registration_helpers(backend_index: BackendIndex) -> list[str]:
    """Return the functions that registrations call."""
    return helper_functions(backend_index.dispatch_key)


@dataclass(frozen=True, slots=True)
class RegisterDispatchKey:
    """Generates the code `target` for one key."""

    backend_index: BackendIndex
    target: Target
    selector: SelectiveBuilder
    rocm: bool
    symint: bool
    """Whether wrappers take `c10::SymInt` for `SymInt` in schemas."""
    class_method_name: str | None
    """The class that kernels are static members of; None if they are functions."""
    skip_dispatcher_op_registration: bool

    @staticmethod
    def gen_device_check(type: DeviceCheckType, args: list[Argument], method_name: str) -> str:
        """Return the statements that check that all tensors are on the same device."""
        if type is DeviceCheckType.NoCheck:
            return "  // No device check\n"
        return block(check_devices(args, method_name))

    @asserted()
    def __call__(self, f: NativeFunctionsGroup | NativeFunction) -> list[str]:
        """Return the code for an operator, or for each form of a group."""
        with native_function_manager(f):
            if isinstance(f, NativeFunction):
                made: Sequence[str | None] = [self.gen_unstructured(f)]
            elif f.structured and self._serves_structured(f):
                made = self.gen_structured(f)
            else:
                made = [self.gen_unstructured(form, f) for form in f.functions()]
        return [text for text in made if text is not None]

    def _calls(self) -> KernelCalls:
        return KernelCalls(program_of(self.selector), rocm=self.rocm)

    def _serves_structured(self, g: NativeFunctionsGroup) -> bool:
        return any(kind is KernelKind.STRUCTURED for _, kind in implemented_forms(g, self.backend_index))

    def wrapper_kernel_sig(self, f: NativeFunction) -> Signature:
        """Return the signature of the wrapper of `f`."""
        prefix = f"wrapper_{self.backend_index.dispatch_key}_{f.func.name.overload_name}_"
        return DispatcherSignature.from_schema(f.func, prefix=prefix, symint=self.symint)

    def gen_structured(self, g: NativeFunctionsGroup) -> list[str]:
        """Return the code for the forms of a group with structured kernels."""
        generator = StructuredRegisterDispatchKey(
            self.backend_index,
            self.target,
            self.selector,
            self.rocm,
            self.symint,
            self.class_method_name,
            self.skip_dispatcher_op_registration,
            g,
        )
        made = map(generator.gen_one, g.functions())
        return [text for text in made if text is not None]

    def gen_out_inplace_wrapper(self, f: NativeFunction, g: NativeFunctionsGroup | None) -> str | None:
        """Return the wrapper of an out or in-place form that calls the functional kernel; None without a group."""
        if g is None:
            return None
        return wrap_functional(self._calls(), g, f, self.backend_index).definition

    def gen_unstructured(self, f: NativeFunction, g: NativeFunctionsGroup | None = None) -> str | None:
        """Return the code for an operator with its own kernel; None if it has none."""
        with native_function_manager(f):
            kind = {form.func.name: by for form, by in implemented_forms(g or f, self.backend_index)}.get(f.func.name)
            if kind is None:
                return None
            if self.target is not Target.ANONYMOUS_DEFINITION:
                return self._around(f, self.wrapper_kernel_sig(f))
            if kind is KernelKind.META_INPLACE:
                return wrap_meta_inplace(self._calls(), f, self.backend_index).definition
            if kind is KernelKind.FUNCTIONAL:
                return self.gen_out_inplace_wrapper(f, g)
            return self._wrapper(f)

    def _wrapper(self, f: NativeFunction) -> str:
        index, signature = self.backend_index, self.wrapper_kernel_sig(f)
        kernel, name = index.index[f.func.name], signature.name()
        member = f"{self.class_method_name}::" if self.class_method_name else ""
        arguments = call_arguments(signature.arguments(), kernel_signature(f, index).arguments())
        checked = [*f.func.arguments.out, *f.func.arguments.flat_positional]
        check = self.gen_device_check(f.device_check, checked, name) if index.device_guard else ""
        statements = [
            *device_guard(f, index),
            f"return {kernel.cpp_namespace}::{member}{kernel.kernel}({arguments});",
        ]
        return f"namespace {{\n\n{signature.defn()} {{\n{check}{block(statements)}}}\n\n}} // anonymous namespace\n"

    def _around(self, f: NativeFunction, wrapper: Signature) -> str | None:
        """Return the code that uses the wrapper: its registration, or the key's functions that call it."""
        group = CppSignatureGroup.from_native_function(f, method=False, fallback_binding=False)
        if self.target is Target.NAMESPACED_DECLARATION:
            return "".join(f"{EXPORT} {signature.decl()};\n" for signature in group.signatures())
        if self.target is Target.NAMESPACED_DEFINITION:
            arguments = wrapper.arguments()
            return "".join(
                f"\n{each.defn()} {{\nreturn {wrapper.name()}({call_arguments(each.arguments(), arguments)});\n}}\n"
                for each in group.signatures()
            )
        if self.target is not Target.REGISTRATION:
            raise AssertionError(f"'{self.target.name}' is not a part of kernel wrappers")
        is_selected = self.selector.is_native_function_selected(f)
        if self.skip_dispatcher_op_registration or f.manual_kernel_registration or not is_selected:
            return None
        return f"m.impl({string_literal(str(f.func.name))},\nTORCH_FN({wrapper.name()}));\n"


@dataclass(frozen=True, slots=True)
class StructuredRegisterDispatchKey(RegisterDispatchKey):
    """Generates the same for the forms of a group with structured kernels."""

    g: NativeFunctionsGroup

    def _class(
        self, k: SchemaKind, name: str, parent: str, delegates: bool, returns: int | None = None
    ) -> StructuredClass:
        outputs = len(self.g.out.func.returns) if returns is None else returns
        key, calls = self.backend_index.dispatch_key, self._calls()
        guard = calls.guard_class(key) if key in _GUARDED_KEYS else None
        has_names = calls.program.release.named_dimensions
        return StructuredClass(name, parent, key, k, outputs, delegates, has_names, guard)

    def gen_class_set_output_functions(self, k: SchemaKind, parent_class: str, generate_super: bool) -> str:
        """Return the two methods with which the meta function sets an output."""
        made = self._class(k, "", parent_class, generate_super)
        return "\n".join(
            set_output_function(method, made, [self.gen_class_set_output_body(k, proxy)])
            for method, proxy in (("set_output_strided", True), ("set_output_raw_strided", False))
        )

    def gen_class_set_output_body(self, k: SchemaKind, maybe_create_proxy: bool) -> str:
        """Return the statements that provide an output."""
        key = self.backend_index.dispatch_key
        guarded = key if key in _GUARDED_KEYS else None
        return "\n".join(set_output_body(guarded, k, may_restride=maybe_create_proxy))

    def gen_class_ctor(self, k: SchemaKind, class_name: str, returns: int) -> str:
        """Return the constructor; empty if it has no parameters."""
        return constructor(self._class(k, class_name, "", False, returns))

    def gen_class(
        self, f: NativeFunction, k: SchemaKind, *, class_name: str, parent_class: str, generate_super: bool
    ) -> str:
        """Return the class that provides the outputs of one form."""
        returns = len(f.func.returns)
        made = self._class(k, class_name, parent_class, generate_super, returns)
        functions = self.gen_class_set_output_functions(k, parent_class, generate_super)
        return assemble_class(made, self.gen_class_ctor(k, class_name, returns), functions)

    @asserted()
    def gen_one(self, f: NativeFunction) -> str | None:
        """Return the code for one form; None if there is none."""
        index, calls = self.backend_index, self._calls()
        calls_out = index.dispatch_key is DispatchKey.CompositeExplicitAutogradNonFunctional
        if f.manual_kernel_registration or (calls_out and f is self.g.out):
            return None
        with native_function_manager(f):
            wrapper = kernel_signature(f, index, prefix=f"wrapper_{index.dispatch_key}_")
            if self.target is not Target.ANONYMOUS_DEFINITION:
                return self._around(f, wrapper)
            made = class_of(calls, self.g, f, index)
            text = self.gen_class(
                f, made.kind, class_name=made.name, parent_class=made.parent, generate_super=made.delegates
            )
            checked = [*f.func.arguments.out, *f.func.arguments.flat_positional]
            check = self.gen_device_check(f.device_check, checked, wrapper.name()) if index.device_guard else ""
            statements = [
                f"{made.name} op{constructor_arguments(f)};",
                *kernel_calls(calls, self.g, f, index),
                *result_statements(f, made.outputs),
            ]
            return f"{text}\n\n{wrapper.defn()} {{\n{check}{block(statements)}}}\n"
