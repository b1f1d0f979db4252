"""Writes operators of MLX, from mlx_ops.yaml.

    python -m opgen.gen_mlx --source-path ops --install-dir out --namespace mylib

`opgen.commands.gen_mlx` does the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.run.entry import run_as_program
from opgen.run.spine import run as run_spine

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run_spine("gen_mlx", argv)


if __name__ == "__main__":
    run_as_program(main)
