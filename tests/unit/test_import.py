"""`opgen import`: registrations in sources and in the dispatcher become definitions that opgen reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from expecttest import assert_expected_inline as assert_text

from opgen.__main__ import main
from opgen.diagnostics import Diagnostics
from opgen.importing.definitions import combine, render_definitions
from opgen.importing.python_source import read_python
from opgen.importing.sources import read_source

torch = pytest.importorskip("torch")

CPP = r"""
#include <torch/library.h>
// m.def("commented(Tensor x) -> Tensor");
TORCH_LIBRARY(mylib, m) {
  m.def("scale(Tensor x, float by=2.0) -> Tensor");
  m.def(
      "fill(Tensor! dst, "
      "Tensor src) -> ()", {at::Tag::pt2_compliant_tag});
  m.def(R"(lists(Tensor[] x,
     int[][] y) -> Tensor[])");
  m.def("inferred", &inferred);
  m.def("direct(Tensor x) -> Tensor", &my::direct);
  m.def(kSchema);
  m.def("say(str a=\"it (is)\") -> str");
}
TORCH_LIBRARY_IMPL(mylib, CPU, m) {
  m.impl("scale", TORCH_FN(my::scale_cpu));
  m.impl("fill", &fill_cpu);
  m.impl("lists", [](at::TensorList x) { return x.vec(); });
}
TORCH_LIBRARY_IMPL(mylib, CUDA, m) { m.impl("scale", my::scale_cuda); }
TORCH_LIBRARY_FRAGMENT(mylib, m) {
  m.def("more.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  m.impl("more.out", torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(more_meta)));
}
"""

PYTHON = """
import torch
from torch.library import Library
lib = Library("mylib", "FRAGMENT")
lib.define("py(Tensor x, int n=3) -> Tensor", tags=(torch.Tag.pointwise, torch.Tag.pt2_compliant_tag))
lib.impl("py", lambda x, n: x, "CPU")
torch.library.define("mylib::defined", "(Tensor x) -> Tensor")

@torch.library.impl("mylib::defined", "cuda")
def defined(x): return x

@torch.library.custom_op("mylib::custom", mutates_args=("y",))
def custom(x: torch.Tensor, y: torch.Tensor, n: int = 1, s: str | None = None) -> tuple[torch.Tensor, int]:
    return x, 1

@torch.library.register_fake("mylib::custom")
def _(x, y): pass
"""


def imported(tmp_path: Path, **sources: str) -> str:
    """What is written for these sources, and what is said of them."""
    log = Diagnostics()
    paths = [tmp_path / name.replace("_", ".") for name in sources]
    for path, text in zip(paths, sources.values(), strict=True):
        path.write_text(text)
    found = combine([each for path in paths for each in read_source(path, log)], log)
    return "".join(map(render_definitions, found)) + log.render().replace(f"{tmp_path}{os.sep}", "")


def test_from_cpp(tmp_path: Path) -> None:
    assert_text(
        imported(tmp_path, ops_cpp=CPP),
        """\
# Operators of 'mylib', written by 'opgen import'.

- func: mylib::scale(Tensor x, float by=2.0) -> Tensor
  dispatch:
    CPU: my::scale_cpu
    CUDA: my::scale_cuda

- func: mylib::fill(Tensor! dst, Tensor src) -> ()
  dispatch:
    CPU: fill_cpu
  tags: pt2_compliant_tag

- func: mylib::lists(Tensor[] x, int[][] y) -> Tensor[]

- func: mylib::direct(Tensor x) -> Tensor
  dispatch:
    CompositeImplicitAutograd: my::direct

- func: mylib::say(str a="it (is)") -> str

- func: mylib::more.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    Meta: more_meta
opgen: warning: ops.cpp:11: 'mylib::inferred' has no schema here: torch infers it from the kernel [import-unread]
  read it with --from-ops, or write it by hand
opgen: warning: ops.cpp:13: a schema that is not a literal can't be read [import-unread]
  read it with --from-ops, or write it by hand
opgen: warning: ops.cpp:19: the kernel of 'mylib::lists' under CPU is not a named function [import-unread]
  read it with --from-ops, or write it by hand
""",
    )


def test_from_python(tmp_path: Path) -> None:
    assert_text(
        imported(tmp_path, ops_py=PYTHON),
        """\
# Operators of 'mylib', written by 'opgen import'.

- func: mylib::custom(Tensor x, Tensor(a1!) y, SymInt n=1, str? s=None) -> (Tensor, SymInt)
  dispatch:
    CompositeExplicitAutograd: custom_compositeexplicitautograd
    Meta: custom_meta

- func: mylib::py(Tensor x, int n=3) -> Tensor
  dispatch:
    CPU: py
  tags: [pointwise, pt2_compliant_tag]

- func: mylib::defined(Tensor x) -> Tensor
  dispatch:
    CUDA: defined_cuda
""",
    )


def test_annotations_are_read_as_torch_reads_them() -> None:
    """Against torch's own inference, for a function with every kind of annotation."""
    source = """
def custom(
    a: torch.Tensor, b: Optional[torch.Tensor], c: int, d: float, e: bool, f: str, g: List[int], h: Sequence[float],
    i: Optional[List[int]], j: torch.dtype, k: torch.device, l: List[torch.Tensor], m: torch.types.Number,
    n: int = 3, o: float = 0.5, p: str = "text", q: Optional[int] = None, *, r: bool = False,
) -> Tuple[torch.Tensor, torch.Tensor]:
    raise NotImplementedError
"""
    names: dict[str, Any] = {"torch": torch}
    exec(f"from collections.abc import Sequence\nfrom typing import List, Optional, Tuple\n{source}", names)
    wanted = torch.library.infer_schema(names["custom"], mutates_args=("a", "l"), op_name="custom")
    decorated = f'@torch.library.custom_op("mylib::custom", mutates_args=("a", "l"))\n{source.strip()}'
    found = [each for each in read_python(decorated) if not each.is_kernel]
    assert [str(torch._C.parse_schema(f"x::{each.schema}")) for each in found] == [
        str(torch._C.parse_schema(f"x::{wanted}"))
    ]


def test_a_float_for_an_int_is_written_as_an_int(tmp_path: Path) -> None:
    text = imported(tmp_path, a_cpp='TORCH_LIBRARY(m, m) { m.def("f(int mode=0.0, float by=0., int? n=-2.) -> ()"); }')
    assert "m::f(int mode=0, float by=0., int? n=-2) -> ()" in text


def test_from_the_dispatcher(tmp_path: Path) -> None:
    """The operators of a library that Python registers, with awkward types and defaults, and back through opgen."""
    (tmp_path / "imported_library.py").write_text(
        "import torch\n"
        "lib = torch.library.Library('from_ops', 'DEF')\n"
        "lib.define('bang(Tensor! x, Tensor y) -> ()')\n"
        "lib.define('c(Tensor x, *, ScalarType d=float32, Device e=\"cpu\") -> Tensor')\n"
        "lib.define('g.o(Tensor x, int[][] s, Dict(str, Tensor) n) -> Tensor?', tags=torch.Tag.pt2_compliant_tag)\n"
        "lib.impl('bang', lambda x, y: None, 'CPU')\n"
        "lib.impl('c', lambda x, **_: x, 'CompositeExplicitAutograd')\n"
        "lib.impl('bang', lambda x, y: None, 'Meta')\n"
    )
    folder = tmp_path / "ops"
    library = os.fspath(tmp_path / "imported_library.py")
    assert main(["import", "--from-ops", "from_ops", "--load", library, "-d", os.fspath(folder), "-q"]) == 0
    assert_text(
        (folder / "native" / "native_functions.yaml").read_text(),
        """\
# Operators of 'from_ops', written by 'opgen import'.

- func: from_ops::bang(Tensor(a0!) x, Tensor y) -> ()
  dispatch:
    CPU: bang
    Meta: bang_meta

- func: from_ops::c(Tensor x, *, ScalarType d=6, Device e="cpu") -> Tensor
  dispatch:
    CompositeExplicitAutograd: c_compositeexplicitautograd

- func: from_ops::g.o(Tensor x, int[][] s, Dict(str, Tensor) n) -> Tensor?
  tags: pt2_compliant_tag
""",
    )
    assert main(["gen", "-s", os.fspath(folder), "-d", os.fspath(tmp_path / "out"), "-q", "--no-python"]) == 0


def test_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import"]) == 1
    assert main(["import", os.fspath(tmp_path / "missing.cpp")]) == 1
    (tmp_path / "two.cpp").write_text(
        'TORCH_LIBRARY(one, m) { m.def("f() -> ()"); }\nTORCH_LIBRARY(two, m) { m.def("f() -> ()"); }'
    )
    assert main(["import", os.fspath(tmp_path / "two.cpp")]) == 1
    (tmp_path / "bad.cpp").write_bytes(b"\xff\xfe\xff")
    assert main(["import", os.fspath(tmp_path / "bad.cpp")]) == 1
    assert main(["import", "--from-ops", "nowhere"]) == 1
    assert main(["import", "--from-ops", "aten", "--load", os.fspath(tmp_path / "no.so")]) == 1
    said = capsys.readouterr().err
    for id in ("import-nothing", "import-missing", "import-several", "import-unreadable", "import-load"):
        assert f"[{id}]" in said
    for word in ("nothing to import from", "there is no file", "under the namespace 'nowhere'", "can't be loaded"):
        assert word in said
