"""Measures made-up times through torch's own collection: `small` is the best up to m * n of about a million."""

from __future__ import annotations

import os
import random
import sys

os.environ["TORCHINDUCTOR_CACHE_DIR"] = sys.argv[1]  # torch reads it when it is imported: not before this line

from torch._inductor import config
from torch._inductor.autoheuristic.autoheuristic import AutoHeuristic, LocalFeedback
from torch._inductor.autoheuristic.autoheuristic_utils import AHContext
from torch._inductor.runtime.runtime_utils import cache_dir

assert __name__ == "__main__"
assert cache_dir() == sys.argv[1]
assert config.collect_autoheuristic("toy")

draw = random.Random(0)
for _ in range(int(sys.argv[2])):
    m, n = draw.randint(1, 2000), draw.randint(1, 2000)
    context = AHContext()
    context.add_feature("m", m)
    context.add_feature("n", n)
    times = {"small": 1 + m * n / 1e5, "large": 10 + m * n / 1e6}
    AutoHeuristic(lambda: "small", list(times), LocalFeedback(times.__getitem__), context, "toy")
sys.exit(int(sys.argv[3]))
