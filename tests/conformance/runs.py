"""Running a generator in a process of its own: a flag set and a root folder -> exit code, output, folders.

    python -m tests.conformance.runs        runs torchgen for each flag set whose results are missing in the test cache

What torchgen writes depends on torch's version and the flag set alone, so the cache of `tests.fetch` keeps it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.conformance.compare import is_kept_by_opgen
from tests.conformance.flagsets import DATA, DEFINITIONS, FLAGSETS
from tests.fetch import cache_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.conformance.flagsets import FlagSet

REPOSITORY: Final = Path(__file__).resolve().parents[2]
ORACLE: Final = "import gc, torchgen.gen; gc.disable(); torchgen.gen.main()"
"""torchgen, which doesn't live long enough to need its garbage collected: that is a tenth of its time."""
TAGS: Final = Path("native", "tags.yaml")
TIMEOUT_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run of a generator."""

    root: Path
    """Holds the folders of the flag set."""
    code: int
    out: str
    err: str


def run_command(command: Sequence[str], cwd: Path, environment: Mapping[str, str] | None = None) -> Run:
    """Run a command with this checkout importable; the result's root is its working directory."""
    inherited = dict(os.environ)
    paths = [str(REPOSITORY), *filter(None, [inherited.get("PYTHONPATH")])]
    inherited["PYTHONPATH"] = os.pathsep.join(paths)
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**inherited, **(environment or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    return Run(cwd, done.returncode, done.stdout, done.stderr)


def run_flagset(module: str, flagset: FlagSet, source: Path, root: Path) -> Run:
    """Run a generator on a flag set below a root folder; `source` holds torch's definitions and templates."""
    return _run(["-m", module], flagset, source, root)


def _run(program: Sequence[str], flagset: FlagSet, source: Path, root: Path) -> Run:
    root.mkdir(parents=True, exist_ok=True)
    if flagset.definitions:
        source = combined_source(flagset.definitions, source, root.parent / f"{root.name}.source")
    cwd = root / f"{flagset.name}.cwd"
    cwd.mkdir(parents=True)
    if ".deps" in flagset.suffixes:
        (root / f"{flagset.name}.deps").mkdir()
    run = run_command([sys.executable, *program, *flagset.command_line(source)], cwd)
    return Run(root, run.code, run.out, run.err)


def combined_source(definitions: str, torch_source: Path, target: Path) -> Path:
    """A source folder made of definitions of our own and torch's templates and tags."""
    shutil.copytree(torch_source / "templates", target / "templates")
    shutil.copytree(DEFINITIONS / definitions, target, dirs_exist_ok=True)
    if not (target / TAGS).exists():
        shutil.copy(torch_source / TAGS, target / TAGS)
    return target


def oracle_run(flagset: FlagSet, source: Path) -> Path:
    """The root folder of what torchgen writes for a flag set, taken from the test cache or made there."""
    kept = cache_folder() / "oracles" / f"torch-{version('torch')}" / f"{flagset.name}-{_key(flagset)}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as fresh:
            made = _checked(_run(["-c", ORACLE], flagset, source, Path(fresh) / "made"))
            _keep(made, kept)
    return kept


def _checked(run: Run) -> Path:
    if run.code != 0:
        raise RuntimeError(f"torchgen failed with exit code {run.code}:\n{run.err}")
    return run.root


def _keep(made: Path, kept: Path) -> None:
    try:
        made.rename(kept)
    except OSError:
        # Another test process was faster; its result is as good.
        if not kept.is_dir():
            raise
        shutil.rmtree(made)


def _key(flagset: FlagSet) -> str:
    digest = hashlib.sha256(repr((flagset.arguments, flagset.install_dir, flagset.suffixes)).encode())
    used = [path for path in DATA.iterdir() if any(path.name in argument for argument in flagset.arguments)]
    if flagset.definitions:
        used += [path for path in (DEFINITIONS / flagset.definitions).rglob("*") if path.is_file()]
    for path in sorted(used):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def files_and_folders(root: Path) -> list[str]:
    """Everything below a folder but what opgen keeps for itself, sorted; nothing when it isn't there."""
    names = (path.relative_to(root).as_posix() for path in root.rglob("*"))
    return sorted(name for name in names if not is_kept_by_opgen(name))


def main() -> None:
    """Run torchgen for each flag set that tests compare with and whose results are missing."""
    spec = find_spec("torchgen")
    assert spec is not None
    assert spec.submodule_search_locations
    source = Path(spec.submodule_search_locations[0]) / "packaged" / "ATen"
    compared = [each for each in FLAGSETS.values() if "--dry-run" not in each.arguments or ".deps" in each.suffixes]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(lambda flagset: oracle_run(flagset, source), compared))


if __name__ == "__main__":
    main()
