"""Runs torch's generators on many small inputs: python -m tests.conformance.differences_oracle CASES.json TORCHGEN

A case is a folder with the files that it reads, the generator, and its flags. Each has a process of its own, as the
generators keep what they read; what it raises is written to the file `raised` there, and what it prints to `said`.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from torchgen import gen, gen_backend_stubs
from torchgen.dest.lazy_ir import GenTSLazyIR
from torchgen.gen_lazy_tensor import run_gen_lazy_tensor
from torchgen.packaged.autograd.gen_autograd import gen_autograd, gen_autograd_python
from torchgen.selective_build.selector import SelectiveBuilder

NATIVE = ("src/native/native_functions.yaml", "src/native/tags.yaml")
Generator = Callable[[Sequence[str]], None]


def run_gen(flags: Sequence[str]) -> None:
    sys.argv[1:] = ["-s", "src", "-d", "out", *flags]
    gen.main()


def run_autograd(flags: Sequence[str]) -> None:
    os.mkdir("out")
    gen_autograd(*NATIVE, "out", "autograd", SelectiveBuilder.get_nop_selector())


def run_python(flags: Sequence[str]) -> None:
    os.mkdir("out")
    gen_autograd_python(*NATIVE, "out", "autograd")


def run_backend(flags: Sequence[str]) -> None:
    os.mkdir("out")
    parsed = gen.parse_native_yaml(*NATIVE)
    # It looks for the operators in the checkout around it.
    gen_backend_stubs.parse_native_yaml = lambda *_: parsed
    gen_backend_stubs.run("backend.yaml", "out", False, *(flags or (None,)))


def run_lazy(flags: Sequence[str]) -> None:
    os.mkdir("out")
    shapes = "shapes.h" if os.path.exists("shapes.h") else None
    named = dict(flag.split("=") for flag in flags)
    given = {"shape_inference_hdr": shapes, "lazy_ir_generator": GenTSLazyIR, **named}
    run_gen_lazy_tensor("src", "backend.yaml", "out", False, None, **given)


def run_static_runtime(flags: Sequence[str]) -> None:
    main = importlib.import_module("tests.conformance.static_runtime_oracle").main
    main(Path("src"), Path("out"))


GENERATORS: dict[str, Generator] = {
    "gen": run_gen,
    "autograd": run_autograd,
    "python": run_python,
    "backend": run_backend,
    "lazy": run_lazy,
    "static_runtime": run_static_runtime,
}


def run(folder: str, generator: str, flags: Sequence[str]) -> None:
    """One case, in this process."""
    os.chdir(folder)
    raised, said = "", io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            GENERATORS[generator](flags)
    except (Exception, SystemExit) as error:  # whatever it raises is the result
        raised = f"{type(error).__name__}: {error}"
    Path("raised").write_text(raised, encoding="utf-8")
    Path("said").write_text(said.getvalue(), encoding="utf-8")


def main() -> None:
    for folder, generator, flags in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        if os.fork() == 0:
            run(folder, generator, flags)
            os._exit(0)
        os.wait()


if __name__ == "__main__":
    main()
