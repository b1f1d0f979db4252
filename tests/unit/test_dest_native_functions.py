"""The declarations of kernels and of meta functions."""

# ruff: noqa: E501  (generated C++ is as long as it is)

from __future__ import annotations

from expecttest import assert_expected_inline

from opgen.commands.gen import Emit
from opgen.dest.meta_functions import emit_meta_headers
from opgen.dest.native_functions import emit_native_headers
from opgen.output.template import TemplateSet
from tests.unit.tiny_programs import options_of, program_of

TEMPLATES = {
    "NativeFunctions.h": "$NativeFunctions_includes\n$NativeFunctions_declarations\n",
    "NativeFunction.h": "$extra_includes\n$native_function_declarations\n",
    "NativeMetaFunctions.h": "$NativeMetaFunctions_includes\n$NativeMetaFunctions_declarations\n",
    "NativeMetaFunction.h": "$meta_function_declarations\n",
}

POOL = """
- func: pool(Tensor self, int[2] size, bool full=False) -> Tensor
  structured_delegate: pool.out
- func: pool.out(Tensor self, int[2] size, bool full=False, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  precomputed:
  - size -> int height, int width
  - DimVector shape
  dispatch:
    CPU: pool_out_cpu
    XPU: pool_out_xpu
    SparseCPU, SparseCUDA: pool_sparse_out
"""
STEPS = """
- func: step(Tensor self, SymInt n=1) -> Tensor
  dispatch:
    CPU: step_symint
    CUDA: my::step_cuda
- func: step_(Tensor(a!) self, SymInt n=1) -> Tensor(a!)
- func: stride(Tensor self, SymInt n=1) -> Tensor
  dispatch:
    CPU: step_symint
"""


def headers(emit: Emit, definitions: str, templates: TemplateSet, **flags: object) -> dict[str, str]:
    files = emit(program_of(definitions), options_of(**flags), templates)
    return {file.path: file.text.strip() for file in files}


def test_a_kernel_is_declared_once_in_its_own_namespace(templates: TemplateSet) -> None:
    assert_expected_inline(
        headers(emit_native_headers, STEPS, templates)["NativeFunctions.h"],
        """\
#include <ATen/NativeMetaFunctions.h>
namespace at {
namespace native {
TORCH_API at::Tensor step_symint(const at::Tensor & self, c10::SymInt n=1);
TORCH_API at::Tensor & step_(at::Tensor & self, int64_t n=1);
} // namespace native
} // namespace at
namespace my {
namespace native {
TORCH_API at::Tensor step_cuda(const at::Tensor & self, int64_t n=1);
} // namespace native
} // namespace my""",
    )


def test_a_structured_kernel_is_a_class(templates: TemplateSet) -> None:
    assert_expected_inline(
        headers(emit_native_headers, POOL, templates, per_operator_headers=True)["ops/pool_native.h"],
        """\
#include <ATen/ops/pool_meta.h>
namespace at {
namespace native {
struct TORCH_API structured_pool_out_cpu : public at::meta::structured_pool {
  void impl(const at::Tensor & self, int64_t height, int64_t width, bool full, at::DimVector shape, const at::Tensor & out);
};
struct TORCH_XPU_API structured_pool_out_xpu : public at::meta::structured_pool {
  void impl(const at::Tensor & self, int64_t height, int64_t width, bool full, at::DimVector shape, const at::Tensor & out);
};
TORCH_API at::Tensor & pool_sparse_out(const at::Tensor & self, at::IntArrayRef size, bool full, at::Tensor & out);
} // namespace native
} // namespace at""",
    )


def test_precomputed_values_are_set_one_by_one(templates: TemplateSet) -> None:
    assert_expected_inline(
        headers(emit_meta_headers, POOL, templates, per_operator_headers=True)["ops/pool_meta.h"],
        """\
struct TORCH_API structured_pool : public TensorIteratorBase {
  template <bool HEIGHT = false, bool WIDTH = false, bool SHAPE = false>
  struct TORCH_API precompute_out {
    precompute_out<true, WIDTH, SHAPE> set_height(int64_t value) {
      static_assert(HEIGHT == false, "height already set");
      precompute_out<true, WIDTH, SHAPE> ret;
      ret.height = value;
      ret.width = this->width;
      ret.shape = this->shape;
      return ret;
    }

    precompute_out<HEIGHT, true, SHAPE> set_width(int64_t value) {
      static_assert(WIDTH == false, "width already set");
      precompute_out<HEIGHT, true, SHAPE> ret;
      ret.height = this->height;
      ret.width = value;
      ret.shape = this->shape;
      return ret;
    }

    precompute_out<HEIGHT, WIDTH, true> set_shape(at::DimVector value) {
      static_assert(SHAPE == false, "shape already set");
      precompute_out<HEIGHT, WIDTH, true> ret;
      ret.height = this->height;
      ret.width = this->width;
      ret.shape = value;
      return ret;
    }

    int64_t height;
    int64_t width;
    at::DimVector shape;
  };
  using meta_return_ty = precompute_out<true, true, true>;
  meta_return_ty meta(const at::Tensor & self, at::IntArrayRef size, bool full);
};""",
    )


def test_lists_name_every_operator(templates: TemplateSet) -> None:
    both = POOL + STEPS
    native = headers(emit_native_headers, both, templates, per_operator_headers=True)
    meta = headers(emit_meta_headers, both, templates, per_operator_headers=True)
    assert sorted(native) == ["NativeFunctions.h", "ops/pool_native.h", "ops/step_native.h", "ops/stride_native.h"]
    assert sorted(meta) == ["NativeMetaFunctions.h", "ops/pool_meta.h"]
    assert native["NativeFunctions.h"].splitlines() == [
        "#include <ATen/ops/pool_native.h>",
        "#include <ATen/ops/step_native.h>",
        "#include <ATen/ops/stride_native.h>",
    ]
