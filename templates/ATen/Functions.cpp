$# Makes Functions.cpp: how a tensor is made of memory that somebody else allocated.
$# It takes no variables of its own; torch has one source of this name, whatever the operators.
// ${generated_comment}
// Tensors of memory that is there already: what `from_blob` and `for_blob` end in.

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/Allocator.h>

namespace at {

Tensor TensorMaker::make_tensor() {
  // Nothing is computed here that a gradient or a trace would have to know of.
  const AutoDispatchBelowADInplaceOrView below_autograd;
  const tracer::impl::NoTracerDispatchMode untraced;

  detail::check_size_nonnegative(sizes_);
  TORCH_CHECK_VALUE(!(deleter_ && ctx_), "give either a deleter or a context: both would own the memory");
  TORCH_CHECK(allocator_ || !resizeable_, "resizeable_storage() needs an allocator(), to allocate more with");

  if (!device_.has_value()) {
    device_ = globalContext().getDeviceFromPtr(data_, opts_.device().type());
  }
  const auto asked = opts_.device();
  TORCH_CHECK_VALUE(
      !asked.has_index() || asked == *device_, "the memory is on ", *device_, ", but the options ask for ", asked);

  const auto nbytes = computeStorageSize();
  Storage storage(
      Storage::use_byte_size_t{},
      nbytes,
      deleter_ ? makeDataPtrFromDeleter() : makeDataPtrFromContext(),
      allocator_,
      resizeable_);

  auto tensor = detail::make_tensor<TensorImpl>(std::move(storage), opts_.computeDispatchKey(), opts_.dtype());
  auto* const impl = tensor.unsafeGetTensorImpl();
  if (strides_.has_value()) {
    impl->set_sizes_and_strides(sizes_, *strides_);
  } else {
    impl->set_sizes_contiguous(sizes_);
  }
  impl->set_storage_offset(storage_offset_.value_or(0));
  impl->set_requires_grad(opts_.requires_grad());
  return tensor;
}

// The bytes from the start of the memory to the end of the last element.
std::size_t TensorMaker::computeStorageSize() const noexcept {
  const std::size_t itemsize = opts_.dtype().itemsize();
  const std::size_t offset = storage_offset_.value_or(0);
  return strides_.has_value() ? detail::computeStorageNbytes(sizes_, *strides_, itemsize, offset)
                              : detail::computeStorageNbytesContiguous(sizes_, itemsize, offset);
}

DataPtr TensorMaker::makeDataPtrFromDeleter() noexcept {
  return InefficientStdFunctionContext::makeDataPtr(data_, std::move(deleter_), *device_);
}

DataPtr TensorMaker::makeDataPtrFromContext() noexcept {
  const auto delete_context = ctx_.get_deleter();
  return DataPtr(data_, ctx_.release(), delete_context, *device_);
}

} // namespace at
