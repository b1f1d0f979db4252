// The body of the loop of `rational::blend`: for one element, or for a vector of them.
#pragma once
#include <c10/macros/Macros.h>

namespace rational::native::ufunc {

template <typename T>
C10_HOST_DEVICE C10_ALWAYS_INLINE T blend(T self, T other, T weight) {
  return self + weight * (other - self);
}

} // namespace rational::native::ufunc
