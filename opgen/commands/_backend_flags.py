"""The flags and loaders shared by the generators for backends outside of torch.

    -s backend.yaml -o out --from-torch --impl-path kernels.cpp
    →  the operators that torch has, an `ExternalBackend`, and whether kernels.cpp defines its kernels

Operators are read from opgen's packaged definitions, the installed torch, or the folder or file that a flag names.
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
from opgen.run.flags import add_common_flags
from opgen.run.inputs import FROM_TORCH_FLAG, SOURCE_PATH_FLAG, Inputs, find_inputs, installed_definitions

NATIVE_FLAG: Final = "--native-yaml"
TAGS_FLAG: Final = "--tags"
TEMPLATES_FLAG: Final = "--templates"


@dataclass(frozen=True, slots=True)
class BackendInputs:
    """The inputs of a run."""

    backend: ExternalBackend
    program: Program
    templates: TemplateSet
    checked: int | None
    """The number of kernels searched for in sources; None if no flag names sources."""
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
    add_common_flags(parser, dry_run_takes_bool=True)


def _add_definitions(parser: argparse.ArgumentParser) -> None:
    """Add the flags that name the definitions of torch's operators."""
    definitions = parser.add_argument_group(
        "the operators that there are; default: those of the installed torch, or else those packaged with opgen"
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
    options: argparse.Namespace, log: Diagnostics, *, checks_generated: bool = True
) -> BackendInputs | None:
    """Return the inputs that the flags name; None, with errors logged, if it fails.

    Unless the caller generates the kernels of `full_codegen`, the sources must define them too.
    """
    inputs = _find_inputs(options, log)
    program = None if inputs is None else load_program(inputs.functions, inputs.tags, log, torch=options.torch_version)
    sources = list(_read_sources(options.impl_path, log))
    if inputs is None or program is None:
        return None
    backend = load_backend(options.source_yaml, program, log)
    checked = None
    if backend is not None and sources and not log.has_errors:
        checked = check_kernels(sources, backend, program, log, () if checks_generated else backend.full_codegen)
    if backend is None or log.has_errors:
        _warn_about_packaged_definitions(options, log)
        return None
    read = (options.source_yaml, *options.impl_path, *inputs.files)
    return BackendInputs(backend, program, TemplateSet(inputs.templates), checked, read)


def _read_sources(paths: Iterable[Path], log: Diagnostics) -> Iterator[Source]:
    for path in paths:
        try:
            yield read_source(path)
        except UserError as problem:
            log.extend(problem.diagnostics)


def _warn_about_packaged_definitions(options: argparse.Namespace, log: Diagnostics) -> None:
    """Warn that only opgen's packaged definitions were searched, if operators are missing and torch isn't installed."""
    is_expected = options.source_path or options.native_yaml or installed_definitions() is not None
    if not is_expected and any(each.id == "unknown-operator" for each in log.all):
        message = "operators were searched for in opgen's packaged definitions"
        label = f"install torch to use its operators, or name a folder with {SOURCE_PATH_FLAG}"
        log.warning("operators-of-opgen", message, label=label)


def _find_inputs(options: argparse.Namespace, log: Diagnostics) -> Inputs | None:
    """Return the files that define the operators: by default those of the installed torch."""
    inputs = find_inputs(options.source_path, log, from_torch=options.from_torch)
    installed = None if options.source_path else installed_definitions()
    if inputs is None:
        return None
    if installed is not None:
        inputs = Inputs(installed / "native/native_functions.yaml", installed / "native/tags.yaml", inputs.templates)
    return Inputs(
        options.native_yaml or inputs.functions, options.tags or inputs.tags, options.templates or inputs.templates
    )


def describe_check(inputs: BackendInputs, paths: Sequence[Path]) -> str:
    """Return the message about the check of kernels; empty if there was none."""
    if inputs.checked is None:
        return ""
    kernels = "1 kernel is" if inputs.checked == 1 else f"{inputs.checked} kernels are"
    return f"{kernels} defined in {', '.join(str(path) for path in paths)}\n"
