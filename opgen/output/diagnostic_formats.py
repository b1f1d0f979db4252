"""Diagnostics → a machine-readable document: JSON, GitHub workflow commands, SARIF.

    render_diagnostics(log.sorted(), "json")
    [{"id": "unknown-key", "severity": "error", "message": "…", "file": "ops.yaml", "line": 3, "column": 3, …}]

The `text` format is rendered by `Diagnostics.render`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from opgen import __version__
from opgen.diagnostics import Diagnostic, Span

TEXT: Final = "text"
_SARIF_LEVELS: Final = MappingProxyType({"error": "error", "warning": "warning", "remark": "note"})
_GITHUB_COMMANDS: Final = MappingProxyType({"error": "error", "warning": "warning", "remark": "notice"})
_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def render_diagnostics(diagnostics: Sequence[Diagnostic], format: str) -> str:
    """Return the document in one of `FORMATS` other than text."""
    return _RENDERERS[format](diagnostics)


def _location_of(span: Span | None) -> dict[str, Any]:
    if span is None:
        return {"file": None, "line": None, "column": None, "end_line": None, "end_column": None}
    end_line, end_column = span.source.position(max(span.start, span.end))
    location = {"file": span.source.name, "line": span.line, "column": span.column}
    return {**location, "end_line": end_line, "end_column": end_column}


def _as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    notes = [
        {"message": note.message, "text": list(note.lines), **_location_of(note.span)} for note in diagnostic.notes
    ]
    return {
        "id": diagnostic.id,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "label": diagnostic.label,
        **_location_of(diagnostic.span),
        "notes": notes,
    }


def _render_json(diagnostics: Sequence[Diagnostic]) -> str:
    return json.dumps([_as_json(each) for each in diagnostics], indent=2) + "\n"


def _render_github(diagnostics: Sequence[Diagnostic]) -> str:
    """Return one workflow command per diagnostic; the runner shows them at their lines of a pull request."""
    return "".join(map(_github_line, diagnostics))


def _github_line(diagnostic: Diagnostic) -> str:
    properties: dict[str, object] = {"title": f"opgen: {diagnostic.id}"}
    if diagnostic.span is not None:
        location = _location_of(diagnostic.span)
        properties |= {"file": location["file"], "line": location["line"], "col": location["column"]}
        properties |= {"endLine": location["end_line"], "endColumn": location["end_column"]}
    listed = ",".join(f"{name}={_escape(str(value), ':,')}" for name, value in sorted(properties.items()))
    text = "\n".join(filter(None, [diagnostic.message, diagnostic.label, *(note.message for note in diagnostic.notes)]))
    return f"::{_GITHUB_COMMANDS[diagnostic.severity]} {listed}::{_escape(text, '')}\n"


def _escape(text: str, further: str) -> str:
    """Return `text` with `%`, line ends and the characters of `further` percent-encoded."""
    for character in f"%\r\n{further}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _render_sarif(diagnostics: Sequence[Diagnostic]) -> str:
    rules = [{"id": id} for id in sorted({each.id for each in diagnostics})]
    driver = {"name": "opgen", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(map(_sarif, diagnostics))}
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _sarif(diagnostic: Diagnostic) -> dict[str, Any]:
    text = ": ".join(filter(None, (diagnostic.message, diagnostic.label)))
    related = [
        {"message": {"text": note.message}, **_sarif_location(note.span)}
        for note in diagnostic.notes
        if note.span is not None
    ]
    return {
        "ruleId": diagnostic.id,
        "level": _SARIF_LEVELS[diagnostic.severity],
        "message": {"text": text},
        "locations": [] if diagnostic.span is None else [_sarif_location(diagnostic.span)],
        "relatedLocations": related,
    }


def _sarif_location(span: Span) -> dict[str, Any]:
    location = _location_of(span)
    region = {"startLine": location["line"], "startColumn": location["column"]}
    region |= {"endLine": location["end_line"], "endColumn": location["end_column"]}
    return {"physicalLocation": {"artifactLocation": {"uri": location["file"]}, "region": region}}


_RENDERERS: Final[Mapping[str, Callable[[Sequence[Diagnostic]], str]]] = MappingProxyType(
    {"json": _render_json, "github": _render_github, "sarif": _render_sarif}
)
FORMATS: Final = (TEXT, *_RENDERERS)
"""The choices of `--format`."""
DOCUMENTS: Final = ("json", "sarif")
"""Formats whose document is the only output on stdout."""
