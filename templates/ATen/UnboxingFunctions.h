$# Makes UnboxingFunctions.h, which declares the kernels that take their arguments from a stack.
$#   declarations   a function for each selected operator
#pragma once
// ${generated_comment}

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <vector>

namespace at::unboxing {

using Stack = std::vector<c10::IValue>;

// A list whose length the schema tells, as the array that C++ takes.
template <typename T, size_t N>
inline std::array<T, N> as_array(const c10::List<c10::IValue>& list) {
  TORCH_CHECK(list.size() == N, "expected a list of ", N, " values, not of ", list.size());
  std::array<T, N> result;
  for (size_t i = 0; i < N; ++i) {
    result[i] = list.get(i).to<T>();
  }
  return result;
}

$declarations

} // namespace at::unboxing
