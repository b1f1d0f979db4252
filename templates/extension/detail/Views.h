// $generated_comment
#pragma once
// What takes a view again outlives the call, so it must own what the arguments only refer to.
#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace $namespace::detail {

template <class T>
T own(const T& argument) {
  return argument;
}
template <class T>
std::vector<T> own(at::ArrayRef<T> argument) {
  return argument.vec();
}
template <class T>
std::optional<std::vector<T>> own(at::OptionalArrayRef<T> argument) {
  return argument.has_value() ? std::make_optional(argument->vec()) : std::nullopt;
}
template <class T>
std::optional<std::vector<T>> own(const std::optional<at::ArrayRef<T>>& argument) {
  return argument.has_value() ? std::make_optional(argument->vec()) : std::nullopt;
}
inline std::string own(std::string_view argument) {
  return std::string(argument);
}
inline std::optional<std::string> own(const std::optional<std::string_view>& argument) {
  return argument.has_value() ? std::make_optional(std::string(*argument)) : std::nullopt;
}

template <class T>
const T& borrow(const T& owned) {
  return owned;
}
// An operator takes a reference to a list, or the list itself if it is boxed.
template <class T>
struct BorrowedVector {
  operator at::ArrayRef<T>() const {
    return owned;
  }
  operator const std::vector<T>&() const {
    return owned;
  }

  const std::vector<T>& owned;
};
template <class T>
BorrowedVector<T> borrow(const std::vector<T>& owned) {
  return {owned};
}
// torch has two types for lists that may be missing.
template <class T>
struct BorrowedList {
  operator at::OptionalArrayRef<T>() const {
    return owned.has_value() ? at::OptionalArrayRef<T>(*owned) : std::nullopt;
  }
  operator const std::optional<std::vector<T>>&() const {
    return owned;
  }
  operator std::optional<at::ArrayRef<T>>() const {
    return owned.has_value() ? std::make_optional(at::ArrayRef<T>(*owned)) : std::nullopt;
  }

  const std::optional<std::vector<T>>& owned;
};
template <class T>
BorrowedList<T> borrow(const std::optional<std::vector<T>>& owned) {
  return {owned};
}
inline std::string_view borrow(const std::string& owned) {
  return owned;
}
inline std::optional<std::string_view> borrow(const std::optional<std::string>& owned) {
  return owned.has_value() ? std::make_optional(std::string_view(*owned)) : std::nullopt;
}

} // namespace $namespace::detail
