"""Turns file values into files on disk: the only code of opgen that changes the disk.

    write_files([OutputFile("ops/add.h", "…")], {"install": "out"})
    →  WriteReport(total=1, changed=("out/ops/add.h",))

A file is written only if its bytes changed, so that a build does not compile again what is the same
as before.  All paths are checked before the first byte is written: none may leave its root folder.
Then all changed files are written beside their targets, under temporary names; only when the last
one is whole do they take their places, each in one step.  So a full disk or an interrupt leaves
the old files as they were.

Files that a former run left behind are not this module's business.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from opgen.diagnostics import Diagnostic, UserError
from opgen.output.files import OutputFile


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What a run wrote or, if it was a dry one, would have written."""

    total: int
    """Number of files, changed or not."""
    changed: tuple[str, ...]
    """Paths of the files that were new or had other bytes, sorted."""
    dry_run: bool = False
    """Whether nothing was touched."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A file and the place it goes to."""

    path: str
    """The root folder, as the user named it, and the file's path."""
    root: str
    """The root folder."""
    text: str


@dataclass(slots=True)
class _Staging:
    """Files that were written under temporary names and wait to take their places."""

    token: str = field(default_factory=lambda: secrets.token_hex(4))
    """Part of every temporary name, so that two runs at once don't meet."""
    waiting: list[tuple[str, str]] = field(default_factory=list)
    """Temporary path and target path of each file."""

    def add(self, target: _Target) -> None:
        """Writes `target` under its temporary name."""
        temporary = _temporary_path(target.path, self.token)
        self.waiting.append((temporary, target.path))
        try:
            with open(temporary, "xb") as file:
                file.write(_encoded(target))
            _keep_mode(target.path, temporary)
        except OSError as error:
            raise _explained("write", target.path, error) from None

    def commit(self) -> None:
        """Moves all files to their places."""
        while self.waiting:
            temporary, path = self.waiting[-1]
            try:
                os.replace(temporary, path)
            except OSError as error:
                raise _explained("write", path, error) from None
            self.waiting.pop()

    def discard(self) -> None:
        """Removes what did not get to its place."""
        for temporary, _ in self.waiting:
            with suppress(OSError):
                os.unlink(temporary)


def write_files(
    files: Iterable[OutputFile], roots: Mapping[str, str | os.PathLike[str]], *, dry_run: bool = False
) -> WriteReport:
    """Writes `files` below the folders that `roots` names; says what changed.

    All files are gathered before anything is touched.  A dry run only compares.
    """
    targets = _targets(files, {name: os.fspath(folder) for name, folder in roots.items()})
    _check_folders(targets)
    changed = [target for target in targets if _differs(target)]
    if not dry_run:
        _write(changed)
    return WriteReport(len(targets), tuple(sorted(target.path for target in changed)), dry_run)


def _targets(files: Iterable[OutputFile], roots: Mapping[str, str]) -> list[_Target]:
    """The places of `files`, one for each path."""
    # Two roots may name the same folder, or one inside the other, in different words.
    absolute = {name: os.path.abspath(root) for name, root in roots.items()}
    targets: dict[str, _Target] = {}
    for file in files:
        _check_path(file)
        place = f"{absolute[file.root]}/{file.path}"
        target = _Target(os.path.join(roots[file.root], file.path), roots[file.root], file.text)
        if targets.setdefault(place, target).text != file.text:
            raise AssertionError(f"two different texts for {place}")
    return list(targets.values())


def _check_path(file: OutputFile) -> None:
    parts = file.path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\\" in file.path or "\0" in file.path:
        message = f"output path {file.path!r} is no plain path below the folder '{file.root}'"
        raise UserError(Diagnostic("output-outside-root", message))


def _check_folders(targets: Iterable[_Target]) -> None:
    """Refuses folders that a link puts outside their root."""
    for folder, root in dict.fromkeys((os.path.dirname(target.path), target.root) for target in targets):
        # Also follows links in the front part of a path whose end doesn't exist yet.
        real_root, real = os.path.realpath(root), os.path.realpath(folder)
        if os.path.commonpath((real_root, real)) != real_root:
            message = f"'{folder}' is a link that leads outside '{root or os.curdir}'"
            raise UserError(Diagnostic("output-outside-root", message, label=f"it leads to '{real}'"))


def _differs(target: _Target) -> bool:
    """Whether the file on disk is missing or has other bytes."""
    try:
        status = os.stat(target.path)
        data = _encoded(target)
        if stat.S_ISDIR(status.st_mode):
            raise UserError(Diagnostic("output-not-written", f"can't write '{target.path}': it is a folder"))
        if status.st_size != len(data):
            return True
        with open(target.path, "rb", buffering=0) as file:
            return file.read() != data
    except FileNotFoundError:
        return True
    except NotADirectoryError:
        message = f"can't write '{target.path}': '{_file_in_the_way(target.path)}' is a file, not a folder"
        raise UserError(Diagnostic("output-not-written", message)) from None
    except OSError as error:
        raise _explained("read", target.path, error) from None


def _file_in_the_way(path: str) -> str:
    """The part of `path` that should be a folder and is something else."""
    parent = os.path.dirname(path)
    return parent if os.path.lexists(parent) or not parent else _file_in_the_way(parent)


def _write(targets: list[_Target]) -> None:
    for folder in dict.fromkeys(os.path.dirname(target.path) for target in targets):
        try:
            os.makedirs(folder or os.curdir, exist_ok=True)
        except OSError as error:
            raise _explained("make the folder", folder, error) from None
    staging = _Staging()
    try:
        for target in targets:
            staging.add(target)
        staging.commit()
    finally:
        staging.discard()


def _temporary_path(path: str, token: str) -> str:
    # In the target's own folder: only within one file system can a file be moved in one step.
    return f"{path}.{token}.tmp"


def _keep_mode(path: str, temporary: str) -> None:
    """Gives the new file the permissions of the one whose place it takes, if there is one."""
    with suppress(FileNotFoundError):
        os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode) & 0o777)


def _encoded(target: _Target) -> bytes:
    try:
        return target.text.encode()
    except UnicodeEncodeError as error:
        character = f"U+{ord(target.text[error.start]):04X}"
        message = f"can't write '{target.path}': it has the character {character}, which UTF-8 can't hold"
        raise UserError(Diagnostic("output-not-encodable", message)) from None


def _explained(verb: str, path: str, error: OSError) -> UserError:
    """An error of the operating system as a diagnostic."""
    return UserError(Diagnostic("output-not-written", f"can't {verb} '{path}': {error.strerror or error}"))
