"""Every key of every YAML file that opgen reads changes what is written, or is reported.

Each key has a file without it and one with it. The commands that read the file run on both, in memory. Keys of entries
of native_functions.yaml, and dispatch keys, are in `test_nothing_lost.py`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest

from opgen.api.lazy import PROPERTY_SETS
from opgen.desk.json_schema import KINDS, json_schema
from opgen.diagnostics import Diagnostics, UserError
from opgen.frontend import deprecated, fallback_ops
from opgen.frontend.derivative_entries import AUTOGRAD_KEYS
from opgen.mlx import FILE_NAME
from opgen.output.emitter import collect_files
from opgen.output.writer import PlacedFile
from opgen.run.command import Command, Result
from opgen.run.work import Work
from tests.docs.keys import below

OPERATORS: Final = """\
- func: NS::scale(Tensor self, Scalar by=1) -> Tensor
  dispatch: {CPU: scale, Meta: scale_meta}
- func: NS::scale.Tensor(Tensor self, Tensor by) -> Tensor
  dispatch: {CPU: scale_by}
  tags: core
- func: NS::both(Tensor self) -> (Tensor, Tensor)
  dispatch: {CPU: both}
- func: NS::grow(Tensor self, SymInt n) -> Tensor
  dispatch: {CPU: grow}
- func: NS::grow_(Tensor(a!) self, SymInt n) -> Tensor(a!)
  dispatch: {CPU: grow_}
- func: NS::grow.out(Tensor self, SymInt n, *, Tensor(a!) out) -> Tensor(a!)
  dispatch: {CPU: grow_out}
"""
SHAPES: Final = "TORCH_API std::vector<torch::lazy::Shape> compute_shape_both(const at::Tensor & self);\n"

Pair = tuple[str, str]
"""A file without a key, and with it."""


def added(text: str, lines: str) -> Pair:
    return text, f"{text}{lines}"


ENTRY: Final = "- name: scale(Tensor self, Scalar by=1) -> Tensor\n  self: grad * by\n"
TWO: Final = "- name: both(Tensor self) -> (Tensor, Tensor)\n  self: grads[0] + grads[1]\n"
DERIVATIVES: Final = MappingProxyType(
    {
        "name": added(ENTRY, TWO),
        "dispatch": added(
            "- name: scale(Tensor self, Scalar by=1) -> Tensor\n",
            "  dispatch:\n    Default:\n      self: grad * by\n    AutogradCUDA:\n      self: grad * by * 1\n",
        ),
        "output_differentiability": (
            TWO.replace(" + grads[1]", ""),
            f"{TWO.replace(' + grads[1]', '')}  output_differentiability: [True, False]\n",
        ),
        "handles_complex": added(ENTRY, "  handles_complex: True\n"),
        "an argument": added("- name: scale(Tensor self, Scalar by=1) -> Tensor\n", "  self: grad * by\n"),
        "a result": added(ENTRY, "  result: auto_linear\n"),
    }
)
TAG: Final = "- tag: core\n  desc: basic\n"
TAGS: Final = MappingProxyType(
    {"tag": added(TAG, "- tag: mine\n  desc: own\n"), "desc": (TAG, TAG.replace("basic", "elementary"))}
)
XLA: Final = "backend: XLA\ncpp_namespace: my\nsupported: [grow]\n"
NODE: Final = f"{XLA}non_native:\n- func: cast(Tensor input) -> Tensor\n"
BACKEND: Final = MappingProxyType(
    {
        "backend": (XLA, XLA.replace("XLA", "Lazy")),
        "cpp_namespace": (XLA, XLA.replace("my", "your")),
        "class_name": added(XLA, "class_name: Mine\n"),
        "extra_headers": added(XLA, "extra_headers: '#include <a.h>'\n"),
        "use_out_as_primary": added(XLA, "use_out_as_primary: True\n"),
        "device_guard": added(XLA, "device_guard: True\n"),
        "supported": (XLA, XLA.replace("[grow]", "[grow, scale.Tensor]")),
        "autograd": added(XLA, "autograd: [scale.Tensor]\n"),
        "symint": added(XLA, "symint: [grow]\n"),
        "full_codegen": added(XLA, "full_codegen: [both]\n"),
        "ir_gen": added(XLA, "ir_gen: [both]\n"),
        "non_native": (XLA, NODE),
        "non_native[].func": (NODE, NODE.replace("cast", "convert")),
        "non_native[].opkind": added(NODE, "  opkind: at::prim::Constant\n"),
        "non_native[].properties": added(NODE, "  properties: [ShapeCompute]\n"),
    }
)
SELECTED: Final = "operators:\n  aten::scale:\n    include_all_overloads: False\n"
SELECTION: Final = MappingProxyType(
    {
        "include_all_operators": added(SELECTED, "include_all_operators: True\n"),
        "include_all_non_op_selectives": added(SELECTED, "include_all_non_op_selectives: True\n"),
        "debug_info": added(SELECTED, "debug_info: [model.pt]\n"),
        "operators": added("debug_info: [x]\n", SELECTED),
        "operators.NAME.is_root_operator": added(SELECTED, "    is_root_operator: False\n"),
        "operators.NAME.is_used_for_training": added(SELECTED, "    is_used_for_training: False\n"),
        "operators.NAME.include_all_overloads": (SELECTED, SELECTED.replace("False", "True")),
        "operators.NAME.debug_info": added(SELECTED, "    debug_info: [model.pt]\n"),
        "kernel_metadata": added(SELECTED, "kernel_metadata: {scale: [float]}\n"),
        "et_kernel_metadata": added(SELECTED, "et_kernel_metadata: {aten::scale: [v1/6;0,1]}\n"),
        "custom_classes": added(SELECTED, "custom_classes: [Mine]\n"),
        "build_features": added(SELECTED, "build_features: [TRACING]\n"),
    }
)
ARRAY: Final = "- name: twice\n  signature: array twice(const array& x)\n"
COMPOSITE: Final = f"{ARRAY}  composite: x + x\n"
TWICE: Final = "- name: twice\n  cpp_signature: array (array, int)\n  composite: x + n\n  python_signature: "
KERNELS: Final = f"{ARRAY}  dispatch: {{cpu: twice_cpu}}\n"
SHAPED: Final = f"{KERNELS}  shape: same\n"
MLX: Final = MappingProxyType(
    {
        "name": (COMPOSITE, COMPOSITE.replace("twice", "double_it")),
        "signature": (COMPOSITE, COMPOSITE.replace("& x", "& x, int n = 1")),
        "cpp_signature": (
            COMPOSITE,
            "- name: twice\n  cpp_signature: array (array)\n  python_signature: twice(y)\n  composite: y + y\n",
        ),
        "python_signature": (f"{TWICE}twice(x, n)\n", f"{TWICE}twice(x, n=1)\n"),
        "dispatch": (f"{ARRAY}", f"{SHAPED}"),
        "composite": (ARRAY, COMPOSITE),
        "python_name": added(COMPOSITE, "  python_name: double_it\n"),
        "grad": added(SHAPED, "  grad: {x: 2 * cotangent}\n"),
        "doc": added(COMPOSITE, "  doc: Doubles.\n"),
        "pointwise": (SHAPED, f"{KERNELS}  pointwise: True\n"),
        "shape": (SHAPED, f"{KERNELS}  shape: scalar\n"),
        "dtypes": added(SHAPED, "  dtypes: integer\n"),
        "input_dtypes": added(f"{SHAPED}  result_dtype: float32\n", "  input_dtypes: {x: float32}\n"),
        "result_dtype": added(SHAPED, "  result_dtype: bool_\n"),
        "vmap": added(SHAPED, "  vmap: none\n"),
    }
)
OLD: Final = "- name: scale(Scalar by, Tensor self) -> Tensor\n  aten: scale(self, by)\n"
DEPRECATED: Final = MappingProxyType(
    {"name": (OLD, OLD.replace("by, Tensor self", "by, *, Tensor self")), "aten": (OLD, OLD.replace(", by)", ", 2)"))}
)
SHIM: Final = "per_device:\n- op: scale\n"
SHIMS: Final = MappingProxyType(
    {
        "any_device": added(SHIM, "any_device: [both]\n"),
        "per_device": (SHIM, f"{SHIM}- op: both\n"),
        "op": (SHIM, SHIM.replace("scale", "both")),
        "since": added(SHIM, "  since: 2.12\n"),
        "null_results": added(SHIM, "  null_results: True\n"),
        "later_arguments": added(SHIM, "  later_arguments:\n  - since: 2.13\n    arguments: by\n"),
        "later_arguments[].since": (
            f"{SHIM}  later_arguments:\n  - since: 2.13\n    arguments: by\n",
            f"{SHIM}  later_arguments:\n  - since: 2.12\n    arguments: by\n",
        ),
        "later_arguments[].arguments": (
            f"{SHIM}  later_arguments:\n  - since: 2.13\n    arguments: by\n",
            f"{SHIM}  later_arguments:\n  - since: 2.13\n    arguments: self, by\n",
        ),
    }
)

FILES: Final[Mapping[str, tuple[Mapping[str, Pair], str, tuple[str, ...]]]] = MappingProxyType(
    {
        "derivatives": (
            DERIVATIVES,
            "autograd/derivatives.yaml",
            ("gen_autograd aten/native/native_functions.yaml aten/native/tags.yaml out autograd", "gen -s extension"),
        ),
        "tags": (TAGS, "aten/native/tags.yaml", ("schema native_functions --source-path aten", "gen -s aten")),
        "backend": (
            BACKEND,
            "backend.yaml",
            (
                "gen_backend_stubs -s backend.yaml -o out --source-path aten",
                "gen_lazy_tensor -s backend.yaml -o out --source-path aten --shape-inference-hdr shapes.h",
            ),
        ),
        "selection": (
            SELECTION,
            "selection.yaml",
            (
                "gen -s aten --op-selection-yaml-path selection.yaml",
                "gen_autograd aten/native/native_functions.yaml aten/native/tags.yaml out autograd "
                "--op-selection-yaml-path selection.yaml",
                "select header --source-path aten selection.yaml -d out",
                "gen_unboxing -s aten -d out --op-selection-yaml-path selection.yaml",
            ),
        ),
        "mlx": (MLX, f"mlx/{FILE_NAME}", ("gen_mlx --source-path mlx --install-dir out --namespace mine",)),
        "deprecated": (
            DEPRECATED,
            "autograd/deprecated.yaml",
            ("gen_python aten/native/native_functions.yaml aten/native/tags.yaml out autograd",),
        ),
        "shims": (
            SHIMS,
            "shims.yaml",
            ("gen -s aten --aoti-install-dir out --update-aoti-c-shim --aoti-fallback-ops shims.yaml",),
        ),
    }
)
"""For each kind its keys, where the file is, and the commands that read it."""
ANY_OF: Final = ("selection", "tags")
"""The kinds of which each command uses some keys; of the others each command heeds all."""
MERGE: Final = "select merge --source-path aten selection.yaml -o out/merged.yaml"
FOR_OTHERS: Final = frozenset(
    ("selection", key) for key in ("debug_info", "operators.NAME.debug_info", "et_kernel_metadata")
)
"""Keys that people and ExecuTorch read: opgen keeps them when it joins selections."""
PROBES: Final = [(kind, key) for kind, (keys, _, _) in FILES.items() for key in keys]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, namespace in (("aten", ""), ("extension", "mine::")):
        (tmp_path / name / "native").mkdir(parents=True)
        (tmp_path / name / "native/native_functions.yaml").write_text(OPERATORS.replace("NS::", namespace))
        (tmp_path / name / "native/tags.yaml").write_text(TAG)
    (tmp_path / "mlx").mkdir()
    (tmp_path / "autograd").mkdir()
    (tmp_path / "autograd/derivatives.yaml").write_text(ENTRY)
    (tmp_path / "autograd/deprecated.yaml").write_text("[]\n")
    (tmp_path / "extension/autograd").symlink_to(tmp_path / "autograd")
    (tmp_path / "shapes.h").write_text(SHAPES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcome(line: str) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The files that a command would write, and what it reports."""
    name, *words = line.split()
    command: Command = importlib.import_module(f"opgen.commands.{name}").COMMAND
    log = Diagnostics()
    files: Mapping[str, str] = {}
    try:
        work = command.load(command.build_parser().parse_args(words), log)
        if isinstance(work, Work) and not log.has_errors:
            made = list(collect_files(work.emitters))
            texts = {file.path: _code(file.path, file.text) for file in made}
            paths = [str(work.roots[file.root] / file.path) for file in made]
            placed = [PlacedFile(p, f.root, f.path, f.group, "", None, False) for p, f in zip(paths, made, strict=True)]
            files = {**texts, **{str(path): text for path, text in work.lists(placed)}}
        if isinstance(work, Result):
            files = {"stdout": work.text}
    except UserError as problem:
        log.extend(problem.diagnostics)
    return files, tuple(f"{each.id}: {each.message}" for each in log.all)


def _code(path: str, text: str) -> str:
    """What a file says, without its comments on where it comes from; tags are described in comments."""
    if path.endswith("enum_tag.h"):
        return text
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(("//", "#line")))


def keys_of(kind: str) -> Iterator[str]:
    schema = json_schema(kind)
    yield from _keys(schema.get("items", schema), "")


def _keys(mapping: dict[str, Any], prefix: str) -> Iterator[str]:
    for key, value in mapping["properties"].items():
        yield f"{prefix}{key}"
        for inner, between in below(value):
            yield from _keys(inner, f"{prefix}{key}{between}")


def test_every_key_is_probed() -> None:
    assert set(KINDS) - {"native_functions"} <= FILES.keys()
    for kind in set(KINDS) - {"native_functions"}:
        extra = {"an argument", "a result"} if kind == "derivatives" else set()
        assert FILES[kind][0].keys() - extra == set(keys_of(kind))
    assert DEPRECATED.keys() == deprecated.TABLE.fields.keys()
    tables = (fallback_ops.TABLE, fallback_ops.ENTRY_TABLE)
    later = {f"later_arguments[].{key}" for key in fallback_ops.LATER_TABLE.fields}
    assert SHIMS.keys() == {key for table in tables for key in table.fields} | later


@pytest.mark.parametrize(("kind", "key"), PROBES)
def test_a_key_says_something(folder: Path, kind: str, key: str) -> None:
    keys, path, lines = FILES[kind]
    differ = []
    for line in (MERGE,) if (kind, key) in FOR_OTHERS else lines:
        outcomes = []
        for text in keys[key]:
            (folder / path).write_text(text)
            outcomes.append(outcome(line))
        assert outcomes[1][0] or outcomes[1][1], "nothing came of it"
        is_idle = any(message.startswith("key-without-effect") for message in outcomes[1][1])
        differ.append(is_idle or outcomes[0] != outcomes[1])
    decide: Callable[[list[bool]], bool] = any if kind in ANY_OF else all
    assert decide(differ), f"'{key}' has no effect, and nothing is said of it: {dict(zip(lines, differ, strict=True))}"


@pytest.mark.parametrize("key", ["Default", *AUTOGRAD_KEYS])
def test_a_dispatch_key_of_derivatives_says_something(folder: Path, key: str) -> None:
    text = f"- name: scale(Tensor self, Scalar by=1) -> Tensor\n  dispatch:\n    {key}:\n      self: grad * by * 17\n"
    _, path, lines = FILES["derivatives"]
    (folder / path).write_text(text)
    for line in lines:
        files, reported = outcome(line)
        assert any("* 17" in each for each in files.values()) or reported, line


@pytest.mark.parametrize("lowerings", ["", " --gen-ts-lowerings"])
@pytest.mark.parametrize("word", [word for words in PROPERTY_SETS for word in words])
def test_a_property_of_a_node_says_something(folder: Path, word: str, lowerings: str) -> None:
    """Each makes another class than one that excludes it, or than none."""
    line = f"{FILES['backend'][2][1]}{lowerings}"
    others = [each for words in PROPERTY_SETS if word in words for each in words if each != word] or [""]
    outcomes = []
    for properties in (word, others[0]):
        text = f"{NODE.replace('Tensor input', 'Scalar x')}  properties: [{properties}]\n"
        (folder / "backend.yaml").write_text(text)
        outcomes.append(outcome(line))
    assert outcomes[0][0]
    assert outcomes[0][0] != outcomes[1][0] or any("key-without-effect" in message for message in outcomes[0][1])
