"""`opgen gen_backend_stubs`: a backend YAML → the class of its kernels, and their registrations.

    python -m opgen.gen_backend_stubs --from-torch --source-yaml backend.yaml --output-dir out

writes `out/<Key>NativeFunctions.h`, `out/Register<Key>.cpp` and, if the backend has kernels for autograd,
`out/RegisterAutograd<Key>.cpp`.  `opgen.backend.backend_yaml` reads the YAML.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from opgen.backend.backend_yaml import ExternalBackend
from opgen.backend.native_class import emit_class_header
from opgen.backend.registrations import RegistrationStyle, emit_registrations
from opgen.commands._backend_flags import BackendInputs, add_backend_flags, describe_check, load_backend_inputs
from opgen.diagnostics import Diagnostic, Diagnostics
from opgen.output.emitter import Emitter, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import PlacedFile
from opgen.program.program import Program
from opgen.run.command import Command, Group
from opgen.run.work import Work, install_root, write_or_raise

LIST_FLAG: Final = "--output-list"

CLASS_EMITTERS: Final[tuple[Emitter[ExternalBackend, Program, TemplateSet], ...]] = (
    Emitter("class", emit_class_header),
)
REGISTRATION_EMITTERS: Final[tuple[Emitter[ExternalBackend, Program, TemplateSet, RegistrationStyle], ...]] = (
    Emitter("registrations", emit_registrations),
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of torch's generator, and a few of opgen's own."""
    add_backend_flags(parser)
    parser.add_argument(
        "--include-prefix",
        metavar="PATH",
        help="include the header of the class as PATH/<Key>NativeFunctions.h; '' for no path; default: DIR",
    )
    parser.add_argument(
        "--per-operator-headers",
        "--per_operator_headers",
        action="store_true",
        help="include torch's headers operator by operator",
    )
    parser.add_argument(
        "--register-when-called",
        nargs="?",
        const="",
        metavar="NAME",
        help="register kernels in a function Register<NAME><Key>NativeFunctions(), not when the library is loaded",
    )
    parser.add_argument(LIST_FLAG, type=Path, metavar="FILE", help="list the files written in FILE, one per line")


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators and the backend; return None, with errors logged, if it fails."""
    inputs = load_backend_inputs(options, log)
    if inputs is None:
        return None
    if not inputs.backend.indices:
        log.warning("backend-without-kernels", f"'{options.source_yaml}' lists no kernel, so there is nothing to write")
    log.extend(_nodes(inputs.backend))
    return Work(
        _bind_emitters(inputs, _style(options)),
        install_root(options.output_dir),
        inputs.templates,
        read=inputs.read,
        lists=partial(_lists, options),
        text=describe_check(inputs, options.impl_path),
    )


def _nodes(backend: ExternalBackend) -> Iterator[Diagnostic]:
    """Warn about the keys that are for the nodes of a lazy backend."""
    places = {
        "ir_gen": [backend.places[name] for name in backend.ir_gen],
        "non_native": [node.loc for node in backend.non_native],
    }
    for key, spans in places.items():
        if spans:
            message = f"'{key}' lists nodes, which only 'opgen gen_lazy_tensor' generates"
            yield Diagnostic("key-without-effect", message, spans[0], severity="warning")


def _bind_emitters(inputs: BackendInputs, style: RegistrationStyle) -> tuple[Emitter[[]], ...]:
    backend, program, templates = inputs.backend, inputs.program, inputs.templates
    return (
        *bind(CLASS_EMITTERS, backend, program, templates),
        *bind(REGISTRATION_EMITTERS, backend, program, templates, style),
    )


def _style(options: argparse.Namespace) -> RegistrationStyle:
    prefix: str = os.fspath(options.output_dir) if options.include_prefix is None else options.include_prefix
    return RegistrationStyle(
        header_folder=prefix.rstrip("/"),
        per_operator_headers=options.per_operator_headers,
        eager_registration=options.register_when_called is None,
        backend_name=options.register_when_called or "",
    )


def _lists(options: argparse.Namespace, placed: Sequence[PlacedFile]) -> Iterator[tuple[Path, str]]:
    """Yield the list of the files written."""
    if options.output_list is not None and not options.dry_run:
        yield options.output_list, "".join(f"{options.output_dir / file.name}\n" for file in placed)


# ------------------------------------------------------------------------------- for programs


def run(
    source_yaml: str | os.PathLike[str],
    output_dir: str | os.PathLike[str],
    dry_run: bool = False,
    impl_path: str | os.PathLike[str] | None = None,
    *,
    from_torch: bool = False,
) -> None:
    """Write the files of a backend; raise `UserError` with all errors."""
    flags = ["-s", os.fspath(source_yaml), "-o", os.fspath(output_dir)]
    flags += [] if impl_path is None else ["--impl-path", os.fspath(impl_path)]
    flags += ["--from-torch"] if from_torch else []
    write_or_raise(partial(load, COMMAND.build_parser().parse_args(flags)), dry_run=dry_run)


def generate(inputs: BackendInputs, style: RegistrationStyle) -> tuple[OutputFile, ...]:
    """Return every file of a run as a value; raise one `UserError` with all template errors."""
    return collect_files(_bind_emitters(inputs, style))


COMMAND: Final = Command(
    name="gen_backend_stubs",
    group=Group.BACKENDS,
    summary="write the class and registrations of a backend that lives outside of torch",
    produces="Writes <Key>NativeFunctions.h, Register<Key>.cpp and, if the backend has kernels for autograd, "
    "RegisterAutograd<Key>.cpp into the output directory.",
    add_flags=add_flags,
    load=load,
)
