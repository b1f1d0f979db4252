"""Every code block of README.md and docs/ runs, or says why it doesn't (`tests.docs.blocks`)."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from tests.compilers import QUICK
from tests.docs.blocks import ACTIONS, Block, read_blocks, workspace_of
from tests.sharing import Share

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
FEW: Final = 14
"""Most blocks that don't run."""


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# ------------------------------------------------------------------------------ every block says what it is


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_what_to_do_with_it(page: Path) -> None:
    blocks = list(read_blocks(page, ROOT))
    unsaid = [block.place for block in blocks if block.action not in ACTIONS]
    assert not unsaid, f"say above these blocks what to do with them (tests/docs/blocks.py): {', '.join(unsaid)}"
    for block in blocks:
        assert block.value or block.action in ("run", "session", "program"), block.place
        if block.action == "covered by":
            test = (ROOT / block.value).read_text(encoding="utf-8")
            assert page.name in test, f"{block.place}: {block.value} doesn't read {page.name}"


def test_few_blocks_do_not_run() -> None:
    left = [
        f"{block.place}: {block.value}"
        for page in PAGES
        for block in read_blocks(page, ROOT)
        if block.action == "not run"
    ]
    assert len(left) <= FEW, "\n".join(left)
    assert all(len(each.split()) > 4 for each in left), "give a reason"


# ------------------------------------------------------------------------------ workspaces


def opgen(*words: str, cwd: Path) -> None:
    subprocess.run([sys.executable, "-m", "opgen", *words], cwd=cwd, check=True, capture_output=True)


def make_project(folder: Path) -> None:
    """The project of `opgen new`, under the control of git, with another operator in its last commit."""
    opgen("new", "mylib", "--into", ".", cwd=folder)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com"]
    make_tiny_sources(folder / "ATen")
    definitions = folder / "ops" / "native" / "native_functions.yaml"
    begin = (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "Begin"], ["tag", "v1.0"])
    for command in (*begin, ["update-ref", "refs/remotes/origin/main", "v1.0"]):
        subprocess.run([*git, *command], cwd=folder, check=True)
    with definitions.open("a") as file:
        file.write("\n- func: mylib::scale(Tensor self, float by=2.0) -> Tensor\n  dispatch: {CPU: scale_cpu}\n")
    for command in (["commit", "-qam", "Add scale"], ["tag", "v1.1"]):
        subprocess.run([*git, *command], cwd=folder, check=True)


def make_definitions(folder: Path) -> None:
    """Definitions that come with opgen, as files beside each other and as a tree, and a tree with one operator."""
    packaged = ROOT / "opgen" / "packaged" / "ATen"
    shutil.copytree(packaged, folder / "ATen")
    for path in (packaged / "native").glob("*.yaml"):
        shutil.copy(path, folder)
    make_tiny_sources(folder / "scales")


def make_tiny_sources(folder: Path) -> None:
    """Definitions of torch's own kind, with one operator."""
    native = folder / "native"
    native.mkdir(parents=True)
    (native / "tags.yaml").write_text("[]\n")
    (native / "native_functions.yaml").write_text("- func: scale(Tensor self, float by=2.0) -> Tensor\n")


def copy_example(name: str, folder: Path) -> None:
    shutil.copytree(ROOT / "examples" / name, folder, dirs_exist_ok=True)


WORKSPACES: Final[Mapping[str, Callable[[Path], None]]] = MappingProxyType(
    {
        "project": make_project,
        "rational": lambda folder: copy_example("rational", folder),
        "definitions": make_definitions,
        "mlx": lambda folder: opgen("new", "mylib", "--mlx", "--into", ".", cwd=folder),
    }
)
"""How folders are filled that pages begin with; of `tutorial`, the tutorial's own page does it."""


# ------------------------------------------------------------------------------ running


class Runner:
    """Does what blocks say, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """The working directory: commands may change it."""
        path = [os.path.dirname(sys.executable), os.environ["PATH"]]
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join(path),
            "PYTHONPATH": str(ROOT),
            # Builds that take little time, rather than libraries that run fast.
            "CMAKE_BUILD_TYPE": "Quick",
            "CXXFLAGS": f"-O0 {QUICK}",
        }

    def do(self, block: Block) -> None:
        """Do what a block says; fails the test at the block's place."""
        __tracebackhide__ = True
        action = {
            "file": self.write,
            "append": self.append,
            "run": self.run,
            "session": self.run_session,
            "program": self.run_program,
            "in": self.find,
            "output of": self.compare,
        }.get(block.action)
        if action is not None and (problem := action(block)):
            pytest.fail(f"{block.place}: {problem}", pytrace=False)

    def write(self, block: Block) -> str:
        path = self.folder / block.value
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return ""

    def append(self, block: Block) -> str:
        with (self.folder / block.value).open("a", encoding="utf-8") as file:
            file.write(block.text)
        return ""

    def run(self, block: Block) -> str:
        for command, expected in commands_of(block.text):
            code, said = self.shell(command)
            if code:
                return f"{command}\n{said}"
            if not matches(expected, said):
                return f"{command}\nshould print\n{expected}\nand prints\n{said}"
        return ""

    def shell(self, command: str) -> tuple[int, str]:
        """The exit code of a command and what it says; where it goes, and what it exports, stays."""
        script = f"set -e\n{command}\n{{ pwd; env -0; }} > {shlex.quote(str(self.state))}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            folder, _, rest = self.state.read_text().partition("\n")
            self.folder = Path(folder)
            self.environment = dict(each.split("=", 1) for each in rest.split("\0") if "=" in each)
        return done.returncode, done.stdout

    @property
    def state(self) -> Path:
        return Path(self.environment.setdefault("TMPDIR", "/tmp")) / f"opgen-docs-{os.getpid()}"

    def run_session(self, block: Block) -> str:
        """Run a session of Python by doctest, in a process of its own."""
        program = (
            "import doctest, sys\n"
            "flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE\n"
            "doctest.ELLIPSIS_MARKER = '<...>'\n"
            "test = doctest.DocTestParser().get_doctest(sys.stdin.read(), {'__name__': '__main__'}, 'page', None, 0)\n"
            "sys.exit(doctest.DocTestRunner(optionflags=flags).run(test).failed > 0)\n"
        )
        assert list(doctest.DocTestParser().get_examples(block.text)), block.place
        return self.python(["-c", program], block.text.replace("…", "<...>"))

    def run_program(self, block: Block) -> str:
        return self.python(["-"], block.text)

    def python(self, arguments: list[str], text: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        return f"{done.stdout}\n{done.stderr}" if done.returncode else ""

    def find(self, block: Block) -> str:
        path = next((root / block.value for root in (self.folder, ROOT) if (root / block.value).exists()), None)
        if path is None:
            return f"there is no file '{block.value}'"
        return missing_lines(block.text, path.read_text(encoding="utf-8"), block.value)

    def compare(self, block: Block) -> str:
        return missing_lines(block.text, self.shell(f"{{ {block.value}; }} || true")[1], block.value)


def commands_of(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield each command with its output; without `$`, the whole text is one, whose output doesn't matter."""
    if not re.search(r"^\$ ", text, re.MULTILINE):
        yield text, None
        return
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output or None


def matches(expected: str | None, said: str) -> bool:
    """Whether an output is as a page shows it; white space at the ends of lines aside."""
    if expected is None:
        return True
    pattern = ".*".join(re.escape(part) for part in _trimmed(expected).split("…"))
    return re.fullmatch(pattern, _trimmed(said), re.DOTALL) is not None


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def missing_lines(text: str, where: str, name: str) -> str:
    """What to say about lines that are not in a text; leading white space, and what `…` stands for, aside."""
    found = [line.strip().removeprefix("$ ") for line in where.splitlines()]
    missing = [
        line
        for line in (each.partition("    # ")[0].strip() for each in text.splitlines())
        if line and line != "…" and not any(matches(line, each) for each in found)
    ]
    return f"not in {name}:\n" + "\n".join(missing) if missing else ""


# ------------------------------------------------------------------------------ tests


@pytest.fixture(scope="module")
def tutorial(share: Share) -> Path:
    """The project as it is at the end of the tutorial."""

    def make(folder: Path) -> None:
        runner = cached(folder, folder)
        for block in read_blocks(ROOT / "docs" / "tutorial.md", ROOT):
            runner.do(block)

    for tool, package in (("cmake", "cmake"), ("ninja", "ninja-build"), ("ccache", "ccache")):
        if shutil.which(tool) is None:
            pytest.fail(f"'{tool}' is missing: run 'apt-get install {package}'", pytrace=False)
    return share.folder("tutorial", make) / "mylib"


def cached(folder: Path, base: Path) -> Runner:
    """A runner whose builds share a compiler cache with those of other folders in `base`."""
    runner = Runner(folder)
    variables = {
        "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
        "CCACHE_DIR": str(base / "cache"),
        "CCACHE_BASEDIR": str(base),
    }
    runner.environment.update(variables)
    return runner


def test_the_tutorial_runs_as_written(tutorial: Path) -> None:
    assert (tutorial / "build" / "python" / "mylib" / "__init__.py").is_file()


def test_a_build_with_nothing_to_do_does_nothing(tutorial: Path, tmp_path: Path) -> None:
    """It runs neither the generator nor the compiler; what it installs is complete."""
    runner = cached(tutorial, tutorial.parent)
    assert runner.shell("cmake --build build")[0] == 0
    code, said = runner.shell("cmake --build build")
    assert code == 0
    assert "ninja: no work to do" in said
    assert "opgen" not in said
    assert runner.shell(f"cmake --install build --prefix {tmp_path / 'site'}")[0] == 0
    program = "import mylib, torch; assert mylib.scaled_add(torch.ones(2), torch.ones(2), scale=3).tolist() == [4, 4]"
    code, said = runner.shell(f"cd {tmp_path}; PYTHONPATH=site python -c '{program}'")
    assert code == 0, said


def test_builds_in_two_folders_share_a_compiler_cache(tutorial: Path) -> None:
    """Every compiler call of the second build is answered by the cache: sources name no folder of the first."""
    again = tutorial.parent / "again"
    shutil.copytree(tutorial, again, ignore=shutil.ignore_patterns("build", "site", "generated*"))
    runner = cached(again, tutorial.parent)
    configure = 'cmake -G "Unix Makefiles" -S . -B build -Dopgen_DIR="$(opgen --cmake-dir)"'
    code, said = runner.shell(f"{configure} && ccache --zero-stats && cmake --build build")
    assert code == 0, said
    lines = runner.shell("ccache --print-stats")[1].splitlines()
    counts = {name: int(count) for name, count in (line.split("\t") for line in lines)}
    compiled = len(list((tutorial / "build").rglob("*.cpp.o")))
    assert counts["direct_cache_hit"] + counts["preprocessed_cache_hit"] == compiled >= 3
    assert counts["cache_miss"] == 0
    # A build with Make that has nothing to do runs neither the generator nor the compiler.
    said = runner.shell("cmake --build build")[1]
    assert "opgen" not in said
    assert "Building" not in said


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        if page.name != "tutorial.md" and any(b.action != "covered by" for b in read_blocks(page, ROOT))
    ],
    ids=name_of,
)
def test_the_blocks_of_a_page(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    name = workspace_of(page)
    folder = request.getfixturevalue("tutorial") if name == "tutorial" else tmp_path
    if name in WORKSPACES:
        WORKSPACES[name](folder)
    runner = Runner(folder)
    if name == "tutorial":
        runner.environment["PYTHONPATH"] += f"{os.pathsep}{folder / 'build' / 'python'}"
    for block in read_blocks(page, ROOT):
        runner.do(block)
