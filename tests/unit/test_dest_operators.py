"""The entry points of operators: where they are declared, how defined, and what static dispatch makes of them."""

# ruff: noqa: E501  (generated C++ is as long as it is)

from __future__ import annotations

from expecttest import assert_expected_inline

from opgen.dest.operators import emit_operator_headers, emit_operator_sources
from opgen.model import DispatchKey
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from tests.unit.tiny_programs import options_of, program_of

TEMPLATES = {
    "Operators.h": "$Operators_includes\n$Operators_declarations\n",
    "MethodOperators.h": "$MethodOperators_includes\n$MethodOperators_declarations\n",
    "Operator.h": "$declarations\n",
    "Operators.cpp": "$operator_headers\n$static_dispatch_extra_headers\n$definitions\n",
}

TRIPLE = """
- func: triple(Tensor self, SymInt n=3) -> Tensor
  variants: function, method
- func: triple.out(Tensor self, SymInt n=3, *, str mode="a", Tensor(a!) out) -> Tensor(a!)
- func: mine::probe() -> bool
"""
BACKENDS = """
- func: on_cpu(Tensor self) -> Tensor
  dispatch: {CPU: on_cpu}
- func: on_both(Tensor self, SymInt n) -> Tensor
  dispatch: {CPU: on_both, CUDA: on_both_symint}
- func: on_both.out(Tensor self, SymInt n, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: ours::on_both_out, CUDA: ours::on_both_out}
- func: anywhere(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
- func: sized(int n) -> Tensor
  dispatch: {CPU: sized, CUDA: sized}
"""


def headers(program: Program, templates: TemplateSet, *, per_operator_headers: bool) -> dict[str, str]:
    options = options_of(per_operator_headers=per_operator_headers)
    return {file.path: file.text for file in emit_operator_headers(program, options, templates)}


def calls(program: Program, templates: TemplateSet, *backends: DispatchKey) -> str:
    """The bodies of all `call` members."""
    options = options_of(static_dispatch_keys=backends)
    everything = [f for f in emit_operator_sources(program, options, templates) if f.path.endswith("Everything.cpp")]
    bodies = everything[0].text.split("::call(")[1:]
    return "\n".join(body.partition(" {\n")[2].partition("\n}\n")[0] for body in bodies) + "\n"


def test_methods_are_declared_apart(templates: TemplateSet) -> None:
    found = headers(program_of(TRIPLE), templates, per_operator_headers=False)
    assert_expected_inline(
        found["MethodOperators.h"].strip(),
        """\
// ops.yaml:2
struct TORCH_API triple {
  using schema = at::Tensor (const at::Tensor &, c10::SymInt);
  using ptr_schema = schema*;
  static constexpr const char* name = "aten::triple";
  static constexpr const char* overload_name = "";
  static constexpr const char* schema_str = "triple(Tensor self, SymInt n=3) -> Tensor";
  static at::Tensor call(const at::Tensor & self, c10::SymInt n);
  static at::Tensor redispatch(c10::DispatchKeySet dispatchKeySet, const at::Tensor & self, c10::SymInt n);
};""",
    )
    assert_expected_inline(
        found["Operators.h"].strip(),
        """\
#include <ATen/MethodOperators.h>

// ops.yaml:4
struct TORCH_API triple_out {
  using schema = at::Tensor & (const at::Tensor &, c10::SymInt, c10::string_view, at::Tensor &);
  using ptr_schema = schema*;
  static constexpr const char* name = "aten::triple";
  static constexpr const char* overload_name = "out";
  static constexpr const char* schema_str = "triple.out(Tensor self, SymInt n=3, *, str mode=\\"a\\", Tensor(a!) out) -> Tensor(a!)";
  static at::Tensor & call(const at::Tensor & self, c10::SymInt n, c10::string_view mode, at::Tensor & out);
  static at::Tensor & redispatch(c10::DispatchKeySet dispatchKeySet, const at::Tensor & self, c10::SymInt n, c10::string_view mode, at::Tensor & out);
};

// ops.yaml:5
struct TORCH_API probe {
  using schema = bool ();
  using ptr_schema = schema*;
  static constexpr const char* name = "mine::probe";
  static constexpr const char* overload_name = "";
  static constexpr const char* schema_str = "probe() -> bool";
  static bool call();
  static bool redispatch(c10::DispatchKeySet dispatchKeySet);
};""",
    )


def test_headers_for_each_operator(templates: TemplateSet) -> None:
    found = headers(program_of(TRIPLE), templates, per_operator_headers=True)
    assert list(found) == ["ops/triple_ops.h", "ops/probe_ops.h", "MethodOperators.h", "Operators.h"]
    assert found["MethodOperators.h"].split("\n") == ["#include <ATen/ops/triple_ops.h>", "", ""]
    assert found["Operators.h"].split("\n")[:2] == [
        "#include <ATen/ops/probe_ops.h>",
        "#include <ATen/ops/triple_ops.h>",
    ]
    assert found["ops/triple_ops.h"].count("struct ") == 2


def test_definitions_ask_the_dispatcher(templates: TemplateSet) -> None:
    files = list(emit_operator_sources(program_of(TRIPLE), options_of(), templates))
    assert [file.path for file in files] == [f"Operators_{n}.cpp" for n in range(5)] + ["OperatorsEverything.cpp"]
    assert_expected_inline(
        files[-1].text.strip(),
        """\
#include <ATen/ops/triple.h>
#include <ATen/ops/triple.h>
#include <ATen/ops/probe.h>


// ops.yaml:2: aten::triple(Tensor self, SymInt n=3) -> Tensor
static C10_NOINLINE c10::TypedOperatorHandle<triple::schema> create_triple_typed_handle() {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(triple::name, triple::overload_name)
      .typed<triple::schema>();
}

at::Tensor triple::call(const at::Tensor & self, c10::SymInt n) {
  static auto op = create_triple_typed_handle();
  return op.call(self, n);
}

at::Tensor triple::redispatch(c10::DispatchKeySet dispatchKeySet, const at::Tensor & self, c10::SymInt n) {
  static auto op = create_triple_typed_handle();
  return op.redispatch(dispatchKeySet, self, n);
}

// ops.yaml:4: aten::triple.out(Tensor self, SymInt n=3, *, str mode="a", Tensor(a!) out) -> Tensor(a!)
static C10_NOINLINE c10::TypedOperatorHandle<triple_out::schema> create_triple_out_typed_handle() {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(triple_out::name, triple_out::overload_name)
      .typed<triple_out::schema>();
}

at::Tensor & triple_out::call(const at::Tensor & self, c10::SymInt n, c10::string_view mode, at::Tensor & out) {
  static auto op = create_triple_out_typed_handle();
  return op.call(self, n, mode, out);
}

at::Tensor & triple_out::redispatch(c10::DispatchKeySet dispatchKeySet, const at::Tensor & self, c10::SymInt n, c10::string_view mode, at::Tensor & out) {
  static auto op = create_triple_out_typed_handle();
  return op.redispatch(dispatchKeySet, self, n, mode, out);
}

// ops.yaml:5: mine::probe() -> bool
static C10_NOINLINE c10::TypedOperatorHandle<probe::schema> create_probe_typed_handle() {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(probe::name, probe::overload_name)
      .typed<probe::schema>();
}

bool probe::call() {
  static auto op = create_probe_typed_handle();
  return op.call();
}

bool probe::redispatch(c10::DispatchKeySet dispatchKeySet) {
  static auto op = create_probe_typed_handle();
  return op.redispatch(dispatchKeySet);
}""",
    )


def test_static_dispatch_to_one_backend(templates: TemplateSet) -> None:
    assert_expected_inline(
        calls(program_of(BACKENDS), templates, DispatchKey.CUDA),
        """\
  TORCH_CHECK(false, "Static dispatch does not support on_cpu forCUDA ");
  return at::cuda::on_both_symint(self, n);
  return ours::cuda::on_both_symint_out(out, self, n);
  return at::compositeimplicitautograd::anywhere(self, TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory), memory_format);
  return at::cuda::sized(n);
""",
    )


def test_static_dispatch_to_several_backends(templates: TemplateSet) -> None:
    assert_expected_inline(
        calls(program_of(BACKENDS), templates, DispatchKey.CPU, DispatchKey.CUDA, DispatchKey.CPU),
        """\
  return at::cpu::on_cpu(self);
  DispatchKeySet _dk_set = c10::detail::multi_dispatch_key_set(self);
  DispatchKey _dk = c10::highestPriorityBackendTypeId(_dk_set);
  switch (_dk) {
    case DispatchKey::CPU:
      return at::cpu::on_both_symint(self, n);;
    case DispatchKey::CUDA:
      return at::cuda::on_both_symint(self, n);;
    default:
      TORCH_CHECK(false, "Static dispatch does not support on_both_symint forCPU, CUDA ");
  }
  DispatchKeySet _dk_set = c10::detail::multi_dispatch_key_set(self, out);
  DispatchKey _dk = c10::highestPriorityBackendTypeId(_dk_set);
  switch (_dk) {
    case DispatchKey::CPU:
      return ours::cpu::on_both_symint_out(out, self, n);;
    case DispatchKey::CUDA:
      return ours::cuda::on_both_symint_out(out, self, n);;
    default:
      TORCH_CHECK(false, "Static dispatch does not support on_both_symint_out forCPU, CUDA ");
  }
  return at::compositeimplicitautograd::anywhere(self, TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory), memory_format);
  static auto op = create_sized_typed_handle();
  return op.call(n);
""",
    )
