// $generated_comment
// Runs the Metal kernels of `$name`; only builds with Metal compile this.
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "$name/primitives.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"

namespace $name {

namespace detail {

// The folder of this library, which has the library of kernels as well.
static const std::string& library_folder() {
  static const std::string folder = [] {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void*>(&library_folder), &info)) {
      throw std::runtime_error("The folder of $name can't be found.");
    }
    return std::filesystem::path(info.dli_fname).parent_path().string();
  }();
  return folder;
}

static void bind_shape(mx::metal::CommandEncoder& encoder, const mx::array& array, int index) {
  // A buffer can't be empty.
  const auto shape = array.ndim() == 0 ? mx::Shape{1} : array.shape();
  encoder.set_vector_bytes(shape, index);
  encoder.set_bytes(static_cast<int>(array.ndim()), index + 1);
}

} // namespace detail

$for op in operators
void ${op.primitive}::eval_gpu(const std::vector<mx::array>& inputs_, std::vector<mx::array>& outputs_) {
  [[maybe_unused]] const auto arrays_ = ${op.arrays}::unpack(inputs_, params_);
  ${op.locals}
  detail::allocate(outputs_);
  const char* kernel_name_ = nullptr;
  switch (${op.switched}.val()) {
$for case in op.metal_cases
    case mx::Dtype::Val::${case.dtype}:
      kernel_name_ = "${op.name}_${case.dtype}";
      break;
$endfor
    default:
      detail::throw_no_kernel("${op.python_name}", "this dtype on the GPU");
  }
  const size_t threads_ = outputs_[0].size();
  if (threads_ == 0) {
    return;
  }
  auto& device_ = mx::metal::device(stream().device);
  auto* kernel_ = device_.get_kernel(kernel_name_, device_.get_library("$name", detail::library_folder()));
  auto& encoder_ = mx::metal::get_command_encoder(stream());
  encoder_.set_compute_pipeline_state(kernel_);
  ${op.bound}
  const size_t group_ = std::min<size_t>(threads_, kernel_->maxTotalThreadsPerThreadgroup());
  encoder_.dispatch_threads(MTL::Size(threads_, 1, 1), MTL::Size(group_, 1, 1));
}

$endfor
} // namespace $name
