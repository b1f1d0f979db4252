"""torchgen's `inductor_fallback_ops`: operators that compiled models call → their first release and options.

{"aten.abs.default": {}, "aten._grouped_mm.default": {"since": "TORCH_VERSION_2_12_0"}, …}
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

import yaml

from opgen.as_torchgen.yaml_utils import YamlLoader


class _Text(YamlLoader):  # type: ignore[misc]
    """Reads numbers as strings, since 2.10 is not 2.1."""


_Text.yaml_implicit_resolvers = {}


def _since(release: str) -> str:
    parts = [*release.split("."), "0"][:3]
    return f"TORCH_VERSION_{'_'.join(parts)}"


def _entries() -> Mapping[str, list[dict[str, Any]]]:
    """Return the entries of the file packaged with opgen, by section."""
    text = resources.files("opgen").joinpath("packaged/aoti/fallback_ops.yaml").read_text(encoding="utf-8")
    listed = yaml.load(text, Loader=_Text)
    return {name: [e if isinstance(e, dict) else {"op": e} for e in entries] for name, entries in listed.items()}


def _name(entry: Mapping[str, Any]) -> str:
    name, _, overload = entry["op"].partition(".")
    return f"aten.{name}.{overload or 'default'}"


def _facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"since": _since(entry["since"])} if "since" in entry else {}
    for number, later in enumerate(entry.get("later_arguments", ()), 2):
        names = later["arguments"]
        listed = names if isinstance(names, list) else [each.strip() for each in names.split(",")]
        facts[f"v{number}"] = {"new_args": listed, "since": _since(later["since"])}
    return facts


_ENTRIES: Final = MappingProxyType(_entries())

inductor_fallback_ops = {_name(entry): _facts(entry) for entry in _ENTRIES["per_device"]}
aten_shimified_ops = {_name(entry): _facts(entry) for entry in _ENTRIES["any_device"]}
NULL_RESULTS: Final = frozenset(
    _name(entry) for entries in _ENTRIES.values() for entry in entries if entry.get("null_results") == "true"
)
"""Operators with optional results."""
