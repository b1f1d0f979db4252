"""The generator of lazy backends and torch's own side by side: the same files, the same tokens.

`data/lazy/everything.yaml` has operators of every kind of argument and result. Each of its lists is run alone,
too; each flag; and a backend that has every operator of torch's that torch's generator can do. What that one
can't do, or does so that no compiler takes it, is in `data/lazy/beyond.yaml`: see tests/compile/test_compile_lazy.py.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest
import yaml

from opgen.api.lazy import LazyIrSchema
from opgen.api.types import UnsupportedTypeError
from opgen.backend.backend_yaml import ExternalBackend, load_backend
from opgen.diagnostics import Diagnostics
from opgen.frontend.native_functions import load_program
from opgen.gen_lazy_tensor import GenLazyIR, GenTSLazyIR, main, run_gen_lazy_tensor
from opgen.lazy.rules import check_lazy
from opgen.lazy.shapes import GenLazyShapeInferenceDefinition
from opgen.model import NativeFunction, SchemaKind
from opgen.program.program import Program
from tests.conformance.compare import compare_trees
from tests.conformance.runs import run_command
from tests.conformance.tokens import tokens_of

EVERYTHING: Final = Path(__file__).with_name("data") / "lazy" / "everything.yaml"
SHAPES: Final = "shapes.h"
EVERY: Final = "every-operator"
USING: Final = "using namespace torch::lazy;\n"


@dataclass(frozen=True)
class Case:
    """A backend, and how it is generated."""

    backend: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    lowerings: bool = True
    by_flags: bool = True
    """Whether our side is given flags; else it is called."""


def _lists(*names: str) -> dict[str, Any]:
    """The backend with some of its lists; torch's generator wants at least one kernel to be generated."""
    whole = yaml.safe_load(EVERYTHING.read_text(encoding="utf-8"))
    backend = {"backend": "Lazy", "cpp_namespace": "torch::lazy", "full_codegen": ["abs"]}
    return backend | {name: whole[name] for name in names if name in whole}


_TS: Final = MappingProxyType({"node_base": "TsNode", "node_base_hdr": "torch/csrc/lazy/ts_backend/ts_node.h"})
_ALL_LISTS: Final = ("full_codegen", "ir_gen", "supported", "autograd", "symint", "non_native")
_SMALL: Final = MappingProxyType(
    {
        "backend": "Lazy",
        "cpp_namespace": "torch::lazy",
        "full_codegen": [
            "add.Tensor",
            "gelu",
            "max.dim",
            "native_dropout",
            "clamp",
            "uniform",
            "fill_.Scalar",
            "stack",
        ],
        "ir_gen": ["select.int"],
        "supported": ["empty.memory_format"],
        "non_native": [{"func": "cast(Tensor input, ScalarType dtype, ScalarType? stype) -> Tensor"}],
    }
)
_SYMINT_LIST_OR_NONE: Final = re.compile(r"SymInt\[\d*\]\?")
# With a class of its own for values, torch's generator takes a list of tensors for no value.
_NO_LISTS: Final = MappingProxyType(dict(_SMALL) | {"full_codegen": ["add.Tensor", "max.dim", "clamp", "uniform"]})
OWN_NAMES: Final = MappingProxyType(
    {
        "backend_namespace": "other",
        "get_tensorlist": "Lists",
        "get_tensor_or_wrap_number": "Wrap",
        "try_get_tensor": "Try",
        "metrics_counter": 'COUNT("mine")',
        "create_tensor": "Make",
        "create_aten_from_ltc_tensor": "other::Aten",
        "tuple_aten_from_ltc_tensors": "other::Tuple",
        "lazy_value_class": "other::Result",
        "lazy_tensor_ptr": "Pointer",
        "get_device_fn": "other::Device",
    }
)
CASES: Final[Mapping[str, Case]] = MappingProxyType(
    {
        "everything": Case(_lists(*_ALL_LISTS), _TS),
        "everything-without-lowerings": Case(_lists(*_ALL_LISTS), lowerings=False),
        "full_codegen": Case(_lists("full_codegen")),
        "ir_gen": Case(_lists("ir_gen")),
        "supported": Case(_lists("supported")),
        "autograd": Case(_lists("autograd")),
        "full_codegen-symint": Case(_lists("full_codegen", "symint", "supported")),
        "non_native": Case(_lists("non_native"), _TS),
        "non_native-without-lowerings": Case(_lists("non_native"), lowerings=False),
        "class_name": Case(dict(_SMALL) | {"class_name": "Mine", "backend": "XLA"}),
        "namespace": Case(dict(_SMALL) | {"cpp_namespace": "mine::graph", "backend": "PrivateUse1"}),
        "node-base": Case(_SMALL, {"node_base": "a::Base"}),
        "node-base-hdr": Case(_SMALL, {"node_base_hdr": "a/base.h"}),
        "tensor-class": Case(_SMALL, {"tensor_class": "a::Tensor"}),
        "tensor-class-hdr": Case(_SMALL, {"tensor_class_hdr": "a/tensor.h"}),
        "backend-name": Case(_SMALL, {"backend_name": "Mine"}),
        "in-tree": Case(_SMALL, {"build_in_tree": True}, by_flags=False),
        "per-operator-headers": Case(_SMALL, {"per_operator_headers": True}, by_flags=False),
        "forced-fallback": Case(_SMALL, {"gen_forced_fallback_code": True}, by_flags=False),
        "no-lazy-shape": Case(_SMALL, {"use_lazy_shape": False}, by_flags=False),
        "from-first-tensor": Case(_SMALL, {"create_from_first_tensor": True}, by_flags=False),
        "own-names": Case(_NO_LISTS, OWN_NAMES, by_flags=False),
        EVERY: Case({}, _TS),
    }
)
_PIECES: Final = re.compile(r"\n(?=class )|\n(?=[^\n]* LazyNativeFunctions::)")
"""Where the files of a backend with every operator are cut, as they are long: a class or a kernel is a piece."""


# ------------------------------------------------------------------------- every operator there is


def _every_operator(program: Program) -> dict[str, Any]:
    """A backend with all operators, those that only torch's generator, or only ours, can do left out."""
    taken: set[str] = set()
    forms = {form.func.name: tuple(group.functions()) for group in program.groups for form in group.functions()}
    kernels = [f for f in program.functions if _has_kernel(f, forms.get(f.func.name, (f,))) and _is_new(f, taken)]
    nodes = [f for f in program.functions if _has_same_node(f) and _is_new(f, taken)]
    symint = [f for f in kernels if f.func.has_symint() and not _SYMINT_LIST_OR_NONE.search(str(f.func))]
    return {
        "backend": "Lazy",
        "cpp_namespace": "torch::lazy",
        "full_codegen": [str(f.func.name) for f in kernels],
        "ir_gen": [str(f.func.name) for f in nodes],
        "symint": [str(f.func.name) for f in symint[::2]],
    }


def _has_kernel(function: NativeFunction, forms: Iterable[NativeFunction]) -> bool:
    """Whether both generators make the same kernel: torch's has no forms of what returns or writes anything odd."""
    return (
        function.func.kind() is SchemaKind.functional
        and all(form.func.kind() is not SchemaKind.mutable for form in forms)
        and {str(returned.type) for returned in function.func.returns} == {"Tensor"}
        and "_amp_update_scale" not in str(function.func.name)
        and _has_same_node(function)
    )


def _has_same_node(function: NativeFunction) -> bool:
    schema = str(function.func)
    returns = [str(returned.type) for returned in function.func.returns]
    if "Scalar[]" in schema or "Tensor?[]" in schema or returns == ["Tensor[]"] or not function.func.arguments.flat_all:
        return False
    try:
        LazyIrSchema.derive(function.func, symint=False)
    except UnsupportedTypeError:
        return False
    return True


def _is_new(function: NativeFunction, taken: set[str]) -> bool:
    """Whether no node before has a class of that name."""
    name = LazyIrSchema.derive(function.func, symint=False).node_name
    is_new = name not in taken
    taken.add(name)
    return is_new


# ------------------------------------------------------------------------------------- both sides


@pytest.fixture(scope="module")
def program(torch_source: Path) -> Program:
    """torch's operators."""
    log = Diagnostics()
    read = load_program(torch_source / "native" / "native_functions.yaml", torch_source / "native" / "tags.yaml", log)
    assert read is not None, log.render()
    return read


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory, torch_source: Path, program: Program) -> Path:
    """What torch's generator makes of all cases: a folder for each."""
    root = tmp_path_factory.mktemp("lazy")
    cases = []
    for name, case in CASES.items():
        folder = root / name
        folder.mkdir()
        backend = case.backend or _every_operator(program)
        (folder / "backend.yaml").write_text(yaml.safe_dump(dict(backend), sort_keys=False), encoding="utf-8")
        (folder / SHAPES).write_text("".join(shape_functions(_load(folder, program), program)), encoding="utf-8")
        options = {"shape_inference_hdr": SHAPES, **case.options}
        cases.append({"folder": str(folder), "options": options, "lowerings": case.lowerings})
    (root / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    script = Path(__file__).with_name("lazy_oracle.py")
    done = run_command([sys.executable, str(script), str(root / "cases.json"), str(torch_source)], root)
    assert done.code == 0, done.err
    return root


def _load(folder: Path, program: Program) -> ExternalBackend:
    log = Diagnostics()
    backend = load_backend(folder / "backend.yaml", program, log)
    assert backend is not None, log.render()
    check_lazy(backend, program, log)
    assert not log.has_errors, log.render()
    return backend


def shape_functions(backend: ExternalBackend, program: Program) -> Iterator[str]:
    """The declarations of the functions for shapes that the author of a backend writes."""
    generator = GenLazyShapeInferenceDefinition(backend.index, "")
    wanted = frozenset(backend.full_codegen)
    for function in program.functions:
        if function.func.name in wanted:
            yield from (f"{declaration}\n" for declaration in generator(function))


def _generate(case: Case, torch_source: Path) -> None:
    options = {"shape_inference_hdr": SHAPES, **case.options}
    if not case.by_flags:
        nodes = GenTSLazyIR if case.lowerings else GenLazyIR
        run_gen_lazy_tensor(torch_source, "backend.yaml", "out", False, None, lazy_ir_generator=nodes, **options)
        return
    flags = [word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", value)]
    flags += ["--gen-ts-lowerings"] if case.lowerings else []
    assert main(["-s", "backend.yaml", "-o", "out", "--source-path", str(torch_source), "--quiet", *flags]) == 0


@pytest.mark.parametrize("name", CASES)
def test_writes_what_torchgen_writes(
    name: str, oracle: Path, torch_source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, expected = CASES[name], oracle / name
    assert (expected / "raised").read_text(encoding="utf-8") == ""
    for given in ("backend.yaml", SHAPES):
        (tmp_path / given).write_bytes((expected / given).read_bytes())
    monkeypatch.chdir(tmp_path)
    _generate(case, torch_source)
    if case.backend.get("cpp_namespace", "torch::lazy") != "torch::lazy":
        _forget_using(tmp_path / "out")
    if name == EVERY:
        _compare_pieces(expected / "out", tmp_path / "out")
        return
    report = compare_trees(expected / "out", tmp_path / "out")
    assert report.is_same, report.render()
    assert report.compared >= 5


def _compare_pieces(expected: Path, actual: Path) -> None:
    """Compares the nodes and kernels; registrations of every operator are in test_backend_stubs.py."""
    for name, fewest in (("LazyIr.h", 2500), ("LazyNativeFunctions.cpp", 1300)):
        left = _PIECES.split((expected / name).read_text(encoding="utf-8"))
        right = _PIECES.split((actual / name).read_text(encoding="utf-8"))
        assert len(left) == len(right) > fewest
        for one, other in zip(left, right, strict=True):
            assert tokens_of(one) == tokens_of(other)


def _forget_using(folder: Path) -> None:
    """Takes out what torch's generator leaves to whoever includes the files."""
    for name in ("LazyIr.h", "LazyNonNativeIr.h", "PrivateUse1NativeFunctions.cpp"):
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count(USING) == 1
        (folder / name).write_text(text.replace(USING, ""), encoding="utf-8")


def test_a_header_that_lacks_a_function_is_refused(
    oracle: Path,
    torch_source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    del oracle
    monkeypatch.chdir(tmp_path)
    Path("backend.yaml").write_text(yaml.safe_dump(dict(_SMALL)), encoding="utf-8")
    Path(SHAPES).write_text("// compute_shape_native_dropout(", encoding="utf-8")
    flags = ["-s", "backend.yaml", "-o", "out", "--source-path", str(torch_source), "--shape-inference-hdr", SHAPES]
    assert main(flags) == 1
    assert "doesn't declare 'compute_shape_native_dropout'" in capsys.readouterr().err
    assert not Path("out").exists()
