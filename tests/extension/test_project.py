"""`opgen new`, and builds: what is laid out builds and passes its test; what doesn't change isn't built again."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from opgen import new
from opgen.cpp_extension import GenerationError, generate_sources
from tests.extension.building import EXAMPLES, Built, build_once, require_tools, run

FRACTIONS = "rational::unit_fractions"
ADDED = """
- func: rational::halve(Tensor self) -> Tensor
  dispatch:
    CPU: halve
    Meta: halve_meta
"""


def test_new_project_builds_and_passes_its_test(tmp_path: Path, builds: Path) -> None:
    require_tools("make")
    assert new.main(["mylib", "--into", str(tmp_path / "mylib")]) == 0
    built = build_once("mylib", tmp_path / "mylib", builds, "Unix Makefiles")
    build = built.source / "build"
    if not build.exists():
        build.symlink_to(built.build)
    said = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], built.source)
    assert "3 passed" in said
    # A build with nothing to do runs neither the generator nor the compiler.
    again = run(["cmake", "--build", built.build], built.source)
    assert "opgen" not in again
    assert "Building" not in again


@pytest.mark.parametrize("name", ["my-lib", "class", "torch", ""])
def test_names_that_no_library_can_have(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new.main([name, "--into", str(tmp_path / "x")]) == 1
    assert "bad-project-name" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_new_project_leaves_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("mine")
    assert new.main(["mylib", "--into", str(tmp_path)]) == 1
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
    }


def test_changed_definition_builds_only_what_holds_it(rational: Built) -> None:
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
    compiled = {line.rpartition("/")[2] for line in planned.splitlines() if "Building CXX object" in line}
    assert "RegisterCPU.cpp.o" in compiled
    assert not {"UfuncCPU_blend.cpp.o", "RegisterBatched.cpp.o", "RegisterFunctionalize.cpp.o"} & compiled


def test_mistakes_end_a_build(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    definitions = tmp_path / "ops" / "native" / "native_functions.yaml"
    definitions.parent.mkdir(parents=True)
    definitions.write_text("- func: mylib::f(Tenosr self) -> Tensor\n")
    with pytest.raises(GenerationError):
        generate_sources(tmp_path / "ops", tmp_path / "generated")
    assert "did you mean 'Tensor'?" in capfd.readouterr().err


def test_lists_of_sources(tmp_path: Path) -> None:
    lists = generate_sources(EXAMPLES / "rational" / "ops", tmp_path)
    assert lists == json.loads((tmp_path / "sources.json").read_text())
    assert f"{tmp_path}/RegisterCUDA.cpp" in lists["cuda_sources"]
    assert f"{tmp_path}/RegisterCPU.cpp" in lists["sources"]
    assert all(Path(path).is_file() for paths in lists.values() for path in paths)
