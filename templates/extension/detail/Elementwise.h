// $generated_comment
#pragma once
// The results of element by element operators for symbolic sizes, which their shape functions don't know.
#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <numeric>

#include <$namespace/detail/Structured.h>

namespace $namespace::detail {

// The sizes and strides that the operands give the results.
class Elementwise {
 public:
  Elementwise(std::initializer_list<std::reference_wrapper<const at::Tensor>> operands) {
    for (const at::Tensor& operand : operands) {
      is_symbolic_ = is_symbolic_ || operand.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
    }
    if (C10_UNLIKELY(is_symbolic_)) {
      operands_.assign(operands.begin(), operands.end());
      for (const at::Tensor& operand : operands) {
        sizes_ = at::infer_size_symdimvector(sizes_, operand.sym_sizes());
      }
    }
  }

  bool is_symbolic() const {
    return is_symbolic_;
  }

  // A tensor that the shape function can look at: all that counts beside sizes is as in `operand`.
  static at::Tensor stand_in(const at::Tensor& operand) {
    const std::vector<int64_t> ones(operand.dim(), 1);
    at::Tensor made = at::detail::empty_meta(ones, operand.options().device(at::kMeta));
    if (operand.unsafeGetTensorImpl()->is_wrapped_number()) {
      made.unsafeGetTensorImpl()->set_wrapped_number(true);
    }
    return made;
  }

  // A result, of which the shape function has told the rest.
  at::Tensor allocate(const at::Tensor& told) const {
    return at::empty_strided_symint(sizes_, strides(), told.options().device(at::kMeta));
  }

  void resize(const at::Tensor& out, const at::Tensor& told) const {
    resize_out_symint(out, sizes_, told.options().device(out.device()));
  }

  void check_inplace(const at::Tensor& self, const at::Tensor& told) const {
    detail::check_inplace<c10::SymIntArrayRef>(self, self.sym_sizes(), sizes_, told.options().device(self.device()));
  }

 private:
  // Dimensions lie in memory in the order in which they lie in the operands, the first to tell deciding.
  c10::SymDimVector strides() const {
    const int64_t rank = static_cast<int64_t>(sizes_.size());
    std::vector<int64_t> order(rank); // from the innermost dimension
    std::iota(order.rbegin(), order.rend(), 0);
    for (int64_t i = 1; i < rank; ++i) {
      int64_t place = i;
      for (int64_t j = i - 1; j >= 0; --j) {
        const int compared = compare(order[j], order[place]);
        if (compared > 0) {
          std::swap(order[j], order[place]);
          place = j;
        } else if (compared < 0) {
          break;
        }
      }
    }
    c10::SymDimVector strides(rank, c10::SymInt(1));
    c10::SymInt step = 1;
    for (const int64_t dim : order) {
      strides[dim] = step;
      step = step * sizes_[dim].max(1);
    }
    return strides;
  }

  // Whether `inner` must lie outside of `outer` (1), is right where it is (-1), or nothing tells (0).
  int compare(int64_t inner, int64_t outer) const {
    for (const at::Tensor& operand : operands_) {
      const c10::SymInt inner_stride = stride(operand, inner), outer_stride = stride(operand, outer);
      if (inner_stride == 0 || outer_stride == 0) {
        continue;
      }
      if (inner_stride < outer_stride) {
        return -1;
      }
      if (inner_stride > outer_stride || sizes_[inner] > sizes_[outer]) {
        return 1;
      }
    }
    return 0;
  }

  // The operand's stride in a dimension of the results; 0 where it is repeated.
  c10::SymInt stride(const at::Tensor& operand, int64_t dim) const {
    const int64_t own = dim - (static_cast<int64_t>(sizes_.size()) - operand.dim());
    if (own < 0 || (operand.sym_size(own) == 1 && sizes_[dim] != 1)) {
      return 0;
    }
    return operand.sym_stride(own);
  }

  bool is_symbolic_ = false;
  c10::SymDimVector sizes_;
  std::vector<std::reference_wrapper<const at::Tensor>> operands_;
};

} // namespace $namespace::detail
