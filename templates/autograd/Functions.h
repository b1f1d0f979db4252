$# Makes Functions.h: the nodes of the graph that autograd walks, a class for each operator with a derivative.
$#   autograd_function_declarations   the classes
#pragma once
// ${generated_comment}

#include <ATen/ATen.h>
#include <ATen/TensorGeometry.h>
#include <ATen/core/functional.h>
#include <c10/core/SymIntArrayRef.h>
#include <torch/csrc/Export.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd::generated {

using at::ArrayRef;
using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
using at::TensorGeometry;
using at::Type;
using c10::fmap;
using std::optional;
using torch::autograd::TypeAndSize;

// The tensors that a node kept; `saved_for` is the node itself, for those that are its own results.
inline std::vector<Tensor> unpack_list(at::ArrayRef<SavedVariable> kept, c10::intrusive_ptr<Node> saved_for = nullptr) {
  std::vector<Tensor> tensors;
  tensors.reserve(kept.size());
  for (const SavedVariable& each : kept) {
    tensors.emplace_back(each.unpack(saved_for));
  }
  return tensors;
}

// The same, where some of the tensors may be missing.
inline c10::List<std::optional<Tensor>> unpack_opt_list(
    at::ArrayRef<SavedVariable> kept, c10::intrusive_ptr<Node> saved_for = nullptr) {
  c10::List<std::optional<Tensor>> tensors;
  tensors.reserve(kept.size());
  for (Tensor& tensor : unpack_list(kept, std::move(saved_for))) {
    tensors.push_back(tensor.defined() ? std::make_optional(std::move(tensor)) : std::nullopt);
  }
  return tensors;
}

$autograd_function_declarations

} // namespace torch::autograd::generated
