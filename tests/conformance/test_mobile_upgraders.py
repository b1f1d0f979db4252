"""torchgen's mobile upgraders beside ours, made of the same byte code: torch's, and some made up here."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

from opgen import gen_mobile_upgraders
from opgen.dest.mobile_upgraders import VersionRange, emit_mobile_upgraders
from opgen.diagnostics import Diagnostics
from opgen.installed.upgraders import read_operators, read_upgraders
from opgen.output.template import TemplateSet
from tests.compilers import QUICK
from tests.conformance.tokens import compare_texts

NAME: Final = "upgrader_mobile.cpp"


@dataclass(frozen=True, slots=True)
class Entry:
    """A change of an operator, as torch gives it."""

    upgrader_name: str


@dataclass(frozen=True, slots=True)
class Range:
    """The versions before a change, as torch gives them."""

    min_version: int
    max_version: int


BYTECODE: Final = (
    {
        "twice_0_3": {
            "instructions": [["STORE", 1, 0], ["OP", 0, 0], ["RET", 0, 0]],
            "operators": [["aten::twice", "Tensor", 1], ["aten::twice", "", 2]],
            "constants": ["up", True, None, -3],
            "types": ["Dict[int, str]", "float"],
            "register_size": 2,
        }
    },
    {"twice_4_7": {"instructions": [], "operators": [], "constants": [], "types": [], "register_size": 0}},
    {"full_0_4": {"instructions": [], "operators": [], "constants": [], "types": [], "register_size": 0}},
    {"Half_0_1": {"instructions": [], "operators": [], "constants": [], "types": ["int"], "register_size": 1}},
)
Versions = tuple[tuple[str, tuple[tuple[str, int, int], ...]], ...]
VERSIONS: Final[Versions] = (
    ("aten::twice.Tensor", (("twice_0_3", 0, 3),)),
    ("aten::twice", (("twice_4_7", 4, 7),)),
    ("aten::full", (("full_0_4", 0, 4),)),
    ("aten::Half", (("Half_0_1", 0, 1),)),
)


@pytest.fixture(scope="module")
def torch() -> Any:
    return importlib.import_module("torch")


def _oracle_text(bytecode: Sequence[Mapping[str, Any]], out: Path) -> str:
    oracle = importlib.import_module("torchgen.operator_versions.gen_mobile_upgraders")
    oracle.write_cpp(str(out), oracle.sort_upgrader(list(bytecode)))
    return (out / NAME).read_text(encoding="utf-8")


def _make_up_versions(torch: Any, monkeypatch: pytest.MonkeyPatch, versions: Versions = VERSIONS) -> None:
    ranges = {operator: [Range(first, last) for _, first, last in changes] for operator, changes in versions}
    entries = {operator: [Entry(name) for name, _, _ in changes] for operator, changes in versions}
    monkeypatch.setattr(torch._C, "_get_operator_version_map", lambda: entries)
    monkeypatch.setattr(torch._C, "_get_upgrader_ranges", ranges.__getitem__)


def test_upgraders_of_torch(torch: Any, tmp_path: Path) -> None:
    bytecode = importlib.import_module("torch.jit.generate_bytecode").generate_upgraders_bytecode()
    expected = _oracle_text(bytecode, tmp_path)
    assert gen_mobile_upgraders.main(["--quiet", "--install-dir", str(tmp_path / "ours")]) == 0
    actual = (tmp_path / "ours" / NAME).read_text(encoding="utf-8")
    assert str(compare_texts(NAME, expected, actual)) == "None"
    assert actual.count("registerFunc") > 10
    again = gen_mobile_upgraders.main(["--install-dir", str(tmp_path / "ours"), "--dry-run"])
    assert again == 0


def test_upgraders_made_up(torch: Any, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _make_up_versions(torch, monkeypatch)
    expected = _oracle_text(BYTECODE, tmp_path)
    log = Diagnostics()
    upgraders = read_upgraders(BYTECODE, log)
    operators = read_operators(torch)
    templates = TemplateSet(repository / "templates" / "mobile_upgraders")
    (file,) = emit_mobile_upgraders(upgraders, operators, templates)
    assert log.all == []
    assert str(compare_texts(NAME, expected, file.text)) == "None"


def test_text_is_escaped_and_numbers_may_have_a_point(
    torch: Any, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {"instructions": [], "operators": [], "constants": ['say "x"', 0.5], "types": [], "register_size": 0}
    log = Diagnostics()
    templates = TemplateSet(repository / "templates" / "mobile_upgraders")
    (file,) = emit_mobile_upgraders(read_upgraders([{"a_0_1": table}], log), {}, templates)
    assert 'c10::IValue("say \\"x\\""),' in file.text
    assert "c10::IValue(0.5)," in file.text
    _make_up_versions(torch, monkeypatch, (("aten::a", (("a_0_1", 0, 1),)),))
    assert 'c10::IValue("say "x"")' in _oracle_text([{"a_0_1": {**table, "constants": ['say "x"']}}], tmp_path)
    with pytest.raises(ValueError, match="Please add change"):
        _oracle_text([{"a_0_1": table}], tmp_path)


def test_an_operator_that_has_changed_twice(
    torch: Any, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgraders = read_upgraders(BYTECODE, Diagnostics())
    ranges = (VersionRange(0, 3, "twice_0_3"), VersionRange(4, 7, "twice_4_7"))
    templates = TemplateSet(repository / "templates" / "mobile_upgraders")
    (file,) = emit_mobile_upgraders(upgraders, {"aten::twice": ranges}, templates)
    assert 'Upgrader({0, 3, "twice_0_3", 1}),\n        Upgrader({4, 7, "twice_4_7", 2})\n' in file.text
    _make_up_versions(torch, monkeypatch, (("aten::twice", (("twice_0_3", 0, 3), ("twice_4_7", 4, 7))),))
    assert 'Upgrader({0, 3, "twice_0_3", 0})Upgrader({' in _oracle_text(BYTECODE[:2], tmp_path)


def test_byte_code_that_cannot_be_written(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _make_up_versions(torch, monkeypatch)
    table = {"instructions": [], "operators": [], "constants": [[1], float("inf")], "types": [], "register_size": 0}
    bytecode = importlib.import_module("torch.jit.generate_bytecode")
    monkeypatch.setattr(bytecode, "generate_upgraders_bytecode", lambda: [{"twice_0_3": table}])
    assert gen_mobile_upgraders.main(["--install-dir", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert said.count("a constant that can't be written") == 2
    assert "an upgrader 'twice_4_7' for 'aten::twice', but has no byte code for it [upgrader-unreadable]" in said
    assert not (tmp_path / "out").exists()


def test_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert gen_mobile_upgraders.main(["--install-dir", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "opgen gen_mobile_upgraders needs an installed torch" in said
    assert "-m pip install torch" in said
    assert "[torch-missing]" in said


def test_torchs_headers_take_it(tmp_path: Path) -> None:
    compiler, spec = shutil.which(os.environ.get("CXX", "g++")), find_spec("torch")
    if compiler is None or spec is None or not spec.submodule_search_locations:
        pytest.fail("needs torch and a C++20 compiler: g++, or the one that CXX names", pytrace=False)
    assert gen_mobile_upgraders.main(["--quiet", "--install-dir", str(tmp_path)]) == 0
    include = Path(spec.submodule_search_locations[0]) / "include"
    command = [compiler, "-std=c++20", "-w", QUICK, "-fsyntax-only", f"-I{include}", str(tmp_path / NAME)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        pytest.fail(done.stderr[:4000], pytrace=False)
