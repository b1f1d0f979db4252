// The inner loop that generated ufunc kernels call; torch doesn't install it.
#pragma once

namespace at::native::ufunc {
template <typename T>
T add(T self, T other, T alpha);
} // namespace at::native::ufunc
