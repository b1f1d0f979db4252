"""What all tests that compile C++ tell the compiler, so that it takes less time and does the same."""

from __future__ import annotations

from typing import Final

QUICK: Final = "--param=ggc-min-heapsize=4000000"
"""GCC collects no garbage below four gigabytes, which is a sixth of its time; no file here comes near that."""
