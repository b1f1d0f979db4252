#pragma once

#include <ATen/core/Formatting.h>
#include <c10/core/ScalarType.h>
#include <torch/csrc/lazy/core/hash.h>
#include <torch/csrc/lazy/core/ir.h>
#include <torch/csrc/lazy/core/shape.h>
#include <optional>
#include <vector>
#include "torch/csrc/lazy/ts_backend/ts_node.h"

namespace torch {
namespace lazy {
using at::operator<<;

// Stands for an operand that isn't given. It is hashed like any other, so that (nothing, x) and (x, nothing) differ.
static const torch::lazy::Value kNullValue = torch::lazy::Value();

class Abs : public TsNode {
 public:
  static torch::lazy::OpKind ClassOpKind() {
    return torch::lazy::OpKind(at::aten::abs);
  }

  Abs(const torch::lazy::Value& self, std::vector<torch::lazy::Shape>&& shapes)
      : TsNode(
              Abs::ClassOpKind(),
              OpList{self},
              std::move(shapes),
              /* num_outputs */ 1,
              torch::lazy::MHash())
  {
  }

  std::string ToString() const override {
    std::stringstream ss;
    ss << TsNode::ToString();
    return std::move(ss).str();
  }

  bool CanBeReused(const torch::lazy::Value& self) const {
    size_t i = 0;
    return (operand(i++) == self);
  }

  torch::lazy::TSOpVector Lower(
      std::shared_ptr<torch::jit::GraphFunction> function,
      torch::lazy::TSLoweringContext* loctx) const override {
    std::vector<torch::jit::NamedValue> arguments;
    std::vector<torch::jit::NamedValue> kwarguments;
    arguments.reserve(1);
    kwarguments.reserve(0);
    size_t i = 0;
    arguments.emplace_back(loctx->GetOutputOp(operand(i++)));
    torch::lazy::TSOpVector abs_out = torch::lazy::LowerTSBuiltin(function, op().op, arguments, kwarguments);
    TORCH_CHECK_EQ(abs_out.size(), 1);
    return abs_out;
  }

};
class Best : public TsNode {
 public:
  static torch::lazy::OpKind ClassOpKind() {
    return torch::lazy::OpKind(at::aten::best);
  }

  Best(const torch::lazy::Value& self, const c10::string_view& mode, std::vector<torch::lazy::Shape>&& shapes)
      : TsNode(
              Best::ClassOpKind(),
              OpList{self},
              std::move(shapes),
              /* num_outputs */ 2,
              torch::lazy::MHash(mode)),
        mode(mode)
  {
  }

  std::string ToString() const override {
    std::stringstream ss;
    ss << TsNode::ToString();
    ss << ", mode=" << mode;
    return std::move(ss).str();
  }

  bool CanBeReused(const torch::lazy::Value& self, const c10::string_view& mode) const {
    size_t i = 0;
    return (operand(i++) == self &&
        this->mode == mode);
  }

  torch::lazy::TSOpVector Lower(
      std::shared_ptr<torch::jit::GraphFunction> function,
      torch::lazy::TSLoweringContext* loctx) const override {
    std::vector<torch::jit::NamedValue> arguments;
    std::vector<torch::jit::NamedValue> kwarguments;
    arguments.reserve(1);
    kwarguments.reserve(1);
    size_t i = 0;
    arguments.emplace_back(loctx->GetOutputOp(operand(i++)));
    kwarguments.emplace_back("mode", mode);
    torch::lazy::TSOpVector best_out = torch::lazy::LowerTSBuiltin(function, op().op, arguments, kwarguments);
    TORCH_CHECK_EQ(best_out.size(), 2);
    return best_out;
  }

  std::string mode;
};
class Clip : public TsNode {
 public:
  static torch::lazy::OpKind ClassOpKind() {
    return torch::lazy::OpKind(at::aten::clip);
  }

  Clip(const torch::lazy::Value& self, const ::std::optional<torch::lazy::Value>& least, const ::std::optional<torch::lazy::Value>& most, std::vector<torch::lazy::Shape>&& shapes)
      : TsNode(
              Clip::ClassOpKind(),
              OpList{self, least.value_or(kNullValue), most.value_or(kNullValue)},
              std::move(shapes),
              /* num_outputs */ 1,
              torch::lazy::MHash())
  {
    has_least = !!least;
    has_most = !!most;
  }

  std::string ToString() const override {
    std::stringstream ss;
    ss << TsNode::ToString();
    return std::move(ss).str();
  }

  bool CanBeReused(const torch::lazy::Value& self, const ::std::optional<torch::lazy::Value>& least, const ::std::optional<torch::lazy::Value>& most) const {
    size_t i = 0;
    return (operand(i++) == self &&
        nullable_operand(i++) == least.value_or(kNullValue) &&
        nullable_operand(i++) == most.value_or(kNullValue));
  }

  torch::lazy::TSOpVector Lower(
      std::shared_ptr<torch::jit::GraphFunction> function,
      torch::lazy::TSLoweringContext* loctx) const override {
    std::vector<torch::jit::NamedValue> arguments;
    std::vector<torch::jit::NamedValue> kwarguments;
    arguments.reserve(3);
    kwarguments.reserve(0);
    size_t i = 0;
    arguments.emplace_back(loctx->GetOutputOp(operand(i++)));
    arguments.emplace_back(has_least ? loctx->GetOutputOp(operand(i++)) : nullptr);
    arguments.emplace_back(has_most ? loctx->GetOutputOp(operand(i++)) : nullptr);
    torch::lazy::TSOpVector clip_out = torch::lazy::LowerTSBuiltin(function, op().op, arguments, kwarguments);
    TORCH_CHECK_EQ(clip_out.size(), 1);
    return clip_out;
  }

  bool has_least: 1;
  bool has_most: 1;
};
class Parts : public TsNode {
 public:
  static torch::lazy::OpKind ClassOpKind() {
    return torch::lazy::OpKind(at::aten::parts);
  }

  Parts(const torch::lazy::Value& self, const ::std::vector<int64_t>& sizes, const int64_t& dim, std::vector<torch::lazy::Shape>&& shapes)
      : TsNode(
              Parts::ClassOpKind(),
              OpList{self},
              std::move(shapes),
              /* num_outputs */ shapes.size(),
              torch::lazy::MHash(sizes, dim)),
        sizes(sizes),
        dim(dim)
  {
  }

  std::string ToString() const override {
    std::stringstream ss;
    ss << TsNode::ToString();
    ss << ", sizes=" << sizes;
    ss << ", dim=" << dim;
    return std::move(ss).str();
  }

  bool CanBeReused(const torch::lazy::Value& self, const ::std::vector<int64_t>& sizes, const int64_t& dim) const {
    size_t i = 0;
    return (operand(i++) == self &&
        this->sizes == sizes &&
        this->dim == dim);
  }

  torch::lazy::TSOpVector Lower(
      std::shared_ptr<torch::jit::GraphFunction> function,
      torch::lazy::TSLoweringContext* loctx) const override {
    std::vector<torch::jit::NamedValue> arguments;
    std::vector<torch::jit::NamedValue> kwarguments;
    arguments.reserve(3);
    kwarguments.reserve(0);
    size_t i = 0;
    arguments.emplace_back(loctx->GetOutputOp(operand(i++)));
    arguments.emplace_back("sizes", sizes);
    arguments.emplace_back("dim", dim);
    torch::lazy::TSOpVector parts_out = torch::lazy::LowerTSBuiltin(function, op().op, arguments, kwarguments);
    TORCH_CHECK_EQ(parts_out.size(), 1);
    const auto unpacked = function->graph()->insertNode(function->graph()->createListUnpack(parts_out[0], num_outputs()))->outputs();
    return {unpacked.begin(), unpacked.end()};
  }

  ::std::vector<int64_t> sizes;
  int64_t dim;
};

} // namespace lazy
} // namespace torch
