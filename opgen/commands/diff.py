"""`opgen diff`: say what changes between two definitions files: operators, registrations and generated files.

    python -m opgen diff OLD NEW --per-operator-headers

OLD and NEW are definitions files, folders that have `native/`, or revisions of the git repository that holds
`--source-path`; the other flags are those of `opgen gen`.  Nothing is written.  Shards count as one file, so that
it makes no difference which of them an operator is in.  The exit code is 0 if nothing changes, 1 if something does,
and 2 if the definitions or flags are wrong.

    operators
      ~ add.Tensor
          - add.Tensor(Tensor self, Tensor other) -> Tensor
          + add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
    registrations
      + CUDA add.Tensor: add_cuda
    files
      ~ RegisterCUDA.cpp
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from opgen.commands._gen_flags import Request, add_gen_flags, read_request
from opgen.commands.gen import generate, load_aten
from opgen.diagnostics import Diagnostic, Diagnostics, Note, Source, UserError
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.command import Answer, Command, Group
from opgen.run.inputs import Inputs, find_inputs

_SHARD: Final = re.compile(r"_\d+(?=\.\w+$)")
_WHOLE: Final = re.compile(r"Everything(?=\.\w+$)")


@dataclass(frozen=True, slots=True)
class Summary:
    """What one definitions file gives; each by name."""

    operators: Mapping[str, str]
    registrations: Mapping[str, str]
    files: Mapping[str, str]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add what to compare, and the flags of `gen`."""
    parser.add_argument("old", metavar="OLD", help="definitions file, folder, or git revision")
    parser.add_argument("new", metavar="NEW", help="the same")
    add_gen_flags(parser)


def load(given: argparse.Namespace, log: Diagnostics) -> Answer | None:
    """Compare; return None, with the reasons logged, if the inputs are wrong."""
    request = read_request(given, log)
    old, new = (_summarize(name, request, log) for name in (given.old, given.new))
    if old is None or new is None:
        return None
    text = "".join(_render(old, new))
    return Answer(text, code=1 if text else 0)


def _render(old: Summary, new: Summary) -> Iterator[str]:
    for title, before, after in (
        ("operators", old.operators, new.operators),
        ("registrations", old.registrations, new.registrations),
        ("files", old.files, new.files),
    ):
        lines = list(_changes(before, after, shown=title != "files"))
        if lines:
            yield f"{title}\n{''.join(lines)}"


def _changes(before: Mapping[str, str], after: Mapping[str, str], *, shown: bool) -> Iterator[str]:
    for name in sorted({*before, *after}):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        mark = "+" if was is None else "-" if now is None else "~"
        yield f"  {mark} {name}\n"
        if shown:
            yield from (f"      {sign} {text}\n" for sign, text in (("-", was), ("+", now)) if text is not None)


def _summarize(name: str, request: Request, log: Diagnostics) -> Summary | None:
    inputs = _inputs_of(name, request, log)
    program = None if inputs is None else load_aten(inputs, request, log)
    if inputs is None or program is None:
        return None
    files = generate(program, request.options, TemplateSet(inputs.templates))
    return Summary(_operators(program), _registrations(program), _whole_files(files))


def _operators(program: Program) -> dict[str, str]:
    return {f"{each.namespace}::{each.func.name}": str(each.func) for each in program.functions}


def _registrations(program: Program) -> dict[str, str]:
    return {
        f"{key} {name}": f"{kernel.cpp_namespace}::{kernel.kernel}"
        for key, index in program.backend_indices.items()
        for name, kernel in index.index.items()
    }


def _whole_files(files: Sequence[OutputFile]) -> dict[str, str]:
    """The files by name; of a file in shards only the whole."""
    names = {file.path for file in files}
    kept = (file for file in files if _SHARD.sub("Everything", file.path) == file.path or not _is_shard(file, names))
    return {_WHOLE.sub("", file.path): file.text for file in kept}


def _is_shard(file: OutputFile, names: set[str]) -> bool:
    return _SHARD.sub("Everything", file.path) in names


# --------------------------------------------------------------------------- what to compare


def _inputs_of(name: str, request: Request, log: Diagnostics) -> Inputs | None:
    """The inputs of a run on what `name` names, with the templates and tags that the flags say."""
    path = Path(name)
    if path.is_dir():
        return find_inputs(path, log)
    base = find_inputs(request.source_path, log, from_torch=request.from_torch)
    if base is None or path.is_file():
        return None if base is None else Inputs(path, base.tags, base.templates)
    functions, tags = (_at_revision(name, where) for where in (base.functions, base.tags))
    return Inputs(functions, tags, base.templates)


def _at_revision(revision: str, path: Path | Source) -> Source:
    """The file as it was at a revision of the git repository that it is in."""
    assert isinstance(path, Path)
    command = ["git", "-C", str(path.parent), "show", "--end-of-options", f"{revision}:./{path.name}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
        problem = done.stderr.decode(errors="replace").strip()
    except OSError as error:
        raise UserError(Diagnostic("unknown-revision", f"can't run git: {error.strerror}")) from None
    if done.returncode != 0:
        notes = (Note(f"there is no file of this name, and git says: {problem}"),)
        raise UserError(Diagnostic("unknown-revision", f"'{revision}' is no file, folder or revision", notes=notes))
    try:
        return Source(f"{path} at {revision}", done.stdout.decode())
    except UnicodeDecodeError:
        raise UserError(Diagnostic("bad-encoding", f"'{path}' at {revision} is not UTF-8")) from None


COMMAND: Final = Command(
    name="diff",
    group=Group.REVIEW,
    summary="say what changes between two definitions files; takes the flags of gen",
    add_flags=add_flags,
    load=load,
    mistake_code=2,
)
