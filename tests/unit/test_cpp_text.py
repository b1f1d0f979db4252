"""Texts in C++ literals: what the compiler reads is what was written, whatever its characters."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opgen.api.cpp import default_expr
from opgen.dest.cpp_text import string_literal
from opgen.model import BaseTy, BaseType
from opgen.output.template import splice
from tests.compilers import QUICK

their_templates = pytest.importorskip("torchgen.code_template")

TEXTS = [
    'a "quoted" \\ text\n',
    "ends of lines: \r\n \x0b \x0c \x1c \x85 \u2028 \u2029",
    "a digit after NUL: \x001",
    "\x7f \x1b[0m \\u0041 \\",
    "??/ trigraph, %: digraph",
]
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t"}


def read_literal(literal: str) -> str:
    """What a C++ compiler reads; a quote or the end of a line within it ends the literal."""
    assert literal[0] == literal[-1] == '"'
    assert re.fullmatch(r'(?:[^"\\\n\r]|\\.)*', literal[1:-1], re.DOTALL), literal

    def unescape(found: re.Match[str]) -> str:
        return chr(int(found[1], 8)) if found[1].isdigit() else _SIMPLE.get(found[1], found[1])

    return re.sub(r"\\([0-7]{3}|.)", unescape, literal[1:-1], flags=re.DOTALL)


@given(st.text())
def test_any_text(text: str) -> None:
    assert read_literal(string_literal(text)) == text


def test_a_compiler_reads_the_same(tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.fail("needs g++", pytrace=False)
    rows = "".join(
        f"  static_assert(std::string_view({string_literal(text)}, {len(text.encode())}) == "
        f"std::string_view(bytes{index}, {len(text.encode())}));\n"
        for index, text in enumerate(TEXTS)
    )
    arrays = "".join(
        f"constexpr char bytes{index}[] = {{{', '.join(f'char({byte})' for byte in text.encode())}}};\n"
        for index, text in enumerate(TEXTS)
    )
    source = tmp_path / "texts.cpp"
    source.write_text(f"#include <string_view>\n{arrays}int main() {{\n{rows}}}\n", encoding="utf-8")
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Werror", "-Wno-trigraphs", QUICK, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("default", "literal"),
    [
        ("'plain'", '"plain"'),
        ("'a \"b\"'", r'"a \"b\""'),
        (r"'\"'", r'"\""'),
        (r"'it\'s'", '"it\'s"'),
        (r"'\\'", r'"\\"'),
        (r"'\\\"'", r'"\\\""'),
        (r'"\""', r'"\""'),
        (r"'\n'", r'"\n"'),
    ],
)
def test_defaults_keep_their_escapes(default: str, literal: str) -> None:
    assert default_expr(default, BaseType(BaseTy.str), symint=False) == literal


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_newlines_end_the_lines_of_a_template(character: str) -> None:
    text = f'"a{character}b"'
    assert splice([text, "", "c  \n\nd\n", "e"], "  ") == f"  {text}\n  c\n\n  d\n  e"
    assert their_templates.CodeTemplate("  $x").substitute(x=[text]).split("\n") == ['  "a', '  b"']
