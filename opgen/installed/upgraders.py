"""The upgraders of the installed torch → values that `opgen.dest.mobile_upgraders` turns into C++.

read_upgraders(generate_upgraders_bytecode(), log)    the bytecode of each upgrader
read_operators(torch)                                 the operators that have changed, and since which version
check_upgraders(upgraders, operators, log)            that every mentioned upgrader exists
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from opgen.dest.mobile_upgraders import Constant, Upgrader, VersionRange, needed_upgraders
from opgen.diagnostics import Diagnostics


def read_upgraders(tables: Iterable[Mapping[str, Mapping[str, Any]]], log: Diagnostics) -> tuple[Upgrader, ...]:
    """Return the upgraders in torch's tables."""
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
    """Return the operators that changed, with the versions before each change."""
    found: dict[str, tuple[VersionRange, ...]] = {}
    for operator, entries in torch._C._get_operator_version_map().items():
        ranges = torch._C._get_upgrader_ranges(operator)
        found[operator] = tuple(
            VersionRange(versions.min_version, versions.max_version, entry.upgrader_name)
            for versions, entry in zip(ranges, entries, strict=True)
        )
    return found


def check_upgraders(
    upgraders: Iterable[Upgrader], operators: Mapping[str, Sequence[VersionRange]], log: Diagnostics
) -> None:
    """Report upgraders that are mentioned but don't exist."""
    known = {upgrader.name for upgrader in upgraders}
    for operator, name in needed_upgraders(operators):
        if name not in known:
            message = f"the installed torch names an upgrader '{name}' for '{operator}', but has no byte code for it"
            log.error("upgrader-unreadable", message, label="reinstall torch, or install another release of it")
