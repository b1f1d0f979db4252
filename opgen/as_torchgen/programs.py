"""Entries as Python data → opgen's functions and kernels; functions → a `Program` for opgen's emitters.

torchgen's users read YAML themselves and pass dictionaries, some with `__line__` (`gen.LineLoader`).  opgen's
front end reads text, to report locations in it, so the dictionaries are converted back to YAML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from opgen.as_torchgen.errors import asserted
from opgen.as_torchgen.yaml_utils import YamlDumper
from opgen.diagnostics import Diagnostics, Source, Span, UserError
from opgen.frontend import entries
from opgen.frontend.native_functions import Definitions, load_definitions
from opgen.frontend.nodes import ListNode, load_yaml
from opgen.frontend.tags import load_tags
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.model import BackendMetadata, DispatchKey, NativeFunction
from opgen.program.program import Program
from opgen.releases.choice import choose_release
from opgen.releases.release import Release
from opgen.schema.function_schema import SchemaMemo
from opgen.selective_build.selector import SelectiveBuilder

LINE = "__line__"


@dataclass(frozen=True, slots=True)
class Location:
    """The location of an entry."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def release_of_torch() -> Release:
    """Return the release of the installed torch, or the newest that opgen knows."""
    log = Diagnostics()
    choice = choose_release(None, None, log)
    if choice is None:
        raise UserError(*log.all)
    return choice.release


def program_of(selector: SelectiveBuilder) -> Program:
    """Return a program without operators, which is sufficient for emitters of single operators."""
    return Program((), (), (), FrozenMap(), selector, release_of_torch(), FrozenMap())


def own(function: NativeFunction, loc: Location) -> NativeFunction:
    """Return a function that the caller can mutate to the same extent as torchgen's functions."""
    changed: dict[str, Any] = {
        "loc": loc,
        "variants": set(function.variants),
        "tags": set(function.tags),
        "autogen": list(function.autogen),
        "ufunc_inner_loop": dict(function.ufunc_inner_loop),
        "cpp_no_default_args": set(function.cpp_no_default_args),
    }
    return replace(function, **changed)


@asserted()
def read_entry(
    entry: Mapping[str, object], loc: Location, valid_tags: Iterable[str], ignored_keys: Iterable[DispatchKey]
) -> tuple[NativeFunction, Mapping[DispatchKey, BackendMetadata]]:
    """Return the function of an entry and its kernels; raise AssertionError with all errors."""
    log = Diagnostics()
    node = load_yaml(Source(str(loc), _text([entry])), log)
    tags = load_tags(_tags_source(valid_tags), log)
    form_tags = release_of_torch().form_tags & tags.keys()
    found = None
    if isinstance(node, ListNode):
        found = entries.read_entry(node.items[0], SchemaMemo(), tags, frozenset(ignored_keys), form_tags, log)
    if found is None:
        raise UserError(*log.all)
    return own(found.function, loc), found.kernels


@asserted()
def read_file(path: Path, tags_path: Path, ignored_keys: Iterable[DispatchKey]) -> Definitions:
    """Return the definitions of a file; raise AssertionError with all errors."""
    log = Diagnostics()
    return _own_all(load_definitions(path, tags_path, log, ignored_keys), {}, str(path), log)


@asserted()
def read_entries(
    listed: Sequence[Mapping[str, object]], valid_tags: Iterable[str], ignored_keys: Iterable[DispatchKey], name: str
) -> Definitions:
    """Return the definitions of entries; raise AssertionError with all errors."""
    log = Diagnostics()
    source = Source(name, _text(listed))
    definitions = load_definitions(source, _tags_source(valid_tags), log, ignored_keys)
    lines = {}
    if definitions is not None:
        written = [entry.get(LINE) for entry in listed]
        lines = {f.loc.start: line for f, line in zip(definitions.functions, written) if isinstance(line, int)}
    return _own_all(definitions, lines, name, log)


def _own_all(definitions: Definitions | None, lines: Mapping[int, int], name: str, log: Diagnostics) -> Definitions:
    if definitions is None:
        raise UserError(*log.all)

    def place(span: Span) -> Location:
        return Location(name, lines.get(span.start) or span.line)

    functions = tuple(own(function, place(function.loc)) for function in definitions.functions)
    return replace(definitions, functions=functions)


def _text(listed: Iterable[Mapping[str, object]]) -> str:
    plain = [_without_lines(entry) for entry in listed]
    text: str = yaml.dump(plain, Dumper=YamlDumper, sort_keys=False, width=10_000, allow_unicode=True)
    return text


def _without_lines(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_lines(each) for key, each in value.items() if key != LINE}
    return [_without_lines(each) for each in value] if isinstance(value, (list, tuple)) else value


def _tags_source(tags: Iterable[str]) -> Source:
    """Return the text of a file that declares these tags."""
    return Source("<tags>", "".join(f"- tag: {tag}\n  desc: a tag\n" for tag in sorted(tags)) or "[]\n")
