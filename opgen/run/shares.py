"""Emitters → files that wait in their target, made by several processes; each emitter is one share of the work.

    put_all(target, pieces, templates, jobs=2, …)   →   what each piece put, or what is wrong with it

A process takes one piece after the other, those that take longest first.  It writes what it makes, so that text
never goes from one process to another.  While this process derives what some pieces need, others are at work on
those that don't.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from opgen.diagnostics import Diagnostic, UserError
from opgen.output.console import Progress
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import PlacedFile, Target
from opgen.run.parallel import Crew, longest_first
from opgen.run.record import code_files


class Piece(NamedTuple):
    """One emitter, with all that it needs."""

    name: str
    """What the progress bar calls it."""
    cost: int
    """About how long it takes, beside the others."""
    make: Callable[[], Iterable[OutputFile]]


class LatePiece(NamedTuple):
    """An emitter that needs what takes a while to derive."""

    name: str
    cost: int
    make: Callable[[Any], Iterable[OutputFile]]
    """Is given what was derived."""


class Later(NamedTuple):
    """Emitters that need the same."""

    name: str
    derive: Callable[[], object]
    """Raises a `UserError` if that can't be derived."""
    pieces: tuple[LatePiece, ...]


class Share(NamedTuple):
    """What came of a piece."""

    placed: list[PlacedFile]
    problems: tuple[Diagnostic, ...]
    read: tuple[str, ...]
    """The files that its process has read: templates, and code that is imported only when it is needed."""


def put_all(
    target: Target,
    pieces: Sequence[Piece],
    templates: TemplateSet,
    *,
    jobs: int,
    quiet: bool,
    crews: ExitStack,
    later: Later | None = None,
) -> list[Share]:
    """Makes the files of all pieces and puts them where they wait; a piece with mistakes puts nothing.

    After each piece `keep` is asked, in the process that made it, for what the next run is to have.  What comes
    of later pieces follows that of the others.  Helpers end with `crews`: to take apart what they made takes them a
    while, which nobody needs to wait for who has something else to do.
    """
    parent, told = os.getpid(), len(sys.modules)
    total = len(pieces) + (0 if later is None else 1 + len(later.pieces))
    with Progress(total + 1, sys.stderr, enabled=not quiet) as progress:

        def read() -> tuple[str, ...]:
            nonlocal told
            if len(sys.modules) == told:
                return templates.files
            told = len(sys.modules)
            return (*templates.files, *code_files())

        def put(piece: Piece, number: int) -> Share:
            if os.getpid() == parent:
                progress.advance(piece.name)
            try:
                return Share(target.put(tuple(piece.make()), number), (), read())
            except UserError as problem:
                return Share([], problem.diagnostics, read())

        def crew(pieces: Sequence[Piece], first: int = 0, after: Crew[Share] | None = None) -> Crew[Share]:
            order = longest_first([piece.cost for piece in pieces]) if jobs > 1 else range(len(pieces))
            work = min(jobs, len(pieces) + (later is not None and after is None))
            return Crew(order, lambda at: put(pieces[at], first + at), work, after=after)

        others = crews.enter_context(crew(pieces))
        if later is None:
            return others.results()
        progress.advance(later.name)
        try:
            derived = later.derive()
        except UserError as problem:
            return [*others.results(), Share([], problem.diagnostics, read())]
        late = [Piece(piece.name, piece.cost, partial(piece.make, derived)) for piece in later.pieces]
        shares = crews.enter_context(crew(late, len(pieces), after=others)).results()
        return [*others.results(), *shares]


def files_read(shares: Iterable[Share]) -> list[str]:
    """The templates and the code that the processes of a run have read."""
    return sorted({name for share in shares for name in share.read}.union(code_files()))
