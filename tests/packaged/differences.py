"""The facts of our definitions that don't hold for each release of torch → `differences.yaml`.

Our definitions are those of one release (`packaged_release()`), and are checked against the torch that is installed.
For other releases the file lists each fact that differs, by release and kind:

    "2.10":
      variants:
      - 'numel: torch has no such method'

    python -m tests.packaged.rewrite      lists anew what differs in the installed torch
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from opgen.diagnostics import Diagnostics
from opgen.releases.choice import choose_release
from opgen.releases.release import Release

FILE: Final = Path(__file__).with_name("differences.yaml")


def installed_release() -> Release:
    """The release of the installed torch."""
    log = Diagnostics()
    choice = choose_release(None, None, log)
    assert choice is not None, log.render()
    assert choice.read, "torch isn't installed"
    return choice.release


def read_differences() -> dict[str, Mapping[str, list[str]]]:
    """Everything that the file lists, by release and kind."""
    found: Any = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return dict(found or {})


def check_differences(kind: str, found: Iterable[str]) -> None:
    """Fail unless the facts that differ are those that the file lists for the installed torch."""
    listed = set(read_differences().get(installed_release().name, {}).get(kind, ()))
    different = set(found)
    lines = [f"not listed: {fact}" for fact in sorted(different - listed)]
    lines += [f"listed, and the same now: {fact}" for fact in sorted(listed - different)]
    assert not lines, "\n".join((*lines, "'python -m tests.packaged.rewrite' lists them anew"))
