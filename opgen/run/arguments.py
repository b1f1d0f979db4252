"""A command line → the options of a command, or two lines about the first error in it.

opgen gen: error: unknown flag '--sorce-path'
  did you mean '--source-path'?  'opgen gen --help' lists the flags
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, Final, NoReturn

from opgen.diagnostics import did_you_mean

WRONG_USAGE: Final = 2
"""The exit code if the command line is wrong."""
_INVALID_CHOICE: Final = re.compile(r"argument ([^:]+): invalid choice: '([^']*)' \(choose from (.*)\)$")


class Parser(argparse.ArgumentParser):
    """A parser whose error messages suggest the nearest legal word."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take the arguments of `argparse.ArgumentParser`; flags can't be abbreviated."""
        super().__init__(*args, **{**kwargs, "allow_abbrev": False})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; report an unknown flag first, since it may cause the other errors."""
        if args is not None:
            # The arguments of a subcommand are checked by its own parser.
            is_own = self._subparsers is None
            self._check_flags(args if is_own else takewhile(lambda word: word.startswith("-"), args))
        return super().parse_known_args(args, namespace)

    def _check_flags(self, arguments: Iterable[str]) -> None:
        legal = self._option_string_actions
        for argument in arguments:
            flag = argument.partition("=")[0]
            if flag == "--":
                return
            if flag.startswith("--") and flag not in legal:
                self._exit(f"unknown flag '{flag}'", did_you_mean(flag, legal))

    def error(self, message: str) -> NoReturn:
        """Print an error and exit."""
        if match := _INVALID_CHOICE.match(message):
            flag, word, listing = match.groups()
            choices = [choice.strip(" '\"") for choice in listing.split(",")]
            hint = did_you_mean(word, choices) or f"expected one of: {', '.join(choices)}"
            self._exit(f"{flag} can't be '{word}'", hint)
        extra = message.removeprefix("unrecognized arguments: ")
        self._exit(f"unexpected argument '{extra.split()[0]}'" if extra != message else message, "")

    def _exit(self, problem: str, hint: str) -> NoReturn:
        help_text = f"'{self.prog} --help' lists the flags"
        self.exit(WRONG_USAGE, f"{self.prog}: error: {problem}\n  {f'{hint}  ' if hint else ''}{help_text}\n")


def render_unknown_command(word: str, names: Sequence[str]) -> str:
    """Return the two-line message for a word that isn't a command."""
    problem = f"unknown command '{word}'" if word else "a command is missing"
    near = did_you_mean(word, names) if word else ""
    return f"opgen: error: {problem}\n  {f'{near}  ' if near else ''}'opgen --help' lists the commands\n"
