"""The comparison itself: what must count as the same, what as different, and what a report says."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.conformance.compare import EqualTexts, compare_trees, main
from tests.conformance.tokens import compare_texts, load_yaml, tokens_of

if TYPE_CHECKING:
    from pathlib import Path

SAME = (
    pytest.param("int f( int a );", "int f(int a);", id="spaces"),
    pytest.param("int f(); // x", "/* y */ int f();", id="comments"),
    pytest.param("int f();\n\n\n", "int\nf\n(\n)\n;", id="lines"),
    pytest.param("int f();\r\nint g();\r\n", "int f();\nint g();\n", id="carriage returns"),
    pytest.param("#  include   <a.h>  // why\n", "#include <a.h>\n", id="include"),
    pytest.param('#include <a.h>\n\n\n#include "b.h"', '#include <a.h>\n#include "b.h"\n', id="include at the end"),
    pytest.param("#define A(x) \\\n  x + \\\n  1\nint a;", "#define A(x) x + 1\nint a;", id="continued macro"),
    pytest.param("#define A /* one\ntwo */ 1\n", "#define A 1\n", id="comment over lines in a macro"),
    pytest.param("/* a */ #pragma once\n", "#pragma once\n", id="comment before a directive"),
    pytest.param("in\\\nt a;", "int a;", id="continued name"),
    pytest.param("int a; // ignored \\\nint b;\nint c;", "int a; int c;", id="continued comment"),
    pytest.param("/* a\n// b\n*/ int c;\n  // d", "int c;", id="lines of comment"),
    pytest.param("a /* ' \" */ + b // don't\n+ c;", "a + b + c;", id="quotes in comments"),
    pytest.param("#error it isn't so\nint a;", "#error it isn't so\n  int a;", id="apostrophe in an error"),
    pytest.param('f("a",\n  g(b),\n  c);\nd;', 'f("a", g(b),\n  c); d; // e', id="calls over lines"),
    pytest.param('f("R");\na;', 'f(\n"R"); a;', id="a string that ends in R"),
    pytest.param("a;\n/* b */ c;", "a; /* d */\nc;\n", id="a comment within a line"),
)
DIFFERENT = (
    pytest.param("int f(int a);", "int f(int b);", id="name"),
    pytest.param('"a b"', '"a  b"', id="space in a string"),
    pytest.param('f("// a");', 'f("// b");', id="slashes in a string"),
    pytest.param('f("\\"// a");', 'f("\\"// b");', id="slashes after an escaped quote"),
    pytest.param("x = '\"'; a(); // '\"'", "x = '\"'; b(); // '\"'", id="quote as a character"),
    pytest.param('R"(a\n  // b)"', 'R"(a\n// b)"', id="raw string"),
    pytest.param('R"x(")" // 1)x"', 'R"x(")" // 2)x"', id="raw string with a delimiter"),
    pytest.param('R"(a\\\nb)"', 'R"(ab)"', id="no joining in a raw string"),
    pytest.param('FOOR "a"', 'FOO R"(a)"', id="name that ends in R"),
    pytest.param("#define A(x) x\n", "#define A (x) x\n", id="space after the name of a macro"),
    pytest.param("#define A 1\nint b;", "#define A 1 int b;", id="end of a directive"),
    pytest.param("#define A \\\n 1\nint b;", "#define A\n 1\nint b;", id="continuation"),
    pytest.param("#include <a b.h>", "#include <ab.h>", id="space in a header's name"),
    pytest.param("a >> b", "a > > b", id="joined punctuation"),
    pytest.param("/*\n// */ int a;", "/*\n// */ int b;", id="end of a block comment"),
    pytest.param('"a \\\n  b"', '"a \\\nb"', id="string over two lines"),
    pytest.param('R"(\n// a\n)"', 'R"(\n// b\n)"', id="slashes in a raw string"),
    pytest.param("1'000'000", "1'000'001", id="digit separators"),
    pytest.param("1e+5", "1e + 5", id="exponent"),
    pytest.param("int a;", "int a; int b;", id="longer"),
    pytest.param("int a; int b;", "int a;", id="shorter"),
    pytest.param("return a;", "returna;", id="words"),
    pytest.param("f(a,\nb);\ng();", "f(a, b);\nh();", id="after a call over lines"),
    pytest.param("f(a,\nb);\ng();", "f(a, b);", id="no more after a call over lines"),
    pytest.param("a\n#if B\nc", "a #if B\nc", id="a directive that isn't"),
    pytest.param('f(\n"R", R"(a\n//b\n)");', 'f("R", R"(a\n//c\n)");', id="comment in a raw string over lines"),
    pytest.param("f(a, /* b\n// */ c);", "f(a, /* b\n// */ d);", id="a comment that goes on"),
)


@pytest.mark.parametrize(("left", "right"), SAME)
def test_same_cpp(left: str, right: str) -> None:
    assert tokens_of(left) == tokens_of(right)
    assert compare_texts("a.h", left, right) is None


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_different_cpp(left: str, right: str) -> None:
    assert tokens_of(left) != tokens_of(right)
    assert compare_texts("a.h", left, right) is not None
    assert compare_texts("a.h", right, left) is not None


def test_report_names_place_tokens_and_operator() -> None:
    expected = (
        "// aten::abs(Tensor self) -> Tensor\ninline at::Tensor abs(const at::Tensor & self) {\n    return 1;\n}\n"
    )
    difference = compare_texts("ops/abs.h", expected, "\n" + expected.replace("1", "2"))
    assert difference is not None
    assert str(difference) == (
        "ops/abs.h: first difference at 3:12 | 4:12, in abs\n"
        "  expected: at :: Tensor & self ) { return >>1<< ; }\n"
        "  actual:   at :: Tensor & self ) { return >>2<< ; }"
    )


@pytest.mark.parametrize(
    ("before", "operator"),
    [
        ('m.impl("add.Tensor", TORCH_FN(f));', "add.Tensor"),
        ("// aten::add.Scalar(Tensor self) -> Tensor\n", "aten::add.Scalar"),
        ("struct TORCH_API add_Tensor {\n", "add_Tensor"),
        ("TORCH_API at::Tensor & add_(at::Tensor & self);\n", "add_"),
        ("const at::Tensor &add_out(at::Tensor & self);\n", "add_out"),
        ("at::Tensor wrapper::add(int a) {\n  if (a) {", "wrapper::add"),
        ("#pragma once\n", ""),
    ],
)
def test_operator_of_a_difference(before: str, operator: str) -> None:
    difference = compare_texts("a.cpp", f"{before}\n1", f"{before}\n2")
    assert difference is not None
    assert difference.operator == operator


def test_difference_in_a_directive_names_it_whole() -> None:
    difference = compare_texts("a.h", "#pragma once\n#include <a.h>\n", "#pragma once\n#include <b.h>\n")
    assert difference is not None
    assert ">>#include <a.h><<" in difference.expected


def test_end_of_file_is_said() -> None:
    difference = compare_texts("a.h", "int a;", "int a; int b;")
    assert difference is not None
    assert difference.expected.endswith(">>(end of file)<<")
    assert difference.where == "1:7 | 1:8"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: 1",
        "- a: 'true'\n  b: true\n  c: null\n  d:\n  e: ''\n- 1.5\n- 1e3\n- 0x10\n- [on, off, no]\n- {x: y}\n",
        "a: &x [1]\nb: *x\n",
        "a: !!str 1\n",
        "1: a\n",
        "a: &x {b: 1}\nc: {<<: *x, d: 2}\n",
        "- a\n  b\n- |\n  c\n   d\n- 2001-01-01\n- ~\n",
    ],
)
def test_yaml_is_read_as_by_the_library(text: str) -> None:
    expected = yaml.safe_load(text)
    assert load_yaml(text) == expected
    assert repr(load_yaml(text)) == repr(expected)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a: [1, 2]\n", "a:\n- 1\n- 2\n"),
        ("- name: f\n  x: 'a'\n- name: g\n", "- name: f\n  x: a\n- name: g\n"),
        ("a: &x [1]\nb: *x\n", "a: [1]\nb: [1]\n"),
    ],
)
def test_same_yaml(left: str, right: str) -> None:
    assert compare_texts("D.yaml", left, right) is None


@pytest.mark.parametrize(
    ("left", "right", "where"),
    [
        ("a: {b: 1}\n", "a: {b: 2}\n", ".a.b"),
        ("a: 1\n", "a: '1'\n", ".a"),
        ("a: true\n", "a: 1\n", ".a"),
        ("a: 1\nb: 2\n", "a: 1\n", ".b"),
        ("a: 1\n", "a: 1\nb: 2\n", ".b"),
        ("- 1\n- 2\n", "- 1\n", " (length)"),
        ("- 1\n- {x: [1, 2]}\n", "- 1\n- {x: [1, 3]}\n", "[1].x[1]"),
    ],
)
def test_different_yaml(left: str, right: str, where: str) -> None:
    difference = compare_texts("D.yaml", left, right)
    assert difference is not None
    assert difference.where == where


def test_yaml_difference_names_the_operator() -> None:
    difference = compare_texts("D.yaml", "- name: f\n  x: 1\n", "- name: f\n  x: 2\n")
    assert difference is not None
    assert difference.operator == "f"


def test_python_is_compared_as_a_tree() -> None:
    assert compare_texts("a.py", "x = ( 1 )  # one\n", "x = 1\n") is None
    difference = compare_texts("a.py", "x = 1\ny = 2\n", "x = 1\ny = 3\n")
    assert difference is not None
    assert (difference.where, difference.expected, difference.actual) == ("2:1", "y = 2", "y = 3")


def test_other_texts_are_compared_as_lines() -> None:
    assert compare_texts("a.cmake", "set(a  \n)\n", "set(a\n)") is None
    difference = compare_texts("a.cmake", "set(a\n b)\n", "set(a\n c)\n")
    assert difference is not None
    assert difference.where == "line 2"


def test_big_files_are_fast() -> None:
    text = "inline at::Tensor f(const at::Tensor & self, bool b = false) { return g(self, b); } // aten::f\n" * 50_000
    start = time.process_time()
    assert compare_texts("a.cpp", text, text.replace("(const", "( const")) is None
    assert time.process_time() - start < 20
    start = time.process_time()
    assert compare_texts("a.cpp", text, "".join([text])) is None
    assert time.process_time() - start < 0.5


def _write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_trees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = _write(tmp_path / "a", {"ops/a.h": "int a;", "b.h": "int b;", "c.h": "int c;", "same.h": "x"})
    right = _write(tmp_path / "b", {"ops/a.h": "int  a;", "b.h": "int d;", "ops/n.h": "int c;", "same.h": "x"})
    report = compare_trees(left, right)
    assert report.missing == ("c.h",)
    assert report.extra == ("ops/n.h",)
    assert [difference.path for difference in report.differences] == ["b.h"]
    assert report.compared == 3
    assert compare_trees(left, right, ["ops/a*"]).is_same
    assert compare_trees(left, right, ["a.h", "same.h"]).is_same
    assert main([str(left), str(right)]) == 1
    assert capsys.readouterr().out.startswith("1 missing, 1 extra, 1 of 3 files differ\nmissing: c.h\nextra: ops/n.h\n")
    assert main([str(left), str(right), "--only", "same.h"]) == 0
    assert main([str(left), str(tmp_path / "none")]) == 2


def test_differences_are_cut_to_a_number(tmp_path: Path) -> None:
    left = _write(tmp_path / "a", {f"{index}.h": "a" for index in range(5)} | {f"m{index}.h": "" for index in range(3)})
    right = _write(tmp_path / "b", {f"{index}.h": "b" for index in range(5)})
    text = compare_trees(left, right).render(show=1)
    assert "missing: ... and 2 more" in text
    assert "... and 4 more files that differ: 1.h, 2.h, 3.h, 4.h" in text


def test_equal_pairs_are_kept(tmp_path: Path) -> None:
    kept, left, right = tmp_path / "equal", b"int a;", b"int  a;"
    first = EqualTexts(kept)
    assert not first.has(left, right)
    first.add(left, right)
    assert first.has(left, right)
    second = EqualTexts(kept)
    assert second.has(left, right)
    assert not second.has(right, left)
    assert not second.has(left, b"int b;")
