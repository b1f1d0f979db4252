"""The emitters of the ATen generator, in the order in which they run, and what each of them makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program import Options, Program

Emit = Callable[[Program, Options, TemplateSet], Iterator[OutputFile]]


@dataclass(frozen=True, slots=True)
class Emitter:
    """One family of output files."""

    name: str
    """What the progress bar calls it."""
    kind: str
    """The word of `--generate` that asks for it."""
    emit: Emit
    wanted: Callable[[Options], bool] = lambda options: True
    """Whether the run's other flags ask for it."""


EMITTERS: Final[tuple[Emitter, ...]] = ()


def emitters_for(options: Options) -> tuple[Emitter, ...]:
    """The emitters that a run needs."""
    return tuple(e for e in EMITTERS if e.kind in options.generate and e.wanted(options))
