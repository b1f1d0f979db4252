// What the Metal kernels of the example do for each element; compiled only where Metal exists.
#pragma once

template <typename T>
T softcap_metal(T x, float cap) {
  return static_cast<T>(cap * metal::tanh(static_cast<float>(x) / cap));
}
