"""A run of some definitions, in memory: whatever they are edited to, less work must come to the same files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from opgen.aten import generate
from opgen.command_line import read_request
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.changes import describe, family_of, find_change
from opgen.frontend.native_functions import load_program
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.parts import Edit, Parts
from opgen.program.program import Program


class FormerRun:
    """The files of a run, its parts, and the history of what it read."""

    def __init__(self, text: str, tags: Source, templates: Path) -> None:
        self._tags = tags
        self._templates = templates
        program = self._read(Source("ops.yaml", text))
        assert program is not None
        program = replace(program, parts=Parts(keeps=True))
        self._files = self._generate(program)
        self._parts = program.parts.made
        history = describe(program)
        assert history is not None
        self._history = history

    def _read(self, source: Source) -> Program | None:
        log = Diagnostics()
        program = load_program(source, self._tags, log)
        return program if all(each.severity == "remark" for each in log.found) else None

    def _generate(self, program: Program) -> Mapping[str, OutputFile]:
        request = read_request(["--per-operator-headers"], Diagnostics())
        return {file.path: file for file in generate(program, request.options, TemplateSet(self._templates))}

    def places(self, what: str) -> Sequence[str]:
        return [place for place, _ in self._parts[what]]

    def is_edited(self, what: str) -> bool:
        return False

    def load(self, what: str) -> list[tuple[str, Any]]:
        return self._parts[what]

    def feed(self, text: str) -> None:
        """Fails if what is made after an edit to `text` isn't what a whole run makes."""
        source = Source("ops.yaml", text)
        change = find_change(self._history, source, self._read)
        if change is None:
            return
        parts = Parts(Edit(self, change.lost, change.places), keeps=True)
        made = self._generate(replace(change.program, parts=parts))
        stands = {
            f.path: f for f in self._files.values() if f.operator and family_of(f.operator) not in change.families
        }
        now = {path: self._files[path].text if file.is_same else file.text for path, file in {**stands, **made}.items()}
        whole = self._read(source)
        assert whole is not None, "an edit that a whole run would refuse"
        fresh = {path: file.text for path, file in self._generate(whole).items()}
        assert now.keys() == fresh.keys()
        assert [path for path, text in now.items() if fresh[path] != text] == []
