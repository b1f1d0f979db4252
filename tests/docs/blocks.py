"""The code blocks of a page → what to do with each, as the comment above it says.

    <!-- file: ops/native/tags.yaml -->      write the block to a file of the page's workspace
    <!-- append: src/kernels.cpp -->         append it to one
    <!-- run -->                             run it: lines after `$ `, with their output below, or all lines
    <!-- session -->                         run it as a session of Python
    <!-- program -->                         run it as a program of Python
    <!-- in: src/kernels.cpp -->             each line is in a file of the workspace or the repository
    <!-- output of: opgen check … -->        each line is in the output of a command
    <!-- covered by: tests/mlx/x.py -->      another test runs it
    <!-- not run: it needs a GPU -->         with the reason

A page begins with `<!-- workspace: NAME -->`, or runs in an empty folder. `…` in output stands for anything.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ACTIONS: Final = ("file", "append", "run", "session", "program", "in", "output of", "covered by", "not run")
_DIRECTIVE: Final = re.compile(r"^<!-- (\w+(?: \w+)?)(?:: (.*?))? -->$")
_WORKSPACE: Final = re.compile(r"^<!-- workspace: ([\w-]+) -->$", re.MULTILINE)
_PAGE: Final = re.compile(r"^<!-- all blocks (covered by|not run): (.*?) -->$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A code block, and what to do with it."""

    page: str
    line: int
    action: str
    """One of `ACTIONS`; empty if nothing is said."""
    value: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def workspace_of(page: Path) -> str:
    """The name of the folder that a page's blocks run in; empty for one of its own."""
    found = _WORKSPACE.search(page.read_text(encoding="utf-8"))
    return found.group(1) if found else ""


def read_blocks(page: Path, root: Path) -> Iterator[Block]:
    """Yield the code blocks of a page, fenced or indented."""
    text = page.read_text(encoding="utf-8")
    of_page = _PAGE.search(text)
    name, lines, number = page.relative_to(root).as_posix(), text.split("\n"), 0
    while number < len(lines):
        end = _end_of(lines, number)
        if end == number:
            number += 1
            continue
        body = lines[number:end]
        if body[0].lstrip().startswith("```"):
            body = body[1:-1]
        code = textwrap.dedent("\n".join(body)).strip("\n") + "\n"
        if lines[number].startswith("```") and not body[0]:
            code = "\n" + code  # a file that is appended to may need an empty line
        action, value = _directive(lines, number) or (of_page.groups() if of_page else ("", ""))
        yield Block(name, number + 1, action, value, code)
        number = end


def _end_of(lines: list[str], start: int) -> int:
    """The number of the line after the block that begins in a line; the line itself if none does."""
    line = lines[start]
    if line.lstrip().startswith("```"):
        return next(n for n in range(start + 1, len(lines)) if lines[n].lstrip() == "```") + 1
    if not line.startswith("    ") or (start and lines[start - 1].strip() and not _DIRECTIVE.match(lines[start - 1])):
        return start
    end = start
    for number in range(start, len(lines)):
        if lines[number].startswith("    "):
            end = number + 1
        elif lines[number].strip():
            break
    return end


def _directive(lines: list[str], number: int) -> tuple[str, str] | None:
    """What the comment above a block says; there may be an empty line between."""
    above = [line for line in lines[max(0, number - 2) : number] if line.strip()]
    found = _DIRECTIVE.match(above[-1]) if above else None
    return (found.group(1), found.group(2) or "") if found and found.group(1) in ACTIONS else None
