"""`opgen new`, and builds: new projects can be installed; unchanged sources aren't built again.

docs/tutorial.md builds a new project; these tests are for the setuptools section of docs/extension.md.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from opgen import __main__ as opgen
from opgen import gen
from opgen.cpp_extension import GenerationError, generate_sources
from tests.compilers import QUICK
from tests.extension.building import EXAMPLES, Built, alone, configure, require_tools, run

KEPT = Path(__file__).with_name("kept_checks.py")
FRACTIONS = "rational::unit_fractions"
ADDED = """
- func: rational::halve(Tensor self) -> Tensor
  dispatch:
    CPU: halve
    Meta: halve_meta
"""


TINY = """
- func: mylib::twice(Tensor self) -> Tensor
  doc: Two times `self`.
"""
TWICE = """
#include <ATen/ops/mul.h>
#include <mylib/NativeFunctions.h>

at::Tensor mylib::native::twice(const at::Tensor& self) {
  return at::mul(self, 2);
}
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A new project whose only operator takes little time to compile."""
    require_tools("ninja")
    folder = tmp_path / "project"
    assert opgen.main(["new", "mylib", "--into", str(folder)]) == 0
    (folder / "ops" / "native" / "native_functions.yaml").write_text(TINY)
    (folder / "src" / "kernels.cpp").write_text(TWICE)
    return folder


def test_new_project_is_installed_by_pip(tiny: Path, tmp_path: Path) -> None:
    """Into an environment of its own, that sees the packages of this one."""
    run([sys.executable, "-m", "venv", "--without-pip", "env"], tmp_path)
    python = tmp_path / "env" / "bin" / "python"
    folder = run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], tmp_path).strip()
    others = [path for path in sys.path if path.endswith("site-packages")]
    (Path(folder) / "others.pth").write_text("\n".join(others) + "\n")
    flags = ["--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check"]
    run([python, "-m", "pip", "install", *flags, "."], tiny, CFLAGS=f"-O0 {QUICK}", MAX_JOBS="2")
    program = """
import mylib, torch
assert mylib.twice(torch.ones(2)).tolist() == torch.ops.mylib.twice(torch.ones(2)).tolist() == [2, 2]
print(mylib.__file__, mylib.twice.__doc__)
"""
    said = run([python, "-c", program], tmp_path, PYTHONPATH="")
    assert said.startswith(f"{folder}/mylib/__init__.py")
    assert "Two times `input`." in said
    files = {path.name.partition(".")[0] + path.suffix for path in (Path(folder) / "mylib").iterdir()}
    assert {"__init__.py", "_C.pyi", "_C.so", "py.typed"} <= files


def test_extension_is_compiled_and_imported_in_one_step(tiny: Path) -> None:
    """One whose formulas keep what can be kept of tensors, and whose operators on lists have derivatives."""
    said = run([sys.executable, KEPT, "-std=c++20", "-O0", QUICK], tiny, MAX_JOBS="2")
    assert "what is kept is right" in said


def test_derivatives_that_are_added_later_configure_a_build_anew(tiny: Path, tmp_path: Path) -> None:
    """Neither the file nor its folder was there when the build was configured."""
    (tiny / "ops" / "native" / "native_functions.yaml").write_text(TINY.rstrip() + "\n  dispatch: {CPU: twice}\n")
    shutil.rmtree(tiny / "ops" / "autograd", ignore_errors=True)
    build = tmp_path / "build"
    configure(tiny, build, "Ninja")
    assert not list(build.rglob("RegisterDerivatives.cpp"))
    derivatives = tiny / "ops" / "autograd" / "derivatives.yaml"
    derivatives.parent.mkdir()
    derivatives.write_text("- name: twice(Tensor self) -> Tensor\n  self: grad * 2\n")
    run(["ninja", "build.ninja"], build)
    assert list(build.rglob("RegisterDerivatives.cpp"))
    (unit,) = build.rglob("Unit_0.cpp")
    assert '#include "RegisterDerivatives.cpp"' in unit.read_text()


@pytest.mark.parametrize("name", ["my-lib", "class", "lambda", "torch", ""])
def test_names_that_no_library_can_have(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert opgen.main(["new", name, "--into", str(tmp_path / "x")]) == 1
    assert "bad-project-name" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_new_project_leaves_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("mine")
    assert opgen.main(["new", "mylib", "--into", str(tmp_path)]) == 1
    assert "project-exists" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_new_operator_changes_only_what_holds_it(tmp_path: Path) -> None:
    definitions = tmp_path / "ops" / "native" / "native_functions.yaml"
    definitions.parent.mkdir(parents=True)
    text = (EXAMPLES / "rational" / "ops" / "native" / "native_functions.yaml").read_text()
    definitions.write_text(text)
    output = tmp_path / "generated"
    generate_sources(tmp_path / "ops", output)
    before = {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}
    # In the middle, so that operators before and after it would be touched if lines or orders were told.
    at = text.index(f"- func: {FRACTIONS}")
    definitions.write_text(text[:at] + ADDED.lstrip() + "\n" + text[at:])
    generate_sources(tmp_path / "ops", output)
    changed = {
        path.relative_to(output).as_posix()
        for path in output.rglob("*")
        if path.is_file() and before.get(path) != path.stat().st_mtime_ns
    }
    assert {name for name in changed if "/ops/" in name} == {
        f"rational/ops/halve{suffix}.h" for suffix in ("", "_ops", "_native", "_cpu_dispatch", "_meta_dispatch")
    }
    assert {name for name in changed if name.endswith(".cpp")} == {
        "Operators.cpp",
        "RegisterSchema.cpp",
        "RegisterCPU.cpp",
        "RegisterMeta.cpp",
        "RegisterAutogradFallback.cpp",
        "PythonBindings.cpp",
    }


def test_changed_definition_builds_only_what_holds_it(rational: Built) -> None:
    with alone(rational):
        planned = _planned_after_an_edit(rational)
    compiled = {line.rpartition("/")[2] for line in planned.splitlines() if "Building CXX object" in line}
    assert "Unit_1.cpp.o" in compiled
    assert not {"UfuncCPU_blend.cpp.o", "derivatives.cpp.o"} & compiled


def _planned_after_an_edit(rational: Built) -> str:
    """What Ninja would do after an operator was added; then all is put back."""
    definitions = rational.source / "ops" / "native" / "native_functions.yaml"
    text = definitions.read_text()
    times = {path: path.stat().st_mtime_ns for path in rational.build.rglob("generated/**/*") if path.is_file()}
    run(["ninja"], rational.build)
    assert "no work to do" in run(["ninja", "-n"], rational.build)
    try:
        definitions.write_text(text + ADDED)
        run(["ninja", "build.ninja"], rational.build)
        planned = run(["ninja", "-n"], rational.build)
    finally:
        definitions.write_text(text)
        run(["ninja", "build.ninja"], rational.build)
        # All is as it was when it was compiled.
        for path, time in times.items():
            os.utime(path, ns=(time, time))
    assert "no work to do" in run(["ninja", "-n"], rational.build)
    return planned


def test_mistakes_end_a_build(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    definitions = tmp_path / "ops" / "native" / "native_functions.yaml"
    definitions.parent.mkdir(parents=True)
    definitions.write_text("- func: mylib::f(Tenosr self) -> Tensor\n")
    with pytest.raises(GenerationError):
        generate_sources(tmp_path / "ops", tmp_path / "generated")
    assert "did you mean 'Tensor'?" in capfd.readouterr().err


def test_files_for_a_build_stay_when_sources_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The lists of sources stand in the folder of what is generated, and are no leftovers of a former run."""
    definitions = tmp_path / "ops" / "native" / "native_functions.yaml"
    definitions.parent.mkdir(parents=True)
    for text in (TINY, TINY.replace("Two times", "Twice")):
        definitions.write_text(text)
        flags = [
            "-s",
            str(tmp_path / "ops"),
            "-d",
            str(tmp_path / "out"),
            "-o",
            str(tmp_path / "out" / "sources.cmake"),
        ]
        assert gen.main(flags) == 0
    assert ", 1 changed, 0." in capsys.readouterr().out.splitlines()[-1]
    assert (tmp_path / "out" / "sources.json").is_file()


def test_lists_of_sources(tmp_path: Path) -> None:
    lists = generate_sources(EXAMPLES / "rational" / "ops", tmp_path)
    assert lists == json.loads((tmp_path / "sources.json").read_text())
    assert f"{tmp_path}/RegisterCUDA.cpp" in lists["cuda_sources"]
    assert f"{tmp_path}/RegisterCPU.cpp" in lists["included_sources"]
    assert {f"{tmp_path}/Unit_0.cpp", f"{tmp_path}/UfuncCPU_blend.cpp"} <= set(lists["sources"])
    assert all(Path(path).is_file() for paths in lists.values() for path in paths)
