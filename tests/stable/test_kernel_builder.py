"""`opgen new --stable-abi --kernel-builder`: Hugging Face's own package reads `build.toml`, and loads the kernel.

kernel-builder itself needs Nix, so this compiles what `build.toml` names, from a folder that has nothing else, with the
definitions that kernel-builder gives. What it adds is written here: `registration.h`, `_ops.py`, `metadata.json`.
docs/how-to/stable-abi.md describes it.
"""

from __future__ import annotations

import ast
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from opgen import __main__ as opgen
from opgen import gen
from tests.compilers import QUICK
from tests.extension.building import require_tools, run
from tests.fetch import KERNELS, resource
from tests.sharing import Share

torch = pytest.importorskip("torch")

REGISTRATION = """
#pragma once
#include <Python.h>
#define STABLE_TORCH_LIBRARY_EXPAND(name, module) STABLE_TORCH_LIBRARY(name, module)
#define STABLE_TORCH_LIBRARY_IMPL_EXPAND(name, key, module) STABLE_TORCH_LIBRARY_IMPL(name, key, module)
#define MODULE_FUNCTION(name) PyInit_##name
#define MODULE_NAME(name) #name
#define REGISTER_EXTENSION(name) REGISTER_MODULE(MODULE_FUNCTION, MODULE_NAME, name)
#define REGISTER_MODULE(function, text, name)                                    \\
  PyMODINIT_FUNC function(name)() {                                              \\
    static PyModuleDef module = {PyModuleDef_HEAD_INIT, text(name), nullptr, 0}; \\
    return PyModule_Create(&module);                                             \\
  }
"""
OPS = """
import torch
from . import {id}
ops = torch.ops.{id}

def add_op_namespace_prefix(name):
    return "{id}::" + name
"""
LOAD = """
import sys
from pathlib import Path
from kernels import get_local_kernel
"""


@pytest.fixture(scope="session")
def project(session_folder: Path) -> Path:
    """A new project; in `builds`, two builds of its kernel as kernel-builder lays them out."""
    require_tools()
    return Share(session_folder).folder("kernel-project", _build)


def _build(project: Path) -> None:
    assert opgen.main(["new", "mylib", "--stable-abi", "--kernel-builder", "--into", str(project)]) == 0
    settings = (project / "build.toml").read_text()
    sections = re.split(r"^\[", re.sub(r"^#.*\n", "", settings, flags=re.M), flags=re.M)
    (binding,) = [section for section in sections if section.startswith("torch]")]
    (kernels,) = [section for section in sections if section.startswith("kernel.mylib_cpu]")]
    source = project / "source"
    for section in (binding, kernels):
        for path in _strings(section, "src"):
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(project / path, source / path)
    (source / "torch-ext" / "registration.h").write_text(REGISTRATION)
    major, minor = (int(part) for part in re.findall(r'^stable-abi = "(\d+)\.(\d+)"$', binding, re.M)[0])
    assert (major, minor) == (2, 10)
    kernel = _compile(source, kernels, [f"-DTORCH_TARGET_VERSION={(major << 56) | (minor << 48):#x}"])
    for id in ("_mylib_cpu_one", "_mylib_cpu_two"):
        flags = [f"-DTORCH_TARGET_VERSION={(major << 56) | (minor << 48):#x}", f"-DTORCH_EXTENSION_NAME={id}"]
        _lay_out(project, id, [*kernel, *_compile(source, binding, flags)])


def _strings(section: str, key: str) -> list[str]:
    (value,) = re.findall(rf"^{key} = \[(.*?)\]", section, re.M | re.S)
    return re.findall(r'"(.*?)"', value)


def _compile(source: Path, section: str, definitions: list[str]) -> list[Path]:
    """Compile the sources that a section names."""
    include = [f"-I{path}" for path in _strings(section, "include")]
    torch_include = ["-isystem", str(Path(torch.__file__).parent / "include")]
    ask = "import sysconfig; print(sysconfig.get_path('include'))"
    python = [f"-I{run([sys.executable, '-c', ask], source).strip()}", "-DPy_LIMITED_API=0x03000000"]
    flags = ["-std=c++20", "-fPIC", "-O0", *QUICK.split(), "-Wall", "-Werror", "-DCPU_KERNEL", "-I."]
    made = []
    for path in _strings(section, "src"):
        if path.endswith(".cpp"):
            made.append(source / f"{Path(path).stem}.o")
            run(["c++", *flags, *definitions, *include, *torch_include, *python, "-c", path, "-o", made[-1]], source)
    return made


def _lay_out(project: Path, id: str, objects: list[Path]) -> None:
    """Link a build, and lay it out as kernel-builder does."""
    variant = project / "builds" / id / "build" / f"torch-stable-abi210-cpu-{platform.machine()}-linux"
    shutil.copytree(project / "torch-ext" / "mylib", variant)
    libraries = Path(torch.__file__).parent / "lib"
    link = ["c++", "-shared", f"-L{libraries}", "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu"]
    run([*link, *objects, "-o", variant / f"{id}.abi3.so"], project)
    (variant / "_ops.py").write_text(OPS.format(id=id))
    metadata = {"id": id, "name": "mylib", "version": 1, "license": "Apache-2.0", "backend": {"type": "cpu"}}
    (variant / "metadata.json").write_text(json.dumps({**metadata, "python-depends": []}))


def _python(project: Path, program: str, *arguments: str) -> str:
    variables = {"PYTHONPATH": str(resource(KERNELS)), "HF_HUB_OFFLINE": "1"}
    return run([sys.executable, "-c", program, *arguments], project, **variables)


def test_kernel_builder_reads_the_settings(project: Path) -> None:
    """The parser is theirs: it refuses keys and values that it doesn't know."""
    ask = "import sys; from kernels._rust import Build; print(*Build.open(sys.argv[1]).general.backends)"
    assert _python(project, ask, str(project)).strip() == "cpu"
    names = "from kernels._rust import KernelName; print(KernelName('my-lib').python_name)"
    assert _python(project, names).strip() == "my_lib"


def test_kernels_load_and_run(project: Path) -> None:
    """Two builds of a kernel at once, each with its own operators; gradients and compilers work."""
    program = LOAD + (
        "import torch\n"
        "one, two = [get_local_kernel(Path(path), backend='cpu') for path in sys.argv[1:]]\n"
        "a, b = torch.rand(3, 4, dtype=torch.double, requires_grad=True), torch.rand(4, dtype=torch.double)\n"
        "for kernel in (one, two):\n"
        "    torch.testing.assert_close(kernel.scaled_add(a, b, scale=3), a + 3 * b)\n"
        "    assert torch.autograd.gradcheck(lambda x: kernel.scaled_add(x, b, scale=3), (a,))\n"
        "    compiled = torch.compile(lambda x: kernel.scaled_add(x, b) * 2, backend='aot_eager', fullgraph=True)\n"
        "    torch.testing.assert_close(compiled(a), (a + b) * 2)\n"
        "    operator = sys.modules[kernel.__name__ + '._support'].OPERATORS.scaled_add.default\n"
        "    torch.library.opcheck(operator, (a.detach(), b), {'scale': 2.0})\n"
        "    print(operator.namespace, kernel.__name__)\n"
    )
    builds = [str(project / "builds" / id) for id in ("_mylib_cpu_one", "_mylib_cpu_two")]
    said = _python(project, program, *builds).split()
    assert said == ["_mylib_cpu_one", "_mylib_cpu_one", "_mylib_cpu_two", "_mylib_cpu_two"]


def test_no_symbol_of_torch_in_cpp_is_undefined(project: Path) -> None:
    (binary, _) = sorted((project / "builds").rglob("*.so"))
    said = subprocess.run(["nm", "-DC", "--undefined-only", binary], capture_output=True, text=True, check=True).stdout
    symbols = [line.split(maxsplit=1)[1] for line in said.splitlines()]
    assert not [symbol for symbol in symbols if re.match(r"(at|c10|torch)::", symbol)]


def test_packages_import_torch_python_and_themselves(project: Path) -> None:
    """The Hub's requirement: modules of the kernel itself are imported by relative names."""
    for path in (project / "torch-ext").rglob("*.py*"):
        for node in ast.walk(ast.parse(path.read_text())):
            absolute = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else absolute
            assert {str(name).partition(".")[0] for name in names} <= {"torch", *sys.stdlib_module_names}, path


def test_definitions_make_the_same_again(project: Path, tmp_path: Path) -> None:
    """The command of the project's README writes what `opgen new` wrote."""
    made = project / "torch-ext"
    command = ["-s", str(project / "ops"), "-d", str(tmp_path), "--stable-abi", "2.10", "--kernel-builder"]
    assert gen.main(command) == 0
    texts = [
        {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("[!.]*") if path.is_file()}
        for folder in (made, tmp_path)
    ]
    assert texts[0] == texts[1]


def test_operators_of_devices_have_a_source_of_their_own(tmp_path: Path) -> None:
    """A library with kernels for CUDA, and shape functions in Python."""
    library = Path(__file__).with_name("library") / "ops"
    out = tmp_path / "torch-ext"
    assert gen.main(["-s", str(library), "-d", str(out), "--stable-abi", "2.10", "--kernel-builder"]) == 0
    text = (out / "RegisterCUDA.cpp").read_text()
    assert "STABLE_TORCH_LIBRARY_IMPL_EXPAND(TORCH_EXTENSION_NAME, CUDA, m) {" in text
    assert "REGISTER_EXTENSION" not in text
    assert "portable" not in re.sub(r'portable/Kernels\.h|portable::|"portable', "", text)
    assert (out / "portable" / "_meta.py").exists()


@pytest.mark.parametrize("name", ["A", "Mylib", "x"])
def test_names_that_the_hub_refuses(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert opgen.main(["new", name, "--stable-abi", "--kernel-builder", "--into", str(tmp_path / "p")]) == 1
    assert f"kernel-builder has no kernels called '{name}'" in capsys.readouterr().err
    assert not os.listdir(tmp_path)


def test_flags_that_contradict_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert opgen.main(["new", "mylib", "--kernel-builder", "--into", str(tmp_path / "p")]) == 1
    assert "--kernel-builder is for libraries in the stable ABI" in capsys.readouterr().err
    library = Path(__file__).with_name("library") / "ops"
    for flags, said in (
        ([], "--kernel-builder is for the stable ABI"),
        (["--stable-abi", "2.10", "--fragment"], "--kernel-builder and --fragment contradict each other"),
        (["--stable-abi", "2.10", "--no-python"], "--kernel-builder and --no-python contradict each other"),
    ):
        assert gen.main(["-s", str(library), "-d", str(tmp_path / "out"), "--kernel-builder", *flags]) == 1
        assert said in capsys.readouterr().err
    assert not os.listdir(tmp_path)
