"""`opgen gen`: operator definitions → the sources of ATen, an extension, or a library of MLX operators.

- func: add(Tensor self, Tensor other) -> Tensor              →  the sources of ATen (this module)
- func: mylib::blend(Tensor self, Tensor other) -> Tensor     →  an extension (`_extension`)
- mlx_ops.yaml in the folder                                  →  operators of MLX (`_mlx`)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from opgen.commands._definitions_kind import makes_extension, makes_mlx
from opgen.commands._flag_effects import Target, warn_of_flags
from opgen.commands._gen_flags import (
    FORCE_SCHEMA_FLAG,
    UPDATE_SHIM_FLAG,
    Request,
    add_gen_flags,
    check_shim_flags,
    read_request,
)
from opgen.diagnostics import Diagnostics, UserError
from opgen.dispatch_keys import TORCH_DISPATCH_KEYS, DispatchKey
from opgen.frontend.fallback_ops import load_shims
from opgen.frontend.native_aot import FLAG as NATIVE_AOT_FLAG
from opgen.frontend.native_aot import load_native_aot, native_aot_modules
from opgen.frontend.native_functions import load_program
from opgen.frontend.selection import warn_without_selection
from opgen.frozen_dataclass import dataclass
from opgen.output.build_files import render_install_list
from opgen.output.dependencies import GROUPS, XPU_GROUP, emit_dependencies
from opgen.output.emitter import Emitter, OnDemand, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.pinned import check_pinned
from opgen.output.template import TemplateSet
from opgen.output.writer import PlacedFile
from opgen.program.program import Options, Program
from opgen.releases.choice import TORCH_VERSION_FLAG
from opgen.run.command import Command, Group
from opgen.run.inputs import Inputs, find_inputs
from opgen.run.work import Work

if TYPE_CHECKING:
    from opgen.commands._mlx import MlxGeneration
    from opgen.extension.extension import Extension

Emit: TypeAlias = Callable[[Program, Options, TemplateSet], Iterable[OutputFile]]
AtenEmitter: TypeAlias = Emitter[Program, Options, TemplateSet]

# Imported on demand: the loaders of extensions and of MLX take 43 ms and 23 ms, and most runs write ATen's sources.
LOAD_MLX: Final = OnDemand("opgen.commands._mlx", "load_mlx_generation")
LOAD_EXTENSION: Final = OnDemand("opgen.commands._extension", "load_requested_extension")
EXTENSION_WORK: Final = OnDemand("opgen.commands._extension", "extension_work")
SHIM_HEADERS: Final = OnDemand("opgen.dest.aoti_c_shim", "emit_shim_headers")
SHIM_SOURCES: Final = OnDemand("opgen.dest.aoti_c_shim", "emit_shim_sources")

EMITTERS: Final[Mapping[str, tuple[AtenEmitter, ...]]] = MappingProxyType(
    {
        "headers": (
            Emitter("operators", OnDemand("opgen.dest.operators", "emit_operator_headers"), cost=6),
            Emitter("functions", OnDemand("opgen.dest.functions", "emit_function_headers"), cost=14),
            Emitter("Tensor", OnDemand("opgen.dest.tensor_body", "emit_tensor_headers")),
            Emitter("core lists", OnDemand("opgen.dest.core", "emit_core_headers")),
            Emitter("kernel declarations", OnDemand("opgen.dest.native_functions", "emit_native_headers"), cost=7),
            Emitter("meta declarations", OnDemand("opgen.dest.meta_functions", "emit_meta_headers")),
            Emitter("backend functions", OnDemand("opgen.dest.dispatch_headers", "emit_dispatch_headers"), cost=8),
            Emitter("registration declarations", OnDemand("opgen.dest.declarations", "emit_registration_declarations")),
            Emitter("stubs of native AOT", OnDemand("opgen.dest.native_aot", "emit_native_aot_header")),
            Emitter("vmap", OnDemand("opgen.dest.vmap_plumbing", "emit_vmap_plumbing"), cost=3),
        ),
        "sources": (
            Emitter("operators", OnDemand("opgen.dest.operators", "emit_operator_sources"), cost=5),
            Emitter("functions", OnDemand("opgen.dest.functions", "emit_function_sources")),
            Emitter("Tensor", OnDemand("opgen.dest.tensor_body", "emit_tensor_sources")),
            Emitter("core lists", OnDemand("opgen.dest.core", "emit_core_sources")),
            Emitter(
                "registrations", OnDemand("opgen.dest.register_dispatch_key", "emit_register_dispatch_key"), cost=28
            ),
            Emitter("ufuncs", OnDemand("opgen.dest.ufunc", "emit_ufunc_sources")),
            Emitter("schemas", OnDemand("opgen.dest.register_schema", "emit_register_schema")),
            Emitter("backend selection", OnDemand("opgen.dest.backend_select", "emit_backend_select")),
            Emitter("functionalization", OnDemand("opgen.dest.functionalization", "emit_functionalization"), cost=9),
            Emitter("view inverses", OnDemand("opgen.dest.view_meta", "emit_functional_inverses")),
            Emitter("view replay", OnDemand("opgen.dest.view_meta", "emit_view_meta_classes")),
            Emitter("stubs of native AOT", OnDemand("opgen.dest.native_aot", "emit_native_aot_source")),
            Emitter("view copies", OnDemand("opgen.dest.view_copy", "emit_view_copy_kernels")),
        ),
        "declarations_yaml": (
            Emitter("declarations", OnDemand("opgen.dest.declarations", "emit_declarations_yaml"), cost=12),
        ),
    }
)
"""The emitters of ATen's sources for each word of `--generate`."""


def emitters_for(options: Options) -> tuple[AtenEmitter, ...]:
    """Return the emitters of a run, including those of the AOTInductor shims."""
    emitters = [emitter for kind, table in EMITTERS.items() if kind in options.generate for emitter in table]
    if options.aoti_install_dir is not None and "sources" in options.generate:
        emitters.append(Emitter("shims", SHIM_SOURCES))
        if options.update_aoti_c_shim:
            emitters.append(Emitter("shim headers", SHIM_HEADERS))
    return tuple(emitters)


def generate(program: Program, options: Options, templates: TemplateSet) -> tuple[OutputFile, ...]:
    """Return every file of a run as a value; raise one `UserError` with all template errors."""
    return collect_files(bind(emitters_for(options), program, options, templates))


def check_shim_headers(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Check that the shim headers on disk, which are part of torch's ABI, are up to date; yield nothing."""
    log = Diagnostics()
    assert options.aoti_install_dir is not None
    check_pinned(SHIM_HEADERS(program, options, templates), options.aoti_install_dir, UPDATE_SHIM_FLAG, log)
    if log.all:
        raise UserError(*log.all)
    yield from ()


# ------------------------------------------------------------------------------------ loader


@dataclass(frozen=True, slots=True, eq=False)
class Generation:
    """The operators of a run, and the files to write for them."""

    program: Program
    extension: Extension | None
    """The operators as an extension; None for the sources of ATen."""
    work: Work


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the definitions; return None, with errors logged, if it fails."""
    request = read_request(options, log)
    source = mlx_folder(request, log)
    if source is not None:
        mlx = load_mlx(source, request, log)
        return None if mlx is None else mlx.work
    generation = load_generation(request, log)
    return None if generation is None else generation.work


def mlx_folder(request: Request, log: Diagnostics) -> Path | None:
    """Return the folder of the definitions if they are of operators of MLX."""
    source = request.source_path
    return source if source is not None and request.extension is None and makes_mlx(source, log) else None


def load_mlx(source: Path, request: Request, log: Diagnostics) -> MlxGeneration | None:
    """Read operators of MLX; return None, with errors logged, if it fails."""
    warn_of_flags(request.flags, Target.MLX, log)
    names = {} if request.namespace is None else {"namespace": request.namespace}
    generation: MlxGeneration | None = LOAD_MLX(source, request.options.install_dir, log, **names)
    return generation


def load_generation(request: Request, log: Diagnostics) -> Generation | None:
    """Load the definitions of a run of `gen`; return None, with errors logged, if it fails."""
    source = request.source_path
    if mlx_folder(request, log) is not None:
        message = f"'{source}' has operators of MLX, but this command handles only PyTorch operators"
        log.error("mlx-definitions", message, label="'opgen gen', 'check' and 'list' read both")
        return None
    if source is not None and (makes_extension(source) if request.extension is None else request.extension):
        extension = LOAD_EXTENSION(request, source, log)
        if extension is None:
            return None
        return Generation(extension.program, extension, EXTENSION_WORK(extension, request, source))
    warn_of_flags(request.flags, Target.ATEN, log)
    check_shim_flags(request, log)
    inputs = find_inputs(source, log, from_torch=request.from_torch)
    program = None if inputs is None else load_aten(inputs, request, log)
    if inputs is None or program is None:
        return None
    options, templates = _options_for(program, request), TemplateSet(inputs.templates)
    checks = (Emitter("kept shim headers", check_shim_headers),) if _checks_shim_headers(options) else ()
    work = Work(
        bind((*emitters_for(options), *checks), program, options, templates),
        roots_of(options),
        templates,
        read=_files_read(inputs, request),
        operators=len(program.functions),
        lists=partial(_lists, request),
    )
    return Generation(program, None, work)


def _options_for(program: Program, request: Request) -> Options:
    """Return the options with all dispatch keys to generate code for, including those only named in definitions."""
    options = request.options
    torch_keys = tuple(key for key in options.dispatch_keys if key in TORCH_DISPATCH_KEYS)
    other_keys = (key for key in DispatchKey if key in program.backend_indices and key not in TORCH_DISPATCH_KEYS)
    selected = (key for key in other_keys if key in options.dispatch_keys or request.backends is None)
    return replace(options, dispatch_keys=(*torch_keys, *selected))


def load_aten(inputs: Inputs, request: Request, log: Diagnostics) -> Program | None:
    """Return the program of a run; None, with errors logged, if its inputs are wrong."""
    if request.choice is None:
        return None
    program = load_program(
        inputs.functions,
        inputs.tags,
        log,
        selected_names=request.selected_names,
        selection_path=request.selection_path,
        allow_unknown_operators=request.allow_unknown_operators,
        ignored_keys=request.ignored_keys,
        torch=request.choice.release,
    )
    if program is None:
        return None
    if request.options.force_schema_registration and request.selected_names is None and request.selection_path is None:
        warn_without_selection(FORCE_SCHEMA_FLAG, log)
    if request.native_aot_folder is not None and not program.release.native_aot_stubs:
        if "native_aot_ops_dir" in request.flags:
            message = f"{NATIVE_AOT_FLAG} has no effect on the sources of torch {program.release.name}"
            label = f"{TORCH_VERSION_FLAG} says of which release the definitions are"
            log.warning("flag-without-effect", message, label=label)
    elif request.native_aot_folder is not None:
        program = replace(program, native_aot=load_native_aot(request.native_aot_folder, program, log))
    if request.options.aoti_install_dir is not None:
        program = replace(program, shims=load_shims(program.functions, request.fallback_ops_path, program.release, log))
    return None if log.has_errors else program


def roots_of(options: Options) -> Mapping[str, Path]:
    """Return the output folders by the names that emitters use."""
    roots = {
        "install": options.install_dir,
        "headeronly": options.headeronly_install_dir or options.install_dir / "core",
    }
    if options.aoti_install_dir is not None:
        roots["aoti"] = options.aoti_install_dir
    return roots


def _checks_shim_headers(options: Options) -> bool:
    return options.aoti_install_dir is not None and not options.writes_shim_headers and "sources" in options.generate


def _files_read(inputs: Inputs, request: Request) -> tuple[Path, ...]:
    """Return the files that a run reads or searches for, other than templates and code."""
    options = request.options
    paths = [
        *inputs.files,
        request.selection_path,
        request.fallback_ops_path,
        *(native_aot_modules(request.native_aot_folder) if request.native_aot_folder is not None else ()),
    ]
    if options.aoti_install_dir is not None and _checks_shim_headers(options):
        devices = ("aten", "cpu", "cuda", "mps", "xpu", "mtia")
        paths += [options.aoti_install_dir / f"c_shim_{device}.h" for device in devices]
    return tuple(path for path in paths if path is not None)


def _lists(request: Request, placed: Sequence[PlacedFile]) -> Iterator[tuple[Path, str]]:
    """Yield the CMake lists of the outputs, which are also written in a dry run, and the list of headers."""
    options = request.options
    if options.output_dependencies is not None:
        groups = (*GROUPS, XPU_GROUP) if request.has_xpu else GROUPS
        files = [OutputFile(file.name, "", file.root, file.group) for file in placed]
        for each in emit_dependencies(files, roots_of(options), options.output_dependencies, groups):
            yield options.output_dependencies.parent / each.path, each.text
    if request.install_list is not None and not options.dry_run:
        yield request.install_list, render_install_list(file.name for file in placed if file.root == "install")


COMMAND: Final = Command(
    name="gen",
    group=Group.OPERATORS,
    summary="write an extension from definitions of your own operators, or the sources of ATen from torch's",
    produces="Writes headers, sources, registrations and, for an extension, a Python package into the install "
    "directory; files that don't change are not touched.",
    add_flags=add_gen_flags,
    load=load,
)
