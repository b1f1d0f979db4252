"""Faults that attacks and other programs' definitions found, each with the right value.

Files, streams, manifests and names of projects are in `test_files.py`, formulas in `tests/unit/test_expressions.py`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.__main__ import main
from opgen.dispatch_keys import TORCH_DISPATCH_KEYS, DispatchKey

Write = Callable[[str], None]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Path:
    shutil.copytree(repository / "tests" / "golden" / "shared" / "ops", tmp_path / "ops")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def define(here: Path) -> Write:
    """Writes the definitions."""

    def write(text: str) -> None:
        (here / "ops/native/native_functions.yaml").write_text(text)

    return write


def generate(*flags: str, command: str = "gen") -> int:
    return main([command, "-s", "ops", "-d", "out", "-q", *flags])


def text_of(pattern: str) -> str:
    return "".join(path.read_text() for path in sorted(Path("out").rglob(pattern)))


# --------------------------------------------------------------------------- kernels and tags that were lost


@pytest.mark.parametrize("flags", [(), ("--backend-whitelist", "PrivateUse1")])
def test_kernels_of_any_device_are_registered(here: Path, define: Write, flags: tuple[str, ...]) -> None:
    define("- func: scale(Tensor self) -> Tensor\n  dispatch:\n    PrivateUse1: scale_here\n")
    assert generate(*flags) == 0
    source = text_of("RegisterPrivateUse1_0.cpp")
    assert "TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {" in source
    assert "at::native::scale_here(self)" in source


def test_a_list_of_backends_leaves_others_out(here: Path, define: Write) -> None:
    define("- func: scale(Tensor self) -> Tensor\n  dispatch:\n    PrivateUse1, HPU: scale_here\n")
    assert generate("--backend-whitelist", "HPU") == 0
    assert text_of("RegisterHPU_0.cpp")
    assert not text_of("RegisterPrivateUse1*")


def test_an_author_s_kernel_takes_the_place_of_a_generated_one(here: Path, define: Write) -> None:
    keys = ("Functionalize", "BackendSelect", "ADInplaceOrView")
    define(
        "- func: put_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: put_\n    Functionalize: put_f_\n"
        "  autogen: put, put.out\n"
        "- func: made(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)"
        " -> Tensor\n  dispatch:\n    CPU: made\n    BackendSelect: made_s\n  autogen: made.out\n"
    )
    assert generate() == 0
    assert text_of("RegisterFunctionalize_0.cpp").count('m.impl("put_"') == 1
    assert 'm.impl("put_"' not in text_of("RegisterFunctionalization_*.cpp")
    assert 'm.impl("put.out"' in text_of("RegisterFunctionalization_*.cpp")
    assert "made" not in text_of("RegisterBackendSelect.cpp")
    assert all(DispatchKey[key] not in TORCH_DISPATCH_KEYS for key in keys)


def test_tags_that_no_file_declares_are_not_written(here: Path, define: Write) -> None:
    """`enum_tag.h` has the declared ones only."""
    (here / "ops/native/tags.yaml").write_text("- tag: core\n  desc: x\n")
    define("- func: put_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: put_\n  autogen: put, put.out\n")
    assert generate() == 0
    assert set(re.findall(r"at::Tag::(\w+)", text_of("RegisterSchema.cpp"))) == set()
    (here / "ops/native/tags.yaml").write_text("- tag: out\n  desc: x\n- tag: generated\n  desc: x\n")
    assert generate() == 0
    assert set(re.findall(r"at::Tag::(\w+)", text_of("RegisterSchema.cpp"))) == {"out", "generated"}


@pytest.mark.parametrize("composite", ["", "  dispatch:\n    CompositeExplicitAutograd: paste\n"])
def test_a_write_that_the_name_does_not_say(
    here: Path, define: Write, composite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    define(f"- func: paste(Tensor(a!) self, Tensor other) -> Tensor(a!)\n{composite}")
    assert generate() == bool(composite)
    assert ("[unmarked-write]" in capsys.readouterr().err) == bool(composite)


def test_shims_of_all_devices_are_updated(here: Path, define: Write, repository: Path) -> None:
    define("- func: scale(Tensor self) -> Tensor\n  dispatch:\n    CPU: scale\n")
    flags = ("--aoti-install-dir", "out/aoti", "--update-aoti-c-shim", "--backend-whitelist", "CPU")
    assert generate(*flags) == 0
    devices = ("aten", "cpu", "cuda", "mps", "xpu")
    expected = {f"c_shim_{device}.{end}" for device in devices for end in ("cpp", "h")}
    assert {path.name for path in (here / "out/aoti").iterdir()} == expected


@pytest.mark.parametrize("tag", ["generated", "inplace", "out"])
def test_tags_of_forms_are_not_written_by_hand(
    here: Path, define: Write, tag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    define(f"- func: scale(Tensor self) -> Tensor\n  tags: {tag}\n")
    assert generate() == 1
    assert f"'{tag}'" in capsys.readouterr().err


def test_a_derived_form_and_an_entry_of_one_name(here: Path, define: Write, capsys: pytest.CaptureFixture[str]) -> None:
    define(
        "- func: a(Tensor self) -> Tensor\n  dispatch:\n    CPU: a\n  autogen: a.out\n"
        "- func: a_out(Tensor self) -> Tensor\n"
    )
    assert generate() == 1
    assert "[name-clash]" in capsys.readouterr().err


# --------------------------------------------------------------------------- wrong C++


def test_quotes_within_quotes(here: Path, define: Write) -> None:
    define("- func: say(Tensor self, str s='\\\"') -> Tensor\n")
    assert generate() == 0
    assert 'm.def("say(Tensor self, str s=\'\\\\\\"\') -> Tensor"' in text_of("RegisterSchema.cpp")
    assert 'c10::string_view s="\\"")' in text_of("Functions.h")


def test_separators_of_lines_in_documentation(here: Path) -> None:
    (here / "mine/native").mkdir(parents=True)
    doc = "a\\u2028b\\u2029c\\u0085d"
    (here / "mine/native/native_functions.yaml").write_text(
        f'- func: mine::say(Tensor self) -> Tensor\n  doc: "{doc}"\n'
    )
    assert main(["gen", "-s", "mine", "-d", "out", "-q"]) == 0
    line = next(line for line in text_of("PythonBindings.cpp").split("\n") if "\u2028" in line)
    assert "a\u2028b\u2029c\u0085d" in line


PRECOMPUTED = [
    ("dim -> int dim, int dim", "bad-precomputed"),
    ("dim -> int self", "bad-precomputed"),
    ("dim -> int out", "bad-precomputed"),
    ("dim -> int d=3", "bad-precomputed"),
    ("dim -> Tensor(a!) d", "bad-precomputed"),
    ("dim -> int d\n  - dim -> int e", "bad-precomputed"),
    ("dim -> int class", "bad-identifier"),
]


@pytest.mark.parametrize(("line", "id"), PRECOMPUTED)
def test_precomputed_values_are_parameters(
    here: Path, define: Write, line: str, id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    define(
        "- func: cs(Tensor self, int dim) -> Tensor\n  structured_delegate: cs.out\n"
        "- func: cs.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        f"  dispatch:\n    CPU: cs\n  precomputed:\n  - {line}\n"
    )
    assert generate() == 1
    assert f"[{id}]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("entry", "id"),
    [
        ("- func: a(Tensor self) -> Tensor\n  variants: method\n  python_module: nn\n", "module-method"),
        ("- func: a(Tensor self, int n) -> Tensor\n  dispatch:\n    CPU: a_symint\n", "kernel-without-symint"),
        ("- func: a.out(Tensor self, Tensor(a!) out) -> Tensor(a!)\n", "returned-write"),
        ("- func: a(Tensor self, int n, int n) -> Tensor\n", "schema-duplicate-argument"),
        ("- func: a(Tensor self) -> Tensor\n  dispatch:\n    OpenCL: a\n", "unknown-dispatch-key"),
    ],
)
def test_what_torchgen_refuses_or_gets_wrong(
    here: Path, define: Write, entry: str, id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    define(entry)
    assert generate() == 1
    assert f"[{id}]" in capsys.readouterr().err


@pytest.mark.parametrize(
    "formula", ["/*" * 60_000, "(" * 60_000, "a?" * 30_000, "[" * 60_000, "<" * 60_000, "-" * 60_000]
)
def test_long_formulas_take_no_time(here: Path, formula: str, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine/native").mkdir(parents=True)
    (here / "mine/autograd").mkdir()
    (here / "mine/native/native_functions.yaml").write_text(
        "- func: mine::say(Tensor self) -> Tensor\n  dispatch:\n    CPU, Meta: say\n"
    )
    (here / "mine/autograd/derivatives.yaml").write_text(
        f'- name: say(Tensor self) -> Tensor\n  self: "{formula} grad"\n'
    )
    started = time.process_time()
    code = main(["gen", "-s", "mine", "-d", "out", "-q"])
    assert time.process_time() - started < 10
    assert code in (0, 1)  # `/*/` begins a comment, and `*/` ends it: that one is an expression
    assert ("error: " in capsys.readouterr().err) == (code == 1)


# --------------------------------------------------------------------------- other programs

BACKEND = "backend: XLA\ncpp_namespace: my\nsupported: [addmm, abs, abs]\n"


@pytest.mark.parametrize("command", ["gen_backend_stubs", "gen_lazy_tensor"])
def test_backends_are_about_the_operators_of_the_installed_torch(here: Path, command: str) -> None:
    """With torchgen's command line, in which only the program's name differs."""
    (here / "b.yaml").write_text(BACKEND)
    done = subprocess.run(
        [sys.executable, "-m", f"opgen.{command}", "--source_yaml", "b.yaml", "--output_dir", "out"],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "[operator-listed-twice]" in done.stderr
    assert "addmm" in text_of("RegisterXLA.cpp")


def test_without_torch_a_backend_is_about_packaged_operators(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("opgen.commands._backend_flags.installed_definitions", lambda: None)
    (here / "b.yaml").write_text(BACKEND.replace("addmm", "abss"))
    assert main(["gen_backend_stubs", "-s", "b.yaml", "-o", "out"]) == 1
    err = capsys.readouterr().err
    assert "[operators-of-opgen]" in err
    assert "[unknown-operator]" in err


def test_what_a_generated_kernel_would_lose_is_left_out(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One operator of a lazy backend that writes to an argument doesn't keep the client from the others."""
    (here / "b.yaml").write_text("backend: XLA\ncpp_namespace: my\nfull_codegen: [abs, rrelu_with_noise]\n")
    assert main(["gen_lazy_tensor", "-s", "b.yaml", "-o", "out"]) == 0
    assert "warning: can't generate a kernel for 'rrelu_with_noise'" in capsys.readouterr().err
    assert "rrelu" not in text_of("*.h") + text_of("*.cpp")
    assert "XLANativeFunctions::abs" in text_of("XLANativeFunctions.cpp")


def test_a_generated_kernel_takes_the_place_of_a_listed_one(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "b.yaml").write_text("backend: XLA\ncpp_namespace: my\nfull_codegen: [abs]\nsupported: [abs]\n")
    assert main(["gen_lazy_tensor", "-s", "b.yaml", "-o", "out"]) == 0
    assert "[operator-in-two-lists]" in capsys.readouterr().err
    assert text_of("XLANativeFunctions.h").count("abs") == 1


def test_what_torchgen_does_not_call_random(here: Path, define: Write) -> None:
    define("- func: _cudnn_init_dropout_state(float dropout, bool train, Tensor self) -> Tensor\n")
    assert generate() == 0


@pytest.mark.parametrize(("count", "shards"), [(99, 1), (100, 5)])
def test_few_unboxing_kernels_are_in_one_file(here: Path, define: Write, count: int, shards: int) -> None:
    define("".join(f"- func: f{n}(Tensor self) -> Tensor\n" for n in range(count)))
    assert generate(command="gen_unboxing") == 0
    assert len(list((here / "out").glob("UnboxingFunctions_?.cpp"))) == shards


def test_a_legacy_list_of_operators(here: Path, define: Write) -> None:
    define("".join(f"- func: {name}(Tensor self) -> Tensor\n  dispatch:\n    CPU: {name}\n" for name in "fgh"))
    (here / "ops/autograd/derivatives.yaml").write_text("[]")
    (here / "list.yaml").write_text("- aten::f\n- aten::g.out\n")
    paths = ("ops/native/native_functions.yaml", "ops/native/tags.yaml", "out", "ops/autograd")
    assert main(["gen_autograd", *paths, "-q", "--selected-op-list-path", "list.yaml"]) == 0
    assert set(re.findall(r'm\.impl\("(\w+)"', text_of("VariableType_*.cpp"))) == {"f", "g"}
    (here / "list.yaml").write_text("- aten::ff\n")
    assert main(["gen_autograd", *paths, "-q", "--selected-op-list-path", "list.yaml"]) == 1


@pytest.mark.parametrize("flag", ["-o", "--install-list", "--stamp"])
@pytest.mark.parametrize(
    "path", ["ops/native/native_functions.yaml", "linked/native/tags.yaml", "out/RegisterSchema.cpp"]
)
def test_no_file_of_a_run_is_overwritten(
    here: Path, define: Write, flag: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    define("- func: f(Tensor self) -> Tensor\n")
    (here / "linked").symlink_to("ops")
    before = {each: each.read_bytes() for each in (here / "ops").rglob("*") if each.is_file()}
    assert generate(flag, path) == 1
    assert "[output-overwrites]" in capsys.readouterr().err
    assert {each: each.read_bytes() for each in (here / "ops").rglob("*") if each.is_file()} == before
    assert not (here / "out").exists()


def test_templates_are_not_overwritten_by_what_is_made_of_them(here: Path) -> None:
    assert main(["gen", "-s", "ops", "-d", "ops/templates", "-q"]) == 1
    assert "$generated_comment" in (here / "ops/templates/Functions.h").read_text()


@pytest.mark.parametrize("type", ["DeviceIndex[]?", "DeviceIndex", "Tensor[]?[]", "Scalar[]"])
def test_structured_operators_take_what_their_kernels_can(
    here: Path, type: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """These were internal errors."""
    (here / "mine/native").mkdir(parents=True)
    (here / "mine/native/native_functions.yaml").write_text(
        f"- func: mine::f(Tensor self, {type} x) -> Tensor\n  structured_delegate: f.out\n"
        f"- func: mine::f.out(Tensor self, {type} x, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU: f_out\n"
    )
    assert main(["gen", "-s", "mine", "-d", "out", "-q"]) == 1
    assert "[unsupported-type]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("type", "cpp"), [("SymInt[]?", "at::OptionalIntArrayRef"), ("Tensor[]?", "::std::optional<at::TensorList>")]
)
def test_structured_kernels_take_lists_that_may_be_missing(here: Path, type: str, cpp: str) -> None:
    (here / "mine/native").mkdir(parents=True)
    (here / "mine/native/native_functions.yaml").write_text(
        f"- func: mine::f(Tensor self, {type} x) -> Tensor\n  structured_delegate: f.out\n"
        f"- func: mine::f.out(Tensor self, {type} x, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU: f_out\n"
    )
    assert main(["gen", "-s", "mine", "-d", "out", "-q"]) == 0
    assert f"{cpp} x" in text_of("f_native.h")


def test_a_list_that_is_written_to_is_not_returned(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine/native").mkdir(parents=True)
    (here / "mine/native/native_functions.yaml").write_text(
        "- func: mine::f(Tensor(a!)[] x) -> Tensor(a!)[]\n  dispatch:\n    CPU: f\n"
    )
    assert main(["gen", "-s", "mine", "-d", "out", "-q"]) == 1
    assert "[unsupported-type]" in capsys.readouterr().err
