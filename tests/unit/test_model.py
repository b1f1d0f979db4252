"""The model of a few small definitions."""

from __future__ import annotations

from typing import Any

import pytest

from opgen.dispatch_keys import DispatchKey
from opgen.frontend.groups import group_forms, group_functions
from opgen.gen import parse_native_yaml
from opgen.model import (
    BackendIndex,
    BackendMetadata,
    NativeFunctionsGroup,
    SchemaKind,
)

DEFINITIONS = """\
- func: a(Tensor self, SymInt n=1) -> Tensor
  structured_delegate: a.out
- func: a_(Tensor(a!) self, SymInt n=1) -> Tensor(a!)
  structured_delegate: a.out
- func: a.out(Tensor self, SymInt n=1, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: my::a_out
    SparseCPU: a_sparse_symint
- func: mylib::b(Tensor self) -> Tensor
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("small")
    (folder / "ops.yaml").write_text(DEFINITIONS)
    (folder / "tags.yaml").write_text("- tag: core\n  desc: x\n")
    return parse_native_yaml(folder / "ops.yaml", folder / "tags.yaml")


def test_a_group(small: Any) -> None:
    group = next(group_functions(group_forms(small.native_functions).values()))
    assert isinstance(group, NativeFunctionsGroup)
    assert [str(f.func.name) for f in group.functions()] == ["a", "a.out", "a_"]
    assert group.structured
    assert group == NativeFunctionsGroup.from_dict({f.func.kind(): f for f in group.functions()})
    assert NativeFunctionsGroup.from_dict({SchemaKind.functional: group.functional}) is None
    assert len({group, group}) == 1


def test_kernels_by_key(small: Any) -> None:
    index: BackendIndex = small.backend_indices[DispatchKey.CPU]
    out = next(f for f in small.native_functions if f.structured)
    assert index.get_kernel(out) == BackendMetadata("a_out", True, "my::native")
    sparse = small.backend_indices[DispatchKey.SparseCPU].get_kernel(out)
    assert sparse == BackendMetadata("a_sparse_symint", False, "at::native")
    assert sparse.supports_symint()
    assert (index.native_function_class_name(), index.device_guard) == (None, False)
    assert small.backend_indices[DispatchKey.CUDA].device_guard


def test_an_operator_of_a_library(small: Any) -> None:
    function = small.native_functions[-1]
    assert (function.namespace, str(function.func)) == ("mylib", "b(Tensor self) -> Tensor")
    assert function.tags == frozenset()
    assert str(function.loc).endswith("ops.yaml:10:16")
    assert small.backend_indices[DispatchKey.CompositeImplicitAutograd].get_kernel(function) == BackendMetadata(
        "b", False, "at::native"
    )
