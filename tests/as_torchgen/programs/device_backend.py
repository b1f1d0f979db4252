"""A generator in the style of a device backend's: registrations with its own wrappers, under a key that it adds.

answers(definitions, tags, folder) writes RegisterPrivateUse1.cpp, Native.h and Functions.h below the folder
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torchgen import dest, model
from torchgen.api import structured
from torchgen.api.translate import translate
from torchgen.api.types import CppSignatureGroup, DispatcherSignature, Expr, MutRefCType, NamedCType, NativeSignature
from torchgen.context import native_function_manager
from torchgen.dest.register_dispatch_key import StructuredRegisterDispatchKey
from torchgen.gen import compute_meta_function_declaration, get_grouped_native_functions, parse_native_yaml
from torchgen.model import (
    BackendIndex,
    BackendMetadata,
    DeviceCheckType,
    DispatchKey,
    NativeFunctionsGroup,
    OperatorName,
    SchemaKind,
)
from torchgen.selective_build.selector import SelectiveBuilder
from torchgen.utils import Target, assert_never, concatMap, mapMaybe

KERNELS = ("abs.out", "add.out", "mm.out", "topk.values", "clone", "empty.memory_format", "as_strided", "fill_.Scalar")
TARGETS = (Target.ANONYMOUS_DEFINITION, Target.REGISTRATION, Target.NAMESPACED_DEFINITION)


@dataclass(frozen=True)
class RegisterMine(dest.RegisterDispatchKey):
    """Wrappers that count calls."""

    @staticmethod
    def gen_device_check(type: Any, args: Any, method_name: str) -> str:
        if type == DeviceCheckType.NoCheck:
            return "\n"
        return f'  check("{method_name}", {{{", ".join(a.name for a in args if a.type.is_tensor_like())}}});\n'

    def gen_unstructured(self, f: Any, g: Any = None) -> str | None:
        if self.target is Target.REGISTRATION and not f.manual_kernel_registration:
            made = dest.RegisterDispatchKey.gen_unstructured(self, f, g)
            return None if made is None else f"MINE({f.func.name.unambiguous_name()}) {made}"
        if self.target is Target.ANONYMOUS_DEFINITION and self.backend_index.has_kernel(f):
            sig = self.wrapper_kernel_sig(f)
            native = NativeSignature(f.func, symint=False)
            arguments = ", ".join(e.expr for e in translate(sig.arguments(), native.arguments()))
            kernel = self.backend_index.get_kernel(f)
            return f"{sig.defn()} {{ COUNT(); return {kernel.cpp_namespace}::{kernel.kernel}({arguments}); }}\n"
        return dest.RegisterDispatchKey.gen_unstructured(self, f, g)

    def gen_structured(self, g: Any) -> list[str]:
        fields = (self.backend_index, self.target, self.selector, self.rocm, self.symint)
        inner = StructuredMine(*fields, self.class_method_name, self.skip_dispatcher_op_registration, g)
        return list(mapMaybe(inner.gen_one, g.functions()))


@dataclass(frozen=True)
class StructuredMine(StructuredRegisterDispatchKey):
    """Classes that provide outputs with the backend's own functions."""

    def gen_class_set_output_body(self, k: Any, maybe_create_proxy: bool) -> str:
        if k is SchemaKind.functional:
            return "outputs_[output_idx] = my_create(sizes, strides, options);"
        if k is SchemaKind.inplace or k is SchemaKind.out:
            return f"my_resize(outputs_[output_idx].get(), sizes, {str(maybe_create_proxy).lower()});"
        return "my_fail();"


def kernel_of(name: Any) -> str:
    return f"my_{name.unambiguous_name()}"


def index_of(functions: Any, key: Any, *, structured_kernels: bool) -> Any:
    names = [OperatorName.parse(name) for name in KERNELS]
    found = {f.func.name: f for f in functions}
    kernels = {
        name: BackendMetadata(
            f"my_{name.unambiguous_name()}", found[name].structured and structured_kernels, "my::native"
        )
        for name in names
    }
    return BackendIndex(key, True, True, False, kernels)


def impl_text(g: Any) -> str:
    """The declaration of a structured kernel, with the meta function's class above it."""
    kernel = f"struct my_{g.out.func.name.unambiguous_name()} {{"
    parts = ", ".join(b.decl() for b in structured.impl_arguments(g))
    outs = [
        Expr(f"out{at}", NamedCType(b.nctype.name, MutRefCType(b.nctype.type.remove_const_ref())))
        for at, b in enumerate(structured.out_arguments(g))
    ]
    given = ", ".join(f"{e.type.cpp_type()} {e.expr}" for e in outs)
    return f"{compute_meta_function_declaration(g)}\n{kernel} void impl({parts}); void given({given}); }};"


def answers(path: str, tags_path: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    parsed = parse_native_yaml(path, tags_path)
    key = DispatchKey.PrivateUse1
    model.dispatch_keys.append(key)
    model.STRUCTURED_DISPATCH_KEYS.add(key)
    try:
        write(parsed, key, folder)
    finally:
        model.dispatch_keys.remove(key)
        model.STRUCTURED_DISPATCH_KEYS.remove(key)


def write(parsed: Any, key: Any, folder: Path) -> None:
    grouped = [g for g in get_grouped_native_functions(parsed.native_functions) if is_mine(g)]
    index = index_of(parsed.native_functions, key, structured_kernels=True)
    parsed.backend_indices[key] = index
    selector = SelectiveBuilder.get_nop_selector()
    text = [f"// {', '.join(str(each) for each in model.dispatch_keys if each in parsed.backend_indices)}"]
    for target in TARGETS:
        register = RegisterMine(index, target, selector, False, True, None, False)
        text += list(concatMap(register, grouped))
        external = replace(index_of(parsed.native_functions, key, structured_kernels=False), external=True)
        plain = dest.RegisterDispatchKey(
            external, target, selector, False, True, external.native_function_class_name(), False
        )
        text += list(concatMap(plain, [g for g in grouped if not isinstance(g, NativeFunctionsGroup)]))
    (folder / f"Register{key}.cpp").write_text("\n".join(text), encoding="utf-8")
    headers = list(concatMap(lambda g: dest.compute_native_function_declaration(g, index), grouped))
    headers += [impl_text(g) for g in grouped if isinstance(g, NativeFunctionsGroup) and g.structured]
    (folder / "Native.h").write_text("\n".join(headers), encoding="utf-8")
    calls = []
    for g in grouped:
        for f in g.functions() if isinstance(g, NativeFunctionsGroup) else (g,):
            with native_function_manager(f):
                sigs = CppSignatureGroup.from_native_function(f, method=False)
                wanted = DispatcherSignature.from_schema(f.func).arguments()
                for sig in sigs.signatures():
                    given = ", ".join(e.expr for e in translate(sig.arguments(), wanted))
                    calls.append(f"{sig.defn(prefix='my_')} {{ call({given}); }}")
    (folder / "Functions.h").write_text("\n".join(calls), encoding="utf-8")
    assert callable(assert_never)


def is_mine(g: Any) -> bool:
    functions = g.functions() if isinstance(g, NativeFunctionsGroup) else (g,)
    return any(str(f.func.name) in KERNELS for f in functions)
