"""Runs a command of opgen in as many processes as `--jobs` says, however few operators there are.

    python -m tests.forking gen -s ops -d out --jobs 2

opgen uses one process for few operators, but tests of what several processes do need few operators to be fast.  Tests
that run a command in their own process use the fixture `forking`.
"""

from __future__ import annotations

import sys

from opgen.run import work
from opgen.run.entry import run_as_program
from opgen.run.spine import run

if __name__ == "__main__":
    work.WORTH_FORKING = 0  # type: ignore[misc]  # a constant everywhere else
    run_as_program(lambda: run(sys.argv[1], sys.argv[2:]))
