"""A run after an edit makes what a fresh run makes, whatever the edit; and it makes only what the edit is about."""

from __future__ import annotations

import importlib.util
import marshal
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from opgen import aten, gen, recall
from opgen.output.manifest import NAME as MANIFEST
from opgen.output.manifest import file_state, find_current, load_records, render_manifest

RUN = ["-s", "defs", "--per-operator-headers", "--quiet", "--mps", "--aoti-install-dir", "shims"]
TICK = 0.05
"""Longer than the manifest distrusts the times of files."""
OWN = (MANIFEST, recall.FOLDER)
NEW = "- func: {0}(Tensor self, int n=1) -> Tensor\n  variants: function, method\n"
HEAD = "# only remarks\n\n"

Edit = Callable[[str], str]


def replaced(old: str, new: str) -> Edit:
    def edit(text: str) -> str:
        assert text.count(old) == 1, old
        return text.replace(old, new)

    return edit


def entries(text: str) -> list[str]:
    return re.split(r"(?m)^(?=- func)", text)


def entry(text: str, name: str) -> str:
    (found,) = [each for each in entries(text) if each.startswith(f"- func: {name}(")]
    return found


def without(*names: str) -> Edit:
    def edit(text: str) -> str:
        for name in names:
            text = text.replace(entry(text, name), "")
        return text

    return edit


def moved(name: str, before: str) -> Edit:
    def edit(text: str) -> str:
        found = entry(text, name)
        place = entry(text, before)
        return text.replace(found, "").replace(place, found + place)

    return edit


def reversed_entries(text: str) -> str:
    head, *rest = entries(text)
    return head + "".join(reversed(rest))


def added(name: str) -> Edit:
    return lambda text: text + NEW.format(name)


def nothing(text: str) -> str:
    return text


# What each edit does, and whether it should be enough to look at what it is about.
EDITS: tuple[tuple[str, Edit, bool], ...] = (
    ("an operator at the end", lambda text: text + "\n" + NEW.format("zz_new"), True),
    ("an operator at the front", lambda text: HEAD + NEW.format("aa_new") + text.partition("\n\n")[2], True),
    ("another overload", lambda text: text + "- func: zz_new.other(Tensor self, Tensor other) -> Tensor\n", True),
    ("an operator renamed", lambda text: text.replace("zz_new", "mm_new"), True),
    ("a default", replaced("aa_new(Tensor self, int n=1)", "aa_new(Tensor self, int n=2)"), True),
    ("operators gone", without("aa_new", "mm_new", "mm_new.other"), True),
    ("a symint kernel", replaced("CUDA: edge_symint_kernel_cuda", "CUDA: edge_symint_kernel_cuda_symint"), True),
    ("a method", replaced("edge_odd_types(", "edge_odd_kinds("), True),
    ("a key moved", replaced("    CPU: edge_mixed_returns_cpu", "    CompositeExplicitAutograd: edge_mixed"), False),
    (
        "a structured group",
        replaced("structured_inherits: TensorIteratorBase\n  dispatch:\n    CPU", "dispatch:\n    CPU"),
        True,
    ),
    ("a group that no longer is", without("edge_structured_default", "edge_structured_default.out"), True),
    ("precomputed values", replaced("dim -> int wrapped, int stride", "dim -> int wrapped"), True),
    (
        "a ufunc's loop",
        replaced("Generic: edge_ufunc (AllAndComplex, BFloat16", "Generic: edge_loop (All, BFloat16"),
        True,
    ),
    (
        "autogen added",
        replaced(
            "    CPU: edge_no_guard_cpu\n    CUDA: edge_no_guard_cuda\n",
            "    CPU: edge_no_guard_cpu\n    CUDA: edge_no_guard_cuda\n  autogen: edge_no_guard.out\n",
        ),
        True,
    ),
    ("autogen removed", replaced("  autogen: edge_pure.out\n", ""), True),
    ("derived forms in-place", without("edge_only_inplace_"), True),
    ("tags", replaced("tags: [nondeterministic_seeded, pointwise]", "tags: [nondeterministic_seeded, core]"), True),
    ("a view's copy", replaced("edge_view_copy_symint\n", "edge_view_copy\n"), True),
    ("views without forms", without("edge_views", "edge_views_copy"), True),
    ("an order within a family", moved("edge_structured_", "edge_structured.out"), True),
    ("an order of families", moved("edge_composite_view", "edge_tensor_lists"), True),
    ("a factory", replaced("edge_indices(int[] size, *", "edge_indices(int[] size, Tensor like, *"), True),
    (
        "guards",
        replaced(
            "  device_guard: False\n  dispatch:\n    CPU: edge_no_guard_cpu", "  dispatch:\n    CPU: edge_no_guard_cpu"
        ),
        True,
    ),
    (
        "a new dispatch key",
        replaced("    CUDA: edge_check_cuda\n", "    CUDA: edge_check_cuda\n    Vulkan: edge_check_vk\n"),
        False,
    ),
    ("remarks", lambda text: text.replace("# --- views", "# +++ views"), True),
    ("remarks at the front", lambda text: "# more of them\n" + text, True),
    ("the first entry under a key", moved("edge_form.out", "edge_many_keys"), True),
    ("everything", reversed_entries, False),
    ("nothing", nothing, True),
)


class Folder:
    """Definitions, and what runs make of them."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.definitions = path / "defs/native/native_functions.yaml"
        self.whole_runs = 0
        whole = aten._run_whole

        def counted(*arguments: object) -> object:
            self.whole_runs += 1
            return whole(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(aten, "_run_whole", counted)
        monkeypatch.setattr(aten, "WORTH_KEEPING", 1)

    def run(self, out: str = "out", *flags: str) -> bool:
        """Runs; whether it made everything."""
        before = self.whole_runs
        assert gen.main([*RUN, "-d", out, *flags]) == 0
        return self.whole_runs > before

    def edit(self, change: Edit) -> None:
        self.definitions.write_text(change(self.definitions.read_text()))

    def tree(self, out: str = "out") -> dict[str, bytes]:
        files = ((path, path.relative_to(self.path / out)) for path in (self.path / out).rglob("*") if path.is_file())
        return {name.as_posix(): path.read_bytes() for path, name in files if name.parts[0] not in OWN}

    def stamps(self) -> dict[str, tuple[int, int]]:
        return {name: _stamp(self.path / "out" / name) for name in self.tree()}

    def parts(self) -> Sequence[Path]:
        return sorted(path for path in (self.path / "out" / recall.FOLDER).rglob("*") if path.is_file())


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_ino


@pytest.fixture(scope="module")
def source(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Odd definitions, torch's tags and our templates."""
    folder = tmp_path_factory.mktemp("source") / "defs"
    shutil.copytree(repository / "tests/conformance/definitions/edge", folder)
    shutil.copy(repository / "opgen/packaged/ATen/native/tags.yaml", folder / "native")
    return folder


@pytest.fixture
def folder(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    shutil.copytree(source, tmp_path / "defs")
    monkeypatch.chdir(tmp_path)
    time.sleep(TICK)
    return Folder(tmp_path, monkeypatch)


def test_each_kind_of_edit(folder: Folder) -> None:
    """One after the other: what is kept is the work of many runs.  After a dozen of them it is written anew."""
    assert folder.run()
    for number, (name, change, is_enough) in enumerate(EDITS):
        before, stamped = folder.tree(), folder.stamps()
        folder.edit(change)
        assert folder.run("out", "--jobs", str(1 + number % 2)) is not is_enough, name
        assert folder.run(f"fresh{number}")
        after = folder.tree()
        assert after == folder.tree(f"fresh{number}"), name
        same = [path for path, data in before.items() if after.get(path) == data]
        now = folder.stamps()
        assert [path for path in same if stamped[path] != now[path]] == [], name
    time.sleep(TICK)
    folder.run()
    assert find_current([*RUN, "-d", "out"]) is not None


def test_mistakes_are_told_as_by_a_whole_run(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    folder.run()
    before, right = folder.tree(), folder.definitions.read_text()
    for wrong in (
        "- func: wrong(Tenosr self) -> Tensor\n",
        "- func: edge_plain(Tensor self, int n) -> Tensor\n",
        "- func: edge_view_out(Tensor self) -> Tensor\n- func: edge_view.out(Tensor self) -> Tensor\n",
        "- func: rand_thing(Tensor self) -> Tensor\n",
        "- func: edge_plain_native(Tensor self) -> Tensor\n",
        "- func: [\n",
        "plain: text\n",
    ):
        folder.definitions.write_text(right + wrong)
        said = []
        for out in ("out", "none"):
            assert gen.main([*RUN, "-d", out]) == 1, wrong
            said.append(capsys.readouterr().err.replace("none/", "out/"))
        assert said[0] == said[1] != ""
        assert folder.tree() == before
    folder.definitions.write_text(right)
    assert not folder.run()


def test_what_was_written_by_hand_makes_a_whole_run(folder: Folder) -> None:
    folder.run()
    for path in ("ops/edge_plain.h", "RegisterCPU_0.cpp"):
        (folder.path / "out" / path).write_text("mine")
        folder.edit(added("of_" + re.sub(r"\W", "_", path)))
        assert folder.run()
    assert folder.run("fresh")
    assert folder.tree() == folder.tree("fresh")


@pytest.mark.parametrize("damage", ["empty", "flipped", "gone", "code", "all gone"])
def test_damaged_parts_count_as_none(folder: Folder, damage: str) -> None:
    folder.run()
    code = marshal.dumps(compile("open('ran', 'w')", "evil", "exec"))
    for number, path in enumerate(folder.parts()):
        if number % 25 and path.name != "run":
            continue
        data = path.read_bytes()
        if damage == "all gone":
            shutil.rmtree(folder.path / "out" / recall.FOLDER)
        elif damage == "gone":
            path.unlink()
        else:
            path.write_bytes({"empty": b"", "flipped": data[:-1] + bytes([data[-1] ^ 1]), "code": code}[damage])
        folder.edit(added(f"damaged{number}"))
        assert folder.run()
        if damage == "all gone":
            break
    assert not (folder.path / "ran").exists()
    assert folder.run("fresh")
    assert folder.tree() == folder.tree("fresh")


def test_parts_of_nonsense_that_the_manifest_vouches_for(folder: Folder) -> None:
    """What an enemy could make of both: no parts then, and no error."""
    folder.run()
    for value in ((), ("x",), [1, 2], {"a": 1}, compile("1", "x", "eval"), ((), (), (), (), (), ((1,),))):
        for path in folder.parts():
            states = path.stat()
            data = marshal.dumps(value)
            path.write_bytes(data + b"\0" * (states.st_size - len(data)))
        _vouch(folder)
        folder.edit(added(f"nonsense{time.monotonic_ns()}"))
        assert folder.run()
    assert folder.run("fresh")
    assert folder.tree() == folder.tree("fresh")


def _vouch(folder: Folder) -> None:
    """Makes a manifest that has the digests of the parts as they are."""
    (record,) = load_records("out")
    kept = {path: file_state(path) for path in record.kept}
    fields = {name: getattr(record, name) for name in type(record).__slots__}
    (folder.path / "out" / MANIFEST).write_text(render_manifest([type(record)(**{**fields, "kept": kept})]))


def test_runs_that_keep_nothing(folder: Folder) -> None:
    for flags in (["--verbose"], ["--op-registration-whitelist", "aten::edge_plain"], ["-o", "lists.cmake"]):
        arguments = [flag for flag in RUN if flag != "--quiet"]
        assert gen.main([*arguments, "-d", "out", *flags]) == 0
        assert not folder.parts()
    assert gen.main(["-s", "defs", "-d", "out", "-q"]) == 0
    assert not folder.parts()


def test_parts_of_runs_that_are_forgotten_go(folder: Folder) -> None:
    """Those of other flags stay as long as the manifest is about them."""
    folder.run()
    first = set(folder.parts())
    assert first
    folder.run("out", "--rocm")
    assert set(folder.parts()) > first
    (folder.path / "out" / MANIFEST).unlink()
    folder.run()
    assert set(folder.parts()) == first


def test_runs_with_other_flags_have_parts_of_their_own(folder: Folder) -> None:
    kinds = ("headers", "sources", "declarations_yaml")
    for kind in kinds:
        assert folder.run("out", "--generate", kind)
    folder.edit(added("zz_kinds"))
    for kind in kinds:
        folder.run("out", "--generate", kind)
    assert folder.run("fresh")
    assert folder.tree() == folder.tree("fresh")


def test_an_operator_with_a_c_function_makes_a_whole_run(folder: Folder) -> None:
    folder.edit(lambda text: text + "- func: abs(Tensor self) -> Tensor\n  dispatch:\n    CPU: abs\n")
    assert folder.run()
    folder.edit(replaced("CPU: abs", "CPU: abs_other"))
    assert folder.run()
    folder.edit(added("zz_shims"))
    assert not folder.run()


@pytest.mark.skipif(importlib.util.find_spec("torchgen") is None, reason="needs torch's definitions")
def test_torch_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All operators of torch, and some edits of them."""
    spec = importlib.util.find_spec("torchgen")
    assert spec is not None
    assert spec.submodule_search_locations
    shutil.copytree(Path(spec.submodule_search_locations[0]) / "packaged/ATen", tmp_path / "defs")
    monkeypatch.chdir(tmp_path)
    time.sleep(TICK)
    folder = Folder(tmp_path, monkeypatch)
    assert folder.run()
    folder.edit(added("zz_torch"))
    assert not folder.run()
    assert len({name for name in folder.tree() if "zz_torch" in name}) == 4
    folder.edit(replaced("- func: relu6(Tensor self) -> Tensor\n", "- func: relu6(Tensor self, int n=7) -> Tensor\n"))
    folder.edit(lambda text: text.replace(NEW.format("zz_torch"), ""))
    folder.edit(moved("sinh.out", "sinh"))
    before = os.times()
    assert not folder.run()
    assert sum(os.times()[:4]) - sum(before[:4]) < 3
    assert folder.run("fresh")
    assert folder.tree() == folder.tree("fresh")
