"""`opgen check`: say whether the folders on the disk are what `opgen gen` would write; write nothing.

    python -m opgen check -d out --per-operator-headers

takes the flags of `opgen gen`.  It ends with 0 if nothing would change; with 1 and a unified diff, grouped by
operator, if something would; and with 2 if the definitions or flags are wrong.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Final

from opgen.api import cpp
from opgen.commands._gen_flags import Request, add_gen_flags, read_request
from opgen.commands.gen import generate, load_aten, roots_of
from opgen.diagnostics import Diagnostics
from opgen.output.check import Difference, compare, read_lines, render_by_operator
from opgen.output.console import count
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.command import Answer, Command, Group
from opgen.run.inputs import find_inputs
from opgen.run.record import RunRecord


def load(given: argparse.Namespace, log: Diagnostics) -> Answer | None:
    """Compare; return None, with the reasons logged, if the inputs are wrong."""
    request = read_request(given, log)
    inputs = find_inputs(request.source_path, log, from_torch=request.from_torch)
    program = None if inputs is None else load_aten(inputs, request, log)
    if inputs is None or program is None or log.has_errors:
        return None
    files = generate(program, request.options, TemplateSet(inputs.templates))
    differences = [*compare(files, roots_of(request.options)), *_gone(given, request, files)]
    if not differences:
        return Answer("")
    listing = render_by_operator(differences, names_of(program))
    return Answer(f"{listing}{count(len(differences), 'file')} of {len(files):,} would change\n", code=1)


def _gone(given: argparse.Namespace, request: Request, files: Sequence[OutputFile]) -> list[Difference]:
    """Return the files that a run would remove."""
    roots = roots_of(request.options)
    record = RunRecord("gen", (), given)
    record.load(request.options.install_dir)
    others = [request.options.output_dependencies, given.depfile, request.install_list]
    written = [os.path.join(roots[file.root], file.path) for file in files] + [str(path) for path in others if path]
    gone = ((path, read_lines(path)) for path in record.gone(written))
    return [Difference(path, old, None) for path, old in gone if old is not None]


def names_of(program: Program) -> Mapping[str, str]:
    """Return the C++ names that identify operators, with the root name of the operator."""
    names: dict[str, str] = {}
    for index in program.backend_indices.values():
        roots = {function.func.name: function.root_name for function in program.functions}
        names.update({kernel.kernel: roots[name] for name, kernel in index.index.items()})
    for function in program.functions:
        name = function.func.name
        for spelled in (function.root_name, str(name.name), name.unambiguous_name(), cpp.name(function.func)):
            names[spelled] = function.root_name
    return names


COMMAND: Final = Command(
    name="check",
    group=Group.REVIEW,
    summary="say what gen would change; takes the flags of gen",
    add_flags=add_gen_flags,
    load=load,
    mistake_code=2,
)
