$# Makes python_torch_functions_N.cpp: the functions of the module torch, for Python.
$#   unique_ops_headers  includes, if every operator has headers of its own
$#   py_forwards         declarations of the functions
$#   py_method_defs      a row of the module's table for each
$#   py_methods          the functions: each parses its arguments and calls the operator
$#   shard_id            which share of them this is
// ${generated_comment}
// A share of the functions of torch._C._VariableFunctions, which the module torch takes for its own.

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include <Python.h>

#ifdef _MSC_VER
#undef copysign // a macro of Python's there, and an operator here
#endif

#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include <torch/csrc/Dtype.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/generated/python_return_types.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
#include <torch/csrc/autograd/python_torch_functions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/utils/wrap_outputs.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/out_types.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/csrc/utils/pycfunction_helpers.h>
#include <torch/csrc/utils/python_arg_parser.h>
#include <torch/csrc/utils/structseq.h>
#include <torch/csrc/utils/tensor_layouts.h>
#include <torch/csrc/utils/tensor_new.h>
#include <torch/csrc/utils/tensor_numpy.h>

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
using at::OptionalDeviceGuard;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
using at::TensorList;
using at::TensorOptions;

using namespace torch::autograd::utils;
using torch::utils::check_out_type_matches;

namespace torch::autograd {
$if py_method_defs

$py_forwards

static PyMethodDef torch_functions_shard[] = {
  $py_method_defs
};
$endif

// Adds this share to the table of all.
void gatherTorchFunctions${shard_id}(std::vector<PyMethodDef>& torch_functions) {
$if py_method_defs
  torch_functions.insert(torch_functions.end(), std::begin(torch_functions_shard), std::end(torch_functions_shard));
$endif
}
$for method in py_methods

$method
$endfor

} // namespace torch::autograd
