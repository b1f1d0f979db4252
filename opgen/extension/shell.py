"""The run of the extension generator: definitions to an extension, to files, to disk.

`opgen.gen` comes here if the definitions make an extension (see `mode`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from opgen.autograd_program import AutogradProgram
from opgen.command_line import Request
from opgen.diagnostics import Diagnostics, UserError
from opgen.extension.extension import Extension, ExtensionOptions, derive_extension
from opgen.extension.rules import check_extension
from opgen.extension.sources import ROOT, emit_source_lists
from opgen.extension.table import EXTENSION_EMITTERS
from opgen.frontend.native_functions import load_program
from opgen.gen_autograd import derive_autograd
from opgen.inputs import packaged_folder, packaged_templates
from opgen.output.console import Progress
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files

_FUNCTIONS: Final = "native/native_functions.yaml"
_TAGS: Final = "native/tags.yaml"
_DERIVATIVES: Final = "autograd/derivatives.yaml"


def run_extension(request: Request, source: Path, log: Diagnostics) -> WriteReport | None:
    """Reads, generates and writes; None, with the reasons logged, if the inputs are wrong."""
    extension = load_extension(source, _options(request), log)
    if extension is None:
        return None
    files = generate_extension(extension, quiet=request.quiet)
    options = request.options
    roots = {"install": options.install_dir}
    report = write_files(files, roots, dry_run=options.dry_run)
    if options.output_dependencies is not None:
        lists = emit_source_lists(files, options.install_dir, options.output_dependencies)
        write_files(lists, {ROOT: options.output_dependencies.parent}, dry_run=options.dry_run)
    return report


def _options(request: Request) -> ExtensionOptions:
    keys = frozenset(request.options.dispatch_keys) if request.selects_backends else None
    return ExtensionOptions(request.is_fragment, keys)


def load_extension(source: Path, options: ExtensionOptions, log: Diagnostics) -> Extension | None:
    """The extension that a folder of definitions makes; None, with the reasons logged, if anything is wrong."""
    tags = source / _TAGS
    legal_tags = tags if tags.exists() else packaged_folder("ATen") / _TAGS
    program = load_program(source / _FUNCTIONS, legal_tags, log)
    if program is None:
        return None
    breaches = tuple(check_extension(program))
    log.extend(breaches)
    if breaches:
        return None
    extension = derive_extension(program, program.functions[0].namespace, options)
    derivatives = source / _DERIVATIVES
    if not derivatives.exists():
        return extension
    autograd = derive_autograd(program, derivatives, log, program.selector)
    return None if autograd is None or log.has_errors else _with_derivatives(extension, autograd)


def _with_derivatives(extension: Extension, autograd: AutogradProgram) -> Extension:
    return replace(extension, autograd=replace(autograd, program=extension.program))


def generate_extension(extension: Extension, *, quiet: bool = True) -> tuple[OutputFile, ...]:
    """Every file of a run, as values; mistakes in templates are one `UserError`."""
    templates, log = TemplateSet(*packaged_templates("extension")), Diagnostics()
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


def source_files(source: Path) -> Iterator[Path]:
    """The files that a run reads: a build must run opgen again when one of them changes."""
    for name in (_FUNCTIONS, _TAGS, _DERIVATIVES):
        if (source / name).exists():
            yield source / name
