"""Programs and options small enough to read, for tests of emitters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opgen.commands.gen import Emit
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.native_functions import load_program
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

TAGS = Source(
    "tags.yaml",
    "".join(
        f"- tag: {tag}\n  desc: x\n"
        for tag in (
            "core",
            "inplace",
            "inplace_view",
            "nondeterministic_seeded",
            "out",
            "pointwise",
            "view_copy",
        )
    ),
)
"""The tags of tiny programs."""


def program_of(definitions: str, selected: Sequence[str] | None = None) -> Program:
    """The program that has only these operators."""
    log = Diagnostics()
    program = load_program(Source("ops.yaml", definitions), TAGS, log, selected_names=selected)
    assert program is not None, log.render()
    return program


def options_of(**flags: object) -> Options:
    """The options of a run with these flags."""
    return Options(Path("out"), **flags)  # type: ignore[arg-type]


def text_of(emit: Emit, program: Program, templates: TemplateSet, **flags: object) -> str:
    """The text of the one file that an emitter yields."""
    (file,) = emit(program, options_of(**flags), templates)
    return file.text
