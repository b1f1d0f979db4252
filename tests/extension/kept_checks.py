"""An extension whose formulas keep something of a tensor, whatever can be kept; operators on lists of tensors; and
arguments that torch's parser has no method for, and defaults that it can't read.

Run in the folder of a project `mylib`, it writes its definitions and kernels, builds and tries it: the arguments are
the compiler's flags.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from opgen.cpp_extension import load

FUNCTIONS = """
- func: mylib::twice(Tensor self) -> Tensor
  doc: Two times `self`.
- func: >-
    mylib::given(Tensor self, Tensor[]? more=None, Tensor[2]? pair=None, Scalar[]? factors=None,
    Storage? storage=None, Stream? stream=None) -> int[]
- func: >-
    mylib::by_default(Tensor self, float[] weights=[1.5, 2.5], ScalarType type=long, Layout layout=strided,
    int reduction=Mean) -> float[]
- func: mylib::kept(Tensor self, Tensor other, Tensor[] more) -> Tensor
  dispatch:
    CPU: kept
- func: mylib::times(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU: times
- func: mylib::_foreach_times(Tensor[] self, Tensor[] other) -> Tensor[]
  device_check: NoCheck
  dispatch:
    CPU: foreach_times
- func: mylib::both(Tensor self, Tensor other) -> Tensor
  dispatch:
    CPU: times
- func: mylib::_foreach_both(Tensor[] self, Tensor[] other) -> Tensor[]
  device_check: NoCheck
  dispatch:
    CPU: foreach_times
"""
DERIVATIVES = """
- name: kept(Tensor self, Tensor other, Tensor[] more) -> Tensor
  self: >-
    kept_of_self(grad, self.sym_sizes(), self.sym_strides(), self.sym_size(-1), self.options(), TensorGeometry(self))
  other: >-
    kept_of_other(grad + zeros_like(other), other.numel(), other.sym_numel(), other.scalar_type(), other.dim(),
    other.layout(), other.is_conj(), other.sym_blocksize(), to_args_sizes(more), to_args_sizes_symint(more),
    to_args_scalartypes(more))
- name: times(Tensor self, Tensor other) -> Tensor
  self: (grads[0] * other + zeros_like(other)).sum_to_size_symint(self.sym_sizes())
  other: (grads[0] * self).sum_to_size_symint(other.sym_sizes()).to(other.scalar_type())
- name: both(Tensor self, Tensor other) -> Tensor
  self, other: "both_gradients(grad, self, other, grad_input_mask)"
"""
HEADER = """
#pragma once
#include <ATen/ATen.h>

namespace mylib {

inline at::Tensor kept_of_self(
    const at::Tensor& grad, c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides, const c10::SymInt& last,
    const at::TensorOptions& options, const at::TensorGeometry& geometry) {
  TORCH_CHECK(sizes.size() == 2 && sizes[1] == last && last == 3 && strides[0] == 3);
  TORCH_CHECK(geometry.dim() == 2 && options.dtype() == at::kDouble);
  return grad * 2;
}

inline at::Tensor kept_of_other(
    const at::Tensor& grad, int64_t count, const c10::SymInt& symbolic, at::ScalarType type, int64_t dim,
    at::Layout layout, bool is_conjugate, const at::OptionalSymIntArrayRef& blocks,
    const std::vector<std::vector<int64_t>>& sizes, const std::vector<std::vector<c10::SymInt>>& symbolic_sizes,
    const std::vector<at::ScalarType>& types) {
  TORCH_CHECK(count == 6 && symbolic == 6 && type == at::kDouble && dim == 2 && layout == at::kStrided);
  TORCH_CHECK(!is_conjugate && !blocks.has_value());
  TORCH_CHECK(sizes.size() == 2 && sizes[1][0] == 5 && symbolic_sizes[0][0] == 4 && types[0] == at::kLong);
  return grad * 3;
}

inline std::tuple<at::Tensor, at::Tensor> both_gradients(
    const at::Tensor& grad, const at::Tensor& self, const at::Tensor& other, std::array<bool, 2> wanted) {
  return {wanted[0] ? grad * other : at::Tensor(), wanted[1] ? grad * self : at::Tensor()};
}

} // namespace mylib
"""
KERNELS = """
#include <ATen/ATen.h>
#include <mylib/NativeFunctions.h>

namespace mylib::native {

at::Tensor twice(const at::Tensor& self) {
  return at::mul(self, 2);
}

std::vector<int64_t> given(
    const at::Tensor&, std::optional<at::TensorList> more, std::optional<at::TensorList> pair,
    std::optional<at::ArrayRef<at::Scalar>> factors, std::optional<at::Storage> storage,
    std::optional<at::Stream> stream) {
  return {
      more ? (*more)[0].numel() : -1,
      pair ? (*pair)[1].numel() : -1,
      factors ? (*factors)[1].toLong() : -1,
      storage ? static_cast<int64_t>(storage->nbytes()) : -1,
      stream ? stream->id() : -1};
}

std::vector<double> by_default(
    const at::Tensor&, at::ArrayRef<double> weights, at::ScalarType type, at::Layout layout, int64_t reduction) {
  std::vector<double> given = weights.vec();
  given.push_back(type == at::kLong);
  given.push_back(layout == at::kStrided);
  given.push_back(reduction == at::Reduction::Mean);
  return given;
}

at::Tensor kept(const at::Tensor& self, const at::Tensor& other, at::TensorList) {
  return self * 2 + other * 3;
}

at::Tensor times(const at::Tensor& self, const at::Tensor& other) {
  return self * other;
}

std::vector<at::Tensor> foreach_times(at::TensorList self, at::TensorList other) {
  std::vector<at::Tensor> made;
  for (size_t i = 0; i < self.size(); ++i) {
    made.push_back(self[i] * other[i]);
  }
  return made;
}

} // namespace mylib::native
"""


def write() -> None:
    texts = {
        "ops/native/native_functions.yaml": FUNCTIONS,
        "ops/autograd/derivatives.yaml": DERIVATIVES,
        "src/mylib/derivatives.h": HEADER,
        "src/kernels.cpp": KERNELS,
    }
    for name, text in texts.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def pairs(last: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    torch.manual_seed(0)
    return (
        [torch.rand(2, 3, requires_grad=True) for _ in range(3)],
        [torch.rand(2, last, requires_grad=True) for _ in range(3)],
    )


def main() -> None:
    write()

    def loaded() -> Any:
        return load("mylib", "ops", ["src/kernels.cpp"], include_dirs=["src"], extra_cflags=sys.argv[1:])

    mylib = loaded()
    assert mylib.twice(torch.ones(2)).tolist() == torch.ops.mylib.twice(torch.ones(2)).tolist() == [2, 2]
    assert loaded() is mylib
    assert __import__("mylib") is mylib

    x = torch.ones(4)
    everything = ([x, x], [x, x[:3]], [1, 2], x.untyped_storage(), torch.Stream("cpu"))
    for function in (mylib.given, torch.ops.mylib.given):
        assert [*function(x)] == [*function(x, None, None, None, None, None)] == [-1] * 5
        assert [*function(x, *everything)][:4] == [4, 3, 2, 16]
        assert function(x, stream=everything[-1])[4] == everything[-1].stream_id

    for function in (mylib.by_default, torch.ops.mylib.by_default):
        assert [*function(x)] == [1.5, 2.5, 1, 1, 1]
        assert [*function(x, [0.5], torch.float, torch.sparse_coo, 0)] == [0.5, 0, 0, 0]

    first, second = (torch.rand(2, 3, dtype=torch.double, requires_grad=True) for _ in range(2))
    more = [torch.ones(4, dtype=torch.long), torch.ones(5)]
    assert torch.autograd.gradcheck(lambda a, b: mylib.kept(a, b, more), (first, second))
    sparse = torch.eye(3, dtype=torch.double).to_sparse().requires_grad_()
    with pytest.raises(RuntimeError, match="the strides of 'self'"):
        torch.ops.mylib.kept(sparse, sparse, more)

    for name, last in (("times", 1), ("times", 3), ("both", 3)):
        one, lists = getattr(torch.ops.mylib, name), getattr(torch.ops.mylib, f"_foreach_{name}")
        (a, b), (c, d) = pairs(last), pairs(last)
        sum(made.pow(2).sum() for made in lists(a, b)).backward()
        sum(one(x, y).pow(2).sum() for x, y in zip(c, d)).backward()
        for mine, expected in zip(a + b, c + d):
            torch.testing.assert_close(mine.grad, expected.grad, rtol=0, atol=0)
    print("what is kept is right")


if __name__ == "__main__":
    main()
