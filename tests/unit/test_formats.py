"""`--format` on every command that reads definitions: what is wrong, for people and for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from opgen import __main__ as command
from opgen.commands._all import command_names, load_commands

TORCH: Final = "- func: twice(Tensor self) -> Tensr\n"
EXTENSION: Final = "- func: lib::twice(Tensor self) -> Tensr\n"
MLX: Final = "- name: twice\n  signature: 'array twice(const aray& x)'\n"
BACKEND: Final = "backend: CPU\ncpp_namespace: mine\nsupportd:\n- add.Tensor\n"
_POSITIONAL: Final = ("torch/native/native_functions.yaml", "torch/native/tags.yaml", "out", "autograd")
_OURS: Final = ("--source-path", "ops")
_BACKEND: Final = ("--source-yaml", "backend.yaml", "--output-dir", "out", "--source-path", "small")
_OF_TORCH: Final = ("--source-path", "torch", "--install-dir", "out")

MISTAKES: Final[Mapping[str, tuple[tuple[str, ...], str]]] = MappingProxyType(
    {
        "check": (_OURS, "ops/native/native_functions.yaml:1:36"),
        "check_aoti_c_shim": (("aoti", *_OF_TORCH[:2]), "torch/native/native_functions.yaml:1:31"),
        "diff": (("ops", *_OURS), "ops/native/native_functions.yaml:1:36"),
        "explain": (("twice", *_OURS), "ops/native/native_functions.yaml:1:36"),
        "gen": ((*_OURS, "--install-dir", "out"), "ops/native/native_functions.yaml:1:36"),
        "gen_annotated_fn_args": (_POSITIONAL, "torch/native/native_functions.yaml:1:31"),
        "gen_autograd": (_POSITIONAL, "torch/native/native_functions.yaml:1:31"),
        "gen_backend_stubs": (_BACKEND, "backend.yaml:3:1"),
        "gen_lazy_tensor": (_BACKEND, "backend.yaml:3:1"),
        "gen_mlx": (("--source-path", "mlx", "--install-dir", "out"), "mlx/mlx_ops.yaml:2:33"),
        "gen_pyi": (_POSITIONAL, "torch/native/native_functions.yaml:1:31"),
        "gen_python": (_POSITIONAL, "torch/native/native_functions.yaml:1:31"),
        "gen_static_runtime": (_OF_TORCH, "torch/native/native_functions.yaml:1:31"),
        "gen_unboxing": (_OF_TORCH, "torch/native/native_functions.yaml:1:31"),
        "list": (_OURS, "ops/native/native_functions.yaml:1:36"),
        "report": (("pages", *_OURS), "ops/native/native_functions.yaml:1:36"),
        "schema": (("tags", "--source-path", "tags"), "tags/native/tags.yaml:1:3"),
    }
)
"""For each command that reads definitions a command line, and the place of the mistake that it meets."""
NO_DEFINITIONS: Final = frozenset(
    {"autoheuristic", "completion", "decompositions", "fuse", "gen_mobile_upgraders", "import", "lsp", "new", "select"}
)
"""Commands that read something else; `lsp` tells editors about definitions in its own protocol."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    texts = {
        "ops/native/native_functions.yaml": EXTENSION,
        "torch/native/native_functions.yaml": TORCH,
        "torch/native/tags.yaml": "- tag: core\n  desc: One of the core operators.\n",
        "small/native/native_functions.yaml": "- func: add.Tensor(Tensor self, Tensor other) -> Tensor\n",
        "small/native/tags.yaml": "[]\n",
        "autograd/derivatives.yaml": "[]\n",
        "autograd/deprecated.yaml": "[]\n",
        "tags/native/tags.yaml": "- tga: core\n  desc: One of the core operators.\n",
        "mlx/mlx_ops.yaml": MLX,
        "backend.yaml": BACKEND,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "aoti").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_is_here() -> None:
    assert sorted(MISTAKES.keys() | NO_DEFINITIONS) == command_names()


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_every_format(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The formats agree on what is wrong and where; documents stand alone; nothing is written."""
    words, place = MISTAKES[name]
    before = sorted(here.rglob("*"))
    [found] = load_commands([name])

    def run(format: str) -> tuple[str, str]:
        assert command.main([name, *words, "--format", format]) == found.error_code
        return capsys.readouterr()

    out, text = run("text")
    assert out == ""
    first = re.search(rf"^{re.escape(place)}: error: (.*) \[([\w-]+)\]$", text, re.MULTILINE)
    assert first is not None, text
    message, id = first.groups()
    file, line, column = place.rsplit(":", 2)

    out, err = run("json")
    assert err == ""
    shown = next(each for each in json.loads(out) if each["id"] == id)
    assert (shown["file"], shown["line"], shown["column"]) == (file, int(line), int(column))
    assert (shown["message"], shown["severity"]) == (message, "error")

    out, err = run("sarif")
    assert err == ""
    result = next(each for each in json.loads(out)["runs"][0]["results"] if each["ruleId"] == id)
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == file
    assert (location["region"]["startLine"], location["region"]["startColumn"]) == (int(line), int(column))

    out, err = run("github")
    assert out == ""
    assert re.search(rf"^::error col={column},.*file={re.escape(file)},line={line},.*%3A {id}::", err, re.MULTILINE)
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize("name", sorted(NO_DEFINITIONS - {"autoheuristic", "completion", "lsp", "select"}))
def test_other_commands_have_the_flag_too(name: str) -> None:
    [found] = load_commands([name])
    assert "--format" in found.build_parser()._option_string_actions


def test_answers_for_programs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "ops/native/native_functions.yaml").write_text(EXTENSION.replace("Tensr", "Tensor"))
    for words in (("list",), ("explain", "twice"), ("explain", "twice", "--json"), ("diff", "ops")):
        format = () if "--json" in words else ("--format", "json")
        assert command.main([*words, *_OURS, *format]) == 0
        assert json.loads(capsys.readouterr().out), words
    check = ["check", *_OURS, "--install-dir", "out"]
    assert command.main([*check, "--format", "json"]) == 1
    stale = json.loads(capsys.readouterr().out)
    assert {each["id"] for each in stale} == {"stale-file"}
    assert "out/Operators.cpp" in {each["file"] for each in stale}
    assert command.main(["gen", *_OURS, "--install-dir", "out", "-q"]) == 0
    # A file that differs is shown at its first line that does.
    path = here / "out/Operators.cpp"
    path.write_text(path.read_text().replace("\n", "\n// mine\n", 1))
    assert command.main([*check, "--format", "sarif"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
    assert command.main([*check, "--format", "github"]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("::error col=1,endColumn=1,endLine=3,file=out/Operators.cpp,line=2,")
    assert "-// mine\n" in printed.out
    path.unlink()
    assert command.main(["gen", *_OURS, "--install-dir", "out", "-q"]) == 0
    assert command.main([*check, "--format", "json"]) == 0
    assert capsys.readouterr() == ("[]\n", "")
