"""Schemas as torch registers them: what is read, what is refused, how it is printed."""
# ruff: noqa: E501

from __future__ import annotations

import pytest
from expecttest import assert_expected_inline as assert_text

from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.native_functions import load_program
from opgen.model import SchemaKind
from opgen.run.inputs import packaged_folder
from opgen.schema.lexer import SchemaError
from opgen.schema.registered import parse_registered, torch_text

torch = pytest.importorskip("torch")
TAGS = packaged_folder("ATen") / "native/tags.yaml"


def problems(*schemas: str) -> str:
    """What is said of operators with these schemas, as an extension's."""
    text = "".join(f"- func: mylib::{schema}\n  dispatch: {{CPU, Meta: k}}\n" for schema in schemas)
    log = Diagnostics()
    load_program(Source("ops.yaml", text.replace("{CPU, Meta: k}", "{CPU: k, Meta: k}")), TAGS, log, is_extension=True)
    return log.render()


def test_every_schema_of_the_running_torch_round_trips(registered_schemas: list[str]) -> None:
    assert len(registered_schemas) > 4000
    assert [text for text in registered_schemas if torch_text(parse_registered(text)) != text] == []


ARGUMENTS = (
    *("Tensor x", "Tensor? x", "Tensor[] x", "Tensor?[] x", "Tensor[]? x", "Tensor?[]? x", "Tensor[2] x"),
    *("Tensor(a) x", "Tensor(a!) x", "Tensor(a!)? x", "Tensor(a!)[] x", "Tensor(a!)?[] x", "Tensor(a -> *) x"),
    *("int[][] x", "int[]?[] x", "Dict(str, Tensor) x", "Dict(int, Dict(str, int)) x", "(int, Tensor) x"),
    *("(int, Tensor)? x", "Dict(str, Tensor[])[] x", "complex x", "complex[] x", "Any x", "Any[] x", "SymBool x"),
    *("Generator x", "Stream x", "Storage x", "QScheme x", "int x=3", "int x=-3", "int? x=3", "int? x=None"),
    *("float x=1", "float x=1e5", "float x=.5", "float x=-1e-3", "float x=5.", "float? x=1", "float[2] x=1.5"),
    *("int[2] x=1", "int[] x=[1,2]", "int[]? x=None", "int[3]? x=3", "float[] x=[1.5, 2]", "bool[] x=[True,False]"),
    *("bool[3] x=True", "bool x=1", "str x='it'", 'str x="it\'s"', "str x='x\"y'", "str? x='a'", "str x=''"),
    *("Scalar x=1.0", "Scalar x=True", "Scalar x=2j", "Scalar? x=None", "complex x=1j", "complex? x=1.5j"),
    *("ScalarType x=float32", "ScalarType x=half", "ScalarType x=float8_e4m3fn", "ScalarType? x=bool"),
    *("ScalarType x=long", "ScalarType? x=None", "Layout x=strided", "MemoryFormat x=contiguous_format", "int x=Mean"),
    *("Device x='cpu'", "Device? x=None", "Tensor x=None", "Generator? x=None", "Any? x=None"),
    *("SymInt x=3", "SymInt[] x=[1,2]", "SymInt[2] x=1", "Dict(str, int)? x=None", "(Tensor, int)? x=None"),
    *("int x=1, int[] y", "int x=1, *, Tensor y", "Tensor x, *, Tensor(a!) b, int n", "Tensor from, int lambda"),
)


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_arguments_print_as_torch_prints_them(arguments: str) -> None:
    text = f"mylib::f({arguments}) -> Tensor"
    assert torch_text(parse_registered(text)) == str(torch._C.parse_schema(text))
    assert "error" not in problems(text.removeprefix("mylib::"))


@pytest.mark.parametrize(
    "returns",
    [
        *("()", "Tensor?", "Tensor[]?", "int[]?", "Tensor?[]", "(int, Tensor)", "((int, Tensor))", "((int, Tensor)?)"),
        *(
            "Dict(str, Tensor)",
            "int[][]",
            "complex",
            "Any",
            "str",
            "str[]",
            "Scalar[]",
            "Tensor lo",
            "(Tensor lo, int n)",
        ),
    ],
)
def test_returns_print_as_torch_prints_them(returns: str) -> None:
    text = f"mylib::f(Tensor x) -> {returns}"
    assert torch_text(parse_registered(text)) == str(torch._C.parse_schema(text))
    assert "error" not in problems(text.removeprefix("mylib::"))


def test_an_exclamation_mark_makes_an_alias_set_of_its_own() -> None:
    schema = parse_registered("bang(Tensor! x, Tensor(a0!) y, Tensor![] z) -> ()")
    assert str(schema) == "bang(Tensor(a1!) x, Tensor(a0!) y, Tensor(a2!)[] z) -> ()"
    assert [argument.name for argument in schema.arguments.mutated] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("f(Tensor(a!) self) -> Tensor(a!)", SchemaKind.mutable),
        ("f_(Tensor(a!) self) -> Tensor(a!)", SchemaKind.inplace),
        ("f_(Tensor(a!) x) -> Tensor(a!)", SchemaKind.mutable),
        ("f_(Tensor x) -> Tensor", SchemaKind.functional),
        ("f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", SchemaKind.out),
        ("f(Tensor x, *, Tensor(a!) out) -> Tensor", SchemaKind.mutable),
        ("f(Tensor x, Tensor(a!) out) -> Tensor", SchemaKind.mutable),
        ("f(Tensor x, *, Tensor(a!) buffer, int n) -> ()", SchemaKind.mutable),
    ],
)
def test_the_form_follows_from_what_is_written(text: str, kind: SchemaKind) -> None:
    schema = parse_registered(text)
    assert schema.kind() is kind
    assert str(schema) == text
    keyword_only = text.partition("*, ")[2].partition(")->")[0]
    assert [a.name for a in schema.arguments.flat_all if f" {a.name}" in keyword_only] == [
        a.name for a in (*schema.arguments.flat_kwarg_only, *schema.arguments.out)
    ]


WORDS = (
    *("with", "is", "as", "def", "del", "global", "import", "pass", "raise", "assert", "elif"),
    *("True", "False", "None", "NoneType", "in", "not", "and", "or", "if", "else", "for", "while", "class"),
)


@pytest.mark.parametrize("word", WORDS)
def test_words_that_torch_reserves_are_errors_at_the_name(word: str) -> None:
    for text in (f"f(Tensor {word}) -> ()", f"f(Tensor x) -> (Tensor {word})", f"{word}(Tensor x) -> ()"):
        with pytest.raises(RuntimeError):
            torch._C.parse_schema(f"mylib::{text}")
        with pytest.raises(SchemaError) as raised:
            parse_registered(text)
        assert raised.value.id == "torch-word"
        assert text[raised.value.start : raised.value.end] == word


def test_what_torch_refuses_is_reported_where_it_stands() -> None:
    said = problems(
        "a(Tensor x, int n=1, Tensor y) -> Tensor",
        "b(Tensor x, t y) -> Tensor",
        "c(Dict(Device, int) d) -> ()",
        "d(int n=None) -> ()",
        "e(ScalarType d=torch_float) -> ()",
        "g(Device d=cpu) -> ()",
        "h(Tensor x, ...) -> Tensor",
    )
    assert_text(
        said,
        """\
ops.yaml:1:37: error: argument 'y' has no default, but follows one that has [default-order]
    1 | - func: mylib::a(Tensor x, int n=1, Tensor y) -> Tensor
      |                                     ^^^^^^^^ torch allows it for lists and keyword-only arguments
ops.yaml:3:28: error: argument 'y': 't' is a type variable, and torch registers no operator that has one [unsupported-type]
    3 | - func: mylib::b(Tensor x, t y) -> Tensor
      |                            ^^^
ops.yaml:5:18: error: argument 'd': 'Device' can't be the key of a dictionary: torch has Tensor, bool, complex, float, int, str [unsupported-type]
    5 | - func: mylib::c(Dict(Device, int) d) -> ()
      |                  ^^^^^^^^^^^^^^^^^^^
ops.yaml:7:18: error: argument 'n' of type 'int' can't be 'None' [bad-default]
    7 | - func: mylib::d(int n=None) -> ()
      |                  ^^^^^^^^^^ only 'int?' can be None
ops.yaml:9:18: error: argument 'd' of type 'ScalarType' can't be 'torch_float' [bad-default]
    9 | - func: mylib::e(ScalarType d=torch_float) -> ()
      |                  ^^^^^^^^^^^^^^^^^^^^^^^^ a 'ScalarType' is a type's name without 'torch.', as in 'float32'
ops.yaml:11:18: error: argument 'd' of type 'Device' can't be 'cpu' [bad-default]
   11 | - func: mylib::g(Device d=cpu) -> ()
      |                  ^^^^^^^^^^^^ a 'Device' is in quotes, as in '"cpu"'
ops.yaml:13:16: error: 'h' has '...' in its schema, so no C++ function has its signature [unsupported-type]
   13 | - func: mylib::h(Tensor x, ...) -> Tensor
      |                ^ name the arguments, or register it by hand
7 errors
""",
    )


def test_several_returns_need_parentheses() -> None:
    assert_text(
        problems("f() -> Tensor lo, Tensor hi"),
        """\
ops.yaml:1:32: error: put several returns in parentheses, found ',' [schema-syntax]
    1 | - func: mylib::f() -> Tensor lo, Tensor hi
      |                                ^ write '-> (Tensor lo, Tensor hi)'
1 error
""",
    )


@pytest.mark.parametrize("overload", ["default", "__x", "1"])
def test_overloads_that_torch_refuses(overload: str) -> None:
    with pytest.raises(SchemaError):
        parse_registered(f"f.{overload}(Tensor x) -> ()")
    with pytest.raises(RuntimeError):
        torch._C.parse_schema(f"mylib::f.{overload}(Tensor x) -> ()")
