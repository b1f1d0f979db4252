// $generated_comment
#pragma once
// Kernels that serve any operator: what it takes, writes to and returns, they read from its schema.
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ops/clone.h>
#include <c10/core/TensorOptions.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/library.h>
#include <algorithm>
#include <string>
#include <vector>

#include <$namespace/detail/Nodes.h>

namespace $namespace::detail::any {

using c10::IValue;
using c10::OperatorHandle;
using torch::jit::Stack;

// ------------------------------------------------------------------------------------------ tensors

// Calls `visit` with each tensor that a value is or holds.
template <class Visit>
void each_tensor(const IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) {
      visit(value.toTensor());
    }
  } else if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      each_tensor(element, visit);
    }
  } else if (value.isTuple()) {
    for (const IValue& element : value.toTupleRef().elements()) {
      each_tensor(element, visit);
    }
  } else if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict()) {
      each_tensor(item.key(), visit);
      each_tensor(item.value(), visit);
    }
  }
}

// The same value with what `change` makes of each tensor.
template <class Change>
IValue map_tensors(const IValue& value, const Change& change) {
  if (value.isTensor()) {
    return value.toTensor().defined() ? IValue(change(value.toTensor())) : value;
  }
  if (value.isList()) {
    c10::impl::GenericList list(value.toList().elementType());
    for (const IValue& element : value.toListRef()) {
      list.push_back(map_tensors(element, change));
    }
    return list;
  }
  if (value.isTuple()) {
    std::vector<IValue> elements;
    for (const IValue& element : value.toTupleRef().elements()) {
      elements.push_back(map_tensors(element, change));
    }
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isGenericDict()) {
    const auto old = value.toGenericDict();
    c10::impl::GenericDict dict(old.keyType(), old.valueType());
    for (const auto& item : old) {
      dict.insert(map_tensors(item.key(), change), map_tensors(item.value(), change));
    }
    return dict;
  }
  return value;
}

inline std::vector<at::Tensor> tensors_in(const IValue& value) {
  std::vector<at::Tensor> found;
  each_tensor(value, [&](const at::Tensor& tensor) { found.push_back(tensor); });
  return found;
}

inline bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

inline std::vector<IValue> arguments_of(const OperatorHandle& op, const Stack& stack) {
  const auto arguments = torch::jit::last(stack, op.schema().arguments().size());
  return arguments.vec();
}

inline std::vector<at::Tensor> written_tensors(const OperatorHandle& op, const std::vector<IValue>& values) {
  std::vector<at::Tensor> found;
  for (size_t index = 0; index < values.size(); ++index) {
    if (is_written(op.schema().arguments()[index])) {
      each_tensor(values[index], [&](const at::Tensor& tensor) { found.push_back(tensor); });
    }
  }
  return found;
}

// ------------------------------------------------------------------------------------------ autograd

// Under ADInplaceOrView: counts one more version of what the operator wrote to.
inline void count_writes(const OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const auto written = written_tensors(op, arguments_of(op, *stack));
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  }
  for (const at::Tensor& tensor : written) {
    torch::autograd::increment_version(tensor);
  }
}

inline bool can_have_gradient(const at::Tensor& tensor) {
  return torch::autograd::isDifferentiableType(tensor.scalar_type());
}

// Under Autograd: what comes of the operator raises torch's error when a gradient is asked for.
inline void without_derivative(const OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const auto values = arguments_of(op, *stack);
  const auto written = written_tensors(op, values);
  std::vector<at::Tensor> tensors;
  for (const IValue& value : values) {
    each_tensor(value, [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
  }
  NodePtr node;
  if (torch::autograd::compute_requires_grad(at::TensorList(tensors))) {
    node = make_node<torch::autograd::NotImplemented>(op.schema().name());
    node->set_next_edges(torch::autograd::collect_next_edges(at::TensorList(tensors)));
  }
  for (const at::Tensor& tensor : written) {
    torch::autograd::check_inplace(tensor, node != nullptr);
  }
  {
    at::AutoDispatchBelowAutograd guard;
    op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
  }
  if (node == nullptr) {
    return;
  }
  for (const at::Tensor& tensor : written) {
    if (can_have_gradient(tensor)) {
      torch::autograd::rebase_history(tensor, node);
    }
  }
  for (const IValue& result : torch::jit::last(*stack, op.schema().returns().size())) {
    each_tensor(result, [&](const at::Tensor& tensor) {
      const bool is_argument =
          std::any_of(tensors.begin(), tensors.end(), [&](const at::Tensor& each) { return each.is_same(tensor); });
      if (!is_argument && can_have_gradient(tensor)) {
        torch::autograd::set_history(tensor, node);
      }
    });
  }
}

// ------------------------------------------------------------------------------------------ functionalization

// The operator whose functional form `op` is, and the other way round.
inline OperatorHandle other_form(const OperatorHandle& op, bool is_functional) {
  const std::string prefix = "$functional_prefix";
  const std::string& name = op.schema().name();
  const size_t start = name.find("::") + 2;
  const std::string base = name.substr(start);
  const std::string other = is_functional ? base.substr(prefix.size()) : prefix + base;
  const std::string qualified = name.substr(0, start) + other;
  return c10::Dispatcher::singleton().findSchemaOrThrow(qualified.c_str(), op.schema().overload_name().c_str());
}

// Which argument a result is, of those that are written to; -1 for a result of its own.
inline int64_t returned_argument(const c10::FunctionSchema& schema, const c10::Argument& result) {
  if (result.alias_info() == nullptr) {
    return -1;
  }
  for (size_t index = 0; index < schema.arguments().size(); ++index) {
    const c10::AliasInfo* alias = schema.arguments()[index].alias_info();
    if (alias != nullptr && alias->isWrite() && alias->beforeSets() == result.alias_info()->beforeSets()) {
      return static_cast<int64_t>(index);
    }
  }
  return -1;
}

// The kernel of a functional form: runs the operator on copies of what that writes to, and returns the copies.
inline void run_on_copies(const OperatorHandle& op, Stack* stack) {
  const OperatorHandle original = other_form(op, /*is_functional=*/true);
  const c10::FunctionSchema& schema = original.schema();
  const size_t count = schema.arguments().size();
  std::vector<IValue> copies;
  for (size_t index = 0; index < count; ++index) {
    if (is_written(schema.arguments()[index])) {
      IValue& value = torch::jit::peek(*stack, index, count);
      value = map_tensors(value, [](const at::Tensor& tensor) { return tensor.clone(); });
      copies.push_back(value);
    }
  }
  original.callBoxed(*stack);
  const auto results = torch::jit::pop(*stack, schema.returns().size());
  for (size_t index = 0; index < results.size(); ++index) {
    if (returned_argument(schema, schema.returns()[index]) < 0) {
      stack->push_back(results[index]);
    }
  }
  stack->insert(stack->end(), copies.begin(), copies.end());
}

inline bool is_wrapped(const at::Tensor& tensor) {
  return at::functionalization::impl::isFunctionalTensor(tensor);
}

inline at::Tensor unwrap(const at::Tensor& tensor) {
  if (!is_wrapped(tensor)) {
    return tensor;
  }
  at::functionalization::impl::sync(tensor);
  return at::functionalization::impl::from_functional_tensor(tensor);
}

inline at::Tensor wrap(const at::Tensor& tensor) {
  return is_wrapped(tensor) ? tensor : at::functionalization::impl::to_functional_tensor(tensor);
}

inline void give(const at::Tensor& wrapper, const at::Tensor& value) {
  at::functionalization::impl::replace_(wrapper, value);
  at::functionalization::impl::commit_update(wrapper);
  at::functionalization::impl::sync(wrapper);
}

// Under Functionalize: calls the functional form, and gives what it returns to what the operator writes to.
inline void functionalize(const OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const auto values = arguments_of(op, *stack);
  const auto written = written_tensors(op, values);
  torch::jit::drop(*stack, values.size());
  const bool is_functional = std::all_of(written.begin(), written.end(), is_wrapped) && !written.empty();
  TORCH_CHECK(
      is_functional || std::none_of(written.begin(), written.end(), is_wrapped),
      schema.name(), ": all tensors that it writes to must be wrapped by functionalization, or none");
  bool any_wrapped = false;
  for (const IValue& value : values) {
    each_tensor(value, [&](const at::Tensor& tensor) { any_wrapped |= is_wrapped(tensor); });
    stack->push_back(map_tensors(value, unwrap));
  }
  TORCH_CHECK(
      is_functional || written.empty() || !any_wrapped,
      schema.name(), ": a tensor that is not wrapped by functionalization would be changed by one that is; "
      "wrap all inputs of what is functionalized");
  std::vector<IValue> fresh;
  {
    at::AutoDispatchSkipFunctionalize guard;
    (is_functional ? other_form(op, /*is_functional=*/false) : op).callBoxed(*stack);
  }
  if (is_functional) {
    size_t place = stack->size();
    for (size_t index = values.size(); index-- > 0;) {
      if (is_written(schema.arguments()[index])) {
        const auto wrappers = tensors_in(values[index]), results = tensors_in((*stack)[--place]);
        for (size_t each = 0; each < wrappers.size(); ++each) {
          give(wrappers[each], results[each]);
        }
      }
    }
    stack->resize(place);
  }
  const auto change = [&](const at::Tensor& tensor) { return any_wrapped ? wrap(tensor) : tensor; };
  const size_t kept = is_functional
      ? std::count_if(
            schema.returns().begin(),
            schema.returns().end(),
            [&](const c10::Argument& result) { return returned_argument(schema, result) < 0; })
      : schema.returns().size();
  const auto own = torch::jit::pop(*stack, kept);
  size_t next = 0;
  for (const c10::Argument& result : schema.returns()) {
    const int64_t argument = returned_argument(schema, result);
    next += is_functional && argument >= 0 ? 0 : 1;
    stack->push_back(argument >= 0 ? values[argument] : map_tensors(own[next - 1], change));
  }
}

// ------------------------------------------------------------------------------------------ backends

// Under BackendSelect: finds the backend from tensors that the dispatcher doesn't look for, and from devices.
inline void select_backend(const OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const auto values = arguments_of(op, *stack);
  c10::DispatchKeySet found;
  std::optional<at::Device> device;
  std::optional<at::ScalarType> dtype;
  std::optional<at::Layout> layout;
  for (size_t index = 0; index < values.size(); ++index) {
    each_tensor(values[index], [&](const at::Tensor& tensor) { found = found | tensor.key_set(); });
    const std::string& name = op.schema().arguments()[index].name();
    if (values[index].isDevice() && !device.has_value()) {
      device = values[index].toDevice();
    } else if (values[index].isInt() && name == "layout") {
      layout = values[index].toLayout();
    } else if (values[index].isInt() && name == "dtype") {
      dtype = values[index].toScalarType();
    }
  }
  if (found.empty()) {
    found = c10::DispatchKeySet(c10::computeDispatchKey(dtype, layout, device));
  }
  const c10::DispatchKeySet below(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::BackendSelect);
  op.redispatchBoxed(c10::impl::computeDispatchKeySet(found | keys, below), stack);
}

} // namespace $namespace::detail::any
