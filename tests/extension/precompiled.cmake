# CMake includes this where a project begins that is built once for several tests: what generated sources have in common
# of torch's headers is read once. Sources in src/ do without: what they need they must include, and names that they
# don't ask for may be in their way.

function(precompile_for_generated_sources)
  get_target_property(written ${PROJECT_NAME} SOURCES)
  list(FILTER written INCLUDE REGEX "(^|/)src/")
  set_source_files_properties(${written} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_precompile_headers(${PROJECT_NAME} PRIVATE
    <ATen/core/Tensor.h>
    <ATen/core/dispatch/Dispatcher.h>
    <ATen/core/op_registration/adaption.h>
    <ATen/DeviceGuard.h>
    <ATen/TensorIterator.h>
    <torch/csrc/autograd/VariableTypeUtils.h>
    <torch/library.h>)
endfunction()

cmake_language(DEFER CALL precompile_for_generated_sources)
