"""A lazy backend → its files: the graph's nodes, and the kernels that create them.

    LazyIr.h                       a class for each operator of `full_codegen` and `ir_gen`
    LazyNonNativeIr.h              a class for each node of `non_native`
    <Key>NativeFunctions.cpp       the kernels of `full_codegen`

`opgen.backend` emits the class of the kernels and their registrations, as for any backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from opgen.api.lazy import NON_NATIVE_PROPERTIES, VALUE_CLASS
from opgen.backend.backend_yaml import ExternalBackend
from opgen.frozen_dataclass import dataclass
from opgen.lazy.kernels import GenLazyNativeFuncDefinition
from opgen.lazy.nodes import GenLazyIR, non_native_schema
from opgen.model import NativeFunction, NativeFunctionsGroup, OperatorName
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program

IR_HEADER: Final = "LazyIr.h"
NON_NATIVE_HEADER: Final = "LazyNonNativeIr.h"
KERNELS_TEMPLATE: Final = "DispatchKeyNativeFunctions.cpp"

_LAZY_NAMESPACE: Final = ("torch", "lazy")

_IR_INCLUDES: Final = (
    "ATen/core/Formatting.h",
    "c10/core/ScalarType.h",
    "torch/csrc/lazy/core/hash.h",
    "torch/csrc/lazy/core/ir.h",
    "torch/csrc/lazy/core/shape.h",
    "optional",
    "vector",
)
_NON_NATIVE_INCLUDES: Final = (
    "torch/csrc/lazy/core/ir.h",
    "torch/csrc/lazy/core/ir_builder.h",
    "torch/csrc/lazy/core/internal_ops/ltc_ops.h",
    "torch/csrc/lazy/core/shape_inference.h",
)
_KERNEL_INCLUDES: Final = (
    "ATen/Functions.h",
    "ATen/native/TensorConversions.h",
    "ATen/NativeFunctions.h",
    "ATen/CompositeExplicitAutogradNonFunctionalFunctions.h",
    "ATen/MetaFunctions.h",
    "ATen/Operators.h",
    "ATen/native/CPUFallback.h",
    "torch/csrc/lazy/core/ir_builder.h",
    "torch/csrc/lazy/core/lazy_graph_executor.h",
    "torch/csrc/lazy/core/metrics.h",
    "torch/csrc/lazy/core/shape.h",
)
_FALLBACK_INCLUDE: Final = "torch/csrc/lazy/ts_backend/ts_eager_fallback.h"


@dataclass(frozen=True, slots=True)
class LazyStyle:
    """The C++ names of a lazy backend, and what to generate."""

    output_dir: str
    """The path of the output folder in includes."""
    backend_name: str = "TorchScript"
    node_base: str = "Node"
    """The class that nodes derive from."""
    node_base_hdr: str | None = None
    tensor_class: str = "torch::lazy::LazyTensor"
    tensor_class_hdr: str = "torch/csrc/lazy/core/tensor.h"
    shape_inference_hdr: str | None = "torch/csrc/lazy/core/shape_inference.h"
    """The header that declares the handwritten shape functions."""
    gen_forced_fallback_code: bool = False
    use_lazy_shape: bool = True
    backend_namespace: str = "torch::lazy"
    get_tensorlist: str = "GetTensorList"
    get_tensor_or_wrap_number: str = "GetLtcTensorOrCreateForWrappedNumber"
    try_get_tensor: str = "TryGetLtcTensor"
    metrics_counter: str = 'TORCH_LAZY_FN_COUNTER("lazy::")'
    create_tensor: str = "LazyTensor::Create"
    create_from_first_tensor: bool = False
    create_aten_from_ltc_tensor: str = "torch::lazy::CreateAtenFromLtcTensor"
    tuple_aten_from_ltc_tensors: str = "torch::lazy::TupleAtenFromLtcTensors"
    lazy_value_class: str = VALUE_CLASS
    lazy_tensor_ptr: str = "LazyTensorPtr"
    get_device_fn: str = "torch::lazy::GetBackendDevice"


@dataclass(frozen=True, slots=True)
class LazyGenerators:
    """The classes that generate nodes and kernels; a backend may use subclasses."""

    nodes: type[GenLazyIR]
    kernels: type[GenLazyNativeFuncDefinition]


def emit_ir(
    backend: ExternalBackend, program: Program, templates: TemplateSet, style: LazyStyle, generators: LazyGenerators
) -> Iterator[OutputFile]:
    """Yield the classes of the operators' nodes."""
    generator = _node_generator(backend, program, style, generators)
    functions = _named(program, (*backend.full_codegen, *backend.ir_gen))
    classes = [text for function in functions for text in generator(function)]
    base = [f'#include "{style.node_base_hdr}"'] if style.node_base_hdr is not None else []
    env = {
        "lazy_ir_sysinc": _includes(_IR_INCLUDES),
        "lazy_ir_inc": base,
        "ir_declarations": [*_using(backend), *classes],
        **_namespace(backend),
    }
    yield OutputFile(IR_HEADER, templates.render(IR_HEADER, env))


def emit_non_native_ir(
    backend: ExternalBackend, program: Program, templates: TemplateSet, style: LazyStyle, generators: LazyGenerators
) -> Iterator[OutputFile]:
    """Yield the classes of the backend's own nodes."""
    generator = _node_generator(backend, program, style, generators)
    schemas = [non_native_schema(node, NON_NATIVE_PROPERTIES, style.lazy_value_class) for node in backend.non_native]
    classes = [text for schema in schemas for text in generator.gen(schema)]
    base = () if style.node_base_hdr is None else (style.node_base_hdr,)
    # kNullValue, for a missing operand, is declared in LazyIr.h.
    other = (f"{style.output_dir}/{IR_HEADER}",) if any("kNullValue" in text for text in classes) else ()
    env = {
        "lazy_non_native_ir_inc": _includes((*_NON_NATIVE_INCLUDES, *base, *other)),
        "non_native_ir_nodes": [*_using(backend), *classes],
        **_namespace(backend),
    }
    yield OutputFile(NON_NATIVE_HEADER, templates.render(NON_NATIVE_HEADER, env))


def emit_kernels(
    backend: ExternalBackend, program: Program, templates: TemplateSet, style: LazyStyle, generators: LazyGenerators
) -> Iterator[OutputFile]:
    """Yield the generated kernels; nothing if the backend has no kernels."""
    if not backend.indices:
        return
    generator = _kernel_generator(backend, style, generators)
    kernels = [text for function in _named(program, backend.full_codegen) for text in generator(function)]
    fallback = (_FALLBACK_INCLUDE,) if style.gen_forced_fallback_code else ()
    shapes = () if style.shape_inference_hdr is None else (style.shape_inference_hdr,)
    own = (f"{style.output_dir}/{backend.key}NativeFunctions.h", f"{style.output_dir}/{IR_HEADER}", *fallback)
    env = {
        "includes": _includes((style.tensor_class_hdr, *shapes, *_KERNEL_INCLUDES, *own)),
        "native_functions_include": "",
        "helper_fns": _TO_META,
        "native_function_definitions": [*_using(backend), *kernels],
        **_namespace(backend),
    }
    yield OutputFile(f"{backend.key}NativeFunctions.cpp", templates.render(KERNELS_TEMPLATE, env))


def _node_generator(
    backend: ExternalBackend, program: Program, style: LazyStyle, generators: LazyGenerators
) -> GenLazyIR:
    return generators.nodes(
        backend.index,
        style.backend_name,
        style.node_base,
        style.use_lazy_shape,
        style.lazy_value_class,
        program.release.lazy_nodes_move_text,
    )


def _kernel_generator(
    backend: ExternalBackend, style: LazyStyle, generators: LazyGenerators
) -> GenLazyNativeFuncDefinition:
    return generators.kernels(
        class_method_name=backend.class_name,
        backend_index=backend.index,
        tensor_class=style.tensor_class,
        gen_forced_fallback_code=style.gen_forced_fallback_code,
        backend_namespace=style.backend_namespace,
        get_tensorlist=style.get_tensorlist,
        get_tensor_or_wrap_number=style.get_tensor_or_wrap_number,
        try_get_tensor=style.try_get_tensor,
        metrics_counter=style.metrics_counter,
        create_tensor=style.create_tensor,
        create_from_first_tensor=style.create_from_first_tensor,
        create_aten_from_ltc_tensor=style.create_aten_from_ltc_tensor,
        tuple_aten_from_ltc_tensors=style.tuple_aten_from_ltc_tensors,
        lazy_tensor_ptr=style.lazy_tensor_ptr,
        get_device_fn=style.get_device_fn,
        value_class=style.lazy_value_class,
    )


def in_lazy_order(program: Program) -> Program:
    """Return the program with its groups sorted by the functional forms' names without overloads."""

    def name(item: NativeFunction | NativeFunctionsGroup) -> str:
        function = item if isinstance(item, NativeFunction) else item.functional
        return str(function.func.name.name)

    return replace(program, grouped=tuple(sorted(program.grouped, key=name)))


def _named(program: Program, names: Iterable[OperatorName]) -> Iterator[NativeFunction]:
    """Return the functions with these names, group by group."""
    wanted = frozenset(names)
    for item in program.grouped:
        forms = (item,) if isinstance(item, NativeFunction) else item.functions()
        yield from (form for form in forms if form.func.name in wanted)


def _includes(headers: Iterable[str]) -> list[str]:
    return [f"#include <{header}>" for header in headers]


def _namespace(backend: ExternalBackend) -> Mapping[str, object]:
    names = backend.cpp_namespace.split("::")
    return {
        "namespace_prologue": "\n".join(f"namespace {name} {{" for name in names),
        "namespace_epilogue": "\n".join(f"}} // namespace {name}" for name in reversed(names)),
        "generated_comment": "@generated by opgen from a backend YAML",
    }


def _using(backend: ExternalBackend) -> list[str]:
    """Return the declarations that import the names of torch's lazy tensors into the backend's namespace."""
    inside = tuple(backend.cpp_namespace.split("::")[:2]) == _LAZY_NAMESPACE
    return [] if inside else ["using namespace torch::lazy;"]


_TO_META: Final = """
// The same size, strides and type, without data. A wrapped number stays one, as types are promoted by that.
at::Tensor to_meta(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  auto out = at::native::empty_strided_meta_symint(tensor.sym_sizes(), tensor.sym_strides(),
      tensor.scalar_type(), tensor.layout(), c10::Device(c10::kMeta), std::nullopt);
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    out.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return out;
}
std::optional<at::Tensor> to_meta(const std::optional<at::Tensor>& tensor) {
  if (tensor.has_value()) {
    return to_meta(*tensor);
  }
  return std::nullopt;
}
std::vector<at::Tensor> to_meta(at::ITensorListRef t_list) {
  std::vector<at::Tensor> outs;
  outs.reserve(t_list.size());
  for (const auto& tensor : t_list) {
    outs.push_back(to_meta(tensor));
  }
  return outs;
}"""
