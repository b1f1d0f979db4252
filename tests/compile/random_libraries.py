"""Libraries of operators with any names, types, defaults, keys and formulas, through the front ends of compilers.

    python -m tests.compile.random_libraries [--count 100] [--operators 200] [--start 0] [--compiler g++ clang++]

Library number N is always the same.  What opgen refuses is left out, entry by entry; what it takes must be C++.
The headers of torch that libraries include are precompiled once, and a library is one translation unit.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from opgen.commands._extension import extension_templates, generate_extension, load_extension
from opgen.diagnostics import Diagnostics, UserError
from opgen.extension.extension import ExtensionOptions
from opgen.frontend.cpp_names import KEYWORDS
from opgen.schema.types import BaseTy
from tests.compilers import QUICK

_WORDS: Final = ("scale", "blend", "row", "gain", "weight", "x", "y1", "Big", "a_b", "two__lines", "k")
_MACROS: Final = (
    *("EOF", "NULL", "errno", "assert", "linux", "unix", "stdin", "INT_MAX", "CHECK", "I", "major", "minor"),
    *("TORCH_API", "TORCH_CHECK", "C10_API", "M_PI", "isnan", "INFINITY", "NAN", "BUFSIZ", "signals", "ERROR", "DEBUG"),
)
_OURS: Final = (
    *("self", "self_", "other", "out", "out0", "result", "result_", "grad", "grads", "grad_fn", "ks", "op", "args"),
    *("dispatchKeySet", "schema", "name", "overload_name", "call", "redispatch", "at", "c10", "std", "torch", "Tensor"),
    *("detail", "native", "meta", "structured", "wrapper_CPU__x", "guard", "device_guard", "common_device", "int64_t"),
    *("dtype", "layout", "device", "pin_memory", "TensorOptions", "options", "tmp", "box", "boxed", "functionalize_x"),
    *("node_", "guard_", "called", "kernel", "IValue", "Stack", "stack", "module", "m", "PyObject", "parser", "_r"),
    *("vmap", "batch_rule", "mine", "MINE_API", "lib", "register", "print", "None", "lambda", "len", "list", "ops"),
)
_NAMES: Final = (*_WORDS * 6, *_OURS * 2, *_MACROS, *sorted(KEYWORDS))
_SUFFIXES: Final = ("", "", "", "?", "?", "[]", "[]", "[2]", "[]?", "?[]")
_DEFAULTS: Final = (
    *("None", "0", "1", "-1", "2.5", "1e-05", "inf", "True", "False", "[]", "[0, 1]", "[1.5]", "[True, False]"),
    *('"a"', "'b\\\\'", '"it\'s"', "'\\\"'", "Mean", "contiguous_format", "float", "strided", "cpu", "9999999999"),
)
_KEYS: Final = ("CPU", "CUDA", "Meta", "PrivateUse1", "SparseCPU", "QuantizedCPU", "AutogradCPU", "FuncTorchBatched")
_COMPOSITES: Final = (
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
_FLAGS: Final = (
    *("device_check: NoCheck", "device_guard: False", "tags: pointwise", "tags: core", "variants: function, method"),
    *('doc: "a \\\\ \\" \\u2028 b"', "manual_kernel_registration: True", "use_const_ref_for_mutable_tensors: True"),
    *("cpp_no_default_args: [x]", "autogen: {root}.out", "autogen: {root}, {root}.out", "manual_cpp_binding: True"),
)


_COMPILED: Final = ("Unit_", "RegisterCUDA", "RegisterPrivateUse1")
"""What the sources that a build compiles are called, or begin with, beside the bindings."""
_TRIES: Final = 8
"""How many entries are made for each that opgen takes, or more."""


def definitions(seed: int, operators: int) -> list[str]:
    """Return the entries of a library, one or several operators each; many of them have mistakes."""
    chance = random.Random(seed)
    return [_group(chance, number) if chance.random() < 0.15 else _entry(chance, number) for number in range(operators)]


def _name(chance: random.Random, number: int) -> str:
    name = chance.choice(_NAMES)
    return name if chance.random() < 0.3 else f"{name}_{number}"


def _type(chance: random.Random) -> str:
    if chance.random() < 0.4:
        return chance.choice(("Tensor", "Tensor", "Tensor?", "Tensor[]", "Tensor(a!)", "Tensor(a)", "Tensor(a!)[]"))
    return chance.choice(list(BaseTy.__members__)) + chance.choice(_SUFFIXES)


def _argument(chance: random.Random) -> str:
    default = f"={chance.choice(_DEFAULTS)}" if chance.random() < 0.25 else ""
    return f"{_type(chance)} {chance.choice(_NAMES)}{default}"


def _entry(chance: random.Random, number: int) -> str:
    root = _name(chance, number) + ("_" if chance.random() < 0.1 else "")
    overload = f".{chance.choice(_NAMES)}" if chance.random() < 0.15 else ""
    first = ["Tensor(a!) self" if root.endswith("_") else "Tensor self"] if chance.random() < 0.8 else []
    arguments = [*first, *(_argument(chance) for _ in range(chance.randint(0, 4)))]
    if chance.random() < 0.2:
        arguments.insert(chance.randint(0, len(arguments)), "*")
    returned = "Tensor(a!)" if root.endswith("_") else _returned(chance)
    text = f"- func: mine::{root}{overload}({', '.join(arguments)}) -> {returned}\n"
    text += _dispatch(chance, root)
    flags = chance.sample(_FLAGS, chance.choice((0, 0, 1, 2)))
    return text + "".join(f"  {flag.format(root=root.removesuffix('_'))}\n" for flag in flags)


def _returned(chance: random.Random) -> str:
    kinds = (
        *("Tensor", "Tensor", "Tensor", "Tensor[]", "()", "(Tensor, Tensor)", "(Tensor out, int n)", "Tensor(a)"),
        *("Tensor(a!)", "(Tensor(a!), Tensor)", "Tensor?", "Tensor?[]", "(Tensor[], Tensor?)"),
    )
    return chance.choice(kinds) if chance.random() < 0.8 else _type(chance)


def _dispatch(chance: random.Random, root: str) -> str:
    kernel = chance.choice((root, f"k_{root}", f"own::{root}", chance.choice(_NAMES)))
    if chance.random() < 0.3:
        return f"  dispatch:\n    {chance.choice(_COMPOSITES)}: {kernel}\n" if chance.random() < 0.6 else ""
    keys = chance.sample(_KEYS, chance.randint(1, 3))
    return f"  dispatch:\n    {', '.join(keys)}: {kernel}\n"


def _group(chance: random.Random, number: int) -> str:
    """A structured operator with its forms."""
    root, more = _name(chance, number), ", ".join(_argument(chance) for _ in range(chance.randint(0, 2)))
    given = f"Tensor self{', ' + more if more else ''}"
    parent = chance.choice(("", "", "  structured_inherits: TensorIteratorBase\n"))
    precomputed = chance.choice(("", f"  precomputed:\n  - {chance.choice(_NAMES)} -> int {chance.choice(_NAMES)}\n"))
    return (
        f"- func: mine::{root}({given}) -> Tensor\n  structured_delegate: {root}.out\n"
        f"- func: mine::{root}_({given.replace('Tensor self', 'Tensor(z!) self')}) -> Tensor(z!)\n"
        f"  structured_delegate: {root}.out\n"
        f"- func: mine::{root}.out({given}, *, Tensor(z!) out) -> Tensor(z!)\n  structured: True\n"
        f"{parent}{precomputed}  dispatch:\n    CPU: {chance.choice((root, f'{root}_out'))}\n"
    )


# ------------------------------------------------------------------------------------- formulas


def formula(chance: random.Random, depth: int = 3) -> str:
    """Return a formula that is right C++ if `grad` and `self` are tensors."""
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(("grad", "grad", "self", "grad.clone()", "self.sin()", "at::zeros_like(self)", "(grad)"))
    inner = [formula(chance, depth - 1) for _ in range(2)]
    shapes = (
        *("{0} * {1}", "{0} + {1}", "-({0})", "({0}) / ({1} + 1.5e-3)", "at::where({0} > 0, {1}, {0})"),
        *("({0}).mul(0x1F).sum_to_size(self.sizes())", "[&] {{ return {0}; }}()", "(true ? {0} : {1})"),
        *("[](const at::Tensor & t) {{ return t * 2; }}({0})", "({0}).to(self.options())", "at::add({0}, {1}, 1'000)"),
        *("std::vector<at::Tensor>{{{0}, {1}}}[0]", "({0}).index_select(0, at::arange(1)).expand_as(self)"),
        *("static_cast<at::Tensor>({0})", "{0} /* a comment: ' */", "std::get<0>(std::make_tuple({0}, {1}))"),
    )
    return chance.choice(shapes).format(*inner)


def derivatives(seed: int, entries: Iterable[str]) -> Iterator[str]:
    """Yield derivatives for operators that one entry defines by itself, and whose only tensor is `self`."""
    chance = random.Random(seed)
    for entry in entries:
        schema = entry.partition("- func: mine::")[2].partition("\n")[0]
        is_fit = entry.count("- func") == 1 and schema.startswith(f"{schema.partition('(')[0]}(Tensor self")
        if is_fit and schema.endswith("-> Tensor") and schema.count("Tensor") == 2 and chance.random() < 0.5:
            quoted = formula(chance).replace("\\", "\\\\").replace('"', '\\"')
            yield f'- name: {schema}\n  self: "{quoted}"\n'


# ------------------------------------------------------------------------------------- libraries


def write_library(folder: Path, seed: int, operators: int) -> int:
    """Generate library number `seed` into a folder; return how many entries opgen takes."""
    entries = definitions(seed, operators * _TRIES)
    source = folder / "ops"
    (source / "native").mkdir(parents=True)
    (source / "autograd").mkdir()
    formulas: list[str] | None = None
    while True:
        (source / "native" / "native_functions.yaml").write_text("".join(entries), encoding="utf-8")
        (source / "autograd" / "derivatives.yaml").write_text("".join(formulas or []) or "[]", encoding="utf-8")
        log = Diagnostics()
        extension = load_extension(source, ExtensionOptions(), log)
        try:
            files = () if extension is None or log.has_errors else generate_extension(extension, extension_templates())
        except UserError as problem:
            log.extend(problem.diagnostics)
        if not log.has_errors and formulas is not None:
            break
        if not log.has_errors:
            entries = entries[:operators]
            formulas = list(derivatives(seed, entries))
            continue
        wrong = {
            (each.span.source.name.rpartition("/")[2], each.span.line) for each in log.all if each.span is not None
        }
        before = len(entries) + len(formulas or [])
        entries = _without(entries, {line for name, line in wrong if name.startswith("native")})
        formulas = formulas and _without(formulas, {line for name, line in wrong if name.startswith("deriv")})
        assert len(entries) + len(formulas or []) < before, log.render()
    for file in files:
        path = folder / "mine" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
    return len(entries)


def _without(texts: Sequence[str], lines: set[int]) -> list[str]:
    """Return the texts, of which a file consists, that none of the lines is in."""
    kept, line = [], 1
    for text in texts:
        end = line + text.count("\n")
        if not any(line <= wrong < end for wrong in lines):
            kept.append(text)
        line = end
    return kept


def include_folders() -> list[str]:
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.submodule_search_locations
    include = Path(spec.submodule_search_locations[0]) / "include"
    return [f"-I{include}", f"-I{include / 'torch' / 'csrc' / 'api' / 'include'}"]


def precompile(folder: Path, compiler: str, headers: Iterable[str]) -> list[str]:
    """Precompile the headers of torch among those that a library includes; return the flags that use them."""
    roots = [Path(flag.removeprefix("-I")) for flag in include_folders()]
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


def torch_headers(folder: Path) -> list[str]:
    """The headers that a library includes and doesn't have itself; those of CUDA need what isn't installed."""
    tree = folder / "mine"
    files = (path for path in sorted(tree.rglob("*")) if path.suffix in (".h", ".cpp"))
    # Bindings are compiled alone: they declare what they need of Python's headers of torch themselves.
    texts = (path.read_text(encoding="utf-8") for path in files if path.name not in ("Python.h", "PythonBindings.cpp"))
    named = {name for text in texts for name in re.findall(r"^#include <([^>]+)>", text, re.MULTILINE)}
    skipped = ("mine/", "ATen/ATen.h")
    return sorted(name for name in named if not name.startswith(skipped) and "cuda" not in name.lower())


def _flags(compiler: str) -> list[str]:
    quick = [] if "clang" in compiler else [QUICK]
    return ["-std=c++20", "-w", *quick, *include_folders()]


def compile_library(folder: Path, compiler: str, precompiled: Sequence[str] = ()) -> str:
    """Return what a compiler's front end says about the sources of a library; empty if it takes them."""
    tree = folder / "mine"
    sources = [path.name for path in sorted(tree.glob("*.cpp")) if path.name.startswith(_COMPILED)]
    whole = tree / "Whole.cpp"
    whole.write_text("".join(f'#include "{name}"\n' for name in sources), encoding="utf-8")
    flags = [*precompiled, *_flags(compiler), "-fsyntax-only", f"-I{tree}", f"-I{tree / 'include'}"]
    said = ""
    for source in (whole, tree / "PythonBindings.cpp"):
        own = flags if source is whole else [*flags[len(precompiled) :], f"-I{sysconfig.get_paths()['include']}"]
        done = subprocess.run([compiler, *own, str(source)], capture_output=True, text=True, check=False)
        said += done.stderr if done.returncode != 0 else ""
    return said


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
    began, failed, taken = time.monotonic(), 0, 0
    flags: dict[str, list[str]] = {}
    for seed in range(given.start, given.start + given.count):
        with tempfile.TemporaryDirectory(prefix="opgen-library") as name:
            taken += write_library(Path(name), seed, given.operators)
            for compiler in given.compiler:
                if compiler not in flags:
                    place = given.keep / f"headers-{Path(compiler).name}"
                    place.mkdir(parents=True, exist_ok=True)
                    flags[compiler] = precompile(place, compiler, torch_headers(Path(name)))
                said = compile_library(Path(name), compiler, flags[compiler])
                print(f"library {seed}, {compiler}: {'fails' if said else 'clean'}", flush=True)
                if said:
                    failed += 1
                    shutil.copytree(name, given.keep / f"{seed}-{compiler}", dirs_exist_ok=True)
                    lines = [line for line in said.split("\n") if "error" in line]
                    print("\n".join(lines[:6]), flush=True)
    print(f"{given.count} libraries, {taken:,} entries, {failed} failures, {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
