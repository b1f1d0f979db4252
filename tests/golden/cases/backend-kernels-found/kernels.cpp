#include "out/XLANativeFunctions.h"
#define UNARY(name) \
  at::Tensor my::Mine::name(const at::Tensor & self) { return self; }
#define VIEW(suffix, type) at::Tensor Mine::view##suffix(const at::Tensor & self, type size) { return self; }

UNARY(abs)

namespace my {

at::Tensor
Mine::twice(
    const at::Tensor & self, /* a comment, with a comma */
    const at::Tensor & by = at::zeros({1, 2})) noexcept
{
  return self;
}

auto Mine::twice(const at::Tensor & self, const at::Scalar & by) -> at::Tensor {
  return self;
}

VIEW(_symint, c10::SymIntArrayRef)
VIEW(_copy, at::IntArrayRef)

std::tuple<at::Tensor, at::Tensor> Mine::pool(const at::Tensor & self, at::IntArrayRef size) {
  return std::tuple<at::Tensor, at::Tensor>(self, self);
}

} // namespace my
