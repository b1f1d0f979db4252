// The CPU kernels of the library `$name`.
#pragma once

#include "$name/runtime.h"

namespace ${name} {

// A pointwise kernel is the body of its loop: opgen promotes and broadcasts the inputs, and calls it for each element.
template <typename T>
T scaled_add_cpu(T a, T b, float scale) {
  return a + static_cast<T>(scale) * b;
}

} // namespace ${name}
