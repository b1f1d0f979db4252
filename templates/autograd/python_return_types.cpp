$# Makes python_return_types.cpp: types of tuples with names, which functions with several results return.
$#   py_return_types                the types
$#   py_return_types_registrations  a statement for each that names it in torch.return_types
// ${generated_comment}

#include <Python.h>

#include <map>
#include <string>
#include <vector>

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/generated/python_return_types.h>
#include <torch/csrc/utils/structseq.h>

namespace torch::autograd::generated {

$py_return_types

} // namespace torch::autograd::generated

namespace torch::autograd {

// Keeps the type alive even if somebody deletes the module's attribute.
static void addReturnType(PyObject* module, const char* name, PyTypeObject* type) {
  auto* object = reinterpret_cast<PyObject*>(type);
  Py_INCREF(object);
  if (PyModule_AddObject(module, name, object) != 0) {
    Py_DECREF(object);
    throw python_error();
  }
}

void initReturnTypes(PyObject* module) {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torch._C._return_types", nullptr, -1, {}};
  PyObject* return_types_module = PyModule_Create(&definition);
  if (return_types_module == nullptr) {
    throw python_error();
  }
$if py_return_types_registrations

  $py_return_types_registrations

$endif
  // From here on, the outer module owns this one.
  if (PyModule_AddObject(module, "_return_types", return_types_module) != 0) {
    Py_DECREF(return_types_module);
    throw python_error();
  }
}

} // namespace torch::autograd
