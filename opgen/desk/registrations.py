"""Generated files → where each operator is registered under each dispatch key.

find_registrations(files)["scale.out"]["CPU"]    Place("RegisterCPU.cpp", 41)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from opgen.frozen_dataclass import dataclass
from opgen.output.files import OutputFile

BLOCK: Final = re.compile(r"^TORCH_LIBRARY_IMPL\(\s*\w+\s*,\s*(\w+)\s*,")
_REGISTRATION: Final = re.compile(r'^\s*m\.impl\(\s*"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a generated file."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def find_registrations(files: Iterable[OutputFile]) -> dict[str, dict[str, Place]]:
    """Return the registrations by operator, without its namespace, and dispatch key."""
    found: dict[str, dict[str, Place]] = {}
    for file in files:
        if "TORCH_LIBRARY_IMPL" not in file.text or is_repetition(file):
            continue
        key = ""
        for number, line in enumerate(file.text.split("\n"), start=1):
            if block := BLOCK.match(line):
                key = block.group(1)
            elif key and (registration := _REGISTRATION.match(line)):
                found.setdefault(registration.group(1), {}).setdefault(key, Place(file.path, number))
    return found


def is_repetition(file: OutputFile) -> bool:
    """Return whether a file has the same definitions as its shards."""
    return "Everything" in file.path
