"""The loader of commands that look at operators and write nothing: definitions → what is known of each operator."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from opgen.commands._gen_flags import Request
from opgen.commands.gen import Generation, load_generation
from opgen.desk.explain import Subject
from opgen.desk.facts import facts_of, formulas_of
from opgen.desk.registrations import find_registrations
from opgen.diagnostics import Diagnostics
from opgen.frontend.nodes import load_yaml
from opgen.output.emitter import collect_files
from opgen.run.inputs import find_inputs, packaged_folder

_DERIVATIVES: Final = ("autograd/derivatives.yaml", "../autograd/derivatives.yaml")


def load_subject(request: Request, log: Diagnostics) -> Subject | None:
    """Read the definitions and render their files; return None, with the reasons logged, if anything is wrong."""
    generation = load_generation(request, log)
    if generation is None or log.has_errors:
        return None
    return subject_of(generation, load_formulas(request, log))


def subject_of(generation: Generation, formulas: dict[str, dict[str, str]]) -> Subject:
    """Return what is known of the operators of a generation, given the formulas of derivatives.yaml."""
    registrations = find_registrations(collect_files(generation.work.emitters))
    facts = facts_of(generation.program, formulas)
    return Subject(generation.program, facts, registrations, generation.extension is not None)


def load_formulas(request: Request, log: Diagnostics) -> dict[str, dict[str, str]]:
    """Return the formulas for the operators of a request, by operator."""
    folder = _definitions_folder(request)
    places = () if folder is None else (folder / name for name in _DERIVATIVES)
    path = next(filter(Path.is_file, places), None)
    return formulas_of(None if path is None else load_yaml(path, log))


def _definitions_folder(request: Request) -> Path | None:
    if request.source_path is not None:
        return request.source_path
    inputs = find_inputs(None, Diagnostics(), from_torch=request.from_torch)
    if inputs is None or not isinstance(inputs.functions, Path):
        return packaged_folder("ATen")
    return inputs.functions.parent.parent
