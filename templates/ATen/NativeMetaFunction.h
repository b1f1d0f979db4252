$# Makes ops/<operator>_meta.h: the classes whose `meta` says what shape results have, for one operator.
$#   meta_function_declarations   the classes
#pragma once
// ${generated_comment}

#include <optional>
#include <tuple>
#include <vector>

#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/core/Reduction.h>
#include <c10/core/QScheme.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/Deprecated.h>

namespace at::meta {
$for declaration in meta_function_declarations

$declaration
$endfor

} // namespace at::meta
