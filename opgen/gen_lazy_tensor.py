"""The generator for lazy backends: a backend YAML in, the nodes of its graph and the kernels that make them out.

    python -m opgen.gen_lazy_tensor --from-torch --source-yaml backend.yaml --output-dir out --gen-ts-lowerings

writes `LazyIr.h`, `LazyNonNativeIr.h`, `<Key>NativeFunctions.h` and `.cpp`, `Register<Key>.cpp` and, if the
backend has kernels for autograd, `RegisterAutograd<Key>.cpp`.  This is a shell; from Python,
`run_gen_lazy_tensor` does the same, with classes derived from `GenLazyIR` and `GenLazyNativeFuncDefinition`
for what a backend wants different.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NoReturn

from opgen.backend.backend_yaml import ExternalBackend
from opgen.backend.native_class import emit_class_header
from opgen.backend.registrations import RegistrationStyle, emit_registrations
from opgen.diagnostics import Diagnostics, Note, Source, UserError
from opgen.frontend.nodes import read_source
from opgen.lazy.emit import EMITTERS, LazyGenerators, LazyStyle, in_lazy_order
from opgen.lazy.kernels import GenLazyNativeFuncDefinition
from opgen.lazy.nodes import GenLazyIR, GenTSLazyIR
from opgen.lazy.rules import check_lazy
from opgen.lazy.shape_header import check_shape_header
from opgen.output.files import OutputFile
from opgen.output.writer import WriteReport, write_files
from opgen.run.backend_flags import BackendInputs, add_backend_flags, describe_check, load_backend_inputs
from opgen.run.entry import run_as_program
from opgen.run.shell import run_command

__all__ = [
    "GenLazyIR",
    "GenLazyNativeFuncDefinition",
    "GenTSLazyIR",
    "build_parser",
    "entry_point",
    "generate",
    "main",
    "run_gen_lazy_tensor",
]

_DEFAULTS: Final = LazyStyle(output_dir="")


def run_gen_lazy_tensor(
    aten_path: str | os.PathLike[str] | None,
    source_yaml: str | os.PathLike[str],
    output_dir: str | os.PathLike[str],
    dry_run: bool,
    impl_path: str | os.PathLike[str] | None,
    node_base: str = _DEFAULTS.node_base,
    node_base_hdr: str | None = None,
    tensor_class: str = _DEFAULTS.tensor_class,
    tensor_class_hdr: str = _DEFAULTS.tensor_class_hdr,
    shape_inference_hdr: str | None = _DEFAULTS.shape_inference_hdr,
    lazy_ir_generator: type[GenLazyIR] = GenLazyIR,
    native_func_definition_generator: type[GenLazyNativeFuncDefinition] = GenLazyNativeFuncDefinition,
    build_in_tree: bool = False,
    per_operator_headers: bool = False,
    backend_name: str = _DEFAULTS.backend_name,
    gen_forced_fallback_code: bool = False,
    use_lazy_shape: bool = True,
    backend_namespace: str = _DEFAULTS.backend_namespace,
    get_tensorlist: str = _DEFAULTS.get_tensorlist,
    get_tensor_or_wrap_number: str = _DEFAULTS.get_tensor_or_wrap_number,
    try_get_tensor: str = _DEFAULTS.try_get_tensor,
    metrics_counter: str = _DEFAULTS.metrics_counter,
    create_tensor: str = _DEFAULTS.create_tensor,
    create_from_first_tensor: bool = False,
    create_aten_from_ltc_tensor: str = _DEFAULTS.create_aten_from_ltc_tensor,
    tuple_aten_from_ltc_tensors: str = _DEFAULTS.tuple_aten_from_ltc_tensors,
    lazy_value_class: str = _DEFAULTS.lazy_value_class,
    lazy_tensor_ptr: str = _DEFAULTS.lazy_tensor_ptr,
    get_device_fn: str = _DEFAULTS.get_device_fn,
) -> None:
    """Writes what comes of `source_yaml` and the `native/` in `aten_path`; raises UserError with every mistake."""
    style = LazyStyle(
        output_dir=os.fspath(output_dir),
        backend_name=backend_name,
        node_base=node_base,
        node_base_hdr=node_base_hdr,
        tensor_class=tensor_class,
        tensor_class_hdr=tensor_class_hdr,
        shape_inference_hdr=shape_inference_hdr,
        gen_forced_fallback_code=gen_forced_fallback_code,
        use_lazy_shape=use_lazy_shape,
        backend_namespace=backend_namespace,
        get_tensorlist=get_tensorlist,
        get_tensor_or_wrap_number=get_tensor_or_wrap_number,
        try_get_tensor=try_get_tensor,
        metrics_counter=metrics_counter,
        create_tensor=create_tensor,
        create_from_first_tensor=create_from_first_tensor,
        create_aten_from_ltc_tensor=create_aten_from_ltc_tensor,
        tuple_aten_from_ltc_tensors=tuple_aten_from_ltc_tensors,
        lazy_value_class=lazy_value_class,
        lazy_tensor_ptr=lazy_tensor_ptr,
        get_device_fn=get_device_fn,
    )
    generators = LazyGenerators(lazy_ir_generator, native_func_definition_generator)
    registrations = RegistrationStyle(style.output_dir, build_in_tree, per_operator_headers, False, backend_name)
    flags = ["-s", os.fspath(source_yaml), "-o", style.output_dir, "--dry-run", str(dry_run).lower(), "--quiet"]
    paths = {"--impl-path": impl_path, "--source-path": aten_path}
    _write_or_raise(flags, paths, style, generators, registrations)


def _write_or_raise(
    flags: list[str],
    paths: Mapping[str, str | os.PathLike[str] | None],
    style: LazyStyle,
    generators: LazyGenerators,
    registrations: RegistrationStyle,
) -> None:
    for flag, path in paths.items():
        flags += [] if path is None else [flag, os.fspath(path)]
    log = Diagnostics()
    if _write(build_parser().parse_args(flags), style, generators, registrations, log) is None:
        raise UserError(*log.found)


def build_parser() -> argparse.ArgumentParser:
    """The command line: that of torch's generator, and flags of our own."""
    parser = argparse.ArgumentParser(
        prog="opgen gen_lazy_tensor",
        description="Generate the nodes of a lazy backend's graph, and the kernels that make them.",
        allow_abbrev=False,
    )
    add_backend_flags(parser)
    parser.add_argument(
        "--gen-ts-lowerings",
        "--gen_ts_lowerings",
        action="store_true",
        help="nodes are written as TorchScript, compared and reused",
    )
    for name, metavar, text in (
        ("node-base", "CLASS", "the C++ class that nodes derive from"),
        ("node-base-hdr", "HEADER", "the header that has it"),
        ("shape-inference-hdr", "HEADER", "the header of functions for shapes that are written by hand"),
        ("tensor-class", "CLASS", "the C++ class of lazy tensors"),
        ("tensor-class-hdr", "HEADER", "the header that has it"),
        ("backend-name", "NAME", "a part of the name of the function that registers the kernels"),
    ):
        attribute = name.replace("-", "_")
        default = getattr(_DEFAULTS, attribute)
        shown = f"{text}; default: {default}" if default is not None else text
        parser.add_argument(f"--{name}", f"--{attribute}", default=default, metavar=metavar, help=shown)
    return parser


def generate(
    inputs: BackendInputs, style: LazyStyle, generators: LazyGenerators, registrations: RegistrationStyle
) -> tuple[OutputFile, ...]:
    """Every file of a run, as values; mistakes in templates are one `UserError`."""
    program, templates = in_lazy_order(inputs.program), inputs.templates
    backend = replace(inputs.backend, class_name=default_class_name(inputs.backend))
    return (
        *emit_class_header(backend, program, templates),
        *emit_registrations(backend, program, templates, registrations),
        *(file for emit in EMITTERS for file in emit(backend, program, templates, style, generators)),
    )


def _write(
    given: argparse.Namespace,
    style: LazyStyle,
    generators: LazyGenerators,
    registrations: RegistrationStyle,
    log: Diagnostics,
) -> WriteReport | None:
    """Reads, generates and writes; None, with the reasons logged, if the inputs are wrong."""
    inputs = load_backend_inputs(given, log, checks_generated=False)
    header = _shape_header(style.shape_inference_hdr, log)
    if inputs is None:
        return None
    backend, program = inputs.backend, inputs.program
    _warn_of_class_name(backend, given.source_yaml, log)
    check_lazy(backend, program, log, needs_tensor=style.create_from_first_tensor)
    if header is not None:
        check_shape_header(header, backend, program, log)
    if log.has_errors:
        return None
    files = generate(inputs, style, generators, registrations)
    report = write_files(files, {"install": given.output_dir}, dry_run=given.dry_run)
    if not given.quiet:
        sys.stdout.write(describe_check(inputs, given.impl_path))
    return report


def _warn_of_class_name(backend: ExternalBackend, source: Path, log: Diagnostics) -> None:
    name = default_class_name(backend)
    if backend.class_name != name:
        message = f"'{source}' names the class '{backend.class_name}', but that of a lazy backend is '{name}'"
        log.warning("lazy-class-name", message, label="remove 'class_name'")


def default_class_name(backend: ExternalBackend) -> str:
    """The class of the kernels: as torch's generator has it for lazy backends, whatever the YAML says."""
    return f"{backend.key}NativeFunctions"


def _shape_header(name: str | None, log: Diagnostics) -> Source | None:
    """The header of functions for shapes; torch's own need not be there."""
    if not name:
        return None
    places = [Path(name), *(folder / name for folder in _torch_includes())]
    found = next(filter(Path.is_file, places), None)
    if found is not None:
        try:
            return read_source(found, name)
        except UserError as problem:
            log.extend(problem.diagnostics)
            return None
    if name != _DEFAULTS.shape_inference_hdr:
        notes = [Note(f"looked for '{place}'") for place in places]
        log.error("missing-file", f"there is no header '{name}'", label="--shape-inference-hdr names it", notes=notes)
    return None


def _torch_includes() -> list[Path]:
    """Where the installed torch has its headers, if there is one; torch is not imported."""
    spec = find_spec("torch")
    folders = spec.submodule_search_locations if spec is not None else None
    return [Path(folder) / "include" for folder in folders or ()]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_command(build_parser(), _run, argv)


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    style = replace(
        _DEFAULTS,
        output_dir=os.fspath(given.output_dir),
        backend_name=given.backend_name,
        node_base=given.node_base,
        node_base_hdr=given.node_base_hdr,
        tensor_class=given.tensor_class,
        tensor_class_hdr=given.tensor_class_hdr,
        shape_inference_hdr=given.shape_inference_hdr or None,
    )
    generators = LazyGenerators(GenTSLazyIR if given.gen_ts_lowerings else GenLazyIR, GenLazyNativeFuncDefinition)
    registrations = RegistrationStyle(style.output_dir, eager_registration=False, backend_name=given.backend_name)
    return _write(given, style, generators, registrations, log)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
