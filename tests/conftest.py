"""What all tests share: where torch's definitions are, and which generator is under test.

The tests that run a generator can be pointed at another one, to see that they themselves hold:

    python -m pytest tests/conformance/test_flags.py tests/compile --generator torchgen.gen

fails only where torchgen writes outside the folders that were named.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from xdist.scheduler import LoadFileScheduling

from tests import reaper
from tests.sharing import Share

BEGAN: Final = pytest.StashKey[float]()
QUICK: Final = ("tests/unit/", "tests/golden/", "tests/property/")
"""Tests that come first: they take about a minute in all, and most mistakes show in them."""
SLOWEST_FIRST: Final = (
    *("tests/extension/test_authors.py", "tests/extension/test_project.py", "tests/extension/"),
    "tests/stable/",
    "tests/compile/",
    "tests/test_types.py",
    "tests/docs/",
    "tests/desk/",
    "tests/mlx/",
    *("tests/packaged/test_derivatives.py", "tests/packaged/test_wheel.py"),
    "tests/conformance/test_flags.py",
    "tests/conformance/",
    "tests/as_torchgen/",
    "tests/autoheuristic/",
    "tests/incremental/",
    "tests/faults/",
    "tests/packaged/",
)
"""The order of the other tests: the slowest first, so that several processes end together.

The first two share nothing that one process would have to wait for.
"""
ONE_BY_ONE: Final = ("tests/compile/", "tests/conformance/test_flags.py", "tests/extension/test_project.py")
"""Long tests that are given out one at a time; others by file, so that what a module sets up is set up once."""


class Schedule(LoadFileScheduling):  # type: ignore[misc]
    """Gives tests to processes in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid.startswith(ONE_BY_ONE) else str(super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Schedule | None:
    """For `-n` without `--dist`."""
    if config.getoption("dist") != "load":
        return None
    config.option.loadscopereorder = False  # files with most tests first
    return Schedule(config, log)


MINUTES: Final = 20
"""How long all tests take on two cores of the machine that runs them for every change."""
MEASURED: Final = "opgen/minutes"
"""Where pytest's cache has how long they took here."""


def pytest_configure(config: pytest.Config) -> None:
    """End the compilers and generators of a session that is stopped; keep the byte code of what the session runs."""
    if not hasattr(config, "workerinput"):
        # Images for containers often set this; each of the session's many processes would then compile opgen again.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False
        reaper.start()


def pytest_report_header(config: pytest.Config) -> str:
    """Say how long to wait."""
    cache: pytest.Cache | None = getattr(config, "cache", None)
    measured = None if cache is None else cache.get(MEASURED, None)
    last = f"took {measured} minutes the last time here" if measured else f"take about {MINUTES} minutes on two cores"
    return (
        f"opgen: all tests {last} (-n auto), the quick ones come first;\n"
        "       tests/unit and tests/golden alone take a minute"
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note when the session began."""
    session.config.stash[BEGAN] = time.monotonic()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep how long all tests took, for the next session's header."""
    config = session.config
    cache: pytest.Cache | None = getattr(config, "cache", None)
    is_whole = not config.option.keyword and config.args == config.getini("testpaths")
    if is_whole and exitstatus == 0 and cache is not None and not hasattr(config, "workerinput"):
        cache.set(MEASURED, round((time.monotonic() - config.stash[BEGAN]) / 60) or 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put quick tests first, then the slowest ones."""
    items.sort(key=lambda item: _rank(item.nodeid))


def _rank(nodeid: str) -> int:
    if nodeid.startswith(QUICK):
        return -1
    return next((rank for rank, prefix in enumerate(SLOWEST_FIRST) if nodeid.startswith(prefix)), len(SLOWEST_FIRST))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--generator", default="opgen.gen", metavar="MODULE", help="the module to compare with torchgen")


@pytest.fixture(scope="session")
def generator(request: pytest.FixtureRequest) -> str:
    """The module under test, as in `python -m MODULE`."""
    return str(request.config.getoption("--generator"))


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds `opgen/` and `tests/`."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that run in the process of the test use as many processes as `--jobs` says, as `tests.forking` does."""
    monkeypatch.setattr("opgen.run.work.WORTH_FORKING", 0)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own, as pytest's fixture of this name gives it, but which stays until the session ends.

    ext4 takes ten times as long to make a file in the minutes after many were removed.
    """
    return tmp_path_factory.mktemp(re.sub(r"\W", "_", request.node.name)[:30])


@pytest.fixture(scope="session")
def torch_source() -> Path:
    """The operator definitions and templates that come with the installed torch.

    Most of the suite compares with them: without torch nothing would be tested, so this fails and doesn't skip.
    """
    spec = importlib.util.find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        pytest.fail("torch isn't installed: pip install -e '.[test]'", pytrace=False)
    source = Path(spec.submodule_search_locations[0]) / "packaged" / "ATen"
    if not (source / "native" / "native_functions.yaml").is_file():
        pytest.fail(f"the installed torch has no operator definitions in {source}", pytrace=False)
    return source


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all test processes of the session have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


@pytest.fixture(scope="session")
def share(session_folder: Path) -> Share:
    """What all test processes have in common."""
    return Share(session_folder)


@pytest.fixture(scope="session")
def type_check(session_folder: Path) -> Callable[..., tuple[int, str]]:
    """Runs `mypy --strict` in a folder: its exit code, and what it says.

    To learn what torch is takes it half a minute, so all test processes share what it has learnt.
    """
    known = session_folder / "mypy"
    known.mkdir(exist_ok=True)

    def check(folder: Path, *arguments: str | os.PathLike[str], path: str | os.PathLike[str] = "") -> tuple[int, str]:
        command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", known, *arguments]
        environment = {**os.environ, "MYPYPATH": os.fspath(path)}
        with (known / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
            )
        return done.returncode, done.stdout

    return check
