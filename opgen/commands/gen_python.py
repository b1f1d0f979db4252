"""`opgen gen_python`: operators → the C++ by which Python calls them, and the Python types of autograd's nodes.

python -m opgen.gen_python native_functions.yaml tags.yaml out packaged/autograd
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import Final

from opgen.commands._autograd import (
    DEPRECATED,
    DERIVATIVES,
    add_autograd_flags,
    autograd_work,
    emit_derived,
    templates_of,
)
from opgen.diagnostics import Diagnostics
from opgen.frontend.autograd_functions import derive_autograd
from opgen.frontend.deprecated import load_deprecated
from opgen.frontend.native_functions import load_program
from opgen.frontend.python_functions import derive_python
from opgen.output.emitter import Emitter, OnDemand, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram
from opgen.program.program import Program
from opgen.program.python import PythonProgram
from opgen.run.command import Command, Group
from opgen.run.work import Work, install_root, write_or_raise

BINDING_EMITTERS: Final[tuple[Emitter[PythonProgram, TemplateSet], ...]] = (
    Emitter("methods", OnDemand("opgen.dest.python_bindings", "emit_python_methods")),
    Emitter("functions", OnDemand("opgen.dest.python_bindings", "emit_python_functions")),
    Emitter("return types", OnDemand("opgen.dest.python_return_types", "emit_python_return_types")),
    Emitter("tags", OnDemand("opgen.dest.python_enum_tag", "emit_python_enum_tag")),
)
"""The bindings of operators."""
NODE_EMITTERS: Final[tuple[Emitter[AutogradProgram, TemplateSet], ...]] = (
    Emitter("nodes", OnDemand("opgen.dest.python_nodes", "emit_python_node_headers")),
    Emitter("nodes", OnDemand("opgen.dest.python_nodes", "emit_python_node_sources")),
)
"""The Python types of the nodes of autograd's graph."""


def load(given: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators; the emitters read old signatures and derivatives."""
    program = load_program(given.native_functions, given.tags, log, torch=given.torch_version)
    if program is None:
        return None
    templates = templates_of(given)
    deprecated, derivatives = given.autograd / DEPRECATED, given.autograd / DERIVATIVES
    derive = partial(derive_autograd, program, derivatives, selector=program.selector)
    emitters = (
        bindings_emitter(program, deprecated, templates),
        Emitter("nodes", partial(emit_derived, derive, NODE_EMITTERS, templates), cost=200),
    )
    return autograd_work(given, emitters, templates, len(program.functions), deprecated, derivatives)


def bindings_emitter(program: Program, deprecated: Path, templates: TemplateSet) -> Emitter[[]]:
    """Return the emitter of the bindings of a program, which reads old signatures from `deprecated`."""
    derive = partial(_derive, program, deprecated)
    return Emitter("bindings", partial(emit_derived, derive, BINDING_EMITTERS, templates), cost=300)


def _derive(program: Program, deprecated: Path, log: Diagnostics, *, symint: bool = True) -> PythonProgram | None:
    python = derive_python(program, load_deprecated(deprecated, program.functions, log), log, symint=symint)
    return None if log.has_errors else python


# ------------------------------------------------------------------------------- for programs


def gen_autograd_python(
    native_functions_path: str | os.PathLike[str],
    tags_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd_dir: str | os.PathLike[str],
) -> None:
    """Write the bindings and the Python types of autograd's nodes; raise `UserError` with every mistake."""
    options = argparse.Namespace(
        native_functions=Path(native_functions_path),
        tags=Path(tags_path),
        out=Path(out),
        autograd=Path(autograd_dir),
        torch_version=None,
    )
    write_or_raise(partial(load, options))


def gen(
    out: str | os.PathLike[str],
    native_yaml_path: str | os.PathLike[str],
    tags_yaml_path: str | os.PathLike[str],
    deprecated_yaml_path: str | os.PathLike[str],
    template_path: str | os.PathLike[str],
    *,
    symint: bool = True,
) -> None:
    """Write the bindings alone, by default with symbolic integers; raise `UserError` with every mistake."""
    paths = Path(native_yaml_path), Path(tags_yaml_path), Path(deprecated_yaml_path)
    templates = TemplateSet(template_path)

    def load_work(log: Diagnostics) -> Work | None:
        program = load_python(*paths, log, symint=symint)
        if program is None:
            return None
        return Work(bind(BINDING_EMITTERS, program, templates), install_root(Path(out)), templates)

    write_or_raise(load_work)


def load_python(
    functions: Path,
    tags: Path,
    deprecated: Path,
    log: Diagnostics,
    *,
    symint: bool = True,
    torch: str | None = None,
) -> PythonProgram | None:
    """Return the operators as Python sees them; None, with the reasons logged, if anything is wrong."""
    program = load_program(functions, tags, log, torch=torch)
    return None if program is None else _derive(program, deprecated, log, symint=symint)


def generate(program: PythonProgram, templates: TemplateSet) -> tuple[OutputFile, ...]:
    """Return the bindings as values; raise one `UserError` with all mistakes in templates."""
    return collect_files(bind(BINDING_EMITTERS, program, templates))


COMMAND: Final = Command(
    name="gen_python",
    group=Group.TORCH,
    summary="write the Python bindings",
    add_flags=add_autograd_flags,
    load=load,
)
