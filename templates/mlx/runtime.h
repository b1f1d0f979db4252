// $generated_comment
// What the generated operators of `$name` have in common; kernels use `View` of it.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mlx/backend/cpu/encoder.h"
#include "mlx/mlx.h"
#include "mlx/primitives.h"
#include "mlx/transforms.h"

namespace $name {

namespace mx = mlx::core;

namespace detail {

// The elements of an array, one row after the other.
template <typename T>
struct View {
  T* data;
  mx::Shape shape;
  size_t size;

  View(T* data, const mx::array& array) : data(data), shape(array.shape()), size(array.size()) {}

  T& operator[](size_t index) const {
    return data[index];
  }
  int ndim() const {
    return static_cast<int>(shape.size());
  }
  // The length of an axis, which is counted from the end if it is negative.
  int length(int axis) const {
    return shape[axis < 0 ? axis + ndim() : axis];
  }
  // The number of elements before (`first` to `last`) an axis, and after it.
  size_t outer(int axis) const {
    return product(0, axis < 0 ? axis + ndim() : axis);
  }
  size_t inner(int axis) const {
    return product((axis < 0 ? axis + ndim() : axis) + 1, ndim());
  }

 private:
  size_t product(int first, int last) const {
    size_t result = 1;
    for (int axis = first; axis < last; ++axis) {
      result *= static_cast<size_t>(shape[axis]);
    }
    return result;
  }
};

template <typename T>
struct Type {
  using type = T;
};

// ------------------------------------------------------------------------------------- inputs

inline void collect(std::vector<mx::array>& all, const mx::array& array) {
  all.push_back(array);
}
inline void collect(std::vector<mx::array>& all, const std::optional<mx::array>& array) {
  if (array) {
    all.push_back(*array);
  }
}
inline void collect(std::vector<mx::array>& all, const std::vector<mx::array>& arrays) {
  all.insert(all.end(), arrays.begin(), arrays.end());
}

// The arrays among the arguments, in order.
template <typename... Arguments>
std::vector<mx::array> flat(const Arguments&... arguments) {
  std::vector<mx::array> all;
  (collect(all, arguments), ...);
  return all;
}
template <typename A, typename B>
std::vector<mx::array> flat(const std::pair<A, B>& results) {
  return {results.first, results.second};
}
template <typename... Results>
std::vector<mx::array> flat(const std::tuple<Results...>& results) {
  return std::apply([](const auto&... each) { return std::vector<mx::array>{each...}; }, results);
}

inline std::vector<mx::array> take(const std::vector<mx::array>& all, size_t& at, size_t count) {
  at += count;
  return {all.begin() + static_cast<std::ptrdiff_t>(at - count), all.begin() + static_cast<std::ptrdiff_t>(at)};
}

inline bool has_dtype(std::initializer_list<mx::Dtype> supported, mx::Dtype dtype) {
  return std::any_of(supported.begin(), supported.end(), [&](mx::Dtype each) { return each.val() == dtype.val(); });
}

inline void check_dtype(const char* name, mx::Dtype dtype, std::initializer_list<mx::Dtype> supported) {
  if (has_dtype(supported, dtype)) {
    return;
  }
  std::ostringstream message;
  message << "[" << name << "] There is no kernel for " << dtype << "; there are kernels for";
  const char* separator = " ";
  for (const auto& each : supported) {
    message << std::exchange(separator, ", ") << each;
  }
  message << ".";
  throw std::invalid_argument(message.str());
}

// The dtype that the arrays are converted to: the one that they promote to, if there are kernels for it.
inline mx::Dtype choose_dtype(
    const char* name, const std::vector<mx::array>& arrays, std::initializer_list<mx::Dtype> supported) {
  if (arrays.empty()) {
    throw std::invalid_argument(std::string("[") + name + "] At least one array is needed.");
  }
  mx::Dtype dtype = arrays[0].dtype();
  for (const auto& array : arrays) {
    dtype = mx::promote_types(dtype, array.dtype());
  }
  const bool is_bool = dtype.val() == mx::bool_.val();
  if (!has_dtype(supported, dtype)) {
    if (is_bool && has_dtype(supported, mx::int32)) {
      return mx::int32;
    }
    if ((is_bool || mx::issubdtype(dtype, mx::integer)) && has_dtype(supported, mx::float32)) {
      return mx::float32;
    }
  }
  check_dtype(name, dtype, supported);
  return dtype;
}

inline void append(
    std::vector<mx::array>& inputs, const std::vector<mx::array>& arrays, mx::Dtype dtype, mx::Stream stream) {
  for (const auto& array : arrays) {
    inputs.push_back(array.dtype().val() == dtype.val() ? array : mx::astype(array, dtype, stream));
  }
}

inline void make_contiguous(std::vector<mx::array>& inputs, mx::Stream stream) {
  for (auto& input : inputs) {
    input = mx::contiguous(input, false, stream);
  }
}

inline bool have_one_shape(const std::vector<mx::array>& arrays) {
  return std::all_of(
      arrays.begin(), arrays.end(), [&](const mx::array& each) { return each.shape() == arrays[0].shape(); });
}

// ------------------------------------------------------------------------------------- shapes

inline mx::Shape broadcast(std::initializer_list<mx::Shape> shapes) {
  mx::Shape result;
  for (const auto& shape : shapes) {
    result = mx::broadcast_shapes(result, shape);
  }
  return result;
}
inline mx::Shape broadcast(const std::vector<mx::array>& arrays) {
  mx::Shape result;
  for (const auto& array : arrays) {
    result = mx::broadcast_shapes(result, array.shape());
  }
  return result;
}

// What a shape rule gives: a single length, of which mx::Shape would make that many axes, doesn't convert.
inline mx::Shape as_shape(mx::Shape shape) {
  return shape;
}

inline int normalized(int axis, const mx::Shape& shape) {
  const int ndim = static_cast<int>(shape.size());
  if (axis < -ndim || axis >= ndim) {
    std::ostringstream message;
    message << "There is no axis " << axis << " in an array with " << ndim << " dimensions.";
    throw std::invalid_argument(message.str());
  }
  return axis < 0 ? axis + ndim : axis;
}

// `shape` without an axis, or with another length of it.
inline mx::Shape drop_axis(const mx::Shape& shape, int axis) {
  axis = normalized(axis, shape);
  mx::Shape result;
  for (int each = 0; each < static_cast<int>(shape.size()); ++each) {
    if (each != axis) {
      result.push_back(shape[each]);
    }
  }
  return result;
}
inline mx::Shape replace_axis(mx::Shape shape, int axis, int length) {
  shape[normalized(axis, shape)] = length;
  return shape;
}

// ---------------------------------------------------------------------------------------- CPU

inline void allocate(std::vector<mx::array>& outputs) {
  for (auto& output : outputs) {
    output.set_data(mx::allocator::malloc(output.nbytes()));
  }
}

inline mx::cpu::CommandEncoder& encoder_for(
    mx::Stream stream, const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  auto& encoder = mx::cpu::get_command_encoder(stream);
  for (const auto& input : inputs) {
    encoder.set_input_array(input);
  }
  for (auto& output : outputs) {
    encoder.set_output_array(output);
  }
  return encoder;
}

template <typename T>
const T* data(const mx::array& array) {
  return array.data<T>();
}
template <typename T>
const T* data(const std::optional<mx::array>& array) {
  return array ? array->data<T>() : nullptr;
}

template <typename T>
View<const T> view(const mx::array& array) {
  return {array.data<T>(), array};
}
template <typename T>
std::optional<View<const T>> view(const std::optional<mx::array>& array) {
  return array ? std::optional(view<T>(*array)) : std::nullopt;
}
template <typename T>
std::vector<View<const T>> view(const std::vector<mx::array>& arrays) {
  std::vector<View<const T>> views;
  for (const auto& array : arrays) {
    views.push_back(view<T>(array));
  }
  return views;
}

// Pointwise kernels compute with float where elements are of half precision.
template <typename T>
auto load(T value) {
  if constexpr (std::is_same_v<T, mx::float16_t> || std::is_same_v<T, mx::bfloat16_t>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}
template <typename T>
auto load_optional(const T* data, size_t at) {
  return data ? std::optional(load(data[at])) : std::nullopt;
}

inline const mx::array* pointer(const mx::array& array) {
  return &array;
}
inline const mx::array* pointer(const std::optional<mx::array>& array) {
  return array ? &*array : nullptr;
}

// Walks over arrays of one shape, whatever their strides: calls f(index, index in the first array, …).
template <size_t count>
class Walk {
 public:
  Walk(const mx::Shape& shape, const std::array<const mx::array*, count>& arrays) {
    for (auto length : shape) {
      size_ *= static_cast<size_t>(length);
    }
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] != 1) {
        push(shape[axis], axis, arrays);
      }
    }
    if (axes_.empty()) {
      axes_.push_back({1, {}});
    }
    is_flat_ = axes_.size() == 1;
    for (auto step : axes_.back().steps) {
      is_flat_ = is_flat_ && (step == 1 || size_ == 1);
    }
  }

  template <typename F>
  void operator()(F&& f) const {
    run(std::forward<F>(f), std::make_index_sequence<count>());
  }

 private:
  struct Axis {
    int64_t length;
    std::array<int64_t, count> steps;
  };

  // Adds an axis, or lengthens the last one if all arrays go on in it.
  void push(int64_t length, size_t axis, const std::array<const mx::array*, count>& arrays) {
    Axis next{length, {}};
    for (size_t each = 0; each < count; ++each) {
      next.steps[each] = arrays[each] ? arrays[each]->strides()[axis] : 0;
    }
    bool goes_on = !axes_.empty();
    for (size_t each = 0; each < count && goes_on; ++each) {
      goes_on = axes_.back().steps[each] == next.steps[each] * length;
    }
    if (goes_on) {
      next.length *= axes_.back().length;
      axes_.back() = next;
    } else {
      axes_.push_back(next);
    }
  }

  template <typename F, size_t... I>
  void run(F&& f, std::index_sequence<I...>) const {
    if (is_flat_) {
      for (size_t index = 0; index < size_; ++index) {
        f(index, ((void)I, index)...);
      }
      return;
    }
    const Axis& last = axes_.back();
    std::vector<int64_t> position(axes_.size() - 1, 0);
    std::array<int64_t, count> start{};
    for (size_t index = 0; index < size_;) {
      for (int64_t inner = 0; inner < last.length; ++inner, ++index) {
        f(index, static_cast<size_t>(start[I] + inner * last.steps[I])...);
      }
      for (size_t axis = position.size(); axis-- > 0;) {
        ((start[I] += axes_[axis].steps[I]), ...);
        if (++position[axis] < axes_[axis].length) {
          break;
        }
        ((start[I] -= axes_[axis].length * axes_[axis].steps[I]), ...);
        position[axis] = 0;
      }
    }
  }

  std::vector<Axis> axes_;
  size_t size_ = 1;
  bool is_flat_ = false;
};

[[noreturn]] inline void throw_no_kernel(const char* name, const char* device) {
  throw std::runtime_error(std::string("[") + name + "] There is no kernel for " + device + ".");
}

// ---------------------------------------------------------------------------------- gradients

// Makes a stream the default one for the operations of a formula.
class OnStream {
 public:
  explicit OnStream(mx::Stream stream) {
    const bool is_default = mx::default_device() == stream.device && mx::default_stream(stream.device) == stream;
    if (!is_default) {
      context_.emplace(stream);
    }
  }

 private:
  std::optional<mx::StreamContext> context_;
};

// Collects the gradients that are asked for; inputs are looked at in order.
class Gradients {
 public:
  Gradients(const std::vector<mx::array>& primals, const std::vector<int>& argnums, mx::Stream stream)
      : primals_(primals), argnums_(argnums), stream_(stream), found_(primals.size()) {}

  // Whether any of the next `count` inputs is asked for.
  bool wants(size_t count) const {
    return std::any_of(argnums_.begin(), argnums_.end(), [&](int argnum) {
      return static_cast<size_t>(argnum) >= at_ && static_cast<size_t>(argnum) < at_ + count;
    });
  }
  void skip(size_t count) {
    at_ += count;
  }
  void set(const char* name, const mx::array& gradient) {
    set(name, std::vector<mx::array>(1, gradient));
  }
  void set(const char* name, const std::vector<mx::array>& gradients) {
    for (size_t index = 0; index < gradients.size() && at_ + index < primals_.size(); ++index) {
      found_[at_ + index] = fitted(name, gradients[index], primals_[at_ + index]);
    }
  }
  std::vector<mx::array> take() const {
    std::vector<mx::array> result;
    for (int argnum : argnums_) {
      const auto& gradient = found_[static_cast<size_t>(argnum)];
      result.push_back(gradient ? *gradient : mx::zeros_like(primals_[static_cast<size_t>(argnum)], stream_));
    }
    return result;
  }

 private:
  mx::array fitted(const char* name, mx::array gradient, const mx::array& primal) const {
    if (gradient.dtype().val() != primal.dtype().val()) {
      gradient = mx::astype(gradient, primal.dtype(), stream_);
    }
    if (gradient.shape() == primal.shape()) {
      return gradient;
    }
    if (gradient.size() == 1) {
      return mx::broadcast_to(mx::reshape(gradient, {}, stream_), primal.shape(), stream_);
    }
    std::ostringstream message;
    message << "[" << name << "] A gradient has the shape " << gradient.shape() << ", but its input has "
            << primal.shape() << ".";
    throw std::invalid_argument(message.str());
  }

  const std::vector<mx::array>& primals_;
  const std::vector<int>& argnums_;
  mx::Stream stream_;
  std::vector<std::optional<mx::array>> found_;
  size_t at_ = 0;
};

// The derivative of a pointwise operator along tangents, by its gradients: what one element does to itself is the
// same in both directions.
template <typename Pull>
std::vector<mx::array> pointwise_jvp(
    Pull&& pull,
    const std::vector<mx::array>& outputs,
    const std::vector<mx::array>& tangents,
    const std::vector<int>& argnums,
    mx::Stream stream) {
  std::vector<mx::array> result;
  for (size_t output = 0; output < outputs.size(); ++output) {
    std::optional<mx::array> sum;
    for (size_t index = 0; index < argnums.size(); ++index) {
      std::vector<mx::array> cotangents;
      for (size_t each = 0; each < outputs.size(); ++each) {
        cotangents.push_back(each == output ? tangents[index] : mx::zeros_like(outputs[each], stream));
      }
      auto part = pull(cotangents, std::vector<int>{argnums[index]})[0];
      sum = sum ? mx::add(*sum, part, stream) : part;
    }
    result.push_back(mx::astype(sum ? *sum : mx::zeros_like(outputs[output], stream), outputs[output].dtype(), stream));
  }
  return result;
}

// The derivative of any operator along tangents: gradients are linear in the cotangents, and the gradient of that is
// the derivative.
template <typename Pull>
std::vector<mx::array> transposed_jvp(
    Pull&& pull,
    const std::vector<mx::array>& outputs,
    const std::vector<mx::array>& tangents,
    const std::vector<int>& argnums,
    mx::Stream stream) {
  std::vector<mx::array> cotangents;
  for (const auto& output : outputs) {
    cotangents.push_back(mx::zeros_like(output, stream));
  }
  auto gradients = [&](const std::vector<mx::array>& at) { return pull(at, argnums); };
  return mx::vjp(gradients, cotangents, tangents).second;
}

// --------------------------------------------------------------------------------------- vmap

// The inputs with their batch axes first. Inputs without one get it if `all`; else their ranks are aligned, so that
// they broadcast.
inline std::vector<mx::array> batch_first(
    const std::vector<mx::array>& inputs, const std::vector<int>& axes, bool all, mx::Stream stream) {
  int length = 1;
  int rank = 0;
  for (size_t index = 0; index < inputs.size(); ++index) {
    const bool is_batched = axes[index] >= 0;
    length = is_batched ? inputs[index].shape(axes[index]) : length;
    rank = std::max(rank, static_cast<int>(inputs[index].ndim()) - is_batched);
  }
  std::vector<mx::array> result;
  for (size_t index = 0; index < inputs.size(); ++index) {
    auto input = inputs[index];
    if (axes[index] >= 0) {
      input = axes[index] == 0 ? input : mx::moveaxis(input, axes[index], 0, stream);
      for (int missing = static_cast<int>(input.ndim()) - 1; !all && missing < rank; ++missing) {
        input = mx::expand_dims(input, 1, stream);
      }
    } else if (all) {
      input = mx::repeat(mx::expand_dims(input, 0, stream), length, 0, stream);
    }
    result.push_back(input);
  }
  return result;
}

// Calls `call` for each element of the batch.
template <typename Call>
std::vector<mx::array> batch_loop(
    const std::vector<mx::array>& inputs, const std::vector<int>& axes, mx::Stream stream, Call&& call) {
  int length = 0;
  for (size_t index = 0; index < inputs.size(); ++index) {
    length = axes[index] >= 0 ? inputs[index].shape(axes[index]) : length;
  }
  if (length == 0) {
    throw std::invalid_argument("A batch without elements can't be looped over.");
  }
  std::vector<std::vector<mx::array>> columns;
  for (int element = 0; element < length; ++element) {
    std::vector<mx::array> slices;
    for (size_t index = 0; index < inputs.size(); ++index) {
      const int axis = axes[index];
      slices.push_back(axis < 0 ? inputs[index] : mx::take(inputs[index], element, axis, stream));
    }
    auto results = call(slices);
    columns.resize(results.size());
    for (size_t each = 0; each < results.size(); ++each) {
      columns[each].push_back(results[each]);
    }
  }
  std::vector<mx::array> stacked;
  for (const auto& column : columns) {
    stacked.push_back(mx::stack(column, 0, stream));
  }
  return stacked;
}

} // namespace detail

using detail::View;

} // namespace $name
