// $generated_comment
#pragma once
// What the functions of the Python package are made with: torch's parser of their arguments, and Python's objects.
//
// torch's headers of these take a compiler ten seconds, since they include pybind11 and the JIT.  In the releases
// below, what torch's libraries export of them has one layout, and this header declares it by itself.  With any other
// release, or with ${prefix}_TORCH_HEADERS defined, torch's own headers are included instead.
#include <torch/csrc/python_headers.h>
#include <torch/version.h>

#if !defined(${prefix}_TORCH_HEADERS) && !(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 10 && TORCH_VERSION_MINOR <= 15)
#define ${prefix}_TORCH_HEADERS
#endif

#include <$namespace/detail/Types.h>
#include <ATen/PythonTorchFunctionTLS.h>
#include <c10/core/TensorOptions.h>
#include <torch/csrc/Device.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/Layout.h>
#include <torch/csrc/MemoryFormat.h>
#include <torch/csrc/tensor/python_tensor.h>
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/object_ptr.h>
#include <torch/csrc/utils/out_types.h>
#include <torch/csrc/utils/pycfunction_helpers.h>

#ifdef ${prefix}_TORCH_HEADERS

#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY // torch's headers format messages with it, but its libraries don't export it
#endif
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/utils/wrap_outputs.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/csrc/utils/python_arg_parser.h>

#else

#include <algorithm>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>

// Of Python's objects for tensors.
TORCH_PYTHON_API extern PyObject* THPVariableClass;
TORCH_PYTHON_API extern PyObject* ParameterClass;
TORCH_PYTHON_API PyObject* THPVariable_Wrap(at::TensorBase&& tensor);

namespace torch {

// Says what is wrong to Python, of any exception.
TORCH_PYTHON_API void translate_exception_to_python(const std::exception_ptr& exception);

// While there is one, torch's warnings wait; at its end they become Python's, or an exception.
struct PyWarningHandler {
  TORCH_PYTHON_API PyWarningHandler() noexcept(true);
  TORCH_PYTHON_API ~PyWarningHandler() noexcept(false);
  alignas(std::max_align_t) std::byte members[128];
};

struct FunctionSignature;

struct PythonArgs {
  int idx;
  bool traceable;
#if TORCH_VERSION_MINOR >= 13
  bool skip_torch_function;
#endif
  const FunctionSignature& signature;
  PyObject** args;
  std::vector<PyObject*> overloaded_args;

  TORCH_PYTHON_API at::Tensor tensor_slow(int index);
  TORCH_PYTHON_API at::Scalar scalar_slow(int index);
  TORCH_PYTHON_API at::Scalar scalar_slow(PyObject* value);
};

struct PythonArgParser {
  TORCH_PYTHON_API explicit PythonArgParser(const std::vector<std::string>& signatures, bool traceable);
  TORCH_PYTHON_API PythonArgs raw_parse(PyObject* self, PyObject* args, PyObject* kwargs, PyObject** parsed);
  alignas(std::max_align_t) std::byte members[256];
};

enum class TorchFunctionName { TorchFunction, TorchDispatch };
TORCH_PYTHON_API PyObject* handle_torch_function_no_python_arg_parser(
    at::ArrayRef<PyObject*> overloaded, PyObject* args, PyObject* kwargs, const char* name, PyObject* function,
    const char* module, TorchFunctionName kind);

} // namespace torch

#endif // ${prefix}_TORCH_HEADERS

namespace ${namespace}::detail::python {

// A number, as a tensor beside others: as torch has it for its own operators, or where Python code sees the
// operators' arguments (compilers do), which would see the number, as a tensor of the type that results.
${api} at::Tensor number(const at::Scalar& value, std::initializer_list<const at::Tensor*> others);

#ifdef ${prefix}_TORCH_HEADERS

using torch::ParsedArgs;
using torch::PythonArgParser;
using torch::PythonArgs;
using pybind11::gil_scoped_release;
using PythonError = python_error;

inline PyObject* tensor_to_python(at::Tensor tensor) {
  return torch::autograd::utils::wrap(std::move(tensor));
}

inline PyObject* call_override(PythonArgs& parsed, PyObject* args, PyObject* kwargs, const char* name, PyObject* function) {
  return torch::handle_torch_function_no_python_arg_parser(
      parsed.overloaded_args, args, kwargs, name, function, "${namespace}");
}

#else

// What is thrown where Python's error is set.
struct PythonError {};

// Whether torch.jit.trace is at work, and what it is to know of a number that came as a tensor.
${api} bool is_tracing();
${api} void trace_number(const std::string& name, size_t signature, const at::Tensor& value);
${api} void trace_element(const std::string& name, size_t size, size_t place, const at::Tensor& value);

// Lets go of Python's lock.
class gil_scoped_release {
 public:
  gil_scoped_release() : state_(PyEval_SaveThread()) {}
  ~gil_scoped_release() {
    PyEval_RestoreThread(state_);
  }
  gil_scoped_release(const gil_scoped_release&) = delete;
  gil_scoped_release& operator=(const gil_scoped_release&) = delete;

 private:
  PyThreadState* state_;
};

inline PyObject* tensor_to_python(at::Tensor tensor) {
  return THPVariable_Wrap(std::move(tensor));
}

struct TensorObject {
  PyObject_HEAD
  at::Tensor tensor;
};

inline const at::Tensor& tensor_of(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object)->tensor;
}

inline bool is_exact_tensor(PyObject* object) {
  const auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return type == THPVariableClass || type == ParameterClass;
}

inline bool is_tensor(PyObject* object) {
  const int found = is_exact_tensor(object) ? 1 : PyObject_IsInstance(object, THPVariableClass);
  if (found < 0) {
    throw PythonError();
  }
  return found != 0;
}

// The elements of a list or a tuple.
inline at::ArrayRef<PyObject*> elements_of(PyObject* list) {
  TORCH_CHECK_TYPE(PyTuple_Check(list) || PyList_Check(list), "expected tuple or list, but got ", Py_TYPE(list)->tp_name);
  return {PySequence_Fast_ITEMS(list), static_cast<size_t>(PySequence_Fast_GET_SIZE(list))};
}

inline int64_t to_integer(PyObject* value) {
  PyObject* exact = PyLong_CheckExact(value) ? Py_NewRef(value) : PyNumber_Index(value);
  const THPObjectPtr owner(exact);
  const int64_t integer = exact == nullptr ? -1 : PyLong_AsLongLong(exact);
  if (integer == -1 && PyErr_Occurred()) {
    throw PythonError();
  }
  return integer;
}

// Owns the list that an operator's argument refers to, if there is one.
template <class T>
struct OptionalList {
  std::optional<std::vector<T>> values;

  operator std::optional<at::ArrayRef<T>>() const {
    return values.has_value() ? std::make_optional<at::ArrayRef<T>>(*values) : std::nullopt;
  }
  operator at::OptionalArrayRef<T>() const {
    return values.has_value() ? at::OptionalArrayRef<T>(*values) : std::nullopt;
  }
};

// What the parser read, of one signature.
class PythonArgs {
 public:
  PythonArgs(
      torch::PythonArgParser& parser, PyObject* self, PyObject* arguments, PyObject* kwargs, PyObject** parsed,
      const std::vector<std::string>& signatures)
      : parsed_(parser.raw_parse(self, arguments, kwargs, parsed)),
        signatures_(signatures),
        idx(parsed_.idx),
        args(parsed_.args) {}

 private:
  torch::PythonArgs parsed_;
  const std::vector<std::string>& signatures_;

 public:
  const int idx;
  PyObject** const args;

  bool has_torch_function() const {
#if TORCH_VERSION_MINOR >= 13
    if (parsed_.skip_torch_function) {
      return false;
    }
#endif
    return !parsed_.overloaded_args.empty() || at::impl::torch_function_mode_enabled();
  }
  at::ArrayRef<PyObject*> overloaded() const {
    return parsed_.overloaded_args;
  }
  bool isNone(int index) const {
    return args[index] == nullptr;
  }

  at::Tensor tensor(int index) {
    PyObject* value = args[index];
    return value != nullptr && is_exact_tensor(value) ? tensor_of(value) : parsed_.tensor_slow(index);
  }
  std::optional<at::Tensor> optionalTensor(int index) {
    return isNone(index) ? std::nullopt : std::make_optional(tensor(index));
  }
  std::vector<at::Tensor> tensorlist(int index) const;
  template <int size>
  std::array<at::Tensor, size> tensorlist_n(int index) const {
    std::array<at::Tensor, size> tensors;
    if (!isNone(index)) {
      const auto list = elements_of(args[index]);
      TORCH_CHECK_TYPE(list.size() == size, "expected tuple of ", size, " elements but got ", list.size());
      std::transform(list.begin(), list.end(), tensors.begin(), tensor_of);
    }
    return tensors;
  }

  at::Scalar scalar(int index) {
    return parsed_.scalar_slow(index);
  }
  int64_t toInt64(int index) {
    trace(index);
    return to_integer(args[index]);
  }
  c10::SymInt toSymInt(int index) {
    trace(index);
    return symbolic(args[index]);
  }
  double toDouble(int index) {
    PyObject* value = args[index];
    return PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value) : parsed_.scalar_slow(value).toDouble();
  }
  bool toBool(int index) const {
    const int truth = PyObject_IsTrue(args[index]);
    if (truth < 0) {
      throw PythonError();
    }
    return truth != 0;
  }
  std::vector<int64_t> intlist(int index);
  std::vector<c10::SymInt> symintlist(int index);
  std::vector<double> doublelist(int index);

  at::ScalarType scalartype(int index) const;
  at::Layout layout(int index) const {
    return isNone(index) ? at::kStrided : reinterpret_cast<THPLayout*>(args[index])->layout;
  }
  at::Device device(int index);
  at::MemoryFormat memoryformat(int index) const;
  std::string_view stringView(int index) const;
  std::optional<at::Generator> generator(int index) const {
    return isNone(index) ? std::nullopt
                         : std::make_optional(reinterpret_cast<THPGenerator*>(args[index])->cdata);
  }

#define ${prefix}_OPTIONAL(type, method)                                             \
  std::optional<type> method##Optional(int index) {                                  \
    return isNone(index) ? std::nullopt : std::make_optional<type>(method(index));   \
  }                                                                                  \
  type method##WithDefault(int index, const type& value) {                           \
    return isNone(index) ? value : method(index);                                    \
  }
  ${prefix}_OPTIONAL(at::Scalar, scalar)
  ${prefix}_OPTIONAL(int64_t, toInt64)
  ${prefix}_OPTIONAL(c10::SymInt, toSymInt)
  ${prefix}_OPTIONAL(double, toDouble)
  ${prefix}_OPTIONAL(bool, toBool)
  ${prefix}_OPTIONAL(at::ScalarType, scalartype)
  ${prefix}_OPTIONAL(at::Layout, layout)
  ${prefix}_OPTIONAL(at::Device, device)
  ${prefix}_OPTIONAL(at::MemoryFormat, memoryformat)
  ${prefix}_OPTIONAL(std::string_view, stringView)
#undef ${prefix}_OPTIONAL
  OptionalList<int64_t> intlistOptional(int index) {
    return isNone(index) ? OptionalList<int64_t>() : OptionalList<int64_t>{intlist(index)};
  }
  OptionalList<c10::SymInt> symintlistOptional(int index) {
    return isNone(index) ? OptionalList<c10::SymInt>() : OptionalList<c10::SymInt>{symintlist(index)};
  }
  OptionalList<double> doublelistOptional(int index) {
    return isNone(index) ? OptionalList<double>() : OptionalList<double>{doublelist(index)};
  }

 private:
  c10::SymInt symbolic(PyObject* value) {
    return PyLong_CheckExact(value) ? c10::SymInt(to_integer(value)) : parsed_.scalar_slow(value).toSymInt();
  }
  void trace(int index) const {
    if (!PyLong_CheckExact(args[index]) && is_tracing() && is_tensor(args[index])) {
      trace_number(parameter(index).name, idx, tensor_of(args[index]));
    }
  }
  bool trace(int index, size_t size, size_t place, PyObject* value) const;

  // A parameter as the signature spells it: `IntArrayRef[2] dim=0`.
  struct Parameter {
    std::string name;
    size_t size; // of a list that one number may stand for
  };
  Parameter parameter(int index) const;
  [[noreturn]] void fail(int index, const char* type, PyObject* value, size_t place) const;
  template <class T, class Read>
  std::vector<T> list(int index, const char* type, const Read& read);
};

template <int N>
struct ParsedArgs {
  PyObject* args[N == 0 ? 1 : N] = {};
};

class PythonArgParser {
 public:
  PythonArgParser(std::initializer_list<const char*> signatures, bool traceable)
      : signatures_(signatures.begin(), signatures.end()), parser_(signatures_, traceable) {}

  template <int N>
  PythonArgs parse(PyObject* self, PyObject* args, PyObject* kwargs, ParsedArgs<N>& parsed) {
    return PythonArgs(parser_, self, args, kwargs, parsed.args, signatures_);
  }

 private:
  std::vector<std::string> signatures_;
  torch::PythonArgParser parser_;
};

inline std::vector<at::Tensor> PythonArgs::tensorlist(int index) const {
  std::vector<at::Tensor> tensors;
  if (!isNone(index)) {
    const auto list = elements_of(args[index]);
    tensors.reserve(list.size());
    std::transform(list.begin(), list.end(), std::back_inserter(tensors), tensor_of);
  }
  return tensors;
}

inline PythonArgs::Parameter PythonArgs::parameter(int index) const {
  const std::string& signature = signatures_.at(idx);
  size_t start = signature.find('(') + 1;
  for (int left = index;; --left) {
    if (signature.compare(start, 3, "*, ") == 0) {
      start += 3;
    }
    if (left == 0) {
      break;
    }
    start = signature.find(", ", start) + 2;
  }
  const std::string text = signature.substr(start, signature.find_first_of("=,)", start) - start);
  const size_t space = text.rfind(' '), bracket = text.find('[');
  return {text.substr(space + 1), bracket < space ? std::stoul(text.substr(bracket + 1)) : 0};
}

inline void PythonArgs::fail(int index, const char* type, PyObject* value, size_t place) const {
  const std::string& signature = signatures_.at(idx);
  TORCH_CHECK_TYPE(
      false, signature.substr(0, signature.find('(')), "(): argument '", parameter(index).name, "' failed to unpack the object at pos ", place + 1, " with error \"type must be ", type, ",but got ",
      Py_TYPE(value)->tp_name, "\"");
}

inline bool PythonArgs::trace(int index, size_t size, size_t place, PyObject* value) const {
  const bool is_traced = is_tracing() && is_tensor(value);
  if (is_traced) {
    trace_element(parameter(index).name, size, place, tensor_of(value));
  }
  return is_traced;
}

// A list of numbers, or the one that stands for all of a list of known size.
template <class T, class Read>
std::vector<T> PythonArgs::list(int index, const char* type, const Read& read) {
  std::vector<T> values;
  if (isNone(index)) {
    return values;
  }
  PyObject* given = args[index];
  if (!PyTuple_Check(given) && !PyList_Check(given)) {
    return std::vector<T>(parameter(index).size, read(given));
  }
  const auto elements = elements_of(given);
  values.reserve(elements.size());
  for (size_t place = 0; place < elements.size(); ++place) {
    PyObject* element = elements[place];
    if (!PyLong_CheckExact(element) && !PyFloat_CheckExact(element) && !trace(index, elements.size(), place, element)) {
      const bool is_number = PyNumber_Check(element) &&
          (!is_tensor(element) ||
           (tensor_of(element).numel() == 1 && at::isIntegralType(tensor_of(element).scalar_type(), true)));
      if (!is_number) {
        fail(index, type, element, place);
      }
    }
    try {
      values.push_back(read(element));
    } catch (const PythonError&) {
      PyErr_Clear();
      fail(index, type, element, place);
    }
  }
  return values;
}

inline std::vector<int64_t> PythonArgs::intlist(int index) {
  return list<int64_t>(index, "tuple of ints", to_integer);
}

inline std::vector<c10::SymInt> PythonArgs::symintlist(int index) {
  return list<c10::SymInt>(index, "tuple of ints", [&](PyObject* value) {
    return PyFloat_CheckExact(value) ? c10::SymInt(to_integer(value)) : symbolic(value);
  });
}

inline std::vector<double> PythonArgs::doublelist(int index) {
  return list<double>(index, "tuple of floats", [&](PyObject* value) {
    return PyFloat_CheckExact(value) ? PyFloat_AS_DOUBLE(value) : parsed_.scalar_slow(value).toDouble();
  });
}

inline at::ScalarType PythonArgs::scalartype(int index) const {
  PyObject* type = args[index];
  if (type == nullptr) {
    return torch::tensors::get_default_scalar_type();
  }
  if (type == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
    return at::kDouble;
  }
  if (type == reinterpret_cast<PyObject*>(&PyBool_Type)) {
    return at::kBool;
  }
  if (type == reinterpret_cast<PyObject*>(&PyLong_Type)) {
    return at::kLong;
  }
  if (type == reinterpret_cast<PyObject*>(&PyComplex_Type)) {
    return at::kComplexDouble;
  }
  return reinterpret_cast<THPDtype*>(type)->scalar_type;
}

// A device, its name, or the number of the accelerator.
${api} at::Device accelerator(int64_t index);

inline std::string_view text_of(PyObject* object) {
  Py_ssize_t size = 0;
  const char* text = PyBytes_Check(object) ? PyBytes_AS_STRING(object) : PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) {
    throw PythonError();
  }
  return {text, static_cast<size_t>(PyBytes_Check(object) ? PyBytes_GET_SIZE(object) : size)};
}

inline at::Device PythonArgs::device(int index) {
  PyObject* value = args[index];
  if (value == nullptr) {
    return torch::tensors::get_default_device();
  }
  if (THPDevice_Check(value)) {
    return reinterpret_cast<THPDevice*>(value)->device;
  }
  return PyUnicode_Check(value) || PyBytes_Check(value) ? at::Device(std::string(text_of(value)))
                                                        : accelerator(to_integer(value));
}

inline at::MemoryFormat PythonArgs::memoryformat(int index) const {
  PyObject* value = args[index];
  if (value == nullptr) {
    return at::MemoryFormat::Contiguous;
  }
  TORCH_CHECK(THPMemoryFormat_Check(value), "memory_format arg must be an instance of the torch.memory_format");
  return reinterpret_cast<THPMemoryFormat*>(value)->memory_format;
}

inline std::string_view PythonArgs::stringView(int index) const {
  return text_of(args[index]);
}

inline PyObject* call_override(PythonArgs& parsed, PyObject* args, PyObject* kwargs, const char* name, PyObject* function) {
  return torch::handle_torch_function_no_python_arg_parser(
      parsed.overloaded(), args, kwargs, name, function, "${namespace}", torch::TorchFunctionName::TorchFunction);
}

// Sets Python's error to the exception that is being handled.
inline void set_error() {
  try {
    throw;
  } catch (const PythonError&) {
  } catch (...) {
    torch::translate_exception_to_python(std::current_exception());
  }
}

// What torch warns of becomes Python's warning; an error that is set stays the error.
inline PyObject* call_function(PyCFunctionWithKeywords function, PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr, *result = nullptr;
  try {
    torch::PyWarningHandler warnings;
    try {
      result = function(self, args, kwargs);
    } catch (...) {
      set_error();
    }
    if (result == nullptr) {
      PyErr_Fetch(&type, &value, &trace);
    }
  } catch (...) {
    Py_CLEAR(result);
    set_error();
  }
  if (type != nullptr) {
    PyErr_Restore(type, value, trace);
  }
  return result;
}

#define HANDLE_TH_ERRORS \
  return ::${namespace}::detail::python::call_function([](PyObject* self_, PyObject* args, PyObject* kwargs) -> PyObject* {
#define END_HANDLE_TH_ERRORS }, self_, args, kwargs);

#endif // ${prefix}_TORCH_HEADERS

} // namespace ${namespace}::detail::python
