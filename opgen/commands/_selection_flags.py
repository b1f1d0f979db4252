"""The flags of the commands that select operators → a checked selection.

    --source-path DIR | --from-torch                      →  where operators are defined
    --op-registration-allowlist aten::add --allow-unknown-operators   →  a checked `SelectiveBuilder`

A selection is checked against the defined operators, so that misspelled names are reported.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.frontend.native_functions import load_program
from opgen.frontend.nodes import Scalar
from opgen.frontend.selection import (
    ALLOW_UNKNOWN_FLAG,
    KnownOperators,
    load_selection,
    load_words,
    selection_of_words,
    warn_without_selection,
    words_of_flag,
)
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.flags import add_definitions
from opgen.run.inputs import Inputs, find_inputs, packaged_templates
from opgen.selective_build.selector import SelectiveBuilder

ALLOW_LIST_FLAG: Final = "--op-registration-allowlist"
SELECTION_FLAG: Final = "--op-selection-yaml-path"
TEST_LIST_FLAG: Final = "--TEST-ONLY-op-registration-allowlist-yaml-path"


def add_operators(parser: argparse.ArgumentParser) -> None:
    """Add the flags that name the definitions, and the one that allows undefined operators."""
    add_definitions(parser, torch="definitions that come with the installed torch")
    parser.add_argument(
        ALLOW_UNKNOWN_FLAG,
        action="store_true",
        help="only warn of selected operators that are not defined, such as those that TorchScript brings",
    )


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add the flags that select operators, those of torch's generator of unboxing kernels."""
    parser.add_argument(
        ALLOW_LIST_FLAG,
        "--op_registration_allowlist",
        nargs="*",
        metavar="OPERATOR",
        help="select these operators only, with all their overloads (aten::add)",
    )
    parser.add_argument(
        SELECTION_FLAG, "--op_selection_yaml_path", type=Path, metavar="FILE", help="select what a selection selects"
    )
    parser.add_argument(
        TEST_LIST_FLAG,
        "--TEST_ONLY_op_registration_allowlist_yaml_path",
        type=Path,
        metavar="FILE",
        help="select the operators of a YAML list as well; each needs its overload (aten::add.Tensor)",
    )


def known_operators(program: Program | None, options: argparse.Namespace) -> KnownOperators | None:
    """Return the operators that a selection may name; None (any operator) if the definitions have errors."""
    if program is None:
        return None
    names = (function.qualified_name for function in program.functions)
    return KnownOperators.of(names, must_exist=not options.allow_unknown_operators)


def load_definitions(options: argparse.Namespace, log: Diagnostics) -> tuple[Inputs, Program] | None:
    """Return the inputs and the program that the flags name; None, with errors logged, if it fails."""
    inputs = find_inputs(options.source_path, log, from_torch=options.from_torch)
    if inputs is None:
        return None
    program = load_program(inputs.functions, inputs.tags, log, torch=options.torch_version)
    return None if program is None else (inputs, program)


def templates_beside(inputs: Inputs) -> TemplateSet:
    """Return the templates beside the definitions, with opgen's own as a fallback."""
    return TemplateSet(inputs.templates, *filter(Path.is_dir, packaged_templates("ATen")))


def load_selector(
    options: argparse.Namespace, log: Diagnostics, known: KnownOperators | None
) -> SelectiveBuilder | None:
    """Return the selection that the flags describe; without such flags, all operators."""
    names, path = _listed_operators(options, log), options.op_selection_yaml_path
    if names is not None and path is not None:
        flag = TEST_LIST_FLAG if options.op_registration_allowlist is None else ALLOW_LIST_FLAG
        log.error("conflicting-flags", f"{flag} and {SELECTION_FLAG} can't be given together")
        return None
    if names is not None:
        return selection_of_words(names, log, known)
    if path is not None:
        return load_selection(path, log, known)
    if options.allow_unknown_operators:
        warn_without_selection(ALLOW_UNKNOWN_FLAG, log)
    return SelectiveBuilder.get_nop_selector()


def selection_files(options: argparse.Namespace) -> tuple[Path, ...]:
    """Return the files that define the selection."""
    files = (options.op_selection_yaml_path, options.TEST_ONLY_op_registration_allowlist_yaml_path)
    return tuple(path for path in files if path is not None)


def _listed_operators(options: argparse.Namespace, log: Diagnostics) -> tuple[Scalar, ...] | None:
    """Return the operators that flags list by name; None if no such flag is given."""
    listed: Path | None = options.TEST_ONLY_op_registration_allowlist_yaml_path
    names: list[str] | None = options.op_registration_allowlist
    if listed is None and names is None:
        return None
    return (*words_of_flag(ALLOW_LIST_FLAG, names or ()), *(load_words(listed, log) if listed else ()))
