"""Writes the nodes and kernels of a lazy backend.

    python -m opgen.gen_lazy_tensor --from-torch --source-yaml backend.yaml --output-dir out --gen-ts-lowerings

`opgen.commands.gen_lazy_tensor` does the work; names that programs import from here come from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opgen.run.entry import names_of, run_as_program
from opgen.run.spine import run

if TYPE_CHECKING:
    from opgen.commands.gen_lazy_tensor import run_gen_lazy_tensor as run_gen_lazy_tensor
    from opgen.lazy.kernels import GenLazyNativeFuncDefinition as GenLazyNativeFuncDefinition
    from opgen.lazy.nodes import GenLazyIR as GenLazyIR
    from opgen.lazy.nodes import GenTSLazyIR as GenTSLazyIR
else:
    __getattr__ = names_of(
        "opgen.commands.gen_lazy_tensor",
        "GenLazyIR",
        "GenLazyNativeFuncDefinition",
        "GenTSLazyIR",
        "run_gen_lazy_tensor",
    )

__all__ = ["GenLazyIR", "GenLazyNativeFuncDefinition", "GenTSLazyIR", "main", "run_gen_lazy_tensor"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run("gen_lazy_tensor", argv)


if __name__ == "__main__":
    run_as_program(main)
