"""torch's own generators of autograd and of its bindings to Python, both in one process, as torch's build runs them.

python -m bench.torch_autograd NATIVE_FUNCTIONS TAGS OUT AUTOGRAD_DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

from torchgen.packaged.autograd.gen_autograd import gen_autograd, gen_autograd_python
from torchgen.selective_build.selector import SelectiveBuilder


def main(functions: str, tags: str, out: str, folder: str) -> None:
    Path(out).mkdir(parents=True, exist_ok=True)
    # The other way round, the second one finds what the first left in a cache, and writes something else.
    gen_autograd_python(functions, tags, out, folder)
    gen_autograd(functions, tags, out, folder, SelectiveBuilder.get_nop_selector())


if __name__ == "__main__":
    main(*sys.argv[1:])
