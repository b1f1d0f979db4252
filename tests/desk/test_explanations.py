"""Explanations of torch's own operators, beside what the dispatcher of the running torch does."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import torch

from opgen.__main__ import main
from opgen.commands._gen_flags import read_request
from opgen.commands._subject import load_subject
from opgen.commands.explain import COMMAND
from opgen.desk.explain import Cell, explain_forms, operators_of
from opgen.diagnostics import Diagnostics

_ELSEWHERE = ("CUDA", "HPU")
"""Ends of the keys whose kernels a torch for CPUs doesn't have."""
_ALIASES = ("Composite", "Autograd", "FuncTorchBatchedDecomposition")
"""Keys that stand for others, so that they are not in the dispatcher's own table."""
_SERVICES = {
    "CompositeExplicitAutograd": "default backend",
    "CompositeExplicitAutogradNonFunctional": "default backend",
    "CompositeImplicitAutograd": "math",
    "FuncTorchBatchedDecomposition": "batched",
}
"""How the dispatcher's table calls the kernels of keys that stand for others."""
_BY_HAND = {("_unsafe_view", "Functionalize"), ("_to_copy", "Functionalize"), ("lift_fresh_copy", "Functionalize")}
"""What torch registers in C++ that is written by hand, which its definitions don't say."""


def dispatcher_of(operator: str, key: str) -> str:
    """What the dispatcher calls for an operator under a key; empty if that is nothing."""
    found = re.search(rf"^{key}: (.*)$", torch._C._dispatch_dump_table(operator), re.MULTILINE)
    return found.group(1) if found else ""


def agrees(cell: Cell, namespace: str) -> bool:
    """Whether the dispatcher does what the explanation says."""
    answer = dispatcher_of(f"{namespace}::{cell.form}", cell.key)
    if cell.place:
        return cell.key.startswith(_ALIASES) or answer.endswith("kernel]")
    if cell.key == "Meta" and ".py:" in answer:
        return True  # a function of torch/_meta_registrations.py is registered instead
    if cell.reason.endswith(" serves it"):
        return answer.endswith(f"[{_SERVICES[cell.reason.split()[0]]} kernel]")
    if cell.reason.startswith("no kernel"):
        return answer == "" or answer.endswith("[backend fallback]")
    return answer == "" if cell.key.startswith(_ALIASES) else answer.endswith("[backend fallback]") or not answer


def cells_of(*words: str) -> list[Cell]:
    """What `opgen explain` says of all operators, without keys whose kernels this torch can't have."""
    log = Diagnostics()
    options = COMMAND.build_parser().parse_args(["any", *words])
    subject = load_subject(read_request(options, log), log)
    assert subject is not None
    cells = [cell for forms in operators_of(subject.program) for cell in explain_forms(subject, forms).table]
    return [cell for cell in cells if not cell.key.endswith(_ELSEWHERE)]


def test_what_is_said_of_torchs_operators_is_what_the_dispatcher_does() -> None:
    cells = cells_of("--from-torch")
    assert len(cells) > 10_000
    # Each kind of answer is among them.
    assert min(Counter(cell.state for cell in cells).values()) > 100
    wrong = {(cell.form, cell.key): cell.reason for cell in cells if not agrees(cell, "aten")}
    assert wrong.keys() == _BY_HAND


def test_an_operator_of_torchs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "add.Tensor", "--from-torch"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"CPU +add\.out +generated +RegisterCPU_\d\.cpp:\d+", text)
    assert "  Generic: the template ufunc::add, in ufunc/add.h\n" in text
    assert re.search(r"vmap +add\.Tensor +rules are written by hand in aten/src/ATen/functorch\n", text)
    assert "  self: handle_r_to_c(self.scalar_type(), grad)\n" in text
