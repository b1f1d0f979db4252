"""`opgen gen_lazy_tensor`: the YAML of a lazy backend → the nodes of its graph, and the kernels that make them.

    python -m opgen.gen_lazy_tensor --from-torch --source-yaml backend.yaml --output-dir out --gen-ts-lowerings

writes `LazyIr.h`, `LazyNonNativeIr.h`, `<Key>NativeFunctions.h` and `.cpp`, `Register<Key>.cpp` and, if the
backend has kernels for autograd, `RegisterAutograd<Key>.cpp`.  From Python, `run_gen_lazy_tensor` does the same; a
backend may pass its own subclasses of `GenLazyIR` and `GenLazyNativeFuncDefinition`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from opgen.backend.backend_yaml import ExternalBackend
from opgen.backend.registrations import RegistrationStyle
from opgen.commands._backend_flags import BackendInputs, add_backend_flags, describe_check, load_backend_inputs
from opgen.commands.gen_backend_stubs import CLASS_EMITTERS, REGISTRATION_EMITTERS
from opgen.diagnostics import Diagnostic, Diagnostics, Note, Source, UserError
from opgen.frontend.nodes import read_source
from opgen.lazy.emit import LazyGenerators, LazyStyle, emit_ir, emit_kernels, emit_non_native_ir, in_lazy_order
from opgen.lazy.kernels import GenLazyNativeFuncDefinition
from opgen.lazy.nodes import GenLazyIR, GenTSLazyIR
from opgen.lazy.rules import check_lazy
from opgen.lazy.shape_header import check_shape_header
from opgen.output.emitter import Emitter, bind
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.command import Command, Group
from opgen.run.work import Work, install_root, write_or_raise

EMITTERS: Final[tuple[Emitter[ExternalBackend, Program, TemplateSet, LazyStyle, LazyGenerators], ...]] = (
    Emitter("kernels", emit_kernels),
    Emitter("nodes", emit_ir),
    Emitter("nodes that are not operators", emit_non_native_ir),
)

_DEFAULTS: Final = LazyStyle(output_dir="")
_OF_LOWERINGS: Final = frozenset(
    ("Lower", "LowerDeclOnly", "CanBeReused", "CanBeReusedDeclOnly", "CreateFn", "CreateFnDeclOnly")
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of torch's generator, and a few of opgen's own."""
    add_backend_flags(parser)
    parser.add_argument(
        "--gen-ts-lowerings",
        "--gen_ts_lowerings",
        action="store_true",
        help="write nodes that TorchScript runs, compare them and reuse them",
    )
    for name, metavar, text in (
        ("node-base", "CLASS", "the C++ class that nodes derive from"),
        ("node-base-hdr", "HEADER", "the header that has it"),
        ("shape-inference-hdr", "HEADER", "the header of shape functions that are written by hand"),
        ("tensor-class", "CLASS", "the C++ class of lazy tensors"),
        ("tensor-class-hdr", "HEADER", "the header that has it"),
        ("backend-name", "NAME", "a part of the name of the function that registers the kernels"),
    ):
        attribute = name.replace("-", "_")
        default = getattr(_DEFAULTS, attribute)
        shown = f"{text}; default: {default}" if default is not None else text
        parser.add_argument(f"--{name}", f"--{attribute}", default=default, metavar=metavar, help=shown)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators and the backend; return None, with errors logged, if it fails."""
    style = replace(
        _DEFAULTS,
        output_dir=os.fspath(options.output_dir),
        backend_name=options.backend_name,
        node_base=options.node_base,
        node_base_hdr=options.node_base_hdr,
        tensor_class=options.tensor_class,
        tensor_class_hdr=options.tensor_class_hdr,
        shape_inference_hdr=options.shape_inference_hdr or None,
    )
    generators = LazyGenerators(GenTSLazyIR if options.gen_ts_lowerings else GenLazyIR, GenLazyNativeFuncDefinition)
    registrations = RegistrationStyle(style.output_dir, eager_registration=False, backend_name=options.backend_name)
    return _load(options, style, generators, registrations, log)


def _load(
    options: argparse.Namespace,
    style: LazyStyle,
    generators: LazyGenerators,
    registrations: RegistrationStyle,
    log: Diagnostics,
) -> Work | None:
    inputs = load_backend_inputs(options, log, checks_generated=False)
    header = _shape_header(style.shape_inference_hdr, log)
    if inputs is None:
        return None
    backend, program = inputs.backend, inputs.program
    _warn_about_class_name(backend, options.source_yaml, log)
    if generators.nodes is GenLazyIR:
        log.extend(_idle_properties(backend))
    backend = check_lazy(backend, program, log, needs_tensor=style.create_from_first_tensor)
    if header is not None:
        check_shape_header(header, backend, program, log)
    if log.has_errors:
        return None
    return Work(
        _bind_emitters(replace(inputs, backend=backend), style, generators, registrations),
        install_root(options.output_dir),
        inputs.templates,
        read=(*inputs.read, *_shape_header_candidates(style.shape_inference_hdr)),
        text=describe_check(inputs, options.impl_path),
    )


def _bind_emitters(
    inputs: BackendInputs, style: LazyStyle, generators: LazyGenerators, registrations: RegistrationStyle
) -> tuple[Emitter[[]], ...]:
    program, templates = in_lazy_order(inputs.program), inputs.templates
    backend = replace(inputs.backend, class_name=default_class_name(inputs.backend))
    return (
        *bind(CLASS_EMITTERS, backend, program, templates),
        *bind(REGISTRATION_EMITTERS, backend, program, templates, registrations),
        *bind(EMITTERS, backend, program, templates, style, generators),
    )


def _warn_about_class_name(backend: ExternalBackend, source: Path, log: Diagnostics) -> None:
    name = default_class_name(backend)
    if backend.class_name != name:
        message = f"'{source}' names the class '{backend.class_name}', but that of a lazy backend is '{name}'"
        log.warning("lazy-class-name", message, label="remove 'class_name'")


def _idle_properties(backend: ExternalBackend) -> Iterator[Diagnostic]:
    """Warn about properties of the methods that only `--gen-ts-lowerings` writes."""
    for node in backend.non_native:
        for word in sorted(_OF_LOWERINGS.intersection(node.properties)):
            message = f"the property '{word}' of '{node.func.name}' has no effect without --gen-ts-lowerings"
            yield Diagnostic("key-without-effect", message, node.loc, severity="warning")


def default_class_name(backend: ExternalBackend) -> str:
    """Return the class of the kernels, which torch's generator fixes for lazy backends whatever the YAML says."""
    return f"{backend.key}NativeFunctions"


def _shape_header(name: str | None, log: Diagnostics) -> Source | None:
    """Return the header of shape functions; torch's own header may be missing."""
    if not name:
        return None
    candidates = _shape_header_candidates(name)
    path = next(filter(Path.is_file, candidates), None)
    if path is not None:
        try:
            return read_source(path, name)
        except UserError as problem:
            log.extend(problem.diagnostics)
            return None
    if name != _DEFAULTS.shape_inference_hdr:
        notes = [Note(f"looked for '{place}'") for place in candidates]
        log.error("missing-file", f"there is no header '{name}'", label="--shape-inference-hdr names it", notes=notes)
    return None


def _shape_header_candidates(name: str | None) -> list[Path]:
    """Return the paths to search for the header, including those in the installed torch."""
    return [Path(name), *(folder / name for folder in _torch_includes())] if name else []


def _torch_includes() -> list[Path]:
    """Return the header folders of the installed torch, if any, without importing it."""
    spec = find_spec("torch")
    folders = spec.submodule_search_locations if spec is not None else None
    return [Path(folder) / "include" for folder in folders or ()]


# ------------------------------------------------------------------------------- for programs


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
    """Write the files of `source_yaml` and of `native/` in `aten_path`; raise `UserError` with all errors."""
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
    options = _parse_paths(source_yaml, output_dir, impl_path, aten_path)
    load_work = partial(_load, options, style, generators, registrations)
    write_or_raise(load_work, dry_run=dry_run)


def _parse_paths(
    source_yaml: str | os.PathLike[str],
    output_dir: str | os.PathLike[str],
    impl_path: str | os.PathLike[str] | None,
    aten_path: str | os.PathLike[str] | None,
) -> argparse.Namespace:
    """Return the options of a command line with these paths."""
    flags = ["--source-yaml", os.fspath(source_yaml), "--output-dir", os.fspath(output_dir)]
    flags += [] if impl_path is None else ["--impl-path", os.fspath(impl_path)]
    flags += [] if aten_path is None else ["--source-path", os.fspath(aten_path)]
    return COMMAND.build_parser().parse_args(flags)


COMMAND: Final = Command(
    name="gen_lazy_tensor",
    group=Group.BACKENDS,
    summary="write the nodes and kernels of a lazy backend",
    produces="Writes LazyIr.h, <Key>NativeFunctions.h and .cpp, and Register<Key>.cpp into the output directory.",
    add_flags=add_flags,
    load=load,
)
