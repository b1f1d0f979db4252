"""What the generators of other releases of torch make of their own definitions → folders of the test cache.

    oracle("2.14.1", "default")     the folder that holds `default/`, `default.aoti/`, …

A release is the resource `torch-2.14.1` of `tests.fetch`. Its generator runs in a process of its own, with that
folder first on Python's path; it needs PyYAML and typing_extensions, not torch. What it wrote is kept in the cache,
by release and by what was asked, so that it runs once.

    python -m tests.conformance.releases                 makes all that the tests need
    python -m tests.conformance.releases 2.14.1          compares everything for a release, all flag sets, by hand
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import yaml

from tests.conformance.compare import EqualTexts, compare_trees
from tests.conformance.runs import run_command
from tests.fetch import TORCH_VERSIONS, cache_folder, resource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tests.conformance.compare import TreeReport

HERE: Final = Path(__file__).resolve().parent
BACKENDS: Final = tuple(sorted((HERE / "backends").glob("*.yaml")))
LAZY: Final = HERE / "data" / "lazy" / "everything.yaml"
LAZY_OPTIONS: Final = MappingProxyType({"node_base": "TsNode", "node_base_hdr": "torch/csrc/lazy/ts_backend/ts_node.h"})

_GEN: Final = "import gc, torchgen.gen; gc.disable(); torchgen.gen.main()"
_AUTOGRAD: Final = """
import gc, sys
from pathlib import Path
from torchgen.packaged.autograd.gen_autograd import gen_autograd
from torchgen.selective_build.selector import SelectiveBuilder
gc.disable()
Path("autograd").mkdir()
functions, tags, autograd = sys.argv[1:4]
gen_autograd(functions, tags, "autograd", autograd, SelectiveBuilder.get_nop_selector(), disable_autograd=False)
"""
_PYTHON: Final = """
import gc, sys
from pathlib import Path
from torchgen.packaged.autograd import gen_annotated_fn_args, gen_autograd
gc.disable()
for name in ("bindings", "annotated"):
    Path(name).mkdir()
functions, tags, autograd = sys.argv[1:4]
gen_autograd.gen_autograd_python(functions, tags, "bindings", autograd)
gen_annotated_fn_args.gen_annotated(functions, tags, "annotated", autograd)
"""
_OUR_BACKENDS: Final = """
import sys
from opgen.gen_backend_stubs import main
aten, *pairs = sys.argv[1:]
for source, out in zip(pairs[::2], pairs[1::2]):
    if main(["--quiet", "--source-path", aten, "-s", source, "-o", out]):
        sys.exit(1)
"""
MADE_ON_THE_WAY: Final = "templates/VariableType.cpp"
"""A template that torch's generator leaves in the output folder."""

GEN_FLAGS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "default": ("--aoti-install-dir", "../default.aoti", "--update-aoti-c-shim"),
        "devices": ("--per-operator-headers", "--mps", "--rocm", "--xpu", "--mtia"),
        "plain": (),
        "static": ("--static_dispatch_backend", "CPU", "CUDA", "--per-operator-headers"),
    }
)
"""The flags of the ATen generator, by the names of runs."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release of torch, unpacked."""

    version: str
    folder: Path

    @property
    def aten(self) -> Path:
        """The folder of operator definitions and templates."""
        return self.folder / "torchgen" / "packaged" / "ATen"

    @property
    def inputs(self) -> tuple[str, str, str]:
        """The operators, the tags, and the folder of derivatives."""
        native, autograd = self.aten / "native", self.aten.parent / "autograd"
        return str(native / "native_functions.yaml"), str(native / "tags.yaml"), str(autograd)

    def run(self, arguments: Sequence[str], cwd: Path) -> None:
        """Run Python with the release's generator."""
        path = os.pathsep.join((str(self.folder), str(HERE.parents[1])))
        _finished(arguments, cwd, {"PYTHONPATH": path})


def _finished(arguments: Sequence[str], cwd: Path, environment: Mapping[str, str] | None = None) -> None:
    run = run_command([sys.executable, *arguments], cwd, environment)
    if run.code or "Traceback" in run.err:
        raise RuntimeError(f"exit code {run.code}: {' '.join(arguments)[:200]}\n{run.out[-4000:]}\n{run.err[-4000:]}")


# --------------------------------------------------------------------------------- both sides


def _gen_oracle(name: str) -> Callable[[Release, Path], None]:
    def make(release: Release, root: Path) -> None:
        (root / "cwd").mkdir()
        release.run(["-c", _GEN, "-s", str(release.aten), "-d", f"../{name}", *GEN_FLAGS[name]], root / "cwd")

    return make


def _gen(name: str) -> Callable[[Release, Path, Path], None]:
    def make(release: Release, root: Path, expected: Path) -> None:
        del expected
        (root / "cwd").mkdir()
        arguments = ["-m", "opgen.gen", "-s", str(release.aten), "-d", f"../{name}", "--quiet", *GEN_FLAGS[name]]
        _finished(arguments, root / "cwd")

    return make


def _autograd_oracle(release: Release, root: Path) -> None:
    release.run(["-c", _AUTOGRAD, *release.inputs], root)
    (root / "autograd" / MADE_ON_THE_WAY).unlink()


def _autograd(release: Release, root: Path, expected: Path) -> None:
    del expected
    functions, tags, autograd = release.inputs
    _finished(["-m", "opgen.gen_autograd", functions, tags, "autograd", autograd, "--quiet"], root)


def _python_oracle(release: Release, root: Path) -> None:
    release.run(["-c", _PYTHON, *release.inputs], root)


def _python(release: Release, root: Path, expected: Path) -> None:
    del expected
    functions, tags, autograd = release.inputs
    for module, out in (("gen_python", "bindings"), ("gen_annotated_fn_args", "annotated")):
        _finished(["-m", f"opgen.{module}", functions, tags, out, autograd, "--quiet"], root)


def _backends_oracle(release: Release, root: Path) -> None:
    pairs = [word for source in BACKENDS for word in (str(source), f"backends/{source.stem}")]
    release.run(["-m", "tests.conformance.backend_oracle", "results.json", *pairs], root)
    raised = {name: text for name, text in json.loads((root / "results.json").read_text("utf-8")).items() if text}
    if raised:
        raise RuntimeError(f"torchgen {release.version} can't do these backends: {raised}")


def _backends(release: Release, root: Path, expected: Path) -> None:
    del expected
    sources = [word for source in BACKENDS for word in (str(source), f"backends/{source.stem}")]
    _finished(["-c", _OUR_BACKENDS, str(release.aten), *sources], root)


def _lazy_oracle(release: Release, root: Path) -> None:
    shapes = _shapes(release)
    cases = []
    for lowerings in (True, False):
        folder = root / "lazy" / ("lowered" if lowerings else "plain")
        folder.mkdir(parents=True)
        (folder / "backend.yaml").write_text(_lazy_backend(), encoding="utf-8")
        (folder / "shapes.h").write_text(shapes, encoding="utf-8")
        options = {"shape_inference_hdr": "shapes.h", **(LAZY_OPTIONS if lowerings else {})}
        cases.append({"folder": str(folder), "options": options, "lowerings": lowerings})
    (root / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    release.run([str(HERE / "lazy_oracle.py"), str(root / "cases.json"), str(release.aten)], root)
    for case in cases:
        raised = Path(str(case["folder"]), "raised")
        if raised.read_text("utf-8"):
            raise RuntimeError(f"torchgen {release.version} can't do the lazy backend: {raised.read_text('utf-8')}")
        raised.unlink()


def _lazy_backend() -> str:
    backend = yaml.safe_load(LAZY.read_text(encoding="utf-8"))
    return yaml.safe_dump({**backend, "backend": "Lazy", "cpp_namespace": "torch::lazy"}, sort_keys=False)


def _shapes(release: Release) -> str:
    """The shape functions that the author of the backend writes; the same for both generators."""
    with tempfile.TemporaryDirectory() as place:
        Path(place, "backend.yaml").write_text(_lazy_backend(), encoding="utf-8")
        script = "from tests.conformance.releases import print_shapes; print_shapes()"
        run = run_command([sys.executable, "-c", script, str(release.aten)], Path(place))
    if run.code:
        raise RuntimeError(run.err)
    return run.out


def print_shapes() -> None:
    """Print the declarations of the shape functions of `backend.yaml`, for the definitions in a folder."""
    from opgen.backend.backend_yaml import load_backend
    from opgen.diagnostics import Diagnostics
    from opgen.frontend.native_functions import load_program
    from tests.conformance.test_lazy_tensor import shape_functions

    native, log = Path(sys.argv[1]) / "native", Diagnostics()
    program = load_program(native / "native_functions.yaml", native / "tags.yaml", log)
    backend = load_backend(Path("backend.yaml"), program, log) if program is not None else None
    if program is None or backend is None:
        sys.exit(log.render())
    sys.stdout.write("".join(shape_functions(backend, program)))


def _lazy(release: Release, root: Path, expected: Path) -> None:
    for name in ("lowered", "plain"):
        folder = root / "lazy" / name
        folder.mkdir(parents=True)
        for given in ("backend.yaml", "shapes.h"):
            (folder / given).write_bytes((expected / "lazy" / name / given).read_bytes())
        flags = ["-s", "backend.yaml", "-o", "out", "--source-path", str(release.aten), "--quiet"]
        flags += ["--shape-inference-hdr", "shapes.h"]
        if name == "lowered":
            flags += ["--gen-ts-lowerings"]
            flags += [word for key, value in LAZY_OPTIONS.items() for word in (f"--{key.replace('_', '-')}", value)]
        _finished(["-m", "opgen.gen_lazy_tensor", *flags], folder)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Something that both generators make."""

    oracle: Callable[[Release, Path], None]
    ours: Callable[[Release, Path, Path], None]
    """Makes the same below a folder; it also gets the folder of what torch's generator made."""
    folders: tuple[str, ...]
    """What is compared."""


COMPARISONS: Final[Mapping[str, Comparison]] = MappingProxyType(
    {
        "default": Comparison(_gen_oracle("default"), _gen("default"), ("default", "default.aoti")),
        "devices": Comparison(_gen_oracle("devices"), _gen("devices"), ("devices",)),
        "plain": Comparison(_gen_oracle("plain"), _gen("plain"), ("plain",)),
        "static": Comparison(_gen_oracle("static"), _gen("static"), ("static",)),
        "autograd": Comparison(_autograd_oracle, _autograd, ("autograd",)),
        "python": Comparison(_python_oracle, _python, ("bindings", "annotated")),
        "backends": Comparison(_backends_oracle, _backends, ("backends",)),
        "lazy": Comparison(_lazy_oracle, _lazy, ("lazy",)),
    }
)
WHOLE: Final = ("default", "autograd", "python", "backends", "lazy")
"""What the tests compare for each release; the rest is compared for the oldest and the newest, or by hand."""
INSTALLED: Final = "2.13.0"
"""The release that the other tests of this folder compare with."""


def tested(version: str) -> tuple[str, ...]:
    """What the tests compare for a release."""
    if version == INSTALLED:
        return ("default",)
    return (*WHOLE, "devices") if version in (TORCH_VERSIONS[0], TORCH_VERSIONS[-1]) else WHOLE


TESTED: Final = tuple((version, name) for version in TORCH_VERSIONS for name in tested(version))


def release(version: str) -> Release:
    """A release; if it isn't in the cache, the test fails and names the command that fetches it."""
    return Release(version, resource(f"torch-{version}"))


def oracle(version: str, name: str) -> Path:
    """Return the folder of what the generator of a release makes; it runs unless the cache has that already."""
    kept = cache_folder() / "oracles" / f"{version}-{name}-{_key(name)}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".") as fresh:
            made = Path(fresh) / "made"
            made.mkdir()
            COMPARISONS[name].oracle(release(version), made)
            try:
                made.rename(kept)
            except OSError:
                # Another process was faster; its result is as good.
                if not kept.is_dir():
                    raise
    return kept


def _key(name: str) -> str:
    """What the result depends on beside the release."""
    used = {"backends": BACKENDS, "lazy": (LAZY,)}.get(name, ())
    digest = hashlib.sha256(repr((GEN_FLAGS.get(name), _AUTOGRAD, _PYTHON)).encode())
    for path in used:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def compare(version: str, name: str, root: Path, equals: EqualTexts | None = None) -> Iterator[tuple[str, TreeReport]]:
    """Run opgen below `root`; yield what was compared, and what differs."""
    expected = oracle(version, name)
    root.mkdir(parents=True, exist_ok=True)
    COMPARISONS[name].ours(release(version), root, expected)
    for folder in COMPARISONS[name].folders:
        yield folder, compare_trees(expected / folder, root / folder, equals=equals, jobs=os.cpu_count() or 1)


def main(versions: Sequence[str]) -> int:
    """Make what the tests need, or compare everything for some releases; exit code 1 if anything differs."""
    if not versions:
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(lambda each: oracle(*each), TESTED))
        return 0
    same = True
    for version in versions:
        for name in COMPARISONS:
            with tempfile.TemporaryDirectory() as place:
                for folder, report in compare(version, name, Path(place)):
                    same &= report.is_same
                    print(f"{version} {folder}: {report.render(show=5)}", flush=True)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
