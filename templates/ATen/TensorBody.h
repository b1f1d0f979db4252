$# Makes core/TensorBody.h: the class Tensor, with the operators that are members of it.
$#   tensor_method_declarations  the members' declarations, in the class
$#   tensor_method_definitions   their definitions, inline, after the class
$#   has_method                  asks whether an operator is a member: has_method.add__Tensor
$# What is written out below has its code in torch, in TensorBase, or in one of those members; a set of
$# definitions without some of these gets a class without what would call them.
#pragma once
// ${generated_comment}

#ifdef TORCH_ASSERT_NO_OPERATORS
#error "This file was to be independent of operators, but this header changes with every member of Tensor."
#endif

#include <optional>

#include <ATen/core/CheckMemoryFormat.h>
#include <ATen/core/DeprecatedTypeProperties.h>
#include <ATen/core/DeprecatedTypePropertiesRegistry.h>
#include <ATen/core/QuantizerBase.h>
#include <ATen/core/TensorAccessor.h>
#include <ATen/core/TensorBase.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/QScheme.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>
#include <c10/core/SymInt.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>
#include <c10/util/Deprecated.h>
#include <c10/util/Exception.h>
#include <c10/util/ExclusivelyOwned.h>
#include <c10/util/ExclusivelyOwnedTensorTraits.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/intrusive_ptr.h>

#include <ATen/MethodOperators.h>

namespace c10 {
template <class T>
class IListRef;
template <class T>
class List;
} // namespace c10

namespace torch::autograd {
struct Node;
} // namespace torch::autograd

namespace at {

class DeprecatedTypeProperties;
struct Generator;
class OptionalTensorRef;
class Tensor;
class TensorRef;
struct Type;
namespace indexing {
struct TensorIndex;
} // namespace indexing

using ITensorList = c10::IListRef<Tensor>;
using Stream = c10::Stream;
using TensorList = ArrayRef<Tensor>;

// A counted reference to a tensor, or to none.  Copies refer to the same tensor: `Tensor b = a;` copies
// no element, and what is done to `b` is done to `a`.  What doesn't depend on operators is in TensorBase.
class TORCH_API Tensor : public TensorBase {
 protected:
  // A reference that doesn't count, for the classes that borrow a tensor: it must be let go uncounted as well.
  explicit Tensor(unsafe_borrow_t borrow, const TensorBase& lender) : TensorBase(borrow, lender) {}

  friend MaybeOwnedTraits<Tensor>;
  friend OptionalTensorRef;
  friend TensorRef;

 public:
  // ---- Making one ----

  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  // Counting up isn't free, so it takes more than a mention of a TensorBase.
  explicit Tensor(const TensorBase& other) : TensorBase(other) {}
  /* implicit */ Tensor(TensorBase&& other) : TensorBase(std::move(other)) {}
  // These two are for generated code, and for code that has an implementation at hand.
  explicit Tensor(c10::intrusive_ptr<TensorImpl, UndefinedTensorImpl> impl) : TensorBase(std::move(impl)) {}
  static Tensor wrap_tensor_impl(c10::intrusive_ptr<TensorImpl, UndefinedTensorImpl> impl) {
    return TensorBase::wrap_tensor_impl(std::move(impl));
  }

  // ---- Assigning ----

  // To a variable: from now on it refers to what the other one refers to.
  Tensor& operator=(const TensorBase& other) & noexcept {
    impl_ = other.getIntrusivePtr();
    return *this;
  }
  Tensor& operator=(TensorBase&& other) & noexcept {
    impl_ = other.unsafeReleaseIntrusivePtr();
    return *this;
  }
  Tensor& operator=(const Tensor& other) & noexcept {
    return *this = static_cast<const TensorBase&>(other);
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    return *this = static_cast<TensorBase&&>(other);
  }

  // To what an expression returned, as in `x[0] = y`: the elements that it refers to are written.
$if has_method.fill__Scalar
  Tensor& operator=(const Scalar& value) && {
    return fill_(value);
  }
$endif
$if has_method.copy_
  Tensor& operator=(const Tensor& other) && {
    return copy_(other);
  }
  Tensor& operator=(Tensor&& other) && {
    return copy_(other);
  }
$endif

  // ---- Arithmetic ----
$if has_method.neg
  Tensor operator-() const { return neg(); }
$endif
$if has_method.bitwise_not
  Tensor operator~() const { return bitwise_not(); }
$endif
$if has_method.add__Tensor
  Tensor& operator+=(const Tensor& other) { return add_(other); }
$endif
$if has_method.add__Scalar
  Tensor& operator+=(const Scalar& other) { return add_(other); }
$endif
$if has_method.sub__Tensor
  Tensor& operator-=(const Tensor& other) { return sub_(other); }
$endif
$if has_method.sub__Scalar
  Tensor& operator-=(const Scalar& other) { return sub_(other); }
$endif
$if has_method.mul__Tensor
  Tensor& operator*=(const Tensor& other) { return mul_(other); }
$endif
$if has_method.mul__Scalar
  Tensor& operator*=(const Scalar& other) { return mul_(other); }
$endif
$if has_method.div__Tensor
  Tensor& operator/=(const Tensor& other) { return div_(other); }
$endif
$if has_method.div__Scalar
  Tensor& operator/=(const Scalar& other) { return div_(other); }
$endif
$if has_method.bitwise_and__Tensor
  Tensor& operator&=(const Tensor& other) { return bitwise_and_(other); }
$endif
$if has_method.bitwise_or__Tensor
  Tensor& operator|=(const Tensor& other) { return bitwise_or_(other); }
$endif
$if has_method.bitwise_xor__Tensor
  Tensor& operator^=(const Tensor& other) { return bitwise_xor_(other); }
$endif

  // ---- Indexing ----

$if has_method.select_int
  Tensor operator[](int64_t index) const {
    return select(/*dim=*/0, index);
  }
  Tensor operator[](const Scalar& index) const {
    TORCH_CHECK_INDEX(index.isIntegral(/*includeBool=*/false), "an index must be an integer");
    return (*this)[index.toLong()];
  }
$if has_method.item
  Tensor operator[](const Tensor& index) const {
    TORCH_CHECK_INDEX(index.defined(), "an undefined tensor is no index");
    TORCH_CHECK_INDEX(index.dim() == 0, "a tensor with dimensions is no index here: use index()");
    return (*this)[index.item()];
  }
$endif
$endif
  // The operators behind these take tensors only; torch makes such of slices, ellipses and numbers.
  Tensor index(ArrayRef<at::indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<at::indexing::TensorIndex> indices) const;
  Tensor& index_put_(ArrayRef<at::indexing::TensorIndex> indices, const Tensor& values);
  Tensor& index_put_(ArrayRef<at::indexing::TensorIndex> indices, const Scalar& value);
  Tensor& index_put_(std::initializer_list<at::indexing::TensorIndex> indices, const Tensor& values);
  Tensor& index_put_(std::initializer_list<at::indexing::TensorIndex> indices, const Scalar& value);

  // ---- The same tensor elsewhere, or in another form ----

  Tensor cpu() const { return on(c10::DeviceType::CPU); }
  Tensor cuda() const { return on(c10::DeviceType::CUDA); }
  Tensor hip() const { return on(c10::DeviceType::HIP); }
  Tensor meta() const { return on(c10::DeviceType::Meta); }
  Tensor metal() const { return on(c10::DeviceType::Metal); }
  Tensor ve() const { return on(c10::DeviceType::VE); }
  Tensor vulkan() const { return on(c10::DeviceType::Vulkan); }
  Tensor toBackend(Backend backend) const {
    return TensorBase::to(options().device(backendToDeviceType(backend)).layout(layout_from_backend(backend)));
  }
  Tensor toType(ScalarType type) const {
    return TensorBase::to(options().dtype(type));
  }
$if has_method.to_dtype
  // `dtype()` returns a TypeMeta, and `x.to(y.dtype())` should do.
  Tensor to(caffe2::TypeMeta type, bool non_blocking = false, bool copy = false) const {
    return to(typeMetaToScalarType(type), non_blocking, copy);
  }
$endif
$if has_method.to_device
  Tensor to(Device device, caffe2::TypeMeta type, bool non_blocking = false, bool copy = false) const {
    return to(device, typeMetaToScalarType(type), non_blocking, copy);
  }
$endif
  Tensor contiguous(MemoryFormat memory_format = MemoryFormat::Contiguous) const {
    return TensorBase::contiguous(memory_format);
  }
  // Borrows a tensor that is contiguous already.  It must outlive the result, so it can't be a temporary.
  c10::MaybeOwned<Tensor> expect_contiguous(MemoryFormat memory_format = MemoryFormat::Contiguous) const&;
  c10::MaybeOwned<Tensor> expect_contiguous(MemoryFormat memory_format = MemoryFormat::Contiguous) && = delete;
$if has_method._conj
$if has_method.conj_physical
  // A view that conjugates when it is read, except of sparse tensors, which have no such views.
  Tensor conj() const {
    if (!is_complex()) {
      return *this;
    }
    const auto form = layout();
    const bool is_compressed = form == kSparseCsr || form == kSparseCsc || form == kSparseBsr || form == kSparseBsc;
    return form == kSparse || is_compressed ? conj_physical() : _conj();
  }
$endif
$endif

  // ---- Looking at it ----

  using TensorBase::size;
  using TensorBase::stride;
  using TensorBase::sym_size;

  // The one element, as a C++ number.
  template <typename T>
  T item() const;
  // Calls `function` with this tensor first.
  template <typename F, typename... Args>
  decltype(auto) m(F function, Args&&... args) const {
    return function(*this, std::forward<Args>(args)...);
  }

  // ---- Gradients ----

  // Adds to the gradients of the leaves that this tensor was computed from, or of `inputs` only.
  // A tensor of several elements needs its own gradient to start with.
  void backward(
      const Tensor& gradient = {},
      std::optional<bool> retain_graph = std::nullopt,
      bool create_graph = false,
      std::optional<TensorList> inputs = std::nullopt) const {
    TORCH_CHECK(!inputs.has_value() || !inputs->empty(), "backward() got a list of inputs without any");
    _backward(inputs.value_or(TensorList()), gradient, retain_graph, create_graph);
  }
  void _backward(
      TensorList inputs,
      const std::optional<Tensor>& gradient,
      std::optional<bool> keep_graph,
      bool create_graph) const;

  const Tensor& requires_grad_(bool _requires_grad = true) const {
    TensorBase::requires_grad_(_requires_grad);
    return *this;
  }
  const Tensor& set_requires_grad(bool requires_grad) const {
    TensorBase::set_requires_grad(requires_grad);
    return *this;
  }

  // Undefined until a call of backward() gets here.
  const Tensor& grad() const {
    const Tensor& gradient = impl_->grad();
    if (!gradient.defined() && !is_leaf() && !retains_grad()) {
      TORCH_WARN("grad() of a tensor that isn't a leaf is undefined, unless retain_grad() was called on it before");
    }
    return gradient;
  }
  // To set the gradient, as in `t.mutable_grad() = x`.  Not for several threads at once.
  Tensor& mutable_grad() const {
    return impl_->mutable_grad();
  }
  // The gradient of forward mode.
  const Tensor& _fw_grad(uint64_t level) const {
    return impl_->_fw_grad(level, *this);
  }
  void _set_fw_grad(const TensorBase& new_grad, uint64_t level, bool is_inplace_op) const {
    impl_->_set_fw_grad(new_grad, *this, level, is_inplace_op);
  }

  // The same elements under other metadata: without history, and with or without links to the original's.
  Tensor data() const { return TensorBase::data(); }
  at::Tensor tensor_data() const { return TensorBase::tensor_data(); }
  at::Tensor variable_data() const { return TensorBase::variable_data(); }

  // Has a function called with each gradient that is computed for this tensor.  It may return another
  // one to go on with.  The result is the hook's number, by which it can be removed.
  template <typename T>
  using hook_return_void_t = std::enable_if_t<std::is_void_v<std::invoke_result_t<T&, Tensor>>, unsigned>;
  template <typename T>
  using hook_return_var_t = std::enable_if_t<std::is_same_v<std::invoke_result_t<T&, Tensor>, Tensor>, unsigned>;
  template <typename T>
  hook_return_void_t<T> register_hook(T&& hook) const;
  template <typename T>
  hook_return_var_t<T> register_hook(T&& hook) const;

  // ---- Kept for old programs ----

  C10_DEPRECATED_MESSAGE("type() is deprecated: ask options(), scalar_type() or device()")
  DeprecatedTypeProperties& type() const {
    const auto backend = dispatchKeyToBackend(legacyExtractDispatchKey(key_set()));
    return globalDeprecatedTypePropertiesRegistry().getDeprecatedTypeProperties(backend, scalar_type());
  }
  C10_DEPRECATED_MESSAGE("is_variable() is deprecated: every tensor is one")
  bool is_variable() const noexcept {
    return !at::impl::variable_excluded_from_dispatch();
  }
  template <typename T>
  C10_DEPRECATED_MESSAGE("data<T>() is deprecated: use data_ptr<T>()")
  T* data() const {
    return data_ptr<T>();
  }
  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
  C10_DEPRECATED_MESSAGE("packed_accessor() is deprecated: use packed_accessor32() or packed_accessor64()")
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> packed_accessor() const& {
    return generic_packed_accessor<T, N, PtrTraits, index_t>();
  }
  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
  C10_DEPRECATED_MESSAGE("packed_accessor() is deprecated: use packed_accessor32() or packed_accessor64()")
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> packed_accessor() && = delete;
$if tensor_method_declarations

  // ---- Operators ----

  $tensor_method_declarations
$endif
$if has_method.var_correction

  // A plain int would rather become the bool of another overload than a list of dimensions.
  Tensor var(int dim) const { return var(IntArrayRef{dim}); }
$endif
$if has_method.std_correction
  Tensor std(int dim) const { return std(IntArrayRef{dim}); }
$endif

 private:
  Tensor on(c10::DeviceType device) const {
    return TensorBase::to(options().device(device));
  }
};

namespace detail {

// A tensor with an implementation of class T, made in place.
template <typename T, typename... Args>
Tensor make_tensor(Args&&... args) {
  return Tensor(c10::make_intrusive<T>(std::forward<Args>(args)...));
}

} // namespace detail
$if tensor_method_definitions
$tensor_method_definitions
$endif

} // namespace at

namespace c10 {

// Borrowing goes without a look at the reference count.
template <>
struct MaybeOwnedTraits<at::Tensor> {
  using owned_type = at::Tensor;
  using borrow_type = at::Tensor;

  static borrow_type createBorrow(const owned_type& lender) {
    return borrow_type(borrow_type::unsafe_borrow_t{}, lender);
  }
  static void destroyBorrow(borrow_type& borrow) {
    // Let go without counting down, since nothing was counted up.
    borrow.unsafeReleaseTensorImpl();
  }
  static void assignBorrow(borrow_type& borrow, const borrow_type& other) {
    destroyBorrow(borrow);
    borrow = createBorrow(other);
  }
  static const owned_type& referenceFromBorrow(const borrow_type& borrow) { return borrow; }
  static const owned_type* pointerFromBorrow(const borrow_type& borrow) { return &borrow; }
  static bool debugBorrowIsValid(const borrow_type&) { return true; }
};

template <>
struct ExclusivelyOwnedTraits<at::Tensor> : ExclusivelyOwnedTensorTraits<at::Tensor> {};

} // namespace c10

namespace at {

inline c10::MaybeOwned<Tensor> borrow_from_optional_tensor(const std::optional<Tensor>& tensor) {
  if (tensor.has_value()) {
    return c10::MaybeOwned<Tensor>::borrowed(*tensor);
  }
  return c10::MaybeOwned<Tensor>::owned(std::in_place);
}

inline c10::MaybeOwned<Tensor> Tensor::expect_contiguous(MemoryFormat memory_format) const& {
  if (is_contiguous(memory_format)) {
    return c10::MaybeOwned<Tensor>::borrowed(*this);
  }
  return c10::MaybeOwned<Tensor>::owned(contiguous(memory_format));
}

} // namespace at
