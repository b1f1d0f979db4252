#include "out/XLANativeFunctions.h"
// at::Tensor Mine::abs(const at::Tensor & self) { return self; }
const char* text = "at::Tensor Mine::abs(const at::Tensor & self) {}";
#define LATER at::Tensor Mine::abs(const at::Tensor & self) {}

namespace my {

at::Tensor
Mine::twice(const at::Tensor & self, const at::Tensor & by) {
  return Mine::abs(self);
}

at::Tensor Mine::view(const at::Tensor & self, at::IntArrayRef size) {
  return self;
}

#if 0
at::Tensor Mine::view_copy(const at::Tensor & self, at::IntArrayRef size) {
  return self;
}
#endif

std::tuple<at::Tensor, at::Tensor> Mine::pool(const at::Tensor & self) {
  return {self, self};
}

at::Tensor Mine::abss(const at::Tensor & self) {
  return self;
}

} // namespace my
