"""Streams, devices, pipes, folders and manifests in any state: a message, an exit code, no traceback and no wait."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opgen import gen
from opgen.__main__ import main
from opgen.output.manifest import FORMAT, digest, load_records
from opgen.output.manifest import NAME as MANIFEST

pytestmark = pytest.mark.skipif(os.name != "posix", reason="devices and pipes of POSIX")

FLAGS = ["-s", "ops", "-d", "out", "--per-operator-headers", "--generate", "sources"]
DEFINITIONS = "ops/native/native_functions.yaml"
SECONDS = 60


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Path:
    shutil.copytree(repository / "tests" / "golden" / "shared" / "ops", tmp_path / "ops")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(repository: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the shell, in which `opgen` is the program."""
    program = f"{sys.executable} -m opgen"
    return subprocess.run(
        ["bash", "-c", command.replace("opgen", program)],
        env={**os.environ, "PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


# --------------------------------------------------------------------------- streams

GEN = f"opgen gen {' '.join(FLAGS)}"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (f"{GEN} >&-", 0),
        (f"{GEN} 2>&-", 0),
        (f"{GEN} 2>/dev/full", 0),
        (f"{GEN} <&- >&- 2>&-", 0),
        (f"{GEN} -s nowhere 2>/dev/full", 1),
        (f"{GEN} | true; exit ${{PIPESTATUS[0]}}", 0),
        ("opgen list -s ops --format json | true; exit ${PIPESTATUS[0]}", 0),
        ("opgen check -s nowhere --format json | true; exit ${PIPESTATUS[0]}", 2),
        ("opgen --help >&-", 0),
        ("opgen gen --help >&-", 0),
    ],
)
def test_streams_that_nobody_reads(here: Path, repository: Path, command: str, code: int) -> None:
    done = start(repository, command)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    if command.startswith(GEN) and code == 0:
        assert (here / "out" / "RegisterSchema.cpp").is_file()


@pytest.mark.parametrize("command", [GEN, f"{GEN} -q; {GEN}", "opgen --version", "opgen list -s ops"])
def test_a_report_that_cannot_be_written(here: Path, repository: Path, command: str) -> None:
    done = start(repository, f"({command}) >/dev/full")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count("can't write to stdout: No space left on device") == 1


def test_a_closed_stream_is_no_output_file(here: Path, repository: Path) -> None:
    """The first files that a process opens are its streams, if it was given none."""
    assert start(repository, f"{GEN} -j 2 <&- >&- 2>&-").returncode == 0
    assert gen.main(["-s", "ops", "-d", "again", *FLAGS[4:]]) == 0
    for path in (here / "again").rglob("*.cpp"):
        assert (here / "out" / path.relative_to(here / "again")).read_bytes() == path.read_bytes()


# --------------------------------------------------------------------------- what is no file


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_socket(path: Path) -> None:
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [make_pipe, make_device, make_socket, make_loop, Path.mkdir])
@pytest.mark.parametrize(
    "path",
    [DEFINITIONS, "ops/native/tags.yaml", "ops/templates/RegisterSchema.cpp", "selection.yaml", "shims.yaml"],
)
def test_inputs_that_are_no_files(
    here: Path, path: str, make: Callable[[Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    (here / path).unlink(missing_ok=True)
    make(here / path)
    os.chdir(here)
    flags = {"selection.yaml": ["--op-selection-yaml-path", path]}.get(path, [])
    if path == "shims.yaml":
        flags = ["--aoti-install-dir", "aoti", "--update-aoti-c-shim", "--aoti-fallback-ops", path]
    assert gen.main([*FLAGS, *flags]) == 1
    err = capsys.readouterr().err
    assert "error: " in err
    assert "Traceback" not in err
    assert not (here / "out").exists()


@pytest.mark.parametrize("make", [make_pipe, make_device, make_socket])
@pytest.mark.parametrize("path", ["out/RegisterSchema.cpp", "out/stamp", "out/depfile", "out/headers"])
def test_outputs_that_are_no_files(
    here: Path, path: str, make: Callable[[Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "out").mkdir()
    make(here / path)
    os.chdir(here)
    flags = ["--stamp", "out/stamp", "--depfile", "out/depfile", "--install-list", "out/headers"]
    assert gen.main([*FLAGS, *flags]) == 1
    err = capsys.readouterr().err
    assert "[output-not-written]" in err
    assert not (here / path).is_file()


def test_a_device_is_not_replaced(here: Path, tmp_path: Path) -> None:
    """Whoever may write to /dev would have replaced it with a file."""
    before = os.stat("/dev/null").st_rdev
    assert gen.main([*FLAGS, "--stamp", "stamp", "--depfile", "/dev/null"]) == 1
    assert os.stat("/dev/null").st_rdev == before


def test_a_file_that_is_larger_than_memory(here: Path, repository: Path) -> None:
    with open(here / DEFINITIONS, "r+b") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    done = start(repository, f"ulimit -v 4000000; {GEN}")
    assert done.returncode == 1
    assert "it has more than 1024 MiB [unreadable-file]" in done.stderr


def test_a_run_without_enough_memory(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("opgen.commands.gen.find_inputs", lambda *_, **__: refuse())
    assert gen.main(FLAGS) == 1
    assert "there isn't enough memory for this run [out-of-memory]" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a" * 300, "b/" * 3000, "n" * 250])
@pytest.mark.parametrize("flag", ["-s", "-d", "--op-selection-yaml-path", "--stamp", "--aoti-install-dir", "-o"])
def test_names_of_any_length(here: Path, flag: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = gen.main([*FLAGS, flag, name])
    err = capsys.readouterr().err
    assert "Traceback" not in err
    if len(name) != 250:
        assert code == 1
        assert "[unusable-file]" in err or "File name too long" in err or "missing-file" in err or "can't write" in err


def test_a_working_directory_that_is_gone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "gone").mkdir()
    os.chdir(here / "gone")
    (here / "gone").rmdir()
    try:
        assert gen.main(FLAGS) == 1
    finally:
        os.chdir(here)
    assert "the working directory no longer exists" in capsys.readouterr().err


# --------------------------------------------------------------------------- manifests

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def forge(out: Path, record: object) -> None:
    """Write a manifest with a right digest."""
    body = json.dumps(record).encode()
    head = json.dumps({"opgen manifest": FORMAT, "digest": digest(body)}).encode()
    (out / MANIFEST).write_bytes(head + b"\n" + body)


@pytest.fixture
def written(here: Path) -> dict[str, object]:
    """The record of a run, as JSON."""
    assert gen.main([*FLAGS, "-q", "--stamp", "stamp"]) == 0
    found: dict[str, object] = json.loads((here / "out" / MANIFEST).read_bytes().split(b"\n")[1])
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_manifests_of_arbitrary_json(here: Path, written: dict[str, object], data: st.DataObject) -> None:
    field = data.draw(st.sampled_from([*sorted(written), "more"]))
    forge(here / "out", {**written, field: data.draw(JSON)})
    assert gen.main([*FLAGS, "-q", "--stamp", "stamp"]) == 0


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "", "/", "a" * 5000, "/dev/zero"])
def test_manifests_with_impossible_names(here: Path, written: dict[str, object], name: str) -> None:
    for field in ("inputs", "outputs"):
        forge(here / "out", {**written, field: {name: ["0", 1, 1, 1]}})
        assert gen.main([*FLAGS, "-q", "--stamp", "stamp"]) == 0


def test_a_manifest_names_no_stamp(here: Path, written: dict[str, object]) -> None:
    """The stamp is the file that the flags of this run name."""
    assert "stamp" not in written
    forge(here / "out", {**written, "stamp": "elsewhere"})
    assert load_records(here / "out") == ()
    assert gen.main([*FLAGS, "-q", "--stamp", "stamp"]) == 0
    assert not (here / "elsewhere").exists()
    (here / "stamp").unlink()
    assert gen.main([*FLAGS, "-q", "--stamp", "stamp"]) == 0
    assert (here / "stamp").is_file()


def test_a_manifest_that_is_a_pipe(here: Path, written: dict[str, object], capsys: pytest.CaptureFixture[str]) -> None:
    (here / "out" / MANIFEST).unlink()
    make_pipe(here / "out" / MANIFEST)
    assert gen.main(FLAGS) == 1
    assert f"can't write 'out/{MANIFEST}': it is a pipe, not a file" in capsys.readouterr().err


# --------------------------------------------------------------------------- encodings and names


@pytest.mark.parametrize(
    ("data", "id"),
    [
        ("- func: mylib::say(Tensor self) -> Tensor\n".encode("utf-16"), "bad-encoding"),
        (b"# caf\xe9\n- func: mylib::say(Tensor self) -> Tensor\n", "bad-encoding"),
        (b'!!python/object/apply:os.system ["true"]\n', "yaml-tag"),
        (b"[[[\n", "yaml-syntax"),
        (b"\0", "bad-character"),
        (b"", "wrong-kind"),
    ],
)
def test_definitions_of_an_extension_that_cannot_be_read(
    here: Path, data: bytes, id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "mine" / "native").mkdir(parents=True)
    (here / "mine" / "native" / "native_functions.yaml").write_bytes(data)
    assert gen.main(["-s", "mine", "-d", "out"]) == 1
    err = capsys.readouterr().err
    assert f"[{id}]" in err
    assert "mine/native/native_functions.yaml:" in err


@pytest.mark.parametrize(
    "name",
    [
        *("a" * 101, "a" * 300, "json", "sys", "opgen", "torch", "numpy", "pytest", "setup", "__init__", "_", "x_"),
        *("time", "printf", "errno", "int", "", ".", "..", "a/b", "a b", "\udcff", "é", "-"),
    ],
)
@pytest.mark.parametrize("flags", [[], ["--mlx"]])
def test_names_that_no_project_can_have(
    here: Path, name: str, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(here.iterdir())
    assert main(["new", *flags, "--", name]) == 1
    assert "[bad-project-name]" in capsys.readouterr().err
    assert sorted(here.iterdir()) == before


def test_a_project_whose_folder_has_too_long_a_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("a" * 250 + "/" + "b" * 300, "a" * 300):
        assert main(["new", "gains", "--into", folder]) == 1
        assert "File name too long" in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["ops"]
