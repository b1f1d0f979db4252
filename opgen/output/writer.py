"""Writes `OutputFile` values to disk: the only code in opgen that changes the disk.

    write_files([OutputFile("ops/add.h", "…")], {"install": "out"})
    →  WriteReport(total=1, changed=("out/ops/add.h",))

The writer replaces a file only if its bytes changed, so a build recompiles only what depends on the change.  No path
may be outside its root folder.  Changed files are first written to a staging folder, `.opgen-….tmp` in their root; when
all of them are complete, each is renamed into place.  So a full disk or an interrupt leaves the old files intact.  A
run that is killed leaves its staging folder behind, and the next run removes it.

Several processes may write to one `Target`: each calls `put` for its files, and the process that created the target
commits all of them.  Two runs with the same folders wait for each other.
"""

from __future__ import annotations

import errno
import importlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import MappingProxyType, TracebackType
from typing import Final, NamedTuple

from opgen.diagnostics import Diagnostic, UserError
from opgen.input_files import read_bytes, why_not_a_file
from opgen.output.files import OutputFile
from opgen.output.folder_lock import lock_folder
from opgen.output.manifest import FileState, digest
from opgen.output.report import WriteReport

__all__ = ["PlacedFile", "Target", "WriteReport", "write_files"]

_STAGING_PREFIX: Final = ".opgen-"
_STAGING_SUFFIX: Final = ".tmp"
_NO_FILES: Final[Mapping[str, FileState]] = MappingProxyType({})


class PlacedFile(NamedTuple):
    """A file that is up to date, or staged."""

    path: str
    """The file's path, beginning with the root folder as the user named it."""
    root: str
    """Name of the root."""
    name: str
    """The path below the root."""
    group: str | None
    digest: str
    staged_path: str | None
    """The staged file; None if its bytes didn't change."""
    changed: bool
    operator: str = ""
    """The base name of the operators in the file; empty if the file has operators of several names."""


def write_files(
    files: Iterable[OutputFile],
    roots: Mapping[str, str | os.PathLike[str]],
    *,
    dry_run: bool = False,
    beside: Target | None = None,
) -> WriteReport:
    """Write `files` below the folders that `roots` names, and report what changed.

    All paths are checked before anything is written.  A dry run only compares.  Folders that the target `beside`
    has locked aren't locked again.  Raises UserError if a file can't be written.
    """
    gathered = tuple(files)
    target = Target(roots, dry_run=dry_run, beside=beside)
    for file in gathered:
        target.check(file)
    with target:
        return target.commit(target.put(gathered))


class Target:
    """The folders that a run writes to; they are locked while the run writes."""

    def __init__(
        self,
        roots: Mapping[str, str | os.PathLike[str]],
        *,
        dry_run: bool = False,
        beside: Target | None = None,
    ) -> None:
        """Write below `roots`; don't lock what the target `beside` has locked."""
        self.previous_outputs: Mapping[str, FileState] = _NO_FILES
        """The state of files after earlier runs; unchanged files aren't read."""
        self._roots = {name: os.fspath(folder) for name, folder in roots.items()}
        self._dry_run = dry_run
        self._locked: set[str] = set() if beside is None else set(beside._locked)
        name = f"{_STAGING_PREFIX}{os.urandom(4).hex()}{_STAGING_SUFFIX}"
        self._staging = {root: os.path.join(root, name) for root in self._roots.values()}
        self._checked: set[tuple[str, str]] = set()
        self._made: list[str] = []
        self._locks = ExitStack()

    @property
    def is_dry_run(self) -> bool:
        """Whether nothing is written."""
        return self._dry_run

    def __enter__(self) -> Target:
        if not self._dry_run:
            try:
                self._open()
            except BaseException:
                self.__exit__(None, None, None)
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._dry_run:
            for root in set(self._roots.values()):
                remove_folder(self._staging_folder(root))
            for folder in reversed(self._made):
                with suppress(OSError):
                    os.rmdir(folder)  # fails unless the folder is empty
        self._locks.close()

    def _open(self) -> None:
        for root in sorted(set(self._roots.values()), key=os.path.realpath):
            self._make_folder(root or os.curdir)
            real = os.path.realpath(root)
            if real not in self._locked and self._locks.enter_context(lock_folder(root or os.curdir)):
                _remove_leftovers(root or os.curdir)
            self._locked.add(real)

    def _make_folder(self, folder: str) -> None:
        """Create the folder and its parents, and record the new ones."""
        missing: list[str] = []
        while folder and not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for path in reversed(missing):
            try:
                os.mkdir(path)
            except (FileExistsError, NotADirectoryError):
                if not os.path.isdir(path):  # otherwise another run has just created it
                    raise _not_a_folder(f"make the folder '{path}'", path) from None
            except OSError as error:
                raise _os_error("make the folder", path, error) from None
            else:
                self._made.append(path)

    def _staging_folder(self, root: str) -> str:
        return self._staging[root]

    def check(self, file: OutputFile) -> None:
        """Raise UserError for a path that isn't normalized, or that a symbolic link leads outside its root."""
        root, path = self._roots[file.root], file.path
        folder = path.rpartition("/")[0]
        parts = path.split("/")
        if "" in parts or "." in parts or ".." in parts or "\\" in path or "\0" in path:
            message = f"output path {path!r} is not a relative path inside the folder '{file.root}'"
            raise UserError(Diagnostic("output-outside-root", message))
        if (file.root, folder) not in self._checked:
            _check_folder(os.path.join(root, folder) if folder else root, root)
            self._checked.add((file.root, folder))

    def put(self, files: Iterable[OutputFile], share: int = 0) -> list[PlacedFile]:
        """Compare the files with those on the disk, and stage those that differ.

        `share` is the number of the calling process.  Raises UserError if a file can't be written.
        """
        placed: list[PlacedFile] = []
        made: set[str] = set()
        for file in files:
            self.check(file)
            root = self._roots[file.root]
            path = os.path.join(root, file.path)
            data = _encoded(path, file.text)
            name = digest(data)
            changed = self._differs(path, data, name)
            staged_path = None
            if changed and not self._dry_run:
                staging = self._staging_folder(root)
                staged_path = os.path.join(staging, f"{share}-{len(placed)}")
                if staging not in made:
                    _make_staging_folder(staging, path)
                made.add(staging)
                _write(staged_path, path, data)
            placed.append(PlacedFile(path, file.root, file.path, file.group, name, staged_path, changed, file.operator))
        return placed

    def _differs(self, path: str, data: bytes, name: str) -> bool:
        """Return whether the file on disk is missing or has other bytes."""
        try:
            status = os.stat(path)
        except FileNotFoundError:
            return True
        except NotADirectoryError:
            raise _not_a_folder(f"write '{path}'", os.path.dirname(path)) from None
        except OSError as error:
            raise _os_error("read", path, error) from None
        if (reason := why_not_a_file(status.st_mode)) is not None:
            raise _os_error("write", path, reason)
        if status.st_size != len(data):
            return True
        previous = self.previous_outputs.get(path)
        if previous is not None and (previous.mtime, previous.ctime) == (status.st_mtime_ns, status.st_ctime_ns):
            return previous.digest != name
        try:
            return read_bytes(path) != data
        except OSError as error:
            raise _os_error("read", path, error) from None

    def check_names(self, placed: Sequence[PlacedFile]) -> None:
        """Raise UserError if two outputs have the same path: `ops/add_native.h` may be for `add` or `add_native`."""
        self._unique_paths(placed)

    def commit(self, placed: Sequence[PlacedFile], obsolete: Mapping[str, FileState] = _NO_FILES) -> WriteReport:
        """Rename staged files into place, and remove the `obsolete` files of an earlier run.

        A file is removed only if it is unchanged since that run wrote it.  Raises UserError if that fails.
        """
        unique = self._unique_paths(placed)
        removed = [path for path, state in obsolete.items() if self._is_ours(path, state)]
        if not self._dry_run:
            for folder in dict.fromkeys(os.path.dirname(file.path) for file in unique if file.staged_path):
                self._make_folder(folder)
            for file in unique:
                if file.staged_path is not None:
                    _move(file.staged_path, file.path)
            self._remove(removed)
        changed = sorted(file.path for file in unique if file.changed)
        return WriteReport(len(unique), tuple(changed), self._dry_run, tuple(sorted(removed)))

    def replace(self, root: str, name: str, text: str) -> None:
        """Write one file immediately."""
        self.commit(self.put([OutputFile(name, text, root)], share=-1))

    def _unique_paths(self, placed: Sequence[PlacedFile]) -> list[PlacedFile]:
        # Two roots may name the same folder, or one inside the other, with different spellings.
        absolute = {name: os.path.abspath(root) for name, root in self._roots.items()}
        by_path: dict[str, PlacedFile] = {}
        for file in placed:
            first = by_path.setdefault(f"{absolute[file.root]}/{file.name}", file)
            if first.digest != file.digest:
                raise UserError(_named_twice(first, file))
        return list(by_path.values())

    def _is_ours(self, path: str, state: FileState) -> bool:
        """Return whether a file is below a root and unchanged since an earlier run wrote it."""
        roots = [os.path.realpath(root) for root in self._roots.values()]
        try:
            real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
            if not any(real.startswith(f"{root}{os.sep}") for root in roots) or os.path.islink(path):
                return False
            return digest(read_bytes(path)) == state.digest
        except (OSError, ValueError):  # such a path was never written by opgen
            return False

    def _remove(self, paths: Sequence[str]) -> None:
        """Remove files, and the folders below the roots that are then empty."""
        for path in paths:
            try:
                os.unlink(path)
            except OSError as error:
                raise _os_error("remove", path, error) from None
        for folder in sorted({os.path.dirname(path) for path in paths} - set(self._roots.values()), reverse=True):
            with suppress(OSError):
                os.rmdir(folder)


def _check_folder(folder: str, root: str) -> None:
    # realpath() also resolves links at the start of a path whose end doesn't exist yet.
    real_root, real = os.path.realpath(root), os.path.realpath(folder)
    if os.path.commonpath((real_root, real)) != real_root:
        message = f"'{folder}' is a link that leads outside '{root or os.curdir}'"
        raise UserError(Diagnostic("output-outside-root", message, label=f"it leads to '{real}'"))


def _remove_leftovers(root: str) -> None:
    """Remove the staging folders of runs that were killed: no other run uses this folder now."""
    try:
        names = os.listdir(root)
    except OSError:
        return
    for name in names:
        if name.startswith(_STAGING_PREFIX) and name.endswith(_STAGING_SUFFIX):
            remove_folder(os.path.join(root, name))


def remove_folder(path: str) -> None:
    """Remove a folder and its contents, ignoring errors."""
    with suppress(OSError):
        os.rmdir(path)  # a staging folder is empty after a run; otherwise import shutil, which is slow
        return
    if os.path.lexists(path):
        importlib.import_module("shutil").rmtree(path, ignore_errors=True)


def _make_staging_folder(folder: str, path: str) -> None:
    """Create the staging folder for the file `path` if it doesn't exist."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise _os_error("write", path, error) from None


def _write(staged_path: str, path: str, data: bytes) -> None:
    """Stage the new bytes of the file `path`, with the permissions of the old file."""
    try:
        handle = os.open(staged_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
        finally:
            os.close(handle)
        with suppress(FileNotFoundError):
            mode = stat.S_IMODE(os.stat(path).st_mode) & 0o777
            if mode != stat.S_IMODE(os.stat(staged_path).st_mode):
                os.chmod(staged_path, mode)
    except OSError as error:
        raise _os_error("write", path, error) from None


def _move(staged_path: str, path: str) -> None:
    try:
        try:
            os.replace(staged_path, path)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            # A folder below the root is on another file system, and renames are atomic only within one.
            beside = os.path.join(os.path.dirname(path), os.path.basename(os.path.dirname(staged_path)))
            importlib.import_module("shutil").copy2(staged_path, beside)
            os.replace(beside, path)
    except OSError as error:
        raise _os_error("write", path, error) from None


def _encoded(path: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        character = f"U+{ord(text[error.start]):04X}"
        message = f"can't write '{path}': it has the character {character}, which UTF-8 can't encode"
        raise UserError(Diagnostic("output-not-encodable", message)) from None


def _named_twice(first: PlacedFile, second: PlacedFile) -> Diagnostic:
    """Return the diagnostic for two operators whose names lead to the same file name."""
    names = " and ".join(f"'{name}'" for name in sorted({first.operator, second.operator}) if name)
    message = f"two files would be called '{second.path}', with different texts"
    return Diagnostic("output-twice", message, label=f"rename an operator: they are about {names}" if names else "")


def _not_a_folder(action: str, path: str) -> UserError:
    """Return the error for a part of `path` that isn't a folder."""
    while path and not os.path.lexists(path):
        path = os.path.dirname(path)
    return UserError(Diagnostic("output-not-written", f"can't {action}: '{path}' is a file, not a folder"))


def _os_error(verb: str, path: str, error: OSError) -> UserError:
    """Convert an `OSError` to a `UserError`."""
    return UserError(Diagnostic("output-not-written", f"can't {verb} '{path}': {error.strerror or error}"))
