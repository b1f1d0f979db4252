// A composite operator that is more than one expression.
#include <stdexcept>

#include "lab_ops/ops.h"

namespace lab_ops::composite {

mx::array activate(const mx::array& x, const std::string& kind, std::optional<float> cap, mx::StreamOrDevice s) {
  if (kind == "softcap") {
    return softcap(x, cap.value_or(30.0f), s);
  }
  if (kind == "swish") {
    return swish(x, 1.0f, s);
  }
  throw std::invalid_argument("There is no activation '" + kind + "'.");
}

} // namespace lab_ops::composite
