"""Derivatives small enough to read, for a few operators, for tests of autograd."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.autograd_functions import derive_autograd
from opgen.frontend.derivatives import Derivatives, load_derivatives
from opgen.program.autograd import AutogradProgram
from tests.unit.tiny_programs import program_of

OPERATORS = """
- func: neg(Tensor self) -> Tensor
  dispatch: {CPU: neg}
- func: neg_(Tensor(a!) self) -> Tensor(a!)
  dispatch: {CPU: neg_}
- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: neg_out}
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch: {CPU: mul}
- func: pair(Tensor self, Tensor? other, int dim) -> (Tensor values, Tensor indices, int n)
  dispatch: {CPU: pair}
- func: select.int(Tensor(a) self, int dim) -> Tensor(a)
  dispatch: {CPU: select}
- func: select_copy.int(Tensor self, int dim) -> Tensor
  dispatch: {CPU: select_copy}
- func: _foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]
  device_check: NoCheck
  dispatch: {CPU: foreach_mul}
- func: _foreach_neg_(Tensor(a!)[] self) -> ()
  device_check: NoCheck
  dispatch: {CPU: foreach_neg_}
  autogen: _foreach_neg, _foreach_neg.out
"""


def derivatives_of(entries: str) -> tuple[Derivatives, str]:
    """The derivatives in the entries, and what is said of them."""
    program, log = program_of(OPERATORS), Diagnostics()
    derivatives = load_derivatives(Source("derivatives.yaml", entries), program.functions, program.view_groups, log)
    return derivatives, log.render()


def autograd_of(entries: str, operators: str = OPERATORS) -> AutogradProgram:
    """The operators with these derivatives."""
    program, log = program_of(operators), Diagnostics()
    autograd = derive_autograd(program, Source("derivatives.yaml", entries), log, program.selector)
    assert autograd is not None, log.render()
    return autograd
