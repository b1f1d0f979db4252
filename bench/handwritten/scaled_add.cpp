// `scaled_add` as one writes it by hand: schemas, the three forms, the kernel and the registrations in one source.
#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/cpu/Loops.h>
#include <torch/library.h>

namespace {

void fill(at::TensorIteratorBase& iterator, double scale) {
  AT_DISPATCH_FLOATING_TYPES(iterator.common_dtype(), "scaled_add", [&] {
    const auto factor = static_cast<scalar_t>(scale);
    at::native::cpu_kernel(iterator, [=](scalar_t a, scalar_t b) -> scalar_t { return a + factor * b; });
  });
}

at::Tensor scaled_add(const at::Tensor& self, const at::Tensor& other, double scale) {
  at::Tensor out;
  auto iterator = at::TensorIterator::borrowing_binary_op(out, self, other);
  fill(iterator, scale);
  return iterator.output();
}

at::Tensor& scaled_add_(at::Tensor& self, const at::Tensor& other, double scale) {
  auto iterator = at::TensorIterator::borrowing_binary_op(self, self, other);
  fill(iterator, scale);
  return self;
}

at::Tensor& scaled_add_out(const at::Tensor& self, const at::Tensor& other, double scale, at::Tensor& out) {
  auto iterator = at::TensorIterator::borrowing_binary_op(out, self, other);
  fill(iterator, scale);
  return out;
}

} // namespace

TORCH_LIBRARY(handwritten, m) {
  m.def("scaled_add(Tensor self, Tensor other, *, float scale=1.0) -> Tensor");
  m.def("scaled_add_(Tensor(a!) self, Tensor other, *, float scale=1.0) -> Tensor(a!)");
  m.def("scaled_add.out(Tensor self, Tensor other, *, float scale=1.0, Tensor(a!) out) -> Tensor(a!)");
}

TORCH_LIBRARY_IMPL(handwritten, CPU, m) {
  m.impl("scaled_add", TORCH_FN(scaled_add));
  m.impl("scaled_add_", TORCH_FN(scaled_add_));
  m.impl("scaled_add.out", TORCH_FN(scaled_add_out));
}
