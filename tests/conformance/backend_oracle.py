"""torch's generator of backend registrations, run on many backend files by one process.

    python -m tests.conformance.backend_oracle RESULTS BACKEND.yaml OUT [BACKEND.yaml OUT …]

Reading torch's definitions takes most of a run, so it is done once.  A run changes what was read, so each has
a copy of the process.  RESULTS says of each run what it raised, or nothing.  Beside the files there are, for the
whole of torch's operators, the definitions and registrations of each group by itself: EVERY.yaml names backends
whose file is too much for the generator to run through, as it stops at the first operator that it can't do.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torchgen
from torchgen.dest import RegisterDispatchKey
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.gen_backend_stubs import parse_backend_yaml, run
from torchgen.model import DispatchKey, NativeFunctionsGroup
from torchgen.selective_build.selector import SelectiveBuilder
from torchgen.utils import Target

EACH_GROUP = "each_group_"
"""Files whose names begin like this are run group by group."""


def main(arguments: Sequence[str]) -> None:
    """Runs the generator on each file."""
    results, *pairs = arguments
    native = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    parsed = parse_native_yaml(str(native / "native_functions.yaml"), str(native / "tags.yaml"))
    outcome: dict[str, Any] = {}
    for source, out in zip(pairs[::2], pairs[1::2], strict=True):
        Path(out).mkdir(parents=True, exist_ok=True)
        outcome[Path(source).stem] = _in_a_copy(source, out, parsed)
    Path(results).write_text(json.dumps(outcome), encoding="utf-8")


def _in_a_copy(source: str, out: str, parsed: Any) -> Any:
    """What a forked process makes of a file."""
    here, there = os.pipe()
    if os.fork() == 0:
        os.close(here)
        try:
            each = Path(source).name.startswith(EACH_GROUP)
            found = dict(_each_group(source, parsed)) if each else run(source, out, False, None) or ""
        except Exception as problem:  # whatever it raises is the result
            found = f"{type(problem).__name__}: {problem}"
        with os.fdopen(there, "w", encoding="utf-8") as pipe:
            json.dump(found, pipe)
        os._exit(0)
    os.close(there)
    with os.fdopen(here, encoding="utf-8") as pipe:
        text = pipe.read()
    os.wait()
    return json.loads(text)


def _each_group(source: str, parsed: Any) -> Iterator[tuple[str, list[str]]]:
    """The wrappers and the registrations of each group of operators, or what is raised."""
    grouped = get_grouped_native_functions(parsed.native_functions)
    backend = parse_backend_yaml(source, grouped, parsed.backend_indices)
    index = backend.backend_indices[DispatchKey.XLA]
    makers = [
        RegisterDispatchKey(
            index,
            target,
            SelectiveBuilder.get_nop_selector(),
            rocm=False,
            symint=True,
            class_method_name="XLANativeFunctions",
            skip_dispatcher_op_registration=False,
        )
        for target in (Target.ANONYMOUS_DEFINITION, Target.REGISTRATION)
    ]
    for item in grouped:
        function = item.functional if isinstance(item, NativeFunctionsGroup) else item.func
        name = str(function.func.name if isinstance(item, NativeFunctionsGroup) else function.name)
        try:
            yield name, ["\n".join(make(item)) for make in makers]
        except AssertionError as problem:
            yield name, [str(problem)]


if __name__ == "__main__":
    main(sys.argv[1:])
