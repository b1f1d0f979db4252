"""The parsers of all commands → docs/flags.md.

python -m tests.docs.flags      writes the page anew
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from opgen.commands._all import command_names, load_commands
from opgen.commands.gen import COMMAND as GEN
from opgen.run.command import Command, Group

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "flags.md"
HEAD: Final = """\
# Commands and flags

For everyone. `opgen COMMAND FLAGS` and `python -m opgen COMMAND FLAGS` are the same; `opgen COMMAND --help` prints
what is below. `python -m tests.docs.flags` writes this page.
"""


def render() -> str:
    """Return the page."""
    commands = list(load_commands(command_names()))
    parts = [HEAD]
    for group in Group:
        parts.append(f"## {group.value[0].upper()}{group.value[1:]}\n")
        parts += ["\n".join(_section(command)) for command in commands if command.group is group]
    return "\n".join(parts)


def _section(command: Command) -> Iterator[str]:
    yield f"### `opgen {command.name}`\n"
    yield f"{command.summary[0].upper()}{command.summary[1:]}. {' '.join(command.produces.split())}\n"
    parser = command.build_parser()
    known = _flags(GEN.build_parser())
    shared = known if command is not GEN and known <= _flags(parser) else frozenset()
    yield from _rows(parser, shared)
    if shared:
        yield "and the flags of [`opgen gen`](#opgen-gen).\n"


def _flags(parser: argparse.ArgumentParser) -> frozenset[str]:
    return frozenset(name for action in parser._actions for name in action.option_strings)


def _rows(parser: argparse.ArgumentParser, shared: frozenset[str] = frozenset()) -> Iterator[str]:
    actions = [action for action in parser._actions if not shared.intersection(action.option_strings)]
    below = list[argparse.ArgumentParser]()
    if actions:
        yield "| argument | meaning |"
        yield "|---|---|"
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            for pseudo in action._choices_actions:
                yield f"| `{pseudo.dest}` | {_cell(pseudo.help or '')} |"
            below += action.choices.values()
        elif not isinstance(action, (argparse._HelpAction, argparse._VersionAction)):
            meaning = _cell(parser._get_formatter()._expand_help(action)).replace("<", "&lt;")
            yield f"| {_spelled(action)} | {meaning} |"
    yield ""
    for each in below:
        yield f"`{each.prog}`:\n"
        yield from _rows(each)


def _spelled(action: argparse.Action) -> str:
    """How an argument is written: the flags of torchgen with underscores are the same and not shown."""
    names = [name for name in action.option_strings if "_" not in name] or [str(action.metavar or action.dest)]
    value = ""
    if action.option_strings and action.nargs != 0:
        words = "|".join(map(str, action.choices)) if action.choices else str(action.metavar or action.dest.upper())
        value = f" {words} …" if action.nargs == "*" else f" [{words}]" if action.nargs == "?" else f" {words}"
    return ", ".join(f"`{_cell(name + value)}`" for name in names)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
