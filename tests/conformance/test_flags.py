"""torchgen and opgen side by side, on torch's own definitions, over every flag: the same files, the same tokens."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.conformance.compare import EqualTexts, TreeReport, compare_trees
from tests.conformance.flagsets import FLAGSETS, FlagSet
from tests.conformance.runs import Run, files_and_folders, oracle_run, run_command, run_flagset

if TYPE_CHECKING:
    from pathlib import Path

WRITING = tuple(
    flagset for flagset in FLAGSETS.values() if flagset.install_dir and "--dry-run" not in flagset.arguments
)
DRY = tuple(flagset for flagset in FLAGSETS.values() if "--dry-run" in flagset.arguments)


def _names(flagset: FlagSet) -> str:
    return flagset.name


def _fail_unless_same(flagset: FlagSet, reports: dict[str, TreeReport]) -> None:
    texts = [f"{folder}: {report.render(show=5)}" for folder, report in reports.items() if not report.is_same]
    if texts:
        pytest.fail("\n\n".join([f"flags: {' '.join(flagset.arguments) or '(none)'}", *texts]), pytrace=False)


def _fail_unless_finished(run: Run) -> None:
    if run.code != 0 or "Traceback" in run.err:
        pytest.fail(f"exit code {run.code}\n{run.out}\n{run.err}", pytrace=False)


@pytest.mark.parametrize("flagset", WRITING, ids=_names)
def test_writes_what_torchgen_writes(
    flagset: FlagSet, generator: str, torch_source: Path, equals: EqualTexts, tmp_path: Path
) -> None:
    expected = oracle_run(flagset, torch_source)
    run = run_flagset(generator, flagset, torch_source, tmp_path / "opgen")
    _fail_unless_finished(run)
    named = [folder for folder in flagset.folders() if not folder.endswith(".cwd")]
    reports = {folder: compare_trees(expected / folder, run.root / folder, equals=equals) for folder in named}
    _fail_unless_same(flagset, reports)
    # torchgen puts C shims into the working directory when no folder is named for them. Nobody asked it to.
    assert files_and_folders(run.root / f"{flagset.name}.cwd") == []
    assert {path.name for path in run.root.iterdir()} <= set(flagset.folders())


@pytest.mark.parametrize("flagset", DRY, ids=_names)
def test_dry_run_makes_nothing(flagset: FlagSet, generator: str, torch_source: Path, tmp_path: Path) -> None:
    run = run_flagset(generator, flagset, torch_source, tmp_path / "opgen")
    _fail_unless_finished(run)
    made = [path for path in files_and_folders(run.root) if ".deps" not in path]
    assert made == [f"{flagset.name}.cwd"], "a dry run made files or folders"
    if ".deps" in flagset.suffixes:
        lists = f"{flagset.name}.deps"
        expected = oracle_run(flagset, torch_source) / lists
        _fail_unless_same(flagset, {lists: compare_trees(expected, run.root / lists)})


def test_install_folder_by_default(generator: str, torch_source: Path, tmp_path: Path) -> None:
    flagset = FLAGSETS["bare"]
    expected = oracle_run(flagset, torch_source)
    run = run_flagset(generator, flagset, torch_source, tmp_path / "opgen")
    _fail_unless_finished(run)
    cwd = f"{flagset.name}.cwd"
    _fail_unless_same(flagset, {"build": compare_trees(expected / cwd / "build", run.root / cwd / "build")})
    assert [path.name for path in (run.root / cwd).iterdir()] == ["build"]


@pytest.fixture(scope="module")
def shims(generator: str, torch_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of C shims, headers and all, as a source tree would keep them."""
    root = tmp_path_factory.mktemp("shims")
    run = run_flagset(generator, FLAGSETS["update_shim"], torch_source, root)
    _fail_unless_finished(run)
    return root / "update_shim.aoti"


def _checked_shims(generator: str, source: Path, root: Path) -> Run:
    """A run that may not update the shims' headers in `root/aoti`."""
    arguments = ["-d", str(root / "out"), "--aoti-install-dir", str(root / "aoti"), "--generate", "sources"]
    command = [*FlagSet("checked", install_dir=False).command(generator, source), *arguments]
    return run_command(command, root)


def test_shim_headers_that_fit_are_left_alone(generator: str, torch_source: Path, shims: Path, tmp_path: Path) -> None:
    shutil.copytree(shims, tmp_path / "aoti")
    before = {path.name: path.read_bytes() for path in (tmp_path / "aoti").iterdir()}
    _fail_unless_finished(_checked_shims(generator, torch_source, tmp_path))
    assert {path.name: path.read_bytes() for path in (tmp_path / "aoti").iterdir()} == before


@pytest.mark.parametrize("change", ["added", "removed", "changed"])
def test_shim_header_that_would_change_is_an_error(
    change: str, generator: str, torch_source: Path, shims: Path, tmp_path: Path
) -> None:
    """The header is an ABI: a run without --update-aoti-c-shim says what would change and writes nothing."""
    (tmp_path / "aoti").mkdir()
    header = tmp_path / "aoti" / "c_shim_cpu.h"
    text = (shims / header.name).read_text(encoding="utf-8")
    target = next(line for line in text.splitlines() if "aoti_torch_cpu__cdist_backward(" in line)
    other = {"added": f"{target}\nint extra;", "removed": "", "changed": target.replace("grad,", "grad, int more,")}
    header.write_text(text.replace(target, other[change]), encoding="utf-8")
    before = header.read_bytes()
    run = _checked_shims(generator, torch_source, tmp_path)
    assert run.code == 1
    said = run.out + run.err
    assert "Traceback" not in said
    assert "c_shim_cpu.h" in said
    assert "--update-aoti-c-shim" in said
    assert files_and_folders(tmp_path) == ["aoti", "aoti/c_shim_cpu.h"]
    assert header.read_bytes() == before
