$# Makes python_special_functions.cpp: the functions of torch._C._special, for Python.
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
#include <torch/csrc/autograd/python_special_functions.h>
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
static PyObject* THPSpecialVariableFunctionsModule = nullptr;

$if py_forwards
$py_forwards

$endif
static PyMethodDef special_functions[] = {
  $py_method_defs
  {nullptr}
};

void initSpecialFunctions(PyObject* module) {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torch._C._special", nullptr, -1, special_functions};
  PyObject* functions = PyModule_Create(&definition);
  THPSpecialVariableFunctionsModule = functions;
  // The outer module owns this one from here on.
  if (functions == nullptr || PyModule_AddObject(module, "_special", functions) != 0) {
    throw python_error();
  }
}
$for method in py_methods

$method
$endfor

} // namespace torch::autograd
