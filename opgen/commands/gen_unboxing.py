"""`opgen gen_unboxing`: operators and a selection → kernels for TorchScript's interpreter.

python -m opgen.gen_unboxing --from-torch --op-registration-allowlist aten::add aten::relu --install-dir out
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from opgen.commands._selection_flags import (
    add_operators,
    add_selection,
    known_operators,
    load_definitions,
    load_selector,
    selection_files,
    templates_beside,
)
from opgen.diagnostics import Diagnostics
from opgen.output.dependencies import emit_dependencies
from opgen.output.emitter import Emitter, OnDemand, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import PlacedFile
from opgen.program.program import Program
from opgen.run.command import Command, Group
from opgen.run.flags import add_common_flags, add_install_dir
from opgen.run.work import Work, install_root

EMITTERS: Final[tuple[Emitter[Program, TemplateSet], ...]] = (
    Emitter("kernels", OnDemand("opgen.dest.unboxing", "emit_unboxing")),
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of torch's generator of these files, and a few of opgen's own."""
    add_operators(parser)
    add_install_dir(parser)
    parser.add_argument(
        "-o",
        "--output-dependencies",
        "--output_dependencies",
        type=Path,
        metavar="FILE",
        help="list the outputs in FILE, as a CMake variable",
    )
    add_selection(parser)
    add_common_flags(parser)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators and the selection; return None, with errors logged, if it fails."""
    loaded = load_definitions(options, log)
    selector = load_selector(options, log, known_operators(loaded[1] if loaded else None, options))
    if loaded is None or selector is None or log.has_errors:
        return None
    inputs, program = loaded
    templates = templates_beside(inputs)
    return Work(
        bind(EMITTERS, replace(program, selector=selector), templates),
        install_root(options.install_dir),
        templates,
        read=(*inputs.files, *selection_files(options)),
        lists=partial(_lists, options),
    )


def _lists(options: argparse.Namespace, placed: Sequence[PlacedFile]) -> Iterator[tuple[Path, str]]:
    """Yield the CMake list of the outputs."""
    output: Path | None = options.output_dependencies
    if output is not None and not options.dry_run:
        files = [OutputFile(file.name, "", file.root, file.group) for file in placed]
        for each in emit_dependencies(files, install_root(options.install_dir), output, ("",)):
            yield output.parent / each.path, each.text


def generate(program: Program, templates: TemplateSet) -> tuple[OutputFile, ...]:
    """Return every file of a run as a value; raise one `UserError` with all template errors."""
    return collect_files(bind(EMITTERS, program, templates))


COMMAND: Final = Command(
    name="gen_unboxing",
    group=Group.RUNTIMES,
    summary="write kernels for TorchScript's interpreter, for selected operators",
    produces="Writes UnboxingFunctions.h, UnboxingFunctions.cpp and RegisterCodegenUnboxedKernels.cpp into the "
    "install directory.",
    add_flags=add_flags,
    load=load,
)
