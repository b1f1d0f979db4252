# ruff: noqa: E501 - the C++ that is expected has long lines
"""The C++ that binds operators to Python, on definitions small enough to read."""

from __future__ import annotations

from expecttest import assert_expected_inline

from opgen.dest.annotated_fn_args import render_arguments
from opgen.dest.python_bindings import TORCH, tensor_module
from opgen.dest.python_methods import PythonModule, render_binding
from opgen.dest.python_return_types import emit_python_return_types
from opgen.diagnostics import Diagnostics
from opgen.frontend.python_functions import derive_python
from opgen.output.template import TemplateSet
from opgen.program.python import PythonProgram
from opgen.releases.known import newest_release
from tests.unit.tiny_programs import program_of

TEMPLATES = {
    "python_return_types.cpp": "$py_return_types\n${py_return_types_registrations}\n",
    "python_return_types.h": "$py_return_types_declarations\n",
}


def _python(definitions: str) -> PythonProgram:
    log = Diagnostics()
    program = derive_python(program_of(definitions), (), log)
    assert program is not None, log.render()
    return program


def _binding(definitions: str, module: PythonModule, name: str = "") -> str:
    program = _python(definitions)
    functions = program.methods if module.is_class else program.functions
    (function,) = [function for function in functions if name in ("", function.name)]
    binding = render_binding(function, module, program.program.signatures)
    return f"{binding.method_def}\n{binding.method}"


def test_a_method_without_arguments_needs_no_parser() -> None:
    definitions = "- func: halve(Tensor self) -> Tensor\n  variants: method\n"
    assert_expected_inline(
        _binding(definitions, tensor_module(newest_release())),
        """\
{"halve", THPVariable_halve, METH_NOARGS, nullptr},
// halve
static PyObject * THPVariable_halve(PyObject* self_, PyObject* args)
{
  HANDLE_TH_ERRORS
  const Tensor& self = THPVariable_Unpack(self_);
  if (has_torch_function(self_)) {
    return handle_torch_function(self_, "halve");
  }
  // aten::halve(Tensor self) -> Tensor
  auto dispatch_halve = [](const at::Tensor & self) -> at::Tensor {
    pybind11::gil_scoped_release no_gil;
    return self.halve();
  };
  return wrap(dispatch_halve(self));
  END_HANDLE_TH_ERRORS
}
""",
    )


def test_a_function_with_an_out_form() -> None:
    definitions = """
- func: topmost(Tensor self, int k) -> (Tensor values, Tensor indices)
- func: topmost.out(Tensor self, int k, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)
"""
    assert_expected_inline(
        _binding(definitions, TORCH),
        """\
{"topmost", castPyCFunctionWithKeywords(THPVariable_topmost), METH_VARARGS | METH_KEYWORDS | METH_STATIC, nullptr},
// topmost
static PyObject * THPVariable_topmost(PyObject* self_, PyObject* args, PyObject* kwargs)
{
  HANDLE_TH_ERRORS
  static PyTypeObject* NamedTuple = generated::get_topmost_structseq();
  static PyTypeObject* NamedTuple1 = generated::get_topmost_out_structseq();
  static PythonArgParser parser({
    "topmost(Tensor input, int64_t k, *, TensorList[2] out=None)",
  }, /*traceable=*/true);

  ParsedArgs<3> parsed_args;
  auto _r = parser.parse(nullptr, args, kwargs, parsed_args);
  if(_r.has_torch_function()) {
    return handle_torch_function(_r, nullptr, args, kwargs, THPVariableFunctionsModule, "torch");
  }
  if (_r.isNone(2)) {
    // aten::topmost(Tensor self, int k) -> (Tensor values, Tensor indices)
    auto dispatch_topmost = [](const at::Tensor & self, int64_t k) -> ::std::tuple<at::Tensor,at::Tensor> {
      pybind11::gil_scoped_release no_gil;
      return at::topmost(self, k);
    };
    return wrap(NamedTuple, dispatch_topmost(_r.tensor(0), _r.toInt64(1)));
  } else {
    // aten::topmost.out(Tensor self, int k, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)
    auto out = _r.tensorlist_n<2>(2);
    auto dispatch_topmost_out = [](at::Tensor & values, at::Tensor & indices, const at::Tensor & self, int64_t k) -> ::std::tuple<at::Tensor,at::Tensor> {
      pybind11::gil_scoped_release no_gil;
      return at::topmost_out(values, indices, self, k);
    };
    return wrap(NamedTuple1, dispatch_topmost_out(out[0], out[1], _r.tensor(0), _r.toInt64(1)));
  }
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}
""",
    )


def test_overloads_and_a_dunder_method() -> None:
    definitions = """
- func: __and__.Scalar(Tensor self, Scalar other) -> Tensor
  variants: method, function
- func: __and__.Tensor(Tensor self, Tensor other) -> Tensor
  variants: method, function
"""
    assert_expected_inline(
        _binding(definitions, tensor_module(newest_release())),
        """\
{"__and__", castPyCFunctionWithKeywords(TypeError_to_NotImplemented_<THPVariable___and__>), METH_VARARGS | METH_KEYWORDS, nullptr},
// __and__
static PyObject * THPVariable___and__(PyObject* self_, PyObject* args, PyObject* kwargs)
{
  HANDLE_TH_ERRORS
  const Tensor& self = THPVariable_Unpack(self_);
  static PythonArgParser parser({
    "__and__(Tensor other)",
    "__and__(Scalar other)",
  }, /*traceable=*/true);

  ParsedArgs<1> parsed_args;
  auto _r = parser.parse(self_, args, kwargs, parsed_args);
  if(_r.has_torch_function()) {
    return handle_torch_function(_r, self_, args, kwargs, THPVariableClass, "torch.Tensor");
  }
  switch (_r.idx) {
    case 0: {
      // aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor
      auto dispatch___and__ = [](const at::Tensor & self, const at::Tensor & other) -> at::Tensor {
        pybind11::gil_scoped_release no_gil;
        return self.__and__(other);
      };
      return wrap(dispatch___and__(self, _r.tensor(0)));
    }
    case 1: {
      // aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor
      auto dispatch___and__ = [](const at::Tensor & self, const at::Scalar & other) -> at::Tensor {
        pybind11::gil_scoped_release no_gil;
        return self.__and__(other);
      };
      return wrap(dispatch___and__(self, _r.scalar(0)));
    }
  }
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}
""",
    )


def test_a_list_that_is_written_to_comes_back() -> None:
    definitions = """
- func: _foreach_halve(Tensor[] self) -> Tensor[]
  device_check: NoCheck
- func: _foreach_halve_(Tensor(a!)[] self) -> ()
  device_check: NoCheck
"""
    assert_expected_inline(
        _binding(definitions, TORCH, "_foreach_halve_"),
        """\
{"_foreach_halve_", castPyCFunctionWithKeywords(THPVariable__foreach_halve_), METH_VARARGS | METH_KEYWORDS | METH_STATIC, nullptr},
// _foreach_halve_
static PyObject * THPVariable__foreach_halve_(PyObject* self_, PyObject* args, PyObject* kwargs)
{
  HANDLE_TH_ERRORS
  static PythonArgParser parser({
    "_foreach_halve_(TensorList self)",
  }, /*traceable=*/false);

  ParsedArgs<1> parsed_args;
  auto _r = parser.parse(nullptr, args, kwargs, parsed_args);
  if(_r.has_torch_function()) {
    return handle_torch_function(_r, nullptr, args, kwargs, THPVariableFunctionsModule, "torch");
  }
  // aten::_foreach_halve_(Tensor(a!)[] self) -> ()
  auto dispatch__foreach_halve_ = [](at::TensorList self) -> void {
    pybind11::gil_scoped_release no_gil;
    at::_foreach_halve_(self);
  };
  dispatch__foreach_halve_(_r.tensorlist(0));
  PyObject* self_tensorlist = _r.args[0];
  Py_INCREF(self_tensorlist);
  return self_tensorlist;
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}
""",
    )


def test_named_tuples(templates: TemplateSet) -> None:
    program = _python("- func: topmost(Tensor self, int k) -> (Tensor values, Tensor indices)\n")
    source, header = emit_python_return_types(program, templates)
    assert header.text == "PyTypeObject* get_topmost_structseq();\n"
    assert_expected_inline(
        source.text,
        """\
PyTypeObject* get_topmost_structseq() {
  static PyStructSequence_Field NamedTuple_fields[] = { {"values", ""}, {"indices", ""}, {nullptr} };
  static PyTypeObject topmostNamedTuple;
  static bool is_initialized = false;
  static PyStructSequence_Desc desc = { "torch.return_types.topmost", nullptr, NamedTuple_fields, 2 };
  if (!is_initialized) {
    PyStructSequence_InitType(&topmostNamedTuple, &desc);
    topmostNamedTuple.tp_repr = (reprfunc)torch::utils::returned_structseq_repr;
    is_initialized = true;
  }
  return &topmostNamedTuple;
}
addReturnType(return_types_module, "topmost", generated::get_topmost_structseq());
""",
    )


def test_all_functions_that_cannot_be_bound() -> None:
    log = Diagnostics()
    program = program_of("""
- func: words(Tensor self, str[] words) -> Tensor
- func: ramp(int n) -> Tensor
  dispatch:
    CompositeExplicitAutograd: ramp
- func: like(Tensor a, *, ScalarType? dtype, Layout? layout, Device? device, bool? pin_memory) -> Tensor
  dispatch:
    CompositeExplicitAutograd: like
""")
    assert derive_python(program, (), log) is None
    assert_expected_inline(
        log.render(),
        """\
ops.yaml:2:28: error: 'words' can't be bound to Python: type 'str[]' can't be given from Python [python-type]
    2 | - func: words(Tensor self, str[] words) -> Tensor
      |                            ^^^^^ use another type
ops.yaml:3:9: error: 'ramp' creates a tensor, but its schema has no tensor options [python-options]
    3 | - func: ramp(int n) -> Tensor
      |         ^^^^ add dtype, layout, device and pin_memory, or write 'category_override: dummy'
ops.yaml:6:9: error: 'like' has tensor options, but creates its result from tensors [python-options]
    6 | - func: like(Tensor a, *, ScalarType? dtype, Layout? layout, Device? device, bool? pin_memory) -> Tensor
      |         ^^^^ write 'category_override: factory'
3 errors
""",
    )


def test_forms_that_python_cannot_tell_apart() -> None:
    log = Diagnostics()
    program = program_of("""
- func: f(Tensor self, int x) -> Tensor
- func: f.out(Tensor self, float x, *, Tensor(a!) out) -> Tensor(a!)
""")
    assert derive_python(program, (), log) is None
    assert_expected_inline(
        log.render(),
        """\
ops.yaml:3:9: error: 'f.out' has no functional form with its signature in Python, f(Tensor input, double x) [python-overloads]
    3 | - func: f.out(Tensor self, float x, *, Tensor(a!) out) -> Tensor(a!)
      |         ^^^^^
ops.yaml:2:9: note: beside 'f'
    2 | - func: f(Tensor self, int x) -> Tensor
      |         ^
1 error
""",
    )


def test_arguments_that_a_call_must_give() -> None:
    (function,) = program_of(
        "- func: crop(Tensor self, SymInt[2] size, int at=0, *, Scalar? fill, bool quick=True) -> Tensor\n"
    ).functions
    assert_expected_inline(
        render_arguments(function),
        """[{'is_kwarg_only': 'False', 'name': 'self', 'simple_type': 'Tensor'}, {'is_kwarg_only': 'False', 'name': 'size', 'simple_type': 'SymIntArrayRef', 'size': 2}, {'is_kwarg_only': 'True', 'name': 'fill', 'simple_type': 'Scalar?'}]""",
    )
