$# Makes python_return_types.h: access to the types of python_return_types.cpp.
$#   py_return_types_declarations   a function for each
#pragma once
// ${generated_comment}

namespace torch::autograd {
$if py_return_types_declarations

namespace generated {

$py_return_types_declarations

} // namespace generated
$endif

void initReturnTypes(PyObject* module);

} // namespace torch::autograd
