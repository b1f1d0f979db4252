"""What functionalization's emitters make of each kind of operator, on definitions small enough to read."""

# ruff: noqa: E501 (generated C++ is as wide as it is)
from __future__ import annotations

from pathlib import Path

from expecttest import assert_expected_inline

from opgen.dest.functionalization import emit_functionalization
from opgen.dest.functionalization_kernels import render_inplace_view, render_mutation, render_view
from opgen.dest.view_copy import render_functional, render_out, render_view_copy
from opgen.dest.view_meta import emit_functional_inverses, render_declarations, render_implementations
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.native_functions import load_program
from opgen.model import NativeFunction, NativeFunctionsGroup, NativeFunctionsViewGroup
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program
from tests.unit.tiny_programs import TAGS

TEMPLATES = {
    "RegisterFunctionalization.cpp": "$ops_headers\n$func_definitions\n$func_registrations\n",
    "FunctionalInverses.h": "$view_inverse_declarations\n",
}


ADD_ONE = """
- func: add_one_(Tensor(a!) self, Tensor other) -> Tensor(a!)
  dispatch:
    CPU: add_one_
  autogen: add_one, add_one.out
"""

TAKE_VIEW = """
- func: take(Tensor(a) self, SymInt[] size, SymInt? start=None) -> Tensor(a)
  dispatch:
    CPU: take
- func: take_(Tensor(a!) self, SymInt[] size, SymInt? start=None) -> Tensor(a!)
  dispatch:
    CPU: take_
  tags: inplace_view
- func: take_copy(Tensor self, SymInt[] size, SymInt? start=None) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: take_copy_symint
  tags: view_copy
  autogen: take_copy.out
"""

HALVES = """
- func: halves(Tensor(a) self, int dim=0) -> Tensor(a)[]
  dispatch:
    CPU: halves
- func: halves_copy(Tensor self, int dim=0) -> Tensor[]
  dispatch:
    CompositeExplicitAutogradNonFunctional: halves_copy
  tags: view_copy
  autogen: halves_copy.out
"""


def load(definitions: str, selected: tuple[str, ...] | None = None) -> Program:
    """The program that has only these operators."""
    log = Diagnostics()
    program = load_program(Source("ops.yaml", definitions), TAGS, log, selected_names=selected)
    assert program is not None, [d.message for d in log.all]
    return program


def group_of(program: Program) -> NativeFunctionsGroup:
    """The program's first group."""
    return program.groups[0]


def view_group_of(program: Program) -> NativeFunctionsViewGroup:
    """The program's first group of views."""
    return program.view_groups[0]


def mutation(program: Program, function: NativeFunction | None) -> str:
    """The kernel of one form of the program's first group."""
    assert function is not None
    return render_mutation(program, function, group_of(program).functional)


def test_an_inplace_form_replaces_the_value_of_self() -> None:
    program = load(ADD_ONE)
    assert_expected_inline(
        mutation(program, group_of(program).inplace),
        """\
at::Tensor & add_one_(c10::DispatchKeySet dispatchKeySet, at::Tensor & self, const at::Tensor & other) {
  if (true && !disable_meta_reference()) {
    auto self_meta = to_meta(self);
    auto other_meta = to_meta(other);
    at::AutoDispatchSkipFunctionalize func_guard;
    c10::impl::ExcludeDispatchKeyGuard guard(exclude_keys_for_meta_dispatch);
    at::_ops::add_one_::call(self_meta, other_meta);
  }
  at::Tensor self_;
  if (at::functionalization::impl::isFunctionalTensor(self)) {
    at::functionalization::impl::sync(self);
    self_ = at::functionalization::impl::from_functional_tensor(self);
  } else {
    self_ = self;
  }
  at::Tensor other_;
  if (at::functionalization::impl::isFunctionalTensor(other)) {
    at::functionalization::impl::sync(other);
    other_ = at::functionalization::impl::from_functional_tensor(other);
  } else {
    other_ = other;
  }
  if (!(true && at::functionalization::impl::isFunctionalTensor(self))) {
    if (!(false || other.device().type() == c10::DeviceType::XLA) && (false || at::functionalization::impl::isFunctionalTensor(other))) {
      TORCH_INTERNAL_ASSERT(false,
        "mutating a non-functional tensor with a functional tensor is not allowed.",
        " Please ensure that all of your inputs are wrapped inside of a functionalize() call.");
    } else {
      at::AutoDispatchSkipFunctionalize guard;
      at::Tensor tmp_output = at::_ops::add_one_::call(self_, other_);
      return self;
    }
  } else {
    at::Tensor tmp_output;
    {
      at::AutoDispatchSkipFunctionalize guard;
      tmp_output = at::_ops::add_one::call(self_, other_);
    }
    auto self_inner = at::functionalization::impl::from_functional_tensor(self);
    at::functionalization::impl::replace_(self, tmp_output);
    at::functionalization::impl::commit_update(self);
    at::functionalization::impl::sync(self);
    auto self_inner_updated = at::functionalization::impl::from_functional_tensor(self);
    at::functionalization::impl::propagate_xla_data_direct(self_inner, self_inner_updated);
    return self;
  }
}
""",
    )


def test_an_out_form_of_a_factory_asks_the_out_argument_for_the_options() -> None:
    program = load("""
- func: fill(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch:
    CompositeExplicitAutograd: fill
- func: fill.into(int[] size, *, Tensor(a!) result) -> Tensor(a!)
  dispatch:
    CompositeExplicitAutograd: fill_into
""")
    kernel = mutation(program, group_of(program).out)
    assert (
        "tmp_output = at::_ops::fill::call("
        "size, result_.scalar_type(), result_.layout(), result_.device(), ::std::nullopt);"
    ) in kernel


def test_a_mutable_form_wraps_what_is_fresh_and_replaces_the_rest() -> None:
    program = load("""
- func: count(Tensor self, Tensor(a!)[] seen, Tensor? mask=None) -> Tensor
  dispatch:
    CPU: count
  autogen: count_functional, count.out
""")
    kernel = mutation(program, group_of(program).mutable)
    assert_expected_inline(
        kernel[kernel.index("  if (!(true") :],
        """\
  if (!(true && at::functionalization::impl::isFunctionalTensor(seen))) {
    if (!(false || self.device().type() == c10::DeviceType::XLA) && (false || at::functionalization::impl::isFunctionalTensor(self) || at::functionalization::impl::isFunctionalTensor(mask))) {
      TORCH_INTERNAL_ASSERT(false,
        "mutating a non-functional tensor with a functional tensor is not allowed.",
        " Please ensure that all of your inputs are wrapped inside of a functionalize() call.");
    } else {
      at::AutoDispatchSkipFunctionalize guard;
      at::Tensor tmp_output = at::_ops::count::call(self_, seen_, mask_);
      return tmp_output;
    }
  } else {
    ::std::tuple<at::Tensor,::std::vector<at::Tensor>> tmp_output;
    {
      at::AutoDispatchSkipFunctionalize guard;
      tmp_output = at::_ops::count_functional::call(self_, seen_, mask_);
    }
    auto output_0 = at::functionalization::impl::to_functional_tensor(std::get<0>(tmp_output));
    auto seen_inner = at::functionalization::impl::from_functional_tensor(seen);
    at::functionalization::impl::replace_(seen, std::get<1>(tmp_output));
    at::functionalization::impl::commit_update(seen);
    at::functionalization::impl::sync(seen);
    auto seen_inner_updated = at::functionalization::impl::from_functional_tensor(seen);
    at::functionalization::impl::propagate_xla_data_direct(seen_inner, seen_inner_updated);
    return output_0;
  }
}
""",
    )


def test_no_meta_tensor_stands_in_for_a_storage() -> None:
    program = load("""
- func: attach_(Tensor(a!) self, Storage source) -> Tensor(a!)
  dispatch:
    CPU: attach_
  autogen: attach, attach.out
""")
    assert "if (false && !disable_meta_reference())" in mutation(program, group_of(program).inplace)


def test_a_view_remembers_how_it_was_taken() -> None:
    program = load(TAKE_VIEW)
    assert_expected_inline(
        render_view(program, view_group_of(program)),
        """\
at::Tensor take(c10::DispatchKeySet dispatchKeySet, const at::Tensor & self, c10::SymIntArrayRef size, ::std::optional<c10::SymInt> start) {
  at::Tensor self_;
  if (at::functionalization::impl::isFunctionalTensor(self)) {
    self_ = at::functionalization::impl::from_functional_tensor(self);
  } else {
    self_ = self;
  }
  if (!at::functionalization::impl::isFunctionalTensor(self)) {
    at::AutoDispatchSkipFunctionalize guard;
    return at::_ops::take::call(self_, size, start);
  }
  auto reapply_views = at::functionalization::impl::getFunctionalizationReapplyViewsTLS();
  auto inverse_return_mode = (
      reapply_views ? at::functionalization::InverseReturnMode::ViewOrScatterInverse
                    : at::functionalization::InverseReturnMode::NeverView
  );
  auto compute_reference_meta =
    self.key_set().has_backend(c10::BackendComponent::XLABit) ||
    self.key_set().has_backend(c10::BackendComponent::LazyBit);
  at::Tensor reference_tensor_output;
  if (compute_reference_meta && !disable_meta_reference()) {
    auto self_meta = to_meta(self);
    at::AutoDispatchSkipFunctionalize func_guard;
    c10::impl::ExcludeDispatchKeyGuard guard(exclude_keys_for_meta_dispatch);
    reference_tensor_output = at::_ops::take::call(self_meta, size, start);
  }
  at::Tensor tmp_output;
  {
    at::AutoDispatchSkipFunctionalize guard;
    if (reapply_views) {
      tmp_output = at::_ops::take::call(self_, size, start);
    } else {
      tmp_output = at::_ops::take_copy::call(self_, size, start);
    }
  }
  bool has_symbolic_inputs = false;
  has_symbolic_inputs = has_symbolic_inputs | (std::any_of(size.begin(), size.end(), [=](auto& arg) { return arg.is_symbolic(); }));
  has_symbolic_inputs = has_symbolic_inputs | (start.has_value() ? (*start).is_symbolic() : false);
  auto view_meta = std::make_shared<at::functionalization::take_ViewMeta>(has_symbolic_inputs, reapply_views, inverse_return_mode, size, start);
  auto out = at::functionalization::impl::create_functional_tensor_with_view_meta(tmp_output, self, view_meta);
  if (compute_reference_meta && !disable_meta_reference()) {
    at::functionalization::impl::set_sizes_strides_offset(out, reference_tensor_output);
  }
  return out;
}
""",
    )


def test_an_inplace_view_changes_the_view_that_self_is() -> None:
    program = load(TAKE_VIEW)
    function = view_group_of(program).view_inplace
    assert function is not None
    assert_expected_inline(
        render_inplace_view(program, function),
        """\
at::Tensor & take_(c10::DispatchKeySet dispatchKeySet, at::Tensor & self, c10::SymIntArrayRef size, ::std::optional<c10::SymInt> start) {
  if (!at::functionalization::impl::isFunctionalTensor(self)) {
    at::Tensor self_;
    if (at::functionalization::impl::isFunctionalTensor(self)) {
      self_ = at::functionalization::impl::from_functional_tensor(self);
    } else {
      self_ = self;
    }
    at::AutoDispatchSkipFunctionalize guard;
    return at::_ops::take_::call(self_, size, start);
  }
  auto reapply_views = at::functionalization::impl::getFunctionalizationReapplyViewsTLS();
  auto inverse_return_mode = (
      reapply_views ? at::functionalization::InverseReturnMode::ViewOrScatterInverse
                    : at::functionalization::InverseReturnMode::NeverView
  );
  bool has_symbolic_inputs = false;
  has_symbolic_inputs = has_symbolic_inputs | (std::any_of(size.begin(), size.end(), [=](auto& arg) { return arg.is_symbolic(); }));
  has_symbolic_inputs = has_symbolic_inputs | (start.has_value() ? (*start).is_symbolic() : false);
  auto view_meta = std::make_shared<at::functionalization::take__ViewMeta>(has_symbolic_inputs, reapply_views, inverse_return_mode, size, start);
  auto compute_reference_meta =
    self.key_set().has_backend(c10::BackendComponent::XLABit) ||
    self.key_set().has_backend(c10::BackendComponent::LazyBit);
  at::Tensor reference_tensor_output;
  if (compute_reference_meta && !disable_meta_reference()) {
    auto self_meta = to_meta(self);
    at::AutoDispatchSkipFunctionalize func_guard;
    c10::impl::ExcludeDispatchKeyGuard guard(exclude_keys_for_meta_dispatch);
    reference_tensor_output = at::_ops::take_::call(self_meta, size, start);
  }
  at::functionalization::impl::mutate_view_meta(self, view_meta);
  if (compute_reference_meta && !disable_meta_reference()) {
    at::functionalization::impl::set_sizes_strides_offset(self, reference_tensor_output);
  }
  return self;
}
""",
    )


def test_the_class_of_a_view_with_several_results() -> None:
    program = load(HALVES)
    (declaration,) = render_declarations(program, view_group_of(program))
    assert_expected_inline(
        declaration,
        """\
struct TORCH_API halves_ViewMeta : public ViewMeta {
  FUNCTIONALIZATION_VIEWMETA_NAME(halves_ViewMeta)
  FUNCTIONALIZATION_VIEWMETA_SERIALIZABLE_TUPLE(bool, int64_t, bool, at::functionalization::InverseReturnMode, int64_t);

  halves_ViewMeta(const SerializableTuple& tpl)
      : halves_ViewMeta(std::get<0>(tpl), std::get<1>(tpl), std::get<2>(tpl), std::get<3>(tpl), std::get<4>(tpl)) {}

  halves_ViewMeta(bool has_symbolic_inputs, int64_t out_index, bool reapply_views, at::functionalization::InverseReturnMode inverse_return_mode, int64_t dim)
      : at::functionalization::ViewMeta(has_symbolic_inputs, /*is_multi_output=*/true, /*is_as_strided=*/false, /*out_index=*/out_index),
        reapply_views(reapply_views), inverse_return_mode(inverse_return_mode), dim(dim) {}

  Tensor forward(const Tensor& base) override;
  Tensor reverse(const Tensor& base, const Tensor& mutated_view) override;
  std::shared_ptr<ViewMeta> to_out_index(int64_t out_idx) override;

  SerializableTuple to_serializable_tuple() {
    return std::make_tuple(has_symbolic_inputs, out_index, reapply_views, inverse_return_mode, dim);
  }

  bool reapply_views;
  at::functionalization::InverseReturnMode inverse_return_mode;
  int64_t dim;
};
""",
    )


def test_the_members_of_a_view_with_several_results() -> None:
    program = load(HALVES)
    assert_expected_inline(
        "\n".join(render_implementations(program, view_group_of(program))),
        """\
at::Tensor halves_ViewMeta::forward(const at::Tensor& base) {
  if (reapply_views) {
    return at::_ops::halves::call(base, dim)[out_index];
  } else {
    return at::_ops::halves_copy::call(base, dim)[out_index];
  }
}

at::Tensor halves_ViewMeta::reverse(const at::Tensor& base, const Tensor& mutated_view) {
  return at::functionalization::FunctionalInverses::halves_inverse(base, mutated_view, inverse_return_mode, out_index, dim);
}

std::shared_ptr<at::functionalization::ViewMeta> halves_ViewMeta::to_out_index(int64_t out_index) {
  return std::make_shared<at::functionalization::halves_ViewMeta>(has_symbolic_inputs, out_index, reapply_views, inverse_return_mode, dim);
}
""",
    )


def test_a_class_owns_lists_that_its_constructor_is_lent() -> None:
    program = load(TAKE_VIEW)
    view, inplace = render_declarations(program, view_group_of(program))
    assert "size(size.vec())" in view
    assert "  ::std::vector<c10::SymInt> size;\n" in view
    assert inplace == view.replace("take_ViewMeta", "take__ViewMeta")


def test_copies_of_views() -> None:
    kernels: list[str] = []
    for program in (load(TAKE_VIEW), load(HALVES)):
        kernels += render_view_copy(program, view_group_of(program))
    assert_expected_inline(
        "\n".join(kernels),
        """\
at::Tensor take_copy_symint(const at::Tensor & self, c10::SymIntArrayRef size, ::std::optional<c10::SymInt> start) {
  auto output = at::_ops::take::call(self, size, start);
  return output.clone(/*memory_format=*/at::MemoryFormat::Contiguous);
}

::std::vector<at::Tensor> halves_copy(const at::Tensor & self, int64_t dim) {
  auto output = at::_ops::halves::call(self, dim);
  ::std::vector<at::Tensor> out_clone;
  for (const auto i : c10::irange(output.size())) {
    out_clone.push_back(output[i].clone(/*memory_format=*/at::MemoryFormat::Contiguous));
  }
  return out_clone;
}
""",
    )


def test_derived_forms() -> None:
    program = load(ADD_ONE)
    (functional,) = render_functional(program, group_of(program))
    (out,) = render_out(program, group_of(program))
    assert_expected_inline(
        functional + "\n" + out,
        """\
at::Tensor add_one(const at::Tensor & self, const at::Tensor & other) {
  auto self_clone = clone_arg(self);
  auto output = at::_ops::add_one_::call(const_cast<Tensor&>(self_clone), other);
  return self_clone;
}

at::Tensor & add_one_out(const at::Tensor & self, const at::Tensor & other, at::Tensor & out) {
  auto tmp_output = at::_ops::add_one::call(self, other);
  resize_out_helper(out, tmp_output);
  copy_arg(out, tmp_output);
  return out;
}
""",
    )


def test_a_kernel_that_takes_plain_integers_converts_them() -> None:
    program = load(TAKE_VIEW.replace("take_copy_symint", "take_copy"))
    (kernel,) = render_view_copy(program, view_group_of(program))
    assert "at::_ops::take::call(self, c10::fromIntArrayRefSlow(size), " in kernel


COMPOSITE_VIEW = """
- func: upside_down(Tensor(a) self) -> Tensor(a)
"""


def everything(program: Program, templates: TemplateSet) -> str:
    """`RegisterFunctionalizationEverything.cpp`."""
    files = {file.path: file.text for file in emit_functionalization(program, Options(Path()), templates)}
    assert sorted(files) == [f"RegisterFunctionalization{i}.cpp" for i in ("Everything", "_0", "_1", "_2", "_3")]
    return files["RegisterFunctionalizationEverything.cpp"]


def test_registrations(templates: TemplateSet) -> None:
    text = everything(load(ADD_ONE + TAKE_VIEW + COMPOSITE_VIEW), templates)
    registrations = [line for line in text.splitlines() if line.startswith("m.impl")]
    assert_expected_inline(
        "\n".join(registrations),
        """\
m.impl("add_one.out", TORCH_FN(functionalization::add_one_out_out));
m.impl("add_one_", TORCH_FN(functionalization::add_one_));
m.impl("take_copy.out", TORCH_FN(functionalization::take_copy_out_out));
m.impl("take", TORCH_FN(functionalization::take));
m.impl("take_", TORCH_FN(functionalization::take_));
m.impl("upside_down", static_cast<at::Tensor (*)(const at::Tensor & self)>(at::native::upside_down));""",
    )


def test_a_selection_leaves_only_includes(templates: TemplateSet) -> None:
    text = everything(load(ADD_ONE, selected=("aten::add_one_",)), templates)
    assert_expected_inline(
        text,
        """\
#include <ATen/ops/add_one_native.h>
#include <ATen/ops/add_one_ops.h>
#include <ATen/ops/add_one_native.h>
#include <ATen/ops/add_one_ops.h>
#include <ATen/ops/add_one_native.h>
#include <ATen/ops/add_one_ops.h>


""",
    )


def test_views_made_of_other_operators_have_no_inverse(templates: TemplateSet) -> None:
    program = load(HALVES + COMPOSITE_VIEW)
    (file,) = emit_functional_inverses(program, Options(Path()), templates)
    assert_expected_inline(
        file.text,
        """\
static at::Tensor halves_inverse(const at::Tensor & base, const at::Tensor & mutated_view, at::functionalization::InverseReturnMode inverse_return_mode, int64_t out_index, int64_t dim);
""",
    )
