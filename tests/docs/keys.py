"""The JSON Schemas of the YAML files -> docs/keys.md.

python -m tests.docs.keys      writes the page anew
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from opgen.desk.json_schema import KINDS, json_schema

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "keys.md"
FILES: Final = MappingProxyType(
    {
        "native_functions": ("native_functions.yaml", "An entry; [operator definitions](definitions.md) explains it."),
        "derivatives": (
            "derivatives.yaml",
            "An entry; every other key names arguments, or a result. [Extensions](extension.md) explains it.",
        ),
        "tags": ("tags.yaml", "An entry."),
        "backend": ("Backend YAML", "The file is one mapping; [device backends](backends.md) explains it."),
        "selection": (
            "Selections",
            "The file is one mapping; [selective builds](selective-build.md) explains how to make it.",
        ),
        "mlx": ("mlx_ops.yaml", "An entry; [operators of MLX](mlx.md) explains it."),
    }
)
"""The heading of each kind, and what the keys belong to."""
HEAD: Final = """\
# Keys of the YAML files

For authors of YAML files who look up a key. A key that is not here is an error. `opgen schema KIND` prints the same
with all legal values, for editors. `python -m tests.docs.keys` writes this page.
"""
MOST: Final = 8
"""Most words of an enumeration that are listed."""


def render() -> str:
    """Return the page."""
    return "\n".join([HEAD, *("\n".join(_section(kind)) for kind in KINDS)])


def _section(kind: str) -> Iterator[str]:
    heading, about = FILES[kind]
    schema = json_schema(kind)
    yield f"## {heading}\n"
    yield f"{about}\n"
    yield from _table(schema.get("items", schema), "")
    yield ""


def _table(mapping: dict[str, Any], prefix: str) -> Iterator[str]:
    """Yield the rows of a mapping's keys, and of the keys below them."""
    if not prefix:
        yield "| key | value | meaning |"
        yield "|---|---|---|"
    for key, value in mapping["properties"].items():
        needed = ", required" if key in mapping.get("required", ()) else ""
        yield f"| `{prefix}{key}` | {_kind(value)}{needed} | {value['description']} |"
        for inner, between in below(value):
            yield from _table(inner, f"{prefix}{key}{between}")


def below(value: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the mappings with described keys that a value is made of, and what is between the keys."""
    for each in _choices(value):
        for inner, between in ((each.get("items"), "[]."), (each.get("additionalProperties"), ".NAME.")):
            for choice in _choices(inner) if isinstance(inner, dict) else ():
                if any("description" in key for key in choice.get("properties", {}).values()):
                    yield choice, between


def _kind(value: dict[str, Any]) -> str:
    """Return what kind of value a key has."""
    choices = list(_choices(value))
    words = [word for each in choices for word in _words(each)]
    listed = [*(f"`{word}`" for word in words[:MOST]), *(["…"] if len(words) > MOST else [])]
    names = " or ".join(dict.fromkeys(name for name in map(_name, choices) if name))
    return "; ".join(filter(None, (", ".join(listed), names)))


def _choices(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in value.get("anyOf", ()):
        yield from _choices(each)
    if "anyOf" not in value:
        yield value


def _words(value: dict[str, Any]) -> list[str]:
    return [str(value["const"])] if "const" in value else [str(word) for word in value.get("enum", ())]


def _name(value: dict[str, Any]) -> str:
    kind = value.get("type", "")
    if isinstance(kind, list):
        return "mapping or text" if "object" in kind else "text"
    return {"array": "list", "object": "mapping", "string": "text", "boolean": "boolean", "null": ""}.get(kind, kind)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
