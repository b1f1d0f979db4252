$# Makes Operators_0.cpp … and OperatorsEverything.cpp: the entry points, which call the dispatcher.
$#   unique_operator_headers        includes, if every operator has headers of its own
$#   static_dispatch_extra_headers  includes of backends that are called straight away; usually none
$#   definitions                    the entry points
// ${generated_comment}
// Entry points of a share of the operators.  An operator's name says which share it is in.

#include <ATen/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#ifdef AT_PER_OPERATOR_HEADERS
$unique_operator_headers
#else
#include <ATen/Operators.h>
#endif
$if static_dispatch_extra_headers
$static_dispatch_extra_headers
$endif

namespace at::_ops {
$if definitions
$definitions
$endif

} // namespace at::_ops
