"""Generates an extension from a folder of definitions: the table of emitters, the loader, the lists of files.

`opgen.commands.gen` calls this module if `_definitions_kind` or `--extension` selects an extension.

    - func: mylib::blend(Tensor self, Tensor other) -> Tensor     →  an extension
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from opgen.commands._flag_effects import Target, warn_of_flags
from opgen.commands._gen_flags import Request
from opgen.diagnostics import Diagnostics, Source, expected
from opgen.extension.aoti_shims import check_shims
from opgen.extension.argument_names import rename_arguments
from opgen.extension.extension import Extension, ExtensionOptions, derive_extension
from opgen.extension.rules import advise, check_derivatives, check_extension, find_unused_keys
from opgen.extension.sources import emit_source_lists
from opgen.frontend.autograd_functions import derive_autograd
from opgen.frontend.derivatives import check_formulas
from opgen.frontend.native_functions import load_program, load_readable_functions
from opgen.frontend.python_functions import derive_package
from opgen.frontend.shape_functions import load_shape_functions
from opgen.frontend.torch_functions import TorchFunctions
from opgen.output.build_files import render_install_list
from opgen.output.emitter import Emitter, OnDemand, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import PlacedFile
from opgen.program.program import Options
from opgen.releases.release import Release
from opgen.run.inputs import packaged_folder, packaged_templates
from opgen.run.work import Work, install_root
from opgen.stable.kernels import target_definition
from opgen.stable.python_package import has_automatic_fake
from opgen.stable.rules import check_stable

_FUNCTIONS: Final = "native/native_functions.yaml"
_TAGS: Final = "native/tags.yaml"
_DERIVATIVES: Final = "autograd/derivatives.yaml"
_DEPRECATED: Final = "autograd/deprecated.yaml"
_SHAPES: Final = "meta.py"

EMITTERS: Final[tuple[Emitter[Extension, TemplateSet], ...]] = (
    Emitter("operators", OnDemand("opgen.extension.operators", "emit_operator_headers")),
    Emitter("functions", OnDemand("opgen.extension.operators", "emit_function_headers")),
    Emitter("kernel declarations", OnDemand("opgen.extension.kernels", "emit_native_headers")),
    Emitter("backend functions", OnDemand("opgen.extension.registrations", "emit_backend_headers")),
    Emitter("structured kernels", OnDemand("opgen.extension.registrations", "emit_structured_headers")),
    Emitter("sources", OnDemand("opgen.extension.units", "emit_sources"), cost=3),
    Emitter("Python bindings", OnDemand("opgen.extension.python_bindings", "emit_python_bindings")),
    Emitter("Python package", OnDemand("opgen.extension.python_package", "emit_python_package")),
    Emitter("shims in Python", OnDemand("opgen.extension.aoti_shims", "emit_aoti_module")),
)

STABLE_EMITTERS: Final[tuple[Emitter[Extension, TemplateSet], ...]] = (
    Emitter("kernel declarations", OnDemand("opgen.stable.kernels", "emit_kernel_header")),
    Emitter("registrations", OnDemand("opgen.stable.kernels", "emit_registrations")),
    Emitter("Python module", OnDemand("opgen.stable.kernels", "emit_python_module")),
    Emitter("Python package", OnDemand("opgen.stable.python_package", "emit_python_package")),
)
"""The emitters of an extension in torch's stable ABI."""

KERNEL_EMITTERS: Final[tuple[Emitter[Extension, TemplateSet], ...]] = (
    Emitter("kernel", OnDemand("opgen.stable.kernel_builder", "emit_kernel")),
)
"""The emitters of an extension in torch's stable ABI that kernel-builder builds."""


def load_requested_extension(request: Request, source: Path, log: Diagnostics) -> Extension | None:
    """Read the definitions of an extension; return None, with errors logged, if it fails."""
    if request.choice is None:
        return None
    warn_of_flags(request.flags, Target.EXTENSION if request.stable_abi is None else Target.STABLE, log)
    shim_root = None if request.stable_abi is not None else _shim_root(request.options)
    options = ExtensionOptions(
        request.is_fragment,
        request.backends,
        stable_abi=request.stable_abi,
        kernel_builder=request.kernel_builder,
        shim_root=shim_root,
    )
    extension = load_extension(source, options, log, torch=request.choice.release, with_python=request.with_python)
    if extension is not None:
        log.extend(check_shims(extension))
    return extension


def extension_work(extension: Extension, request: Request, source: Path) -> Work:
    """Return the files to write for an extension that was read from `source`."""
    templates = extension_templates(stable=extension.options.stable_abi is not None)
    files = (source / name for name in (_FUNCTIONS, _TAGS, _DERIVATIVES, _SHAPES))
    return Work(
        bind(emitters_for(extension), extension, templates),
        _roots(request.options),
        templates,
        read=(*files, *(() if request.choice is None else request.choice.read)),
        operators=len(extension.program.functions),
        lists=partial(_lists, request),
        next_step="compile the sources with your kernels: 'opgen new' creates a project that does so",
    )


def emitters_for(extension: Extension) -> tuple[Emitter[Extension, TemplateSet], ...]:
    """Return the emitters of an extension: those of torch's C++, or those of the stable ABI."""
    if extension.options.kernel_builder:
        return KERNEL_EMITTERS
    return EMITTERS if extension.options.stable_abi is None else STABLE_EMITTERS


def _shim_root(options: Options) -> str | None:
    """Return the root of AOTInductor's shims; shims in the install directory are compiled with the other sources."""
    if options.aoti_install_dir is None:
        return None
    return "install" if options.aoti_install_dir.resolve() == options.install_dir.resolve() else "aoti"


def _roots(options: Options) -> Mapping[str, Path]:
    """Return the output folders by the names that emitters use."""
    roots = install_root(options.install_dir)
    if _shim_root(options) == "aoti" and options.aoti_install_dir is not None:
        return {**roots, "aoti": options.aoti_install_dir}
    return roots


def _lists(request: Request, placed: Sequence[PlacedFile]) -> Iterator[tuple[Path, str]]:
    """Yield the lists of sources, which are also written in a dry run, and the list of headers."""
    options, lists = request.options, request.options.output_dependencies
    if lists is not None:
        files = [OutputFile(file.name, "", file.root, file.group) for file in placed]
        definitions = [] if request.stable_abi is None else [target_definition(request.stable_abi)]
        for each in emit_source_lists(files, _roots(options), lists, definitions=definitions):
            yield lists.parent / each.path, each.text
    if request.install_list is not None and not options.dry_run:
        yield request.install_list, render_install_list(file.name for file in placed)


def load_extension(
    source: Path,
    options: ExtensionOptions,
    log: Diagnostics,
    *,
    torch: Release | str | None = None,
    with_python: bool = True,
    texts: Mapping[Path, str] = MappingProxyType({}),
) -> Extension | None:
    """Load the extension that a folder of definitions describes; return None, with errors logged, if it fails.

    `torch` is the release of torch that the definitions are for; by default, that of the source tree or else of the
    installed torch.  The generated files are the same for each release.  `texts` override the contents of files, such
    as those of unsaved documents in an editor.
    """

    def read(name: str) -> Source | Path | None:
        path = source / name
        return Source(str(path), texts[path]) if path in texts else path if path.exists() else None

    functions, derivatives = read(_FUNCTIONS) or source / _FUNCTIONS, read(_DERIVATIVES)
    legal_tags = read(_TAGS) or packaged_folder("ATen") / _TAGS
    program = load_program(functions, legal_tags, log, torch=torch, is_extension=True)
    if program is None:
        if derivatives is not None:
            readable = load_readable_functions(functions, torch, is_extension=True)
            check_formulas(derivatives, readable, log)
        return None
    _warn_about_unknown_files(source, log)
    stable = options.stable_abi
    violations = (
        *check_extension(program, has_functions=stable is None),
        *(check_stable(program, stable) if stable is not None else ()),
    )
    log.extend(violations)
    if violations:
        return None
    shapes = source / _SHAPES
    shape_functions = load_shape_functions(shapes, program, log) if with_python and shapes.exists() else None
    log.extend(find_unused_keys(program))
    if not log.has_errors:
        log.extend(advise(program, shape_functions, has_automatic_fake if stable is not None else None))
    namespace = program.functions[0].namespace
    python = derive_package(program, log) if with_python else None
    autograd = None
    if derivatives is not None:
        called = None if stable is None else TorchFunctions(packaged_folder("ATen") / _FUNCTIONS)
        autograd = derive_autograd(program, derivatives, log, program.selector, namespace=namespace, python=called)
        if autograd is None:
            return None
    log.extend(check_derivatives(program, autograd, in_python=stable is not None))
    if log.has_errors:
        return None
    named, autograd = rename_arguments(program, autograd, in_python=stable is not None)
    extension = derive_extension(named, namespace, options)
    extension = replace(extension, python=python, shape_functions=shape_functions)
    return extension if autograd is None else replace(extension, autograd=replace(autograd, program=extension.program))


def _warn_about_unknown_files(source: Path, log: Diagnostics) -> None:
    """Warn about each YAML file in the folder that opgen doesn't read, except those that torch's tree has."""
    definition_files = (_FUNCTIONS, _TAGS, _DERIVATIVES)
    for path in sorted((*source.rglob("*.yaml"), *source.rglob("*.yml"))):
        name = path.relative_to(source).as_posix()
        if name in (*definition_files, _DEPRECATED) or any(part.startswith(".") for part in Path(name).parts):
            continue
        label = f"opgen doesn't read this file; {expected(name, definition_files, limit=len(definition_files))}"
        log.warning("unknown-file", f"'{path}' is not among the files of definitions", label=label)


def extension_templates(*, stable: bool = False) -> TemplateSet:
    """Return the templates packaged with opgen; `stable` chooses those of the stable ABI."""
    names = ("stable", "extension") if stable else ("extension",)
    return TemplateSet(*(folder for name in names for folder in packaged_templates(name)))


def generate_extension(extension: Extension, templates: TemplateSet) -> tuple[OutputFile, ...]:
    """Return every file of an extension as a value; raise one `UserError` with all template errors."""
    return collect_files(bind(emitters_for(extension), extension, templates))
