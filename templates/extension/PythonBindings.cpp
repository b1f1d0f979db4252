// $generated_comment
// The functions of the Python package `$package`: each has torch's parser read its arguments, and calls the operator.
// Glue is compiled with less effort than what computes, whatever the build asks for beside it.
#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O1")
#endif
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY // torch's headers format messages with it, but its libraries don't export it
#endif
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS // without it, torch's headers include the functions of all operators
#endif
#include <torch/csrc/python_headers.h>

#include <ATen/ScalarOps.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <c10/core/TensorOptions.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/utils/wrap_outputs.h>
#include <torch/csrc/tensor/python_tensor.h>
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/object_ptr.h>
#include <torch/csrc/utils/out_types.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/csrc/utils/pycfunction_helpers.h>
#include <torch/csrc/utils/python_arg_parser.h>

$for include in includes
#include <$include>
$endfor

namespace $namespace::detail::python_bindings {
namespace {

using at::TensorOptions;
using torch::ParsedArgs;
using torch::PythonArgParser;
using torch::PythonArgs;
using torch::utils::check_out_type_matches;

// The module, in which an override finds the function that it stands in for.
PyObject* own_module = nullptr;

[[maybe_unused]] PyObject* call_override(PythonArgs& parsed, PyObject* args, PyObject* kwargs, const char* name) {
  THPObjectPtr function(PyObject_GetAttrString(own_module, name));
  if (!function) {
    throw python_error();
  }
  return torch::handle_torch_function_no_python_arg_parser(
      parsed.overloaded_args, args, kwargs, name, function.get(), "$package");
}

// A number, as a tensor beside others: as torch has it for its own operators, or where Python code sees the
// operators' arguments (compilers do), which would see the number, as a tensor of the type that results.
template <class... Tensors>
[[maybe_unused]] at::Tensor number(const at::Scalar& value, const Tensors&... others) {
  at::Tensor wrapped = at::native::wrapped_scalar_tensor(value);
  if (!c10::impl::TorchDispatchModeTLS::any_modes_set() &&
      !(others.key_set().has(c10::DispatchKey::Python) || ...)) {
    return wrapped;
  }
  at::native::ResultTypeState types;
  ((types = at::native::update_result_type_state(others, types)), ...);
  types = at::native::update_result_type_state(wrapped, types);
  return at::scalar_tensor(value, at::TensorOptions(at::native::result_type(types)));
}

// Python's objects for results: tensors and numbers as torch has them, lists as tuples.

template <class T>
PyObject* to_python(T value);
template <class T>
PyObject* to_python(std::optional<T> value);
template <class T>
PyObject* to_python(std::vector<T> values);
template <class... T>
PyObject* to_python(std::tuple<T...> values);

template <class T>
PyObject* checked(T* object) {
  if (object == nullptr) {
    throw python_error();
  }
  return object;
}

template <class T>
PyObject* to_python(T value) {
  if constexpr (
      std::is_same_v<T, at::Tensor> || std::is_same_v<T, bool> || std::is_same_v<T, int64_t> ||
      std::is_same_v<T, double> || std::is_same_v<T, at::ScalarType> || std::is_same_v<T, at::Layout>) {
    return torch::autograd::utils::wrap(std::move(value));
  } else {
    return pybind11::cast(std::move(value)).release().ptr();
  }
}

template <class T>
PyObject* to_python(std::optional<T> value) {
  if (!value.has_value()) {
    Py_RETURN_NONE;
  }
  return to_python(T(*std::move(value)));
}

template <class T>
PyObject* to_python(std::vector<T> values) {
  THPObjectPtr tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(values.size()))));
  Py_ssize_t index = 0;
  for (T value : values) {
    PyTuple_SET_ITEM(tuple.get(), index++, checked(to_python(std::move(value))));
  }
  return tuple.release();
}

template <class... T>
PyObject* to_python(std::tuple<T...> values) {
  THPObjectPtr tuple(checked(PyTuple_New(sizeof...(T))));
  Py_ssize_t index = 0;
  std::apply(
      [&](auto&... value) { (PyTuple_SET_ITEM(tuple.get(), index++, checked(to_python(std::move(value)))), ...); },
      values);
  return tuple.release();
}

$if return_types
template <class... T>
PyObject* to_python(PyTypeObject* type, std::tuple<T...> values) {
  THPObjectPtr tuple(checked(PyStructSequence_New(type)));
  Py_ssize_t index = 0;
  std::apply(
      [&](auto&... value) {
        (PyStructSequence_SET_ITEM(tuple.get(), index++, checked(to_python(std::move(value)))), ...);
      },
      values);
  return tuple.release();
}

namespace generated {

$for type in return_types
${type.definition}
$endfor
} // namespace generated

$endif
$for function in functions
${function.method}

$endfor
PyMethodDef functions[] = {
$for function in functions
    ${function.method_def}
$endfor
    {nullptr, nullptr, 0, nullptr},
};

$if return_types
// What Python's own named tuples have: torch.compile knows one by it.
bool name_fields(PyTypeObject* type) {
  THPObjectPtr names(PyObject_GetAttrString((PyObject*)type, "__match_args__"));
  if (!names || PyDict_SetItemString(type->tp_dict, "_fields", names.get()) != 0 ||
      PyDict_SetItemString(type->tp_dict, "_make", (PyObject*)type) != 0) {
    return false;
  }
  PyType_Modified(type);
  return true;
}

$endif
PyObject* make_module() {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "${package}._C", nullptr, -1, functions};
  THPObjectPtr module(PyModule_Create(&definition));
  if (!module) {
    return nullptr;
  }
#ifdef Py_GIL_DISABLED
  PyUnstable_Module_SetGIL(module.get(), Py_MOD_GIL_NOT_USED);
#endif
$if return_types
  THPObjectPtr types(PyDict_New());
  if (!types) {
    return nullptr;
  }
$for type in return_types
  if (PyTypeObject* type = generated::${type.getter}();
      !name_fields(type) || PyDict_SetItemString(types.get(), "${type.name}", (PyObject*)type) != 0) {
    return nullptr;
  }
$endfor
  if (PyObject_SetAttrString(module.get(), "_return_types", types.get()) != 0) {
    return nullptr;
  }
$endif
  own_module = module.get();
  return module.release();
}

} // namespace
} // namespace $namespace::detail::python_bindings

PyMODINIT_FUNC PyInit__C() {
  return ::$namespace::detail::python_bindings::make_module();
}
