"""The C++ of autograd, for an operator or two of each kind: nodes, kernels, views."""

# ruff: noqa: E501  (generated C++ is as long as it is)
from __future__ import annotations

from pathlib import Path

from expecttest import TestCase

from opgen.api.autograd_nodes import nodes_of
from opgen.dest.autograd_functions import render_declaration, render_definition
from opgen.dest.autograd_home import torch_home
from opgen.dest.inplace_or_view import emit_inplace_or_view
from opgen.dest.variable_type import emit_variable_type
from opgen.output.template import CodeTemplate, TemplateSet
from opgen.releases.known import newest_release
from tests.unit.tiny_derivatives import autograd_of

NEG = "- name: neg(Tensor self) -> Tensor\n  self: -grad * self.sgn()\n"
SELECT = "- name: select.int(Tensor(a) self, int dim) -> Tensor(a)\n  self: f(grad, self.sym_sizes(), dim)\n"


class Templates(TemplateSet):
    """Templates that hold nothing but the lists."""

    def get(self, name: str) -> CodeTemplate:
        """The lists that the emitters give."""
        return CodeTemplate(
            {
                "VariableType.cpp": "$type_derived_method_definitions\n$wrapper_registrations",
                "ADInplaceOrViewType.cpp": "$inplace_or_view_method_definitions\n$inplace_or_view_wrapper_registrations",
            }[name],
            name,
        )


def kernels_of(derivatives: str, operators: str) -> str:
    """The kernels that record the graph."""
    files = {
        file.path: file.text for file in emit_variable_type(autograd_of(derivatives, operators), Templates(Path()))
    }
    return files["VariableTypeEverything.cpp"]


class TestAutograd(TestCase):  # type: ignore[misc]  # expecttest has no types
    def test_node(self) -> None:
        (node,) = nodes_of(autograd_of(NEG).infos)
        self.assertExpectedInline(
            render_declaration(node, torch_home(newest_release())),
            """\
#ifdef _WIN32
struct NegBackward0 : public TraceableFunction {
  TORCH_API NegBackward0() = default;
#else
struct TORCH_API NegBackward0 : public TraceableFunction {
#endif
  using TraceableFunction::TraceableFunction;
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "NegBackward0"; }
  void release_variables() override {
    std::lock_guard<std::mutex> lock(mutex_);
    self_.reset_data();
  }
  void compiled_args(CompiledNodeArgs& args) const override;
  variable_list apply_with_saved(const variable_list& inputs, SwapSavedVariables& saved) override;
  SavedVariable self_;
};
""",
        )
        self.assertExpectedInline(
            render_definition(node, torch_home(newest_release())).partition("inline")[0],
            """\
static variable_list NegBackward0_apply_functional(
  variable_list&& grads,
  std::array<bool,1> needs_input_grad, Tensor& self)
{
  IndexRangeGenerator gen;
  auto self_ix = gen.range(1);
  variable_list grad_inputs(gen.size());
  const auto& grad = grads[0];
  bool any_grad_defined = any_variable_defined(grads);
  if (needs_input_grad[/*self*/0]) {
    auto grad_result = any_grad_defined ? (-grad * self.sgn()) : Tensor();
    copy_range(grad_inputs, self_ix, grad_result);
  }
  return grad_inputs;
}
""",
        )

    def test_kernel(self) -> None:
        operators = "- func: neg(Tensor self) -> Tensor\n  dispatch: {CPU: neg}\n"
        text = kernels_of(NEG, operators)
        without_checks = "".join(part.partition("#endif\n")[2] or part for part in text.split("  #ifndef NDEBUG\n"))
        self.assertExpectedInline(
            without_checks,
            """\
at::Tensor neg(c10::DispatchKeySet ks, const at::Tensor & self) {
  auto& self_ = unpack(self, "self", 0);
  [[maybe_unused]] auto _any_requires_grad = compute_requires_grad( self );

  c10::intrusive_ptr<NegBackward0> grad_fn;
  if (_any_requires_grad) {
    grad_fn = c10::make_intrusive<NegBackward0>();
    grad_fn->set_next_edges(collect_next_edges( self ));
    grad_fn->self_ = SavedVariable(self, false);
  }
  auto _tmp = ([&]() {
    if ((isFwGradDefined(self))) {
      static c10::OperatorName full_name("aten::neg", "");
      static ::std::optional<c10::OperatorHandle> opt_op = c10::Dispatcher::singleton().findSchema(full_name);
      return impl::run_jit_decomposition_with_args_for_jvp<at::Tensor>("neg", *opt_op, ks, self);
    } else {
      at::AutoDispatchBelowADInplaceOrView guard;
      return at::redispatch::neg(ks & c10::after_autograd_keyset, self_);
    }
  })();
  auto result = std::move(_tmp);
  if (grad_fn) {
      set_history(flatten_tensor_args( result ), grad_fn);
  }
  return result;
}
TORCH_LIBRARY_IMPL(aten, Autograd, m) {
m.impl("neg",
       TORCH_FN(VariableType::neg)
);
}""",
        )

    def test_operator_without_derivatives_falls_back(self) -> None:
        operators = "- func: neg(Tensor self) -> Tensor\n  dispatch: {CPU: neg}\n"
        self.assertExpectedInline(
            kernels_of("[]", operators),
            """\

TORCH_LIBRARY_IMPL(aten, Autograd, m) {
m.impl("neg", torch::autograd::autogradNotImplementedFallback());
}""",
        )

    def test_write_and_view(self) -> None:
        files = {file.path: file.text for file in emit_inplace_or_view(autograd_of(NEG + SELECT), Templates(Path()))}
        self.assertExpectedInline(
            files["ADInplaceOrViewTypeEverything.cpp"],
            """\
at::Tensor & neg_(c10::DispatchKeySet ks, at::Tensor & self) {
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    at::_ops::neg_::redispatch(ks & c10::after_ADInplaceOrView_keyset, self);
  }
  increment_version(self);
  return self;
}
at::Tensor & neg_out_out(c10::DispatchKeySet ks, const at::Tensor & self, at::Tensor & out) {
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    at::_ops::neg_out::redispatch(ks & c10::after_ADInplaceOrView_keyset, self, out);
  }
  increment_version(out);
  return out;
}
at::Tensor select_int(c10::DispatchKeySet ks, const at::Tensor & self, int64_t dim) {
  auto _tmp = ([&]() {
    at::AutoDispatchBelowADInplaceOrView guard;
    return at::_ops::select_int::redispatch(ks & c10::after_ADInplaceOrView_keyset, self, dim);
  })();
  std::unique_ptr<torch::autograd::ViewFunc> func(nullptr);
  std::function<at::Tensor(const at::Tensor&)> rev_func=nullptr;
  if (false ||
      !self.unsafeGetTensorImpl()->support_as_strided() ||
      self.unsafeGetTensorImpl()->is_python_dispatch() ||
      c10::AutogradState::get_tls_state().get_view_replay_enabled()) {
    func = std::make_unique<torch::autograd::generated::SelectIntViewFunc>(dim);
    rev_func = [=](const at::Tensor& input_view) {
      return at::functionalization::FunctionalInverses::select_int_inverse(self, input_view, at::functionalization::InverseReturnMode::AlwaysView, dim);
    };
  }
  auto result = as_view(/* base */ self, /* output */ _tmp, /* is_bw_differentiable */ true, /* is_fw_differentiable */ true, /* view_func */ std::move(func), /* rev_view_func */ rev_func, /* creation_meta */ InferenceMode::is_enabled() ? CreationMeta::INFERENCE_MODE : (at::GradMode::is_enabled() ? CreationMeta::DEFAULT : CreationMeta::NO_GRAD_MODE));
  return result;
}
m.impl("neg_",
       TORCH_FN(ADInplaceOrView::neg_)
);
m.impl("neg.out",
       TORCH_FN(ADInplaceOrView::neg_out_out)
);
m.impl("select.int",
       TORCH_FN(ADInplaceOrView::select_int)
);""",
        )

    def test_a_result_that_is_never_differentiable_is_not_in_lists_either(self) -> None:
        operators = """
- func: neg(Tensor self) -> Tensor
  dispatch: {CPU: neg}
- func: _foreach_neg_(Tensor(a!)[] self) -> ()
  device_check: NoCheck
  dispatch: {CPU: foreach_neg_}
  autogen: _foreach_neg, _foreach_neg.out
"""
        for stated, records in (("[True]", True), ("[False]", False)):
            text = kernels_of(NEG + f"  output_differentiability: {stated}\n", operators)
            for function in ("::std::vector<at::Tensor> _foreach_neg(", "void _foreach_neg_("):
                kernel = text.partition(function)[2].partition("\n}\n")[0]
                assert ("grad_fn" in kernel) == records, kernel
