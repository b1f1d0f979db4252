"""What stands between the dispatcher and a batching rule, for each kind of operator."""

# ruff: noqa: E501  (generated C++ is as long as it is)

from __future__ import annotations

import pytest
from expecttest import assert_expected_inline

from opgen.dest.vmap_plumbing import emit_vmap_plumbing, render_plumbing
from opgen.output.template import TemplateSet
from tests.unit.tiny_programs import program_of, text_of


def plumbing(schema: str, tags: str = "[]") -> str | None:
    """The plumbing of the one operator with that schema."""
    program = program_of(f"- func: {schema}\n  tags: {tags}\n")
    return render_plumbing(program, program.functions[0])


def test_tensors_are_taken_apart_optional_ones_last() -> None:
    assert_expected_inline(
        plumbing("mix(Tensor? bias, Tensor self, Tensor[] more, int n) -> (Tensor, Tensor[])"),
        """\
template <typename batch_rule_t, batch_rule_t batch_rule>
::std::tuple<at::Tensor,::std::vector<at::Tensor>> mix_generated_plumbing(const ::std::optional<at::Tensor> & bias, const at::Tensor & self, at::TensorList more, int64_t n) {
  c10::impl::ExcludeDispatchKeyGuard guard(DispatchKey::FuncTorchBatched);
  auto maybe_layer = maybeCurrentDynamicLayer();
  vmap_check_escaped(maybe_layer, "gen_vmap_plumbing");
  int64_t cur_level = maybe_layer->layerId();
  if (!isBatchedAtLevel(bias, cur_level) && !isBatchedAtLevel(self, cur_level) && !isBatchedAtLevel(more, cur_level)) {
    return at::_ops::mix::call(bias, self, more, n);
  }
  auto [self_value, self_bdim] = unwrapTensorAtLevel(self, cur_level);
  std::optional<Tensor> bias_value;
  std::optional<int64_t> bias_bdim;
  if (bias) {
    std::tie(bias_value, bias_bdim) = unwrapTensorAtLevel(bias.value(), cur_level);
  }
  auto results = batch_rule(bias_value, bias_bdim, self_value, self_bdim, more, n);
  return std::make_tuple(makeBatched(std::get<0>(results), std::get<1>(results), cur_level), makeBatchedVector(std::get<2>(results), std::get<3>(results), cur_level));
}
""",
    )


def test_an_inplace_operator_returns_self() -> None:
    assert_expected_inline(
        plumbing("mix_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "inplace"),
        """\
template <typename batch_rule_t, batch_rule_t batch_rule>
at::Tensor & mix__generated_plumbing(at::Tensor & self, const at::Tensor & other) {
  c10::impl::ExcludeDispatchKeyGuard guard(DispatchKey::FuncTorchBatched);
  auto maybe_layer = maybeCurrentDynamicLayer();
  vmap_check_escaped(maybe_layer, "gen_vmap_inplace_plumbing");
  int64_t cur_level = maybe_layer->layerId();
  if (!isBatchedAtLevel(self, cur_level) && !isBatchedAtLevel(other, cur_level)) {
    return at::_ops::mix_::call(self, other);
  }
  auto [self_value, self_bdim] = unwrapTensorAtLevel(self, cur_level);
  auto [other_value, other_bdim] = unwrapTensorAtLevel(other, cur_level);
  batch_rule(self_value, self_bdim, other_value, other_bdim);
  return self;
}
""",
    )


def test_an_operator_may_return_nothing() -> None:
    text = plumbing("check(Tensor[] them) -> ()")
    assert text is not None
    assert "batch_rule(them);\n}" in text


@pytest.mark.parametrize(
    ("schema", "tags"),
    [
        ("make(int n) -> Tensor", "[]"),
        ("count(Tensor self) -> int", "[]"),
        ("both(Tensor self) -> (Tensor, int)", "[]"),
        ("turn_(Tensor(a!) self) -> Tensor(a!)", "[inplace, inplace_view]"),
        ("mix_(Tensor(a!) self, Tensor(b!) seen) -> Tensor(a!)", "inplace"),
        ("mix(Tensor self, Tensor(a!) seen) -> Tensor", "[]"),
        ("mix.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "out"),
    ],
)
def test_what_no_batching_rule_can_serve_has_no_plumbing(schema: str, tags: str) -> None:
    assert plumbing(schema, tags) is None


def test_a_program_without_operators_has_an_empty_header() -> None:
    text = text_of(emit_vmap_plumbing, program_of("[]"), TemplateSet())
    assert text.endswith("namespace at { namespace functorch {\n\n\n}} // namespace at::functorch\n")
