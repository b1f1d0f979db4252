"""The features that Inductor computes itself before it uses a heuristic, for the decisions that have any.

mm: m*k, m*n, k*n, arith_intensity
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from opgen.autoheuristic.measurements import Feature, Measurements, Point, Value, values_by_name
from opgen.diagnostics import Diagnostics, did_you_mean

_FUNCTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {"mm": "mm_operations", "mixed_mm": "mixed_mm_operations", "pad_mm": "pad_mm_operations"}
)
"""The function of torch that gives the operations of each decision."""


def compute(decision: str, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the features that torch computes from these values for a decision; empty if there are none or it fails.

    Raises:
        ImportError: torch is not installed.
    """
    if decision not in _FUNCTIONS:
        return {}
    operations = _operations(decision)
    try:
        return dict(zip([each.name for each in operations], _apply(operations, values), strict=True))
    except (KeyError, ZeroDivisionError, TypeError):
        return {}


def _operations(decision: str) -> list[Any]:
    utilities = importlib.import_module("torch._inductor.autoheuristic.autoheuristic_utils")
    found: list[Any] = getattr(utilities, _FUNCTIONS[decision])()
    return found


def add_operations(measurements: Measurements, log: Diagnostics) -> Measurements:
    """Return the measurements with the features that torch computes for their decision; errors are logged."""
    name = measurements.name
    if name not in _FUNCTIONS:
        near = did_you_mean(name, _FUNCTIONS) or f"it does for {', '.join(_FUNCTIONS)}"
        log.error("no-torch-features", f"torch computes no features for '{name}'", label=near)
        return measurements
    known = {feature.name for feature in measurements.features}
    operations = [each for each in _operations(name) if each.name not in known]
    features = tuple(Feature(each.name, each.is_categorical) for each in operations)
    try:
        points = tuple(
            Point(point.inputs + _apply(operations, values_by_name(measurements.features, point.inputs)), point.times)
            for point in measurements.points
        )
    except (KeyError, ZeroDivisionError, TypeError) as problem:
        message = f"torch can't compute its features for '{name}': {type(problem).__name__}: {problem}"
        log.error("no-torch-features", message)
        return measurements
    return Measurements(name, measurements.device, measurements.features + features, points)


def _apply(operations: list[Any], values: Mapping[str, Value]) -> tuple[Value, ...]:
    results = [(each.func(dict(values)), each.is_categorical) for each in operations]
    return tuple(str(result) if is_text else result for result, is_text in results)
