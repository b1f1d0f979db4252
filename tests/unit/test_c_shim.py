"""The C functions that compiled models call, and the list of operators that have them, against torchgen's."""

from __future__ import annotations

import re
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest

from opgen.api.c_shim import LaterArguments, ShimmedOperator, Shims, c_functions, result_exprs
from opgen.api.types import UnsupportedTypeError
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.fallback_ops import load_shims, packaged_fallback_ops
from opgen.frontend.fields import text
from opgen.frontend.nodes import ListNode, MappingNode, load_yaml
from opgen.model import FunctionSchema, NativeFunction
from tests.unit.tiny_programs import program_of

theirs = pytest.importorskip("torchgen.gen_aoti_c_shim")
their_model = pytest.importorskip("torchgen.model")
their_lists = pytest.importorskip("torchgen.aoti.fallback_ops")

ARGUMENTS = """
Tensor; Tensor?; Tensor[]; Tensor?[]; Tensor[2]; int; int?; int[]; int[2]; int[]?; int?[]; SymInt; SymInt?; SymInt[];
SymInt[]?; float; float?; float[]; float[]?; bool; bool?; bool[2]; Scalar; Scalar?; Scalar[]; Scalar[]?; str; str?;
ScalarType; ScalarType?; ScalarType[]; Layout; Layout?; Device; Device?; DeviceIndex; DeviceIndex?; MemoryFormat;
MemoryFormat?; Generator; Generator?; Tensor(a!); Tensor(a!)[]
""".replace("\n", " ").split(";")
RETURNS = ("()", "Tensor", "(Tensor, Tensor)", "int", "SymInt", "(Tensor, SymInt, int)", "bool", "float", "Scalar")
REFUSED = ("Stream", "Storage", "SymBool", "Device[]", "str[]", "Generator[]", "Tensor[]?", "bool[2]?")

_numbers = count()


def operator(schema: str, **said: Any) -> ShimmedOperator:
    function = SimpleNamespace(func=FunctionSchema.parse(schema))
    return ShimmedOperator(cast(NativeFunction, function), **said)


def compare(schema: str, metadata: dict[str, Any], **said: Any) -> None:
    """Declarations and calls, ours and torchgen's."""
    # torchgen remembers what it made by name.
    schema = schema.replace("NAME", f"operator_{next(_numbers)}")
    declared, defined = theirs.gen_declaration_and_definition(
        their_model.FunctionSchema.parse(schema), "cpu", "CALL", metadata
    )
    functions = list(c_functions(operator(schema, **said), "cpu"))
    heads = [f"{f.name}({', '.join(f.parameters)})" for f in functions]
    assert re.findall(r"AOTITorchError (.*);", declared) == heads
    assert re.findall(r"#if TORCH_FEATURE_VERSION >= (\w+)", declared) == [f.since for f in functions if f.since]
    calls = [" ".join(call.split()) for call in re.findall(r"CALL\(\n(.*?)\n        \);", defined, re.DOTALL)]
    assert calls == [", ".join(f.arguments) for f in functions]
    results = re.findall(r"\*ret\d+ = (.*?);", defined)
    assert results == list(result_exprs(FunctionSchema.parse(schema), "tmp_result")) * len(functions)


@pytest.mark.parametrize("type", [type.strip() for type in ARGUMENTS])
def test_arguments(type: str) -> None:
    compare(f"NAME({type} value, Tensor other) -> ()", {})


@pytest.mark.parametrize("returns", RETURNS)
def test_returns(returns: str) -> None:
    compare(f"NAME(Tensor self) -> {returns}", {})


@pytest.mark.parametrize(
    "schema",
    [
        "NAME_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        "NAME.out(Tensor self, int by=1, *, Tensor(a!) out) -> Tensor(a!)",
        "NAME.two(Tensor self, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
        "NAME(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,"
        " bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    ],
)
def test_forms(schema: str) -> None:
    compare(schema, {})


def test_later_arguments_make_further_functions() -> None:
    schema = (
        "NAME(Tensor self, int? at=None, *, Tensor? weight=None, float by=1.5, SymInt[] sizes=[1,2],"
        ' str mode="up", MemoryFormat? format=contiguous_format) -> Tensor'
    )
    since = [f"TORCH_VERSION_2_{minor}_0" for minor in (9, 10, 11)]
    first, second = ("at", "weight"), ("by", "sizes", "mode", "format")
    compare(
        schema,
        {
            "since": since[0],
            "v2": {"new_args": list(first), "since": since[1]},
            "v3": {"new_args": list(second), "since": since[2]},
        },
        since=since[0],
        later_arguments=(
            LaterArguments(frozenset(first), since[1]),
            LaterArguments(frozenset(second), since[2]),
        ),
    )


@pytest.mark.parametrize("type", REFUSED)
def test_what_c_cannot_pass_is_refused(type: str) -> None:
    with pytest.raises(UnsupportedTypeError):
        list(c_functions(operator(f"refused({type} value) -> ()"), "cpu"))


def _metadata(entry: Any) -> tuple[str, dict[str, Any]]:
    """An entry of our list as torchgen's has it."""
    if not isinstance(entry, MappingNode):
        return text(entry), {}
    found: dict[str, Any] = {}
    since = entry.get("since")
    if since is not None:
        found["since"] = _macro(text(since))
    later = entry.get("later_arguments")
    for version, part in enumerate(later.items if isinstance(later, ListNode) else (), start=2):
        assert isinstance(part, MappingNode)
        names, release = part.get("arguments"), part.get("since")
        assert names is not None
        assert release is not None
        found[f"v{version}"] = {"new_args": text(names).split(", "), "since": _macro(text(release))}
    op = entry.get("op")
    assert op is not None
    return text(op), found


def _macro(release: str) -> str:
    return f"TORCH_VERSION_{release.replace('.', '_')}_0"


def test_the_packaged_list_is_complete() -> None:
    log = Diagnostics()
    root = load_yaml(packaged_fallback_ops(), log)
    assert isinstance(root, MappingNode), log.render()
    for key, expected in (
        ("any_device", their_lists.aten_shimified_ops),
        ("per_device", their_lists.inductor_fallback_ops),
    ):
        entries = root.get(key)
        assert isinstance(entries, ListNode)
        listed = [_metadata(entry) for entry in entries.items]
        full = {f"aten.{name}" if "." in name else f"aten.{name}.default": metadata for name, metadata in listed}
        assert full == expected
        assert len(full) == len(listed)


def test_what_a_user_says_of_an_operator_counts() -> None:
    program = program_of("- func: abs(Tensor self) -> Tensor\n- func: grow(Tensor self) -> Tensor\n")
    extra = Source("extra.yaml", "per_device:\n- op: abs\n  since: 2.14\n- grow\n")
    log = Diagnostics()
    shims = load_shims(program.functions, extra, program.release, log)
    assert not log.has_errors
    assert [(str(s.function.func.name), s.since) for s in shims.per_device] == [
        ("abs", "TORCH_VERSION_2_14_0"),
        ("grow", None),
    ]
    assert shims.any_device == Shims().any_device
