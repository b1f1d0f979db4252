"""The loader of commands that inspect operators: definitions → a `Subject`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from opgen.commands._gen_flags import Request
from opgen.commands.gen import Generation, load_generation
from opgen.desk.explain import Subject
from opgen.desk.facts import facts_of, formulas_of
from opgen.desk.registrations import find_registrations, find_stable_kernels
from opgen.diagnostics import Diagnostics
from opgen.frontend.nodes import Node, load_yaml
from opgen.output.emitter import collect_files
from opgen.output.files import OutputFile
from opgen.run.inputs import find_inputs, packaged_folder

_DERIVATIVES: Final = ("autograd/derivatives.yaml", "../autograd/derivatives.yaml")


def load_subject(request: Request, log: Diagnostics) -> Subject | None:
    """Read the definitions and render their files; return None, with errors logged, if it fails."""
    generation = load_generation(request, log)
    if generation is None or log.has_errors:
        return None
    files = collect_files(generation.work.emitters)
    return subject_of(generation, files, formulas_of(load_derivatives(request, log)))


def subject_of(
    generation: Generation, files: Iterable[OutputFile], formulas: Mapping[str, Mapping[str, str]]
) -> Subject:
    """Return the subject of a generation, given its files and the formulas of derivatives.yaml."""
    is_stable = is_in_stable_abi(generation)
    files = tuple(files)
    return Subject(
        generation.program,
        facts_of(generation.program, formulas, has_cpp=not is_stable),
        find_registrations(files),
        generation.extension is not None,
        find_stable_kernels(files) if is_stable else None,
    )


def is_in_stable_abi(generation: Generation) -> bool:
    """Return whether a generation is an extension in torch's stable ABI."""
    return generation.extension is not None and generation.extension.options.stable_abi is not None


def load_formulas(request: Request, log: Diagnostics) -> dict[str, dict[str, str]]:
    """Return the formulas for the operators of a request, by operator."""
    return formulas_of(load_derivatives(request, log))


def load_derivatives(request: Request, log: Diagnostics) -> Node | None:
    """Return the derivatives.yaml of a request; None if there is none, or if it can't be read."""
    path = derivatives_path(request)
    return None if path is None else load_yaml(path, log)


def derivatives_path(request: Request) -> Path | None:
    """Return the path of the derivatives.yaml of a request; None if there is none."""
    folder = definitions_folder(request)
    candidates = () if folder is None else (folder / name for name in _DERIVATIVES)
    return next(filter(Path.is_file, candidates), None)


def definitions_folder(request: Request) -> Path | None:
    """Return the folder that has the definitions of a request in `native/`."""
    if request.source_path is not None:
        return request.source_path
    inputs = find_inputs(None, Diagnostics(), from_torch=request.from_torch)
    if inputs is None or not isinstance(inputs.functions, Path):
        return packaged_folder("ATen")
    return inputs.functions.parent.parent
