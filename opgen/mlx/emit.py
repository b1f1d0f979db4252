"""A `Library` of MLX operators → its files.

emit_headers(library, templates)     →   mylib/ops.h, mylib/primitives.h, mylib/runtime.h
emit_sources(library, templates)     →   ops.cpp, bindings.cpp
emit_metal(library, templates)       →   metal.cpp, kernels.metal, if an operator has a kernel for Metal
emit_package(library, templates)     →   python/__init__.py, python/py.typed
emit_skeletons(library, templates)   →   skeletons/kernels.h and others: functions to write by hand
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opgen.dest.cpp_text import string_literal
from opgen.mlx.cpp import describe, describe_kernel
from opgen.mlx.metal import describe_metal
from opgen.mlx.model import Library
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet


def emit_headers(library: Library, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the headers.  Raises UserError for errors in templates."""
    env = _environment(library)
    for header in ("ops.h", "primitives.h", "runtime.h"):
        yield OutputFile(f"{library.name}/{header}", templates.render(header, env))


def emit_sources(library: Library, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the sources that every build compiles."""
    env = _environment(library)
    for source in ("ops.cpp", "bindings.cpp"):
        yield OutputFile(source, templates.render(source, env))


def emit_metal(library: Library, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the additional files for builds with Metal, if any operator has a kernel for Metal."""
    operators = [describe_metal(operator) for operator in library.operators if operator.metal is not None]
    if operators:
        env = {"name": library.name, "operators": operators}
        for source in ("metal.cpp", "kernels.metal"):
            yield OutputFile(source, templates.render(source, env))


def emit_package(library: Library, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the Python package; the build adds the compiled module."""
    yield OutputFile("python/__init__.py", templates.render("python/__init__.py.in", _environment(library)))
    yield OutputFile("python/py.typed", "")


def emit_skeletons(library: Library, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield skeletons of the functions to write by hand, with empty bodies; no build compiles these files."""
    env = _environment(library)
    wanted = {
        "kernels.h": env["has_cpu"],
        "kernels_metal.h": env["metal_kernels"],
        "composite.cpp": env["composite_functions"],
    }
    for name, is_wanted in wanted.items():
        if is_wanted:
            yield OutputFile(f"skeletons/{name}", templates.render(f"skeletons/{name}", env))


def _environment(library: Library) -> Mapping[str, object]:
    kernels = [describe_kernel(operator) for operator in library.with_kernels()]
    composites = [operator for operator in library.operators if not operator.has_kernel]
    doc = f"Operators for MLX: {library.name}."
    return {
        "name": library.name,
        "doc": doc,
        "doc_literal": string_literal(doc),
        "operators": [describe(operator) for operator in library.operators],
        "kernels": kernels,
        "composites": [describe(operator) for operator in composites],
        "composite_functions": [describe(operator) for operator in composites if operator.composite is None],
        "flattened": [*kernels, *(describe(operator) for operator in composites if operator.gradients)],
        "metal_kernels": [describe_metal(operator) for operator in library.operators if operator.metal is not None],
        "has_cpu": any(operator.cpu is not None for operator in library.operators),
    }
