"""Generates a library from `mlx_ops.yaml`: the table of emitters and the loader.

`opgen.commands.gen_mlx` is the command; `opgen.commands.gen` calls this module if the folder has that file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from opgen.desk.explain import OperatorRow
from opgen.diagnostics import Diagnostics
from opgen.frontend.cpp_names import is_identifier
from opgen.frozen_dataclass import dataclass
from opgen.installed.nanobind import check_nanobind, files_of_nanobind
from opgen.mlx import FILE_NAME
from opgen.mlx.definitions import DEVICES, load_library
from opgen.mlx.emit import emit_headers, emit_metal, emit_package, emit_skeletons, emit_sources
from opgen.mlx.model import RESERVED_NAMESPACES, Library
from opgen.output.emitter import Emitter, bind
from opgen.output.template import TemplateSet
from opgen.run.inputs import packaged_templates
from opgen.run.work import Work, install_root

NAMESPACE: Final = "mlx_ops"
"""The default name of a library."""

EMITTERS: Final[tuple[Emitter[Library, TemplateSet], ...]] = (
    Emitter("headers", emit_headers),
    Emitter("sources", emit_sources),
    Emitter("Metal", emit_metal),
    Emitter("Python package", emit_package),
    Emitter("skeletons", emit_skeletons),
)


def load_mlx_library(source: Path, log: Diagnostics, namespace: str = NAMESPACE) -> Library | None:
    """Read the operators in a folder; return None, with errors logged, if it fails."""
    if not is_identifier(namespace):
        log.error("bad-identifier", f"'{namespace}' can't be a namespace", label="letters, digits and '_' only")
    elif namespace in RESERVED_NAMESPACES:
        log.error("reserved-namespace", f"a library of operators of MLX can't be called '{namespace}'")
    library = load_library(source / FILE_NAME, namespace, log)
    return None if log.has_errors else library


@dataclass(frozen=True, slots=True)
class MlxGeneration:
    """A library of operators of MLX, and the work of writing it."""

    library: Library
    work: Work


def load_mlx_generation(
    source: Path, install_dir: Path, log: Diagnostics, *, namespace: str = NAMESPACE, checks_nanobind: bool = False
) -> MlxGeneration | None:
    """Return the library that a folder defines, and the work of writing it; None, with errors logged, if it fails."""
    if checks_nanobind:
        check_nanobind(log)
    library = load_mlx_library(source, log, namespace)
    if library is None:
        return None
    templates = TemplateSet(source / "templates", *packaged_templates("mlx"))
    work = Work(
        bind(EMITTERS, library, templates),
        install_root(install_dir),
        templates,
        read=(source / FILE_NAME, *(files_of_nanobind() if checks_nanobind else ())),
        operators=len(library.operators),
    )
    return MlxGeneration(library, work)


def names_in_mlx(library: Library) -> dict[str, str]:
    """Return the C++ names that identify the operators of a library, with the name of the operator."""
    return {
        name: each.name for each in library.operators for name in (each.cpu, each.metal, each.name) if name is not None
    }


def list_mlx(source: Path, log: Diagnostics) -> list[OperatorRow] | None:
    """Return the operators in a folder, sorted by name; None, with errors logged, if it fails."""
    library = load_mlx_library(source, log)
    if library is None:
        return None
    return [
        OperatorRow(
            each.name,
            tuple(device for device, kernel in zip(DEVICES, (each.cpu, each.metal), strict=True) if kernel),
            "",
            any(gradient.formula is not None for gradient in each.gradients),
            str(each.span),
        )
        for each in sorted(library.operators, key=lambda operator: operator.name)
    ]
