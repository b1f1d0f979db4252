$# Makes python_nn_functions.cpp: the functions of torch._C._nn, for Python.
$#   unique_ops_headers  includes, if every operator has headers of its own
$#   py_forwards         declarations of the functions
$#   py_method_defs      a row of the module's table for each
$#   py_methods          the functions: each parses its arguments and calls the operator
// ${generated_comment}

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include <torch/csrc/Device.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/generated/python_return_types.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
#include <torch/csrc/autograd/python_nn_functions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/utils/python_arg_parsing.h>
#include <torch/csrc/autograd/utils/wrap_outputs.h>
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/out_types.h>
#include <torch/csrc/utils/pycfunction_helpers.h>
#include <torch/csrc/utils/python_arg_parser.h>
#include <torch/csrc/utils/structseq.h>
#include <torch/csrc/utils/tensor_memoryformats.h>

#include <ATen/core/Tensor.h>

#ifdef AT_PER_OPERATOR_HEADERS
$unique_ops_headers
#else
#include <ATen/Functions.h>
#endif

using at::ArrayRef;
using at::Backend;
using at::Device;
using at::DeviceGuard;
using at::Generator;
using at::IntArrayRef;
using at::Layout;
using at::MemoryFormat;
using at::OptionalDeviceGuard;
using at::OptionalIntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
using at::TensorList;
using at::TensorOptions;

using namespace torch::autograd::utils;
using torch::utils::check_out_type_matches;

namespace torch::autograd {

// What a function's override is told it belongs to.
static PyObject* THPNNVariableFunctionsModule = nullptr;

// Python's own object for a value that may be missing.
template <typename T, typename F>
static PyObject* or_none(const std::optional<T>& value, F object_of) {
  return value.has_value() ? object_of(*value) : Py_NewRef(Py_None);
}

// The arguments of Module.to(), which are those of Tensor.to(), as a tuple: device, dtype, non_blocking, memory_format.
static PyObject* THPVariable__parse_to(PyObject* module, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static PythonArgParser parser({
      "to(Device device=None, ScalarType dtype=None, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
      "to(ScalarType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
      "to(Tensor tensor, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
  });
  ParsedArgs<5> parsed_args;
  auto r = parser.parse(args, kwargs, parsed_args);
  if (r.has_torch_function()) {
    return handle_torch_function(r, args, kwargs, THPNNVariableFunctionsModule, "torch.nn", "_parse_to");
  }
  // A module is never copied.
  const auto [device, dtype, non_blocking, copy, memory_format] = parse_to_conversion(r, /*allow_copy=*/false);
  THPObjectPtr tuple(PyTuple_New(4));
  if (!tuple) {
    throw python_error();
  }
  PyTuple_SET_ITEM(tuple.get(), 0, or_none(device, [](auto& value) { return THPDevice_New(value); }));
  PyTuple_SET_ITEM(tuple.get(), 1, or_none(dtype, [](auto value) {
    return Py_NewRef(reinterpret_cast<PyObject*>(torch::getTHPDtype(value)));
  }));
  PyTuple_SET_ITEM(tuple.get(), 2, wrap(non_blocking));
  PyTuple_SET_ITEM(tuple.get(), 3, or_none(memory_format, [](auto value) {
    return Py_NewRef(torch::utils::getTHPMemoryFormat(value));
  }));
  return tuple.release();
  END_HANDLE_TH_ERRORS
}

$if py_forwards
$py_forwards

$endif
static PyMethodDef nn_functions[] = {
  {"_parse_to", castPyCFunctionWithKeywords(THPVariable__parse_to), METH_VARARGS | METH_KEYWORDS, nullptr},
  $py_method_defs
  {nullptr}
};

void initNNFunctions(PyObject* module) {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torch._C._nn", nullptr, -1, nn_functions};
  PyObject* functions = PyModule_Create(&definition);
  THPNNVariableFunctionsModule = functions;
  // The outer module owns this one from here on.
  if (functions == nullptr || PyModule_AddObject(module, "_nn", functions) != 0) {
    throw python_error();
  }
}
$for method in py_methods

$method
$endfor

} // namespace torch::autograd
