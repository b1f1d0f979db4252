// $generated_comment
// The functions of the Python package `$package`: each has torch's parser read its arguments, and calls the operator.
// Glue is compiled with less effort than what computes, whatever the build asks for beside it.
#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O1")
#endif
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS // without it, torch's headers include the functions of all operators
#endif
$if needs_torch_headers
#define ${prefix}_TORCH_HEADERS
$endif
#include <$namespace/detail/Python.h>
$for include in includes
#include <$include>
$endfor
$if has_nodes
#include <exception>
#include <typeinfo>

// As torch's header has them, which includes much more.
namespace torch::autograd {
TORCH_PYTHON_API PyTypeObject* _initFunctionPyTypeObject(
    PyTypeObject& type, const char* name, PyGetSetDef* function_properties, PyMethodDef* function_methods);
TORCH_PYTHON_API void registerCppFunction(const std::type_info& type, PyTypeObject* pytype);
} // namespace torch::autograd
$endif

namespace $namespace::detail::python_bindings {
namespace {

using at::TensorOptions;
using detail::python::ParsedArgs;
using detail::python::PythonArgParser;
using detail::python::PythonArgs;
using detail::python::PythonError;
using torch::utils::check_out_type_matches;

// The module, in which an override finds the function that it stands in for.
PyObject* own_module = nullptr;

[[maybe_unused]] PyObject* call_override(PythonArgs& parsed, PyObject* args, PyObject* kwargs, const char* name) {
  THPObjectPtr function(PyObject_GetAttrString(own_module, name));
  if (!function) {
    throw PythonError();
  }
  return detail::python::call_override(parsed, args, kwargs, name, function.get());
}

template <class... Tensors>
[[maybe_unused]] at::Tensor number(const at::Scalar& value, const Tensors&... others) {
  return detail::python::number(value, {&others...});
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
    throw PythonError();
  }
  return object;
}

template <class T>
PyObject* to_python(T value) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    return detail::python::tensor_to_python(std::move(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return PyBool_FromLong(value);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return PyLong_FromLongLong(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return PyFloat_FromDouble(value);
  } else if constexpr (std::is_same_v<T, at::ScalarType>) {
    return Py_NewRef(reinterpret_cast<PyObject*>(torch::getTHPDtype(value)));
  } else if constexpr (std::is_same_v<T, at::Layout>) {
    return Py_NewRef(reinterpret_cast<PyObject*>(torch::getTHPLayout(value)));
  } else {
$if needs_torch_headers
    return pybind11::cast(std::move(value)).release().ptr();
$else
    static_assert(sizeof(T) == 0, "opgen includes torch's own headers for a result of another type");
$endif
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
::newfunc make_of_sequence = nullptr;

// Makes a named tuple of its fields too: so does torch.compile of torch 2.11.
PyObject* make_of_fields(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  if (PyTuple_GET_SIZE(args) < 2 || PyDict_Check(PyTuple_GET_ITEM(args, 1))) {
    return make_of_sequence(type, args, kwargs);
  }
  THPObjectPtr fields(PyTuple_Pack(1, args));
  return fields ? make_of_sequence(type, fields.get(), kwargs) : nullptr;
}

// What Python's own named tuples have: torch.compile knows one by it.
bool name_fields(PyTypeObject* type) {
  make_of_sequence = type->tp_new;
  type->tp_new = make_of_fields;
  THPObjectPtr names(PyObject_GetAttrString((PyObject*)type, "__match_args__"));
  if (!names || PyDict_SetItemString(type->tp_dict, "_fields", names.get()) != 0 ||
      PyDict_SetItemString(type->tp_dict, "_make", (PyObject*)type) != 0) {
    return false;
  }
  PyType_Modified(type);
  return true;
}

$endif
$if has_nodes
// Gives each kind of node a class, as torch's own have.  torch's compilers take a node without one for that of a custom
// function, and then return a copy of what an in-place operator changes.
void add_node_classes() {
  for (const auto& kind : detail::node_kinds()) {
    auto* type = new PyTypeObject{}; // as long as the process
    torch::autograd::registerCppFunction(
        *kind.type, torch::autograd::_initFunctionPyTypeObject(*type, kind.name, nullptr, nullptr));
  }
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
$if has_nodes
  try {
    add_node_classes();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_ImportError, error.what());
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
