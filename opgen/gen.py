"""The ATen generator: operator definitions in, every file that torch's build needs of them out.

    python -m opgen.gen --install-dir out --per-operator-headers

This is a shell: flags to options, definitions to a program, the program to files, files to disk.
What is written is listed in `opgen.dest.table`.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import time
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from opgen.command_line import UPDATE_SHIM_FLAG, Request, read_request
from opgen.dest.aoti_c_shim import emit_shim_headers
from opgen.dest.table import emitters_for
from opgen.diagnostics import Diagnostics, UserError
from opgen.frontend.fallback_ops import load_shims
from opgen.frontend.native_functions import load_definitions, load_program
from opgen.inputs import Inputs, find_inputs
from opgen.internal_error import EXIT_CODE, render_internal_error
from opgen.model import BackendIndex, DispatchKey, NativeFunction
from opgen.output.console import Progress, format_report
from opgen.output.dependencies import GROUPS, ROOT, XPU_GROUP, emit_dependencies
from opgen.output.files import OutputFile
from opgen.output.pinned import check_pinned
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files
from opgen.program import Options, Program

__all__ = ["ParsedYaml", "entry_point", "generate", "main", "parse_native_yaml"]

INTERRUPTED: Final = 130
"""What a run ends with that was interrupted from the keyboard."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    started, log = time.monotonic(), Diagnostics()
    request = None
    try:
        request = read_request(argv, log)
        report = _run(request, log)
    except UserError as problem:
        log.extend(problem.diagnostics)
        report = None
    except KeyboardInterrupt:
        sys.stderr.write("opgen: interrupted; the old files are whole\n")
        return INTERRUPTED
    except Exception as error:
        sys.stderr.write(render_internal_error(error))
        return EXIT_CODE
    if report is None or request is None:
        sys.stderr.write(log.render(with_remarks=False))
        return 1
    if not request.quiet:
        sys.stderr.write(log.render(with_remarks=request.verbose))
    sys.stdout.write(format_report(report, time.monotonic() - started, quiet=request.quiet, verbose=request.verbose))
    return 0


def entry_point() -> None:
    """Runs the generator as a command."""
    # A run makes no cycles worth collecting and ends soon: the collector would only take time.
    gc.disable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a path may hold what the terminal can't show
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the report has gone.  The files are written; Python must not complain at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _run(request: Request, log: Diagnostics) -> WriteReport | None:
    """Reads, generates and writes; None, with the reasons logged, if the inputs are wrong."""
    options = request.options
    inputs = find_inputs(request.source_path, log, from_torch=request.from_torch)
    program = None if inputs is None else _load(inputs, request, log)
    if inputs is None or program is None:
        return None
    templates = TemplateSet(inputs.templates)
    files = generate(program, options, templates, quiet=request.quiet)
    _check_shim_headers(program, options, templates, log)
    return None if log.has_errors else _write(files, request)


def _load(inputs: Inputs, request: Request, log: Diagnostics) -> Program | None:
    program = load_program(
        inputs.functions,
        inputs.tags,
        log,
        selected_names=request.selected_names,
        selection_path=request.selection_path,
        allow_unknown_operators=request.allow_unknown_operators,
        ignored_keys=request.ignored_keys,
    )
    if program is None or request.options.aoti_install_dir is None:
        return program
    shims = load_shims(program.functions, request.fallback_ops_path, log)
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


def _check_shim_headers(program: Program, options: Options, templates: TemplateSet, log: Diagnostics) -> None:
    """Released programs rely on the headers of the shims: unless asked to change them, a run may not."""
    if options.aoti_install_dir is None or options.writes_shim_headers or "sources" not in options.generate:
        return
    headers = emit_shim_headers(program, options, templates)
    check_pinned(headers, options.aoti_install_dir, UPDATE_SHIM_FLAG, log)


def _write(files: Sequence[OutputFile], request: Request) -> WriteReport:
    options = request.options
    roots = {
        "install": options.install_dir,
        "headeronly": options.headeronly_install_dir or options.install_dir / "core",
    }
    if options.aoti_install_dir is not None:
        roots["aoti"] = options.aoti_install_dir
    report = write_files(files, roots, dry_run=options.dry_run)
    if options.output_dependencies is not None:
        groups = (*GROUPS, XPU_GROUP) if request.has_xpu else GROUPS
        lists = emit_dependencies(files, roots, options.output_dependencies, groups)
        write_files(lists, {ROOT: options.output_dependencies.parent})
    return report


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


if __name__ == "__main__":
    entry_point()
