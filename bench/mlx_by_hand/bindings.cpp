#include <nanobind/nanobind.h>
#include <nanobind/stl/variant.h>

#include "op.h"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(by_hand, m) {
  nb::module_::import_("mlx.core");
  m.def(
      "scaled_add",
      &by_hand::scaled_add,
      "a"_a,
      "b"_a,
      nb::kw_only(),
      "scale"_a = 1.0f,
      "stream"_a = nb::none(),
      "Adds `b`, multiplied by `scale`, to `a`.");
}
