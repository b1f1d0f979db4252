"""Arguments of any name that torch takes: the C++ made for them compiles, and Python keeps the names.

The names are the keywords of C++ and Python, macros, and every identifier of the code that is made for an extension.
"""

from __future__ import annotations

import keyword
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from opgen.commands._extension import extension_templates, generate_extension, load_extension
from opgen.diagnostics import Diagnostics
from opgen.extension.argument_names import is_renamed
from opgen.extension.extension import Extension, ExtensionOptions
from opgen.frontend.cpp_names import KEYWORDS
from opgen.schema.lexer import TORCH_WORDS
from tests.extension.building import EXAMPLES, require_tools

torch = pytest.importorskip("torch")

MACROS = frozenset({"linux", "unix", "errno", "assert", "stdin", "stdout", "major", "minor", "i386"})
PER_OPERATOR = 25


def load(folder: Path) -> Extension:
    log = Diagnostics()
    extension = load_extension(folder, ExtensionOptions(), log)
    assert extension is not None, log.render()
    return extension


def identifiers() -> list[str]:
    """All names to try: those of the code that is made for an example among them."""
    files = generate_extension(load(EXAMPLES / "rational" / "ops"), extension_templates())
    code = "\n".join(file.text for file in files if file.path.endswith((".cpp", ".h")))
    code = re.sub(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"', "", code)
    found = {word for word in re.findall(r"[A-Za-z_]\w*", code) if not word.startswith(("__", "opgen_"))}
    return sorted((found | KEYWORDS | MACROS | set(keyword.kwlist)) - TORCH_WORDS)


def definitions(names: list[str]) -> str:
    """Operators that read, that write, and that are boxed, with these names for arguments."""
    entries = []
    for at in range(0, len(names), PER_OPERATOR):
        part = names[at : at + PER_OPERATOR]
        listed = ", ".join(f"{'int' if place % 5 else 'Tensor'} {name}" for place, name in enumerate(part))
        for stem, schema in (
            ("reads", f"(Tensor first0, {listed}) -> Tensor"),
            ("writes", f"(Tensor(a!) first0, {listed}) -> Tensor"),
            ("boxed", f"(Tensor(a!) first0, {listed}, Dict(str, int) last0) -> Tensor(a!)"),
        ):
            entries.append(f"- func: names::{stem}{at}{schema}\n  dispatch:\n    CPU: {stem}{at}\n")
    return "".join(entries)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all that is generated."""
    folder = tmp_path_factory.mktemp("names")
    path = folder / "ops" / "native" / "native_functions.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(definitions(identifiers()))
    for file in generate_extension(load(folder / "ops"), extension_templates()):
        place = folder / "out" / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(file.text)
    return folder / "out"


def test_many_names_are_tried() -> None:
    names = identifiers()
    assert len(names) > 500
    assert {"op", "dispatchKeySet", "default", "lambda", "from", "int64_t", "result_", "at", "std"} <= set(names)


@pytest.mark.parametrize(
    "source", ["Operators.cpp", "RegisterCPU.cpp", "RegisterADInplaceOrView.cpp", "PythonBindings.cpp"]
)
def test_sources_compile(made: Path, source: str) -> None:
    require_tools()
    root = Path(torch.__path__[0]) / "include"
    folders = [made, root, root / "torch" / "csrc" / "api" / "include", Path(sysconfig.get_paths()["include"])]
    flags = ["-std=c++20", "-fsyntax-only", "-w", "-DAT_PER_OPERATOR_HEADERS"]
    done = subprocess.run(
        ["c++", *flags, *(f"-I{folder}" for folder in folders), made / source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:3000]


def test_python_and_the_schema_keep_the_names(made: Path) -> None:
    bindings, schemas = (made / "PythonBindings.cpp").read_text(), (made / "RegisterSchema.cpp").read_text()
    renamed = [name for name in identifiers() if is_renamed(name)]
    assert renamed
    for name in renamed:
        assert re.search(rf"[ (]{name}[,)]", schemas)
        assert re.search(rf"[ (]{name}[,)]", bindings)
    assert "opgen_" not in schemas
