// $generated_comment
#pragma once
// What the signatures of operators are made of.
#include <ATen/core/Generator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
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
