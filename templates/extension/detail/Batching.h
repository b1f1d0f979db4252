// $generated_comment
#pragma once
// What stands between vmap and operators.
#include <ATen/core/List.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/ops/result_type.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

namespace $namespace::detail {

// Under nested vmaps a tensor may be a batch of batches; the level says of which vmap it is one.
inline int64_t level_of(const at::Tensor& tensor) {
  const auto* batched = tensor.defined() ? at::functorch::maybeGetBatchedImpl(tensor) : nullptr;
  return batched == nullptr ? 0 : batched->level();
}

inline int64_t level_of(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? level_of(*tensor) : 0;
}

inline int64_t level_of(at::TensorList tensors) {
  int64_t level = 0;
  for (const at::Tensor& tensor : tensors) {
    level = std::max(level, level_of(tensor));
  }
  return level;
}

inline int64_t level_of(const std::optional<at::TensorList>& tensors) {
  return tensors.has_value() ? level_of(*tensors) : 0;
}

template <class Tensors>
int64_t level_of(const c10::List<Tensors>& tensors) {
  int64_t level = 0;
  for (size_t at = 0; at < tensors.size(); ++at) {
    level = std::max(level, level_of(tensors.get(at)));
  }
  return level;
}

// The level of the innermost vmap that maps over any of these; 0 if none does.
template <class... Tensors>
int64_t innermost_level(const Tensors&... tensors) {
  return std::max({int64_t(0), level_of(tensors)...});
}

template <class Tensors>
bool is_batched(const Tensors& tensors, int64_t level) {
  return level > 0 && level_of(tensors) == level;
}

// A tensor's value and its batch dimension, if it has one at the level.
inline std::tuple<at::Tensor, std::optional<int64_t>> unwrap(const at::Tensor& tensor, int64_t level) {
  if (!is_batched(tensor, level)) {
    return {tensor, std::nullopt};
  }
  const auto* batched = at::functorch::maybeGetBatchedImpl(tensor);
  return {batched->value(), batched->bdim()};
}

inline std::tuple<std::optional<at::Tensor>, std::optional<int64_t>> unwrap(
    const std::optional<at::Tensor>& tensor, int64_t level) {
  return tensor.has_value() ? unwrap(*tensor, level)
                            : std::tuple<std::optional<at::Tensor>, std::optional<int64_t>>();
}

inline at::Tensor batch(at::Tensor value, std::optional<int64_t> bdim, int64_t level) {
  return bdim.has_value() ? at::functorch::makeBatched(std::move(value), *bdim, level) : value;
}

inline std::vector<at::Tensor> batch(std::vector<at::Tensor> values, std::optional<int64_t> bdim, int64_t level) {
  for (at::Tensor& value : values) {
    value = batch(std::move(value), bdim, level);
  }
  return values;
}

// Results of operators that work element by element have the batch first.
inline at::Tensor batch(at::Tensor value, int64_t level) {
  return batch(std::move(value), 0, level);
}

template <class... Tensors>
std::tuple<Tensors...> batch(std::tuple<Tensors...> values, int64_t level) {
  return std::apply([&](auto&&... value) { return std::make_tuple(batch(std::move(value), level)...); }, values);
}

// Tensors with the batch first, and then as many dimensions as the largest of them has, so that they broadcast.
class Operands {
 public:
  Operands(int64_t level, std::initializer_list<std::reference_wrapper<const at::Tensor>> tensors) {
    int64_t rank = 0;
    for (const at::Tensor& tensor : tensors) {
      auto [value, bdim] = unwrap(tensor, level);
      batched_.push_back(bdim.has_value());
      rank = std::max(rank, value.dim() - (bdim.has_value() ? 1 : 0));
      values_.push_back(bdim.has_value() ? value.movedim(*bdim, 0) : std::move(value));
    }
    if (any_batched()) {
      keep_types(rank);
      for (size_t at = 0; at < values_.size(); ++at) {
        values_[at] = batched_[at] ? align(values_[at], rank) : values_[at];
      }
    }
  }

  bool any_batched() const {
    return std::find(batched_.begin(), batched_.end(), true) != batched_.end();
  }

  void check_first_batched(const char* name) const {
    TORCH_CHECK(
        batched_[0], name, ": vmap can't change a tensor in place that it doesn't map over, by one that it does");
  }

  // As operators take tensors that they write to; all are the caller's own.
  at::Tensor& operator[](size_t at) const {
    return values_[at];
  }

 private:
  static at::Tensor align(const at::Tensor& value, int64_t rank) {
    auto sizes = value.sym_sizes().vec();
    sizes.insert(sizes.begin() + 1, rank + 1 - value.dim(), c10::SymInt(1));
    return value.view_symint(sizes);
  }

  // A tensor without dimensions leaves the type of the result to the others; with a batch it no longer would.
  void keep_types(int64_t rank) {
    for (size_t at = 0; rank > 0 && at < values_.size(); ++at) {
      if (!batched_[at] || values_[at].dim() != 1) {
        continue;
      }
      for (size_t other = 0; other < values_.size(); ++other) {
        const bool has_dims = values_[other].dim() > (batched_[other] ? 1 : 0);
        if (has_dims && values_[other].scalar_type() != values_[at].scalar_type()) {
          values_[at] = values_[at].to(at::result_type(values_[at].select(0, 0), values_[other]));
          break;
        }
      }
    }
  }

  mutable std::vector<at::Tensor> values_;
  std::vector<bool> batched_;
};

} // namespace $namespace::detail
