"""Undefined kernels in a linker's output → the schemas of their operators, and the declarations to match.

    python -m opgen.undefined_kernels HEADERS c++ …        runs a linker, and explains its errors

    opgen: these functions are declared, but no source defines them with the same parameters:
      mylib::clip(Tensor self, float low) -> Tensor
        at::Tensor mylib::native::clip(const at::Tensor & self, double low)

HEADERS is the folder that opgen wrote.  A kernel whose parameters differ from its declaration is a different function
in C++, so only the linker reports it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from opgen.frozen_dataclass import dataclass

_NATIVE: Final = "*/ops/*_native.h"
_REPORTED: Final = re.compile(r"undefined (?:reference to|symbol:) [`'\"]?([^\n`'\"]+\))")
_NAME: Final = re.compile(r"(?:[A-Za-z_]\w*::)+[A-Za-z_]\w*(?=\()")


@dataclass(frozen=True, slots=True)
class Declared:
    """A kernel, as a header declares it."""

    schema: str
    declaration: str


def read_declarations(headers: Path) -> dict[str, list[Declared]]:
    """Return the kernels declared below `headers` by qualified name."""
    declarations: dict[str, list[Declared]] = {}
    for path in sorted(headers.glob(_NATIVE)):
        space = schema = owner = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("namespace "):
                space = line.split()[1]
            elif line.startswith("// "):
                schema, owner = line[3:], ""
            elif line.startswith("struct "):
                owner = f"{line.split()[2]}::"
            elif "(" in line and space and not line.startswith("#"):
                text = re.sub(r"^\s*[A-Z]\w*_API ", "", line.rstrip(";")).strip()
                name = re.search(r"(\w+)\(", text)
                if name is not None:
                    qualified = f"{space}::{owner}{name[1]}"
                    shown = f"{text[: name.start()]}{qualified}{text[name.end(1) :]}"
                    declarations.setdefault(qualified, []).append(Declared(schema, shown))
    return declarations


def explain(symbols: Iterable[str], headers: Path) -> str:
    """Return the declarations to define for the undefined `symbols`; empty if none belongs to the library."""
    declared = read_declarations(headers)
    spaces = {f"{name.partition('::')[0]}::" for name in declared}
    lines: dict[str, None] = {}
    for symbol in symbols:
        name = _NAME.match(symbol)
        if name is None or not symbol.startswith(tuple(spaces)):
            continue
        for each in declared.get(name[0], ()):
            lines[f"  {each.schema}\n    {each.declaration}\n"] = None
        if name[0] not in declared:
            lines[f"  {symbol}\n"] = None
    if not lines:
        return ""
    return "opgen: these functions are declared, but no source defines them with the same parameters:\n" + "".join(
        lines
    )


def undefined_in(library: Path) -> Iterator[str]:
    """Yield the undefined functions of a shared library; none if there is no `nm`."""
    tool = shutil.which("nm")
    if tool is None:
        return
    flags = ["-u", "-C"] if sys.platform == "darwin" else ["-D", "-u", "-C"]
    output = subprocess.run([tool, *flags, os.fspath(library)], capture_output=True, text=True, check=False)
    for line in output.stdout.splitlines():
        yield line.strip().removeprefix("U ").strip()


def main(arguments: Sequence[str]) -> int:
    """Run a linker and return its exit code; forward its output, and explain undefined kernels if it fails."""
    headers, *command = arguments
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    sys.stderr.write(done.stderr)
    if done.returncode:
        sys.stderr.write(explain(_REPORTED.findall(done.stderr), Path(headers)))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
