"""Runs the generator on a case's folder, and compares or rewrites what the case expects.

A case is a folder `cases/<name>/`:

    command        the module that is run; without it, `opgen.gen`
    flags          the command line after what `COMMANDS` gives each command, if there is more
    ops/           laid over `shared/ops/`: native/native_functions.yaml, native/tags.yaml, templates/,
                   and for the commands of autograd autograd/derivatives.yaml, autograd/deprecated.yaml
    anything else  is there as well when the run starts: a selection file, an old `out/`
    compare        patterns of the files under `expected/`, one a line; without it, all that is written

and what comes of it:

    exit_code      left out where it is 0
    stdout         with the time taken as `N s`, left out where it is empty
    stderr         left out where it is empty
    expected/      the files that were written
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from types import MappingProxyType
from typing import Final

from opgen.output.manifest import NAME as MANIFEST
from opgen.run.spine import run

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
SHARED = HERE / "shared"
_AUTOGRAD: Final = ("ops/native/native_functions.yaml", "ops/native/tags.yaml", "out", "ops/autograd")
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "opgen.gen": ("--source-path", "ops", "--install-dir", "out"),
        "opgen.gen_autograd": _AUTOGRAD,
        "opgen.gen_python": _AUTOGRAD,
        "opgen.gen_pyi": _AUTOGRAD,
        "opgen.gen_annotated_fn_args": _AUTOGRAD,
        "opgen.gen_static_runtime": ("--source-path", "ops", "--install-dir", "out"),
        "opgen.gen_mobile_upgraders": ("--install-dir", "out"),
        "opgen.decompositions": ("--install-dir", "out"),
        "opgen.fuse": ("--install-dir", "out"),
        "opgen.gen_unboxing": ("--source-path", "ops", "--install-dir", "out"),
        "opgen.autoheuristic": (),
        "opgen.select": (),
        "opgen.check_aoti_c_shim": ("aoti", "--source-path", "ops"),
        "opgen.gen_backend_stubs": ("--source-yaml", "backend.yaml", "--output-dir", "out"),
        "opgen.gen_lazy_tensor": ("--source-yaml", "backend.yaml", "--output-dir", "out"),
        "opgen.gen_mlx": ("--source-path", "mlx", "--install-dir", "out"),
        "opgen.import": (),
        "opgen.lsp": (),
    }
)
"""The commands that cases can run, with the arguments that each gets."""
OUTPUT = ("out", "aoti")
"""The folders that a run may write to."""
OUTCOME = ("exit_code", "stdout", "stderr", "expected")
"""What the harness writes; the rest of a case is input."""

Tree = dict[str, bytes | None]
"""Files with their bytes, and folders with None, by path."""


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    exit_code: int
    stdout: str
    stderr: str
    written: Tree
    """New and changed files below the output folders, as far as the case compares them."""
    strayed: tuple[str, ...]
    """What a run changed that it had no business to change."""

    def as_tree(self) -> Tree:
        """The outcome as the case's folder holds it."""
        texts = {"stdout": self.stdout, "stderr": self.stderr}
        if self.exit_code:
            texts["exit_code"] = f"{self.exit_code}\n"
        tree: Tree = {name: text.encode() for name, text in texts.items() if text}
        tree.update({f"expected/{path}": data for path, data in self.written.items()})
        return tree


def case_names() -> list[str]:
    """All cases, sorted."""
    return sorted(path.name for path in CASES.iterdir() if path.is_dir())


def run_case(name: str, work: Path) -> Outcome:
    """Runs the case `name` in the empty folder `work`."""
    _lay_out(CASES / name, work)
    before = read_tree(work)
    stdout, stderr = io.StringIO(), io.StringIO()
    with _inside(work), contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        exit_code = _run(_command(CASES / name), _flags(CASES / name))
    after = read_tree(work)
    changed = {path for path in before.keys() | after.keys() if before.get(path, b"") != after.get(path, b"")}
    is_dry = "--dry-run" in _flags(CASES / name)
    allowed = {path for path in changed if path.split("/")[0] in OUTPUT} if exit_code == 0 and not is_dry else set()
    return Outcome(
        exit_code,
        re.sub(r"[\d.]+ s$", "N s", stdout.getvalue(), flags=re.MULTILINE),
        stderr.getvalue(),
        _compared(CASES / name, {path: after[path] for path in allowed if after.get(path) is not None}),
        tuple(sorted(changed - allowed)),
    )


def expected_tree(name: str) -> Tree:
    """What the case `name` expects, as `Outcome.as_tree` gives it."""
    tree = read_tree(CASES / name)
    return {path: data for path, data in tree.items() if path.split("/")[0] in OUTCOME and data is not None}


def rewrite_case(name: str, work: Path) -> list[str]:
    """Makes what came of the case `name` what it expects; returns the paths that changed."""
    outcome = run_case(name, work)
    if outcome.strayed or outcome.exit_code == 70:
        raise SystemExit(f"{name}: exit code {outcome.exit_code}, strayed: {outcome.strayed}\n{outcome.stderr}")
    old, new = expected_tree(name), outcome.as_tree()
    for part in OUTCOME:
        target = CASES / name / part
        shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
    for path, data in new.items():
        target = CASES / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data or b"")
    return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))


def read_tree(folder: Path) -> Tree:
    """Everything below `folder` but opgen's manifest, which says when and where it was written."""
    found = sorted(path for path in folder.rglob("*") if path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes() for path in found}


def _lay_out(case: Path, work: Path) -> None:
    """Copies the shared input, then the case's own in its place: a folder may stand where a file is shared."""
    inputs = {path: data for path, data in read_tree(case).items() if path.split("/")[0] not in OUTCOME}
    for path, data in (read_tree(SHARED) | inputs).items():
        target = work / path
        if data is None:
            target.mkdir(parents=True, exist_ok=True)
        elif not any(other.startswith(f"{path}/") for other in inputs):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def _command(case: Path) -> str:
    path = case / "command"
    return path.read_text(encoding="utf-8").strip() if path.exists() else "opgen.gen"


def _run(command: str, flags: list[str]) -> int:
    return run(command.removeprefix("opgen."), [*COMMANDS[command], *flags])


def _flags(case: Path) -> list[str]:
    path = case / "flags"
    return shlex.split(path.read_text(encoding="utf-8")) if path.exists() else []


def _compared(case: Path, written: Tree) -> Tree:
    path = case / "compare"
    patterns = path.read_text(encoding="utf-8").split() if path.exists() else ["*"]
    inside = {name.partition("/")[2]: data for name, data in sorted(written.items())}
    return {name: data for name, data in inside.items() if any(fnmatch(name, pattern) for pattern in patterns)}


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    old = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(old)
