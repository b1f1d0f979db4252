"""Operators that functionalization could not run, and what their authors are told."""

# ruff: noqa: E501 (reports are as wide as the lines that they quote)
from __future__ import annotations

from pathlib import Path

import pytest
from expecttest import assert_expected_inline

from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.functionalization_rules import check_functionalization
from opgen.frontend.groups import group_forms, group_functions, group_views
from opgen.frontend.native_functions import load_definitions
from tests.unit.tiny_programs import TAGS


def report(where: Source | Path, tags: Source | Path = TAGS) -> str:
    """What a user reads about these definitions."""
    log = Diagnostics()
    definitions = load_definitions(where, tags, log)
    assert definitions is not None, log.render()
    functions = definitions.functions
    groups = group_functions(group_forms(functions).values())
    log.extend(check_functionalization(groups, group_views(functions), definitions.release))
    return log.render(with_remarks=False)


def test_a_view_made_of_other_operators_needs_nothing() -> None:
    assert not report(Source("ops.yaml", "- func: peek(int by, Tensor(a)[] self) -> (Tensor(a), Tensor(a))\n"))


def test_a_write_made_of_other_operators_needs_nothing() -> None:
    assert not report(Source("ops.yaml", "- func: poke_(Tensor(a!) self) -> Tensor(a!)\n"))


def test_mistakes_of_views() -> None:
    definitions = """\
- func: peek(Tensor(a) self) -> Tensor(a)
  dispatch: {CPU: peek}
- func: fold_inverse(Tensor(a) self, Tensor src) -> Tensor(a)
  dispatch: {CPU: fold_inverse}
- func: pick(int by, Tensor(a) self) -> Tensor(a)
  dispatch: {CPU: pick}
- func: pick_copy(int by, Tensor self) -> Tensor
  dispatch: {CompositeExplicitAutogradNonFunctional: pick_copy}
  tags: view_copy
  autogen: pick_copy.out
- func: ends(Tensor(a) self) -> (Tensor(a), Tensor(a))
  dispatch: {CPU: ends}
- func: ends_copy(Tensor self) -> (Tensor, Tensor)
  dispatch: {CompositeExplicitAutogradNonFunctional: ends_copy}
  tags: view_copy
  autogen: ends_copy.out
- func: turn(Tensor(a) self) -> Tensor(a)
- func: turn_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: turn_}
  tags: inplace_view
"""
    assert_expected_inline(
        report(Source("ops.yaml", definitions)),
        """\
ops.yaml:1:9: error: 'peek' is a view, but has no copy form [view-without-copy]
    1 | - func: peek(Tensor(a) self) -> Tensor(a)
      |         ^^^^ add an entry for 'peek_copy' with 'tags: view_copy'
ops.yaml:3:9: error: 'fold_inverse' is a view, but has no copy form [view-without-copy]
    3 | - func: fold_inverse(Tensor(a) self, Tensor src) -> Tensor(a)
      |         ^^^^^^^^^^^^ add an entry for 'fold_scatter' with 'tags: view_copy'
ops.yaml:5:9: error: 'pick' is a view, but its first argument 'by' is not a Tensor [view-base]
    5 | - func: pick(int by, Tensor(a) self) -> Tensor(a)
      |         ^^^^ the viewed Tensor must be the first argument
ops.yaml:11:9: error: 'ends' is a view, but returns neither a Tensor nor a list of Tensors [view-returns]
   11 | - func: ends(Tensor(a) self) -> (Tensor(a), Tensor(a))
      |         ^^^^ without 'dispatch' the view is composite, and may return anything
ops.yaml:18:9: error: 'turn' is composite, but 'turn_' is not [view-composite]
   18 | - func: turn_(Tensor(a!) self) -> Tensor(a!)
      |         ^^^^^ a view and its in-place form must both have kernels under CompositeImplicitAutograd, or neither
ops.yaml:17:9: note: the other form is here
   17 | - func: turn(Tensor(a) self) -> Tensor(a)
      |         ^^^^
5 errors
""",
    )


def test_mistakes_of_other_forms() -> None:
    definitions = """\
- func: poke_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: poke_}
- func: stir.twice(Tensor self, Tensor(a!) seen) -> Tensor
  dispatch: {CPU: stir}
- func: pour.into(Tensor self, *, Tensor(a!) jug) -> Tensor(a!)
  dispatch: {CPU: pour_into}
- func: both(Tensor self, Tensor(a!) seen) -> Tensor(a!)
  dispatch: {CPU: both}
"""
    assert_expected_inline(
        report(Source("ops.yaml", definitions)),
        """\
ops.yaml:1:9: error: 'poke_' writes to its arguments, and has no functional form to call instead [no-functional-form]
    1 | - func: poke_(Tensor(a!) self) -> Tensor(a!)
      |         ^^^^^ write 'autogen: poke, poke.out'
ops.yaml:3:9: error: 'stir.twice' writes to its arguments, and has no functional form to call instead [no-functional-form]
    3 | - func: stir.twice(Tensor self, Tensor(a!) seen) -> Tensor
      |         ^^^^^^^^^^ write 'autogen: stir_functional.twice, stir.twice_out'
ops.yaml:5:9: error: 'pour.into' writes to its arguments, and has no functional form to call instead [no-functional-form]
    5 | - func: pour.into(Tensor self, *, Tensor(a!) jug) -> Tensor(a!)
      |         ^^^^^^^^^ add an entry for 'pour' that returns what this writes to 'jug'
ops.yaml:7:9: error: 'both' returns 'seen', which it writes to [returned-write]
    7 | - func: both(Tensor self, Tensor(a!) seen) -> Tensor(a!)
      |         ^^^^ remove it from the returns: callers already have it
4 errors
""",
    )


def test_torch_keeps_the_rules(torch_source: Path) -> None:
    assert not report(torch_source / "native" / "native_functions.yaml", torch_source / "native" / "tags.yaml")


@pytest.mark.parametrize("name", ["resize_", "mylib::resize_"])
def test_exceptions_are_for_torch_only(name: str) -> None:
    definitions = f"- func: {name}(Tensor(a!) self, int[] size) -> Tensor(a!)\n  dispatch: {{CPU: resize}}\n"
    assert bool(report(Source("ops.yaml", definitions))) == ("::" in name)
