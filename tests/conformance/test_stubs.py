"""Type stubs: the same overloads as in the stubs that torch ships, as far as those come from the definitions.

torch writes some of its stubs by hand: a few overloads of factories and methods, and the whole of `_nn.pyi`.  For each
function of which the two say something different, the ways in which they do are listed, and nothing else may differ;
where torch's stub is wrong, there is a call that shows it.

    python -m pytest tests/conformance/test_stubs.py -s     shows the figures
"""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Mapping
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
from tests.conformance.stub_comparison import REASONS, WRONG, compare, read_definitions
from tests.unit.tiny_programs import program_of

FILES: Final = (
    ("_VariableFunctions", "_C/_VariableFunctions.pyi", "_C/_VariableFunctions.pyi", None),
    ("_TensorBase", "_C/_TensorBase.pyi", "_C/__init__.pyi", "TensorBase"),
    ("_nn", "_C/_nn.pyi", "_C/_nn.pyi", None),
)
"""A name for each file, ours, torch's, and the class that is compared, if it isn't the whole file."""

_SCALES: Final = "narrower, overloads"
_REDUCTION: Final = "hidden, out, type"

DIFFERENT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "_VariableFunctions._flash_attention_forward_no_dropout_inplace": "type",
        "_VariableFunctions.arange": "left out, narrower",
        "_VariableFunctions.full": "default, narrower, out, unknown",
        "_VariableFunctions.linspace": "left out, narrower, optional",
        "_VariableFunctions.logspace": "left out, narrower, optional",
        "_VariableFunctions.randint": "joined, left out, narrower, out",
        "_VariableFunctions.split_copy": "optional, overloads",
        "_VariableFunctions.split_with_sizes_copy": "optional, overloads",
        "_VariableFunctions.unbind_copy": "optional, overloads",
        "_TensorBase.add": "unknown",
        "_TensorBase.floor_divide": "unknown",
        "_TensorBase.mul": "unknown",
        "_TensorBase.new_ones": "by position, left out, narrower, order",
        "_TensorBase.split": "narrower, vaguer",
        "_TensorBase.sub": "unknown",
        "_TensorBase.true_divide": "unknown",
        "_nn.adaptive_avg_pool2d": "narrower, out",
        "_nn.adaptive_avg_pool3d": "narrower, out",
        "_nn.adaptive_max_pool2d": "out",
        "_nn.adaptive_max_pool3d": "out",
        "_nn.avg_pool2d": "out",
        "_nn.avg_pool3d": "out",
        "_nn.binary_cross_entropy": _REDUCTION,
        "_nn.col2im": "narrower, optional, order, out",
        "_nn.cross_entropy_loss": "hidden, narrower, type",
        "_nn.elu": "narrower, out",
        "_nn.elu_": "hidden, left out, narrower",
        "_nn.fractional_max_pool2d": "name, out",
        "_nn.fractional_max_pool3d": "name, out",
        "_nn.gelu": "by position, hidden, out",
        "_nn.glu": "out",
        "_nn.hardswish": "out",
        "_nn.hardtanh": "hidden, narrower",
        "_nn.hardtanh_": "hidden, narrower",
        "_nn.huber_loss": _REDUCTION,
        "_nn.im2col": "out",
        "_nn.l1_loss": "hidden, type",
        "_nn.leaky_relu": "hidden, narrower",
        "_nn.leaky_relu_": "hidden, narrower",
        "_nn.linear": "out",
        "_nn.log_sigmoid": "out",
        "_nn.max_pool2d_with_indices": "out",
        "_nn.max_pool3d_with_indices": "out",
        "_nn.max_unpool2d": "out, type",
        "_nn.max_unpool3d": "out, type",
        "_nn.mish": "out",
        "_nn.mse_loss": _REDUCTION,
        "_nn.multi_margin_loss": "hidden, narrower, out, type",
        "_nn.multilabel_margin_loss": _REDUCTION,
        "_nn.nll_loss_nd": "hidden, narrower, type",
        "_nn.one_hot": "hidden, name",
        "_nn.pad": "hidden, narrower",
        "_nn.scaled_dot_product_attention": "by position",
        "_nn.silu": "out",
        "_nn.smooth_l1_loss": _REDUCTION,
        "_nn.soft_margin_loss": _REDUCTION,
        "_nn.softplus": "hidden, narrower, out",
        "_nn.softshrink": "hidden, narrower, out",
        "_nn.mkldnn_linear": "left out",
        "_nn.mkldnn_reorder_conv2d_weight": "left out, name, narrower",
        "_nn.mkldnn_reorder_conv3d_weight": "left out, name, narrower",
        "_nn.pad_sequence": "narrower",
        "_nn.upsample_nearest1d": _SCALES,
        "_nn.upsample_nearest2d": _SCALES,
        "_nn.upsample_nearest3d": _SCALES,
        "_nn._upsample_nearest_exact1d": _SCALES,
        "_nn._upsample_nearest_exact2d": _SCALES,
        "_nn._upsample_nearest_exact3d": _SCALES,
        "_nn.upsample_linear1d": _SCALES,
        "_nn._upsample_bilinear2d_aa": _SCALES,
        "_nn.upsample_bilinear2d": _SCALES,
        "_nn.upsample_trilinear3d": _SCALES,
        "_nn._upsample_bicubic2d_aa": _SCALES,
        "_nn._upsample_lanczos2d_aa": _SCALES,
        "_nn.upsample_bicubic2d": _SCALES,
        "_nn.flatten_dense_tensors": "narrower",
        "_nn.unflatten_dense_tensors": "narrower, returns",
    }
)
"""In what ways torch's stubs differ from ours, function by function; `REASONS` says what each means."""

SHOWN_WRONG: Final[Mapping[str, str]] = MappingProxyType(
    {
        "_VariableFunctions._flash_attention_forward_no_dropout_inplace": (
            "torch._flash_attention_forward_no_dropout_inplace(None, x, x, x, None, None, 1, 1, 0.0, False, False)"
        ),
        "_VariableFunctions.full": "torch.full((2,), 1, names=['a'])",
        "_VariableFunctions.linspace": "torch.linspace(0, 1)",
        "_VariableFunctions.logspace": "torch.logspace(0, 1)",
        "_VariableFunctions.split_copy": "type(torch.split_copy(x, 2)) is tuple",
        "_VariableFunctions.split_with_sizes_copy": "type(torch.split_with_sizes_copy(x, [1])) is tuple",
        "_VariableFunctions.unbind_copy": "type(torch.unbind_copy(x)) is tuple",
        "_TensorBase.add": "x.add(1, out=x)",
        "_TensorBase.floor_divide": "x.floor_divide(1, out=x)",
        "_TensorBase.mul": "x.mul(1, out=x)",
        "_TensorBase.new_ones": "x.new_ones((2,), torch.float32)",
        "_TensorBase.sub": "x.sub(1, out=x)",
        "_TensorBase.true_divide": "x.true_divide(1, out=x)",
        "_nn.binary_cross_entropy": "nn.binary_cross_entropy(x, x, reduction='mean')",
        "_nn.col2im": "nn.col2im(x[0], (4, 4), (2, 2), (1, 1))",
        "_nn.cross_entropy_loss": "nn.cross_entropy_loss(x, x, reduction='mean')",
        "_nn.fractional_max_pool2d": "nn.fractional_max_pool2d(x, 2, 2, _random_samples=x)",
        "_nn.fractional_max_pool3d": "nn.fractional_max_pool3d(x, 2, 2, _random_samples=x)",
        "_nn.gelu": "nn.gelu(x, 'tanh')",
        "_nn.huber_loss": "nn.huber_loss(x, x, reduction='mean')",
        "_nn.l1_loss": "nn.l1_loss(x, x, reduction='mean')",
        "_nn.max_unpool2d": "nn.max_unpool2d(x, x.long(), None)",
        "_nn.max_unpool3d": "nn.max_unpool3d(x, x.long(), None, 1, 0)",
        "_nn.mse_loss": "nn.mse_loss(x, x, reduction='mean')",
        "_nn.multi_margin_loss": "nn.multi_margin_loss(x, x, reduction='mean')",
        "_nn.multilabel_margin_loss": "nn.multilabel_margin_loss(x, x, reduction='mean')",
        "_nn.nll_loss_nd": "nn.nll_loss_nd(x, x, reduction='mean')",
        "_nn.one_hot": "nn.one_hot(tensor=x.long())",
        "_nn.scaled_dot_product_attention": "nn.scaled_dot_product_attention(x, x, x, None, 0.0, False, 1.0)",
        "_nn.smooth_l1_loss": "nn.smooth_l1_loss(x, x, reduction='mean')",
        "_nn.soft_margin_loss": "nn.soft_margin_loss(x, x, reduction='mean')",
        "_nn.mkldnn_reorder_conv2d_weight": (
            "nn.mkldnn_reorder_conv2d_weight(self=x, padding=[0], stride=[1], dilatation=[1], groups=1)"
        ),
        "_nn.mkldnn_reorder_conv3d_weight": (
            "nn.mkldnn_reorder_conv3d_weight(self=x, padding=[0], stride=[1], dilatation=[1], groups=1)"
        ),
        "_nn.unflatten_dense_tensors": "type(nn.unflatten_dense_tensors(x[0, 0, 0], [x[0, 0, 0]])) is tuple",
    }
)
"""Of each function of which torch's stub is wrong: a call that only the stub allows, or what is true of the result."""


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


@pytest.mark.parametrize(("name", "our_file", "their_file", "of_class"), FILES, ids=[file[0] for file in FILES])
def test_functions_and_methods(
    name: str, our_file: str, their_file: str, of_class: str | None, stubs: Mapping[str, str], torch_folder: Path
) -> None:
    ours = read_definitions(stubs[our_file], of_class)
    theirs = read_definitions((torch_folder / their_file).read_text(encoding="utf-8"), of_class)
    common = [function for function in theirs if function in ours]
    ways = {f"{name}.{function}": compare(ours[function], theirs[function]) for function in common}
    differing = {function: ", ".join(sorted(found)) for function, found in ways.items() if found}
    print(
        f"\n{name}: {len(common) - len(differing)} of {len(common)} functions in both are the same; "
        f"of {sum(bool(found & WRONG) for found in ways.values())} torch's stub is wrong; "
        f"{len(ours) - len(common)} are only ours"
    )
    assert differing == {function: way for function, way in DIFFERENT.items() if function.startswith(f"{name}.")}


def test_differences_are_explained() -> None:
    ways = {function: set(way.split(", ")) for function, way in DIFFERENT.items()}
    assert set().union(*ways.values()) == set(REASONS)
    assert [function for function, found in ways.items() if found & WRONG] == list(SHOWN_WRONG)


def test_torchs_stubs_are_wrong_where_it_is_said(tmp_path: Path) -> None:
    """By calls of the installed torch, in a process of their own."""
    script = f"""
import torch
x, nn = torch.rand(1, 1, 4, 4), torch._C._nn
for function, call in {dict(SHOWN_WRONG)!r}.items():
    try:
        if eval(call) is not True:
            print(function, "takes", call)
    except TypeError:
        pass
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_named_tuples(stubs: Mapping[str, str], torch_folder: Path) -> None:
    ours = _classes(stubs["return_types.pyi"])
    theirs = _classes((torch_folder / "return_types.pyi").read_text(encoding="utf-8"))
    print(f"\nreturn_types: {len(theirs)} of {len(theirs)} the same; {len(ours) - len(theirs)} are only ours")
    assert {name: ours.get(name) for name in theirs} == theirs


def _classes(text: str) -> dict[str, str]:
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    return {node.name: ast.unparse(node) for node in nodes}


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
    e: Tensor = _nn.avg_pool2d(t, 2, None)
    _nn.gelu(t, "tanh")  # type: ignore[call-arg]

def either(t: TensorBase, other: Tensor | int) -> Tensor:
    return t & other

def methods(t: TensorBase) -> None:
    a: Tensor = t.view(2, 3)
    b: Tensor = t.view((2, 3))
    c: Tensor = t.view(torch.int32)
    d: return_types.max = t.max(0)
    e: Sequence[Tensor] = t.unbind()
    f: Tensor = t.add(1)
    g: bool = t.is_complex()
    h: Tensor = t.new_zeros(2, 3)
    i: Tensor = (t & f) | (t ^ 1)
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
