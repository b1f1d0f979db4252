$# Makes python_enum_tag.cpp: the tags of operators, for Python.
$#   enum_of_valid_tags   a call of `.value(…)` for each
// ${generated_comment}
// torch.Tag

#include <ATen/core/enum_tag.h>
#include <pybind11/pybind11.h>
#include <torch/csrc/autograd/python_enum_tag.h>
#include <torch/csrc/utils/pybind.h>

namespace torch::autograd {

void initEnumTag(PyObject* module) {
  namespace py = pybind11;
  auto m = py::handle(module).cast<py::module>();
  py::enum_<at::Tag>(m, "Tag", "What an operator may be said to be, in C++ and in native_functions.yaml alike.")
      $enum_of_valid_tags
      ;
}

} // namespace torch::autograd
