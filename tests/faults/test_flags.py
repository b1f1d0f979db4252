"""Every flag of `gen` changes what is written or is reported, for each kind of definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from opgen.__main__ import main
from opgen.commands._flag_effects import EFFECTS, OF_THE_RUN, Target
from opgen.commands.gen import COMMAND, load
from opgen.diagnostics import Diagnostics
from opgen.output.emitter import collect_files
from opgen.output.writer import PlacedFile
from opgen.run.work import Work

OPERATORS: Final = """\
- func: NS::best.out(Tensor self, int k, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA, MPS, XPU, MTIA: best_out
- func: NS::best(Tensor self, int k) -> Tensor
  structured_delegate: best.out
"""
OTHER: Final = """\
- func: NS::other(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA, Meta: other
"""

FLAGS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = MappingProxyType(
    {
        "aoti_install_dir": ((), ("--aoti-install-dir", "shims")),
        "headeronly_install_dir": ((), ("--headeronly-install-dir", "headers")),
        "install_dir": ((), ("--install-dir", "elsewhere")),
        "native_aot_ops_dir": (("--torch-version", "2.15"), ("--native-aot-ops-dir", "{folder}/aot")),
        "output_dependencies": ((), ("--output-dependencies", "lists/sources.cmake")),
        "install_list": ((), ("--install-list", "lists/headers.txt")),
        "rocm": ((), ("--rocm",)),
        "mps": ((), ("--mps",)),
        "xpu": ((), ("--xpu",)),
        "mtia": ((), ("--mtia",)),
        "backend_whitelist": ((), ("--backend-whitelist", "CUDA")),
        "static_dispatch_backend": ((), ("--static-dispatch-backend", "CPU")),
        "op_registration_whitelist": ((), ("--op-registration-whitelist", "aten::other")),
        "op_selection_yaml_path": ((), ("--op-selection-yaml-path", "{folder}/selection.yaml")),
        "allow_unknown_operators": (
            ("--op-registration-whitelist", "aten::missing"),
            ("--allow-unknown-operators",),
        ),
        "skip_dispatcher_op_registration": ((), ("--skip-dispatcher-op-registration",)),
        "force_schema_registration": (
            ("--op-registration-whitelist", "aten::other"),
            ("--force-schema-registration",),
        ),
        "fragment": ((), ("--fragment",)),
        "python": ((), ("--no-python",)),
        "kernel_builder": ((), ("--kernel-builder",)),
        "namespace": ((), ("--namespace", "mine")),
        "per_operator_headers": ((), ("--per-operator-headers",)),
        "generate": ((), ("--generate", "headers")),
        "update_aoti_c_shim": (("--aoti-install-dir", "shims"), ("--update-aoti-c-shim",)),
        "extend_aoti_c_shim": (
            ("--aoti-install-dir", "shims", "--update-aoti-c-shim"),
            ("--extend-aoti-c-shim",),
        ),
        "aoti_fallback_ops": (
            ("--aoti-install-dir", "shims", "--update-aoti-c-shim"),
            ("--aoti-fallback-ops", "{folder}/fallback_ops.yaml"),
        ),
    }
)
"""For each flag, by the name of its value, the flags that it needs and the words that give it."""
SAYS_THE_TARGET: Final = {"source_path", "from_torch", "extension", "stable_abi", "torch_version"}
"""The flags that say what is read."""
ARGUMENTS: Final = {
    Target.ATEN: ("--no-extension",),
    Target.EXTENSION: ("--extension",),
    Target.STABLE: ("--stable-abi", "2.12"),
    Target.MLX: (),
}


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    folder = tmp_path_factory.mktemp("flags")
    tags = repository / "opgen" / "packaged" / "ATen" / "native" / "tags.yaml"
    for target in Target:
        (folder / target.name / "native").mkdir(parents=True)
        if target is Target.MLX:
            text = "- name: twice\n  signature: array twice(const array& x)\n  composite: x + x\n"
            (folder / target.name / "mlx_ops.yaml").write_text(text)
            continue
        namespace = "" if target is Target.ATEN else "mine::"
        functions = (OTHER if target is Target.STABLE else OPERATORS + OTHER).replace("NS::", namespace)
        (folder / target.name / "native/native_functions.yaml").write_text(functions)
        (folder / target.name / "native/tags.yaml").write_text(tags.read_text())
    (folder / "selection.yaml").write_text("operators:\n  aten::other:\n    is_root_operator: true\n")
    (folder / "fallback_ops.yaml").write_text("per_device: [other]\n")
    (folder / "aot/best").mkdir(parents=True)
    (folder / "aot/best/aot.py").write_text('ATEN_OP = "best"\nDISPATCH_KEY = "CUDA"\n')
    return folder


def run(folder: Path, target: Target, flags: Sequence[str]) -> tuple[object, tuple[str, ...]]:
    """Return what a run would write or why it doesn't, and the flags that have no effect."""
    words = ["-s", str(folder / target.name), *ARGUMENTS[target], *(each.format(folder=folder) for each in flags)]
    log = Diagnostics()
    work = load(COMMAND.build_parser().parse_args(words), log)
    idle = tuple(each.message for each in log.all if each.id == "flag-without-effect")
    if work is None or log.has_errors:
        return [each for each in log.all if each.severity == "error"], idle
    assert isinstance(work, Work)
    texts = {work.roots[file.root] / file.path: file.text for file in collect_files(work.emitters)}
    placed = [
        PlacedFile(str(work.roots[file.root] / file.path), file.root, file.path, file.group, "", None, False)
        for file in collect_files(work.emitters)
    ]
    return {**texts, **dict(work.lists(placed))}, idle


def test_every_flag_is_probed() -> None:
    flags = {each.dest for each in COMMAND.build_parser()._actions} - {"help", "version"}
    assert FLAGS.keys() == flags - OF_THE_RUN - SAYS_THE_TARGET
    assert all(each <= flags for each in EFFECTS.values())


@pytest.mark.parametrize("target", Target)
@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_has_an_effect_or_is_reported(definitions: Path, name: str, target: Target) -> None:
    needed, words = FLAGS[name]
    before, _ = run(definitions, target, needed)
    after, idle = run(definitions, target, (*needed, *words))
    reported = any(message.startswith(words[0]) for message in idle)
    assert isinstance(before, dict) or name == "allow_unknown_operators", before
    assert (before == after) is reported, f"{name}: {idle}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("import", "{source}", "--from-ops", "mine"), "sources and --from-ops can't be given together"),
        (("import", "{source}", "--load", "library.so"), "--load needs --from-ops"),
        (
            ("gen_autograd", "a", "b", "c", "d", "--selected-op-list-path", "e", "--op-selection-yaml-path", "f"),
            "--selected-op-list-path and --op-selection-yaml-path can't be given together",
        ),
        (("new", "gains", "--torch-version", "2.12"), "unknown flag '--torch-version'"),
        (("gen_mlx", "--torch-version", "2.12"), "unknown flag '--torch-version'"),
    ],
)
def test_flags_that_have_no_meaning_together_are_errors(
    tmp_path: Path, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "library.cpp"
    source.write_text('TORCH_LIBRARY(mine, m) { m.def("twice(Tensor x) -> Tensor"); }\n')
    assert exit_code([word.format(source=source) for word in words]) in (1, 2)
    assert message in capsys.readouterr().err


def exit_code(words: Sequence[str]) -> int:
    try:
        return main(words)
    except SystemExit as end:
        return int(end.code or 0)
