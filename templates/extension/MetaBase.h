// $generated_comment
#pragma once
#include <ATen/TensorMeta.h>
#include <c10/core/SymIntArrayRef.h>

#include <$namespace/Macros.h>

namespace $namespace {

// What the shape functions of structured operators derive from.  Beside the `set_output_...` of
// at::impl::MetaBase there is one that takes sizes which may be symbolic, as those that
// `tensor.sym_sizes()` gives: a shape function that uses it serves dynamic shapes.
struct $api MetaBase : public at::impl::MetaBase {
  virtual void set_output_symint(int64_t output_idx, c10::SymIntArrayRef sizes, at::TensorOptions options) {
    set_output_raw_strided(output_idx, C10_AS_INTARRAYREF_SLOW(sizes), {}, options);
  }
};

} // namespace $namespace
