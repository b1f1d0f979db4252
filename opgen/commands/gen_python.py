"""`opgen gen_python`: operators → their Python bindings in C++, and the Python types of autograd nodes.

python -m opgen.gen_python native_functions.yaml tags.yaml out packaged/autograd
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from opgen.commands._autograd import (
    DEPRECATED,
    DERIVATIVES,
    add_autograd_flags,
    autograd_work,
    templates_of,
)
from opgen.diagnostics import Diagnostics
from opgen.frontend.native_functions import load_program
from opgen.output.emitter import Emitter, OnDemand, bind
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.command import Command, Group
from opgen.run.work import Work

EMITTERS: Final[tuple[Emitter[Program, Path, TemplateSet], ...]] = (
    Emitter("bindings", OnDemand("opgen.commands._bindings", "emit_bindings"), cost=300),
)
"""The bindings of operators."""
NODE_EMITTERS: Final[tuple[Emitter[Program, Path, TemplateSet], ...]] = (
    Emitter("nodes", OnDemand("opgen.commands._derivatives", "emit_python_nodes"), cost=200),
)
"""The Python types of the nodes of autograd's graph."""


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators; the emitters read old signatures and derivatives."""
    program = load_program(options.native_functions, options.tags, log, torch=options.torch_version)
    if program is None:
        return None
    templates = templates_of(options)
    deprecated, derivatives = options.autograd / DEPRECATED, options.autograd / DERIVATIVES
    emitters = (
        *bind(EMITTERS, program, deprecated, templates),
        *bind(NODE_EMITTERS, program, derivatives, templates),
    )
    return autograd_work(options, emitters, templates, len(program.functions), deprecated, derivatives)


COMMAND: Final = Command(
    name="gen_python",
    group=Group.TORCH,
    summary="write the Python bindings",
    produces="Writes python_variable_methods.cpp and the bindings of torch's modules into OUT.",
    add_flags=add_autograd_flags,
    load=load,
)
