// $generated_comment
#pragma once
// Nodes of autograd's graph are held by other pointers in torch 2.13 than before.
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>
#include <memory>
#include <type_traits>
#include <utility>

namespace torch::autograd::generated {

using torch::autograd::TypeAndSize; // formulas find it here in torch's header of nodes, which is not included

} // namespace torch::autograd::generated

namespace $namespace::detail {

// A pointer to a node.
using NodePtr = decltype(torch::autograd::Edge::function);

constexpr bool nodes_are_shared = std::is_same_v<NodePtr, std::shared_ptr<torch::autograd::Node>>;

template <class T>
using NodePointer = std::conditional_t<nodes_are_shared, std::shared_ptr<T>, c10::intrusive_ptr<T>>;

template <class T, class... Arguments>
NodePointer<T> make_node(Arguments&&... arguments) {
  if constexpr (nodes_are_shared) {
    // torch's deleter goes through graphs of any depth.
    return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...), [](T* node) { deleteNode(node); });
  } else {
    return c10::make_intrusive<T>(std::forward<Arguments>(arguments)...);
  }
}

} // namespace $namespace::detail
