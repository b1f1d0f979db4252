"""Rewrites what golden cases expect: `python -m tests.golden.rewrite [CASE ...]`; all without a name."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.golden.harness import case_names, rewrite_case


def main(names: Sequence[str]) -> int:
    """Rewrites the cases `names` and says what changed."""
    unknown = set(names) - set(case_names())
    if unknown:
        print(f"there is no case {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    for name in names or case_names():
        with tempfile.TemporaryDirectory() as work:
            changed = rewrite_case(name, Path(work))
        for path in changed:
            print(f"{name}/{path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
