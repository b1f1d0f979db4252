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
from opgen.extension.derivative_names import OWN_NAMES
from opgen.extension.derivatives import HELPERS
from opgen.extension.extension import Extension, ExtensionOptions
from opgen.frontend.cpp_names import KEYWORDS
from opgen.schema.lexer import TORCH_WORDS
from tests.compilers import over_torch_headers, torch_include_flags
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


def front_end(made: Path, source: str, builds: Path) -> subprocess.CompletedProcess[str]:
    """Run a compiler's front end over a generated source."""
    folders = [f"-I{made}", *torch_include_flags(), f"-I{sysconfig.get_paths()['include']}"]
    command = ["c++", *over_torch_headers(builds), "-fsyntax-only", "-w", *folders, str(made / source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_many_names_are_tried() -> None:
    names = identifiers()
    assert len(names) > 500
    assert {"op", "dispatchKeySet", "default", "lambda", "from", "int64_t", "result_", "at", "std"} <= set(names)


@pytest.mark.parametrize(
    "source", ["Operators.cpp", "RegisterCPU.cpp", "RegisterADInplaceOrView.cpp", "PythonBindings.cpp"]
)
def test_sources_compile(made: Path, source: str, builds: Path) -> None:
    require_tools()
    done = front_end(made, source, builds)
    assert done.returncode == 0, done.stderr[:3000]


MISTAKE = "- name: wrong(Tensor x) -> Tensor\n  x: |\n    grad *\n      no_such_function(x)\n"


def formulas(names: list[str]) -> tuple[str, str]:
    """Operators with these names for arguments, and formulas that use them; the last formula has a mistake."""
    entries, derivatives = [], []
    for at in range(0, len(names), PER_OPERATOR):
        part = names[at : at + PER_OPERATOR]
        tensors = part[::2]
        listed = ", ".join(f"{'int' if place % 2 else 'Tensor'} {name}" for place, name in enumerate(part))
        schema = f"formula{at}(Tensor x, {listed}) -> Tensor"
        gradient = "grad_result" if "grads" in part else "grads[0]"
        entries.append(f"- func: names::{schema}\n  dispatch:\n    CPU: formula{at}\n")
        lines = [f"x: {gradient} * {' * '.join(part)}", *[f"{name}: {gradient} * x.dim()" for name in tensors[:4]]]
        lines.append(f"result: x_t * {' * '.join(part)}" if "result" not in part else "")
        derivatives.append("\n  ".join([f"- name: {schema}", *filter(None, lines)]) + "\n")
    entries.append("- func: names::wrong(Tensor x) -> Tensor\n  dispatch:\n    CPU: wrong\n")
    return "".join(entries), "".join(derivatives) + MISTAKE


def test_formulas_compile_and_mistakes_in_them_are_at_their_lines(tmp_path: Path, builds: Path) -> None:
    """Of a file whose arguments have all names of the code made of formulas, one line of one formula is wrong."""
    require_tools()
    names = sorted(
        (OWN_NAMES | HELPERS | {"x_dim", "x_sym_sizes", "other_"}) - TORCH_WORDS - {"grads", "name", "size_t"}
    )
    definitions, derivatives = formulas(names)
    for path, text in (("native/native_functions", definitions), ("autograd/derivatives", derivatives)):
        source = tmp_path / "ops" / f"{path}.yaml"
        source.parent.mkdir(parents=True)
        source.write_text(text)
    for file in generate_extension(load(tmp_path / "ops"), extension_templates()):
        place = tmp_path / "out" / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(file.text)
    done = front_end(tmp_path / "out", "RegisterDerivatives.cpp", builds)
    wrong = derivatives[: derivatives.index("no_such_function")].count("\n") + 1
    errors = {line.partition(": error:")[0] for line in done.stderr.splitlines() if ": error:" in line}
    assert len(errors) == 1, done.stderr[:3000]
    assert re.fullmatch(rf"ops/autograd/derivatives\.yaml:{wrong}:\d+", errors.pop())


def test_operators_called_as_headers_of_others_have_headers_of_their_own(tmp_path: Path) -> None:
    names = ("foo", "foo_ops", "foo_native", "foo_meta", "foo_cpu_dispatch")
    path = tmp_path / "native" / "native_functions.yaml"
    path.parent.mkdir()
    path.write_text("".join(f"- func: m::{name}(Tensor x) -> Tensor\n  dispatch:\n    CPU: {name}\n" for name in names))
    files = [file.path for file in generate_extension(load(tmp_path), extension_templates())]
    assert len(files) == len(set(files))
    assert {"m/ops/foo_ops.h", "m/ops/foo_ops_functions.h", "m/ops/foo_ops_ops.h"} <= set(files)


def test_python_and_the_schema_keep_the_names(made: Path) -> None:
    bindings, schemas = (made / "PythonBindings.cpp").read_text(), (made / "RegisterSchema.cpp").read_text()
    renamed = [name for name in identifiers() if is_renamed(name)]
    assert renamed
    for name in renamed:
        assert re.search(rf"[ (]{name}[,)]", schemas)
        assert re.search(rf"[ (]{name}[,)]", bindings)
    assert "opgen_" not in schemas
