// $generated_comment
// The operators of `$name`: what surrounds their kernels.
#include "$name/primitives.h"
$if has_cpu
#include "kernels.h"
$endif

namespace $name {

$for op in flattened
// ${op.rule}

${op.arrays} ${op.arrays}::unpack(
    [[maybe_unused]] const std::vector<mx::array>& inputs, [[maybe_unused]] const ${op.params}& params) {
  [[maybe_unused]] size_t at = 0;
  return {
      ${op.unpacked}
  };
}

$if op.gradients
std::vector<mx::array> ${op.name}_vjp(
    const std::vector<mx::array>& primals_,
    [[maybe_unused]] const std::vector<mx::array>& cotangents_,
    const std::vector<int>& argnums_,
    [[maybe_unused]] const std::vector<mx::array>& outputs_,
    [[maybe_unused]] const ${op.params}& params_,
    mx::StreamOrDevice s_) {
  using namespace mlx::core;
  using namespace detail;
  const mx::Stream s = mx::to_stream(s_);
  const detail::OnStream on_stream_(s);
  const auto arrays_ = ${op.arrays}::unpack(primals_, params_);
  ${op.locals}
  ${op.gradient_locals}
  detail::Gradients gradients_(primals_, argnums_, s);
$for gradient in op.gradients
$if gradient.formula
  if (gradients_.wants(${gradient.count})) {
    gradients_.set("${op.python_name}", ${gradient.formula});
  }
$endif
  gradients_.skip(${gradient.count});
$endfor
  return gradients_.take();
}

$endif
$endfor
$for op in composites
// ${op.rule}

${op.returns} ${op.name}(${op.parameters}) {
$if op.gradients
  const mx::Stream stream_ = mx::to_stream(s);
  const ${op.params} params_{${op.member_values}};
  auto forward_ = [=](const std::vector<mx::array>& inputs_) {
    [[maybe_unused]] const auto arrays_ = ${op.arrays}::unpack(inputs_, params_);
    ${op.locals}
    [[maybe_unused]] const mx::StreamOrDevice s = stream_;
$if op.expression
    using namespace mlx::core;
    using namespace detail;
    const detail::OnStream on_stream_(stream_);
    return detail::flat(${op.returns}(${op.expression}));
$else
    return detail::flat(composite::${op.name}(${op.arguments}));
$endif
  };
  auto backward_ = [=](const std::vector<mx::array>& primals_,
                       const std::vector<mx::array>& cotangents_,
                       const std::vector<mx::array>& outputs_) {
    std::vector<int> argnums_(primals_.size());
    for (size_t each_ = 0; each_ < argnums_.size(); ++each_) {
      argnums_[each_] = static_cast<int>(each_);
    }
    return ${op.name}_vjp(primals_, cotangents_, argnums_, outputs_, params_, stream_);
  };
  auto results_ = mx::custom_vjp(forward_, backward_)(detail::flat(${op.array_names}));
  return ${op.results};
$else
$if op.expression
  using namespace mlx::core;
  using namespace detail;
  const detail::OnStream on_stream_(mx::to_stream(s));
  return ${op.expression};
$else
  return composite::${op.name}(${op.arguments});
$endif
$endif
}

$endfor
$for op in kernels
// ${op.rule}

${op.returns} ${op.name}(${op.parameters}) {
  const mx::Stream stream_ = mx::to_stream(s);
$if op.promoted
  const mx::Dtype dtype_ =
      detail::choose_dtype("${op.python_name}", detail::flat(${op.promoted}), {${op.supported}});
$endif
$for dtype in op.given_dtypes
  detail::check_dtype("${op.python_name}", $dtype, {${op.supported}});
$endfor
  std::vector<mx::array> inputs_;
$for array in op.array_members
  detail::append(inputs_, detail::flat(${array.name}), ${array.dtype}, stream_);
$endfor
$if op.pointwise
  if (!detail::have_one_shape(inputs_)) {
    inputs_ = mx::broadcast_arrays(inputs_, stream_);
  }
$if op.metal
  if (stream_.device == mx::Device::gpu) {
    detail::make_contiguous(inputs_, stream_);
  }
$endif
$else
  detail::make_contiguous(inputs_, stream_);
$endif
  auto primitive_ = std::make_shared<${op.primitive}>(stream_, ${op.params}{${op.member_values}});
  auto shapes_ = primitive_->output_shapes(inputs_);
$if op.is_single
  return mx::array(std::move(shapes_[0]), ${op.result_dtypes}, std::move(primitive_), std::move(inputs_));
$else
  auto results_ = mx::array::make_arrays(std::move(shapes_), {${op.result_dtypes}}, primitive_, inputs_);
  return ${op.results};
$endif
}

static std::vector<mx::array> apply_${op.name}(
    [[maybe_unused]] const std::vector<mx::array>& inputs_,
    [[maybe_unused]] const ${op.params}& params_,
    mx::Stream s) {
  [[maybe_unused]] const auto arrays_ = ${op.arrays}::unpack(inputs_, params_);
  ${op.locals}
  return detail::flat(::${name}::${op.name}(${op.arguments}));
}

void ${op.primitive}::eval_cpu(
    [[maybe_unused]] const std::vector<mx::array>& inputs_, [[maybe_unused]] std::vector<mx::array>& outputs_) {
$if op.cpu
  [[maybe_unused]] const auto arrays_ = ${op.arrays}::unpack(inputs_, params_);
  ${op.locals}
  detail::allocate(outputs_);
  auto& encoder_ = detail::encoder_for(stream(), inputs_, outputs_);
  auto run_ = [&]<typename T>(detail::Type<T>) {
$if op.pointwise
    encoder_.dispatch([walk_ = detail::Walk<${op.array_count}>(outputs_[0].shape(), {${op.pointers}}),
                       ${op.captures}]() {
      walk_([=](size_t index_, ${op.indices}) {
        ${op.body}
      });
    });
$else
    encoder_.dispatch([${op.captures}]() { ${op.cpu}(${op.kernel_arguments}); });
$endif
  };
  switch (${op.switched}.val()) {
$for case in op.cases
    case mx::Dtype::Val::${case.dtype}:
      run_(detail::Type<${case.type}>{});
      break;
$endfor
    default:
      detail::throw_no_kernel("${op.python_name}", "this dtype");
  }
$else
  detail::throw_no_kernel("${op.python_name}", "the CPU");
$endif
}

$if op.metal
#ifndef OPGEN_MLX_METAL
$endif
void ${op.primitive}::eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) {
  detail::throw_no_kernel("${op.python_name}", "this GPU");
}
$if op.metal
#endif
$endif

$if op.gradients
std::vector<mx::array> ${op.primitive}::vjp(
    const std::vector<mx::array>& primals_,
    const std::vector<mx::array>& cotangents_,
    const std::vector<int>& argnums_,
    const std::vector<mx::array>& outputs_) {
  return ${op.name}_vjp(primals_, cotangents_, argnums_, outputs_, params_, stream());
}

std::vector<mx::array> ${op.primitive}::jvp(
    const std::vector<mx::array>& primals_,
    const std::vector<mx::array>& tangents_,
    const std::vector<int>& argnums_) {
  const auto outputs_ = apply_${op.name}(primals_, params_, stream());
  auto pull = [&](const std::vector<mx::array>& cotangents_, const std::vector<int>& wanted) {
    return ${op.name}_vjp(primals_, cotangents_, wanted, outputs_, params_, stream());
  };
  return detail::${op.jvp}(pull, outputs_, tangents_, argnums_, stream());
}

$endif
std::pair<std::vector<mx::array>, std::vector<int>> ${op.primitive}::vmap(
    [[maybe_unused]] const std::vector<mx::array>& inputs_, [[maybe_unused]] const std::vector<int>& axes_) {
$if op.batches_by_loop
  auto results = detail::batch_loop(inputs_, axes_, stream(), [&](const std::vector<mx::array>& element) {
    return apply_${op.name}(element, params_, stream());
  });
$else
$if op.batches_axes
  auto batched_ = params_;
$if op.batched_arguments
  {
    using namespace mlx::core;
    using namespace detail;
    [[maybe_unused]] const auto arrays_ = ${op.arrays}::unpack(inputs_, params_);
    ${op.locals}
$for change in op.batched_arguments
    batched_.${change.name} = ${change.expression};
$endfor
  }
$endif
  auto results =
      apply_${op.name}(detail::batch_first(inputs_, axes_, ${op.batches_all}, stream()), batched_, stream());
$else
  throw std::invalid_argument("[${op.python_name}] vmap is not supported.");
$endif
$endif
$if op.can_batch
  std::vector<int> result_axes(results.size(), 0);
  return {std::move(results), std::move(result_axes)};
$endif
}

bool ${op.primitive}::is_equivalent(const mx::Primitive& other) const {
  const auto* same = dynamic_cast<const ${op.primitive}*>(&other);
  return same != nullptr && same->params_ == params_;
}

std::vector<mx::Shape> ${op.primitive}::output_shapes([[maybe_unused]] const std::vector<mx::array>& inputs_) {
$if op.pointwise
  return std::vector<mx::Shape>(${op.result_count}, detail::broadcast(inputs_));
$else
  using namespace mlx::core;
  using namespace detail;
  [[maybe_unused]] const auto arrays_ = ${op.arrays}::unpack(inputs_, params_);
  ${op.locals}
  return {${op.shapes}};
$endif
}

$endfor
} // namespace $name
