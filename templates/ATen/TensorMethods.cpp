$# Makes core/TensorMethods.cpp: the members of TensorBase and Tensor that are templates over the C++ element type.
$#   has_method   asks whether an operator is a member of Tensor: has_method.item
// ${generated_comment}
// Access to elements as C++ values, for each type that elements may be of.

#include <string_view>

#include <ATen/core/TensorBody.h>
#include <c10/core/Scalar.h>

namespace at {
namespace {

// Refuses a C++ type that the elements aren't of.  Quantized ones are also let through as plain integers.
void check_element_type(const TensorBase& tensor, ScalarType asked) {
  const auto type = tensor.scalar_type();
  const bool fits = type == asked || (isQIntType(type) && toUnderlying(type) == asked);
  TORCH_CHECK(fits, "the elements are of type ", type, ", not of type ", asked);
}

} // namespace

template <typename T>
T* TensorBase::data_ptr() const {
  return mutable_data_ptr<T>();
}

template <typename T>
T* TensorBase::mutable_data_ptr() const {
  check_element_type(*this, c10::CppTypeToScalarType<T>());
  return unsafeGetTensorImpl()->mutable_data_ptr_impl<T>();
}

template <typename T>
const T* TensorBase::const_data_ptr() const {
  using Element = std::remove_const_t<T>;
  check_element_type(*this, c10::CppTypeToScalarType<Element>());
  return unsafeGetTensorImpl()->data_ptr_impl<Element>();
}

#define INSTANTIATE_POINTERS(T, name)                                \
  template TORCH_API T* TensorBase::data_ptr<T>() const;             \
  template TORCH_API T* TensorBase::mutable_data_ptr<T>() const;     \
  template TORCH_API const T* TensorBase::const_data_ptr<T>() const; \
  template TORCH_API const T* TensorBase::const_data_ptr<const T>() const;

AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(INSTANTIATE_POINTERS)
AT_FORALL_QINT_TYPES(INSTANTIATE_POINTERS)
INSTANTIATE_POINTERS(uint16_t, UInt16)
INSTANTIATE_POINTERS(uint32_t, UInt32)
INSTANTIATE_POINTERS(uint64_t, UInt64)
#undef INSTANTIATE_POINTERS
$if has_method.item

#define SPECIALIZE_ITEM(T, name)   \
  template <>                      \
  TORCH_API T Tensor::item() const { \
    return item().to##name();      \
  }

AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(SPECIALIZE_ITEM)
#undef SPECIALIZE_ITEM
$endif

} // namespace at
