"""The run of the extension generator: definitions to an extension, to files, to disk.

`opgen.run.definitions_kind` tells which definitions make one; `opgen.aten` asks it, and comes here.

    - func: mylib::blend(Tensor self, Tensor other) -> Tensor     →  an extension
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from opgen.command_line import Request
from opgen.diagnostics import Diagnostics, UserError
from opgen.extension.extension import Extension, ExtensionOptions, derive_extension
from opgen.extension.rules import advise, check_derivatives, check_extension
from opgen.extension.sources import emit_source_lists
from opgen.extension.table import EXTENSION_EMITTERS
from opgen.frontend.autograd_functions import derive_autograd
from opgen.frontend.native_functions import load_program
from opgen.frontend.python_functions import derive_package
from opgen.output.build_files import render_depfile, render_install_list
from opgen.output.console import Progress
from opgen.output.files import OutputFile
from opgen.output.report import WriteReport
from opgen.output.template import TemplateSet
from opgen.output.writer import PlacedFile, Target
from opgen.program.autograd import AutogradProgram
from opgen.releases.known import newest_release
from opgen.run.finish import finish
from opgen.run.inputs import packaged_folder, packaged_templates
from opgen.run.record import code_files, record_of

_FUNCTIONS: Final = "native/native_functions.yaml"
_TAGS: Final = "native/tags.yaml"
_DERIVATIVES: Final = "autograd/derivatives.yaml"


def run_extension(arguments: Sequence[str], request: Request, source: Path, log: Diagnostics) -> WriteReport | None:
    """Reads, generates and writes; None, with the reasons logged, if the inputs are wrong."""
    _check_flags(request, log)
    extension = load_extension(source, _options(request), log, with_python=request.with_python)
    if extension is None:
        return None
    record, templates = record_of(arguments, request), extension_templates()
    files = generate_extension(extension, templates, quiet=request.quiet)
    read = [*(os.fspath(path) for path in _files_looked_for(source)), *templates.files, *code_files()]
    with Target({"install": request.options.install_dir}, dry_run=request.options.dry_run) as target:
        record.load(request.options.install_dir)
        target.known = record.known
        placed = target.put(files)
        others = [] if target.is_dry_run else _others(placed, read, request)
        said = "" if request.quiet else log.render(with_remarks=request.verbose)
        return finish(target, record, placed, read, others=others, said=said, stamp=request.stamp)


def _others(placed: Sequence[PlacedFile], read: Sequence[str], request: Request) -> list[tuple[Path, str]]:
    """The files that tell a build of the run."""
    wanted: list[tuple[Path, str]] = []
    lists = request.options.output_dependencies
    if lists is not None:
        files = [OutputFile(file.name, "", file.root, file.group) for file in placed]
        made = emit_source_lists(files, request.options.install_dir, lists)
        wanted += [(lists.parent / each.path, each.text) for each in made]
    if request.depfile is not None and request.stamp is not None:
        present = filter(os.path.isfile, read)
        wanted.append((request.depfile, render_depfile(os.fspath(request.stamp), present)))
    if request.install_list is not None:
        wanted.append((request.install_list, render_install_list(file.name for file in placed)))
    return wanted


def _check_flags(request: Request, log: Diagnostics) -> None:
    """Warns of flags that are about the sources of ATen."""
    options = request.options
    flags = (
        (request.selected_names is not None, "--op-registration-whitelist"),
        (request.selection_path is not None, "--op-selection-yaml-path"),
        (bool(options.static_dispatch_keys), "--static-dispatch-backend"),
        (options.aoti_install_dir is not None, "--aoti-install-dir"),
        (options.skip_dispatcher_op_registration, "--skip-dispatcher-op-registration"),
    )
    for is_given, flag in flags:
        if is_given:
            label = "it is for the sources of ATen, which --no-extension writes"
            log.warning("flag-without-effect", f"{flag} has no effect on an extension", label=label)


def _options(request: Request) -> ExtensionOptions:
    keys = frozenset(request.options.dispatch_keys) if request.selects_backends else None
    return ExtensionOptions(request.is_fragment, keys)


def load_extension(
    source: Path, options: ExtensionOptions, log: Diagnostics, *, with_python: bool = True
) -> Extension | None:
    """The extension that a folder of definitions makes; None, with the reasons logged, if anything is wrong."""
    tags = source / _TAGS
    legal_tags = tags if tags.exists() else packaged_folder("ATen") / _TAGS
    program = load_program(source / _FUNCTIONS, legal_tags, log, torch=newest_release())
    if program is None:
        return None
    breaches = tuple(check_extension(program))
    log.extend(breaches)
    if breaches:
        return None
    log.extend(advise(program))
    extension = derive_extension(program, program.functions[0].namespace, options)
    if with_python:
        extension = replace(extension, python=derive_package(extension.program, log))
    derivatives = source / _DERIVATIVES
    if not derivatives.exists():
        return None if log.has_errors else extension
    autograd = derive_autograd(program, derivatives, log, program.selector, namespace=extension.namespace)
    if autograd is not None:
        log.extend(check_derivatives(autograd))
    return None if autograd is None or log.has_errors else _with_derivatives(extension, autograd)


def _with_derivatives(extension: Extension, autograd: AutogradProgram) -> Extension:
    return replace(extension, autograd=replace(autograd, program=extension.program))


def extension_templates() -> TemplateSet:
    """The templates that come with opgen."""
    return TemplateSet(*packaged_templates("extension"))


def generate_extension(extension: Extension, templates: TemplateSet, *, quiet: bool = True) -> tuple[OutputFile, ...]:
    """Every file of a run, as values; mistakes in templates are one `UserError`."""
    log = Diagnostics()
    files: list[OutputFile] = []
    with Progress(len(EXTENSION_EMITTERS) + 1, sys.stderr, enabled=not quiet) as progress:
        for emitter in EXTENSION_EMITTERS:
            progress.advance(emitter.name)
            try:
                files.extend(emitter.emit(extension, templates))
            except UserError as problem:
                log.extend(problem.diagnostics)
    log.raise_errors()
    return tuple(files)


def _files_looked_for(source: Path) -> tuple[Path, ...]:
    """The files that a run reads if they are there."""
    return tuple(source / name for name in (_FUNCTIONS, _TAGS, _DERIVATIVES))
