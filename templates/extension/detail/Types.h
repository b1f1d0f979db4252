// $generated_comment
#pragma once
// What the signatures of most operators are made of; the headers of those that take lists of other kinds include more.
#include <ATen/core/Generator.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/OptionalArrayRef.h>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <$namespace/Macros.h>
