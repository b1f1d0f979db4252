"""Rendered texts → file values; a long list of operators → shards of one file.

Files are values until they are written, so dry runs, comparisons and lists of dependencies need no code in emitters.

    emit_sharded(templates, "Operators.cpp", {}, functions, key=…, item_env=…, shards=5, sharded_keys={"definitions"})
    →  Operators_0.cpp … Operators_4.cpp, and OperatorsEverything.cpp with all operators in one
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TypeVar

from opgen.frozen_dataclass import dataclass
from opgen.output.template import TemplateSet, TrimmedTexts, mark_if_trimmed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to write: its path and its text."""

    path: str
    """Relative to the root, with forward slashes."""
    text: str
    root: str = "install"
    """Name of the folder it goes to: `install`, `aoti`, `headeronly`."""
    group: str | None = ""
    """The dependency list that names it, as the prefix of that list's name; None for no list."""
    operator: str = ""
    """The base name of the operators in the file; empty if the file has operators of several names."""


def shard(name: str, count: int) -> int:
    """Return the shard, of `count`, for the operator `name`: the same on every machine and in every run."""
    digest = hashlib.sha1(name.encode("latin-1"), usedforsecurity=False).digest()
    return int.from_bytes(digest, "little") % count


def emit_sharded(
    templates: TemplateSet,
    template: str,
    env: Mapping[str, object],
    items: Iterable[T],
    *,
    key: Callable[[T], str],
    item_env: Callable[[T], Mapping[str, Sequence[str]]],
    shards: int,
    sharded_keys: Collection[str],
    path: str = "",
    root: str = "install",
    group: str | None = "",
) -> Iterator[OutputFile]:
    """Yield `X_0.cpp` … and `XEverything.cpp` for `path` (by default the template's name) `X.cpp`.

    The values of each item are appended to the lists named in `sharded_keys`, after those of `env`;
    `item_env` is called once per item.  Items with the same `key` share a shard and keep their order.  The
    `Everything` file is for builds with a single source; no dependency list names it.  A template may
    use `$shard_id`: `_0` … or `Everything`; and `$unique_x`, a list `x` without repetitions.
    """
    name = PurePosixPath(path or template)
    shard_names = [str(name.with_name(f"{name.stem}_{index}{name.suffix}")) for index in range(shards)]
    everything = str(name.with_name(f"{name.stem}Everything{name.suffix}"))
    whole, parts = _distribute(env, sharded_keys, [(key(item), item_env(item)) for item in items], shards)
    pattern = templates.get(template).pattern
    text = ""
    for index, part in enumerate(parts):
        text = templates.render(template, {**env, "shard_id": f"_{index}", **_with_unique(part, pattern)})
        yield OutputFile(shard_names[index], text, root, group)
    if shards != 1:
        text = templates.render(template, {**env, "shard_id": "Everything", **_with_unique(whole, pattern)})
    yield OutputFile(everything, text, root, None)


def _distribute(
    env: Mapping[str, object],
    sharded_keys: Collection[str],
    item_envs: Iterable[tuple[str, Mapping[str, Sequence[str]]]],
    shards: int,
) -> tuple[dict[str, list[str]], list[dict[str, list[str]]]]:
    """Return the values of the sharded keys, those of `env` first: with all items, and for each shard."""
    whole, *parts = [{key: _as_strings(env.get(key, ())) for key in sharded_keys} for _ in range(shards + 1)]
    shard_of: dict[str, int] = {}
    for name, item_env in item_envs:
        index = shard_of.get(name)
        if index is None:
            index = shard_of[name] = shard(name, shards)
        part = parts[index]
        for key, values in item_env.items():
            whole[key] += values  # a KeyError here is a bug: the emitter forgot to declare its key
            part[key] += values
    # If the whole list is trimmed, so are its parts.
    for key, texts in whole.items():
        whole[key] = mark_if_trimmed(texts)
        if isinstance(whole[key], TrimmedTexts):
            for part in parts:
                part[key] = TrimmedTexts(part[key])
    return whole, parts


def _with_unique(lists: Mapping[str, list[str]], pattern: str) -> dict[str, object]:
    """Return the lists, and for each `unique_…` that `pattern` mentions, the list without repetitions."""
    env: dict[str, object] = dict(lists)
    for key, texts in lists.items():
        name = f"unique_{key}"
        # The variable is always defined, so that "did you mean" can suggest it.
        env[name] = unique(texts) if name in pattern else texts
    return env


def unique(lines: Iterable[str]) -> list[str]:
    """Return the lines without duplicates."""
    return list(dict.fromkeys(lines))


def _as_strings(value: object) -> list[str]:
    return [str(v) for v in value] if isinstance(value, (list, tuple)) else [str(value)]
