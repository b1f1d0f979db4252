// $generated_comment
#pragma once
// Nodes of autograd's graph are held by other pointers in torch 2.13 than before.
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>
#include <memory>
#include <type_traits>
#include <utility>

namespace $namespace::detail {

// A pointer to a node.
using NodePtr = decltype(torch::autograd::Edge::function);

template <class T, class... Arguments>
auto make_node(Arguments&&... arguments) {
  if constexpr (std::is_same_v<NodePtr, std::shared_ptr<torch::autograd::Node>>) {
    return std::make_shared<T>(std::forward<Arguments>(arguments)...);
  } else {
    return c10::make_intrusive<T>(std::forward<Arguments>(arguments)...);
  }
}

} // namespace $namespace::detail
