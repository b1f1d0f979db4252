"""The model of torch's own definitions, ours against torchgen's: every attribute, group and kernel."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from opgen.dispatch_keys import MPS_DISPATCH_KEYS, MTIA_DISPATCH_KEYS, DispatchKey
from opgen.frontend.groups import group_forms, group_functions, group_views
from opgen.gen import parse_native_yaml
from opgen.model import (
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    gets_generated_out_inplace_wrapper,
    gets_generated_view_copy,
)

Plain: TypeAlias = "str | int | bool | list[Plain] | None"

IGNORED = (*MPS_DISPATCH_KEYS, DispatchKey.XPU, *MTIA_DISPATCH_KEYS)
SPECIAL = ("loc", "ufunc_inner_loop", "precomputed", "doc", "is_boxed")
"""Fields that are compared in their own way; `loc`, `doc` and `is_boxed` have no counterpart."""
DERIVED = (
    "has_composite_kernel",
    "is_view_op",
    "part_of_structured_group",
    "root_name",
    "view_schema_kind",
)
FIELDS = tuple(f.name for f in fields(NativeFunction) if f.name not in SPECIAL)


def plain(value: Any) -> Plain:
    """A value of either model as plain data that compares: names for members, sorted lists for sets."""
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    return value.name if isinstance(value, Enum) else str(value)


def attributes(function: Any) -> dict[str, Plain]:
    """All that there is to a function."""
    found = {name: plain(getattr(function, name)) for name in (*FIELDS, *DERIVED)}
    found["ufunc_inner_loop"] = [
        [plain(key), loop.name, [plain(dtype) for dtype in loop.supported_dtypes], plain(loop.ufunc_key)]
        for key, loop in function.ufunc_inner_loop.items()
    ]
    if (computed := function.precomputed) is not None:
        replaced: list[Plain] = [[name, plain(values)] for name, values in computed.replace.items()]
        found["precomputed"] = [replaced, plain(computed.add)]
    return found


def kernels(indices: Mapping[Any, Any]) -> dict[str, Plain]:
    """All kernels by key, in order."""
    return {
        str(key): [
            plain((index.dispatch_key, index.use_out_as_primary, index.device_guard, index.external)),
            *(
                plain((name, k.kernel, k.structured, k.cpp_namespace, k.supports_symint()))
                for name, k in index.index.items()
            ),
        ]
        for key, index in indices.items()
    }


def group_names(groups: Iterable[Any]) -> list[str]:
    """Each group with the names of its forms."""
    return [
        str(group.func.name)
        if hasattr(group, "func")
        else f"{type(group).__name__}({group.root_name}: {', '.join(str(f.func.name) for f in group.functions())})"
        for group in groups
    ]


@dataclass(frozen=True)
class Both:
    """torch's definitions as read by opgen and by torchgen."""

    ours: Any
    theirs: Any
    oracle: Any
    """torchgen's generator."""


@pytest.fixture(scope="module", params=[(), IGNORED], ids=["all-keys", "ignored-keys"])
def both(request: pytest.FixtureRequest, torch_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Both:
    oracle, their_model = importlib.import_module("torchgen.gen"), importlib.import_module("torchgen.model")
    # In a folder of its own: torchgen remembers what it read by the path alone, whatever keys it was to ignore.
    folder = Path(shutil.copytree(torch_source / "native", tmp_path_factory.mktemp("both") / "native"))
    functions, tags = folder / "native_functions.yaml", folder / "tags.yaml"
    their_keys = {their_model.DispatchKey.parse(str(key)) for key in request.param}
    theirs = oracle.parse_native_yaml(str(functions), str(tags), their_keys)
    return Both(parse_native_yaml(functions, tags, frozenset(request.param)), theirs, oracle)


def test_functions_are_the_same(both: Both) -> None:
    ours = [attributes(function) for function in both.ours.native_functions]
    theirs = [attributes(function) for function in both.theirs.native_functions]
    assert [function["func"] for function in ours] == [function["func"] for function in theirs]
    different = [
        (mine["func"], name, mine.get(name), other.get(name))
        for mine, other in zip(ours, theirs, strict=True)
        for name in mine.keys() | other.keys()
        if mine.get(name) != other.get(name)
    ]
    assert different == []


def test_kernels_are_the_same(both: Both) -> None:
    ours, theirs = kernels(both.ours.backend_indices), kernels(both.theirs.backend_indices)
    assert list(ours) == list(theirs)
    assert [(key, *pair) for key in ours for pair in zip(ours[key], theirs[key]) if pair[0] != pair[1]] == []  # type: ignore[arg-type]
    assert ours == theirs


def test_groups_are_the_same(both: Both) -> None:
    ours = list(group_functions(group_forms(both.ours.native_functions).values()))
    theirs = both.oracle.get_grouped_native_functions(both.theirs.native_functions)
    assert group_names(ours) == group_names(theirs)
    pairs = [(mine, other) for mine, other in zip(ours, theirs, strict=True) if isinstance(mine, NativeFunctionsGroup)]
    assert [mine for mine, other in pairs if mine.structured != other.structured] == []
    assert [mine for mine, other in pairs if str(mine.signature()) != str(other.signature())] == []


def test_view_groups_are_the_same(both: Both) -> None:
    ours = list(group_views(both.ours.native_functions))
    theirs = both.oracle.get_grouped_by_view_native_functions(both.theirs.native_functions)
    assert group_names(ours) == group_names(theirs)
    pairs = [(m, o) for m, o in zip(ours, theirs, strict=True) if isinstance(m, NativeFunctionsViewGroup)]
    assert [mine for mine, other in pairs if mine.composite != other.composite] == []


def test_what_an_index_answers(both: Both) -> None:
    """`primary`, `has_kernel` and what wrappers a backend gets, for every group and key."""
    their_model = importlib.import_module("torchgen.model")
    ours = [g for g in group_functions(group_forms(both.ours.native_functions).values()) if not hasattr(g, "func")]
    theirs = [
        g for g in both.oracle.get_grouped_native_functions(both.theirs.native_functions) if not hasattr(g, "func")
    ]
    different = []
    for mine, other in zip(ours, theirs, strict=True):
        assert isinstance(mine, NativeFunctionsGroup)
        for key, index in both.ours.backend_indices.items():
            their_index = both.theirs.backend_indices[their_model.DispatchKey.parse(str(key))]
            for f, g in zip(mine.functions(), other.functions(), strict=True):
                given = (index.has_kernel(f), gets_generated_out_inplace_wrapper(f, mine, index))
                wanted = (
                    their_index.has_kernel(g),
                    their_model.gets_generated_out_inplace_wrapper(g, other, their_index),
                )
                if given != wanted:
                    different.append((str(f.func.name), str(key), given, wanted))
            assert str(index.primary(mine).func.name) == str(their_index.primary(other).func.name)
    assert different == []


def test_generated_view_copies(both: Both) -> None:
    their_generation = importlib.import_module("torchgen.model")
    ask = getattr(their_generation, "gets_generated_view_copy", None)
    if ask is None:
        pytest.skip("torchgen keeps this to itself")
    ours = [str(f.func.name) for f in both.ours.native_functions if gets_generated_view_copy(f)]
    assert ours == [str(f.func.name) for f in both.theirs.native_functions if ask(f)]
