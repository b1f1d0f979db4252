"""`opgen new mylib`: create a project with your own operators that builds and passes its test.

    opgen new mylib            →  mylib/ops/native/native_functions.yaml   the definitions
                                  mylib/ops/schemas/*.json                 what editors know of definitions
                                  mylib/src/kernels.cpp                    a structured kernel
                                  mylib/CMakeLists.txt, mylib/pyproject.toml, mylib/setup.py
                                  mylib/tests/test_mylib.py

    opgen new mylib --stable-abi  →  the same for torch's stable ABI, with plain kernels and derivatives

    opgen new mylib --stable-abi --kernel-builder  →  also build.toml, flake.nix and torch-ext/ for kernel-builder

    opgen new mylib --mlx      →  the same for MLX: mylib/ops/mlx_ops.yaml, mylib/src/kernels.h, …

The files are templates with the library's name put in, from `templates/project/`, `templates/stable_project/` or
`templates/mlx_project/`.
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from opgen.commands._extension import extension_templates, generate_extension, load_extension
from opgen.commands._gen_flags import KERNEL_BUILDER_FLAG
from opgen.desk.json_schema import render_schema
from opgen.diagnostics import Diagnostics
from opgen.extension.extension import ExtensionOptions
from opgen.extension.rules import RESERVED_NAMESPACES
from opgen.frontend.c_names import C_NAMES
from opgen.frontend.cpp_names import KEYWORDS
from opgen.frontend.tags import load_tags
from opgen.mlx.model import RESERVED_NAMESPACES as MLX_RESERVED
from opgen.output.emitter import Emitter, bind
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.releases.choice import STABLE_ABI_FLAG, choose_oldest
from opgen.releases.known import known_releases
from opgen.releases.release import Release
from opgen.run.command import Command, Group
from opgen.run.flags import add_dry_run, add_output_flags
from opgen.run.inputs import packaged_folder, packaged_templates
from opgen.run.work import Work, install_root
from opgen.stable.kernel_builder import FOLDER as KERNEL_FOLDER
from opgen.stable.kernel_builder import kernel_name

_FILES: Final = (
    "README.md",
    "gitignore.in",
    "CMakeLists.txt",
    "pyproject.toml",
    "setup.py.in",
    "ops/native/native_functions.yaml",
    "src/kernels.cpp",
    "tests/test_library.py.in",
)
_STABLE_FILES: Final = (
    "README.md",
    "gitignore.in",
    "CMakeLists.txt",
    "pyproject.toml.in",
    "ops/native/native_functions.yaml",
    "ops/autograd/derivatives.yaml",
    "src/kernels.cpp",
    "tests/test_library.py.in",
)
_KERNEL_FILES: Final = ("build.toml.in", "flake.nix")
"""The additional files for kernel-builder."""
_MLX_FILES: Final = (
    "README.md",
    "gitignore.in",
    "CMakeLists.txt",
    "pyproject.toml",
    "setup.py.in",
    "ops/mlx_ops.yaml",
    "src/kernels.h",
    "tests/test_library.py.in",
)
"""The templates of a project; `.in` is removed from their names."""
_SCHEMAS: Final = ("native_functions", "derivatives")
_MLX_SCHEMAS: Final = ("mlx",)
"""The kinds of YAML files that editors get a JSON Schema for; the first line of a file names it."""
_TAGS: Final = "native/tags.yaml"
_MAX_NAME_LENGTH: Final = 100
"""The maximum length of a name: file names add a few words, and may have 255 bytes."""
_PACKAGES: Final = frozenset(
    {
        "mlx",
        "nanobind",
        "ninja",
        "numpy",
        "opgen",
        "pip",
        "pybind11",
        "pytest",
        "setup",
        "setuptools",
        "torch",
        "torchgen",
    }
)
"""Packages and modules that the build and the tests of a project import."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    parser.add_argument("name", metavar="NAME", help="the library's name: a namespace in C++, a package in Python")
    parser.add_argument("--into", type=Path, metavar="DIR", help="folder to make; default: NAME")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--mlx", action="store_true", help="the operators are for MLX, not for PyTorch")
    kinds.add_argument(
        STABLE_ABI_FLAG,
        nargs="?",
        const=known_releases()[0].name,
        metavar="VERSION",
        help="the library is in torch's stable ABI and runs with this torch and newer ones; default: %(const)s",
    )
    parser.add_argument(
        KERNEL_BUILDER_FLAG,
        action="store_true",
        help=f"with {STABLE_ABI_FLAG}, add what Hugging Face's kernel-builder builds a kernel of",
    )
    add_dry_run(parser)
    add_output_flags(parser, of_torch=False)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Check the name and the folder; return None, with errors logged, if it fails."""
    folder = options.into or Path(options.name)
    _check(options.name, folder, log, MLX_RESERVED if options.mlx else RESERVED_NAMESPACES)
    oldest = None if options.stable_abi is None else choose_oldest(options.stable_abi, log)
    if options.kernel_builder:
        _check_kernel(options, log)
    text = "" if options.dry_run else f"created {folder}; its README.md says how to build and test it\n"
    builder = "" if oldest is None else "pip install scikit-build-core && "
    step = f"cd {folder} && {builder}pip install --no-build-isolation . && python -m pytest"
    emitters = bind((Emitter("project", project_files),), options.name, for_mlx=options.mlx, oldest=oldest)
    if options.kernel_builder and oldest is not None:
        emitters = bind((Emitter("project", kernel_project_files),), options.name, folder, oldest)
    # The user edits the files from now on, so no manifest is written.
    return Work(emitters, install_root(folder), TemplateSet(), text=text, has_manifest=False, next_step=step)


def project_files(name: str, *, for_mlx: bool = False, oldest: Release | None = None) -> Iterator[OutputFile]:
    """Yield the files of a new project.

    Args:
        name: The library's name.
        for_mlx: Whether the operators are for MLX.
        oldest: The oldest torch that a library in the stable ABI supports; None for torch's C++ API.
    """
    kind = "mlx_project" if for_mlx else "project" if oldest is None else "stable_project"
    files = {"mlx_project": _MLX_FILES, "project": _FILES, "stable_project": _STABLE_FILES}[kind]
    yield from _render_files(kind, files, name, oldest, operators=f"torch.ops.{name}")


def kernel_project_files(name: str, folder: Path, oldest: Release) -> Iterator[OutputFile]:
    """Yield the files of a new project for kernel-builder, including the generated files.

    Args:
        name: The library's name.
        folder: The folder of the project, which doesn't exist yet.
        oldest: The oldest torch that the library supports.
    """
    # kernel-builder gives each build a namespace of its own.
    operators = f"{name}._support.OPERATORS"
    kernel = kernel_name(name)
    project = tuple(
        _render_files(
            "stable_project", (*_STABLE_FILES, *_KERNEL_FILES), name, oldest, operators=operators, kernel=kernel
        )
    )
    yield from project
    source, log = folder / "ops", Diagnostics()
    options = ExtensionOptions(stable_abi=oldest, kernel_builder=True)
    texts = {folder / file.path: file.text for file in project}
    extension = load_extension(source, options, log, torch=oldest, texts=texts)
    assert extension is not None, log
    for file in generate_extension(extension, extension_templates(stable=True)):
        yield OutputFile(f"{KERNEL_FOLDER}/{file.path}", file.text)


def _render_files(
    kind: str, files: tuple[str, ...], name: str, oldest: Release | None, *, operators: str, kernel: str | None = None
) -> Iterator[OutputFile]:
    """Yield the rendered templates; `kernel` is the name of the library in kernel-builder."""
    templates = TemplateSet(*packaged_templates(kind))
    release = "" if oldest is None else oldest.name
    env = {"name": name, "oldest": release, "operators": operators, "kernel": kernel or ""}
    for path in files:
        target = path.replace("gitignore", ".gitignore").replace("test_library", f"test_{name}").removesuffix(".in")
        yield OutputFile(target, templates.render(path, env))
    tags = {tag.name: tag.description for tag in load_tags(packaged_folder("ATen") / _TAGS, Diagnostics()).values()}
    for schema in _MLX_SCHEMAS if kind == "mlx_project" else _SCHEMAS:
        yield OutputFile(f"ops/schemas/{schema}.json", render_schema(schema, tags))


def _check(name: str, folder: Path, log: Diagnostics, reserved: frozenset[str]) -> None:
    if not re.fullmatch(r"[A-Za-z](?:\w*[A-Za-z0-9])?", name, re.ASCII):
        label = "letters, digits and '_' only, with a letter first and no '_' last"
        log.error("bad-project-name", f"'{name}' is not a valid name for a library", label=label)
    elif len(name) > _MAX_NAME_LENGTH:
        label = f"at most {_MAX_NAME_LENGTH} characters"
        log.error("bad-project-name", f"'{name}' is too long for file names", label=label)
    elif name in KEYWORDS or name in reserved:
        log.error("bad-project-name", f"a library can't be called '{name}': the name is taken in C++")
    elif name in C_NAMES:
        log.error("bad-project-name", f"a library can't be called '{name}': the C library uses this name")
    elif keyword.iskeyword(name):
        log.error("bad-project-name", f"a package can't be called '{name}': it is a keyword of Python")
    elif name in sys.stdlib_module_names or name in _PACKAGES:
        log.error(
            "bad-project-name", f"a package can't be called '{name}': it would hide Python's package of this name"
        )
    if log.has_errors:
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        log.error("project-exists", f"'{folder}' already exists", label="name another folder with --into")


def _check_kernel(options: argparse.Namespace, log: Diagnostics) -> None:
    if options.stable_abi is None:
        label = f"add {STABLE_ABI_FLAG}"
        log.error("conflicting-flags", f"{KERNEL_BUILDER_FLAG} is for libraries in the stable ABI", label=label)
    if kernel_name(options.name) is None:
        label = "two lower-case letters or more"
        log.error("bad-project-name", f"kernel-builder has no kernels called '{options.name}'", label=label)


COMMAND: Final = Command(
    name="new",
    group=Group.OPERATORS,
    summary="create a project with your own operators",
    produces="Writes definitions, a kernel, a build by CMake and by pip, and a test into the new folder.",
    add_flags=add_flags,
    load=load,
)
