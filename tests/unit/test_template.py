"""The template language, against torchgen's engine where that has the same form."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from expecttest import assert_expected_inline
from hypothesis import given, settings
from hypothesis import strategies as st

from opgen.code_template import CodeTemplate
from opgen.diagnostics import UserError
from opgen.output.template import TemplateSet

torchgen_templates = pytest.importorskip("torchgen.code_template")

_SPACES = " \t\u00a0"
_PIECES = ["$x", "${x}", "${,x}", "${x,}", "${,x,}", "$y", "${y}", "$_z1", "\n", "\n  ", "\n\t", "f(", ");", "é"]
_PIECES += ["$", "${", "}", "$1", "${x", "${,}", "${1}", "$ ", "\\", "a", "\n\n", "$-", "${ x }"]
# Line breaks that are not newlines are left out: as indentation torchgen turns them into newlines,
# here they stay what they are.
_PIECES += [" ", "\t", "\u00a0", "\r\n"]
patterns = st.lists(st.sampled_from(_PIECES)).map("".join)
scalars = st.one_of(st.text(st.sampled_from("ab $\n" + _SPACES), max_size=8), st.integers(), st.none())
values = st.one_of(scalars, st.lists(scalars, max_size=4))


@settings(max_examples=600, deadline=None)
@given(patterns.filter(lambda pattern: "$$" not in pattern), values, values, values)
def test_same_as_torchgen(pattern: str, x: object, y: object, z: object) -> None:
    env = {"x": x, "y": y, "_z1": z}
    try:
        expected = torchgen_templates.CodeTemplate(pattern).substitute(env)
    except KeyError:  # `$xa` and the like
        with pytest.raises(UserError):
            CodeTemplate(pattern).substitute(env)
    else:
        assert CodeTemplate(pattern).substitute(env) == expected


def torch_templates() -> list[Path]:
    packaged = Path(torchgen_templates.__file__).parent / "packaged"
    return sorted(packaged.glob("*/templates/*"))


@pytest.mark.parametrize("path", torch_templates(), ids=lambda path: path.name)
def test_torchs_templates_mean_the_same(path: Path) -> None:
    env = {name: [f"<{name}>", "", "two\n\n  lines\n"] for name in re.findall(r"\w+", path.read_text())}
    expected = torchgen_templates.CodeTemplate.from_file(str(path)).substitute(env)
    assert CodeTemplate.from_file(path).substitute(env) == expected


@pytest.mark.parametrize(
    ("pattern", "env", "text"),
    [
        ("f($x)", {"x": ["a", "b"]}, "f(a, b)"),
        ("f($x)", {"x": ("a", "b")}, "f(a, b)"),
        ("f(self${,x})", {"x": []}, "f(self)"),
        ("f(self${,x})", {"x": ["a"]}, "f(self, a)"),
        ("f(${x,}out)", {"x": ["a"]}, "f(a, out)"),
        ("{\n  $x\n}", {"x": ["a", "b\n  c", "", "d  \n"]}, "{\n  a\n  b\n    c\n  d\n}"),
        ("  $x", {"x": []}, ""),
        ("a $$x $$ $", {}, "a $x $ $"),
        ("  $$x $x", {"x": ["a", "b"]}, "  $x a, b"),
        ("${a.b.c}", {"a": {"b": SimpleNamespace(c=1)}}, "1"),
        ("$a.b", {"a": "x"}, "x.b"),
        ("x $if y", {"if": "IF"}, "x IF y"),
    ],
)
def test_references(pattern: str, env: Mapping[str, object], text: str) -> None:
    assert CodeTemplate(pattern).substitute(env) == text


def test_where_torchgen_reads_a_reference_otherwise() -> None:
    theirs = torchgen_templates.CodeTemplate
    assert theirs("f($x)").substitute(x=("a", "b")) == "f(('a', 'b'))"
    with pytest.raises(KeyError):
        theirs("$y").substitute(x=1)


def test_keywords_win_over_the_environment() -> None:
    assert CodeTemplate("$x$y").substitute({"x": "env", "y": "env"}, x="keyword") == "keywordenv"
    assert CodeTemplate("$x").substitute(x=1) == "1"


def test_attributes() -> None:
    template = CodeTemplate("$x", filename="T.h")
    assert (template.pattern, template.filename) == ("$x", "T.h")


def test_blocks() -> None:
    template = CodeTemplate(
        textwrap.dedent("""\
            begin
            $for f in functions
              $if f.is_method
              method ${f.name}(${f.args});
                $if not last
                // more
                $else
                // $last
                $endif
              $else
              function ${f.name};
              $endif
            $endfor
            end
            """)
    )
    functions = [{"name": "add", "args": ["self", "other"], "is_method": True}, {"name": "ones", "is_method": 0}]
    assert_expected_inline(
        template.substitute(functions=functions, last=""),
        """\
begin
  method add(self, other);
    // more
  function ones;
end
""",
    )
    assert template.substitute(functions=[], last=1) == "begin\nend\n"


def test_remarks_leave_no_line_behind() -> None:
    template = CodeTemplate("$# Makes x.h of $it.\n#pragma once\n  $# $if and $x mean nothing here\nint $x; // $#\n")
    assert template.substitute(x="y") == "#pragma once\nint y; // $#\n"


def test_blocks_leave_no_line_behind() -> None:
    assert CodeTemplate("$if x\na\n$endif").substitute(x=1) == "a\n"
    assert CodeTemplate("$if x\n$else\n$endif").substitute(x=1) == ""
    assert CodeTemplate("a\r\n$if x\r\nb\r\n$endif\r\nc").substitute(x=1) == "a\r\nb\r\nc"


def test_loop_variables_end_with_their_loop() -> None:
    template = CodeTemplate("$for x in xs\n$for x in x\n$x\n$endfor\n$endfor\n$x")
    assert template.substitute(xs=[["1", "2"], ["3"]], x="outer") == "1\n2\n3\nouter"


def diagnose(pattern: str, **env: object) -> str:
    with pytest.raises(UserError) as caught:
        CodeTemplate(pattern, "My.cpp").substitute(env)
    return "".join(d.render() for d in caught.value.diagnostics)


def test_unknown_variable() -> None:
    assert_expected_inline(
        diagnose("a\n  m.impl(${,regstrations});\n", registrations=[]),
        """\
My.cpp:2:13: error: unknown variable 'regstrations' [template-unknown-variable]
    2 |   m.impl(${,regstrations});
      |             ^^^^^^^^^^^^ did you mean 'registrations'?
""",
    )


def test_misspelt_directive() -> None:
    assert_expected_inline(
        diagnose("$iff x\n", x=1),
        """\
My.cpp:1:2: error: unknown variable 'iff' [template-unknown-variable]
    1 | $iff x
      |  ^^^ did you mean 'if'?
""",
    )


def test_unknown_field() -> None:
    assert_expected_inline(
        diagnose("${f.nam}", f={"name": 1}) + diagnose("${f.nam}", f=SimpleNamespace(name=1)),
        """\
My.cpp:1:3: error: unknown field 'nam' in 'f.nam' [template-unknown-field]
    1 | ${f.nam}
      |   ^^^^^ did you mean 'name'?
My.cpp:1:3: error: unknown field 'nam' in 'f.nam' [template-unknown-field]
    1 | ${f.nam}
      |   ^^^^^ did you mean 'name'?
""",
    )


def test_blocks_that_do_not_match() -> None:
    patterns = ["$if x\n", "x\n  $for a in x\n$if x\n$endif", "$endif", "$endfor", "$else\n"]
    patterns += ["$if x\n$endfor\n", "$if x\n$else\n$else\n$endif\n"]
    assert_expected_inline(
        "".join(diagnose(pattern) for pattern in patterns),
        """\
My.cpp:1:1: error: $if without $endif [template-unclosed-block]
    1 | $if x
      | ^^^^^
My.cpp:2:3: error: $for without $endfor [template-unclosed-block]
    2 |   $for a in x
      |   ^^^^^^^^^^^
My.cpp:1:1: error: $endif without $if [template-stray-directive]
    1 | $endif
      | ^^^^^^
My.cpp:1:1: error: $endfor without $for [template-stray-directive]
    1 | $endfor
      | ^^^^^^^
My.cpp:1:1: error: $else without $if [template-stray-directive]
    1 | $else
      | ^^^^^
My.cpp:2:1: error: $endfor can't end a $if block [template-stray-directive]
    2 | $endfor
      | ^^^^^^^ expected $else or $endif
My.cpp:1:1: note: block begins here
    1 | $if x
      | ^^^^^
My.cpp:3:1: error: $else can't end a $else block [template-stray-directive]
    3 | $else
      | ^^^^^ expected $endif
My.cpp:2:1: note: block begins here
    2 | $else
      | ^^^^^
""",
    )


def test_malformed_and_unknown_directives() -> None:
    patterns = ["$if a == b\n$endif", "$if\n$endif", "$for a of b\n$endfor", "$if x\n$elif y\n$endif", "$if x\n$endif;"]
    assert_expected_inline(
        "".join(diagnose(pattern) for pattern in patterns),
        """\
My.cpp:1:1: error: malformed $if [template-malformed-directive]
    1 | $if a == b
      | ^^^^^^^^^^ expected $if name, or $if not name
My.cpp:1:1: error: malformed $if [template-malformed-directive]
    1 | $if
      | ^^^ expected $if name, or $if not name
My.cpp:1:1: error: malformed $for [template-malformed-directive]
    1 | $for a of b
      | ^^^^^^^^^^^ expected $for item in items
My.cpp:2:1: error: unknown directive '$elif' [template-unknown-directive]
    2 | $elif y
      | ^^^^^^^ nest another $if in the $else
My.cpp:2:1: error: malformed $endif [template-malformed-directive]
    2 | $endif;
      | ^^^^^^^ expected $endif, alone on its line
""",
    )


def test_loop_over_no_list() -> None:
    assert_expected_inline(
        diagnose("$for a in x\n$endfor", x="abc") + diagnose("$for a in x.y\n$endfor", x={"y": 1}),
        """\
My.cpp:1:11: error: 'x' is not a list: $for can't iterate over it [template-not-a-list]
    1 | $for a in x
      |           ^
My.cpp:1:11: error: 'x.y' is not a list: $for can't iterate over it [template-not-a-list]
    1 | $for a in x.y
      |           ^^^
""",
    )


@given(st.text(st.sampled_from("$ifelsndor xy{},.\n "), max_size=60))
def test_any_template_is_text_or_a_diagnostic(pattern: str) -> None:
    with suppress(UserError):
        CodeTemplate(pattern).substitute(x=["a"], y="")


class TestTemplateSet:
    def test_reads_once_and_names_itself(self, tmp_path: Path) -> None:
        (tmp_path / "A.h").write_text("// $generated_comment\n$x\n")
        templates = TemplateSet(tmp_path)
        assert templates.render("A.h", {"x": 1}) == "// @generated by opgen from A.h\n1\n"
        (tmp_path / "A.h").unlink()
        assert templates.render("A.h", {"x": 2, "generated_comment": "mine"}) == "// mine\n2\n"

    def test_first_folder_wins(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "T").write_text(name)
        (tmp_path / "b" / "U").write_text("u")
        templates = TemplateSet(tmp_path / "a", tmp_path / "b")
        assert templates.render("T") + templates.render("U") == "au"

    def message(self, tmp_path: Path, name: str) -> str:
        with pytest.raises(UserError) as caught:
            TemplateSet(tmp_path / "mine", tmp_path).render(name)
        return str(caught.value).replace(str(tmp_path), "DIR")

    def test_missing(self, tmp_path: Path) -> None:
        (tmp_path / "Operators.cpp").write_text("")
        assert_expected_inline(
            self.message(tmp_path, "Operator.cpp"),
            """\
opgen: error: template 'Operator.cpp' not found [template-missing]
  did you mean 'Operators.cpp'?
opgen: note: looked for DIR/mine/Operator.cpp
opgen: note: looked for DIR/Operator.cpp""",
        )

    def test_folder_and_bytes(self, tmp_path: Path) -> None:
        (tmp_path / "D.h").mkdir()
        (tmp_path / "B.h").write_bytes(b"ok\n\xff\n")
        assert_expected_inline(
            self.message(tmp_path, "D.h") + "\n" + self.message(tmp_path, "B.h"),
            """\
opgen: error: template 'DIR/D.h' is a folder [template-unreadable]
opgen: error: template 'DIR/B.h' is not UTF-8 (line 2) [template-not-utf8]""",
        )

    def test_mistakes_name_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "T.h").write_text("$x\n")
        assert_expected_inline(
            self.message(tmp_path, "T.h"),
            """\
DIR/T.h:1:2: error: unknown variable 'x' [template-unknown-variable]
    1 | $x
      |  ^""",
        )
