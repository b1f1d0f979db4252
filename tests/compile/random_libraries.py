"""Libraries of operators with any names, types, defaults, keys and formulas, through the front ends of compilers.

    python -m tests.compile.random_libraries [--count 100] [--operators 200] [--start 0] [--compiler g++ clang++]

Library number N is always the same.  What opgen refuses is left out, entry by entry; what it takes must be C++.
The headers of torch that libraries include are precompiled once, and a library is one translation unit.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Final

from opgen.commands._extension import extension_templates, generate_extension, load_extension
from opgen.diagnostics import Diagnostics, UserError
from opgen.extension.aoti_shims import check_shims
from opgen.extension.extension import ExtensionOptions
from opgen.output.files import OutputFile
from tests.compile.random_definitions import BASE, LOOPS, Group, in_namespace, iter_definitions
from tests.compile.random_formulas import HEADER
from tests.compilers import QUICK, torch_include_folders

_RELEASE: Final = ".".join(version("torch").split(".")[:2])
"""The release whose headers compile the libraries."""
_BATCH: Final = 60
"""How many groups of operators are made before opgen reads them, with those that it has taken."""
_NAMESPACES: Final = (
    "mine",
    "mine",
    "lib_2",
    "x",
    "self",
    "out",
    "grad",
    "k",
    "Tensor",
    "ops",
    "_own",
    "result",
    "Row",
)


# ------------------------------------------------------------------------------------- libraries


@dataclass(frozen=True, slots=True)
class Library:
    """What opgen makes of the definitions that it takes."""

    namespace: str
    groups: tuple[Group, ...]
    files: tuple[OutputFile, ...]

    @property
    def operators(self) -> int:
        return sum(group.operators for group in self.groups)

    @property
    def derivatives(self) -> int:
        return sum(bool(group.derivatives) for group in self.groups)


def make_library(folder: Path, seed: int, operators: int, first: Sequence[Group] = ()) -> Library:
    """Return library number `seed`, with as many operators that opgen takes, after those of `first`.

    Definitions are written to a folder.
    """
    chance = random.Random(seed)
    namespace = chance.choice(_NAMESPACES)
    options = ExtensionOptions(
        is_fragment=chance.random() < 0.2, shim_root="install" if chance.random() < 0.3 else None
    )
    made = iter_definitions(seed, namespace)
    groups: list[Group] = [in_namespace(group, namespace) for group in first]
    while True:
        groups += itertools.islice(made, _BATCH)
        groups, files = _accepted(folder, groups, options)
        # The last groups are dropped if there are too many, and nothing depends on them.
        counts = list(itertools.accumulate(group.operators for group in groups))
        if counts and counts[-1] >= operators:
            wanted = next(index for index, count in enumerate(counts) if count >= operators) + 1
            if wanted < len(groups):
                groups, files = _accepted(folder, groups[:wanted], options)
            return Library(namespace, tuple(groups), files)


def _accepted(
    folder: Path, groups: list[Group], options: ExtensionOptions
) -> tuple[list[Group], tuple[OutputFile, ...]]:
    """Return the groups that opgen takes together, without derivatives that it refuses, and the files that it makes."""
    source = folder / "ops"
    for name in ("native", "autograd"):
        (source / name).mkdir(parents=True, exist_ok=True)
    while True:
        derivatives = "".join(group.derivatives for group in groups)
        (source / "native" / "native_functions.yaml").write_text("".join(g.entries for g in groups), encoding="utf-8")
        (source / "autograd" / "derivatives.yaml").write_text(derivatives or "[]", encoding="utf-8")
        log = Diagnostics()
        extension = load_extension(source, options, log, torch=_RELEASE)
        if extension is not None and not log.has_errors:
            log.extend(check_shims(extension))
        try:
            files = () if extension is None or log.has_errors else generate_extension(extension, extension_templates())
        except UserError as problem:
            log.extend(problem.diagnostics)
        if not log.has_errors:
            return groups, files
        errors = [each for each in log.all if each.severity == "error"]
        wrong = {(Path(each.span.source.name).parent.name, each.span.line) for each in errors if each.span is not None}
        kept = _without(groups, wrong)
        assert kept != groups, log.render()
        groups = kept


def _without(groups: Iterable[Group], wrong: set[tuple[str, int]]) -> list[Group]:
    """Return the groups without those that a wrong line is in, and without wrong derivatives."""
    kept, entry, derivative = [], 1, 1
    for group in groups:
        ends = entry + group.entries.count("\n"), derivative + group.derivatives.count("\n")
        if not any(("native", line) in wrong for line in range(entry, ends[0])):
            is_wrong = any(("autograd", line) in wrong for line in range(derivative, ends[1]))
            kept.append(replace(group, derivatives="") if is_wrong else group)
        entry, derivative = ends
    return kept


def write_library(folder: Path, library: Library) -> Path:
    """Write the files of a library, and headers that an author would write; return the folder of the sources."""
    tree = folder / "generated"
    texts = {file.path: file.text for file in library.files}
    assert all(texts[file.path] == file.text for file in library.files), "two files have the same path"
    include = f"include/{library.namespace}"
    texts[f"{include}/derivatives.h"] = HEADER.format(namespace=library.namespace)
    texts[f"{include}/RowBase.h"] = BASE.format(namespace=library.namespace)
    for name in (name for name in list(texts) if name.startswith("UfuncCPU_")):
        loop = name.removeprefix("UfuncCPU_").removesuffix(".cpp")
        texts[f"include/ufunc/{loop}.h"] = LOOPS.format(namespace=library.namespace, name=loop)
    for name, text in texts.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tree


def check_python(library: Library) -> str:
    """Return why Python can't read the package; empty if it can."""
    for file in library.files:
        if file.path.endswith((".py", ".pyi")):
            try:
                compile(file.text, file.path, "exec")
            except SyntaxError as problem:
                return f"{file.path}:{problem.lineno}: error: {problem.msg}\n"
    return ""


def precompile(folder: Path, compiler: str, headers: Iterable[str]) -> list[str]:
    """Precompile the headers of torch among those that a library includes; return the flags that use them."""
    roots = torch_include_folders()
    found = [name for name in headers if "/" not in name or any((root / name).is_file() for root in roots)]
    common = folder / "common.h"
    # What the sources define before their headers.
    text = "#define AT_PER_OPERATOR_HEADERS\n" + "".join(f"#include <{name}>\n" for name in found)
    common.write_text(text, encoding="utf-8")
    is_clang = "clang" in compiler
    made = folder / ("common.h.pch" if is_clang else "common.h.gch")
    flags = [*_flags(compiler), "-x", "c++-header", "-o", str(made), str(common)]
    subprocess.run([compiler, *flags], check=True)
    return ["-include-pch", str(made)] if is_clang else ["-include", str(common)]


def torch_headers(tree: Path) -> list[str]:
    """Return the headers that a library includes and doesn't have itself, without those of CUDA, which need its own."""
    files = (path for path in sorted(tree.rglob("*")) if path.suffix in (".h", ".cpp"))
    # Bindings are compiled alone: they declare what they need of Python's headers of torch themselves.
    texts = (path.read_text(encoding="utf-8") for path in files if path.name not in ("Python.h", "PythonBindings.cpp"))
    named = {name for text in texts for name in re.findall(r"^#include <([^>]+)>", text, re.MULTILINE)}
    own = {path.relative_to(tree / "include").as_posix() for path in (tree / "include").rglob("*.h")}
    return sorted(name for name in named - own if name != "ATen/ATen.h" and "cuda" not in name.lower())


def _flags(compiler: str) -> list[str]:
    quick = [] if "clang" in compiler else [QUICK]
    return ["-std=c++20", "-w", *quick, *[f"-I{folder}" for folder in torch_include_folders()]]


def _all_errors(compiler: str) -> str:
    return "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"


def compile_library(tree: Path, compiler: str, precompiled: Sequence[str] = ()) -> str:
    """Return what a compiler's front end says about the sources of a library; empty if it takes them."""
    units = [path.name for path in sorted(tree.glob("*.cpp")) if path.name not in ("Loops.cpp", "Whole.cpp")]
    included = {
        name
        for unit in units
        if unit.startswith("Unit_")
        for name in re.findall(r'^#include "([^"]+)"', (tree / unit).read_text(encoding="utf-8"), re.MULTILINE)
    }
    alone = [name for name in units if name not in included and name != "PythonBindings.cpp"]
    loops = [name for name in alone if name.startswith("Ufunc")]
    common = [*_flags(compiler), "-fsyntax-only", _all_errors(compiler), f"-I{tree}", f"-I{tree / 'include'}"]
    bindings = [f"-I{sysconfig.get_paths()['include']}"]
    sources: list[tuple[str, list[str], list[str]]] = [
        ("Whole.cpp", [name for name in alone if name not in loops], [*precompiled]),
        ("Loops.cpp", loops, [*precompiled, "-DCPU_CAPABILITY=DEFAULT", "-DCPU_CAPABILITY_DEFAULT"]),
        ("PythonBindings.cpp", [], bindings),
    ]
    said = ""
    for name, parts, flags in sources:
        if parts:
            (tree / name).write_text("".join(f'#include "{part}"\n' for part in parts), encoding="utf-8")
        if (tree / name).exists():
            done = subprocess.run(
                [compiler, *flags, *common, str(tree / name)], capture_output=True, text=True, check=False
            )
            said += done.stderr if done.returncode != 0 else ""
    return said


@dataclass(slots=True)
class Tally:
    """What a run has found."""

    operators: int = 0
    derivatives: int = 0
    failures: int = 0


def check_library(
    folder: Path, seed: int, given: argparse.Namespace, flags: dict[str, list[str]], tally: Tally
) -> None:
    """Make a library and send it through each compiler's front end; keep it if one refuses it."""
    try:
        library = make_library(folder, seed, given.operators)
    except Exception:  # a bug of opgen's in one library must not hide the others
        tally.failures += 1
        shutil.copytree(folder, given.keep / f"{seed}-opgen", dirs_exist_ok=True)
        print(f"library {seed}: opgen fails\n{traceback.format_exc(limit=-4)}", flush=True)
        return
    tree = write_library(folder, library)
    tally.operators += library.operators
    tally.derivatives += library.derivatives
    counts = f"{library.operators} operators, {library.derivatives} with derivatives"
    for compiler in ("python", *given.compiler):
        if compiler != "python" and compiler not in flags:
            place = given.keep / f"headers-{Path(compiler).name}"
            place.mkdir(parents=True, exist_ok=True)
            flags[compiler] = precompile(place, compiler, torch_headers(tree))
        said = check_python(library) if compiler == "python" else compile_library(tree, compiler, flags[compiler])
        print(f"library {seed}, {counts}, {compiler}: {'fails' if said else 'clean'}", flush=True)
        if said:
            tally.failures += 1
            kept = given.keep / f"{seed}-{Path(compiler).name}"
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            (kept / "said").write_text(said, encoding="utf-8")
            print("\n".join([line for line in said.split("\n") if "error" in line][:6]), flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.compile.random_libraries", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--operators", type=int, default=200)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--compiler", nargs="+", default=["g++", "clang++"])
    parser.add_argument("--keep", type=Path, default=Path("libraries-found"))
    given = parser.parse_args(arguments)
    began, tally = time.monotonic(), Tally()
    flags: dict[str, list[str]] = {}
    for seed in range(given.start, given.start + given.count):
        with tempfile.TemporaryDirectory(prefix="opgen-library") as name:
            check_library(Path(name), seed, given, flags, tally)
    counted = f"{tally.operators:,} operators, {tally.derivatives:,} with derivatives, {tally.failures} failures"
    print(f"{given.count} libraries, {counted}, {time.monotonic() - began:.0f} s")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
