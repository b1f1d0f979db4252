"""A subject and its generated files → a folder of HTML pages about all operators, which need no server.

    emit_report(report, templates)    →   index.html, report.css, report.js
                                          operators.js            a row for each operator, for search and filters
                                          operators/scale.js      the page of one operator, loaded on demand

Pages opened from a disk can't fetch files, but can load scripts, so the data files are calls of a function.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Final

from opgen.desk.code_parts import Part, index_code
from opgen.desk.explain import (
    Explanation,
    State,
    Subject,
    cell_of,
    explain_forms,
    explanation_to_json,
    keys_of,
    operators_of,
)
from opgen.diagnostics import Span
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

_PAGES: Final = ("index.html", "report.css", "report.js")
_STATES: Final = MappingProxyType({state: letter for letter, state in zip("kgcf-", State, strict=True)})
"""The letter for each state in the rows of operators.js."""
_to_json = partial(json.dumps, ensure_ascii=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of a report."""

    title: str
    subject: Subject
    files: Sequence[OutputFile]
    """The generated files, whose parts are shown for each operator."""
    derivatives: Mapping[str, Span]
    """The entries of derivatives.yaml by operator, without its namespace."""
    folder: str
    """The folder of the definitions: places are shown relative to it."""


def emit_report(report: Report, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the files of a report."""
    subject = report.subject
    operators = sorted(operators_of(subject.program), key=lambda forms: _alphabetical(forms[0]))
    names = file_names([str(_main_form(forms).func.name) for forms in operators])
    keys = keys_of(subject, subject.program.functions)
    code = _code_of(report)
    places = {file.path: number for number, file in enumerate(report.files)}
    rows = list[Mapping[str, Any]]()
    for forms, name in zip(operators, names, strict=True):
        explanation = explain_forms(subject, forms)
        rows.append(_row(subject, forms, explanation, keys, name))
        details = _details(report, forms, explanation, code, places)
        yield OutputFile(f"operators/{name}.js", f"opgenReport.details({_to_json(name)}, {_to_json(details)});\n")
    index = {
        "title": report.title,
        "keys": keys,
        "states": {letter: state.value for state, letter in _STATES.items()},
        "operators": rows,
    }
    yield OutputFile("operators.js", f"window.opgenOperators = {_to_json(index)};\n")
    yield from (OutputFile(page, templates.render(page, {"title": report.title})) for page in _PAGES)


def _main_form(forms: Sequence[NativeFunction]) -> NativeFunction:
    """Return the form that an operator is listed as: the first written one."""
    return next((form for form in forms if "generated" not in form.tags), forms[0])


def _alphabetical(function: NativeFunction) -> tuple[bool, str, str]:
    """Return the sort key of an operator: private ones come last."""
    return function.root_name.startswith("_"), function.root_name.lower(), str(function.func.name)


def file_names(names: Sequence[str]) -> list[str]:
    """Return a name for the file of each operator: different ones, also where case makes no difference.

    file_names(["add.Scalar", "add.scalar"])    →  ["add.Scalar", "add.scalar-2"]
    """
    counts = dict[str, int]()
    result = list[str]()
    for name in names:
        number = counts[name.lower()] = counts.get(name.lower(), 0) + 1
        result.append(name if number == 1 else f"{name}-{number}")
    return result


def _code_of(report: Report) -> Mapping[str, Sequence[Part]]:
    subject = report.subject
    kernels = {
        str(function.func.name): [
            name.rpartition("::")[2] for name in subject.facts[function.qualified_name].kernels.values()
        ]
        for function in subject.program.functions
    }
    return index_code(report.files, subject.program.functions, kernels)


def _row(
    subject: Subject, forms: Sequence[NativeFunction], explanation: Explanation, keys: Sequence[str], file: str
) -> Mapping[str, Any]:
    """Return the row of an operator in the list and the matrix, for search and filters."""
    return {
        "file": file,
        "name": _main_form(forms).qualified_name,
        "schema": str(_main_form(forms).func),
        "forms": [
            [form.name, form.kind, "".join(_STATES[cell_of(subject, function, key).state] for key in keys)]
            for form, function in zip(explanation.forms, forms, strict=True)
        ],
        "origins": sorted({form.origin.split()[0] for form in explanation.forms}),
        "gradient": bool(explanation.gradients),
        "missing": sorted({service.name for service in explanation.services if service.missing}),
        "tags": sorted({tag for form in forms for tag in form.tags} - {"generated"}),
    }


def _details(
    report: Report,
    forms: Sequence[NativeFunction],
    explanation: Explanation,
    code: Mapping[str, Sequence[Part]],
    places: Mapping[str, int],
) -> Mapping[str, Any]:
    """Return the contents of the page of an operator; `places` is the order of files."""
    names = [str(form.func.name) for form in forms]
    spans = {form.loc: None for form in forms}
    derivatives = [report.derivatives[name] for name in names if name in report.derivatives]
    parts = sorted(
        {part: None for name in names for part in code.get(name, ())}, key=lambda part: (places[part.path], part.line)
    )
    details = explanation_to_json(explanation)
    for form in details["forms"]:
        form["place"] = _relative(form["place"], report.folder)
    return {
        **details,
        "doc": next((form.doc for form in forms if form.doc), ""),
        "definitions": [_entry(span, report.folder) for span in sorted(spans, key=lambda span: span.start)],
        "derivatives": [_entry(span, report.folder) for span in dict.fromkeys(derivatives)],
        "code": [[part.path, part.line, part.text] for part in parts],
    }


def _entry(span: Span, folder: str) -> Mapping[str, Any]:
    text, line = entry_text(span)
    return {"place": f"{_relative(span.source.name, folder)}:{line}", "text": text}


def _relative(place: str, folder: str) -> str:
    inner = place.removeprefix(f"{folder}/") if folder else place
    return inner.removeprefix("../") if inner != place else place


def entry_text(span: Span) -> tuple[str, int]:
    """Return the lines of the entry of a list that a span is in, with the comment above it, and its first line."""
    source = span.source
    first = span.line
    column = len(source.line(first)) - len(source.line(first).lstrip(" -"))
    while first > 1 and not _begins_entry(source.line(first), column):
        first -= 1
    indentation = _indentation(source.line(first))
    total = len(source.line_starts())
    after = (source.line(number) for number in range(first + 1, total + 1))
    body = list(takewhile(lambda line: not line.strip() or _indentation(line) > indentation, after))
    while body and not body[-1].strip():
        body.pop()
    start = first
    while start > 1 and source.line(start - 1).startswith(f"{' ' * indentation}#"):
        start -= 1
    head = [source.line(number) for number in range(start, first + 1)]
    return "\n".join([*head, *body]), start


def _begins_entry(line: str, column: int) -> bool:
    """Return whether a line begins an entry whose keys are at a column."""
    return line.lstrip().startswith("-") and _indentation(line) < column


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
