"""`opgen gen_autograd`: operators and their derivatives → the C++ of torch's autograd.

    python -m opgen.gen_autograd native_functions.yaml tags.yaml out packaged/autograd

With `--bindings` it also writes what `opgen.commands.gen_python` does and reads the definitions only once.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Final

from opgen.commands._autograd import (
    DEPRECATED,
    DERIVATIVES,
    add_autograd_flags,
    autograd_work,
    templates_of,
)
from opgen.commands.gen_python import EMITTERS as BINDINGS
from opgen.diagnostics import Diagnostics
from opgen.frontend.native_functions import load_program, load_readable_functions
from opgen.frontend.selection import ALLOW_UNKNOWN_FLAG, load_words
from opgen.output.emitter import Emitter, OnDemand, bind
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.command import Command, Group
from opgen.run.work import Work
from opgen.selective_build.operator import strip_operator_overload_name
from opgen.selective_build.selector import SelectiveBuilder

DERIVED: Final[tuple[Emitter[Program, Path, TemplateSet, bool, bool], ...]] = (
    Emitter("derivatives", OnDemand("opgen.commands._derivatives", "emit_kernels"), cost=500),
)
"""The emitters that need derivatives."""
CHECK_FORMULAS: Final = OnDemand("opgen.frontend.derivatives", "check_formulas")
"""Reports errors in derivatives if the operators have errors; otherwise `DERIVED` does, in another process."""
TRACING: Final[tuple[Emitter[Program, TemplateSet], ...]] = (
    Emitter("tracing", OnDemand("opgen.dest.trace_type", "emit_trace_type"), cost=100),
)
"""The tracer's kernels, which need no derivatives; `--disable-autograd` omits them too."""
FACTORIES: Final[tuple[Emitter[Program, TemplateSet], ...]] = (
    Emitter("factories", OnDemand("opgen.dest.variable_factories", "emit_variable_factories"), cost=10),
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    add_autograd_flags(parser)
    parser.add_argument(
        "--op-selection-yaml-path",
        "--op_selection_yaml_path",
        type=Path,
        metavar="FILE",
        help="write kernels for the operators that a selection file selects for training",
    )
    parser.add_argument(
        "--selected-op-list-path",
        "--selected_op_list_path",
        type=Path,
        metavar="FILE",
        help="write kernels for the operators of a YAML list, each with all its overloads (aten::add)",
    )
    parser.add_argument(
        ALLOW_UNKNOWN_FLAG,
        action="store_true",
        help="only warn about selected operators that are not defined here",
    )
    parser.add_argument(
        "--disable-autograd", "--disable_autograd", action="store_true", help="write no kernels that record the graph"
    )
    parser.add_argument(
        "--bindings",
        action="store_true",
        help="also write what gen_python does, which takes less time than two commands",
    )


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators; the emitters that need derivatives read those."""
    listed: Path | None = options.selected_op_list_path
    if listed is not None and options.op_selection_yaml_path is not None:
        message = "--selected-op-list-path and --op-selection-yaml-path can't be given together"
        log.error("conflicting-flags", message)
        return None
    names = None if listed is None else [strip_operator_overload_name(word.text) for word in load_words(listed, log)]
    program = load_program(
        options.native_functions,
        options.tags,
        log,
        selected_names=names,
        selection_path=options.op_selection_yaml_path,
        allow_unknown_operators=options.allow_unknown_operators,
        torch=options.torch_version,
    )
    if program is None:
        readable = load_readable_functions(options.native_functions, options.torch_version)
        CHECK_FORMULAS(options.autograd / DERIVATIVES, readable, log)
        return None
    if names is not None:
        # All operators in such a list are selected for training.
        selector = SelectiveBuilder.from_legacy_op_registration_allow_list(names, True, True)
        program = replace(program, selector=selector)
    templates, derivatives, deprecated = templates_of(options), options.autograd / DERIVATIVES, None
    disabled: bool = options.disable_autograd
    emitters = [
        *bind(DERIVED, program, derivatives, templates, disabled, options.bindings),
        *bind(operator_emitters(disable_autograd=disabled), program, templates),
    ]
    if options.bindings:
        deprecated = options.autograd / DEPRECATED
        emitters += bind(BINDINGS, program, deprecated, templates)
    read = (options.op_selection_yaml_path, listed, derivatives, deprecated)
    return autograd_work(options, tuple(emitters), templates, len(program.functions), *read)


def operator_emitters(*, disable_autograd: bool) -> tuple[Emitter[Program, TemplateSet], ...]:
    """Return the emitters that need no derivatives."""
    return FACTORIES if disable_autograd else (*TRACING, *FACTORIES)


COMMAND: Final = Command(
    name="gen_autograd",
    group=Group.TORCH,
    summary="write the kernels that record gradients, from derivatives.yaml",
    produces="Writes VariableType*.cpp, Functions.cpp and their headers into OUT.",
    add_flags=add_flags,
    load=load,
)
