# CMake includes this where a project begins that is built with `precompiled=True`: what the sources of an extension
# have in common of torch's headers is read once. They must not come to need it: projects of other tests do without.
# Names of these headers are visible in every source, which not every source bears (`resize` in examples/device).

cmake_language(DEFER CALL target_precompile_headers ${PROJECT_NAME} PRIVATE
  <ATen/core/Tensor.h>
  <ATen/core/dispatch/Dispatcher.h>
  <ATen/core/op_registration/adaption.h>
  <ATen/DeviceGuard.h>
  <ATen/TensorIterator.h>
  <torch/csrc/autograd/VariableTypeUtils.h>
  <torch/library.h>)
