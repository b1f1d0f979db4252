"""The generator of mobile upgraders: byte code that the installed torch gives in, `upgrader_mobile.cpp` out.

    python -m opgen.gen_mobile_upgraders --install-dir out

This command imports torch.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

from opgen.dest.mobile_upgraders import (
    Constant,
    Upgrader,
    VersionRange,
    emit_mobile_upgraders,
    needed_upgraders,
)
from opgen.diagnostics import Diagnostics
from opgen.installed.location import import_torch
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files
from opgen.run.entry import run_as_program
from opgen.run.flags import install_parser
from opgen.run.inputs import packaged_templates
from opgen.run.shell import run_command

__all__ = ["entry_point", "main", "read_operators", "read_upgraders"]

COMMAND: Final = "gen_mobile_upgraders"
TEMPLATES: Final = "mobile_upgraders"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    description = "Generate what the mobile interpreter runs in the place of operators that have changed."
    return run_command(install_parser(COMMAND, description), _run, argv)


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    torch = import_torch("torch", COMMAND, log)
    bytecode = None if torch is None else import_torch("torch.jit.generate_bytecode", COMMAND, log)
    if bytecode is None:
        return None
    upgraders = read_upgraders(bytecode.generate_upgraders_bytecode(), log)
    operators = read_operators(torch)
    _check(upgraders, operators, log)
    if log.has_errors:
        return None
    files = tuple(emit_mobile_upgraders(upgraders, operators, TemplateSet(*packaged_templates(TEMPLATES))))
    return write_files(files, {"install": given.install_dir}, dry_run=given.dry_run)


def read_upgraders(tables: Iterable[Mapping[str, Mapping[str, Any]]], log: Diagnostics) -> tuple[Upgrader, ...]:
    """The upgraders, out of the tables that torch makes of them."""
    return tuple(_read_upgrader(name, table, log) for named in tables for name, table in named.items())


def _read_upgrader(name: str, table: Mapping[str, Any], log: Diagnostics) -> Upgrader:
    return Upgrader(
        name=name,
        instructions=tuple((str(code), int(x), int(n)) for code, x, n in table["instructions"]),
        operators=tuple((str(operator), str(overload), int(n)) for operator, overload, n in table["operators"]),
        constants=tuple(_read_constants(name, table["constants"], log)),
        types=tuple(map(str, table["types"])),
        register_size=int(table["register_size"]),
    )


def _read_constants(upgrader: str, values: Iterable[object], log: Diagnostics) -> Iterator[Constant]:
    for value in values:
        if value is None or isinstance(value, (str, bool, int)):
            yield value
            continue
        if isinstance(value, float) and math.isfinite(value):
            yield value
            continue
        message = f"the upgrader '{upgrader}' of the installed torch has a constant that can't be written: {value}"
        log.error("upgrader-unreadable", message, label="there is C++ for text, finite numbers, booleans and None")


def read_operators(torch: Any) -> Mapping[str, tuple[VersionRange, ...]]:
    """The operators that have changed, with the versions before each change."""
    found: dict[str, tuple[VersionRange, ...]] = {}
    for operator, entries in torch._C._get_operator_version_map().items():
        ranges = torch._C._get_upgrader_ranges(operator)
        found[operator] = tuple(
            VersionRange(versions.min_version, versions.max_version, entry.upgrader_name)
            for versions, entry in zip(ranges, entries, strict=True)
        )
    return found


def _check(upgraders: Iterable[Upgrader], operators: Mapping[str, Sequence[VersionRange]], log: Diagnostics) -> None:
    known = {upgrader.name for upgrader in upgraders}
    for operator, name in needed_upgraders(operators):
        if name not in known:
            message = f"the installed torch names an upgrader '{name}' for '{operator}', but has no byte code for it"
            log.error("upgrader-unreadable", message, label="install torch anew, or another release of it")


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
