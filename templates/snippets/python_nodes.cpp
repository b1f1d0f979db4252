$# Python types of autograd's nodes (dest/python_nodes.py).

$section initializer
static PyTypeObject ${op}Class;
addClass<$op>(module, ${op}Class, "$op", ${op}_properties);

$section properties
$insert getters
static struct PyGetSetDef ${op}_properties[] = {
  THP_FUNCTION_DEFAULT_PROPERTIES,
$insert rows
  {nullptr}
};

$section getter
static PyObject* THP${op}_$name${suffix}_getter(THPCppFunction *self, void *_unused) {
  HANDLE_TH_ERRORS
  $head
  $convert
  END_HANDLE_TH_ERRORS
}

$# How a getter reads the member: as `prop`.

$section value
auto prop = static_cast<$op*>(self->cdata.get())->$member;

$section variable
const auto& prop = static_cast<$op*>(self->cdata.get())->$member;

$section list
const auto *node = static_cast<$op*>(self->cdata.get());
const auto& prop = node->$member;
if (node->${name}_released_) {
  PyErr_SetString(PyExc_RuntimeError, ERR_BACKWARD_TWICE);
  return nullptr;
}

$section optional
auto opt_prop = static_cast<$op*>(self->cdata.get())->$member;
if (!opt_prop.has_value()) {
  Py_RETURN_NONE;
}
auto prop = opt_prop.value();

$section optional_list
auto opt_prop = static_cast<$op*>(self->cdata.get())->$member;
if (!opt_prop.list.has_value()) {
  Py_RETURN_NONE;
}
auto prop = opt_prop.list.value();

$# How it returns `prop` as an object of Python's.

$section tensor
return THPVariable_Wrap(prop.unpack(self->cdata));

$section raw_tensor
pybind11::object obj = pybind11::cast(prop, pybind11::return_value_policy::reference);
return obj.release().ptr();

$section integer
return PyLong_FromUnsignedLong((int64_t) prop);

$section double
return PyFloat_FromDouble((double) prop);

$section string
return PyUnicode_FromStringAndSize(prop.data(), prop.size());

$section boolean
if (prop) {
  Py_RETURN_TRUE;
} else {
  Py_RETURN_FALSE;
}

$section symbolic
if (auto m = prop.maybe_as_int()) {
  return PyLong_FromUnsignedLong(*m);
} else {
  return py::cast(prop).release().ptr();
}

$section scalar
if (prop.isComplex()) {
  auto cprop = prop.to<c10::complex<double>>();
  return PyComplex_FromDoubles(cprop.real(), cprop.imag());
} else if (prop.isFloatingPoint()) {
  return PyFloat_FromDouble(prop.to<double>());
} else if (prop.isIntegral(/*includeBool=*/false)) {
  return PyLong_FromLong(prop.to<int64_t>());
} else if (prop.isBoolean()) {
  if (prop.to<bool>()) {
    Py_RETURN_TRUE;
  } else {
    Py_RETURN_FALSE;
  }
} else {
  PyErr_SetString(PyExc_RuntimeError, "Unknown scalar type");
  return nullptr;
}

$section tuple
PyObject* tup = PyTuple_New((Py_ssize_t) prop.size());
for (auto i : c10::irange(prop.size())) {
  $each
}
return tup;

$# How it sets one item of a tuple.

$section each_tensor
PyTuple_SetItem(tup, (Py_ssize_t) i, THPVariable_Wrap(prop[i].unpack(self->cdata)));

$section each_raw_tensor
pybind11::object obj = pybind11::cast(prop[i], pybind11::return_value_policy::reference);
PyTuple_SetItem(tup, (Py_ssize_t) i, obj.release().ptr());

$section each_integer
PyTuple_SetItem(tup, (Py_ssize_t) i, PyLong_FromUnsignedLong((uint64_t) prop[i]));

$section each_double
PyTuple_SetItem(tup, (Py_ssize_t) i, PyFloat_FromDouble((double) prop[i]));

$section each_symbolic
auto si = prop[i];
if (auto m = si.maybe_as_int()) {
  PyTuple_SetItem(tup, (Py_ssize_t) i, PyLong_FromUnsignedLong(*m));
} else {
  auto py_symint = py::cast(si).release().ptr();
  PyTuple_SetItem(tup, (Py_ssize_t) i, py_symint);
}

$section each_scalar
if (prop[i].isComplex()) {
  auto cprop = prop[i].to<c10::complex<double>>();
  PyTuple_SetItem(tup, (Py_ssize_t) i, PyComplex_FromDoubles(cprop.real(), cprop.imag()));
} else if (prop[i].isFloatingPoint()) {
  auto double_prop = prop[i].to<double>();
  PyTuple_SetItem(tup, (Py_ssize_t) i, PyFloat_FromDouble(double_prop));
} else if (prop[i].isIntegral(/*includeBool=*/false)) {
  auto long_prop = prop[i].to<int64_t>();
  PyTuple_SetItem(tup, (Py_ssize_t) i, PyLong_FromLong(long_prop));
} else if (prop[i].isBoolean()) {
  if (prop[i].to<bool>()) {
    PyTuple_SetItem(tup, (Py_ssize_t) i, Py_True);
  } else {
    PyTuple_SetItem(tup, (Py_ssize_t) i, Py_False);
  }
} else {
  PyErr_SetString(PyExc_RuntimeError, "Unknown scalar type");
  return nullptr;
}
