"""Runs torch's generator of lazy backends on many backends: python lazy_oracle.py CASES.json ATEN_FOLDER

Each case is a folder to work in, a backend YAML there, and what the generator is given besides. A case has a
process of its own, as the generator keeps what it read last; what all read in common is read before.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

from torchgen.dest.lazy_ir import GenTSLazyIR
from torchgen.gen import parse_native_yaml
from torchgen.gen_lazy_tensor import run_gen_lazy_tensor


def run(case: dict[str, Any], aten: str) -> str:
    """What the generator raised, in a line; nothing if it went well."""
    os.chdir(case["folder"])
    options = dict(case["options"])
    if case["lowerings"]:
        options["lazy_ir_generator"] = GenTSLazyIR
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run_gen_lazy_tensor(aten, "backend.yaml", "out", False, None, **options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    cases, aten = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2]
    parse_native_yaml(f"{aten}/native/native_functions.yaml", f"{aten}/native/tags.yaml")
    for case in cases:
        Path(case["folder"], "out").mkdir()
        child = os.fork()
        if child == 0:
            raised = run(case, aten)
            Path(case["folder"], "raised").write_text(raised, encoding="utf-8")
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
