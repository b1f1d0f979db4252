"""The flags and loaders shared by the commands that read operators and a folder of autograd's inputs.

python -m opgen.gen_autograd NATIVE_FUNCTIONS TAGS OUT AUTOGRAD_DIR
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from opgen.diagnostics import Diagnostics, UserError
from opgen.output.emitter import Emitter, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.run.flags import add_common_flags
from opgen.run.inputs import Inputs, autograd_templates
from opgen.run.work import Work, install_root, write_or_raise

DEPRECATED: Final = "deprecated.yaml"
DERIVATIVES: Final = "derivatives.yaml"

Q = TypeVar("Q")


def add_autograd_flags(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that torch's generators of autograd and bindings take."""
    parser.add_argument("native_functions", type=Path, metavar="NATIVE_FUNCTIONS", help="the operators (YAML)")
    parser.add_argument("tags", type=Path, metavar="TAGS", help="the tags that operators may have (YAML)")
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to write to")
    parser.add_argument("autograd", type=Path, metavar="AUTOGRAD_DIR", help="folder of the inputs of autograd")
    add_common_flags(parser)


def autograd_work(
    options: argparse.Namespace,
    emitters: tuple[Emitter[[]], ...],
    templates: TemplateSet,
    operators: int,
    *read: Path | None,
) -> Work:
    """Return the work of a run that also reads the files `read`."""
    # The folder is an input even if it is missing: then opgen's own templates are used.
    inputs = Inputs(options.native_functions, options.tags, options.autograd / "templates")
    paths = (*inputs.files, inputs.templates, *read)
    return Work(
        emitters,
        install_root(options.out),
        templates,
        read=tuple(path for path in paths if path is not None),
        operators=operators,
    )


def write_for_program(
    load: Callable[[argparse.Namespace, Diagnostics], Work | None],
    native_functions: str | os.PathLike[str],
    tags: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd: str | os.PathLike[str],
) -> None:
    """Run the command with the loader `load`; raise `UserError` with all errors."""
    options = argparse.Namespace(
        native_functions=Path(native_functions),
        tags=Path(tags),
        out=Path(out),
        autograd=Path(autograd),
        torch_version=None,
    )
    write_or_raise(partial(load, options))


def templates_of(options: argparse.Namespace) -> TemplateSet:
    """Return the templates beside the inputs of autograd, or opgen's own."""
    return TemplateSet(autograd_templates(options.autograd))


def emit_derived(
    derive: Callable[[Diagnostics], Q | None],
    table: Iterable[Emitter[Q, TemplateSet]],
    templates: TemplateSet,
) -> tuple[OutputFile, ...]:
    """Derive the program that several emitters share, and return their files; raise one `UserError` with all errors.

    One worker does both, while other workers run the emitters that don't need this program.
    """
    log = Diagnostics()
    program = derive(log)
    if program is None or log.has_errors:
        raise UserError(*log.all)
    return collect_files(bind(table, program, templates))
