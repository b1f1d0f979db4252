"""Measurements of choices, as Inductor's AutoHeuristic collects them, as values.

    inputs (m=16, mat1_dtype="torch.float16"), choices {"extern_mm": 0.011, "type=triton_BLOCK-M=16": 0.009}

One `Measurements` holds what was measured on one device. `log_reader` makes them from log files.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from typing import TypeAlias

from opgen.frozen_dataclass import dataclass

Number: TypeAlias = "int | float"
Value: TypeAlias = "int | float | str"


@dataclass(frozen=True, slots=True)
class Feature:
    """A property of the inputs that a heuristic may use."""

    name: str
    """Its name in Inductor, or the formula of a combined feature."""
    is_categorical: bool = False
    """Whether its values are strings, which are only compared for equality."""
    is_combined: bool = False
    """Whether the heuristic computes it from other features with the formula in its name."""


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Device:
    """What identifies a device for Inductor."""

    shared_memory: int
    """Bytes of shared memory of a block; 0 without a GPU."""
    capability: tuple[int, int]
    """The compute capability; (0, 0) without a GPU."""

    def __str__(self) -> str:
        major, minor = self.capability
        if self == Device(0, (0, 0)):
            return "no GPU"
        return f"capability {major}.{minor}, {self.shared_memory:,} bytes of shared memory"


@dataclass(frozen=True, slots=True)
class Point:
    """The times of all choices that were measured for the same inputs."""

    inputs: tuple[Value, ...]
    """A value for each feature."""
    times: tuple[tuple[str, float], ...]
    """The median time of each choice, by the choice's name; infinite for a choice that failed."""

    @property
    def best(self) -> float:
        """The shortest time."""
        return min(time for _, time in self.times)

    @property
    def is_usable(self) -> bool:
        """Whether there was a choice: at least two choices, one of which ran."""
        return len(self.times) > 1 and math.isfinite(self.best)


@dataclass(frozen=True, slots=True)
class Measurements:
    """The measurements on one device."""

    name: str
    """Inductor's name of the decision: `mm`, `pad_mm`."""
    device: Device
    features: tuple[Feature, ...]
    """The features: numerical ones first, sorted by name; then combinations, in the requested order."""
    points: tuple[Point, ...]
    """The usable points, sorted by their inputs."""

    @property
    def choices(self) -> tuple[str, ...]:
        """All choices that were measured, sorted."""
        return tuple(sorted({choice for point in self.points for choice, _ in point.times}))

    def fingerprint(self) -> str:
        """Return the SHA-256 of all values, independent of the order of rows and files."""
        digest = hashlib.sha256()
        features = [[feature.name, feature.is_categorical] for feature in self.features if not feature.is_combined]
        head = [self.name, self.device.shared_memory, list(self.device.capability), features]
        for part in (head, *([list(p.inputs[: len(features)]), p.times] for p in self.points)):
            digest.update(json.dumps(part).encode() + b"\n")
        return digest.hexdigest()


def values_by_name(features: tuple[Feature, ...], inputs: tuple[Value, ...]) -> Mapping[str, Value]:
    """Return the value of each feature, under its name."""
    return {feature.name: value for feature, value in zip(features, inputs, strict=True)}
