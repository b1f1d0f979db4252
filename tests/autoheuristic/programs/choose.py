"""Prints what torch's own selection picks for some sizes: with the heuristics of a folder, and before without."""

from __future__ import annotations

import sys
from pathlib import Path

from torch._inductor.autoheuristic import autoheuristic
from torch._inductor.autoheuristic.autoheuristic_utils import AHContext

from opgen.autoheuristic.loading import allow_missing_gpu, use


def choose(m: int, n: int) -> str:
    context = AHContext()
    context.add_feature("m", m)
    context.add_feature("n", n)
    selection = autoheuristic.AutoHeuristic(lambda: "fallback", ["small", "large"], None, context, "toy")
    choice: str = selection.get_choice()
    return choice


def choices() -> str:
    return " ".join(choose(m, n) for m, n in ((16, 16), (1024, 900), (1990, 1990)))


allow_missing_gpu(autoheuristic)
print(choices())
print(*use(sys.argv[1]))
print(choices())
# One that was trained to pick the opposite comes first now; loading it leaves nothing in the folder.
print(*use(sys.argv[2]), not any(path.is_dir() for path in Path(sys.argv[2]).iterdir()))
print(choices())
