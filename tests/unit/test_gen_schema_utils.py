"""Schemas inferred of examples: what torchgen infers, and types for values at which it gives up."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import pytest
import torch
from expecttest import assert_expected_inline

from opgen import gen_schema_utils as ours
from opgen.gen_schema_utils import ArgumentGen, FunctionSchemaGen, ReturnGen, SchemaInferenceError, TypeGen
from opgen.model import Annotation, FunctionSchema, SelfArgument

theirs = pytest.importorskip("torchgen.gen_schema_utils")
their_model = pytest.importorskip("torchgen.model")
symbolic_shapes = pytest.importorskip("torch.fx.experimental.symbolic_shapes")

X = torch.ones(2)


class _Doubled(torch.nn.Module):  # type: ignore[misc]
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


EXAMPLES = (
    X,
    torch.nn.Parameter(X),
    1,
    1.5,
    "text",
    True,
    [1, 2],
    (1, 2, 3),
    torch.Size([2, 3]),
    [X],
    [[1, 2], [3, 4]],
    ["a"],
    [True],
    [[X], [X]],
    torch.fx.symbolic_trace(_Doubled()),
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: type(example).__name__)
def test_types_are_torchgens(example: object) -> None:
    assert str(TypeGen.from_example(example)) == str(theirs.TypeGen.from_example(example))


def test_symbols_have_types_of_their_own() -> None:
    symbols = symbolic_shapes.ShapeEnv()
    size, truth, fraction = (
        symbols.create_unbacked_symint(),
        symbols.create_unbacked_symbool(),
        symbols.create_unbacked_symfloat(),
    )
    assert [str(TypeGen.from_example(value)) for value in (size, truth, fraction)] == ["SymInt", "SymBool", "float"]
    assert str(TypeGen.from_example([2, size])) == "SymInt[2]"
    assert str(theirs.TypeGen.from_example(size)) == "SymInt"


class _Mode(enum.IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        (torch.float32, "ScalarType"),
        (torch.device("cpu"), "Device"),
        (torch.strided, "Layout"),
        (torch.contiguous_format, "MemoryFormat"),
        (torch.per_tensor_affine, "QScheme"),
        (torch.Generator(), "Generator"),
        (torch.UntypedStorage(1), "Storage"),
        (1j, "Scalar"),
        (_Mode.ONE, "int"),
        ([1, 2.5], "float[2]"),
        ([1, 2.5, 1j], "Scalar[3]"),
        ([X, None], "Tensor?[2]"),
        ([[1], [1, 2]], "int[][2]"),
    ],
)
def test_types_at_which_torchgen_gives_up(example: object, expected: str) -> None:
    assert str(TypeGen.from_example(example)) == expected
    with pytest.raises((RuntimeError, AssertionError)):
        theirs.TypeGen.from_example(example)


def _of_both(make: Callable[[Any, Any], object]) -> tuple[str, str]:
    """What a call gives here and there; `make` gets the module of the generators and that of the model."""
    return str(make(ours, _Model)), str(make(theirs, their_model))


class _Model:
    Annotation = Annotation


def test_arguments_and_returns() -> None:
    for make in (
        lambda gen, model: gen.ArgumentGen.from_example("x", 1, "3", None),
        lambda gen, model: gen.ArgumentGen.from_example("x", X, None, model.Annotation(("a",), True, ())),
        lambda gen, model: gen.ReturnGen.from_example("out", X, None),
        lambda gen, model: gen.ReturnGen.from_example(None, X, model.Annotation(("a",), False, ())),
    ):
        mine, expected = _of_both(make)
        assert mine == expected


@pytest.mark.parametrize(
    ("name", "inputs", "outputs"),
    [
        ("scale", (("x", X), ("by", 3)), (X,)),
        ("nothing", (), ()),
        ("several", (("x", [1, 2]), ("names", ["a"])), ([X], 1)),
        ("mylib::scale.out", (("self", X), ("out", X)), (X,)),
        ("scale_", (("by", 1),), ()),
    ],
)
def test_schemas_are_torchgens(name: str, inputs: Any, outputs: Any) -> None:
    schema = FunctionSchemaGen.from_example(name, inputs, outputs)
    assert str(schema) == str(theirs.FunctionSchemaGen.from_example(name, inputs, outputs))


class _ScriptObject:
    """Like an object of a TorchBind class: tests have no such class at hand."""

    script_class_name = "__torch__.torch.classes.lib.Scaler"


_ScriptObject.__module__, _ScriptObject.__qualname__ = "torch._library.fake_class_registry", "FakeScriptObject"


def test_a_bound_class_has_its_whole_name() -> None:
    """torchgen leaves out the namespace, and what it writes then is no type to torch."""
    schema = FunctionSchemaGen.from_example("use", (("scaler", _ScriptObject()),), ())
    assert str(schema) == "use(__torch__.torch.classes.lib.Scaler scaler) -> ()"
    weight = torch.quantize_per_tensor(torch.ones(2, 2), 1.0, 0, torch.qint8)
    bound = (("packed", torch.ops.quantized.linear_prepack(weight, None)),)
    assert torch._C.parse_schema(str(FunctionSchemaGen.from_example("use", bound, ()))).name == "use"
    with pytest.raises(RuntimeError, match="but found 'ident' here"):
        torch._C.parse_schema(str(theirs.FunctionSchemaGen.from_example("use", bound, ())))


def test_a_schema_is_what_its_text_says() -> None:
    schema = FunctionSchemaGen.from_example("scale", (("self", X), ("by", 2)), (X,))
    assert schema == FunctionSchema.parse("scale(Tensor self, int by) -> Tensor")
    assert isinstance(schema.arguments.self_arg, SelfArgument)
    expected = theirs.FunctionSchemaGen.from_example("scale", (("self", X), ("by", 2)), (X,))
    assert expected.arguments.self_arg is None
    assert expected != their_model.FunctionSchema.parse(str(expected))


def test_what_returns_none_returns_nothing() -> None:
    assert str(FunctionSchemaGen.from_example("log", (("x", X),), (None,))) == "log(Tensor x) -> ()"


def test_all_that_has_no_type_is_told_at_once() -> None:
    with pytest.raises(RuntimeError) as first:
        theirs.FunctionSchemaGen.from_example("bad_name", (("x", {1}), ("w", None)), (object(),))
    assert "NoneType" not in str(first.value)
    with pytest.raises(SchemaInferenceError) as caught:
        FunctionSchemaGen.from_example("bad name", (("x", {1}), ("y", []), ("z", [1, "a"]), ("w", None)), (object(),))
    assert_expected_inline(
        str(caught.value),
        """\
opgen: error: argument 'x': a schema has no type for set [no-schema-type]
  take it apart into tensors, numbers and text
opgen: error: argument 'y': an empty list doesn't tell the type of its elements [no-schema-type]
  give an example that has elements
opgen: error: argument 'z': the elements of a list must be of one type, not of int, str [no-schema-type]
  give each a name of its own
opgen: error: argument 'w': None doesn't tell the type of the argument [no-schema-type]
  give an example that has a value
opgen: error: result '0': a schema has no type for object [no-schema-type]
  take it apart into tensors, numbers and text
<schema>:1:1: error: 'bad name' is not an operator name [schema-syntax]
    1 | bad name
      | ^^^^^^^^""",
    )


def test_names_of_arguments() -> None:
    """torch registers a schema with two arguments of one name."""
    schema = FunctionSchemaGen.from_example("scale", (("x", X), ("x", 1)), ())
    assert str(schema) == "scale(Tensor x, int x) -> ()"


def test_the_mistake_is_a_runtime_error_as_in_torchgen() -> None:
    with pytest.raises(RuntimeError):
        TypeGen.from_example(object())
    assert str(ReturnGen.from_example("r", 1, None)) == "int r"
    assert str(ArgumentGen.from_example("x", 1, None, None)) == "int x"
