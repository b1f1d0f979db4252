$# Makes ViewMetaClasses.cpp: what the classes of ViewMetaClasses.h do.
$#   unique_op_headers          includes, if every operator has headers of its own
$#   view_meta_implementations  the members of each class
// ${generated_comment}
// How functionalization takes each view again, and puts a changed one back into its base.

#include <ATen/FunctionalInverses.h>
#include <ATen/ViewMetaClasses.h>

#ifdef AT_PER_OPERATOR_HEADERS
$unique_op_headers
#else
#include <ATen/NativeFunctions.h>
#include <ATen/Operators.h>
#endif

namespace at::functionalization {
$for implementation in view_meta_implementations

$implementation
$endfor

} // namespace at::functionalization
