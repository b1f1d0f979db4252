"""Emitters → files staged in their target, written by one process or several.

    render(emitters, target, templates, jobs=2, quiet=True)   →   the staged files of each emitter, or its errors

Each process runs one emitter after the other, the most expensive ones first, and writes their files, so no file
contents are sent between processes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from opgen.diagnostics import Diagnostic, UserError
from opgen.output.console import Progress
from opgen.output.emitter import Emitter
from opgen.output.template import TemplateSet
from opgen.output.writer import PlacedFile, Target
from opgen.run.parallel import longest_first, run_all
from opgen.run.record import code_files


class Rendered(NamedTuple):
    """The result of one emitter."""

    placed: list[PlacedFile]
    problems: tuple[Diagnostic, ...]
    read: tuple[str, ...]
    """The files that its process has read so far: templates and opgen's code."""


def render(
    emitters: Sequence[Emitter[[]]], target: Target, templates: TemplateSet, *, jobs: int, quiet: bool
) -> list[Rendered]:
    """Run all emitters and stage their files; an emitter with errors stages nothing."""
    parent = os.getpid()
    with Progress(len(emitters) + 1, sys.stderr, enabled=not quiet and sys.stderr is not None) as progress:

        def put(number: int) -> Rendered:
            emitter = emitters[number]
            if os.getpid() == parent:
                progress.advance(emitter.name)
            placed, problems = list[PlacedFile](), tuple[Diagnostic, ...]()
            try:
                placed = target.put(tuple(emitter.emit()), number)
            except UserError as problem:
                problems = problem.diagnostics
            return Rendered(placed, problems, (*templates.files, *code_files()))

        order = longest_first([emitter.cost for emitter in emitters]) if jobs > 1 else range(len(emitters))
        return run_all(len(emitters), put, jobs, order)


def files_read(results: Iterable[Rendered]) -> list[str]:
    """Return the templates and code files that the processes of a run have read."""
    return sorted({name for result in results for name in result.read}.union(code_files()))
