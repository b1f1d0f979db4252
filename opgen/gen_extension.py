"""The run of the extension generator: definitions to an extension, to files, to disk.

A file whose operators are all of namespaces other than `aten` makes an extension.  One that has both
kinds makes ATen's sources, if there are templates for them beside it or more operators of ATen's than
others; else an extension, which is then refused for the operators of ATen's.  The flags --extension
and --no-extension settle it otherwise.  `opgen.aten` asks `makes_extension`, and comes here.

    - func: mylib::blend(Tensor self, Tensor other) -> Tensor     →  an extension
"""

from __future__ import annotations

import re
import sys
from collections import Counter
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

_FUNC: Final = re.compile(
    r"""^[ \t]*(?:-[ \t]+)?func[ \t]*:[ \t]*["']?[ \t]*([A-Za-z_]\w*)(::)?""", re.MULTILINE | re.ASCII
)
_TORCH_NAMESPACE: Final = "aten"
_FUNCTIONS: Final = "native/native_functions.yaml"
_TAGS: Final = "native/tags.yaml"
_DERIVATIVES: Final = "autograd/derivatives.yaml"


def makes_extension(source: Path) -> bool:
    """Whether the definitions in a folder make an extension; no, if they can't be read."""
    try:
        text = (source / _FUNCTIONS).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    namespaces = count_namespaces(text)
    of_torch = namespaces[_TORCH_NAMESPACE]
    own = namespaces.total() - of_torch
    return own > 0 and (of_torch == 0 or (of_torch < own and not (source / "templates").is_dir()))


def count_namespaces(definitions: str) -> Counter[str]:
    """How many operators of each namespace a definitions file seems to have, before it is read properly."""
    found = _FUNC.finditer(definitions)
    return Counter(each.group(1) if each.group(2) else _TORCH_NAMESPACE for each in found)


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
