"""A model that AOTInductor compiles with the operators of `authors/`: it calls their kernels and not the dispatcher.

The arguments are the folder of the Python package and a folder to write to; a check that fails raises an error.
What docs/how-to/aotinductor.md shows is done here.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import torch

OPERATORS = ("fill_from", "mix", "rms2", "scaled", "scaled.out", "scaled.Tensor", "make")


def forward(x: Any, numbers: Any) -> Any:
    """Return what operators of every kind return, and tensors that they wrote to."""
    ops = torch.ops.authors
    written, total = torch.zeros_like(x), torch.zeros_like(x)
    ops.fill_from(written, x)
    second, third = ops.rms2(x, total)
    plain = ops.mix(x, [])
    shaped = ops.mix(x, [x, second], third, times=3, shift=0.5, negate=True, mode="square", limit=40.0)
    typed = ops.mix(x, [x], powers=[1, 2], by=2, dtype=torch.float64)
    # A number keeps its kind: an integer leaves a tensor of integers what it is.
    scaled = (ops.scaled(numbers, 3), ops.scaled(numbers, 2.5), ops.scaled(numbers, True), ops.scaled(x, x))
    return written, total, second, third, *plain[:2], *shaped[:2], *typed[:2], *scaled, ops.make(2)


def _refuse(*arguments: Any, **named: Any) -> None:
    raise AssertionError("the dispatcher was asked")


def main(package: str, folder: str) -> None:
    """Compile the model, make every other way to the kernels fail, and run it."""
    sys.path.insert(0, package)
    aoti = importlib.import_module("authors.aoti")
    inputs = (torch.arange(6.0).reshape(2, 3), torch.arange(4))
    module = torch.nn.Module()
    module.forward = forward
    wanted = forward(*inputs)
    program = torch.export.export(module, inputs)
    # These only save time: the model's own code is compiled quickly.
    quick: dict[str, object] = {"aot_inductor.compile_wrapper_opt_level": "O0"}
    quick |= dict.fromkeys(("cpp_cache_precompile_headers", "aot_inductor.precompile_headers"), False)
    configs = aoti.inductor_configs(quick)
    model = torch._inductor.aoti_compile_and_package(
        program, package_path=str(Path(folder) / "model.pt2"), inductor_configs=configs
    )
    library = torch.library.Library("authors", "IMPL")
    for name in OPERATORS:
        library.impl(
            name, _refuse, "CompositeExplicitAutograd" if name == "scaled.Tensor" else "CPU", allow_override=True
        )
    for name in OPERATORS[:4]:
        try:
            forward(*inputs)
        except AssertionError:
            continue
        raise RuntimeError(f"'{name}' was not replaced")
    got = torch._inductor.aoti_load_package(model)(*inputs)
    torch.testing.assert_close(tuple(got), wanted, rtol=0, atol=0)
    print("right without Python")


if __name__ == "__main__":
    main(*sys.argv[1:])
