// $generated_comment
#pragma once
// Between C++ and the stack of the dispatcher's boxed convention, for types that it has no other way to pass.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <ATen/core/stack.h>
#include <torch/library.h>
#include <$namespace/detail/Types.h>
#include <string>
#include <type_traits>
#include <utility>

namespace $namespace::detail {

using torch::jit::Stack;

// What holds a value while a function that takes a `T` runs.
template <class T>
struct Owned {
  using type = T;
};
template <class T>
struct Owned<at::ArrayRef<T>> {
  using type = std::vector<typename Owned<T>::type>;
};
template <class T>
struct Owned<at::OptionalArrayRef<T>> {
  using type = std::optional<std::vector<T>>;
};
template <class T>
struct Owned<std::optional<T>> {
  using type = std::optional<typename Owned<T>::type>;
};
template <>
struct Owned<std::string_view> {
  using type = std::string;
};
template <class T>
using owned_t = typename Owned<std::remove_cv_t<std::remove_reference_t<T>>>::type;

// A value of the stack as a `T`.
template <class T>
struct Unboxed {
  static T from(const c10::IValue& value) {
    if constexpr (std::is_same_v<T, at::Tensor>) {
      return value.isNone() ? at::Tensor() : value.toTensor();
    } else if constexpr (std::is_same_v<T, c10::IValue>) {
      return value;
    } else if constexpr (std::is_same_v<T, int64_t>) {
      return value.isSymInt() ? value.toSymInt().guard_int(__FILE__, __LINE__) : value.toInt();
    } else if constexpr (std::is_same_v<T, double>) {
      return value.isInt() ? static_cast<double>(value.toInt()) : value.to<double>();
    } else if constexpr (std::is_same_v<T, bool>) {
      return value.isInt() ? value.toInt() != 0 : value.to<bool>();
    } else {
      return value.to<T>();
    }
  }
};
template <class T>
struct Unboxed<std::optional<T>> {
  static std::optional<T> from(const c10::IValue& value) {
    return value.isNone() ? std::nullopt : std::optional<T>(Unboxed<T>::from(value));
  }
};
template <class T>
struct Unboxed<std::vector<T>> {
  static std::vector<T> from(const c10::IValue& value) {
    std::vector<T> values;
    for (const c10::IValue& element : value.toListRef()) {
      values.push_back(Unboxed<T>::from(element));
    }
    return values;
  }
};
template <class T, size_t N>
struct Unboxed<std::array<T, N>> {
  static std::array<T, N> from(const c10::IValue& value) {
    const auto elements = value.toListRef();
    TORCH_CHECK(elements.size() == N, "expected a list of ", N, " elements, but got ", elements.size());
    std::array<T, N> values{};
    for (size_t index = 0; index < N; ++index) {
      values[index] = Unboxed<T>::from(elements[index]);
    }
    return values;
  }
};
template <class T>
struct Unboxed<c10::List<T>> {
  static c10::List<T> from(const c10::IValue& value) {
    if constexpr (std::is_same_v<T, c10::IValue>) {
      return value.toList();
    } else {
      c10::List<T> values;
      for (const c10::IValue& element : value.toListRef()) {
        values.push_back(Unboxed<T>::from(element));
      }
      return values;
    }
  }
};
template <class K, class V>
struct Unboxed<c10::Dict<K, V>> {
  static c10::Dict<K, V> from(const c10::IValue& value) {
    c10::Dict<K, V> values;
    for (const auto& item : value.toGenericDict()) {
      values.insert(Unboxed<K>::from(item.key()), Unboxed<V>::from(item.value()));
    }
    return values;
  }
};
template <class... T>
struct Unboxed<std::tuple<T...>> {
  static std::tuple<T...> from(const c10::IValue& value) {
    return from(value.toTupleRef().elements(), std::index_sequence_for<T...>());
  }
  template <class Elements, size_t... I>
  static std::tuple<T...> from(const Elements& elements, std::index_sequence<I...>) {
    TORCH_CHECK(elements.size() == sizeof...(T), "expected a tuple of ", sizeof...(T), " elements");
    return std::tuple<T...>(Unboxed<T>::from(elements[I])...);
  }
};

// What a function takes, from what is held for it.
template <class T>
struct Lent {
  static T from(owned_t<T>& held) {
    return T(held);
  }
};
template <class T>
struct Lent<T&> {
  static T& from(owned_t<T>& held) {
    return held;
  }
};
template <class T>
struct Lent<std::optional<T>> {
  static std::optional<T> from(owned_t<std::optional<T>>& held) {
    return held.has_value() ? std::optional<T>(Lent<T>::from(*held)) : std::nullopt;
  }
};
template <class T>
struct Lent<at::OptionalArrayRef<T>> {
  static at::OptionalArrayRef<T> from(std::optional<std::vector<T>>& held) {
    return held.has_value() ? at::OptionalArrayRef<T>(*held) : std::nullopt;
  }
};

template <class T>
struct Boxed;

// A value of C++ as one of the stack, of the type that the schema says.
template <class T>
c10::IValue box(const T& value, const c10::TypePtr& type) {
  return Boxed<T>::from(value, type);
}

inline c10::TypePtr element_type(const c10::TypePtr& type, size_t index = 0) {
  if (const auto optional = type->cast<c10::OptionalType>(); optional != nullptr) {
    return element_type(optional->getElementType(), index);
  }
  const auto contained = type->containedTypes();
  return index < contained.size() ? contained[index] : c10::TypePtr(c10::AnyType::get());
}

template <class Values>
c10::IValue box_list(const Values& values, const c10::TypePtr& type) {
  const c10::TypePtr element = element_type(type);
  c10::impl::GenericList list(element);
  for (size_t index = 0; index < static_cast<size_t>(values.size()); ++index) {
    list.push_back(box(typename Owned<typename Values::value_type>::type(values[index]), element));
  }
  return list;
}

template <class T>
struct Boxed {
  static c10::IValue from(const T& value, const c10::TypePtr&) {
    if constexpr (std::is_enum_v<T>) {
      return c10::IValue(static_cast<int64_t>(value));
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      return c10::IValue(std::string(value));
    } else {
      return c10::IValue(value);
    }
  }
};
template <class T>
struct Boxed<std::optional<T>> {
  static c10::IValue from(const std::optional<T>& value, const c10::TypePtr& type) {
    if (!value.has_value()) {
      return c10::IValue();
    }
    const auto optional = type->cast<c10::OptionalType>();
    return box(*value, optional != nullptr ? optional->getElementType() : type);
  }
};
template <class T>
struct Boxed<at::ArrayRef<T>> {
  static c10::IValue from(at::ArrayRef<T> values, const c10::TypePtr& type) {
    if constexpr (std::is_same_v<T, c10::SymInt>) {
      return c10::IValue(values);
    } else {
      return box_list(values, type);
    }
  }
};
template <class T>
struct Boxed<at::OptionalArrayRef<T>> {
  static c10::IValue from(at::OptionalArrayRef<T> values, const c10::TypePtr& type) {
    return values.has_value() ? box(*values, type) : c10::IValue();
  }
};
template <class T>
struct Boxed<std::vector<T>> {
  static c10::IValue from(const std::vector<T>& values, const c10::TypePtr& type) {
    if constexpr (std::is_same_v<T, c10::SymInt>) {
      return c10::IValue(c10::SymIntArrayRef(values));
    } else {
      return box_list(values, type);
    }
  }
};
template <class T, size_t N>
struct Boxed<std::array<T, N>> {
  static c10::IValue from(const std::array<T, N>& values, const c10::TypePtr& type) {
    return box_list(values, type);
  }
};
template <class T>
struct Boxed<c10::List<T>> {
  static c10::IValue from(const c10::List<T>& values, const c10::TypePtr& type) {
    if constexpr (std::is_same_v<T, c10::SymInt>) {
      return box(values.vec(), type);
    } else {
      return box_list(values, type);
    }
  }
};
template <class K, class V>
struct Boxed<c10::Dict<K, V>> {
  static c10::IValue from(const c10::Dict<K, V>& values, const c10::TypePtr& type) {
    c10::impl::GenericDict dict(element_type(type, 0), element_type(type, 1));
    for (const auto& item : values) {
      dict.insert(box(item.key(), element_type(type, 0)), box(item.value(), element_type(type, 1)));
    }
    return dict;
  }
};
template <class... T>
struct Boxed<std::tuple<T...>> {
  static c10::IValue from(const std::tuple<T...>& values, const c10::TypePtr& type) {
    return from(values, type, std::index_sequence_for<T...>());
  }
  template <size_t... I>
  static c10::IValue from(const std::tuple<T...>& values, const c10::TypePtr& type, std::index_sequence<I...>) {
    return c10::ivalue::Tuple::create(std::vector<c10::IValue>{box(std::get<I>(values), element_type(type, I))...});
  }
};

template <class R>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};

template <class R>
void push_results(Stack& stack, const R& result, const c10::FunctionSchema& schema) {
  const auto& returns = schema.returns();
  if constexpr (IsTuple<R>::value) {
    if (returns.size() != 1) {
      const auto push = [&](const auto&... values) {
        size_t index = 0;
        (stack.push_back(box(values, returns[index++].type())), ...);
      };
      std::apply(push, result);
      return;
    }
  }
  stack.push_back(box(result, returns[0].type()));
}

template <class R, size_t... I>
R pop_tuple(Stack& stack, std::index_sequence<I...>) {
  return R(Unboxed<owned_t<std::tuple_element_t<I, R>>>::from(stack[I])...);
}

template <class R>
R pop_results(Stack& stack, const c10::FunctionSchema& schema) {
  if constexpr (IsTuple<R>::value) {
    if (schema.returns().size() != 1) {
      return pop_tuple<R>(stack, std::make_index_sequence<std::tuple_size_v<R>>());
    }
  }
  return Unboxed<R>::from(stack[0]);
}

// The boxed form of a function that takes and returns what C++ has.
template <auto function>
struct Boxer;
template <class R, class... P, R (*function)(P...)>
struct Boxer<function> {
  static void run(const c10::OperatorHandle& op, Stack* stack) {
    run(op, stack, std::index_sequence_for<P...>());
  }
  template <size_t... I>
  static void run(const c10::OperatorHandle& op, Stack* stack, std::index_sequence<I...>) {
    [[maybe_unused]] const auto arguments = torch::jit::last(*stack, sizeof...(P));
    auto held = std::tuple<owned_t<P>...>(Unboxed<owned_t<P>>::from(arguments[I])...);
    torch::jit::drop(*stack, sizeof...(P));
    if constexpr (std::is_void_v<R>) {
      function(Lent<P>::from(std::get<I>(held))...);
    } else {
      push_results<R>(*stack, function(Lent<P>::from(std::get<I>(held))...), op.schema());
    }
  }
};

template <auto function>
torch::CppFunction boxed() {
  return torch::CppFunction::makeFromBoxedFunction<&Boxer<function>::run>();
}

template <class... A>
Stack make_stack(const c10::FunctionSchema& schema, const A&... arguments) {
  Stack stack;
  stack.reserve(sizeof...(A));
  [[maybe_unused]] size_t index = 0;
  (stack.push_back(box(arguments, schema.arguments()[index++].type())), ...);
  return stack;
}

template <class R, class... A>
R call_boxed(const c10::OperatorHandle& op, const A&... arguments) {
  Stack stack = make_stack(op.schema(), arguments...);
  op.callBoxed(stack);
  if constexpr (!std::is_void_v<R>) {
    return pop_results<R>(stack, op.schema());
  }
}

template <class R, class... A>
R redispatch_boxed(const c10::OperatorHandle& op, c10::DispatchKeySet keys, const A&... arguments) {
  Stack stack = make_stack(op.schema(), arguments...);
  op.redispatchBoxed(keys, &stack);
  if constexpr (!std::is_void_v<R>) {
    return pop_results<R>(stack, op.schema());
  }
}

} // namespace $namespace::detail
