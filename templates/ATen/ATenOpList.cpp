$# Makes core/ATenOpList.cpp, which knows the operators of the definitions by name.
$#   aten_ops   a line for each operator: {"aten::add", "Tensor"},
// ${generated_comment}
// The operators that the definitions list, so that all others are known for somebody's own.

#include <ATen/core/ATenOpList.h>

#include <set>
#include <string_view>
#include <utility>

#include <ATen/core/operator_name.h>

namespace at {

bool is_custom_op(const c10::OperatorName& opName) {
  using FullName = std::pair<std::string_view, std::string_view>;
  static const std::set<FullName> listed = {
    $aten_ops
  };
  return listed.count({opName.name, opName.overload_name}) == 0;
}

} // namespace at
