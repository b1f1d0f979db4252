"""Whatever goes wrong: a clear message, the right exit code, every file whole, and the next run mends all."""

from __future__ import annotations

import errno
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from opgen import gen
from opgen.output.manifest import NAME as MANIFEST

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

FLAGS = ["-s", "ops", "-d", "out", "--per-operator-headers"]
EXTRA = "".join(f"- func: extra{n}(Tensor self) -> Tensor\n  variants: function, method\n" for n in range(150))


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def run(*flags: str) -> int:
    return gen.main([*FLAGS, *flags])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Path:
    shutil.copytree(repository / "tests" / "golden" / "shared" / "ops", tmp_path / "ops")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def environment(repository: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(repository)}


@pytest.fixture
def definitions(here: Path) -> Path:
    return here / "ops/native/native_functions.yaml"


def start(environment: dict[str, str], *flags: str, group: bool = False) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.forking", "gen", *FLAGS, *flags]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=group
    )


# --------------------------------------------------------------------------- ends that come suddenly


@posix
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_at_any_moment(
    here: Path, definitions: Path, environment: dict[str, str], how: signal.Signals, jobs: str
) -> None:
    assert run("-q") == 0
    old = tree(here / "out")
    definitions.write_text(definitions.read_text() + EXTRA)
    assert gen.main(["-s", "ops", "-d", "fresh", "--per-operator-headers", "-q"]) == 0
    new = tree(here / "fresh")
    chance = random.Random(f"{how}{jobs}")
    for _ in range(8):
        process = start(environment, "--jobs", jobs, group=True)
        time.sleep(chance.uniform(0.05, 1.2))
        os.killpg(process.pid, how)
        _, err = process.communicate(timeout=60)
        assert process.returncode in (0, 130, -how), err
        if how is signal.SIGINT and process.returncode == 130:
            assert b"interrupted" in err
        found = {name: data for name, data in tree(here / "out").items() if not name.startswith(".opgen-")}
        assert all(data in (old.get(name), new.get(name)) for name, data in found.items())
        assert found.keys() >= old.keys()
        assert tree(here / "fresh") == new
    assert run("-q") == 0
    assert tree(here / "out") == new
    assert sorted(path.name for path in here.iterdir()) == ["fresh", "ops", "out"]
    definitions.write_text(definitions.read_text().replace(EXTRA, ""))
    assert run("-q") == 0
    assert tree(here / "out") == old


@posix
def test_a_first_run_that_is_killed_leaves_nothing_for_ever(
    here: Path, definitions: Path, environment: dict[str, str]
) -> None:
    original = definitions.read_text()
    definitions.write_text(original + EXTRA)
    chance = random.Random(1)
    for _ in range(6):
        process = start(environment)
        time.sleep(chance.uniform(0.1, 1.0))
        process.kill()
        process.communicate()
    definitions.write_text(original)
    assert run("-q") == 0
    assert gen.main(["-s", "ops", "-d", "fresh", "--per-operator-headers", "-q"]) == 0
    assert tree(here / "out") == tree(here / "fresh")


@posix
def test_two_runs_at_once(here: Path, definitions: Path, environment: dict[str, str]) -> None:
    text = definitions.read_text()
    for round in range(4):
        definitions.write_text(text + (EXTRA if round % 2 else ""))
        processes = [start(environment, "--jobs", str(n)) for n in (1, 2, 1)]
        ends = [(*process.communicate(timeout=120), process.returncode) for process in processes]
        assert [code for _, _, code in ends] == [0, 0, 0], ends
        assert run("-q") == 0
        fresh = f"fresh{round}"
        assert gen.main(["-s", "ops", "-d", fresh, "--per-operator-headers", "-q"]) == 0
        assert tree(here / "out") == tree(here / fresh)


# --------------------------------------------------------------------------- disks


@contextmanager
def small_files_only() -> Iterator[None]:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    importlib.import_module("opgen.commands.gen")  # before the limit, which also holds for Python's caches of modules
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, hard))
    try:
        yield
    finally:
        # Before pytest reports, whose output may be a longer file.
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_limit_on_the_size_of_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small_files_only():
        assert run() == 1
    assert "File too large [output-not-written]" in capsys.readouterr().err
    assert not (here / "out").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("call", ["open", "write", "mkdir", "replace"])
def test_what_the_system_refuses(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], call: str, number: int
) -> None:
    """At the third call that is about the output."""
    real, count = getattr(os, call), 0

    def refuse(first: object, *rest: object, **named: object) -> object:
        nonlocal count
        is_ours = call == "write" or "out" in str(first)
        if call == "open":
            is_ours = is_ours and bool(rest) and bool(int(str(rest[0])) & os.O_CREAT)
        count += is_ours
        if is_ours and count >= (1 if call == "mkdir" else 3):
            raise OSError(number, os.strerror(number))
        return real(first, *rest, **named)

    monkeypatch.setattr(os, call, refuse)
    code = run("--jobs", "1")
    monkeypatch.undo()
    monkeypatch.chdir(here)
    out, err = capsys.readouterr()
    assert code == 1, out
    assert f": {os.strerror(number)} [output-not-written]\n" in err
    assert "Traceback" not in err
    assert not list(here.glob("out/.opgen-*.tmp"))
    assert run() == 0
    assert gen.main(["-s", "ops", "-d", "fresh", "--per-operator-headers"]) == 0
    assert tree(here / "out") == tree(here / "fresh")


NO_MOUNT = 77
FULL_DISK = f"""
import subprocess, sys
from pathlib import Path
from opgen import gen
from opgen.run import work
from tests.faults.test_faults import EXTRA, FLAGS, tree
work.WORTH_FORKING = 0
out, definitions = Path("out"), Path("ops/native/native_functions.yaml")
out.mkdir()
try:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,nr_inodes=2k", "none", "out"], check=True)
except (OSError, subprocess.CalledProcessError):
    sys.exit({NO_MOUNT})
text = definitions.read_text()
assert gen.main(FLAGS) == 0
old = tree(out)
for jobs in ("1", "2"):
    definitions.write_text(text + EXTRA)
    assert gen.main([*FLAGS, "--jobs", jobs]) == 1
    assert tree(out) == old
definitions.write_text(text)
assert gen.main(FLAGS) == 0
assert tree(out) == old
"""


@posix
def test_a_full_disk(here: Path, environment: dict[str, str]) -> None:
    """A small one, of memory, mounted where nobody else sees it."""
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rm", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mounts of one's own here")
    command = [unshare, "-rm", sys.executable, "-c", FULL_DISK]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == NO_MOUNT:
        pytest.skip(f"no file system in memory here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert "No space left on device [output-not-written]" in done.stderr
    assert "Traceback" not in done.stderr


@posix
def test_a_folder_that_may_not_be_written(here: Path, environment: dict[str, str]) -> None:
    (here / "out").mkdir(mode=0o555)
    command = [sys.executable, "-m", "opgen.gen", *FLAGS]
    if os.geteuid() == 0:  # may write everywhere, unless it gives that up
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("root may write everywhere")
        command = [setpriv, "--bounding-set=-dac_override", "--inh-caps=-dac_override", *command]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Permission denied [output-not-written]" in done.stderr
    assert tree(here / "out") == {}


def test_a_target_within_a_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "out").write_text("mine")
    assert run() == 1
    assert "is a file, not a folder" in capsys.readouterr().err
    assert (here / "out").read_text() == "mine"


# --------------------------------------------------------------------------- what is in the way


def test_links_that_lead_out(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "elsewhere").mkdir()
    (here / "elsewhere/scale.h").write_text("mine")
    (here / "out").mkdir()
    (here / "out/ops").symlink_to(here / "elsewhere")
    assert run() == 1
    assert "leads outside" in capsys.readouterr().err
    assert tree(here / "elsewhere") == {"scale.h": b"mine"}
    (here / "out/ops").unlink()
    (here / "out/ops").mkdir()
    (here / "out/ops/scale.h").symlink_to(here / "elsewhere/scale.h")
    assert run() == 0
    assert tree(here / "elsewhere") == {"scale.h": b"mine"}
    assert not (here / "out/ops/scale.h").is_symlink()


def test_a_folder_where_a_file_should_be(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "out/Functions.h/x").mkdir(parents=True)
    before = sorted((here / "out").rglob("*"))
    assert run() == 1
    assert "it is a folder" in capsys.readouterr().err
    assert sorted((here / "out").rglob("*")) == before


@pytest.mark.parametrize("name", ["../a", "a/b", "..", "a..b", "/etc/x", "a\\\\b", "a\\0b"])
def test_names_that_are_paths(here: Path, definitions: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    definitions.write_text(f'- func: "{name}(Tensor self) -> Tensor"\n')
    assert run() == 1
    assert "native_functions.yaml:1:" in capsys.readouterr().err
    assert not (here / "out").exists()


# --------------------------------------------------------------------------- inputs


def test_a_template_that_is_a_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "ops/templates/Function.h").unlink()
    (here / "ops/templates/Function.h").mkdir()
    assert run() == 1
    assert "Function.h' is a folder [template-unreadable]" in capsys.readouterr().err
    assert not (here / "out").exists()


@pytest.mark.parametrize("path", ["native/native_functions.yaml", "native/tags.yaml", "templates/Function.h"])
def test_bytes_that_are_not_utf8(here: Path, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = here / "ops" / path
    file.write_bytes(file.read_bytes() + b"\n# \xff\xfe\n")
    assert run() == 1
    err = capsys.readouterr().err
    assert "not UTF-8" in err
    assert "Traceback" not in err
    assert not (here / "out").exists()


@pytest.mark.parametrize("change", ["mark", "crlf", "cr"])
def test_marks_and_line_ends_make_no_difference(here: Path, definitions: Path, change: str) -> None:
    assert run("-q") == 0
    before = tree(here / "out")
    for path in (definitions, here / "ops/native/tags.yaml"):
        data = path.read_bytes()
        ends = {"mark": b"\n", "crlf": b"\r\n", "cr": b"\r"}[change]
        path.write_bytes((b"\xef\xbb\xbf" if change == "mark" else b"") + data.replace(b"\n", ends))
    assert run("-q") == 0
    assert tree(here / "out") == before


def test_aliases_that_stand_for_a_billion_nodes(
    here: Path, definitions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["- &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    definitions.write_text("\n".join(lines) + "\n")
    started = time.monotonic()
    assert run() == 1
    assert time.monotonic() - started < 20
    assert "too many nodes" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[" * 20_000, "- " * 20_000, "{a: " * 20_000, "- func: f(" + "Tensor?[]" * 20_000])
def test_deep_nesting(here: Path, definitions: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    definitions.write_text(text)
    assert run() == 1
    err = capsys.readouterr().err
    assert "error: " in err
    assert "Traceback" not in err


def test_mistakes_without_end(here: Path, definitions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A long file in which every entry is wrong takes time in proportion to its length."""
    entry = "- func: f{}(Tenosr self) -> Tensor\n  varients: x\n"
    definitions.write_text("".join(entry.format(n) for n in range(4_000)))
    started = time.monotonic()
    assert run() == 1
    assert time.monotonic() - started < 60
    assert "Traceback" not in capsys.readouterr().err


@posix
def test_a_definitions_file_of_50_megabytes(here: Path, definitions: Path, environment: dict[str, str]) -> None:
    """Of comments and one long text: read to its end, in memory of a few times its size."""
    definitions.write_text(definitions.read_text() + "\n# comment" * 5_000_000 + "\n")
    # What all children of this process took is no measure: compilers that other tests ran are among them.
    process = os.posix_spawn(sys.executable, [sys.executable, "-m", "opgen.gen", *FLAGS, "--quiet"], environment)
    _, status, used = os.wait4(process, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert used.ru_maxrss < 1_500_000
