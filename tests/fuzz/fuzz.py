"""Feeds the generators with files that are nearly right, and looks for tracebacks and hangs.

    python -m tests.fuzz.fuzz [--count 100000] [--start 0] [--jobs N] [--kind KIND ...]

Input number N of a kind is always the same.  What goes wrong is written to a folder, `--keep DIR`, and belongs
into `tests/fuzz/kept/` together with the repair: `test_kept.py` runs what is there.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from types import FrameType

from opgen.backend.backend_yaml import load_backend
from opgen.backend.registrations import RegistrationStyle
from opgen.commands._autograd_library import generate as generate_autograd
from opgen.commands._autograd_library import load_autograd
from opgen.commands._backend_flags import BackendInputs
from opgen.commands._extension import extension_templates, generate_extension, load_extension
from opgen.commands._gen_flags import parse_request
from opgen.commands.gen import generate
from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.extension.extension import ExtensionOptions
from opgen.frontend.native_functions import load_program
from opgen.gen_backend_stubs import generate as generate_backend
from opgen.output.template import CodeTemplate, TemplateSet
from opgen.program.program import Program
from tests.fuzz import feeds
from tests.fuzz.mutate import mutated

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
GOLDEN = HERE.parent / "golden"
OPS = GOLDEN / "shared" / "ops"
RATIONAL = REPOSITORY / "examples" / "rational" / "ops"
KEPT = HERE / "kept"
SECONDS = 10
"""Seconds of the processor that an input may take, for each megabyte begun."""
WAIT = 120
"""Seconds of a clock that it may take, however busy the machine is: whatever waits that long, waits forever."""

Feed = Callable[[str], None]


class HangError(Exception):
    """An input took too long."""


@dataclass(frozen=True)
class Kind:
    """A kind of file, and how to feed it to opgen."""

    texts: tuple[str, ...]
    """Right ones, and some that are wrong in known ways."""
    feed: Feed


def read_all(pattern: str) -> tuple[str, ...]:
    paths = sorted(path for path in GOLDEN.rglob(pattern) if "expected" not in path.parts)
    return tuple(path.read_bytes().decode("utf-8", "replace") for path in paths if path.is_file())


def tags() -> Source:
    return Source("tags.yaml", (OPS / "native" / "tags.yaml").read_text())


def definitions() -> str:
    return (OPS / "native" / "native_functions.yaml").read_text()


def _generate(program: Program | None) -> None:
    if program is not None:
        request = parse_request(["--per-operator-headers"], Diagnostics())
        generate(program, request.options, TemplateSet(OPS / "templates"))


def feed_definitions(text: str) -> None:
    _generate(load_program(Source("ops.yaml", text), tags(), Diagnostics()))


def feed_tags(text: str) -> None:
    _generate(load_program(Source("ops.yaml", definitions()), Source("tags.yaml", text), Diagnostics()))


def feed_selection(text: str) -> None:
    path = Path(f"{os.environ.get('TMPDIR', '/tmp')}/opgen-fuzz-{os.getpid()}.yaml")
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        _generate(load_program(Source("ops.yaml", definitions()), tags(), Diagnostics(), selection_path=path))
    finally:
        path.unlink()


def feed_template(text: str) -> None:
    template = CodeTemplate(text, "t")
    values: Mapping[str, object] = {"a": "x", "b": ["y", "z\n"], "c": [{"d": 1}], "x": ()}
    template.substitute({**values, "generated_comment": "", "ops_headers": ["1", "2"]})


LISTS = """
- func: _foreach_scale(Tensor[] self, Scalar by=2) -> Tensor[]
  device_check: NoCheck
- func: _foreach_scale_(Tensor(a!)[] self, Scalar by=2) -> ()
  device_check: NoCheck
"""
"""Operators on lists, which have the derivatives of operators on tensors."""


def feed_derivatives(text: str) -> None:
    program = load_autograd(
        Source("ops.yaml", definitions() + LISTS), tags(), Source("derivatives.yaml", text), Diagnostics()
    )
    if program is not None:
        generate_autograd(program, TemplateSet(REPOSITORY / "templates" / "autograd"))


def feed_extension(text: str) -> None:
    _generate_extension(text, None)


def feed_extension_derivatives(text: str) -> None:
    _generate_extension((RATIONAL / "native" / "native_functions.yaml").read_text(), text)


def _generate_extension(functions: str, derivatives: str | None) -> None:
    with tempfile.TemporaryDirectory(prefix="opgen-fuzz") as name:
        folder = Path(name)
        for path, text in (("native/native_functions.yaml", functions), ("autograd/derivatives.yaml", derivatives)):
            if text is not None:
                (folder / path).parent.mkdir()
                (folder / path).write_bytes(text.encode("utf-8", "surrogatepass"))
        extension = load_extension(folder, ExtensionOptions(False, None), Diagnostics())
    if extension is not None:
        generate_extension(extension, extension_templates())


def feed_backend(text: str) -> None:
    program = load_program(Source("ops.yaml", definitions()), tags(), Diagnostics())
    assert program is not None
    backend = load_backend(Source("backend.yaml", text), program, Diagnostics())
    if backend is not None:
        inputs = BackendInputs(backend, program, TemplateSet(REPOSITORY / "templates" / "ATen"), None)
        generate_backend(inputs, RegistrationStyle(header_folder=""))


def kinds() -> dict[str, Kind]:
    rational = (RATIONAL / "native" / "native_functions.yaml").read_text()
    every_yaml = tuple(text for pattern in ("*.yaml",) for text in read_all(pattern))
    return {
        "cpp": Kind((feeds.SOURCE, *read_all("*.cpp")), feeds.feed_cpp),
        "deprecated": Kind(read_all("deprecated.yaml"), feeds.feed_deprecated),
        "expression": Kind((feeds.FORMULA,), feeds.feed_expression),
        "manifest": Kind((feeds.manifest_text(), '{"arguments": ["gen"], "outputs": {}}'), feeds.feed_manifest),
        "mlx": Kind(read_all("mlx_ops.yaml"), feeds.feed_mlx),
        "name": Kind(("mylib", "a/b", "aux", "\udcff", "é" * 120, "a" * 300), feeds.feed_name),
        "nodes": Kind(("abcd", "efgh", "acac"), feeds.feed_nodes),
        "python": Kind((feeds.PYTHON,), feeds.feed_python),
        "schema": Kind(feeds.SCHEMAS, feeds.feed_schema),
        "selector": Kind(read_all("selection*.yaml"), feeds.feed_selector),
        "shims": Kind(read_all("*shims*.yaml") or every_yaml, feeds.feed_shims),
        "yaml": Kind(every_yaml, feeds.feed_yaml),
        "backend": Kind(read_all("backend.yaml"), feed_backend),
        "extension": Kind((rational, *read_all("extension-*/ops/native/native_functions.yaml")), feed_extension),
        "extension_derivatives": Kind(
            ((RATIONAL / "autograd" / "derivatives.yaml").read_text(), *read_all("extension-*/ops/autograd/*.yaml")),
            feed_extension_derivatives,
        ),
        "definitions": Kind((definitions(), *read_all("native_functions.yaml")), feed_definitions),
        "tags": Kind((tags().text, *read_all("tags.yaml")), feed_tags),
        "selection": Kind(read_all("selection.yaml"), feed_selection),
        "template": Kind(tuple(path.read_text() for path in sorted((OPS / "templates").iterdir())), feed_template),
        "derivatives": Kind(
            (
                "- name: scale(Tensor self, Scalar factor) -> Tensor\n  self: grad * factor\n  result: auto_linear\n",
                "- name: row(Tensor(a) self, SymInt index) -> Tensor(a)\n  self: f(grad, self.sym_sizes(), index)\n",
                *read_all("derivatives.yaml"),
            ),
            feed_derivatives,
        ),
    }


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise HangError(f"more than {seconds} s of the processor, or {WAIT} s")

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, WAIT))
    before = [signal.signal(number, stop) for _, number, _ in timers]
    for timer, _, limit in timers:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


@contextmanager
def _silence() -> Iterator[None]:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield


def problem_of(feed: Feed, text: str) -> str | None:
    """What is wrong with opgen, as far as this text shows it."""
    try:
        with time_limit(SECONDS * (1 + len(text) // 1_000_000)), _silence():
            feed(text)
    except UserError:
        return None
    except Exception:
        return traceback.format_exc()
    return None


def text_of(kind: Kind, number: int) -> str:
    return mutated(kind.texts[number % len(kind.texts)], number, kind.texts)


def run_part(name: str, start: int, count: int) -> list[tuple[int, str, str]]:
    kind = kinds()[name]
    found = []
    for number in range(start, start + count):
        text = text_of(kind, number)
        problem = problem_of(kind.feed, text)
        if problem is not None:
            found.append((number, text, problem))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000, help="inputs, all kinds together (%(default)s)")
    parser.add_argument("--start", type=int, default=0, help="number of the first input of each kind")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--kind", action="append", choices=sorted(kinds()))
    parser.add_argument("--keep", type=Path, default=Path("fuzz-found"))
    given = parser.parse_args(arguments)
    names = given.kind or sorted(kinds())
    each, part, began, total = given.count // len(names), 50, time.monotonic(), 0
    seen: set[str] = set()
    with ProcessPoolExecutor(given.jobs) as pool:
        for name in names:
            starts = range(given.start, given.start + each, part)
            for found in pool.map(run_part, repeat(name), starts, repeat(part)):
                total += part
                for number, text, problem in found:
                    where = problem.splitlines()[-3] if len(problem.splitlines()) > 2 else problem
                    if where not in seen:
                        seen.add(where)
                        given.keep.mkdir(exist_ok=True)
                        (given.keep / f"{name}-{number}").write_bytes(text.encode("utf-8", "surrogatepass"))
                        print(f"{name} {number}:\n{problem}")
    print(f"{total:,} inputs, {len(seen)} kinds of failure, {time.monotonic() - began:.0f} s")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
