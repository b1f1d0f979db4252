"""The commands of opgen, by the modules of this package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from opgen import commands

if TYPE_CHECKING:
    from opgen.run.command import Command


def command_names() -> list[str]:
    """Return the names of all commands, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(commands.__path__) if module.name[0] != "_")


def load_commands(names: Sequence[str]) -> Iterator[Command]:
    """Import commands."""
    for name in names:
        yield importlib.import_module(f"opgen.commands.{name}").COMMAND
