"""A generator in the style of a lazy backend's: node classes and kernels of its own, and a listing of its kernels.

answers(definitions, tags, folder) writes LazyIr.h, LazyNativeFunctions.cpp … and kernels.txt below the folder
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torchgen.dest.lazy_ir
from torchgen.api.lazy import LazyIrSchema, setValueT
from torchgen.api.types import BaseCppType, BaseCType, OptionalCType, VectorCType, boolT, kernel_signature
from torchgen.context import native_function_manager
from torchgen.dest.lazy_ir import GenLazyIR, GenLazyNativeFuncDefinition, GenTSLazyIR, aten_symbol, node_ctor_inputs
from torchgen.gen import _GLOBAL_PARSE_NATIVE_YAML_CACHE, get_grouped_native_functions, parse_native_yaml
from torchgen.gen_backend_stubs import parse_backend_yaml, run
from torchgen.gen_lazy_tensor import run_gen_lazy_tensor

BACKEND = """\
backend: Lazy
cpp_namespace: torch::lazy
full_codegen:
  - abs
  - add.Tensor
  - _softmax
  - clamp
  - topk
  - mean.dim
supported:
  - as_strided
  - clone
  - _copy_from
ir_gen:
  - silu
"""
DEVICE = """\
backend: PrivateUse1
cpp_namespace: my::device
supported:
  - abs.out
  - add.Tensor
  - empty.memory_format
symint:
  - empty.memory_format
"""

SHAPES = "include/torch/csrc/lazy/core/shape_inference.h"


@dataclass(frozen=True)
class MyIr(GenLazyIR):
    """Nodes that are lowered to the backend's own language."""

    def lowering_function(self, schema: Any) -> str:
        if not schema.properties.Lower:
            return ""
        flags = [a.name for a in schema.filtered_args() if a.lazy_type.cpp_type() == BaseCType(boolT).cpp_type()]
        optional = [a.name for a in schema.filtered_args() if isinstance(a.lazy_type, OptionalCType)]
        lists = [a.name for a in schema.filtered_args() if isinstance(a.lazy_type, VectorCType)]
        names = ", ".join([aten_symbol(schema), *flags, *optional, *lists])
        return f"MyOp Lower(MyContext* context) const override {{ return context->Lower({names}); }}"

    def create_function(self, schema: Any, node_ctor_args: str) -> str:
        return f"static NodePtr Create({node_ctor_args}) {{ return Make<{schema.node_name}>(); }}"

    def node_base_ctor_call(self, schema: Any) -> str:
        values = ", ".join(a.name for a in schema.filtered_args(values=True, scalars=False))
        return f"{self.node_base}({schema.node_name}::ClassOpKind(), {{{values}}}, {len(schema.returns)})"


@dataclass(frozen=True)
class MyKernels(GenLazyNativeFuncDefinition):
    """Kernels that say which node they make."""

    def build_ir_node(self, func: Any, schema: Any) -> str:
        sig = kernel_signature(func, self.backend_index)
        counts = f"{len(sig.arguments())}, {len(func.func.returns)}"
        return f"auto node = Make<{schema.node_name}>({node_ctor_inputs(schema)});\nUse({counts});"

    def metrics(self, func: Any, schema: Any) -> str:
        return f'COUNT("{schema.aten_name}");'


def answers(path: str, tags_path: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    lazy, device = folder.parent / "lazy.yaml", folder.parent / "device.yaml"
    lazy.write_text(BACKEND, encoding="utf-8")
    device.write_text(DEVICE, encoding="utf-8")
    torch = find_spec("torch")
    assert torch is not None
    shapes = Path((torch.submodule_search_locations or [""])[0], SHAPES)
    aten = str(Path(path).parents[1])
    kept = torchgen.dest.lazy_ir.gen_fallback_code
    torchgen.dest.lazy_ir.gen_fallback_code = lambda *args, **kwargs: "FALL_BACK();"
    try:
        run_gen_lazy_tensor(
            aten_path=aten,
            source_yaml=str(lazy),
            output_dir=str(folder / "own"),
            dry_run=False,
            impl_path=None,
            node_base="MyNode",
            node_base_hdr="my/node.h",
            tensor_class="MyTensor",
            shape_inference_hdr=str(shapes),
            lazy_ir_generator=MyIr,
            native_func_definition_generator=MyKernels,
            gen_forced_fallback_code=True,
            backend_name="Mine",
        )
    finally:
        torchgen.dest.lazy_ir.gen_fallback_code = kept
    run(str(device), str(folder / "stubs"), False)
    _GLOBAL_PARSE_NATIVE_YAML_CACHE.clear()
    parsed = parse_native_yaml(path, tags_path)
    grouped = get_grouped_native_functions(parsed.native_functions)
    described = parse_backend_yaml(str(device), grouped, dict(parsed.backend_indices))
    index = described.backend_indices[described.backend_key]
    setValueT(BaseCppType("my", "Value"))
    lines = [f"{described.backend_key} {described.autograd_key} {described.class_name} {described.cpp_namespace}"]
    for f in parsed.native_functions:
        if index.has_kernel(f):
            with native_function_manager(f):
                lines.append(f"{f.func.name} {index.get_kernel(f).kernel} {kernel_signature(f, index).decl()}")
            lines += GenTSLazyIR(index, "Mine", "MyNode", True).gen(LazyIrSchema(f.func, symint=True))
    (folder / "kernels.cpp").write_text("\n".join(lines), encoding="utf-8")
