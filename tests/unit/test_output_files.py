"""Shards and dependency lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from expecttest import assert_expected_inline
from hypothesis import given
from hypothesis import strategies as st

from opgen.output.dependencies import GROUPS, emit_dependencies, render_cmake_list
from opgen.output.files import OutputFile, emit_sharded, shard
from opgen.output.template import TemplateSet


def test_shard_is_where_torchgen_puts_them() -> None:
    # Operator and file index in Operators_N.cpp and RegisterCPU_N.cpp, as torch 2.13 has them.
    names = ["_cast_Byte", "normal", "rrelu_with_noise", "_fused_moving_avg_obs_fq_helper"]
    assert [shard(name, 5) for name in names] == [0, 1, 2, 0]
    assert [shard(name, 4) for name in ("add", "addmv", "argmax")] == [0, 0, 0]


@given(st.text(st.characters(max_codepoint=255)), st.integers(1, 9))
def test_shard_is_in_range(name: str, count: int) -> None:
    assert 0 <= shard(name, count) < count
    assert shard(name, 1) == 0


def emit(tmp_path: Path, items: Sequence[str], shards: int, asked: Counter[str]) -> list[OutputFile]:
    (tmp_path / "Ops.cpp").write_text("$head\n$definitions\nend\n")

    def item_env(item: str) -> Mapping[str, Sequence[str]]:
        asked[item] += 1
        return {"definitions": [f"{item};"]}

    return list(
        emit_sharded(
            TemplateSet(tmp_path),
            "Ops.cpp",
            {"head": "H", "definitions": ["first;"]},
            items,
            key=lambda item: item.rstrip("_"),
            item_env=item_env,
            shards=shards,
            sharded_keys=("definitions",),
            path="core/MyOps.cpp",
            group="core_",
        )
    )


def test_emit_sharded(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()
    files = emit(tmp_path, ["add", "sub", "add_", "mul"], 2, asked)
    assert_expected_inline(
        "".join(f"{file.root} {file.path} {file.group!r}\n{file.text}" for file in files),
        """\
install core/MyOps_0.cpp 'core_'
H
first;
add;
add_;
mul;
end
install core/MyOps_1.cpp 'core_'
H
first;
sub;
end
install core/MyOpsEverything.cpp None
H
first;
add;
sub;
add_;
mul;
end
""",
    )
    assert set(asked.values()) == {1}


@given(st.lists(st.text("abc_", min_size=1)), st.integers(1, 5))
def test_shards_partition_the_items(tmp_path_factory: pytest.TempPathFactory, items: list[str], shards: int) -> None:
    *parts, everything = emit(tmp_path_factory.mktemp("templates"), items, shards, Counter())
    assert len(parts) == shards

    def definitions(file: OutputFile) -> list[str]:
        return file.text.splitlines()[2:-1]

    assert Counter(line for part in parts for line in definitions(part)) == Counter(definitions(everything))
    assert definitions(everything) == [f"{item};" for item in items]


def test_undeclared_sharded_key_is_a_bug(tmp_path: Path) -> None:
    (tmp_path / "Ops.cpp").write_text("")
    with pytest.raises(KeyError):
        list(
            emit_sharded(
                TemplateSet(tmp_path),
                "Ops.cpp",
                {},
                ["a"],
                key=str,
                item_env=lambda item: {"oops": [item]},
                shards=1,
                sharded_keys=(),
            )
        )


def test_dependency_lists() -> None:
    files = [
        OutputFile("core/TensorBody.h", "", group="core_"),
        OutputFile("b.cpp", ""),
        OutputFile("a.h", ""),
        OutputFile("OpsEverything.cpp", "", group=None),
        OutputFile("enum_tag.h", "", root="headeronly", group=None),
        OutputFile("Ufunc.cu", "", group="cuda_"),
    ]
    lists = list(emit_dependencies(files, {"install": "out/", "headeronly": "h"}, "build/my.sources.cmake"))
    assert [file.path for file in lists] == [f"{group}my.sources.cmake" for group in GROUPS]
    assert_expected_inline(
        "\n---\n".join(file.text for file in lists),
        """\
set(
my.sources
    "out/a.h"
    "out/b.cpp"
)
---
set(
cpu_vec_my.sources
)
---
set(
cuda_my.sources
    "out/Ufunc.cu"
)
---
set(
core_my.sources
    "out/core/TensorBody.h"
)
---
set(
ops_my.sources
)""",
    )


def test_cmake_metacharacters() -> None:
    assert render_cmake_list("v", ['a "b"/$c;d\\e']) == 'set(\nv\n    "a \\"b\\"/\\$c\\;d\\\\e"\n)'
