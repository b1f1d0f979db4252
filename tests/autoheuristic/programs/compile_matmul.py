"""Compiles a matrix product on the CPU with a heuristic for `pad_mm`, and prints whether Inductor pads it.

Inductor asks for a decision about padding on a GPU only. Here its questions whether the tensors are on a GPU, whether
there is triton, and whether the product is worth padding are answered with yes. All the rest is torch's own: the
pattern that finds the product, the features, the heuristic, the graph that follows, the code, and its result.
"""

from __future__ import annotations

import sys
from typing import Any
from unittest import mock

import torch
from torch._inductor.fx_passes import pad_mm
from torch._inductor.utils import run_and_get_code

import opgen.autoheuristic


def product(a: Any, b: Any) -> Any:
    return a @ b


def is_padded(m: int, k: int, n: int) -> bool:
    a, b = torch.randn(m, k), torch.randn(k, n)
    torch._dynamo.reset()
    result, (code,) = run_and_get_code(torch.compile(product, dynamic=False), a, b)
    torch.testing.assert_close(result, a @ b)
    (call,) = [line for line in code.splitlines() if "extern_kernels.mm(" in line]
    # Without padding the product's operands are the arguments.
    return "extern_kernels.mm(arg0_1, arg1_1," not in call


print(*opgen.autoheuristic.use(sys.argv[1]))
always: dict[str, Any] = {name: lambda *_: True for name in ("check_device", "has_triton", "is_mm_compute_bound")}
with mock.patch.multiple(pad_mm, **always):
    print(is_padded(515, 515, 515), is_padded(1029, 515, 515))
