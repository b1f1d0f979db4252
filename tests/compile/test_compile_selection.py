"""The header of a selection does what torch's headers expect of it."""

from __future__ import annotations

from pathlib import Path

from opgen.run.spine import run
from tests.compile.test_compile import Compiler, compiler

__all__ = ["compiler"]

CHECKS = """
#include <ATen/Dispatch.h>
#include <ATen/core/op_registration/op_allowlist.h>

static_assert(at::should_include_kernel_dtype("add_kernel", at::kFloat));
static_assert(!at::should_include_kernel_dtype("add_kernel", at::kDouble));
static_assert(!at::should_include_kernel_dtype("other_kernel", at::kFloat));
static_assert(c10::impl::op_allowlist_check("aten::add.Tensor"));
static_assert(!c10::impl::op_allowlist_check("aten::relu"));
static_assert(c10::impl::schema_allowlist_check("aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"));
static_assert(c10::impl::custom_class_allowlist_check("Packed"));
static_assert(!c10::impl::custom_class_allowlist_check("Other"));
static_assert(c10::impl::is_build_feature_available("TRACING"));
static_assert(!c10::impl::is_build_feature_available("OTHER"));
"""


def test_torch_reads_the_header(compiler: Compiler, tmp_path: Path) -> None:
    """Torch's own headers, in a build that includes ours, keep what was selected and nothing else."""
    selection, tree = tmp_path / "selection.yaml", tmp_path / "tree"
    flags = ["--kernels", "add_kernel=Float,int64_t", "--custom-classes", "lib.Packed", "--build-features", "TRACING"]
    names = ["aten::add", "aten::relu.out"]
    assert run("select", ["roots", "--from-torch", *names, *flags, "-o", str(selection), "-q"]) == 0
    assert run("select", ["header", "--from-torch", str(selection), "-d", str(tree / "ATen"), "-q"]) == 0
    source = tmp_path / "checks.cpp"
    source.write_text(CHECKS, encoding="utf-8")
    compiler.check(source, tree, "-DTEMPLATE_SELECTIVE_BUILD")
