"""The generator of Python bindings: operators in, the C++ by which Python calls them out.

This is a shell: definitions, old signatures and derivatives to a program, the program to files, files
to disk.  What is written is listed in `opgen.dest.python_table`; `opgen.gen_python` is the command.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from opgen.autograd_run import Command, Plan, emit_derived, run_pieces
from opgen.dest.python_table import BINDING_EMITTERS, NODE_EMITTERS
from opgen.diagnostics import Diagnostics, UserError
from opgen.frontend.native_functions import load_program
from opgen.on_demand import OnDemand
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import write_files
from opgen.program.program import Program
from opgen.run.inputs import autograd_templates
from opgen.run.shares import Piece
from opgen.run.shell import autograd_parser, collect_files

if TYPE_CHECKING:
    from opgen.frontend.autograd_functions import derive_autograd
    from opgen.frontend.deprecated import load_deprecated
    from opgen.frontend.python_functions import derive_python
    from opgen.program.python import PythonProgram
else:
    # Only the process that makes the piece needs these.
    derive_autograd = OnDemand("opgen.frontend.autograd_functions", "derive_autograd")
    load_deprecated = OnDemand("opgen.frontend.deprecated", "load_deprecated")
    derive_python = OnDemand("opgen.frontend.python_functions", "derive_python")

__all__ = ["gen", "gen_autograd_python", "generate", "load_python", "main"]

COMMAND: Final = "gen_python"
DEPRECATED: Final = "deprecated.yaml"
DERIVATIVES: Final = "derivatives.yaml"


def gen_autograd_python(
    native_functions_path: str | os.PathLike[str],
    tags_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd_dir: str | os.PathLike[str],
) -> None:
    """Writes the bindings, and the Python types of autograd's nodes; raises UserError with every mistake found."""
    log, folder = Diagnostics(), Path(autograd_dir)
    program = load_program(Path(native_functions_path), Path(tags_path), log)
    if program is None:
        raise UserError(*log.found)
    python = _derive(program, folder / DEPRECATED, log)
    autograd = derive_autograd(program, folder / DERIVATIVES, log, program.selector)
    if python is None or autograd is None:
        raise UserError(*log.found)
    templates = TemplateSet(autograd_templates(folder))
    nodes = collect_files(NODE_EMITTERS, lambda emitter: emitter.emit(autograd, templates), quiet=True)
    write_files((*generate(python, templates), *nodes), {"install": Path(out)})


def gen(
    out: str | os.PathLike[str],
    native_yaml_path: str | os.PathLike[str],
    tags_yaml_path: str | os.PathLike[str],
    deprecated_yaml_path: str | os.PathLike[str],
    template_path: str | os.PathLike[str],
    *,
    symint: bool = True,
) -> None:
    """Writes the bindings alone, by default with symbolic integers; raises UserError with every mistake found."""
    log = Diagnostics()
    program = load_python(Path(native_yaml_path), Path(tags_yaml_path), Path(deprecated_yaml_path), log, symint=symint)
    if program is None:
        raise UserError(*log.found)
    write_files(generate(program, TemplateSet(template_path)), {"install": Path(out)})


def load_python(
    functions: Path,
    tags: Path,
    deprecated: Path,
    log: Diagnostics,
    *,
    symint: bool = True,
    torch: str | None = None,
) -> PythonProgram | None:
    """The operators as Python sees them; None, with the reasons logged, if anything is wrong."""
    program = load_program(functions, tags, log, torch=torch)
    return None if program is None else _derive(program, deprecated, log, symint=symint)


def _derive(program: Program, deprecated: Path, log: Diagnostics, *, symint: bool = True) -> PythonProgram | None:
    python = derive_python(program, load_deprecated(deprecated, program.functions, log), log, symint=symint)
    return None if log.has_errors else python


def generate(program: PythonProgram, templates: TemplateSet, *, quiet: bool = True) -> tuple[OutputFile, ...]:
    """The bindings, as values; mistakes in templates are one `UserError`."""
    return collect_files(BINDING_EMITTERS, lambda emitter: emitter.emit(program, templates), quiet=quiet)


# ---------------------------------------------------------------------------------- command


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    parser = autograd_parser(COMMAND, "Generate the bindings of operators to Python.")
    return run_pieces(Command(COMMAND, parser, _plan), argv)


def _plan(given: argparse.Namespace, log: Diagnostics) -> Plan | None:
    program = load_program(given.native_functions, given.tags, log, torch=given.torch_version)
    if program is None:
        return None
    templates = TemplateSet(autograd_templates(given.autograd))
    deprecated, derivatives = given.autograd / DEPRECATED, given.autograd / DERIVATIVES
    pieces = (binding_piece(program, deprecated, templates), _node_piece(program, derivatives, templates))
    return Plan(
        pieces, templates, (given.native_functions, given.tags, deprecated, derivatives), len(program.functions)
    )


def binding_piece(program: Program, deprecated: Path, templates: TemplateSet) -> Piece:
    """The bindings, as a piece of a run."""
    derive, emits = partial(_derive, program, deprecated), [emitter.emit for emitter in BINDING_EMITTERS]
    return Piece("bindings", 300, partial(emit_derived, derive, emits, templates))


def _node_piece(program: Program, derivatives: Path, templates: TemplateSet) -> Piece:
    """What shows autograd's nodes to Python, as a piece of a run."""
    derive = partial(derive_autograd, program, derivatives, selector=program.selector)
    return Piece("nodes", 200, partial(emit_derived, derive, [emitter.emit for emitter in NODE_EMITTERS], templates))
