// $generated_comment
// One binary for Python 3.10 and newer.
#define Py_LIMITED_API 0x030a0000
#include <Python.h>

PyMODINIT_FUNC PyInit__C(void) {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_C", nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};
  return PyModuleDef_Init(&definition);
}
