"""`opgen check`: report whether `opgen gen` would change the folders on disk; write nothing.

    python -m opgen check --source-path ops --install-dir out

takes the flags of `opgen gen`, and reads definitions as it does.  The exit code is 0 if nothing would change, 1 if
something would (stdout has a unified diff, grouped by operator; with `--format json` or `sarif` a diagnostic for each
file), and 2 if the definitions or flags are wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from opgen.api import cpp
from opgen.commands._gen_flags import add_gen_flags, read_request
from opgen.commands._mlx import names_in_mlx
from opgen.commands.gen import load_generation, load_mlx, mlx_folder
from opgen.diagnostics import Diagnostics
from opgen.output.check import Difference, as_diagnostic, compare, compare_text, read_lines, render_by_operator
from opgen.output.console import count
from opgen.output.emitter import collect_files
from opgen.output.files import OutputFile
from opgen.output.writer import PlacedFile
from opgen.program.program import Program
from opgen.run.command import Command, Group, Result
from opgen.run.record import RunRecord
from opgen.run.work import Work


def load(options: argparse.Namespace, log: Diagnostics) -> Result | None:
    """Compare; return None, with errors logged, if the inputs are wrong."""
    request = read_request(options, log)
    source = mlx_folder(request, log)
    names: Mapping[str, str] = {}
    if source is not None:
        mlx = load_mlx(source, request, log)
        work, names = (None, names) if mlx is None else (mlx.work, names_in_mlx(mlx.library))
    else:
        generation = load_generation(request, log)
        work, names = (None, names) if generation is None else (generation.work, names_of(generation.program))
    if work is None or log.has_errors:
        return None
    files = collect_files(work.emitters)
    lists = list(work.lists([_placed(file, work.roots) for file in files]))
    differences = [*compare(files, work.roots)]
    differences += filter(None, (compare_text(os.fspath(path), text) for path, text in lists))
    differences += _obsolete(options, work, files, [path for path, _ in lists])
    if not differences:
        return Result("", diagnostics=())
    listing = render_by_operator(differences, names)
    total = len(files) + len(lists)
    step = "next: 'opgen gen' with the same flags writes them\n" if sys.stdout.isatty() else ""
    text = f"{listing}{count(len(differences), 'file')} of {total:,} would change\n{step}"
    return Result(text, code=1, diagnostics=tuple(map(as_diagnostic, differences)))


def _placed(file: OutputFile, roots: Mapping[str, Path]) -> PlacedFile:
    """Return the `PlacedFile` of a file that is not written."""
    path = os.path.join(roots[file.root], file.path)
    return PlacedFile(path, file.root, file.path, file.group, digest="", staged_path=None, changed=False)


def _obsolete(
    options: argparse.Namespace, work: Work, files: Sequence[OutputFile], lists: Sequence[Path]
) -> list[Difference]:
    """Return the files that a run would remove."""
    record = RunRecord("gen", (), options)
    record.load(work.roots["install"])
    written = [os.path.join(work.roots[file.root], file.path) for file in files]
    written += [os.fspath(path) for path in (*lists, options.depfile) if path is not None]
    removed = ((path, read_lines(path)) for path in record.obsolete(written))
    return [Difference(path, old, None) for path, old in removed if old is not None]


def names_of(program: Program) -> Mapping[str, str]:
    """Return the C++ names that identify operators, with the root name of the operator."""
    names: dict[str, str] = {}
    roots = {function.func.name: function.root_name for function in program.functions}
    for index in program.backend_indices.values():
        names.update({kernel.kernel: roots[name] for name, kernel in index.index.items()})
    for function in program.functions:
        name = function.func.name
        for alias in (function.root_name, str(name.name), name.unambiguous_name(), cpp.name(function.func)):
            names[alias] = function.root_name
    return names


COMMAND: Final = Command(
    name="check",
    group=Group.REVIEW,
    summary="show what gen would change; takes the flags of gen",
    produces="Prints a unified diff grouped by operator, and writes nothing.  The exit code is 0 if nothing would "
    "change, 1 if something would, 2 if the definitions are wrong.",
    add_flags=add_gen_flags,
    load=load,
    error_code=2,
)
