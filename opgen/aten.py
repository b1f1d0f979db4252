"""The ATen generator: operator definitions in, every file that torch's build needs of them out.

This is a shell: flags to options, definitions to a program, the program to files, files to disk.
What is written is listed in `opgen.dest.table`; `opgen.gen` is the command.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from opgen.command_line import UPDATE_SHIM_FLAG, Request, read_request
from opgen.dest.table import SHIM_HEADERS, emitters_for
from opgen.diagnostics import Diagnostics, UserError
from opgen.frontend.fallback_ops import load_shims
from opgen.frontend.native_functions import load_definitions, load_program
from opgen.model import BackendIndex, DispatchKey, NativeFunction
from opgen.output.build_files import render_depfile, render_install_list
from opgen.output.console import Progress, format_report
from opgen.output.dependencies import GROUPS, XPU_GROUP, emit_dependencies
from opgen.output.files import OutputFile
from opgen.output.pinned import check_pinned
from opgen.output.report import WriteReport
from opgen.output.template import TemplateSet
from opgen.output.writer import PlacedFile, Target
from opgen.program.program import Options, Program
from opgen.run.definitions_kind import makes_extension
from opgen.run.finish import finish
from opgen.run.inputs import Inputs, find_inputs
from opgen.run.internal_error import EXIT_CODE, render_internal_error
from opgen.run.parallel import available_jobs
from opgen.run.record import record_of
from opgen.run.shares import Piece, Share, files_read, put_all

__all__ = ["ParsedYaml", "generate", "load", "main", "parse_native_yaml", "roots_of"]

INTERRUPTED: Final = 130
"""What a run ends with that was interrupted from the keyboard."""
WORTH_FORKING: Final = 300
"""Operators from which on it pays to use several processes."""


def main(argv: Sequence[str]) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    started, log = time.monotonic(), Diagnostics()
    request = None
    try:
        request = read_request(argv, log)
        report = _run(argv, request, log)
    except UserError as problem:
        log.extend(problem.diagnostics)
        report = None
    except KeyboardInterrupt:
        sys.stderr.write("opgen: interrupted; every file is whole, old or new\n")
        return INTERRUPTED
    except Exception as error:
        sys.stderr.write(render_internal_error(error))
        return EXIT_CODE
    if report is None or request is None:
        sys.stderr.write(log.render(with_remarks=False))
        return 1
    sys.stderr.write(_remarks(request, log))
    sys.stdout.write(format_report(report, time.monotonic() - started, quiet=request.quiet, verbose=request.verbose))
    return 0


def _remarks(request: Request, log: Diagnostics) -> str:
    """What a run that succeeds has to say besides."""
    return "" if request.quiet else log.render(with_remarks=request.verbose)


def _run(arguments: Sequence[str], request: Request, log: Diagnostics) -> WriteReport | None:
    """Reads, generates and writes; None, with the reasons logged, if the inputs are wrong."""
    source = request.source_path
    if source is not None and (makes_extension(source) if request.extension is None else request.extension):
        # Most runs have no use for that half of the program.
        extension = importlib.import_module("opgen.gen_extension")
        report: WriteReport | None = extension.run_extension(arguments, request, source, log)
        return report
    inputs = find_inputs(source, log, from_torch=request.from_torch)
    if inputs is None:
        return None
    record = record_of(arguments, request)
    program = load(inputs, request, log)
    if program is None:
        return None
    templates = TemplateSet(inputs.templates)
    with Target(roots_of(request.options), dry_run=request.options.dry_run) as target, ExitStack() as crews:
        record.load(request.options.install_dir)
        target.known = record.known
        shares = _put_all(target, program, request, templates, crews)
        log.extend(problem for share in shares for problem in share.problems)
        if not log.has_errors:
            _check_shim_headers(program, request.options, templates, log)
        if log.has_errors:
            return None
        read = [*_files_read(inputs, request), *files_read(shares)]
        placed = [file for share in shares for file in share.placed]
        others, said = _others(placed, read, request), _remarks(request, log)
        return finish(target, record, placed, read, others=others, said=said, stamp=request.stamp)


def load(inputs: Inputs, request: Request, log: Diagnostics) -> Program | None:
    """The program that a run is about; None, with the reasons logged, if its inputs are wrong."""
    if request.choice is None:
        return None
    program = load_program(
        inputs.functions,
        inputs.tags,
        log,
        selected_names=request.selected_names,
        selection_path=request.selection_path,
        allow_unknown_operators=request.allow_unknown_operators,
        ignored_keys=request.ignored_keys,
        torch=request.choice.release,
    )
    if program is None or request.options.aoti_install_dir is None:
        return program
    shims = load_shims(program.functions, request.fallback_ops_path, program.release, log)
    return None if log.has_errors else replace(program, shims=shims)


def generate(
    program: Program, options: Options, templates: TemplateSet, *, quiet: bool = True
) -> tuple[OutputFile, ...]:
    """Every file of a run, as values; mistakes in templates are one `UserError`."""
    emitters, log = emitters_for(options), Diagnostics()
    files: list[OutputFile] = []
    with Progress(len(emitters) + 1, sys.stderr, enabled=not quiet) as progress:
        for emitter in emitters:
            progress.advance(emitter.name)
            try:
                files.extend(emitter.emit(program, options, templates))
            except UserError as problem:
                log.extend(problem.diagnostics)
    log.raise_errors()
    return tuple(files)


def _put_all(
    target: Target,
    program: Program,
    request: Request,
    templates: TemplateSet,
    crews: ExitStack,
) -> list[Share]:
    """Makes the files of all emitters, in several processes, and puts them where they wait."""
    pieces = [
        Piece(emitter.name, emitter.cost, partial(emitter.emit, program, request.options, templates))
        for emitter in emitters_for(request.options)
    ]
    jobs = request.jobs or (available_jobs() if len(program.functions) >= WORTH_FORKING else 1)
    return put_all(target, pieces, templates, jobs=jobs, quiet=request.quiet, crews=crews)


def _check_shim_headers(program: Program, options: Options, templates: TemplateSet, log: Diagnostics) -> None:
    """Released programs rely on the headers of the shims: unless asked to change them, a run may not."""
    if not _compares_shim_headers(options):
        return
    headers = SHIM_HEADERS(program, options, templates)
    assert options.aoti_install_dir is not None
    check_pinned(headers, options.aoti_install_dir, UPDATE_SHIM_FLAG, log)


def _compares_shim_headers(options: Options) -> bool:
    return options.aoti_install_dir is not None and not options.writes_shim_headers and "sources" in options.generate


def _files_read(inputs: Inputs, request: Request) -> Iterator[str]:
    """The files that a run reads, apart from its templates and its code."""
    given = (inputs.functions, inputs.tags, request.selection_path, request.fallback_ops_path)
    yield from (os.fspath(path) for path in given if isinstance(path, Path))
    if request.choice is not None:
        yield from map(os.fspath, request.choice.read)
    if request.source_path is not None:
        # Whether there is such a folder decides where templates come from.
        yield os.fspath(request.source_path / "templates")
    if _compares_shim_headers(request.options):
        folder = request.options.aoti_install_dir or Path()
        devices = ("aten", "cpu", "cuda", "mps", "xpu", "mtia")
        yield from (os.fspath(folder / f"c_shim_{device}.h") for device in devices)


def roots_of(options: Options) -> Mapping[str, Path]:
    """The folders that outputs go to, by the names that emitters have for them."""
    roots = {
        "install": options.install_dir,
        "headeronly": options.headeronly_install_dir or options.install_dir / "core",
    }
    if options.aoti_install_dir is not None:
        roots["aoti"] = options.aoti_install_dir
    return roots


def _others(placed: Sequence[PlacedFile], read: Sequence[str], request: Request) -> list[tuple[Path, str]]:
    """The files that tell a build of the run."""
    options = request.options
    wanted: list[tuple[Path, str]] = []
    if options.output_dependencies is not None:
        groups = (*GROUPS, XPU_GROUP) if request.has_xpu else GROUPS
        files = [OutputFile(file.name, "", file.root, file.group) for file in placed]
        lists = emit_dependencies(files, roots_of(options), options.output_dependencies, groups)
        wanted += [(options.output_dependencies.parent / each.path, each.text) for each in lists]
    if request.depfile is not None and request.stamp is not None:
        rule = render_depfile(os.fspath(request.stamp), filter(os.path.isfile, read))
        wanted.append((request.depfile, rule))
    if request.install_list is not None:
        headers = [file.name for file in placed if file.root == "install"]
        wanted.append((request.install_list, render_install_list(headers)))
    return wanted


@dataclass(frozen=True, slots=True)
class ParsedYaml:
    """The operators of a definitions file, and their kernels by dispatch key."""

    native_functions: tuple[NativeFunction, ...]
    backend_indices: Mapping[DispatchKey, BackendIndex]


def parse_native_yaml(
    path: str | Path, tags_yaml_path: str | Path, ignore_keys: AbstractSet[DispatchKey] | None = None
) -> ParsedYaml:
    """Reads and checks a definitions file and its tags, and derives what they ask for.

    Kernels under `ignore_keys` are left out.  Raises UserError with every mistake found.
    """
    log = Diagnostics()
    definitions = load_definitions(Path(path), Path(tags_yaml_path), log, ignore_keys or ())
    if definitions is None:
        raise UserError(*log.found)
    return ParsedYaml(definitions.functions, definitions.backend_indices)
