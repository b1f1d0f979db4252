"""Emitters → files that wait in their target, made by several processes; each emitter is one share of the work.

    put_all(target, pieces, templates, jobs=2, quiet=False)   →   what each piece put, or what is wrong with it

A process takes one piece after the other, those that take longest first.  It writes what it makes, so that text
never goes from one process to another.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from opgen.diagnostics import Diagnostic, UserError
from opgen.output.console import Progress
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import Placed, Target
from opgen.parallel import longest_first, run_all


class Piece(NamedTuple):
    """One emitter, with all that it needs."""

    name: str
    """What the progress bar calls it."""
    cost: int
    """About how long it takes, beside the others."""
    make: Callable[[], Iterable[OutputFile]]


class Share(NamedTuple):
    """What came of a piece."""

    placed: list[Placed]
    problems: tuple[Diagnostic, ...]
    templates: tuple[str, ...]
    """The templates that its process has read."""
    kept: Any
    """What `keep` gave."""


def put_all(
    target: Target,
    pieces: Sequence[Piece],
    templates: TemplateSet,
    *,
    jobs: int,
    quiet: bool,
    keep: Callable[[int], object] = lambda number: None,
) -> list[Share]:
    """Makes the files of all pieces and puts them where they wait; a piece with mistakes puts nothing.

    After each piece `keep` is asked, in the process that made it, for what the next run is to have.
    """
    parent = os.getpid()
    with Progress(len(pieces) + 1, sys.stderr, enabled=not quiet) as progress:

        def put(number: int) -> Share:
            piece = pieces[number]
            if os.getpid() == parent:
                progress.advance(piece.name)
            try:
                return Share(target.put(tuple(piece.make()), number), (), templates.files, keep(number))
            except UserError as problem:
                return Share([], problem.diagnostics, templates.files, None)

        order = longest_first([piece.cost for piece in pieces]) if jobs > 1 else None
        return run_all(len(pieces), put, jobs, order)
