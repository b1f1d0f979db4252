"""What is registered under a dispatch key, and the headers of the functions beside it."""

# ruff: noqa: E501  (generated C++ is as long as it is)

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from expecttest import assert_expected_inline

from opgen.dest.dispatch_headers import declare_functions, emit_dispatch_headers
from opgen.dest.group_kernels import KernelKind, KernelMap
from opgen.dest.kernel_calls import KernelCalls
from opgen.dest.register_dispatch_key import definitions_env, emit_register_dispatch_key
from opgen.dest.register_helpers import device_includes, helper_functions, helper_includes, operator_includes
from opgen.model import DispatchKey
from opgen.output.template import TemplateSet
from opgen.program.program import Options
from opgen.releases.known import newest_release
from tests.unit.tiny_programs import program_of

OPTIONS = Options(Path(), dispatch_keys=(DispatchKey.CPU, DispatchKey.CUDA, DispatchKey.SparseCUDA, DispatchKey.Meta))
EACH = replace(OPTIONS, per_operator_headers=True)
COMPOSITE = DispatchKey.CompositeImplicitAutograd

TWICE = """
- func: twice(Tensor self) -> Tensor
  structured_delegate: twice.out
- func: twice_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: twice.out
- func: twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {CPU: twice_out, CUDA: twice_out_cuda, SparseCUDA: twice_out_sparse}
"""


def registered(definitions: str, key: DispatchKey, options: Options = OPTIONS) -> str:
    """The wrappers under a key, and their registrations."""
    program = program_of(definitions)
    calls = KernelCalls(program)
    envs = [definitions_env(served, calls, options) for served in KernelMap(program).groups_under(key)]
    parts = ("dispatch_anonymous_definitions", "static_init_dispatch_registrations")
    return "".join(f"{env[part]}\n" for env in envs for part in parts)


def public(definitions: str, key: DispatchKey) -> str:
    """The functions in the key's namespace."""
    program = program_of(definitions)
    calls = KernelCalls(program)
    envs = [definitions_env(served, calls, OPTIONS) for served in KernelMap(program).groups_under(key)]
    return "".join(f"{env['dispatch_namespaced_definitions']}\n" for env in envs)


def test_a_kernel_and_its_registration() -> None:
    text = registered(
        "- func: grow.by(Tensor self, SymInt[] size, int? by) -> Tensor\n  dispatch: {CPU: mine::grow_cpu}",
        DispatchKey.CPU,
    )
    assert_expected_inline(
        text,
        """\
namespace {
at::Tensor wrapper_CPU_by_grow(const at::Tensor & self, c10::SymIntArrayRef size, ::std::optional<int64_t> by) {
  return mine::native::grow_cpu(self, C10_AS_INTARRAYREF_SLOW(size), by);
}
} // anonymous namespace
TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("grow.by", TORCH_FN(wrapper_CPU_by_grow));
}
""",
    )


def test_what_users_call_past_the_dispatcher() -> None:
    text = public("- func: grow.by(Tensor self, SymInt[] size) -> Tensor\n  dispatch: {CPU: grow_cpu}", DispatchKey.CPU)
    assert_expected_inline(
        text,
        """\
at::Tensor grow(const at::Tensor & self, at::IntArrayRef size) {
  return wrapper_CPU_by_grow(self, c10::fromIntArrayRefSlow(size));
}
at::Tensor grow_symint(const at::Tensor & self, c10::SymIntArrayRef size) {
  return wrapper_CPU_by_grow(self, size);
}
""",
    )


def test_devices_are_checked_and_entered_where_the_backend_needs_it() -> None:
    text = registered(
        "- func: mix.out(int n, Tensor? a, *, Tensor? b, Tensor(a!) out) -> Tensor(a!)\n"
        "  dispatch: {CUDA: mix_out}\n"
        "- func: mix(int n, Tensor? a, *, Tensor? b) -> Tensor\n"
        "  device_check: NoCheck\n"
        "  device_guard: False\n"
        "  dispatch: {CUDA: mix}\n",
        DispatchKey.CUDA,
    )
    assert_expected_inline(
        text,
        """\
namespace {
at::Tensor wrapper_CUDA__mix(int64_t n, const ::std::optional<at::Tensor> & a, const ::std::optional<at::Tensor> & b) {
  return at::native::mix(n, a, b);
}
} // anonymous namespace
namespace {
at::Tensor & wrapper_CUDA_out_mix_out(int64_t n, const ::std::optional<at::Tensor> & a, const ::std::optional<at::Tensor> & b, at::Tensor & out) {
  std::optional<Device> common_device = std::nullopt;
  (void)common_device; // unused if there are no tensors
  c10::impl::check_and_update_common_device(common_device, out, "wrapper_CUDA_out_mix_out", "out");
  c10::impl::check_and_update_common_device(common_device, a, "wrapper_CUDA_out_mix_out", "a");
  const OptionalDeviceGuard device_guard(device_of(out));
  return at::native::mix_out(n, a, b, out);
}
} // anonymous namespace
TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("mix", TORCH_FN(wrapper_CUDA__mix));
  m.impl("mix.out", TORCH_FN(wrapper_CUDA_out_mix_out));
}
""",
    )


def test_a_factory_starts_cuda() -> None:
    options = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
    text = registered(f"- func: make(*, {options}) -> Tensor\n  dispatch: {{CUDA: make_cuda}}", DispatchKey.CUDA)
    assert_expected_inline(
        text,
        """\
namespace {
at::Tensor wrapper_CUDA__make(::std::optional<at::ScalarType> dtype, ::std::optional<at::Layout> layout, ::std::optional<at::Device> device, ::std::optional<bool> pin_memory) {
  std::optional<Device> common_device = std::nullopt;
  (void)common_device; // unused if there are no tensors
  globalContext().lazyInitDevice(c10::DeviceType::CUDA);
  const DeviceGuard device_guard(device_or_default(device));
  return at::native::make_cuda(dtype, layout, device, pin_memory);
}
} // anonymous namespace
TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("make", TORCH_FN(wrapper_CUDA__make));
}
""",
    )


def test_an_inplace_operator_does_nothing_to_a_meta_tensor() -> None:
    text = registered(
        "- func: stir_(Tensor(a!) self) -> Tensor(a!)\n  dispatch: {CPU: stir_}\n  autogen: stir, stir.out",
        DispatchKey.Meta,
    )
    assert_expected_inline(
        text,
        """\
at::Tensor & wrapper_Meta__stir_(at::Tensor & self) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_meta(),
    "Cannot inplace into non-meta tensor with meta tensor argument");
  return self;
}
TORCH_LIBRARY_IMPL(aten, Meta, m) {
  m.impl("stir_", TORCH_FN(wrapper_Meta__stir_));
}
""",
    )


def test_structured_functional_form_on_the_cpu() -> None:
    text = registered(TWICE, DispatchKey.CPU)
    assert_expected_inline(
        text[: text.index("struct structured_twice_out_out")],
        """\
struct structured_twice_out_functional final : public at::native::structured_twice_out {
  void set_output_strided(int64_t output_idx, IntArrayRef sizes, IntArrayRef strides, TensorOptions options) override {
    outputs_[output_idx] = create_out(sizes, strides, options);
  }
  void set_output_raw_strided(int64_t output_idx, IntArrayRef sizes, IntArrayRef strides, TensorOptions options) override {
    outputs_[output_idx] = create_out(sizes, strides, options);
  }
  const Tensor& maybe_get_output(int64_t output_idx) override {
    return outputs_[output_idx];
  }
  std::array<Tensor, 1> outputs_;
};
at::Tensor wrapper_CPU_twice(const at::Tensor & self) {
  structured_twice_out_functional op;
  op.meta(self);
  op.impl(self, op.outputs_[0]);
  return std::move(op.outputs_[0]);
}
""",
    )


def test_structured_out_form_on_cuda() -> None:
    text = registered(TWICE, DispatchKey.CUDA)
    start = text.index("struct structured_twice_out_cuda_out")
    assert_expected_inline(
        text[start : text.index("struct structured_twice_out_cuda_inplace")],
        """\
struct structured_twice_out_cuda_out final : public at::native::structured_twice_out_cuda {
  structured_twice_out_cuda_out(Tensor& out0) : outputs_{ std::ref(out0) } {}
  void set_output_strided(int64_t output_idx, IntArrayRef sizes, IntArrayRef strides, TensorOptions options) override {
    auto current_device = guard_.current_device();
    if (C10_UNLIKELY(current_device.has_value())) {
      TORCH_INTERNAL_ASSERT(*current_device == options.device(),
        "structured kernels don't support multi-device outputs");
    } else {
      guard_.reset_device(options.device());
    }
    const auto& out = outputs_[output_idx].get();
    resize_out(out, sizes, strides, options);
    auto maybe_proxy = maybe_create_proxy(out, sizes, strides, options);
    if (C10_UNLIKELY(maybe_proxy.has_value())) {
      proxy_outputs_[output_idx] = std::move(maybe_proxy).value();
    }
  }
  void set_output_raw_strided(int64_t output_idx, IntArrayRef sizes, IntArrayRef strides, TensorOptions options) override {
    auto current_device = guard_.current_device();
    if (C10_UNLIKELY(current_device.has_value())) {
      TORCH_INTERNAL_ASSERT(*current_device == options.device(),
        "structured kernels don't support multi-device outputs");
    } else {
      guard_.reset_device(options.device());
    }
    const auto& out = outputs_[output_idx].get();
    resize_out(out, sizes, strides, options);
  }
  const Tensor& maybe_get_output(int64_t output_idx) override {
    return proxy_outputs_[output_idx].has_value() ? *proxy_outputs_[output_idx] : outputs_[output_idx].get();
  }
  std::array<std::reference_wrapper<Tensor>, 1> outputs_;
  std::array<::std::optional<Tensor>, 1> proxy_outputs_;
  c10::cuda::OptionalCUDAGuard guard_;
};
at::Tensor & wrapper_CUDA_twice_out_out(const at::Tensor & self, at::Tensor & out) {
  std::optional<Device> common_device = std::nullopt;
  (void)common_device; // unused if there are no tensors
  c10::impl::check_and_update_common_device(common_device, out, "wrapper_CUDA_twice_out_out", "out");
  c10::impl::check_and_update_common_device(common_device, self, "wrapper_CUDA_twice_out_out", "self");
  structured_twice_out_cuda_out op(out);
  op.meta(self);
  op.impl(self, op.maybe_get_output(0));
  if (op.proxy_outputs_[0].has_value()) op.outputs_[0].get().copy_(*op.proxy_outputs_[0]);
  return out;
}
""",
    )


def test_structured_forms_without_an_impl() -> None:
    text = registered(TWICE, DispatchKey.Meta)
    assert_expected_inline(
        text[text.index("at::Tensor & wrapper_Meta_twice_(") :],
        """\
at::Tensor & wrapper_Meta_twice_(at::Tensor & self) {
  structured_twice_meta_inplace op(self);
  op.meta(self);
  if (op.proxy_outputs_[0].has_value()) op.outputs_[0].get().copy_(*op.proxy_outputs_[0]);
  return self;
}
TORCH_LIBRARY_IMPL(aten, Meta, m) {
  m.impl("twice", TORCH_FN(wrapper_Meta_twice));
  m.impl("twice.out", TORCH_FN(wrapper_Meta_twice_out_out));
  m.impl("twice_", TORCH_FN(wrapper_Meta_twice_));
}
""",
    )


def test_structured_forms_for_any_backend_call_the_out_form() -> None:
    text = registered(TWICE, DispatchKey.CompositeExplicitAutogradNonFunctional)
    assert_expected_inline(
        text[text.index("at::Tensor & wrapper_") :],
        """\
at::Tensor & wrapper_CompositeExplicitAutogradNonFunctional_twice_(at::Tensor & self) {
  structured_twice_default_backend_inplace op(self);
  op.meta(self);
  at::twice_outf(self, op.outputs_[0]);
  if (op.proxy_outputs_[0].has_value()) op.outputs_[0].get().copy_(*op.proxy_outputs_[0]);
  return self;
}
TORCH_LIBRARY_IMPL(aten, CompositeExplicitAutogradNonFunctional, m) {
  m.impl("twice", TORCH_FN(wrapper_CompositeExplicitAutogradNonFunctional_twice));
  m.impl("twice_", TORCH_FN(wrapper_CompositeExplicitAutogradNonFunctional_twice_));
}
""",
    )


PRECOMPUTED = """
- func: pool(Tensor self, int[2] size) -> (Tensor, Tensor)
  structured_delegate: pool.out
- func: pool.out(Tensor self, int[2] size, *, Tensor(a!) out, Tensor(b!) where) -> (Tensor(a!), Tensor(b!))
  structured: True
  structured_inherits: TensorIteratorBase
  precomputed:
  - size -> int width, int height
  - int total
  dispatch: {CPU: pool_out}
"""


def test_precomputed_values_and_several_outputs() -> None:
    text = registered(PRECOMPUTED, DispatchKey.CPU)
    wrappers = [part for part in text.split("};\n") if "wrapper" in part]
    assert_expected_inline(
        "".join(wrappers),
        """\
::std::tuple<at::Tensor,at::Tensor> wrapper_CPU_pool(const at::Tensor & self, at::IntArrayRef size) {
  structured_pool_out_functional op;
  auto precompute = op.meta(self, size);
  (void)precompute;
  op.impl(self, precompute.width, precompute.height, precompute.total, op.outputs_[0], op.outputs_[1]);
  return std::make_tuple(std::move(op.outputs_[0]), std::move(op.outputs_[1]));
}
struct structured_pool_out_out final : public at::native::structured_pool_out {
  structured_pool_out_out(Tensor& out0, Tensor& out1) : outputs_{ std::ref(out0), std::ref(out1) } {}
  void set_output_strided(int64_t output_idx, IntArrayRef sizes, IntArrayRef strides, TensorOptions options) override {
    const auto& out = outputs_[output_idx].get();
    resize_out(out, sizes, strides, options);
    auto maybe_proxy = maybe_create_proxy(out, sizes, strides, options);
    if (C10_UNLIKELY(maybe_proxy.has_value())) {
      proxy_outputs_[output_idx] = std::move(maybe_proxy).value();
    }
    at::native::structured_pool_out::set_output_raw_strided(output_idx, sizes, strides, options);
  }
  void set_output_raw_strided(int64_t output_idx, IntArrayRef sizes, IntArrayRef strides, TensorOptions options) override {
    const auto& out = outputs_[output_idx].get();
    resize_out(out, sizes, strides, options);
    at::native::structured_pool_out::set_output_raw_strided(output_idx, sizes, strides, options);
  }
  const Tensor& maybe_get_output(int64_t output_idx) override {
    return proxy_outputs_[output_idx].has_value() ? *proxy_outputs_[output_idx] : outputs_[output_idx].get();
  }
  std::array<std::reference_wrapper<Tensor>, 2> outputs_;
  std::array<::std::optional<Tensor>, 2> proxy_outputs_;
::std::tuple<at::Tensor &,at::Tensor &> wrapper_CPU_pool_out_out(const at::Tensor & self, at::IntArrayRef size, at::Tensor & out, at::Tensor & where) {
  structured_pool_out_out op(out, where);
  auto precompute = op.meta(self, size);
  (void)precompute;
  op.impl(self, precompute.width, precompute.height, precompute.total, op.maybe_get_output(0), op.maybe_get_output(1));
  if (op.proxy_outputs_[0].has_value()) op.outputs_[0].get().copy_(*op.proxy_outputs_[0]);
  if (op.proxy_outputs_[1].has_value()) op.outputs_[1].get().copy_(*op.proxy_outputs_[1]);
  return std::forward_as_tuple(out, where);
}
TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("pool", TORCH_FN(wrapper_CPU_pool));
  m.impl("pool.out", TORCH_FN(wrapper_CPU_pool_out_out));
}
""",
    )


def test_a_kernel_class_that_inherits_hears_of_outputs() -> None:
    text = registered(PRECOMPUTED, DispatchKey.Meta)
    assert text.count("at::meta::structured_pool::set_output_raw_strided(output_idx, sizes, strides, options);") == 4


def test_who_has_kernels_under_a_key() -> None:
    kernels = KernelMap(program_of(TWICE))

    def names(key: DispatchKey) -> list[tuple[str, KernelKind]]:
        return [(str(form.func.name), service) for each in kernels.groups_under(key) for form, service in each.forms]

    structured = [(name, KernelKind.STRUCTURED) for name in ("twice", "twice.out", "twice_")]
    assert names(DispatchKey.CPU) == names(DispatchKey.Meta) == structured
    assert names(DispatchKey.CompositeExplicitAutogradNonFunctional) == [structured[0], structured[2]]
    assert names(DispatchKey.SparseCUDA) == [("twice.out", KernelKind.KERNEL)]
    assert names(DispatchKey.XPU) == []


def test_an_operator_that_is_registered_by_hand_has_nothing() -> None:
    assert registered("- func: own(Tensor self) -> Tensor\n  manual_kernel_registration: True", COMPOSITE) == ""


def test_without_registration_the_functions_stay() -> None:
    definitions = "- func: own(Tensor self) -> Tensor\n  dispatch: {CPU: own_cpu}"
    text = registered(definitions, DispatchKey.CPU, replace(OPTIONS, skip_dispatcher_op_registration=True))
    assert "wrapper_CPU__own" in text
    assert "TORCH_LIBRARY_IMPL" not in text


def test_declarations() -> None:
    program = program_of(TWICE)
    declared = dict(declare_functions(program, KernelMap(program).groups_under(DispatchKey.CPU), "TORCH_API"))
    assert_expected_inline(
        "\n".join(declared["twice"]),
        """\
TORCH_API at::Tensor twice(const at::Tensor & self);
TORCH_API at::Tensor & twice_out(at::Tensor & out, const at::Tensor & self);
TORCH_API at::Tensor & twice_outf(const at::Tensor & self, at::Tensor & out);
TORCH_API at::Tensor & twice_(at::Tensor & self);""",
    )


def test_helpers_allocate_as_the_backend_does() -> None:
    texts = "".join(helper_functions(DispatchKey.XPU))
    assert "return at::detail::empty_strided_xpu(sizes, strides, options);" in texts
    assert "create_out" not in "".join(helper_functions(DispatchKey.SparseCPU))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (OPTIONS, "#include <ATen/cuda/EmptyTensor.h>"),
        (replace(OPTIONS, rocm=True), "#include <ATen/hip/EmptyTensor.h>"),
    ],
)
def test_rocm_has_headers_of_its_own(options: Options, expected: str) -> None:
    assert expected in helper_includes(DispatchKey.CUDA, options)
    assert (
        any("HIPGuard.h" in line for line in device_includes(DispatchKey.CUDA, options, newest_release()))
        is options.rocm
    )


def test_includes_of_one_header_for_each_operator() -> None:
    served = tuple(KernelMap(program_of(TWICE)).groups_under(DispatchKey.CUDA))
    assert_expected_inline(
        "\n".join(operator_includes(DispatchKey.CUDA, served, EACH)),
        """\
#include <ATen/ops/twice_cuda_dispatch.h>
#include <ATen/ops/twice_native.h>""",
    )


def test_files_and_their_lists(tmp_path: Path) -> None:
    for name in ("DispatchKeyFunctions.h", "DispatchKeyFunctions_inl.h", "DispatchKeyFunction.h"):
        (tmp_path / name).write_text("$dispatch_namespaced_declarations" if name.endswith("on.h") else "")
    (tmp_path / "RegisterDispatchKey.cpp").write_text("$dispatch_definitions\n")
    (tmp_path / "RegisterDispatchDefinitions.ini").write_text("$static_init_dispatch_registrations\n")
    program, templates = program_of(TWICE), TemplateSet(tmp_path)
    files = [*emit_dispatch_headers(program, EACH, templates), *emit_register_dispatch_key(program, EACH, templates)]
    assert_expected_inline(
        "\n".join(f"{file.path} {file.group!r}" for file in files),
        """\
CPUFunctions.h ''
CPUFunctions_inl.h ''
ops/twice_cpu_dispatch.h 'ops_'
CUDAFunctions.h 'cuda_'
CUDAFunctions_inl.h 'cuda_'
ops/twice_cuda_dispatch.h 'ops_'
MetaFunctions.h ''
MetaFunctions_inl.h ''
ops/twice_meta_dispatch.h 'ops_'
RegisterCPU_0.cpp ''
RegisterCPU_1.cpp ''
RegisterCPU_2.cpp ''
RegisterCPU_3.cpp ''
RegisterCPUEverything.cpp None
RegisterCUDA_0.cpp 'cuda_'
RegisterCUDAEverything.cpp None
RegisterSparseCUDA_0.cpp 'cuda_'
RegisterSparseCUDAEverything.cpp None
RegisterMeta_0.cpp ''
RegisterMetaEverything.cpp None""",
    )
