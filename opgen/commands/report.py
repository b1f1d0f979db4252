"""`opgen report DIR`: write HTML pages about all operators, viewable without a server.

    python -m opgen report out/report --source-path ops
    python -m opgen report out/report --from-torch

The other flags are those of `opgen gen` that determine what it writes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from opgen.commands._derivatives import emit_kernels
from opgen.commands._gen_flags import Request, add_content_flags, read_request
from opgen.commands._subject import definitions_folder, derivatives_path, load_derivatives, subject_of
from opgen.commands.gen import Generation, load_generation
from opgen.desk.facts import formulas_of, places_of_derivatives
from opgen.desk.report import Report, emit_report
from opgen.diagnostics import Diagnostics
from opgen.output.emitter import Emitter, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.run.command import Command, Group
from opgen.run.flags import add_build, add_dry_run
from opgen.run.inputs import autograd_templates, packaged_templates
from opgen.run.work import Work, install_root


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the folder, and the flags of `gen`."""
    parser.add_argument("directory", type=Path, metavar="DIR", help="folder to write to; open its index.html")
    add_dry_run(parser)
    add_build(parser.add_argument_group("build systems"))
    add_content_flags(parser)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the definitions and render their files; return None, with errors logged, if it fails."""
    request = read_request(options, log)
    generation = load_generation(request, log)
    if generation is None or log.has_errors:
        return None
    files = (*collect_files(generation.work.emitters), *_autograd_files(request, generation))
    root, folder = load_derivatives(request, log), definitions_folder(request)
    subject = subject_of(generation, files, formulas_of(root))
    title = "torch" if generation.extension is None else generation.extension.namespace
    report = Report(title, subject, files, places_of_derivatives(root), str(folder or ""))
    templates = TemplateSet(*packaged_templates("report"))
    return Work(
        bind((Emitter("report", emit_report),), report, templates),
        install_root(options.directory),
        templates,
        read=tuple(_files_read(request, generation)),
        next_step=f"open {options.directory / 'index.html'} in a browser",
    )


def _autograd_files(request: Request, generation: Generation) -> tuple[OutputFile, ...]:
    """Return the kernels that record gradients, which `gen` writes for extensions only."""
    derivatives = derivatives_path(request)
    if generation.extension is not None or derivatives is None:
        return ()
    templates = TemplateSet(autograd_templates(derivatives.parent))
    files = emit_kernels(generation.program, derivatives, templates, disable_autograd=False, bindings=False)
    return tuple(replace(file, path=f"autograd/{file.path}") for file in files)


def _files_read(request: Request, generation: Generation) -> Iterator[Path]:
    yield from generation.work.read
    yield from map(Path, generation.work.templates.files)
    derivatives = derivatives_path(request)
    if derivatives is not None:
        yield derivatives


COMMAND: Final = Command(
    name="report",
    group=Group.REVIEW,
    summary="write HTML pages about all operators, with search, generated code and what is missing",
    produces="Writes index.html and its resources into DIR.  Open it in a browser; no server is needed.",
    add_flags=add_flags,
    load=load,
)
