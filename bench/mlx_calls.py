"""Times calls of one operator; runs in the environment of mlx: `python mlx_calls.py MODULE`."""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

REPEATS = 9


def _microseconds(call: Callable[[], object], count: int) -> float:
    """The median over several rounds of the time that one call takes."""
    rounds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        for _ in range(count):
            call()
        rounds.append((time.perf_counter() - started) / count * 1e6)
    return statistics.median(rounds)


def main() -> None:
    mx = importlib.import_module("mlx.core")
    scaled_add = importlib.import_module(sys.argv[1]).scaled_add
    gradient = mx.grad(lambda a, b: mx.sum(scaled_add(a, b, scale=2.0)))

    def call(a: object, b: object) -> None:
        mx.eval(scaled_add(a, b))

    def call_gradient(a: object, b: object) -> None:
        mx.eval(gradient(a, b))

    found = {}
    for label, size, count in (("1", 1, 2000), ("1,000", 1000, 2000), ("1,000,000", 1_000_000, 30)):
        a, b = mx.random.normal((size,)), mx.random.normal((size,))
        mx.eval(a, b)
        found[f"call, {label} elements"] = _microseconds(partial(call, a, b), count)
        if size == 1000:
            found["graph only, 1,000 elements"] = _microseconds(partial(scaled_add, a, b), count)
            found["gradient, 1,000 elements"] = _microseconds(partial(call_gradient, a, b), count)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
