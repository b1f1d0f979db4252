"""What is made for a backend outside of torch is C++: with guards, with whole headers, with a function that registers.

`examples/backend` is compiled, loaded and run with the other ways.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from opgen.gen_backend_stubs import main
from tests.compile.test_compile import Compiler, compiler  # noqa: F401  the fixture

BACKEND: Final = """
backend: XLA
class_name: Mine
cpp_namespace: my::ops
device_guard: True
extra_headers: "#include <ATen/Context.h>"
supported:
- sub.out
- mul_.Tensor
- empty.memory_format
- where.self
- cat
- view
- topk
- _cudnn_rnn_backward
- _fused_adam
- _native_batch_norm_legit_functional
- _foreach_norm.Scalar
- tril_indices
- set_.source_Storage
symint: [view, topk]
"""


def test_registrations_of_all_kinds(compiler: Compiler, tmp_path: Path) -> None:  # noqa: F811
    source, out = tmp_path / "backend.yaml", tmp_path / "out"
    source.write_text(BACKEND, encoding="utf-8")
    flags = ["--quiet", "--from-torch", "-s", str(source), "-o", str(out), "--register-when-called", "Mine"]
    assert main(flags) == 0
    compiler.check(out / "RegisterXLA.cpp", tmp_path)
