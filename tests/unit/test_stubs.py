"""Type stubs: the same overloads as in the stubs that torch ships, as far as those come from the definitions.

torch writes some of its stubs by hand: operators on numbers, old spellings of factories, and the whole of `_nn.pyi`.
What differs for that reason is listed below, name by name, and nothing else may differ.

    python -m pytest tests/unit/test_stubs.py -s     shows the figures
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest
from expecttest import assert_expected_inline

from opgen.api.python_overloads import load_signatures
from opgen.api.python_stubs import stub_function, stub_function_vararg
from opgen.diagnostics import Diagnostics
from opgen.gen_pyi import generate
from opgen.gen_python import load_python
from tests.unit.tiny_programs import program_of

Overloads = Mapping[str, Sequence[str]]

BY_HAND: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("arange", "full", "linspace", "logspace", "randint", "new_ones"),
            "torch adds overloads by hand, with old spellings; all of ours are there",
        ),
        **dict.fromkeys(
            [f"__{i}{name}__" for i in ("", "i") for name in ("and", "lshift", "or", "rshift", "xor")],
            "torch adds 'other: Tensor | _int' by hand; all of ours are there",
        ),
    }
)
"""Names for which torch has all our overloads, and more."""

DIFFERENT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "_VariableFunctions._flash_attention_forward_no_dropout_inplace": "torch takes every 'out' for optional",
        "_VariableFunctions.split_copy": "torch says that None is returned, which only holds if 'out' is given",
        "_VariableFunctions.split_with_sizes_copy": "as split_copy",
        "_VariableFunctions.unbind_copy": "as split_copy",
        "_TensorBase.add": "torch gives the method an 'out', which it doesn't take",
        "_TensorBase.sub": "as add",
        "_TensorBase.mul": "as add",
        "_TensorBase.floor_divide": "as add",
        "_TensorBase.true_divide": "as add",
        "_TensorBase.split": "torch has it by hand: the method is overridden in Python",
    }
)
"""What differs otherwise, and why."""

NN_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fractional_max_pool2d": "torch writes _random_samples, which the function doesn't take",
        "fractional_max_pool3d": "as fractional_max_pool2d",
        "one_hot": "torch writes tensor where the function takes input",
        "mkldnn_reorder_conv2d_weight": "torch writes self and dilatation where the function takes input and dilation",
        "mkldnn_reorder_conv3d_weight": "as mkldnn_reorder_conv2d_weight",
    }
)
"""Functions of `_nn.pyi`, which torch writes by hand, in which even the names of parameters differ."""


@pytest.fixture(scope="module")
def stubs(torch_source: Path) -> Mapping[str, str]:
    """Our stub files by path, for torch's definitions."""
    native, log = torch_source / "native", Diagnostics()
    deprecated = torch_source.parent / "autograd" / "deprecated.yaml"
    program = load_python(native / "native_functions.yaml", native / "tags.yaml", deprecated, log)
    assert program is not None, log.render()
    return {file.path: file.text for file in generate(program)}


@pytest.fixture(scope="module")
def torch_folder() -> Path:
    """Where torch is installed, with its stubs."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def _overloads(text: str, of_class: str | None = None) -> dict[str, list[str]]:
    """The overloads of each function: names, kinds, defaults and types of parameters, and what is returned."""
    body: Iterable[ast.stmt] = ast.parse(text).body
    if of_class is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == of_class)
    found: dict[str, list[str]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            returns = ast.unparse(node.returns) if node.returns is not None else ""
            found.setdefault(node.name, []).append(f"({ast.unparse(node.args)}) -> {returns}")
    return {name: sorted(overloads) for name, overloads in found.items()}


def _compare(where: str, ours: Overloads, theirs: Overloads) -> None:
    common = [name for name in theirs if name in ours]
    same = [name for name in common if ours[name] == theirs[name]]
    more = [name for name in common if name in BY_HAND and set(ours[name]) < set(theirs[name])]
    excepted = [name for name in common if f"{where}.{name}" in DIFFERENT]
    print(
        f"\n{where}: {len(same)} of {len(common)} names in both are the same ({len(same) / len(common):.1%}); "
        f"for {len(more)} torch has more by hand, {len(excepted)} are listed; {len(ours) - len(common)} are only ours"
    )
    differing = [name for name in common if name not in (*same, *more, *excepted)]
    assert {name: (theirs[name], ours[name]) for name in differing} == {}
    assert all(ours[name] != theirs[name] for name in excepted), "no exception any more"


def test_functions(stubs: Mapping[str, str], torch_folder: Path) -> None:
    theirs = (torch_folder / "_C" / "_VariableFunctions.pyi").read_text(encoding="utf-8")
    _compare("_VariableFunctions", _overloads(stubs["_C/_VariableFunctions.pyi"]), _overloads(theirs))


def test_methods(stubs: Mapping[str, str], torch_folder: Path) -> None:
    theirs = (torch_folder / "_C" / "__init__.pyi").read_text(encoding="utf-8")
    ours = _overloads(stubs["_C/_TensorBase.pyi"], "TensorBase")
    _compare("_TensorBase", ours, _overloads(theirs, "TensorBase"))


def test_named_tuples(stubs: Mapping[str, str], torch_folder: Path) -> None:
    ours = _classes(stubs["return_types.pyi"])
    theirs = _classes((torch_folder / "return_types.pyi").read_text(encoding="utf-8"))
    print(f"\nreturn_types: {len(theirs)} of {len(theirs)} the same; {len(ours) - len(theirs)} are only ours")
    assert {name: ours.get(name) for name in theirs} == theirs


def _classes(text: str) -> dict[str, str]:
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    return {node.name: ast.unparse(node) for node in nodes}


def test_nn(stubs: Mapping[str, str], torch_folder: Path) -> None:
    """torch writes this file by hand, and in other types: every parameter that it names, ours has too."""
    ours = _parameters(stubs["_C/_nn.pyi"])
    theirs = _parameters((torch_folder / "_C" / "_nn.pyi").read_text(encoding="utf-8"))
    common = [name for name in theirs if name in ours and name not in NN_NAMES]
    lacking = {name: theirs[name] - ours[name] for name in common if not theirs[name] <= ours[name]}
    assert lacking == {}
    print(
        f"\n_nn: all names of {len(common)} functions; {len(NN_NAMES)} are listed, {len(ours) - len(common)} only ours"
    )
    assert len(common) > 55


def _parameters(text: str) -> dict[str, set[str]]:
    """The names of the parameters of each function, over all of its overloads."""
    found: dict[str, set[str]] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            named = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            found.setdefault(node.name, set()).update(argument.arg for argument in named)
    return found


CALLS: Final = """
from collections.abc import Sequence

import torch
from generated._C import _fft, _linalg, _nn, return_types
from generated._C._TensorBase import TensorBase
from generated._C._VariableFunctions import add, addmm, empty, max, randint, split_copy, stft, sum, zeros
from torch import Tensor

def functions(t: Tensor) -> None:
    a: Tensor = add(t, 2, alpha=0.5)
    b: Tensor = add(1j, t, out=a)
    c: Tensor = addmm(1, t, t, t)
    d: return_types.max = max(t, 0, keepdim=True)
    e: Tensor = max(t, a)
    f: Tensor = d.values + d[0]
    g: Tensor = zeros(2, 3, dtype=torch.float, device="cuda")
    h: Tensor = zeros((2, 3), requires_grad=True)
    i: tuple[Tensor, ...] = split_copy(t, 2)
    j: None = split_copy(t, 2, out=[a, b])
    k: Tensor = sum(t, 0)
    l: Tensor = sum(t, (0, 1), dtype=torch.int64)
    m: Tensor = empty(t.shape, memory_format=torch.channels_last)
    n: Tensor = stft(t, 4, window=None, return_complex=True)
    add(t, "x")  # type: ignore[call-overload]
    max(t, dim="x")  # type: ignore[call-overload]
    randint(0, 3, 4)  # type: ignore[call-overload]

def modules(t: Tensor) -> None:
    a: Tensor = _nn.gelu(t, approximate="tanh")
    b: Tensor = _fft.fft_fft2(t, dim=(-2, -1), norm="ortho")
    c: return_types.linalg_eigh = _linalg.linalg_eigh(t, "U")
    d: Tensor = c.eigenvalues
    _nn.gelu(t, "tanh")  # type: ignore[call-arg]

def methods(t: TensorBase) -> None:
    a: Tensor = t.view(2, 3)
    b: Tensor = t.view((2, 3))
    c: Tensor = t.view(torch.int32)
    d: return_types.max = t.max(0)
    e: Sequence[Tensor] = t.unbind()
    f: Tensor = t.add(1)
    g: bool = t.is_complex()
    h: Tensor = t.new_zeros(2, 3)
    t.add(1, out=f)  # type: ignore[call-arg]
    t.permute("x")  # type: ignore[call-overload]
"""


def test_a_type_checker_takes_the_stubs_and_calls_of_them(
    stubs: Mapping[str, str], tmp_path: Path, type_check: Callable[..., tuple[int, str]]
) -> None:
    """The stubs in a package of their own, so that torch's don't come in between."""
    for path, text in stubs.items():
        target = tmp_path / "generated" / "_C" / Path(path).name
        target.parent.mkdir(parents=True, exist_ok=True)
        own = text.replace("torch.return_types.", "return_types.").replace(
            "import torch\n", "import torch\nfrom . import return_types\n", 1
        )
        target.write_text(text if target.name == "return_types.pyi" else own, encoding="utf-8")
    for package in ("generated", "generated/_C"):
        (tmp_path / package / "__init__.pyi").write_text("", encoding="utf-8")
    (tmp_path / "calls.py").write_text(CALLS, encoding="utf-8")
    assert type_check(tmp_path, "generated", "calls.py") == (0, "")


# ----------------------------------------------------------------------------------- to read


def _stubs_of(definitions: str, *, method: bool = False) -> str:
    pairs = load_signatures(program_of(definitions).functions, (), method=method)
    stubs = (stub for p in pairs for stub in (stub_function(p.signature), stub_function_vararg(p.signature)) if stub)
    return "\n".join(stub.render() for stub in stubs)


def test_what_may_be_given_for_each_type() -> None:
    definitions = """
- func: f(Tensor self, int[2] a=1, SymInt[] b=[], Tensor[]? c=None, Scalar d=1e-3, str e="x") -> Tensor
- func: g(Tensor? self, Tensor?[] a, int from, Device at, *, float[]? lambda=None) -> (Tensor a, int b)
- func: h(Tensor self, MemoryFormat m=contiguous_format) -> int[]
"""
    assert_expected_inline(
        _stubs_of(definitions),
        """\
def f(
    input: Tensor,
    a: _int | _size = 1,
    b: Sequence[_int | SymInt] = (),
    c: tuple[Tensor, ...] | list[Tensor] | None = None,
    d: Number | _complex = 0.001,
    e: str = "x",
) -> Tensor: ...
def g(
    self: Tensor | None,
    a: tuple[Tensor | None, ...] | list[Tensor | None] | None,
    from_: _int,
    at: DeviceLikeType | None,
    *,
    lambda_: Sequence[_float] | None = None,
) -> torch.return_types.g: ...
def h(input: Tensor, m: memory_format = contiguous_format) -> tuple[_int, ...]: ...""",
    )


def test_elements_may_be_given_one_by_one() -> None:
    definitions = "- func: turn(Tensor self, int[] dims) -> Tensor[]\n  variants: method\n"
    assert_expected_inline(
        _stubs_of(definitions, method=True),
        """\
def turn(self, dims: _size) -> tuple[Tensor, ...]: ...
def turn(self, *dims: _int) -> tuple[Tensor, ...]: ...""",
    )
