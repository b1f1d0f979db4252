"""`opgen gen_pyi`: operators → type stubs of torch's functions.

    python -m opgen.gen_pyi native_functions.yaml tags.yaml out packaged/autograd

In the folder of autograd's inputs, it reads only `deprecated.yaml`.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from opgen.commands._autograd import DEPRECATED, add_autograd_flags, autograd_work
from opgen.commands._bindings import load_python
from opgen.diagnostics import Diagnostics
from opgen.output.emitter import Emitter, OnDemand, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.python import PythonProgram
from opgen.run.command import Command, Group
from opgen.run.work import Work, install_root, write_or_raise

EMITTERS: Final[tuple[Emitter[PythonProgram], ...]] = (
    Emitter("functions", OnDemand("opgen.dest.stubs", "emit_function_stubs")),
    Emitter("methods", OnDemand("opgen.dest.stubs", "emit_method_stubs")),
    Emitter("return types", OnDemand("opgen.dest.stubs", "emit_return_type_stubs")),
)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators and old signatures; return None, with errors logged, if it fails."""
    deprecated = options.autograd / DEPRECATED
    program = load_python(options.native_functions, options.tags, deprecated, log, torch=options.torch_version)
    if program is None:
        return None
    # The emitters share derived values, so one process is as fast as several.
    return autograd_work(options, bind(EMITTERS, program), TemplateSet(), 0, deprecated)


def gen_pyi(
    native_yaml_path: str | os.PathLike[str],
    tags_yaml_path: str | os.PathLike[str],
    deprecated_yaml_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
) -> None:
    """Write the stubs; raise `UserError` with all errors."""
    paths = Path(native_yaml_path), Path(tags_yaml_path), Path(deprecated_yaml_path)

    def load_work(log: Diagnostics) -> Work | None:
        program = load_python(*paths, log)
        if program is None:
            return None
        return Work(bind(EMITTERS, program), install_root(Path(out)), TemplateSet())

    write_or_raise(load_work)


def generate(program: PythonProgram) -> tuple[OutputFile, ...]:
    """Return every stub file as a value."""
    return collect_files(bind(EMITTERS, program))


COMMAND: Final = Command(
    name="gen_pyi",
    group=Group.TORCH,
    summary="write type stubs of the Python bindings",
    produces="Writes _C/*.pyi and return_types.pyi into OUT.",
    add_flags=add_autograd_flags,
    load=load,
)
