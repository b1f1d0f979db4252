"""Says whether the folders on the disk are what a run would write; touches nothing.

    python -m opgen check -d out --per-operator-headers

takes the flags of `opgen gen`, and ends with 0 if all is as it would be written, with 1 and a
unified diff, grouped by operator, if not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from opgen.api import cpp
from opgen.aten import generate, load, roots_of
from opgen.command_line import Request, read_request
from opgen.diagnostics import Diagnostics, UserError
from opgen.output.check import Difference, compare, read_lines, render_by_operator
from opgen.output.console import count
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.inputs import find_inputs
from opgen.run.record import record_of


def main(argv: Sequence[str]) -> int:
    """Runs the command; returns the exit code."""
    log = Diagnostics()
    try:
        request = read_request(argv, log)
        found = _check(argv, request, log)
    except UserError as problem:
        log.extend(problem.diagnostics)
        found = None
    if found is None:
        sys.stderr.write(log.render(with_remarks=False))
        return 1
    sys.stdout.write(found)
    return 1 if found else 0


def _check(argv: Sequence[str], request: Request, log: Diagnostics) -> str | None:
    """What differs, as text; None if the inputs are wrong."""
    inputs = find_inputs(request.source_path, log, from_torch=request.from_torch)
    program = None if inputs is None else load(inputs, request, log)
    if inputs is None or program is None:
        return None
    files = generate(program, request.options, TemplateSet(inputs.templates))
    differences = [*compare(files, roots_of(request.options)), *_gone(argv, request, files)]
    if not differences:
        return ""
    listing = render_by_operator(differences, names_of(program))
    return f"{listing}{count(len(differences), 'file')} of {len(files):,} would change\n"


def _gone(argv: Sequence[str], request: Request, files: Sequence[OutputFile]) -> list[Difference]:
    """Files that a run would remove."""
    roots = roots_of(request.options)
    record = record_of(argv, request)
    record.load(request.options.install_dir)
    others = [request.options.output_dependencies, request.depfile, request.install_list]
    written = [os.path.join(roots[file.root], file.path) for file in files] + [str(path) for path in others if path]
    gone = ((path, read_lines(path)) for path in record.gone(written))
    return [Difference(path, old, None) for path, old in gone if old is not None]


def names_of(program: Program) -> Mapping[str, str]:
    """The C++ names by which operators can be told, and the operator's root name for each."""
    names: dict[str, str] = {}
    for index in program.backend_indices.values():
        roots = {function.func.name: function.root_name for function in program.functions}
        names.update({kernel.kernel: roots[name] for name, kernel in index.index.items()})
    for function in program.functions:
        name = function.func.name
        for spelled in (function.root_name, str(name.name), name.unambiguous_name(), cpp.name(function.func)):
            names[spelled] = function.root_name
    return names
