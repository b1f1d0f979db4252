$# Makes Functions.h: the C++ functions that call the operators, all of them.
$#   Functions_includes      the operators' own headers; without such, the one with all entry points
$#   Functions_declarations  the functions, inline, if operators have no headers of their own
$#   has_function            asks whether there is a function for an operator: has_function.var_dim
#pragma once
// ${generated_comment}

#if defined(TORCH_ASSERT_NO_OPERATORS)
#error "This file was to be independent of operators, but this header changes with every one of them."
#elif defined(AT_PER_OPERATOR_HEADERS) && defined(TORCH_ASSERT_ONLY_METHOD_OPERATORS)
#error "This header changes with every operator. Include <ATen/ops/OPERATOR.h> instead."
#endif

#include <optional>

#include <ATen/Context.h>
#include <ATen/DeviceGuard.h>
#include <ATen/TensorUtils.h>
#include <ATen/TracerMode.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/SymInt.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/Deprecated.h>
#include <c10/util/OptionalArrayRef.h>

#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>

$Functions_includes

namespace at {
$if Functions_declarations
$Functions_declarations
$endif

// Members of Tensor that are no operators, as functions.
inline int64_t numel(const Tensor& tensor) { return tensor.numel(); }
inline int64_t size(const Tensor& tensor, int64_t dim) { return tensor.size(dim); }
inline int64_t stride(const Tensor& tensor, int64_t dim) { return tensor.stride(dim); }
inline bool is_complex(const Tensor& tensor) { return tensor.is_complex(); }
inline bool is_conj(const Tensor& tensor) { return tensor.is_conj(); }
inline bool is_floating_point(const Tensor& tensor) { return tensor.is_floating_point(); }
inline bool is_inference(const Tensor& tensor) { return tensor.is_inference(); }
inline bool is_neg(const Tensor& tensor) { return tensor.is_neg(); }
inline bool is_signed(const Tensor& tensor) { return tensor.is_signed(); }
inline bool _is_zerotensor(const Tensor& tensor) { return tensor._is_zerotensor(); }
$if has_function._conj
inline Tensor conj(const Tensor& tensor) { return tensor.conj(); }
$endif

// A plain int would rather become the bool of another overload than a list of dimensions.
$if has_function.std_correction
inline Tensor std(const Tensor& self, int dim) { return at::std(self, IntArrayRef{dim}); }
$endif
$if has_function.std_mean_correction
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, int dim) { return at::std_mean(self, IntArrayRef{dim}); }
$endif
$if has_function.var_correction
inline Tensor var(const Tensor& self, int dim) { return at::var(self, IntArrayRef{dim}); }
$endif
$if has_function.var_mean_correction
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, int dim) { return at::var_mean(self, IntArrayRef{dim}); }
$endif

} // namespace at
