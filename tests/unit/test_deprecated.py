"""Old signatures: what an entry becomes, and what its author is told of every mistake in the file."""

from __future__ import annotations

from expecttest import assert_expected_inline

from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.deprecated import load_deprecated
from tests.unit.tiny_programs import program_of

OPERATORS = """
- func: mix(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  variants: function, method
- func: mix.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
- func: mix.flag(Tensor self, Tensor other, bool flag) -> Tensor
"""


def _load(entries: str) -> tuple[list[str], str]:
    log = Diagnostics()
    forms = load_deprecated(Source("deprecated.yaml", entries), program_of(OPERATORS).functions, log)
    described = [f"{form.function.func.name}: {', '.join(form.deprecation.expressions)}" for form in forms]
    return described, log.render()


def test_entries_find_their_operators_by_the_types_of_the_call() -> None:
    described, told = _load("""
- name: mix(Tensor self, Scalar alpha, Tensor other) -> Tensor
  aten: mix(self, other, alpha)
- name: mix(Tensor other, Tensor self) -> Tensor
  aten: mix(self, other, 1)
- name: mix(Tensor self, Tensor other, int unused=0) -> Tensor
  aten: mix(self, other, true)
- name: mix(Scalar alpha, Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  aten: mix_out(out, self, other, alpha)
""")
    assert described == ["mix: self, other, alpha", "mix: self, other, 1", "mix.out: out, self, other, alpha"]
    assert_expected_inline(
        told,
        """\
deprecated.yaml:6:44: error: the argument 'unused' of the deprecated signature is never passed on [unused-argument]
    6 | - name: mix(Tensor self, Tensor other, int unused=0) -> Tensor
      |                                            ^^^^^^
deprecated.yaml:7:9: note: pass it in this call
    7 |   aten: mix(self, other, true)
      |         ^^^^^^^^^^^^^^^^^^^^^^
1 error
""",
    )


def test_all_mistakes_in_one_report() -> None:
    described, told = _load("""
- name: mix(Tensor self, Scalar alhpa, Tensor other) -> Tensor
  aten: mix(self, other, alpha)
- name: mix(Tensor self, Tensor other) -> Tensor
  aten: mxi(self, other)
- name: mix(Tensor self, Tensor other, str alpha) -> Tensor
  aten: mix(self, other, alpha)
- name: blend(Tensor self, Tensor other) -> Tensor
  aten: mix(self, other, 1)
- name: mix(Tensor self Tensor other) -> Tensor
  aten: mix(self, other, 1)
- name: mix(Tensor other, Tensor self) -> Tensor
  aten: mix(self, other, 1
- name: mix(Tensor other, Tensor self) -> Tensor
  atn: mix(self, other, 1)
""")
    assert described == []
    assert_expected_inline(
        told,
        """\
deprecated.yaml:3:26: error: the deprecated signature has no argument 'alpha' [unknown-argument]
    3 |   aten: mix(self, other, alpha)
      |                          ^^^^^ did you mean 'alhpa'? (one of: self, alhpa, other)
deprecated.yaml:5:9: error: there is no C++ function 'mxi' [unknown-operator]
    5 |   aten: mxi(self, other)
      |         ^^^ did you mean 'mix'? (one of: mix, mix_out)
deprecated.yaml:7:9: error: no overload of 'mix' takes (Tensor, Tensor, str) [no-overload]
    7 |   aten: mix(self, other, alpha)
      |         ^^^^^^^^^^^^^^^^^^^^^^^
ops.yaml:2:9: note: there is 'mix(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor'
    2 | - func: mix(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
      |         ^^^
ops.yaml:5:9: note: there is 'mix.flag(Tensor self, Tensor other, bool flag) -> Tensor'
    5 | - func: mix.flag(Tensor self, Tensor other, bool flag) -> Tensor
      |         ^^^^^^^^
deprecated.yaml:8:9: error: a deprecated signature of 'mix' can't be named 'blend' [deprecated-name]
    8 | - name: blend(Tensor self, Tensor other) -> Tensor
      |         ^^^^^ write 'mix'
ops.yaml:2:9: note: the operator is defined here
    2 | - func: mix(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
      |         ^^^
deprecated.yaml:10:25: error: expected ',' or ')' after the argument, found 'Tensor' [schema-syntax]
   10 | - name: mix(Tensor self Tensor other) -> Tensor
      |                         ^^^^^^
deprecated.yaml:13:27: error: expected ',' or ')', but the text ends here [schema-syntax]
   13 |   aten: mix(self, other, 1
      |                           ^
deprecated.yaml:15:3: error: unknown key 'atn' in a deprecated signature [unknown-key]
   15 |   atn: mix(self, other, 1)
      |   ^^^ did you mean 'aten'?
7 errors
""",
    )


def test_a_signature_given_twice() -> None:
    entry = "- name: mix(Tensor self, Scalar alpha, Tensor other) -> Tensor\n  aten: mix(self, other, alpha)\n"
    described, told = _load(entry * 2)
    assert len(described) == 1
    assert_expected_inline(
        told,
        """\
deprecated.yaml:3:9: error: this deprecated signature is given twice [duplicate-operator]
    3 | - name: mix(Tensor self, Scalar alpha, Tensor other) -> Tensor
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
deprecated.yaml:1:9: note: first given here
    1 | - name: mix(Tensor self, Scalar alpha, Tensor other) -> Tensor
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
1 error
""",
    )


def test_not_a_list() -> None:
    assert_expected_inline(
        _load("name: mix\n")[1],
        """\
deprecated.yaml:1:1: error: a file of deprecated signatures must be a list [wrong-kind]
    1 | name: mix
      | ^^^^^^^^^ start each with '- name: ...'
1 error
""",
    )
