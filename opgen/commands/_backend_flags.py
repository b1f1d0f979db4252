"""What the generators for backends outside of torch have in common: flags, the operators, the backend, the check.

    -s backend.yaml -o out --from-torch --impl-path kernels.cpp
    →  the operators that torch has, an `ExternalBackend`, and whether kernels.cpp defines its kernels

Operators are those that come with opgen, with the installed torch, in a folder that is named, or in
files that are named; nothing is looked for elsewhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from opgen.backend.backend_yaml import ExternalBackend, load_backend
from opgen.backend.kernel_check import check_kernels
from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.frontend.native_functions import load_program
from opgen.frontend.nodes import read_source
from opgen.frozen_dataclass import dataclass
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.flags import add_flags_of_all
from opgen.run.inputs import FROM_TORCH_FLAG, SOURCE_PATH_FLAG, Inputs, find_inputs, installed_definitions

NATIVE_FLAG: Final = "--native-yaml"
TAGS_FLAG: Final = "--tags"
TEMPLATES_FLAG: Final = "--templates"


@dataclass(frozen=True, slots=True)
class BackendInputs:
    """What a run has read."""

    backend: ExternalBackend
    program: Program
    templates: TemplateSet
    checked: int | None
    """How many kernels were looked for in sources; None if no sources were named."""
    read: tuple[Path, ...] = ()
    """The files that were read, apart from templates."""


def add_backend_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of torch's generators, in both spellings, and those that name the operators."""
    parser.add_argument(
        "-s",
        "--source-yaml",
        "--source_yaml",
        type=Path,
        required=True,
        metavar="FILE",
        help="the backend: which operators it has kernels for (YAML)",
    )
    parser.add_argument(
        "-o",
        "--output-dir",
        "--output_dir",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder to write to; sources include the header of their class as DIR names it",
    )
    parser.add_argument(
        "--impl-path",
        "--impl_path",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="check that this source defines the kernels; several may share them",
    )
    _add_definitions(parser)
    add_flags_of_all(parser, dry_run_takes_bool=True)


def _add_definitions(parser: argparse.ArgumentParser) -> None:
    """Add the flags that name the definitions of torch's operators."""
    definitions = parser.add_argument_group(
        "the operators that there are; default: those of the installed torch, or else those that come with opgen"
    )
    sources = definitions.add_mutually_exclusive_group()
    sources.add_argument(
        FROM_TORCH_FLAG, "--from_torch", action="store_true", help="those of the installed torch, with its templates"
    )
    sources.add_argument(
        SOURCE_PATH_FLAG,
        "--source_path",
        type=Path,
        metavar="DIR",
        help="those in DIR (native/*.yaml), and its templates/ if there are any",
    )
    sources.add_argument(NATIVE_FLAG, "--native_yaml", type=Path, metavar="FILE", help="those of this file")
    definitions.add_argument(
        TAGS_FLAG, type=Path, metavar="FILE", help="the tags that operators may have; default: those of the operators"
    )
    definitions.add_argument(TEMPLATES_FLAG, type=Path, metavar="DIR", help="other templates")


def load_backend_inputs(
    given: argparse.Namespace, log: Diagnostics, *, checks_generated: bool = True
) -> BackendInputs | None:
    """Return the inputs that the flags name; None, with every reason logged, if anything in them is wrong.

    Kernels of `full_codegen` are looked for in sources too, if the caller doesn't generate them.
    """
    inputs = _find_inputs(given, log)
    program = None if inputs is None else load_program(inputs.functions, inputs.tags, log, torch=given.torch_version)
    sources = list(_read_sources(given.impl_path, log))
    if inputs is None or program is None:
        return None
    backend = load_backend(given.source_yaml, program, log)
    checked = None
    if backend is not None and sources and not log.has_errors:
        checked = check_kernels(sources, backend, program, log, () if checks_generated else backend.full_codegen)
    if backend is None or log.has_errors:
        _tell_of_definitions(given, log)
        return None
    read = (given.source_yaml, *given.impl_path, *inputs.files)
    return BackendInputs(backend, program, TemplateSet(inputs.templates), checked, read)


def _read_sources(paths: Iterable[Path], log: Diagnostics) -> Iterator[Source]:
    for path in paths:
        try:
            yield read_source(path)
        except UserError as problem:
            log.extend(problem.diagnostics)


def _tell_of_definitions(given: argparse.Namespace, log: Diagnostics) -> None:
    """Report where operators were searched, if some are missing, no flag names a place, and torch isn't installed."""
    is_told = given.source_path or given.native_yaml or installed_definitions() is not None
    if not is_told and any(each.id == "unknown-operator" for each in log.found):
        message = "operators were searched for in opgen's packaged definitions"
        label = f"install torch to use its operators, or name a folder with {SOURCE_PATH_FLAG}"
        log.warning("operators-of-opgen", message, label=label)


def _find_inputs(given: argparse.Namespace, log: Diagnostics) -> Inputs | None:
    """Return where the operators are: a backend has kernels for those of torch, so the installed torch comes first."""
    found = find_inputs(given.source_path, log, from_torch=given.from_torch)
    installed = None if given.source_path else installed_definitions()
    if found is None:
        return None
    if installed is not None:
        found = Inputs(installed / "native/native_functions.yaml", installed / "native/tags.yaml", found.templates)
    return Inputs(given.native_yaml or found.functions, given.tags or found.tags, given.templates or found.templates)


def describe_check(inputs: BackendInputs, paths: Sequence[Path]) -> str:
    """Return what to print about the check of kernels; nothing if there was none."""
    if inputs.checked is None:
        return ""
    kernels = "1 kernel is" if inputs.checked == 1 else f"{inputs.checked} kernels are"
    return f"{kernels} defined in {', '.join(str(path) for path in paths)}\n"
