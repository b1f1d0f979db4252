"""The writer: only what changed, all or nothing, never outside its folders."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from expecttest import assert_expected_inline
from hypothesis import given
from hypothesis import strategies as st

from opgen.diagnostics import UserError
from opgen.output.files import OutputFile
from opgen.output.writer import WriteReport, write_files


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def message(write: Callable[[], object], folder: Path) -> str:
    with pytest.raises(UserError) as caught:
        write()
    text = "".join(diagnostic.render() for diagnostic in caught.value.diagnostics)
    return text.replace(str(folder), "DIR")


FILES = (OutputFile("a.h", "a\n"), OutputFile("ops/b.h", "é\n"), OutputFile("c.h", "c\n", root="aoti"))


def test_writes_then_rests(tmp_path: Path) -> None:
    roots: dict[str, str | Path] = {"install": tmp_path / "out", "aoti": str(tmp_path / "aoti/deep")}
    report = write_files(FILES, roots)
    assert tree(tmp_path) == {"aoti/deep/c.h": "c\n", "out/a.h": "a\n", "out/ops/b.h": "é\n"}
    assert (report.total, len(report.changed)) == (3, 3)

    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert write_files(FILES, roots) == WriteReport(3, ())
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_only_changes_are_written(tmp_path: Path) -> None:
    write_files([OutputFile("same", "1"), OutputFile("size", "1"), OutputFile("bytes", "1")], {"install": tmp_path})
    new = [OutputFile("same", "1"), OutputFile("size", "22"), OutputFile("bytes", "2"), OutputFile("new", "")]
    report = write_files(new, {"install": tmp_path})
    assert [os.path.basename(path) for path in report.changed] == ["bytes", "new", "size"]
    assert tree(tmp_path) == {"same": "1", "size": "22", "bytes": "2", "new": ""}


def test_dry_run_makes_nothing(tmp_path: Path) -> None:
    roots = {"install": tmp_path / "out", "aoti": tmp_path / "aoti"}
    report = write_files(FILES, roots, dry_run=True)
    assert (report.total, len(report.changed), report.dry_run) == (3, 3, True)
    assert list(tmp_path.iterdir()) == []


def test_paths_are_shown_as_the_user_named_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_files([OutputFile("a/b", "")], {"install": "out"}).changed == ("out/a/b",)
    assert write_files([OutputFile("c", "")], {"install": ""}).changed == ("c",)
    assert write_files([OutputFile("d", "")], {"install": "."}).changed == ("./d",)


def test_permissions(tmp_path: Path) -> None:
    write_files([OutputFile("a", "1")], {"install": tmp_path})
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o666 & ~umask
    (tmp_path / "a").chmod(0o640)
    write_files([OutputFile("a", "2")], {"install": tmp_path})
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("path", ["", "/etc/x", "../x", "a/../../x", "a/./b", "a//b", "a/", "a\\..\\b", "a\0b", ".."])
def test_refuses_paths_that_are_not_plain(tmp_path: Path, path: str) -> None:
    write = lambda: write_files([OutputFile("ok", ""), OutputFile(path, "")], {"install": tmp_path})  # noqa: E731
    assert "[output-outside-root]" in message(write, tmp_path)
    assert list(tmp_path.iterdir()) == []


@given(path=st.text("./\\ab\0", max_size=8))
def test_no_path_leaves_its_root(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    folder = tmp_path_factory.mktemp("outer")
    try:
        write_files([OutputFile(path, "")], {"install": folder / "root"})
    except UserError:
        assert list(folder.iterdir()) == []
    else:
        assert list(tree(folder)) == [f"root/{path}"]


def test_refuses_links_that_lead_out(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out/ops").symlink_to(tmp_path / "elsewhere")
    files = [OutputFile("a.h", ""), OutputFile("ops/deep/b.h", "")]
    roots = {"install": tmp_path / "out"}
    text = message(lambda: write_files(files, roots), tmp_path)
    assert_expected_inline(
        text,
        """\
opgen: error: 'DIR/out/ops/deep' is a link that leads outside 'DIR/out' [output-outside-root]
  it leads to 'DIR/elsewhere/deep'
""",
    )
    assert message(lambda: write_files(files, roots, dry_run=True), tmp_path) == text
    assert tree(tmp_path) == {}


def test_links_within_the_root_and_to_the_root_are_fine(tmp_path: Path) -> None:
    (tmp_path / "real/x").mkdir(parents=True)
    (tmp_path / "out").symlink_to("real")
    (tmp_path / "real/ops").symlink_to("x")
    write_files([OutputFile("ops/b.h", "b")], {"install": tmp_path / "out"})
    assert (tmp_path / "real/x/b.h").read_text() == "b"


def test_a_file_that_is_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a.h").symlink_to(tmp_path / "victim")
    write_files([OutputFile("a.h", "generated")], {"install": tmp_path / "out"})
    assert tree(tmp_path) == {"out/a.h": "generated", "victim": "mine"}


def test_same_path_twice(tmp_path: Path) -> None:
    roots = {"install": tmp_path, "headeronly": tmp_path / "core"}
    same = [OutputFile("core/t.h", "t"), OutputFile("t.h", "t", root="headeronly")]
    assert write_files(same, roots).total == 1
    with pytest.raises(UserError, match="two files would be called"):
        write_files([*same, OutputFile("t.h", "other", root="headeronly")], roots)


def test_what_the_system_refuses(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder/x").mkdir(parents=True)
    texts = [
        message(lambda: write_files([OutputFile("a.h", "")], {"install": tmp_path / "file"}), tmp_path),
        message(lambda: write_files([OutputFile("a.h", "")], {"install": tmp_path / "file/under"}), tmp_path),
        message(lambda: write_files([OutputFile("x", "")], {"install": tmp_path / "folder"}), tmp_path),
        message(lambda: write_files([OutputFile("x", "\ud800")], {"install": tmp_path}), tmp_path),
    ]
    assert_expected_inline(
        "".join(texts),
        """\
opgen: error: can't make the folder 'DIR/file': 'DIR/file' is a file, not a folder [output-not-written]
opgen: error: can't make the folder 'DIR/file': 'DIR/file' is a file, not a folder [output-not-written]
opgen: error: can't write 'DIR/folder/x': it is a folder [output-not-written]
opgen: error: can't write 'DIR/x': it has the character U+D800, which UTF-8 can't encode [output-not-encodable]
""",
    )
    assert tree(tmp_path) == {"file": ""}


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["mkdir", "replace"])
def test_a_failure_leaves_old_files_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, step: str
) -> None:
    write_files([OutputFile("a", "old a"), OutputFile("b", "old b")], {"install": tmp_path})

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((UserError, KeyboardInterrupt)) as caught:
        write_files([OutputFile("a", "new a!"), OutputFile("b", "new b!")], {"install": tmp_path})
    assert tree(tmp_path) == {"a": "old a", "b": "old b"}
    if isinstance(failure, OSError):
        assert str(caught.value).endswith("No space left on device [output-not-written]")


@contextmanager
def small_files_only() -> Iterator[None]:
    """Makes the system refuse files of more than 1,000 bytes, after it has taken as many."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        yield
    finally:
        # Before pytest reports, whose output may be a longer file.
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_that_can_be_written_only_in_part(tmp_path: Path) -> None:
    write_files([OutputFile("a", "old a"), OutputFile("b", "old b")], {"install": tmp_path})
    files = [OutputFile("a", "new a!"), OutputFile("b", "b" * 5000)]
    with small_files_only():
        text = message(lambda: write_files(files, {"install": tmp_path}), tmp_path)
    assert text == "opgen: error: can't write 'DIR/b': File too large [output-not-written]\n"
    assert tree(tmp_path) == {"a": "old a", "b": "old b"}
