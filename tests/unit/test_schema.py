"""Schemas: what is read is printed as it was written, and torchgen answers the same of each of torch's own."""

from __future__ import annotations

import copy
import importlib
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from expecttest import assert_expected_inline

from opgen.diagnostics import UserError
from opgen.schema.arguments import Argument, Arguments
from opgen.schema.function_schema import FunctionSchema, SchemaKind, argument_offsets, check_argument_names
from opgen.schema.lexer import SchemaError
from opgen.schema.names import BaseOperatorName, OperatorName
from opgen.schema.returns import Return, parse_returns
from opgen.schema.types import MAX_TYPE_DEPTH, Annotation, BaseTy, BaseType, DictType, ListType, OptionalType, Type

TENSOR = BaseType(BaseTy.Tensor)


def outcome(text: str, parse: Callable[[str], object] = FunctionSchema.parse) -> str:
    """What `text` is read as, or the mistake."""
    try:
        return str(parse(text))
    except SchemaError as problem:
        return f"{problem.text}\n{' ' * problem.start}{'^' * max(1, problem.end - problem.start)} {problem.message}"


# --------------------------------------------------------------------------- round trips


@pytest.fixture(scope="session")
def torch_schemas(torch_source: Path) -> list[str]:
    """Every schema of torch's native_functions.yaml."""
    with (torch_source / "native" / "native_functions.yaml").open(encoding="utf-8") as file:
        return [entry["func"] for entry in yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))]


def test_every_schema_of_torch_prints_as_written(torch_schemas: list[str]) -> None:
    assert len(torch_schemas) > 2500
    assert [text for text in torch_schemas if str(FunctionSchema.parse(text)) != text] == []


def test_every_registered_schema_prints_as_torch_prints_it(registered_schemas: list[str]) -> None:
    assert len(registered_schemas) > 4000
    different = {text: found for text in registered_schemas if (found := outcome(text)) != text}
    assert different == {}


def test_two_arguments_of_one_name() -> None:
    """torch has them, in an operator of static runtime; only a function in C++ can't."""
    text = "static_runtime::clamp_nan_to_num(Tensor input, Scalar? min, Scalar? max, float? nan, float? nan) -> Tensor"
    assert str(FunctionSchema.parse(text)) == text
    with pytest.raises(SchemaError, match="two arguments are named 'nan'"):
        check_argument_names(FunctionSchema.parse(text), text)


@pytest.mark.parametrize(
    "text",
    [
        "a() -> ()",
        "a() -> Tensor",
        "a(Tensor self, int[2] dim=[-2, -1]) -> Tensor",
        "a(str s=\", \", str t='(\\'', *, bool b=True) -> ()",
        "a(Tensor(a) self, Tensor(b!) x, Tensor(c|d) y, Tensor(e -> *) z, Tensor(*) w) -> Tensor(a)",
        "a(Tensor(a!)[] self, Tensor[](b!) x, Tensor(c)[]? y, Tensor(d)?[] z) -> ()",
        "a.b_1(Tensor? x=None, int?[] y=None, int[]? z=[], float v=-1e-05, float w=inf) -> (Tensor out0, int n)",
        "a(Dict(str, Tensor[]) d, (int, Tensor) t, t[] l, __torch__.torch.classes.my.Thing c, Future(t) f) -> t",
        "ns::__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        "a(Tensor x, ...) -> ...",
        "a(...) -> (Tensor, ...)",
        "a.2(int x, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> ()",
        "a_functional(Tensor self) -> Tensor",
    ],
)
def test_prints_as_written(text: str) -> None:
    assert outcome(text) == text


def test_white_space_is_free() -> None:
    assert outcome("a (Tensor  self,\n  int[ 2 ]x=[1,2] ,*, bool b = True)->( Tensor )") == (
        "a(Tensor self, int[2] x=[1,2], *, bool b=True) -> Tensor"
    )


def test_values_are_hashable_and_equal_by_meaning() -> None:
    text = "a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
    assert FunctionSchema.parse(text) == FunctionSchema.parse(text)
    assert len({FunctionSchema.parse(text), FunctionSchema.parse(text)}) == 1
    assert OperatorName.parse("a.out") == FunctionSchema.parse(text).name


# --------------------------------------------------------------------------- parts


def test_types() -> None:
    nested = ListType(OptionalType(TENSOR), 3)
    assert Type.parse("Tensor?[3]") == nested
    assert (nested.is_tensor_like(), nested.is_nullable(), nested.is_list_like() is nested) == (True, True, True)
    assert OptionalType(nested).is_list_like() is nested
    assert Type.parse("Dict(str, int)") == DictType(BaseType(BaseTy.str), BaseType(BaseTy.int))
    assert not Type.parse("Dict(str, Tensor)").is_tensor_like()
    assert Type.parse("SymInt[]").is_symint_like()
    assert Type.parse("Generator?").is_generator_like()


def test_there_is_one_object_of_each_base_type() -> None:
    assert BaseType(BaseTy.Tensor) is Type.parse("Tensor") is TENSOR
    assert len({BaseType(ty) for ty in BaseTy}) == len(BaseTy)
    assert copy.copy(TENSOR) is TENSOR
    schema = FunctionSchema.parse("a(Tensor(a!)[] self, SymInt? n=None) -> Tensor")
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert pickle.loads(pickle.dumps(TENSOR)) is TENSOR


def test_annotations() -> None:
    assert Annotation.parse("a|b! -> *") == Annotation(("a", "b"), True, ("*",))
    argument = Argument.parse("Tensor(a!)[] x=[]")
    assert argument == Argument("x", ListType(TENSOR, None), "[]", Annotation(("a",), True, ()))
    assert argument.is_write
    assert argument.alias_info is argument.annotation
    assert Return.parse("Tensor(a) y").name == "y"
    assert parse_returns("()") == ()


def test_names() -> None:
    name = BaseOperatorName.parse("__iand__")
    assert (name.base, name.inplace, name.dunder_method) == ("and", True, True)
    assert BaseOperatorName.parse("__init__") == BaseOperatorName("init", False, True)
    assert BaseOperatorName.parse("a_functional").functional_overload
    assert OperatorName.parse("a_.b").unambiguous_name() == "a__b"
    assert str(OperatorName.parse("a_.b").remove_inplace()) == "a.b"
    assert str(OperatorName.parse("a_.b").with_overload("c")) == "a_.c"


def test_arguments_have_their_places() -> None:
    arguments = Arguments.parse(
        "Tensor x, Tensor self, int n, *, int a, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None, int b, Tensor(a!) out"
    )
    assert [a.name for a in arguments.pre_self_positional] == ["x"]
    assert arguments.self_arg is not None
    assert arguments.self_arg.argument.name == "self"
    assert [a.name for a in arguments.post_self_positional] == ["n"]
    assert [a.name for a in arguments.pre_tensor_options_kwarg_only] == ["a"]
    assert arguments.tensor_options is not None
    assert [a.name for a in arguments.tensor_options.all()] == ["dtype", "layout", "device", "pin_memory"]
    assert [a.name for a in arguments.post_tensor_options_kwarg_only] == ["b"]
    assert [a.name for a in arguments.out] == ["out"]


def test_options_in_another_order_are_plain_arguments() -> None:
    arguments = Arguments.parse("*, Layout? layout, ScalarType? dtype, Device? device, bool? pin_memory")
    assert arguments.tensor_options is None


def test_where_arguments_stand() -> None:
    text = "a.b(Tensor self, *, int n=1) -> Tensor"
    assert {name: text[slice(*place)] for name, place in argument_offsets(text).items()} == {
        "self": "Tensor self",
        "n": "int n=1",
    }


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a(Tensor self) -> Tensor", SchemaKind.functional),
        ("a_(Tensor(a!) self) -> Tensor(a!)", SchemaKind.inplace),
        ("a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", SchemaKind.out),
        ("a(Tensor self, Tensor(a!) x) -> ()", SchemaKind.mutable),
        ("a.out(Tensor x, *, Tensor(a!) _scratch_b, Tensor(b!) out) -> Tensor(b!)", SchemaKind.scratch),
    ],
)
def test_kinds(text: str, kind: SchemaKind) -> None:
    assert FunctionSchema.parse(text).kind() is kind


def test_forms_of_one_operator_share_a_signature() -> None:
    forms = [
        "a(Tensor self, int n=1) -> Tensor",
        "a_(Tensor(a!) self, int n=1) -> Tensor(a!)",
        "a.out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)",
    ]
    assert {str(FunctionSchema.parse(form).signature()) for form in forms} == {forms[0]}


# --------------------------------------------------------------------------- mistakes


def test_carets_stand_under_the_mistake() -> None:
    texts = [
        "a(Tensor self, bool b=F=T) -> Tensor",
        "a(Tensor self, float$x) -> Tensor",
        "a(Tenosr self) -> Tensor",
        "a(Tensor self) ->",
        "a_(Tensor self) -> Tensor(a!)",
    ]
    assert_expected_inline(
        "\n".join(map(outcome, texts)),
        """\
a(Tensor self, bool b=F=T) -> Tensor
                       ^ expected ',' or ')' after the default, found '='
a(Tensor self, float$x) -> Tensor
                    ^ '$' has no meaning in a schema
a(Tenosr self) -> Tensor
  ^^^^^^ unknown type 'Tenosr'
a(Tensor self) ->
                 ^ expected a type, but the text ends here
a_(Tensor self) -> Tensor(a!)
   ^^^^^^^^^^^ 'a_' is in-place by its name, but does not write to 'self'""",
    )


def test_a_mistake_is_a_value_error_that_shows_itself() -> None:
    with pytest.raises(ValueError, match="unknown type 'Tenosr'") as caught:
        FunctionSchema.parse("a(Tenosr self) -> Tensor")
    assert isinstance(caught.value, UserError)
    assert "did you mean 'Tensor'?" in str(caught.value)


@pytest.mark.parametrize("nested", ["Dict(str, {})", "({})", "{}?", "{}[]", "Future({})"])
def test_nesting_has_a_limit(nested: str) -> None:
    def build(depth: int) -> str:
        type = "int"
        for _ in range(depth):
            type = nested.format(type)
        return type

    assert outcome(build(MAX_TYPE_DEPTH // 2), Type.parse) == build(MAX_TYPE_DEPTH // 2)
    assert "types are nested too deep" in outcome(build(5000), Type.parse)


def test_long_numbers_are_no_trouble() -> None:
    assert "this size is too large" in outcome(f"int[{'9' * 5000}]", Type.parse)
    assert outcome(f"a(int n={'9' * 5000}) -> ()") == f"a(int n={'9' * 5000}) -> ()"


@pytest.mark.parametrize("text", ["", "é(Tensor self) -> Tensor", "a(Tensor ٣) -> Tensor", "a\x00() -> ()"])
def test_only_ascii_makes_names(text: str) -> None:
    with pytest.raises(SchemaError):
        FunctionSchema.parse(text)


@pytest.mark.parametrize("text", ["", "a.", ".a", "a.b.c", "a b", "a.b(", "é"])
def test_what_is_no_operator_name(text: str) -> None:
    with pytest.raises(SchemaError):
        OperatorName.parse(text)


# --------------------------------------------------------------------------- torchgen's answers

SIGNATURES: tuple[dict[str, bool], ...] = (
    {},
    {"strip_default": True},
    {"strip_view_copy_name": True},
    {"keep_return_names": True},
)
QUESTIONS = (
    "kind",
    "aliased_return_names",
    "returns_are_aliased",
    "is_functional_fn",
    "has_symint",
    "view_signature",
    "is_out_fn",
    "is_mutable",
    "modifies_arguments",
)
PLACES = (
    "pre_self_positional",
    "post_self_positional",
    "pre_tensor_options_kwarg_only",
    "post_tensor_options_kwarg_only",
    "out",
    "flat_positional",
    "flat_kwarg_only",
    "flat_non_out",
    "flat_all",
    "post_self_positional_mutable",
)
ABOUT_ARGUMENTS = ("has_tensor_arg", "has_symint_arg", "has_generator_arg", "mutable_arg_names")
ABOUT_TYPES = ("is_tensor_like", "is_symint_like", "is_generator_like", "is_nullable", "is_list_like")
NAME_PARTS = ("base", "inplace", "dunder_method", "functional_overload")


def answer(value: Any, question: str) -> object:
    """The answer as plain data; some are methods in torchgen."""
    found = getattr(value, question)
    found = found() if callable(found) else found
    if isinstance(found, (list, tuple)):
        return [str(item) for item in found]
    return found if isinstance(found, bool) or found is None else str(found).rpartition(".")[2]


def answers(schema: Any) -> Iterator[object]:
    """What a schema answers, whoever read it."""
    for given in SIGNATURES:
        yield str(schema.signature(**given))
    yield from (answer(schema, question) for question in QUESTIONS)
    yield from (answer(schema.arguments, question) for question in (*PLACES, *ABOUT_ARGUMENTS))
    options = schema.arguments.tensor_options
    yield None if options is None else [str(argument) for argument in options.all()]
    for argument in schema.schema_order_arguments():
        yield (argument.name, argument.default, argument.is_write, str(argument.annotation))
        yield [answer(argument.type, question) for question in ABOUT_TYPES]
    yield [(r.name, str(r.type), r.is_write, str(r.annotation)) for r in schema.returns]
    yield [answer(schema.name.name, part) for part in NAME_PARTS]
    yield [schema.name.overload_name, schema.name.unambiguous_name(), str(schema.name.remove_inplace())]


def test_torchgen_answers_the_same(torch_schemas: list[str]) -> None:
    oracle = importlib.import_module("torchgen.model")
    different = []
    for text in torch_schemas:
        ours, theirs = list(answers(FunctionSchema.parse(text))), list(answers(oracle.FunctionSchema.parse(text)))
        if ours != theirs:
            different.append((text, [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]))
    assert different == []
