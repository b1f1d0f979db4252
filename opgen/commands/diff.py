"""`opgen diff`: show what changes between two versions of definitions, operator by operator.

    python -m opgen diff HEAD~1 --source-path ops              a revision and the working tree
    python -m opgen diff v1.0 v1.1 --source-path ops           two revisions
    python -m opgen diff old/ops new/ops                       two folders

OLD and NEW are revisions of the git repository that holds `--source-path`, folders that have `native/`, or
definitions files; NEW defaults to `--source-path` itself.  The other flags are those of `opgen gen` that determine
what it writes.  Nothing is written.  The exit code is 0, or with `--exit-code` 1 if something changes; 2 if
definitions or flags are wrong.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from opgen.commands._gen_flags import Request, add_content_flags, read_request
from opgen.commands._subject import definitions_folder, is_in_stable_abi, load_formulas
from opgen.commands.gen import load_generation
from opgen.desk.changes import compare_operators, render_markdown, render_text, to_json
from opgen.desk.facts import OperatorFacts, facts_of
from opgen.diagnostics import Diagnostic, Diagnostics, Note, Source, Span, UserError
from opgen.frozen_dataclass import dataclass
from opgen.output.diagnostic_formats import FORMATS
from opgen.output.emitter import collect_files
from opgen.output.files import OutputFile
from opgen.run.command import Command, Group, Result

_SHARD: Final = re.compile(r"_\d+(?=\.\w+$)")
_WHOLE: Final = re.compile(r"Everything(?=\.\w+$)")
_FUNCTIONS: Final = Path("native", "native_functions.yaml")


@dataclass(frozen=True, slots=True)
class Version:
    """The operators and files of one version of the definitions."""

    operators: Mapping[str, OperatorFacts]
    files: Mapping[str, str]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the versions to compare, and the flags of `gen`."""
    parser.add_argument("old", metavar="OLD", help="git revision, folder, or definitions file")
    parser.add_argument("new", metavar="NEW", nargs="?", help="the same; default: the definitions of --source-path")
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 if something changes")
    add_content_flags(parser, formats=(*FORMATS, "markdown"))


def load(options: argparse.Namespace, log: Diagnostics) -> Result | None:
    """Compare; return None, with errors logged, if the inputs are wrong."""
    if options.new is None and options.source_path is None and not options.from_torch:
        log.error("missing-file", "NEW is missing", label="--source-path names the definitions to compare with")
        return None
    if options.source_path is None and all(
        name is not None and Path(name).is_dir() for name in (options.old, options.new)
    ):
        options.source_path = Path(options.new)  # some flags need to know the definitions
    request = read_request(options, log)
    with ExitStack() as folders:
        versions = [_load_version(name, request, folders, log) for name in (options.old, options.new)]
    old, new = versions
    if old is None or new is None or log.has_errors:
        return None
    changes = compare_operators(old.operators, new.operators)
    files = _changed_files(old.files, new.files)
    code = int(options.exit_code and bool(changes or files))
    if options.format == "json":
        return Result(json.dumps(to_json(changes, files), indent=2) + "\n", code)
    render = render_markdown if options.format == "markdown" else render_text
    return Result(render(changes, files), code)


def _changed_files(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    return {
        path: "+" if path not in old else "-" if path not in new else "~"
        for path in {*old, *new}
        if old.get(path) != new.get(path)
    }


def _load_version(name: str | None, request: Request, folders: ExitStack, log: Diagnostics) -> Version | None:
    copies: list[_Copy] = []
    requested = request if name is None else _request_for(name, request, folders, copies, log)
    if requested is None:
        return None
    version_log = Diagnostics()
    try:
        return _read_version(requested, version_log)
    except UserError as problem:
        version_log.extend(problem.diagnostics)
        return None
    finally:
        log.extend(_with_user_names(each, copies) for each in version_log.all)


def _read_version(request: Request, log: Diagnostics) -> Version | None:
    generation = load_generation(request, log)
    if generation is None:
        return None
    files = collect_files(generation.work.emitters)
    formulas, has_cpp = load_formulas(request, log), not is_in_stable_abi(generation)
    return Version(facts_of(generation.program, formulas, has_cpp=has_cpp), _whole_files(files, request))


def _whole_files(files: Sequence[OutputFile], request: Request) -> dict[str, str]:
    """Return the texts of files by name; shards are replaced by the whole file.

    The folder of definitions, which `#line` directives name, is removed, so that it doesn't count as a difference.
    """
    folder = definitions_folder(request)
    prefix = "" if folder is None else f'"{folder.resolve().name}/'
    names = {file.path for file in files}
    whole = (f for f in files if not _SHARD.search(f.path) or _SHARD.sub("Everything", f.path) not in names)
    return {_WHOLE.sub("", file.path): file.text.replace(prefix, '"') if prefix else file.text for file in whole}


# --------------------------------------------------------------------------- what to compare


@dataclass(frozen=True, slots=True)
class _Copy:
    """A temporary file or folder, and its name in messages."""

    path: str
    name: str


def _with_user_names(diagnostic: Diagnostic, copies: Sequence[_Copy]) -> Diagnostic:
    """Return the diagnostic with temporary names replaced by the user's names."""

    def rename(text: str) -> str:
        for copy in copies:
            text = text.replace(copy.path, copy.name)
        return text

    def rename_span(span: Span | None) -> Span | None:
        return None if span is None else Source(rename(span.source.name), span.source.text).span(span.start, span.end)

    notes = tuple(Note(rename(n.message), rename_span(n.span), n.lines) for n in diagnostic.notes)
    span, message, label = rename_span(diagnostic.span), rename(diagnostic.message), rename(diagnostic.label)
    return replace(diagnostic, message=message, span=span, label=label, notes=notes)


def _request_for(
    name: str, request: Request, folders: ExitStack, copies: list[_Copy], log: Diagnostics
) -> Request | None:
    """Return the request for the definitions that `name` names."""
    path = Path(name)
    if path.is_dir():
        return replace(request, source_path=path, from_torch=False)
    base = request.source_path
    if path.is_file():
        definitions = definitions_folder(request)
        if definitions is None:
            return None
        source = _with_functions(path, definitions, folders)
        copies += (_Copy(str(source / _FUNCTIONS), str(path)), _Copy(str(source), str(definitions)))
        return replace(request, source_path=source)
    if base is None:
        notes = (Note("--source-path names the folder whose revisions are compared"),)
        raise UserError(Diagnostic("unknown-revision", f"'{name}' is not a file or folder", notes=notes))
    folder = _new_folder(folders)
    source = _extract(name, base, folder)
    copies += (_Copy(f"{folder}/", f"{name}:"), _Copy(str(folder), f"{name}:"))
    selection = request.selection_path
    if selection is not None and selection.resolve().is_relative_to(base.resolve()):
        selection = source / selection.resolve().relative_to(base.resolve())
    return replace(request, source_path=source, selection_path=selection)


def _new_folder(folders: ExitStack) -> Path:
    return Path(folders.enter_context(tempfile.TemporaryDirectory(prefix="opgen-diff-")))


def _with_functions(path: Path, base: Path, folders: ExitStack) -> Path:
    """Return a copy of the definitions in `base` whose operators are those of the file `path`."""
    folder = _new_folder(folders)
    for name in ("native", "autograd", "templates"):
        if (base / name).is_dir():
            shutil.copytree(base / name, folder / name)
    (folder / _FUNCTIONS).parent.mkdir(exist_ok=True)
    shutil.copyfile(path, folder / _FUNCTIONS)
    return folder


def _extract(revision: str, source: Path, folder: Path) -> Path:
    """Extract the folder `source` at a revision of its git repository into `folder`; return its path there."""
    top = _git(source, revision, "rev-parse", "--show-toplevel").decode().strip()
    below = source.resolve().relative_to(Path(top).resolve())
    commit = _git(source, revision, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    archive = _git(Path(top), revision, "archive", "--format=tar", commit.decode().strip(), "--", str(below))
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder / below


def _git(folder: Path, revision: str, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    except OSError as error:
        raise UserError(Diagnostic("unknown-revision", f"can't run git: {error.strerror}")) from None
    if done.returncode != 0:
        stderr = done.stderr.decode(errors="replace").strip() or "there is no such revision"
        notes = (Note(f"there is no file of this name, and git says: {stderr}"),)
        raise UserError(Diagnostic("unknown-revision", f"'{revision}' is not a file, folder or revision", notes=notes))
    return done.stdout


COMMAND: Final = Command(
    name="diff",
    group=Group.REVIEW,
    summary="show what changes between two versions of definitions",
    produces="Prints for each operator that changes its schema, signatures, kernels, gradients and tags, and "
    "whether callers or compiled code break.  Writes nothing.",
    add_flags=add_flags,
    load=load,
    error_code=2,
)
