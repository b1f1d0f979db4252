"""Which operators have their backend selected, and how."""

# ruff: noqa: E501  (generated C++ is as long as it is)

from __future__ import annotations

import pytest
from expecttest import assert_expected_inline

from opgen.dest.backend_select import emit_backend_select, needs_backend_select
from opgen.output.template import TemplateSet
from tests.unit.tiny_programs import program_of, text_of

TEMPLATES = {
    "RegisterBackendSelect.cpp": (
        "$ops_headers\n\n$backend_select_method_definitions\n\nTORCH_LIBRARY_IMPL(aten, BackendSelect, m) {\n"
        "  ${backend_select_function_registrations};\n}\n"
    )
}

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
FACTORIES = f"""
- func: blank(SymInt[] size, *, {OPTIONS}) -> Tensor
  dispatch:
    CPU: blank
- func: blank.like_two(Tensor one, Tensor? two, int n, *, {OPTIONS}) -> Tensor
  dispatch:
    CPU: blank
- func: mine::blank_too(int n, *, {OPTIONS}) -> Tensor
  dispatch:
    CPU: blank_too
"""


def test_the_key_comes_from_options_and_tensors(templates: TemplateSet) -> None:
    assert_expected_inline(
        text_of(emit_backend_select, program_of(FACTORIES), templates),
        """\
#include <ATen/ops/blank_ops.h>
#include <ATen/ops/blank_ops.h>
#include <ATen/ops/blank_too_ops.h>

// ops.yaml:2: aten::blank(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
C10_ALWAYS_INLINE
at::Tensor blank(c10::SymIntArrayRef size, ::std::optional<at::ScalarType> dtype, ::std::optional<at::Layout> layout, ::std::optional<at::Device> device, ::std::optional<bool> pin_memory) {
  DispatchKeySet _dk = c10::DispatchKeySet(c10::computeDispatchKey(dtype, layout, device));
  return at::_ops::blank::redispatch(
      _dk, size, dtype, layout, device, pin_memory);
}
// ops.yaml:5: aten::blank.like_two(Tensor one, Tensor? two, int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
C10_ALWAYS_INLINE
at::Tensor blank_like_two(const at::Tensor & one, const ::std::optional<at::Tensor> & two, int64_t n, ::std::optional<at::ScalarType> dtype, ::std::optional<at::Layout> layout, ::std::optional<at::Device> device, ::std::optional<bool> pin_memory) {
  DispatchKeySet _dk_set = c10::DispatchKeySet(c10::computeDispatchKey(dtype, layout, device)) | c10::detail::multi_dispatch_key_set(one, two);
  DispatchKeySet _dk_mask = c10::DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::BackendSelect);
  DispatchKeySet _dk = c10::impl::computeDispatchKeySet(_dk_set, _dk_mask);
  return at::_ops::blank_like_two::redispatch(
      _dk, one, two, n, dtype, layout, device, pin_memory);
}
// ops.yaml:8: mine::blank_too(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
C10_ALWAYS_INLINE
at::Tensor blank_too(int64_t n, ::std::optional<at::ScalarType> dtype, ::std::optional<at::Layout> layout, ::std::optional<at::Device> device, ::std::optional<bool> pin_memory) {
  DispatchKeySet _dk = c10::DispatchKeySet(c10::computeDispatchKey(dtype, layout, device));
  return at::_ops::blank_too::redispatch(
      _dk, n, dtype, layout, device, pin_memory);
}

TORCH_LIBRARY_IMPL(mine, BackendSelect, m) {
  m.impl("mine::blank_too", TORCH_FN(blank_too));
}

TORCH_LIBRARY_IMPL(aten, BackendSelect, m) {
  m.impl("aten::blank", TORCH_FN(blank));
  m.impl("aten::blank.like_two", TORCH_FN(blank_like_two));;
}
""",
    )


def test_only_selected_factories_are_there(templates: TemplateSet) -> None:
    text = text_of(emit_backend_select, program_of(FACTORIES, selected=["mine::blank_too"]), templates)
    assert "blank_like_two" not in text
    assert "TORCH_LIBRARY_IMPL(mine, BackendSelect, m)" in text


@pytest.mark.parametrize(
    ("schema", "needed"),
    [
        (f"blank(int n, *, {OPTIONS}) -> Tensor", True),
        (f"blank_like(Tensor self, *, {OPTIONS}) -> Tensor", False),
        (f"new_blank(Tensor self, *, {OPTIONS}) -> Tensor", False),
        ("blank(int n, *, ScalarType? dtype=None) -> Tensor", False),
    ],
)
def test_factories_that_take_after_a_tensor_need_nothing(schema: str, needed: bool) -> None:
    (function,) = program_of(f"- func: {schema}\n  dispatch: {{CompositeExplicitAutograd: kernel}}\n").functions
    assert needs_backend_select(function) is needed
