"""`opgen import`: write the definitions of a library whose operators are registered by hand.

    opgen import src/*.cpp python/ops.py -d ops           from m.def(…), m.impl(…), torch.library.define(…), custom_op
    opgen import --from-ops mylib --load libmylib.so -d ops   from the dispatcher, after the library is loaded

It writes `native/native_functions.yaml` below `-d`, and lists what it could not read.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.importing.definitions import Imported, combine, render_definitions
from opgen.importing.dispatcher import read_dispatcher
from opgen.importing.sources import read_source
from opgen.output.console import count
from opgen.output.emitter import Emitter, bind
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.run.command import Command, Group
from opgen.run.flags import add_dry_run, add_output_flags
from opgen.run.work import Work, install_root

_DEFINITIONS: Final = "native/native_functions.yaml"
_SUFFIXES: Final = frozenset({".py", ".pyi", ".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".hip", ".mm"})


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    parser.add_argument(
        "sources", nargs="*", type=Path, metavar="FILE", help="C++ or Python sources, or folders of them"
    )
    parser.add_argument("--from-ops", metavar="NAMESPACE", help="read the operators of a namespace from the dispatcher")
    parser.add_argument(
        "--load", action="append", default=[], metavar="FILE", help="library, or Python module, that registers them"
    )
    parser.add_argument("--namespace", metavar="NAMESPACE", help="read the operators of this namespace only")
    parser.add_argument("-d", "--install-dir", type=Path, default=Path("ops"), metavar="DIR", help="default: ops")
    add_dry_run(parser)
    add_output_flags(parser, of_torch=False)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the registrations; return None, with errors logged, if there are none."""
    imported = _read(options, log)
    if log.has_errors or imported is None:
        return None
    chosen = _choose(imported, options.namespace or options.from_ops, log)
    if chosen is None:
        return None
    emitters = bind((Emitter("definitions", definitions),), chosen)
    number = len(chosen.operators)
    what = f"{count(number, 'operator')} of '{chosen.namespace}' {'is' if number == 1 else 'are'}"
    text = "" if options.dry_run else f"{what} in {options.install_dir}\n"
    step = f"read the definitions, then run 'opgen gen --source-path {options.install_dir} --install-dir generated'"
    # The user edits the file from now on, so no manifest is written.
    return Work(
        emitters, install_root(options.install_dir), TemplateSet(), text=text, has_manifest=False, next_step=step
    )


def definitions(imported: Imported) -> Iterator[OutputFile]:
    """Yield the file of definitions."""
    yield OutputFile(_DEFINITIONS, render_definitions(imported))


def _read(options: argparse.Namespace, log: Diagnostics) -> list[Imported] | None:
    if options.from_ops is None and options.load:
        log.error("flag-without-effect", "--load needs --from-ops", label="sources are read, and not loaded")
        return None
    if options.from_ops is not None and options.sources:
        label = "import from one, then from the other"
        log.error("conflicting-flags", "sources and --from-ops can't be given together", label=label)
        return None
    if options.from_ops is not None:
        return read_dispatcher(options.from_ops, options.load, log)
    if not options.sources:
        log.error(
            "import-nothing", "there is nothing to import from", label="name sources, or a namespace with --from-ops"
        )
        return None
    return combine([each for path in _files(options.sources, log) for each in read_source(path, log)], log)


def _files(paths: Sequence[Path], log: Diagnostics) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES)
        elif path.is_file():
            yield path
        else:
            log.error("import-missing", f"there is no file '{path}'")


def _choose(imported: Sequence[Imported], namespace: str | None, log: Diagnostics) -> Imported | None:
    """Return the operators of the namespace to write: a definitions file has one namespace."""
    matches = [each for each in imported if each.operators and namespace in (None, each.namespace)]
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(f"'{each.namespace}'" for each in imported if each.operators)
    if matches:
        log.error("import-several", f"there are operators of {names}", label="choose one with --namespace")
    else:
        what = f"of '{namespace}' " if namespace else ""
        log.error(
            "import-nothing", f"no operator {what}is registered there", label=f"there are {names}" if names else ""
        )
    return None


COMMAND: Final = Command(
    name="import",
    group=Group.OPERATORS,
    summary="write the definitions of operators that are registered by hand",
    produces="Writes native/native_functions.yaml into the install directory, and prints what it could not read.",
    add_flags=add_flags,
    load=load,
)
