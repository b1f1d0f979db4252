"""Logs of Inductor's AutoHeuristic → `Measurements`, one for each device, or every error in the logs.

    {"shared_memory": 0, "device_capa": [0, 0], "name": "mm", "numerical_features": ["m"], "categorical_features": []}
    m,choice,feedback
    16,extern_mm,0.011
    16,type=triton_BLOCK-M=16,0.009

The first line is JSON and describes the data; CSV with a line of column names follows.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from statistics import median
from typing import Any, Final

from opgen.autoheuristic.measurements import Device, Feature, Measurements, Point, Value
from opgen.diagnostics import Diagnostics, Note, Source, Span, closest, did_you_mean
from opgen.frozen_dataclass import dataclass

CHOICE: Final = "choice"
FEEDBACK: Final = "feedback"
FEWEST_INPUTS: Final = 10
"""The minimum number of distinct inputs for training and testing."""
_MAX_ROW_ERRORS: Final = 20
"""The maximum number of errors in rows of a file that are shown individually."""
_FIELD: Final = re.compile(r'"(?:[^"]|"")*"|[^,]*')
_HEADER_FORM: Final = (
    'line 1 must be JSON like {"shared_memory": 0, "device_capa": [0, 0], "name": "mm",'
    ' "numerical_features": ["m"], "categorical_features": []}'
)


@dataclass(frozen=True, slots=True)
class _Header:
    """The first line of a log."""

    name: str
    device: Device
    numerical: tuple[str, ...]
    categorical: tuple[str, ...]

    @property
    def features(self) -> tuple[Feature, ...]:
        numerical = (Feature(name) for name in sorted(self.numerical))
        return (*numerical, *(Feature(name, is_categorical=True) for name in sorted(self.categorical)))


@dataclasses.dataclass(slots=True)
class _Log:
    """The state of reading a log file."""

    source: Source
    log: Diagnostics
    header: _Header
    columns: tuple[str, ...] = ()
    times: dict[tuple[Value, ...], dict[str, list[float]]] = field(default_factory=dict)
    """All times, by inputs and choice."""
    row_error_count: int = 0

    def error(self, id: str, message: str, span: Span, label: str = "") -> None:
        """Log an error in a row; only count it after the maximum."""
        self.row_error_count += 1
        if self.row_error_count <= _MAX_ROW_ERRORS:
            self.log.error(id, message, span, label)


def read_logs(sources: Sequence[Source], log: Diagnostics) -> tuple[Measurements, ...]:
    """Return the measurements in the logs, sorted by device; they are valid only if no error is logged.

    Args:
        sources: the log files; several may be about the same device.
        log: gets every error.
    """
    logs = list[_Log]()
    for source in sources:
        read = _read_log(source, log)
        if read is not None:
            logs.append(read)
    if not log.has_errors:
        _check_agreement(logs, log)
    return _by_device(logs, log)


def _by_device(logs: Sequence[_Log], log: Diagnostics) -> tuple[Measurements, ...]:
    if log.has_errors:
        return ()
    groups: dict[Device, list[_Log]] = {}
    for read in logs:
        groups.setdefault(read.header.device, []).append(read)
    return tuple(_measurements(groups[device], log) for device in sorted(groups))


def _read_log(source: Source, log: Diagnostics) -> _Log | None:
    if not source.text.strip():
        log.error("missing-log-header", f"'{source.name}' is empty", source.span(0, 0), _HEADER_FORM)
        return None
    header = _read_header(source, log)
    if header is None:
        return None
    read = _Log(source, log, header)
    if not _read_columns(read):
        return None
    _read_rows(read)
    if not read.times and not read.row_error_count:
        log.error("few-inputs", "there are no measurements below the column names", _line_span(source, 2))
    return read


def _line_span(source: Source, number: int) -> Span:
    starts = source.line_starts()
    start = starts[number - 1] if number <= len(starts) else len(source.text)
    return source.span(start, start + len(source.line(number)) if number <= len(starts) else start)


def _read_header(source: Source, log: Diagnostics) -> _Header | None:
    span, text = _line_span(source, 1), source.line(1)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        log.error("missing-log-header", "the log has no JSON header", span, _HEADER_FORM)
        return None
    problems = _header_problems(values)
    for key, problem in problems:
        start = text.find(json.dumps(key))
        log.error("bad-log-header", problem, span if start < 0 else span.sub(start, start + len(json.dumps(key))))
    if problems:
        return None
    device = Device(values["shared_memory"], (values["device_capa"][0], values["device_capa"][1]))
    features = tuple(values["numerical_features"]), tuple(values["categorical_features"])
    return _Header(values["name"], device, *features)


def _header_problems(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each key of the header whose value is wrong, and how."""
    problems = [
        (key, f"the header has no '{key}'" if key not in values else f"'{key}' must be {form}")
        for key, form, is_valid in (
            ("shared_memory", "a whole number", _is_count(values.get("shared_memory"))),
            ("device_capa", "a list of two whole numbers", _is_pair(values.get("device_capa"))),
            ("name", "a text that isn't empty", isinstance(values.get("name"), str) and values["name"] != ""),
            ("numerical_features", "a list of names", _is_texts(values.get("numerical_features"))),
            ("categorical_features", "a list of names", _is_texts(values.get("categorical_features"))),
        )
        if not is_valid
    ]
    if problems:
        return problems
    features = [*values["numerical_features"], *values["categorical_features"]]
    repeated = sorted({name for name in features if features.count(name) > 1})
    problems += [("numerical_features", f"the feature '{name}' is listed twice") for name in repeated]
    if not features:
        problems.append(("numerical_features", "the header lists no features"))
    reserved = [name for name in (CHOICE, FEEDBACK) if name in features]
    return problems + [("numerical_features", f"a feature can't be called '{name}'") for name in reserved]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_count, value))


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _read_columns(read: _Log) -> bool:
    """Read the line of column names; return whether it is valid."""
    source, log = read.source, read.log
    span = _line_span(source, 2)
    try:
        fields = _fields(source.line(2)) if len(source.line_starts()) > 1 else []
    except csv.Error as problem:
        log.error("bad-row", f"the line of column names is not CSV: {problem}", span, "close every quote")
        return False
    if not fields:
        log.error("missing-column", "the line of column names is missing", span, "line 2 must name the columns")
        return False
    legal = (*read.header.numerical, *read.header.categorical, CHOICE, FEEDBACK)
    before = log.error_count
    for index, name in enumerate(fields):
        place = _field_span(span, index)
        if name in fields[:index]:
            log.error("duplicate-column", f"the column '{name}' appears twice", place)
        elif name not in legal:
            near = did_you_mean(name, legal) or "list it in the header's numerical_features or categorical_features"
            log.error("unknown-feature", f"the column '{name}' is not a feature of the header", place, near)
    for name in legal:
        # A misspelled column is reported once, as an unknown one.
        if name not in fields and closest(name, set(fields).difference(legal)) is None:
            log.error("missing-column", f"the column '{name}' is missing", span)
    read.columns = tuple(fields)
    return log.error_count == before


def _fields(line: str) -> list[str]:
    """Return the fields of a line of CSV.

    Raises:
        csv.Error: a quote is not closed, or a field is longer than Python's `csv` allows.
    """
    if '"' not in line:
        return line.split(",") if line else []
    return next(csv.reader([line], strict=True))


def _field_span(line: Span, index: int) -> Span:
    """Return the span of the field `index` of a line."""
    text = line.source.text[line.start : line.end]
    start = 0
    for _ in range(index):
        found = _FIELD.match(text, start)
        start = (found.end() if found else start) + 1
    found = _FIELD.match(text, start)
    return line.sub(start, found.end() if found else start)


def _read_rows(read: _Log) -> None:
    features = read.header.features
    order = [read.columns.index(feature.name) for feature in features]
    choice, feedback = read.columns.index(CHOICE), read.columns.index(FEEDBACK)
    # The rows of all choices for the same inputs repeat their values.
    inputs_of = dict[tuple[str, ...], "tuple[Value, ...] | None"]()
    for line, fields in _rows(read):
        texts = tuple([fields[at] for at in order])
        inputs = inputs_of.get(texts)
        if inputs is None:
            inputs = inputs_of[texts] = _inputs(read, line, texts, order)
        time = _time(read, line, feedback, fields[feedback])
        if inputs is not None and time is not None:
            read.times.setdefault(inputs, {}).setdefault(fields[choice], []).append(time)
    if read.row_error_count > _MAX_ROW_ERRORS:
        more, end = read.row_error_count - _MAX_ROW_ERRORS, len(read.source.text)
        read.log.error("bad-row", f"{more:,} more errors are not shown", read.source.span(end, end))


def _inputs(read: _Log, line: int, texts: Sequence[str], order: Sequence[int]) -> tuple[Value, ...] | None:
    """Return the values of all features; None, with an error logged, if one can't be used."""
    found = [
        _value(read, line, at, text, feature)
        for feature, at, text in zip(read.header.features, order, texts, strict=True)
    ]
    inputs = tuple(value for value in found if value is not None)
    return inputs if len(inputs) == len(found) else None


def _rows(read: _Log) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that have as many fields as there are columns, with their line numbers."""
    lines = read.source.text.split("\n")
    for number, line in enumerate(lines[2:], start=3):
        if not line:
            continue
        if line[0] == "{" and (found := _second_header(line)) is not None:
            _report_second_header(read, number, found)
            if found != read.header.device:
                return
            continue
        try:
            fields = _fields(line)
        except csv.Error as problem:
            read.error("bad-row", f"the row is not CSV: {problem}", _line_span(read.source, number))
            continue
        if len(fields) == len(read.columns):
            yield from [] if tuple(fields) == read.columns else [(number, fields)]
        else:
            wanted = f"expected {len(read.columns)}; a text that contains a comma must be in double quotes"
            message = f"the row has {len(fields)} field{'s' if len(fields) != 1 else ''}"
            read.error("bad-row", message, _line_span(read.source, number), wanted)


def _second_header(line: str) -> Device | None:
    """Return the device in the header, if the line is one."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or _header_problems(values):
        return None
    return Device(values["shared_memory"], (values["device_capa"][0], values["device_capa"][1]))


def _report_second_header(read: _Log, number: int, device: Device) -> None:
    span, label = _line_span(read.source, number), "split the file here, and name both files"
    note = Note("the first header is here", _line_span(read.source, 1))
    if device == read.header.device:
        read.log.error("repeated-log-header", "the log has a second header", span, label, [note])
    else:
        message = f"the log mixes devices: {device}, after {read.header.device}"
        read.log.error("mixed-devices", message, span, label, [note])


def _value(read: _Log, line: int, at: int, text: str, feature: Feature) -> Value | None:
    """Return the value of a feature; None, with an error logged, if it can't be used."""
    if feature.is_categorical:
        return text
    value = parse_number(text)
    if value is not None and math.isfinite(value):
        return value
    problem = "is not a number" if value is None else "is not finite"
    span = _field_span(_line_span(read.source, line), at)
    read.error("bad-number", f"the value '{text}' of '{feature.name}' {problem}", span, "expected a number")
    return None


def parse_number(text: str) -> int | float | None:
    """Return the text as a number, an int if it is whole; None if it isn't a number."""
    if text in ("True", "False"):
        return int(text == "True")
    if "_" in text or not text.isascii():
        return None
    try:
        value = float(text)
        if not value.is_integer():
            return value
        # Also exact where a float isn't; Python refuses to parse thousands of digits as an int.
        return int(text) if text.strip().lstrip("+-").isdigit() else int(value)
    except (ValueError, OverflowError):
        return None


def _time(read: _Log, line: int, at: int, text: str) -> float | None:
    """Return the time of a choice; None, with an error logged, if it is invalid."""
    value = parse_number(text)
    if value is not None and value > 0:
        return float(value)
    problem = "is not a number" if value is None or math.isnan(value) else "is not positive"
    span = _field_span(_line_span(read.source, line), at)
    read.error("bad-number", f"the feedback '{text}' {problem}", span, "expected a time, or inf if the choice failed")
    return None


def _check_agreement(logs: Sequence[_Log], log: Diagnostics) -> None:
    """Check that all logs have the same decision and features."""
    for read in logs[1:]:
        first, span = logs[0], _line_span(read.source, 1)
        note = Note("the other log is this one", _line_span(first.source, 1))
        if read.header.name != first.header.name:
            message = f"the log is about '{read.header.name}', another one about '{first.header.name}'"
            log.error("different-logs", message, span, "train one heuristic for each", [note])
        elif read.header.features != first.header.features:
            log.error("different-logs", "the log has different features than another log", span, "", [note])


def _measurements(logs: Sequence[_Log], log: Diagnostics) -> Measurements:
    """Return the measurements of one device."""
    times: dict[tuple[Value, ...], dict[str, list[float]]] = {}
    for read in logs:
        for inputs, choices in read.times.items():
            for choice, found in choices.items():
                times.setdefault(inputs, {}).setdefault(choice, []).extend(found)
    points = [
        Point(inputs, tuple((choice, median(found)) for choice, found in sorted(choices.items())))
        for inputs, choices in times.items()
    ]
    usable = sorted((point for point in points if point.is_usable), key=lambda point: point.inputs)
    _check_amount(logs, points, usable, log)
    header = logs[0].header
    return Measurements(header.name, header.device, header.features, tuple(usable))


def _check_amount(logs: Sequence[_Log], points: Sequence[Point], usable: Sequence[Point], log: Diagnostics) -> None:
    span = _line_span(logs[0].source, 1)
    choices = {choice for point in points for choice, _ in point.times}
    if len(choices) == 1:
        message = f"all measurements are of the single choice '{min(choices)}'"
        log.error("single-choice", message, _line_span(logs[0].source, 3), "a heuristic needs at least two choices")
    elif len(usable) < FEWEST_INPUTS:
        message = f"there are {len(usable)} different inputs with two or more choices"
        log.error("few-inputs", message, span, f"at least {FEWEST_INPUTS} are needed")
    elif left_out := len(points) - len(usable):
        message = f"inputs with nothing to choose are left out: {left_out:,} of {len(points):,}"
        log.warning("inputs-left-out", message, span, "they have fewer than two choices, or none that ran")
