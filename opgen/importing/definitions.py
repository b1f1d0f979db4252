"""Registered operators → the text of `native_functions.yaml`.

Operator("fill(Tensor(a!) x) -> ()", {"CPU": "my::fill"}, ("pt2_compliant_tag",))

- func: mylib::fill(Tensor(a!) x) -> ()
  dispatch:
    CPU: my::fill
  tags: pt2_compliant_tag
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.dispatch_keys import DispatchKey
from opgen.frozen_dataclass import dataclass
from opgen.schema.lexer import SchemaError
from opgen.schema.registered import parse_registered

_FLOAT_FOR_INT: Final = re.compile(r"(\b(?:int|SymInt)\?? \w+=-?\d+)\.0*(?=[,)])")
"""A default for an int that torch's parser accepts, but no call could use."""
_KNOWN_KEYS: Final = frozenset(key.name for key in DispatchKey)


@dataclass(frozen=True, slots=True)
class Operator:
    """A registered operator."""

    schema: str
    """Without the namespace."""
    kernels: Mapping[str, str] = field(default_factory=dict)
    """Names of kernels in C++ by dispatch key; empty for kernels in Python."""
    tags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name with its overload."""
        return self.schema.partition("(")[0].strip()


@dataclass(frozen=True, slots=True)
class Imported:
    """The operators of a namespace."""

    namespace: str
    operators: tuple[Operator, ...]
    notes: tuple[str, ...] = ()
    """Notes for readers of the file about what couldn't be read."""


def combine(found: Iterable[Imported], log: Diagnostics) -> list[Imported]:
    """Combine the registrations of several sources; warn about kernels without a schema."""
    schemas: dict[str, dict[str, Operator]] = {}
    kernels: dict[str, dict[str, dict[str, str]]] = {}
    for each in found:
        for operator in each.operators:
            if "(" in operator.schema:
                schemas.setdefault(each.namespace, {}).setdefault(operator.name, operator)
            kernels.setdefault(each.namespace, {}).setdefault(operator.name, {}).update(operator.kernels)
    for namespace, names in kernels.items():
        for name in names.keys() - schemas.get(namespace, {}).keys():
            message = f"'{namespace}::{name}' has kernels, but no schema in these sources"
            log.warning("import-unread", message, label="add the source that defines it, or read it with --from-ops")
    return [
        Imported(
            namespace,
            tuple(
                Operator(operator.schema, kernels.get(namespace, {}).get(name, {}), operator.tags)
                for name, operator in operators.items()
            ),
        )
        for namespace, operators in sorted(schemas.items())
    ]


def render_definitions(imported: Imported) -> str:
    """Return the text of `native_functions.yaml`."""
    entries = "\n".join(
        "".join(f"{line}\n" for line in _entry(imported.namespace, each)) for each in imported.operators
    )
    notes = "".join(f"# {note}\n" for note in imported.notes)
    return f"# Operators of '{imported.namespace}', written by 'opgen import'.\n{notes}\n{entries}"


def _entry(namespace: str, operator: Operator) -> Iterator[str]:
    schema = _FLOAT_FOR_INT.sub(r"\1", operator.schema)
    yield f"- func: {_scalar(f'{namespace}::{schema}')}"
    known = {key: kernel for key, kernel in operator.kernels.items() if key in _KNOWN_KEYS}
    if known:
        yield "  dispatch:"
        yield from (f"    {key}: {kernel}" for key, kernel in known.items())
    for key, kernel in operator.kernels.items():
        if key not in _KNOWN_KEYS:
            yield f"  # {key}: {kernel} is registered by hand"
    if operator.tags:
        tags = ", ".join(operator.tags)
        yield f"  tags: {tags}" if len(operator.tags) == 1 else f"  tags: [{tags}]"


def _scalar(text: str) -> str:
    """Return the text as a YAML scalar: plain if possible, else in quotes."""
    if ": " in text or " #" in text or text.endswith(":"):
        return "'" + text.replace("'", "''") + "'"
    return text


def readable_schema(schema: str) -> str | None:
    """Return why opgen can't read the schema; None if it can."""
    try:
        parse_registered(schema)
    except SchemaError as problem:
        return problem.message
    return None
