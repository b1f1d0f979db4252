$# Makes python_variable_methods.cpp: the methods of torch.Tensor, for Python.
$#   unique_ops_headers  includes, if every operator has headers of its own
$#   py_method_defs      a row of the type's table for each method that is generated
$#   py_methods          those methods: each parses its arguments and calls the operator
$#   has_binding         asks whether there is such a method: has_binding.add_
$#   has_method          asks whether an operator is a member of the C++ class: has_method.nonzero_numpy
$# What is written out below has no operator behind it, or takes what no schema can say.
// ${generated_comment}

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include <Python.h>

#ifdef _MSC_VER
#undef copysign // a macro of Python's there, and an operator here
#endif

#include <optional>
#include <stdexcept>

#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Size.h>
#include <torch/csrc/autograd/generated/VariableType.h>
#include <torch/csrc/autograd/generated/python_return_types.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/utils/error_messages.h>
#include <torch/csrc/autograd/utils/python_arg_parsing.h>
#include <torch/csrc/autograd/utils/wrap_outputs.h>
#include <torch/csrc/jit/frontend/tracer.h>
#ifdef USE_CUDA
#include <torch/csrc/cuda/Event.h>
#endif
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/numpy_stub.h>
#include <torch/csrc/utils/object_ptr.h>
#include <torch/csrc/utils/pycfunction_helpers.h>
#include <torch/csrc/utils/python_arg_parser.h>
#include <torch/csrc/utils/python_numbers.h>
#include <torch/csrc/utils/python_strings.h>
#include <torch/csrc/utils/tensor_apply.h>
#include <torch/csrc/utils/tensor_list.h>
#include <torch/csrc/utils/tensor_new.h>
#include <torch/csrc/utils/tensor_numpy.h>
#include <torch/csrc/utils/tensor_types.h>

#include <ATen/FuncTorchTLS.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/TorchDispatchUtils.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Stream.h>

#ifdef AT_PER_OPERATOR_HEADERS
#include <ATen/ops/_local_scalar_dense.h>
$unique_ops_headers
#else
#include <ATen/Functions.h>
#endif

using at::device_of;
using at::OptionalDeviceGuard;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
using c10::Stream;
using namespace torch::autograd::utils;

namespace torch::autograd {

// ---- How methods are called ----

namespace {

using MaybeFormat = std::optional<c10::MemoryFormat>;

// A method without arguments.  A subclass of Tensor may have taken it over.
template <typename F>
PyObject* plain_method(PyObject* self, PyObject* args, const char* name, F body) {
  HANDLE_TH_ERRORS
  if (has_torch_function(self)) {
    return handle_torch_function(self, name, args);
  }
  return body(THPVariable_Unpack(self));
  END_HANDLE_TH_ERRORS
}

// A method with arguments, at most `count` of them; `body` gets them parsed.
template <int count, size_t overloads, typename F>
PyObject* parsed_method(
    const char* const (&signatures)[overloads],
    PyObject* self,
    PyObject* args,
    PyObject* kwargs,
    F body,
    PyObject* owner = THPVariableClass) {
  HANDLE_TH_ERRORS
  // One for each method: no two of them have a `body` of the same type.
  static PythonArgParser parser(std::vector<std::string>(std::begin(signatures), std::end(signatures)));
  ParsedArgs<count> parsed_args;
  auto r = parser.parse(self, args, kwargs, parsed_args);
  if (r.has_torch_function()) {
    return handle_torch_function(r, self, args, kwargs, owner, "torch.Tensor");
  }
  return body(THPVariable_Unpack(self), r);
  END_HANDLE_TH_ERRORS
}

// Calls an operator on the tensor's device, while other threads may have the interpreter.
template <typename F>
auto unlocked(const Tensor& self, F call) {
  const pybind11::gil_scoped_release released;
  const OptionalDeviceGuard on_device(device_of(self));
  return call(self);
}

template <typename T>
PyObject* cast(T&& value) {
  return py::cast(std::forward<T>(value)).release().ptr();
}

PyObject* same(PyObject* object) {
  Py_INCREF(object);
  return object;
}

} // namespace

// ---- What a tensor is ----

#define PLAIN_METHOD(name, python_name, result)                        \
  static PyObject* THPVariable_##name(PyObject* self, PyObject* args) { \
    return plain_method(self, args, python_name, [](const Tensor& tensor) -> PyObject* { return result; }); \
  }

PLAIN_METHOD(_is_view, "_is_view", wrap(tensor.is_view()))
// Reading through it must not give the tensor memory of its own.
PLAIN_METHOD(const_data_ptr, "const_data_ptr", wrap(const_cast<void*>(tensor.const_data_ptr())))
PLAIN_METHOD(data_ptr, "data_ptr", wrap(tensor.data_ptr()))
PLAIN_METHOD(dim, "dim", THPUtils_packInt64(tensor.dim()))
PLAIN_METHOD(element_size, "element_size", THPUtils_packInt64(tensor.element_size()))
PLAIN_METHOD(get_device, "get_device", wrap(tensor.get_device()))
PLAIN_METHOD(numel, "numel", jit::tracer::isTracing() ? wrap(jit::tracer::getNumelOf(tensor)) : cast(tensor.sym_numel()))
PLAIN_METHOD(storage, "untyped_storage", createPyObject(tensor.storage()))
PLAIN_METHOD(storage_offset, "storage_offset", cast(tensor.sym_storage_offset()))
#undef PLAIN_METHOD

static PyObject* THPVariable_size(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {"size(int64_t? dim=None)"};
  return parsed_method<3>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) {
    if (!r.toInt64Optional(0).has_value()) {
      return THPSize_NewFromSymSizes(tensor);
    }
    // A trace has no place for a size that isn't known yet.
    return jit::tracer::isTracing() ? wrap(jit::tracer::getSizeOf(tensor, r.toInt64(0)))
                                    : torch::toPyObject(tensor.sym_size(r.toInt64(0)));
  });
}

static PyObject* THPVariable_stride(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {"stride(int64_t? dim=None)"};
  return parsed_method<3>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) {
    if (r.toInt64Optional(0).has_value()) {
      return torch::toPyObject(tensor.sym_stride(r.toInt64(0)));
    }
    // A plain tuple, not a torch.Size.
    const auto strides = tensor.sym_strides();
    THPObjectPtr tuple(PyTuple_New(static_cast<Py_ssize_t>(strides.size())));
    if (!tuple) {
      throw python_error();
    }
    for (size_t at = 0; at < strides.size(); ++at) {
      PyObject* stride = torch::toPyObject(strides[at]);
      if (stride == nullptr) {
        throw python_error();
      }
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(at), stride);
    }
    return tuple.release();
  });
}

static PyObject* THPVariable_is_contiguous(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {"is_contiguous(*, MemoryFormat memory_format=contiguous_format)"};
  const auto body = [](const Tensor& tensor, PythonArgs& r) { return wrap(tensor.is_contiguous(r.memoryformat(0))); };
  return parsed_method<1>(signatures, self, args, kwargs, body, reinterpret_cast<PyObject*>(Py_TYPE(self)));
}

static PyObject* THPVariable_requires_grad_(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {"requires_grad_(bool requires_grad=True)"};
  return parsed_method<1>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) {
    if (const auto& transforms = at::functorch::functorchTLSAccessor()) {
      transforms->checkSupportsInplaceRequiresGrad();
    }
    const bool wanted = r.toBool(0);
    if (!wanted && !tensor.is_leaf()) {
      throw std::runtime_error(autograd::utils::requires_grad_leaf_error(wanted));
    }
    if (wanted && !isDifferentiableType(tensor.scalar_type())) {
      throw std::runtime_error("a tensor whose elements are not floating-point numbers can't require gradients");
    }
    tensor.set_requires_grad(wanted);
    return THPVariable_Wrap(tensor);
  });
}

// ---- Its elements, for Python ----

namespace {

void warn_of_leaving_the_graph(const Tensor& tensor) {
  if (at::GradMode::is_enabled() && tensor.requires_grad()) {
    TORCH_WARN_ONCE("a number made of a tensor that requires a gradient has none: call detach() first if that is meant");
  }
}

void warn_of_leaving_the_trace(const char* what) {
  const std::string message = std::string("The trace can't follow a tensor that is made a ") + what + " of Python's";
  jit::tracer::warn(message.c_str(), jit::tracer::WARN_PYTHON_DATAFLOW);
}

template <typename T>
T only_element(const Tensor& tensor) {
  return unlocked(tensor, [](const Tensor& self) {
    TORCH_CHECK_VALUE(self.sym_numel() == 1, "a tensor of more or fewer elements than one is no Python number");
    return self.template item<T>();
  });
}

bool is_integral(const Tensor& tensor) {
  return isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
}

} // namespace

static PyObject* THPVariable_float_scalar(PyObject* self, PyObject* args) {
  return plain_method(self, args, "__float__", [](const Tensor& tensor) {
    warn_of_leaving_the_trace("float");
    warn_of_leaving_the_graph(tensor);
    return wrap(only_element<double>(tensor));
  });
}

static PyObject* THPVariable_complex_scalar(PyObject* self, PyObject* args) {
  return plain_method(self, args, "__complex__", [](const Tensor& tensor) {
    warn_of_leaving_the_trace("complex");
    warn_of_leaving_the_graph(tensor);
    return wrap(only_element<c10::complex<double>>(tensor));
  });
}

static PyObject* THPVariable_integral_scalar(PyObject* self, PyObject* args) {
  return plain_method(self, args, "__int__", [](const Tensor& tensor) {
    warn_of_leaving_the_trace("integer");
    // Python's integers have no bounds, so a large float must not go through one of C++'s.
    return isFloatingType(tensor.scalar_type()) ? THPUtils_packDoubleAsInt(only_element<double>(tensor))
                                                : wrap(only_element<int64_t>(tensor));
  });
}

static PyObject* THPVariable_index_scalar(PyObject* self, PyObject* args) {
  return plain_method(self, args, "__index__", [](const Tensor& tensor) {
    if (!is_integral(tensor) || tensor.sym_numel() != 1) {
      throw TypeError("an index must be a tensor of one integer");
    }
    return wrap(only_element<int64_t>(tensor));
  });
}

static PyObject* THPVariable_item(PyObject* self, PyObject* args) {
  return plain_method(self, args, "item", [](const Tensor& tensor) {
    warn_of_leaving_the_trace("number");
    const auto value = [&] {
      const pybind11::gil_scoped_release released;
      return tensor.item();
    }();
    return cast(value);
  });
}

static PyObject* THPVariable_tolist(PyObject* self, PyObject* args) {
  return plain_method(self, args, "tolist", [](const Tensor& tensor) {
    warn_of_leaving_the_trace("list");
    return torch::utils::tensor_to_list(tensor);
  });
}

static PyObject* THPVariable_numpy(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {"numpy(*, bool force=False)"};
  return parsed_method<1>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) {
    jit::tracer::warn("The trace can't follow a tensor that is made an array of NumPy's", jit::tracer::WARN_PYTHON_DATAFLOW);
    return torch::utils::tensor_to_numpy(tensor, r.toBool(0));
  });
}
$if has_method.nonzero
$if has_method.nonzero_numpy

static PyObject* THPVariable_nonzero(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {"nonzero()", "nonzero(*, bool as_tuple)"};
  return parsed_method<2>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) {
    if (r.idx == 1 && r.toBool(0)) {
      return wrap(unlocked(tensor, [](const Tensor& self) { return self.nonzero_numpy(); }));
    }
    return wrap(unlocked(tensor, [](const Tensor& self) { return self.nonzero(); }));
  });
}
$endif
$endif

// ---- Functions of Python on its elements ----

namespace {

void check_mapped(const char* name, at::ArrayRef<Tensor> tensors) {
  for (const auto& tensor : tensors) {
    if (tensor.requires_grad()) {
      throw std::runtime_error(
          std::string(name) + "() calls Python, which autograd can't see through: call detach() on the tensors first");
    }
  }
  for (const auto& other : tensors.slice(1)) {
    TORCH_CHECK(!other.unsafeGetTensorImpl()->is_python_dispatch(), name, "() doesn't take subclasses of Tensor");
  }
}

} // namespace

static PyObject* THPVariable_apply_(PyObject* self, PyObject* function) {
  HANDLE_TH_ERRORS
  if (has_torch_function(self)) {
    const auto args = py::make_tuple(py::handle(function));
    return handle_torch_function(self, "apply_", args.ptr());
  }
  const auto& tensor = THPVariable_Unpack(self);
  check_mapped("apply_", {tensor});
  return THPVariable_Wrap(torch::utils::apply_(tensor, function));
  END_HANDLE_TH_ERRORS
}

static PyObject* THPVariable_map_(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {"map_(Tensor other, PyObject* callable)"};
  return parsed_method<2>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) {
    const auto other = r.tensor(0);
    check_mapped("map_", {tensor, other});
    return THPVariable_Wrap(torch::utils::map_(tensor, other, r.pyobject(1)));
  });
}

static PyObject* THPVariable_map2_(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {"map2_(Tensor x, Tensor y, PyObject* callable)"};
  return parsed_method<3>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) {
    const auto x = r.tensor(0), y = r.tensor(1);
    check_mapped("map2_", {tensor, x, y});
    return THPVariable_Wrap(torch::utils::map2_(tensor, x, y, r.pyobject(2)));
  });
}

// ---- The same tensor elsewhere, or of another type ----

namespace {

PyObject* converted(
    const Tensor& tensor,
    std::optional<at::Device> device,
    std::optional<ScalarType> dtype,
    bool non_blocking,
    bool copy,
    MaybeFormat format) {
  return THPVariable_Wrap([&] {
    const pybind11::gil_scoped_release released;
    if (dtype.has_value()) {
      return device.has_value() ? tensor.to(*device, *dtype, non_blocking, copy, format)
                                : tensor.to(*dtype, non_blocking, copy, format);
    }
    // All options are spelled out: what is left to the tensor's own would be taken for defaults by a trace.
    const auto options = tensor.options().memory_format(format);
    return tensor.to(device.has_value() ? options.device(*device) : options, non_blocking, copy);
  }());
}

PyObject* moved(at::DeviceType type, const Tensor& tensor, PythonArgs& r) {
  const auto device = r.isNone(0) ? at::Device(type) : r.device(0);
  TORCH_CHECK(device.type() == type, "the device is ", device, ", which is none of ", type);
  // There's nothing to set up for IPU.
  if (type != at::DeviceType::IPU) {
    torch::utils::device_lazy_init(type);
  }
  return converted(tensor, device, std::nullopt, r.toBool(1), /*copy=*/false, r.memoryformatOptional(2));
}

} // namespace

#define TYPE_METHOD(name, type)                                                                     \
  static PyObject* THPVariable_##name(PyObject* self, PyObject* args, PyObject* kwargs) {           \
    constexpr const char* signatures[] = {#name "(*, MemoryFormat? memory_format=None)"};           \
    return parsed_method<1>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) { \
      return converted(tensor, std::nullopt, ScalarType::type, false, false, r.memoryformatOptional(0)); \
    });                                                                                             \
  }

TYPE_METHOD(bfloat16, BFloat16)
TYPE_METHOD(bool, Bool)
TYPE_METHOD(byte, Byte)
TYPE_METHOD(cdouble, ComplexDouble)
TYPE_METHOD(cfloat, ComplexFloat)
TYPE_METHOD(char, Char)
TYPE_METHOD(double, Double)
TYPE_METHOD(float, Float)
TYPE_METHOD(half, Half)
TYPE_METHOD(int, Int)
TYPE_METHOD(long, Long)
TYPE_METHOD(short, Short)
#undef TYPE_METHOD

#define DEVICE_METHOD(name, type)                                                                   \
  static PyObject* THPVariable_##name(PyObject* self, PyObject* args, PyObject* kwargs) {           \
    constexpr const char* signatures[] = {                                                          \
        #name "(Device? device=None, bool non_blocking=False, *, MemoryFormat? memory_format=None)", \
        #name "(Device? device=None, bool async=False, *, MemoryFormat? memory_format=None)|deprecated"}; \
    return parsed_method<3>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) { \
      return moved(at::DeviceType::type, tensor, r);                                                \
    });                                                                                             \
  }

DEVICE_METHOD(cuda, CUDA)
DEVICE_METHOD(ipu, IPU)
DEVICE_METHOD(mtia, MTIA)
DEVICE_METHOD(xpu, XPU)
#undef DEVICE_METHOD

static PyObject* THPVariable_cpu(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {"cpu(*, MemoryFormat? memory_format=None)"};
  return parsed_method<1>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) {
    return converted(tensor, at::Device(at::kCPU), std::nullopt, false, false, r.memoryformatOptional(0));
  });
}

static PyObject* THPVariable_to(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {
      "to(Device device=None, ScalarType dtype=None, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
      "to(ScalarType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
      "to(Tensor tensor, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)"};
  return parsed_method<5>(signatures, self, args, kwargs, [self](const Tensor& tensor, PythonArgs& r) {
    auto [device, dtype, non_blocking, copy, format] = parse_to_conversion(r, /*allow_copy=*/true);
    torch::utils::maybe_initialize_device(device);
    if (!device && !dtype && !format && !copy) {
      return same(self);
    }
    return converted(tensor, device, dtype, non_blocking, copy, format);
  });
}

static PyObject* THPVariable_type(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {
      "type(PyObject* dtype=None, bool non_blocking=False, *, MemoryFormat? memory_format=None)",
      "type(PyObject* dtype=None, bool async=False, *, MemoryFormat? memory_format=None)|deprecated"};
  return parsed_method<3>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) {
    if (r.isNone(0)) {
      return THPUtils_packString(torch::utils::options_to_string(tensor.options()));
    }
    PyObject* wanted = r.pyobject(0);
    const bool non_blocking = r.toBool(1);
    const auto format = r.memoryformatOptional(2);
    if (THPDtype_Check(wanted)) {
      return converted(tensor, std::nullopt, r.scalartype(0), non_blocking, false, format);
    }
    std::string name;
    if (wanted == THPVariableClass) {
      name = "torch.Tensor";
    } else if (PyType_Check(wanted)) {
      name = reinterpret_cast<PyTypeObject*>(wanted)->tp_name;
    } else if (THPUtils_checkString(wanted)) {
      name = THPUtils_unpackString(wanted);
    } else {
      throw TypeError("type() takes a dtype, a type, or the name of one");
    }
    const auto options = torch::utils::options_from_string(name);
    // The type says what kind of device, not which one of them.
    const auto kind = options.device().type();
    auto device = kind == tensor.device().type() ? tensor.device() : at::Device(kind);
    torch::utils::maybe_initialize_device(device);
    return converted(tensor, device, at::typeMetaToScalarType(options.dtype()), non_blocking, false, format);
  });
}

static PyObject* THPVariable_contiguous(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {"contiguous(*, MemoryFormat memory_format=contiguous_format)"};
  return parsed_method<1>(signatures, self, args, kwargs, [self](const Tensor& tensor, PythonArgs& r) {
    const auto format = r.memoryformat(0);
    if (!tensor.is_contiguous_or_false(format)) {
      return THPVariable_Wrap(unlocked(tensor, [format](const Tensor& self) { return self.contiguous(format); }));
    }
    // Nothing is to be done, and nothing gets called that would tell a trace of it.
    if (jit::tracer::isTracing()) {
      const auto& state = jit::tracer::getTracingState();
      auto* node = state->createNode(c10::Symbol::fromQualString("aten::contiguous"), /*num_outputs=*/0);
      jit::tracer::recordSourceLocation(node);
      jit::tracer::addInputs(node, "self", tensor);
      jit::tracer::addInputs(node, "memory_format", format);
      state->insertNode(node);
      jit::tracer::addOutput(node, tensor);
    }
    return same(self);
  });
}

static PyObject* THPVariable_copy_(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr const char* signatures[] = {
      "copy_(Tensor other, bool non_blocking=False)", "copy_(Tensor other, bool async=False)|deprecated"};
  return parsed_method<2>(signatures, self, args, kwargs, [](const Tensor& tensor, PythonArgs& r) {
    return THPVariable_Wrap(unlocked(tensor, [other = r.tensor(0), non_blocking = r.toBool(1)](const Tensor& self) {
      return self.copy_(other, non_blocking);
    }));
  });
}

// ---- Other tensors like it ----

static PyObject* THPVariable_new(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  if (has_torch_function(self)) {
    return handle_torch_function(self, "new", args, kwargs);
  }
  const auto& like = THPVariable_Unpack(self);
  const OptionalDeviceGuard on_device(device_of(like));
  const auto key = legacyExtractDispatchKey(like);
  return THPVariable_Wrap(torch::utils::legacy_tensor_new(key, like.scalar_type(), args, kwargs));
  END_HANDLE_TH_ERRORS
}

static PyObject* THPVariable_new_tensor(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  if (has_torch_function(self)) {
    return handle_torch_function(self, "new_tensor", args, kwargs);
  }
  const auto& like = THPVariable_Unpack(self);
  const OptionalDeviceGuard on_device(device_of(like));
  const auto key = legacyExtractDispatchKey(like);
  return THPVariable_Wrap(torch::utils::new_tensor(key, like.scalar_type(), args, kwargs));
  END_HANDLE_TH_ERRORS
}
$if has_method.set__source_Storage_storage_offset

// A storage of Python's may have a type, which C++'s doesn't know of.
static PyObject* THPVariable_set_(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static PythonArgParser parser({
      "set_()",
      "set_(Storage source)",
      "set_(Storage source, SymInt storage_offset, SymIntArrayRef size, SymIntArrayRef stride=None)",
      "set_(Tensor source)",
      "set_(Tensor source, SymInt storage_offset, SymIntArrayRef size, SymIntArrayRef stride=None)",
  });
  ParsedArgs<4> parsed_args;
  auto r = parser.parse(args, kwargs, parsed_args);
  const Tensor& tensor = THPVariable_Unpack(self);
  const auto storage = [&] {
    ScalarType type{};
    bool has_type = true;
    auto source = r.storage(0, type, has_type);
    TORCH_CHECK(
        !has_type || type == tensor.dtype(),
        "set_() needs a storage without a type, or one of type ", tensor.dtype(), ", not of type ", type);
    return source;
  };
  const auto locked_out = [](auto call) {
    const pybind11::gil_scoped_release released;
    return Tensor(call());
  };
  switch (r.idx) {
    case 0:
      return wrap(locked_out([&] { return tensor.set_(); }));
    case 1:
      return wrap(locked_out([&, source = storage()] { return tensor.set_(source); }));
    case 2: {
      const auto source = storage();
      const auto offset = r.toSymInt(1);
      const auto size = r.symintlist(2), stride = r.symintlist(3);
      return wrap(locked_out([&] { return tensor.set__symint(source, offset, size, stride); }));
    }
    case 3: {
      const auto source = r.tensor(0);
      TORCH_CHECK(
          source.dtype() == tensor.dtype(),
          "set_() can't make a tensor of type ", tensor.dtype(), " one of type ", source.dtype());
      return wrap(locked_out([&] { return tensor.set_(source); }));
    }
    default: {
      const auto source = r.tensor(0);
      const auto offset = r.toSymInt(1);
      const auto size = r.symintlist(2), stride = r.symintlist(3);
      return wrap(locked_out([&] { return tensor.set__symint(source, offset, size, stride); }));
    }
  }
  END_HANDLE_TH_ERRORS
}
$endif

// ---- Methods that are operators ----
$for method in py_methods

$method
$endfor

// ---- Python's own operators ----
$if has_method.bitwise_not

static PyObject* THPVariable_invert(PyObject* self, PyObject* args) {
  return plain_method(self, args, "__invert__", [](const Tensor& tensor) {
    if (!is_integral(tensor)) {
      throw TypeError("~ is for tensors of integers or of bool");
    }
    return THPVariable_Wrap(unlocked(tensor, [](const Tensor& self) { return self.bitwise_not(); }));
  });
}
$endif
$if has_binding.is_nonzero

static PyObject* THPVariable_bool_scalar(PyObject* self, PyObject* args) {
  HANDLE_TH_ERRORS
  if (has_torch_function(self)) {
    return handle_torch_function(self, "__bool__", args);
  }
  warn_of_leaving_the_trace("boolean");
  return THPVariable_is_nonzero(self, args);
  END_HANDLE_TH_ERRORS
}
$endif
$if has_binding.eq

// An array of NumPy's on the right is made a tensor first, which the parser of `eq` would not do.
static PyObject* THPVariable___eq__(PyObject* self, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
#ifdef USE_NUMPY
  if (torch::utils::is_numpy_available()) {
    static PythonArgParser parser({"__eq__(PyObject* other)"}, /*traceable=*/true);
    ParsedArgs<1> parsed_args;
    auto r = parser.parse(self, args, kwargs, parsed_args);
    if (r.has_torch_function()) {
      return handle_torch_function(r, self, args, kwargs, THPVariableClass, "torch.Tensor");
    }
    if (PyObject* other = r.pyobject(0); PyArray_Check(other)) {
      const auto array = torch::utils::tensor_from_numpy(other);
      const auto result = [&] {
        const pybind11::gil_scoped_release released;
        return THPVariable_Unpack(self).eq(array);
      }();
      return wrap(result);
    }
  }
#endif
  return THPVariable_eq(self, args, kwargs);
  END_HANDLE_TH_ERRORS
}
$endif

// For operators with two operands: what this one can't do, the other one may be able to.  Generated rows use it as well.
template <PyObject* (*method)(PyObject*, PyObject*, PyObject*)>
static PyObject* TypeError_to_NotImplemented_(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* result = method(self, args, kwargs);
  if (result == nullptr && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    return same(Py_NotImplemented);
  }
  return result;
}

#define PLAIN(name, method) {name, THPVariable_##method, METH_NOARGS, nullptr}
#define PARSED(name, method) {name, castPyCFunctionWithKeywords(THPVariable_##method), METH_VARARGS | METH_KEYWORDS, nullptr}
#define OPERATOR(name, method) \
  {name, castPyCFunctionWithKeywords(TypeError_to_NotImplemented_<THPVariable_##method>), METH_VARARGS | METH_KEYWORDS, nullptr}

PyMethodDef variable_methods[] = {
$if has_binding.add
  OPERATOR("__add__", add),
  OPERATOR("__radd__", add),
$endif
$if has_binding.add_
  OPERATOR("__iadd__", add_),
$endif
$if has_binding.sub
  OPERATOR("__sub__", sub),
$endif
$if has_binding.sub_
  OPERATOR("__isub__", sub_),
$endif
$if has_binding.mul
  OPERATOR("__mul__", mul),
  OPERATOR("__rmul__", mul),
$endif
$if has_binding.mul_
  OPERATOR("__imul__", mul_),
$endif
$if has_binding.div
  OPERATOR("__div__", div),
  OPERATOR("__truediv__", div),
$endif
$if has_binding.div_
  OPERATOR("__idiv__", div_),
$endif
$if has_binding.floor_divide
  OPERATOR("__floordiv__", floor_divide),
$endif
$if has_binding.floor_divide_
  OPERATOR("__ifloordiv__", floor_divide_),
$endif
$if has_binding.remainder
  OPERATOR("__mod__", remainder),
$endif
$if has_binding.remainder_
  OPERATOR("__imod__", remainder_),
$endif
$if has_binding.matmul
  OPERATOR("__matmul__", matmul),
$endif
$if has_binding.eq
  OPERATOR("__eq__", __eq__),
$endif
$if has_binding.ne
  OPERATOR("__ne__", ne),
$endif
$if has_binding.lt
  OPERATOR("__lt__", lt),
$endif
$if has_binding.le
  OPERATOR("__le__", le),
$endif
$if has_binding.gt
  OPERATOR("__gt__", gt),
$endif
$if has_binding.ge
  OPERATOR("__ge__", ge),
$endif
$if has_binding.bitwise_and
  OPERATOR("__rand__", bitwise_and),
$endif
$if has_binding.bitwise_or
  OPERATOR("__ror__", bitwise_or),
$endif
$if has_binding.bitwise_xor
  OPERATOR("__rxor__", bitwise_xor),
$endif
$if has_binding.is_nonzero
  PLAIN("__bool__", bool_scalar),
  PLAIN("__nonzero__", bool_scalar),
$endif
  PLAIN("__complex__", complex_scalar),
  PLAIN("__float__", float_scalar),
  PLAIN("__index__", index_scalar),
  PLAIN("__int__", integral_scalar),
  PLAIN("__long__", integral_scalar),
$if has_method.bitwise_not
  PLAIN("__invert__", invert),
$endif
  PLAIN("_is_view", _is_view),
  {"apply_", THPVariable_apply_, METH_O, nullptr},
  PARSED("bfloat16", bfloat16),
  PARSED("bool", bool),
  PARSED("byte", byte),
  PARSED("cdouble", cdouble),
  PARSED("cfloat", cfloat),
  PARSED("char", char),
  PLAIN("const_data_ptr", const_data_ptr),
  PARSED("contiguous", contiguous),
  PARSED("copy_", copy_),
  PARSED("cpu", cpu),
  PARSED("cuda", cuda),
  PLAIN("data_ptr", data_ptr),
  PLAIN("dim", dim),
  PARSED("double", double),
  PLAIN("element_size", element_size),
  PARSED("float", float),
  PLAIN("get_device", get_device),
  PARSED("half", half),
  PARSED("int", int),
  PARSED("ipu", ipu),
  PARSED("is_contiguous", is_contiguous),
  PLAIN("item", item),
  PARSED("long", long),
  PARSED("map2_", map2_),
  PARSED("map_", map_),
  PARSED("mtia", mtia),
  PLAIN("ndimension", dim),
  PLAIN("nelement", numel),
  PARSED("new", new),
  PARSED("new_tensor", new_tensor),
$if has_method.nonzero
$if has_method.nonzero_numpy
  PARSED("nonzero", nonzero),
$endif
$endif
  PLAIN("numel", numel),
  PARSED("numpy", numpy),
  PARSED("requires_grad_", requires_grad_),
$if has_method.set__source_Storage_storage_offset
  PARSED("set_", set_),
$endif
  PARSED("short", short),
  PARSED("size", size),
  PLAIN("storage_offset", storage_offset),
  PARSED("stride", stride),
  PARSED("to", to),
  PLAIN("tolist", tolist),
  PARSED("type", type),
  PLAIN("untyped_storage", storage),
  PARSED("xpu", xpu),
  $py_method_defs
  {nullptr}
};

#undef OPERATOR
#undef PARSED
#undef PLAIN

} // namespace torch::autograd
