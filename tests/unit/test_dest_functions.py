"""The functions that programs call: which there are of an operator, and how they hand on their arguments."""

# ruff: noqa: E501  (generated C++ is as long as it is)

from __future__ import annotations

from expecttest import assert_expected_inline

from opgen.dest.functions import emit_function_headers, emit_function_sources
from opgen.dest.tensor_body import emit_tensor_headers, emit_tensor_sources
from opgen.model import DispatchKey
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from tests.unit.tiny_programs import options_of, program_of

TEMPLATES = {
    "Functions.h": "$Functions_includes\n$Functions_declarations\n",
    "Functions.cpp": "// the same for all\n",
    "Function.h": "$static_dispatch_ops_headers\n$operator_includes\n$function_definitions\n",
    "RedispatchFunctions.h": "$function_redispatch_definitions\n",
    "TensorBody.h": "$tensor_method_declarations\n$tensor_method_definitions\n",
    "TensorMethods.cpp": "// the same for all\n",
}

RAMP = """
- func: ramp(SymInt n=3, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
"""
TRIPLE = """
- func: triple(Tensor self, float by=3) -> Tensor
  variants: function, method
  dispatch: {CPU: triple}
- func: triple.out(Tensor self, float by=3, *, Tensor(a!) out) -> Tensor(a!)
"""
METHODS = """
- func: grow_(Tensor(a!) self, SymInt n) -> Tensor(a!)
  variants: method
- func: data(Tensor self) -> Tensor
  variants: method
  manual_cpp_binding: True
"""


def headers(program: Program, templates: TemplateSet, **flags: object) -> dict[str, str]:
    files = emit_function_headers(program, options_of(**flags), templates)
    return {file.path: file.text.strip() for file in files}


def test_out_functions_come_in_two_orders(templates: TemplateSet) -> None:
    assert_expected_inline(
        headers(program_of(TRIPLE), templates)["Functions.h"],
        """\
#include <ATen/Operators.h>

// ops.yaml:2: aten::triple(Tensor self, float by=3) -> Tensor
inline at::Tensor triple(const at::Tensor & self, double by=3) {
  return at::_ops::triple::call(self, by);
}

// ops.yaml:5: aten::triple.out(Tensor self, float by=3, *, Tensor(a!) out) -> Tensor(a!)
inline at::Tensor & triple_out(at::Tensor & out, const at::Tensor & self, double by=3) {
  return at::_ops::triple_out::call(self, by, out);
}

// ops.yaml:5: aten::triple.out(Tensor self, float by=3, *, Tensor(a!) out) -> Tensor(a!)
inline at::Tensor & triple_outf(const at::Tensor & self, double by, at::Tensor & out) {
  return at::_ops::triple_out::call(self, by, out);
}""",
    )


def test_symint_and_options_multiply(templates: TemplateSet) -> None:
    assert_expected_inline(
        headers(program_of(RAMP), templates)["Functions.h"],
        """\
#include <ATen/Operators.h>

// ops.yaml:2: aten::ramp(SymInt n=3, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline at::Tensor ramp(int64_t n=3, at::TensorOptions options={}) {
  return at::_ops::ramp::call(n, c10::optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(), options.device_opt(), options.pinned_memory_opt());
}

namespace symint {
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, int64_t>>>
  at::Tensor ramp(int64_t n=3, at::TensorOptions options={}) {
    return at::_ops::ramp::call(n, c10::optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(), options.device_opt(), options.pinned_memory_opt());
  }
}

// ops.yaml:2: aten::ramp(SymInt n=3, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline at::Tensor ramp(int64_t n, ::std::optional<at::ScalarType> dtype, ::std::optional<at::Layout> layout, ::std::optional<at::Device> device, ::std::optional<bool> pin_memory) {
  return at::_ops::ramp::call(n, dtype, layout, device, pin_memory);
}

namespace symint {
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, int64_t>>>
  at::Tensor ramp(int64_t n, ::std::optional<at::ScalarType> dtype, ::std::optional<at::Layout> layout, ::std::optional<at::Device> device, ::std::optional<bool> pin_memory) {
    return at::_ops::ramp::call(n, dtype, layout, device, pin_memory);
  }
}

// ops.yaml:2: aten::ramp(SymInt n=3, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline at::Tensor ramp_symint(c10::SymInt n=3, at::TensorOptions options={}) {
  return at::_ops::ramp::call(n, c10::optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(), options.device_opt(), options.pinned_memory_opt());
}

namespace symint {
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, c10::SymInt>>>
  at::Tensor ramp(c10::SymInt n=3, at::TensorOptions options={}) {
    return at::_ops::ramp::call(n, c10::optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(), options.device_opt(), options.pinned_memory_opt());
  }
}

// ops.yaml:2: aten::ramp(SymInt n=3, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
inline at::Tensor ramp_symint(c10::SymInt n, ::std::optional<at::ScalarType> dtype, ::std::optional<at::Layout> layout, ::std::optional<at::Device> device, ::std::optional<bool> pin_memory) {
  return at::_ops::ramp::call(n, dtype, layout, device, pin_memory);
}

namespace symint {
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, c10::SymInt>>>
  at::Tensor ramp(c10::SymInt n, ::std::optional<at::ScalarType> dtype, ::std::optional<at::Layout> layout, ::std::optional<at::Device> device, ::std::optional<bool> pin_memory) {
    return at::_ops::ramp::call(n, dtype, layout, device, pin_memory);
  }
}""",
    )


def test_methods_are_functions_in_namespace_symint_only(templates: TemplateSet) -> None:
    assert_expected_inline(
        headers(program_of(METHODS), templates)["Functions.h"],
        """\
#include <ATen/Operators.h>

namespace symint {
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, int64_t>>>
  at::Tensor & grow_(at::Tensor & self, int64_t n) {
    return at::_ops::grow_::call(self, n);
  }
}

namespace symint {
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, c10::SymInt>>>
  at::Tensor & grow_(at::Tensor & self, c10::SymInt n) {
    return at::_ops::grow_::call(self, n);
  }
}""",
    )


def test_redispatch_takes_a_key_set_first(templates: TemplateSet) -> None:
    assert_expected_inline(
        headers(program_of(TRIPLE + METHODS), templates)["RedispatchFunctions.h"],
        """\
// ops.yaml:2: aten::triple(Tensor self, float by=3) -> Tensor
inline at::Tensor triple(c10::DispatchKeySet dispatchKeySet, const at::Tensor & self, double by=3) {
  return at::_ops::triple::redispatch(dispatchKeySet, self, by);
}

// ops.yaml:5: aten::triple.out(Tensor self, float by=3, *, Tensor(a!) out) -> Tensor(a!)
inline at::Tensor & triple_out(c10::DispatchKeySet dispatchKeySet, at::Tensor & out, const at::Tensor & self, double by=3) {
  return at::_ops::triple_out::redispatch(dispatchKeySet, self, by, out);
}

// ops.yaml:5: aten::triple.out(Tensor self, float by=3, *, Tensor(a!) out) -> Tensor(a!)
inline at::Tensor & triple_outf(c10::DispatchKeySet dispatchKeySet, const at::Tensor & self, double by, at::Tensor & out) {
  return at::_ops::triple_out::redispatch(dispatchKeySet, self, by, out);
}

// ops.yaml:7: aten::grow_(Tensor(a!) self, SymInt n) -> Tensor(a!)
inline at::Tensor & grow_(c10::DispatchKeySet dispatchKeySet, at::Tensor & self, int64_t n) {
  return at::_ops::grow_::redispatch(dispatchKeySet, self, n);
}

// ops.yaml:7: aten::grow_(Tensor(a!) self, SymInt n) -> Tensor(a!)
inline at::Tensor & grow__symint(c10::DispatchKeySet dispatchKeySet, at::Tensor & self, c10::SymInt n) {
  return at::_ops::grow_::redispatch(dispatchKeySet, self, n);
}

// ops.yaml:9: aten::data(Tensor self) -> Tensor
inline at::Tensor __dispatch_data(c10::DispatchKeySet dispatchKeySet, const at::Tensor & self) {
  return at::_ops::data::redispatch(dispatchKeySet, self);
}""",
    )


def test_headers_for_each_operator(templates: TemplateSet) -> None:
    found = headers(
        program_of(RAMP + TRIPLE), templates, per_operator_headers=True, static_dispatch_keys=(DispatchKey.CPU,)
    )
    assert list(found) == ["ops/ramp.h", "ops/triple.h", "Functions.h", "RedispatchFunctions.h"]
    assert found["Functions.h"] == "#include <ATen/ops/ramp.h>\n#include <ATen/ops/triple.h>"
    includes = [line for line in found["ops/triple.h"].split("\n") if line.startswith("#include")]
    assert includes == [
        "#include <ATen/ops/triple_cpu_dispatch.h>",
        "#include <ATen/ops/triple_compositeimplicitautograd_dispatch.h>",
        "#include <ATen/ops/triple_ops.h>",
    ]


def test_members_of_tensor(templates: TemplateSet) -> None:
    (header,) = emit_tensor_headers(program_of(TRIPLE + METHODS), options_of(), templates)
    assert (header.path, header.group) == ("core/TensorBody.h", "core_")
    assert_expected_inline(
        header.text.strip(),
        """\
at::Tensor triple(double by=3) const;
at::Tensor & grow_(int64_t n) const;
at::Tensor & grow__symint(c10::SymInt n) const;
at::Tensor __dispatch_data() const;

// ops.yaml:2: aten::triple(Tensor self, float by=3) -> Tensor
inline at::Tensor Tensor::triple(double by) const {
  return at::_ops::triple::call(const_cast<Tensor&>(*this), by);
}

// ops.yaml:7: aten::grow_(Tensor(a!) self, SymInt n) -> Tensor(a!)
inline at::Tensor & Tensor::grow_(int64_t n) const {
  return at::_ops::grow_::call(const_cast<Tensor&>(*this), n);
}

// ops.yaml:7: aten::grow_(Tensor(a!) self, SymInt n) -> Tensor(a!)
inline at::Tensor & Tensor::grow__symint(c10::SymInt n) const {
  return at::_ops::grow_::call(const_cast<Tensor&>(*this), n);
}

// ops.yaml:9: aten::data(Tensor self) -> Tensor
inline at::Tensor Tensor::__dispatch_data() const {
  return at::_ops::data::call(const_cast<Tensor&>(*this));
}""",
    )


def test_sources_do_not_depend_on_operators(templates: TemplateSet) -> None:
    for emit in (emit_function_sources, emit_tensor_sources):
        (of_none,) = emit(program_of("[]"), options_of(), templates)
        (of_some,) = emit(program_of(TRIPLE), options_of(), templates)
        assert of_none == of_some
