"""The `opgen` command: the first word says which generator, the rest are its flags.

opgen gen --source-path ATen --install-dir out        python -m opgen gen …
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from opgen import __version__, gen


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator that the command line names; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="opgen",
        description="Generate the code of PyTorch operators.",
        epilog="'opgen gen --help' lists its flags.",
    )
    parser.add_argument("--version", action="version", version=f"opgen {__version__}")
    parser.add_argument("command", choices=("gen",), help="gen: the sources of ATen, or of a set of operators like it")
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser.parse_args(arguments[:1])
    return gen.main(arguments[1:])


def entry_point() -> None:
    """Runs as a command."""
    sys.exit(main())


if __name__ == "__main__":
    entry_point()
