"""Whatever an entry says has an effect or is reported, for every key of the language and every dispatch key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from opgen.commands._gen_flags import parse_request
from opgen.commands.gen import load_generation
from opgen.diagnostics import Diagnostics, UserError
from opgen.dispatch_keys import DispatchKey
from opgen.frontend.entry_fields import TABLE
from opgen.model import UfuncKey
from opgen.output.emitter import collect_files
from opgen.releases.known import newest_release

PLAIN: Final = "- func: {ns}probe(Tensor self, int n=1) -> Tensor\n  dispatch:\n    CPU: probe_cpu\n"
WRITES: Final = (
    "- func: {ns}probe_(Tensor(a!) self, int n=1) -> Tensor(a!)\n"
    "  dispatch:\n    CPU: probe_cpu_\n  autogen: probe, probe.out\n"
)
SOUNDS_RANDOM: Final = "- func: {ns}my_rand(Tensor self) -> Tensor\n  dispatch:\n    CPU: probe_cpu\n"
DELEGATE: Final = "- func: {ns}probe(Tensor self, Tensor other) -> Tensor\n  structured_delegate: probe.out\n"
OUT: Final = "- func: {ns}probe.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
KERNEL: Final = "  dispatch:\n    CPU: probe_out\n"
STRUCTURED: Final = f"{DELEGATE}{OUT}  structured: True\n"

KEYS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "variants": (PLAIN, "  variants: function, method\n"),
        "dispatch": ("- func: {ns}probe(Tensor self) -> Tensor\n", "  dispatch:\n    CPU: probe_cpu\n"),
        "structured": (f"{DELEGATE}{OUT}{KERNEL}", "  structured: True\n"),
        "structured_delegate": (
            f"{OUT}{KERNEL}  structured: True\n- func: {{ns}}probe(Tensor self, Tensor other) -> Tensor\n",
            "  structured_delegate: probe.out\n",
        ),
        "structured_inherits": (f"{STRUCTURED}{KERNEL}", "  structured_inherits: TensorIteratorBase\n"),
        "precomputed": (f"{STRUCTURED}{KERNEL}", "  precomputed:\n  - int64 -> int a\n"),
        "autogen": (PLAIN, "  autogen: probe.out\n"),
        "manual_kernel_registration": (
            "- func: {ns}probe(Tensor self) -> Tensor\n",
            "  manual_kernel_registration: True\n",
        ),
        "manual_cpp_binding": (PLAIN, "  manual_cpp_binding: True\n"),
        "python_module": (PLAIN, "  python_module: nn\n"),
        "category_override": (PLAIN, "  category_override: factory\n"),
        "device_guard": (PLAIN.replace("CPU", "CUDA"), "  device_guard: False\n"),
        "device_check": (
            PLAIN.replace("CPU", "CUDA").replace("int n", "Tensor n").replace("=1", ""),
            "  device_check: NoCheck\n",
        ),
        "cpp_no_default_args": (PLAIN, "  cpp_no_default_args: [n]\n"),
        "use_const_ref_for_mutable_tensors": (WRITES, "  use_const_ref_for_mutable_tensors: True\n"),
        "ufunc_inner_loop": (
            f"{DELEGATE}{OUT}  structured: True\n  structured_inherits: TensorIteratorBase\n",
            "  ufunc_inner_loop:\n    Generic: probe (All)\n",
        ),
        "tags": (PLAIN, "  tags: core\n"),
        "random": (SOUNDS_RANDOM, "  random: False\n"),
        "doc": (PLAIN, "  doc: What it does.\n"),
    }
)
"""For each key an entry (the last one of a file) without it, and the lines that add it."""

Outcome = tuple[Mapping[str, str], tuple[str, ...]]
"""The files by path, and what was reported."""


def run(folder: Path, text: str, flags: tuple[str, ...] = ()) -> Outcome:
    (folder / "native/native_functions.yaml").write_text(text)
    log = Diagnostics()
    generation = load_generation(parse_request(["-s", str(folder), *flags], log), log)
    files: Mapping[str, str] = {}
    if generation is not None and not log.has_errors:
        try:
            files = {file.path: file.text for file in collect_files(generation.work.emitters)}
        except UserError as problem:
            log.extend(problem.diagnostics)
    return files, tuple(f"{each.id}: {each.message}" for each in log.all)


@pytest.fixture(scope="module", params=["aten", "extension"])
def definitions(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """A folder of definitions, for each of the two kinds; its name is the kind."""
    folder = tmp_path_factory.mktemp("lost") / str(request.param)
    (folder / "native").mkdir(parents=True)
    tags = repository / "opgen" / "packaged" / "ATen" / "native" / "tags.yaml"
    (folder / "native/tags.yaml").write_text(tags.read_text())
    return folder


def in_kind(folder: Path, text: str) -> str:
    return text.replace("{ns}", "mine::" if folder.name == "extension" else "")


def test_every_key_is_probed() -> None:
    assert TABLE.fields.keys() - {"func"} == KEYS.keys()


@pytest.mark.parametrize("key", KEYS)
def test_every_key_of_an_entry_says_something(definitions: Path, key: str) -> None:
    entry, lines = KEYS[key]
    without = run(definitions, in_kind(definitions, entry))
    with_key = run(definitions, in_kind(definitions, entry + lines))
    assert _code(with_key) != _code(without), f"'{key}' has no effect, and nothing is said of it"


def _code(outcome: Outcome) -> Outcome:
    """What was generated, without comments on where it comes from."""
    files, said = outcome
    lines = {
        path: "\n".join(x for x in text.split("\n") if not x.lstrip().startswith("//")) for path, text in files.items()
    }
    return lines, said


@pytest.mark.parametrize("key", [key for key in DispatchKey if key is not DispatchKey.CPU])
def test_every_dispatch_key_registers_its_kernel(definitions: Path, key: DispatchKey) -> None:
    entry = in_kind(definitions, "- func: {ns}probe(Tensor self) -> Tensor\n  dispatch:\n    CPU: probe_cpu\n")
    files, said = run(definitions, f"{entry}    {key}: probe_there\n")
    registered = [text for path, text in files.items() if path.endswith(".cpp") and "probe_there" in text]
    if not registered:
        assert any(str(key) in message for message in said), f"a kernel under {key} vanishes"
        return
    assert any(f", {key}, m) {{" in text for text in registered)
    assert not {str(one) for one in newest_release().missing_keys} & {str(key)}


@pytest.mark.parametrize("flag", ["--mps", "--xpu", "--mtia"])
def test_flags_of_devices_register_their_kernels(definitions: Path, flag: str) -> None:
    key = flag.strip("-").upper()
    entry = in_kind(definitions, "- func: {ns}probe(Tensor self) -> Tensor\n  dispatch:\n    CPU: probe_cpu\n")
    files, _ = run(definitions, f"{entry}    {key}: probe_there\n", (flag,))
    assert any(f"{key}, m) {{" in text and "probe_there" in text for text in files.values())


@pytest.mark.parametrize("key", UfuncKey)
def test_every_loop_of_a_ufunc_says_something(definitions: Path, key: UfuncKey) -> None:
    base, line = KEYS["ufunc_inner_loop"]
    other = "ScalarOnly" if key is UfuncKey.Generic else "Generic"
    text = in_kind(definitions, base + line.replace("Generic: probe (All)", f"{other}: probe (Bool)"))
    without, with_key = run(definitions, text), run(definitions, f"{text}    {key}: looped (Float)\n")
    assert without[0]
    assert _code(with_key) != _code(without), f"'{key}' has no effect, and nothing is said of it"
