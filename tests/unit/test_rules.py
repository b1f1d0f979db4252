"""Rules between entries: what they leave alone.  What they say of breaches is in tests/golden/cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.native_functions import load_definitions, load_program
from opgen.frontend.rules import ENTRY_RULES
from tests.unit.tiny_programs import TAGS

GROUP = """\
- func: a(Tensor self) -> Tensor
  structured_delegate: a.out
- func: a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: a_out
"""


def ids(text: str, tags: Source = TAGS) -> list[str]:
    """The kinds of mistakes found, in order."""
    log = Diagnostics()
    load_definitions(Source("ops.yaml", text), tags, log)
    return [found.id for found in log.all]


def test_torch_keeps_all_rules(torch_source: Path) -> None:
    log, native = Diagnostics(), torch_source / "native"
    assert load_program(native / "native_functions.yaml", native / "tags.yaml", log) is not None
    assert {(found.id, found.severity) for found in log.all} <= {("autogen-composite", "remark")}


def test_each_rule_has_a_name() -> None:
    assert len({rule.__name__ for rule in ENTRY_RULES}) == len(ENTRY_RULES)


def test_a_sound_group_keeps_all_rules() -> None:
    assert ids(GROUP) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # One mistake makes one diagnostic, also where other entries rely on the entry that has it.
        (("structured: True", "strutured: True"), ["unknown-key"]),
        (("CPU: a_out", "CPPU: a_out"), ["unknown-dispatch-key"]),
        (("a.out(Tensor self", "a.out(Tenosr self"), ["unknown-type"]),
        (("func: a(Tensor", "func: a(Tensr"), ["unknown-type"]),
        (("- func: a.out", "- fnc: a.out"), ["unknown-key"]),
        (("structured: True", "structured: Yep"), ["bad-boolean"]),
    ],
)
def test_no_mistake_is_reported_twice(change: tuple[str, str], expected: list[str]) -> None:
    assert ids(GROUP.replace(*change)) == expected


def test_mistakes_of_all_phases_are_reported_together() -> None:
    text = GROUP + (
        "- func: b(Tenosr self) -> Tensor\n"
        "- func: rand_c(Tensor self) -> Tensor\n"
        "- func: d(Tensor self) -> Tensor\n  structured_delegate: nothing.at_all\n"
    )
    assert ids(text) == ["unknown-type", "untagged-random", "unknown-delegate"]


def test_tags_are_not_judged_if_their_file_cant_be_read() -> None:
    assert ids("- func: a(Tensor self) -> Tensor\n  tags: core\n", Source("tags.yaml", "- tga: core\n  desc: x\n")) == [
        "unknown-key"
    ]


@pytest.mark.parametrize(
    ("entry", "is_random"),
    [
        ("rand_a(Tensor self) -> Tensor", True),
        ("a(Tensor self, *, Generator? generator=None) -> Tensor", True),
        ("a(Tensor self, float dropout) -> Tensor", True),
        ("a_backward(Tensor self, float dropout) -> Tensor", False),
        ("a(Tensor self) -> Tensor", False),
    ],
)
def test_what_sounds_random(entry: str, is_random: bool) -> None:
    assert ids(f"- func: {entry}\n") == (["untagged-random"] if is_random else [])
    assert ids(f"- func: {entry}\n  tags: nondeterministic_seeded\n") == []
    assert ids(f"- func: {entry}\n  random: False\n") == []


def test_overloads_may_differ_in_names_only() -> None:
    assert ids("- func: a(Tensor self, int n) -> Tensor\n- func: a.x(Tensor self, int m) -> Tensor\n") == []


def test_libraries_may_not_share_operator_names() -> None:
    assert ids("- func: a(Tensor self) -> Tensor\n- func: my::a(Tensor self) -> Tensor\n") == ["duplicate-operator"]
    assert ids("- func: a(Tensor self) -> Tensor\n- func: my::a.x(Tensor self) -> Tensor\n") == []
