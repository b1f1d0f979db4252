"""Trains heuristics of made-up logs with the command, and loads what it wrote."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from opgen.run.spine import run

HEADER: Final[Mapping[str, Any]] = {
    "shared_memory": 0,
    "device_capa": [0, 0],
    "name": "toy",
    "numerical_features": ["m", "n"],
    "categorical_features": ["dtype"],
}
COMMAND: Final = "autoheuristic"
COLUMNS: Final = "m,n,dtype,choice,feedback"


def log_text(rows: Iterable[str], columns: str = COLUMNS, **header: object) -> str:
    """A log with these rows."""
    return "\n".join([json.dumps({**HEADER, **header}), columns, *rows]) + "\n"


def toy_times(m: int, n: int) -> Mapping[str, float]:
    """The made-up times: `small` is the best up to m * n of about a million."""
    return {"small": 1 + m * n / 1e5, "large": 10 + m * n / 1e6}


def toy_rows(count: int = 200, seed: int = 0, dtype: str = "torch.float32") -> list[str]:
    """Rows of all choices for random sizes."""
    draw = random.Random(seed)
    sizes = [(draw.randint(1, 2000), draw.randint(1, 2000)) for _ in range(count)]
    return [f"{m},{n},{dtype},{choice},{time!r}" for m, n in sizes for choice, time in toy_times(m, n).items()]


def train(folder: Path, logs: Mapping[str, str] | str, *flags: str, name: str = "Toy") -> str:
    """Trains a heuristic in a folder; the module's text."""
    files = {"log.txt": logs} if isinstance(logs, str) else logs
    for file, text in files.items():
        (folder / file).write_bytes(text.encode())
    data = [str(folder / file) for file in files]
    assert run(COMMAND, [*data, "--heuristic-name", name, "--output-dir", str(folder / "out"), "-q", *flags]) == 0
    return (folder / "out" / f"_{name}.py").read_text(encoding="utf-8")


def load(text: str, name: str = "Toy") -> Any:
    """The heuristic in a module's text."""
    names: dict[str, Any] = {}
    exec(compile(text, f"_{name}.py", "exec"), names)
    return names[name]()


def context(**values: object) -> Any:
    """What Inductor would ask a heuristic with."""
    from torch._inductor.autoheuristic.autoheuristic_utils import AHContext

    made = AHContext()
    for name, value in values.items():
        made.add_feature(name, value, is_categorical=isinstance(value, str))
    return made


def decide(heuristic: Any, choices: Sequence[str] = ("small", "large"), **values: object) -> str | None:
    """The decision for inputs with these values."""
    decision: str | None = heuristic.get_decision(context(**values), list(choices))
    return decision
