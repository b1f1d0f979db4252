"""Texts of one language → the part of opgen that reads it, without what comes after."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from opgen.backend.kernel_check import find_definitions
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.deprecated import load_deprecated
from opgen.frontend.expressions import find_syntax_error
from opgen.frontend.fallback_ops import load_shims
from opgen.frontend.native_functions import load_program
from opgen.frontend.nodes import load_yaml
from opgen.importing.cpp_source import read_cpp
from opgen.importing.python_source import read_python
from opgen.mlx.definitions import load_library
from opgen.model import FunctionSchema, SchemaError
from opgen.output.manifest import FORMAT, NAME, digest
from opgen.program.program import Program
from opgen.releases.known import newest_release
from opgen.run.spine import INTERNAL_ERROR, run
from opgen.schema.registered import parse_registered
from opgen.selective_build.selector import SelectiveBuilder

REPOSITORY = Path(__file__).resolve().parents[2]
OPS = REPOSITORY / "tests" / "golden" / "shared" / "ops"
FLAGS = ("-s", "ops", "-d", "out", "-q", "--generate", "declarations_yaml", "--stamp", "out/stamp")
FORMULA = 'grad * f(self.sizes(), other ? 1 : 2) - at::g<int, 3>([&](auto x) { return x; }, "a\\"b", {1, 2}, -x[0])'
"""A formula with most of what the language has."""
SOURCE = """
#define K(x) at::Tensor Mine::x(const at::Tensor& self)
namespace a { K(add) { return self; }  /* c */
at::Tensor & ns::Mine::mul_(at::Tensor & self, T<int, 3> b) const { R"x(})x"; '}'; if (a) { } }
#if 0
int Mine::left_out() {}
#endif
TORCH_LIBRARY(mine, m) { m.def("add(Tensor self) -> Tensor"); m.impl("add", &K<int>); }
TORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl("add", TORCH_FN(add)); }
"""
PYTHON = """
import torch
lib = torch.library.Library("mine", "DEF")
lib.define("add(Tensor self, *, int by=1) -> Tensor", tags=(torch.Tag.core,))
@torch.library.custom_op("mine::mul", mutates_args=())
def mul(x: torch.Tensor, by: list[float] | None = None) -> tuple[torch.Tensor, int]: ...
"""
SCHEMAS = (
    "add.out(Tensor self, Scalar? by=2, *, int[2] x=[1, 2], Tensor(a!) out) -> Tensor(a!)",
    "f(Tensor(a -> *) self, str s='a\\'b', Dict(str, int[]) d, Tensor?[]? x=None) -> (Tensor(a) r, int[])",
    "g(__torch__.torch.classes.a.B x, (int, float) t, ...) -> ()",
)


def known_program() -> Program:
    program = load_program(OPS / "native" / "native_functions.yaml", OPS / "native" / "tags.yaml", Diagnostics())
    assert program is not None
    return program


def feed_expression(text: str) -> None:
    find_syntax_error(text)


def feed_cpp(text: str) -> None:
    list(find_definitions(Source("kernels.cpp", text), "Mine"))
    list(read_cpp(text))


def feed_python(text: str) -> None:
    list(read_python(text))


def feed_schema(text: str) -> None:
    with suppress(SchemaError):
        parsed = FunctionSchema.parse(text)
        assert FunctionSchema.parse(str(parsed)) == parsed
    with suppress(SchemaError):
        str(parse_registered(text))


def feed_yaml(text: str) -> None:
    load_yaml(Source("any.yaml", text), Diagnostics())


def feed_selector(text: str) -> None:
    SelectiveBuilder.from_yaml_str(text)


def feed_mlx(text: str) -> None:
    load_library(Source("mlx_ops.yaml", text), "mine", Diagnostics())


def feed_deprecated(text: str) -> None:
    load_deprecated(Source("deprecated.yaml", text), known_program().functions, Diagnostics())


def feed_shims(text: str) -> None:
    with tempfile.TemporaryDirectory(prefix="opgen-fuzz") as folder:
        path = Path(folder, "shims.yaml")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        load_shims(known_program().functions, path, newest_release(), Diagnostics())


# ------------------------------------------------------------------------------ whole runs


@contextmanager
def _laid_out() -> Iterator[Path]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="opgen-fuzz") as folder:
        shutil.copytree(OPS, Path(folder, "ops"))
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def _end(name: str, *arguments: str) -> int:
    try:
        code = run(name, arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    assert code != INTERNAL_ERROR, "an internal error"
    return code


def feed_manifest(text: str) -> None:
    """A manifest whose records are this text, with the right digest."""
    with _laid_out() as folder:
        (folder / "out").mkdir()
        body = text.encode("utf-8", "surrogatepass")
        head = json.dumps({"opgen manifest": FORMAT, "digest": digest(body)}).encode()
        (folder / "out" / NAME).write_bytes(head + b"\n" + body)
        assert _end("gen", *FLAGS) == 0
        left = {path.name for path in folder.iterdir()}
        assert left == {"ops", "out"}, f"{left} were written by the word of a manifest"


def manifest_text() -> str:
    with _laid_out() as folder:
        assert _end("gen", *FLAGS) == 0
        return (folder / "out" / NAME).read_bytes().partition(b"\n")[2].decode()


def feed_name(text: str) -> None:
    """A name for a project, a file and a folder."""
    name = text.replace("\0", "")[:5000]
    with _laid_out():
        _end("new", "--dry-run", "--", name)
        _end("gen", *FLAGS, f"--source-path={name}", "--dry-run")
        _end("gen", *FLAGS, f"--op-selection-yaml-path={name}", "--dry-run")


_NODES = ("pipe", "zero", "full", "folder", "loop", "dangling", "unreadable", "huge")


def feed_nodes(text: str) -> None:
    """Things that are no files where the text says: `tags.yaml pipe`."""
    places = ("native/native_functions.yaml", "native/tags.yaml", "templates/RegistrationDeclarations.h", "templates")
    with _laid_out() as folder:
        for number, letter in enumerate(text[:4]):
            path = folder / "ops" / places[(ord(letter) + number) % len(places)]
            _put(path, _NODES[ord(letter) % len(_NODES)])
        _end("gen", *FLAGS[:-2])


def _put(path: Path, kind: str) -> None:
    if not path.parent.is_dir():
        return
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind in ("unreadable", "huge"):
        path.write_text("- func: a(Tensor self) -> Tensor\n")
        os.chmod(path, 0 if kind == "unreadable" else 0o644)
        os.truncate(path, 1 << 40 if kind == "huge" else 10)
    else:
        path.symlink_to({"zero": "/dev/zero", "full": "/dev/full", "loop": path.name}.get(kind, "nowhere"))
