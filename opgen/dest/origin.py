"""An operator → the comment with its schema and location.

    // native_functions.yaml:2610: aten::abs(Tensor self) -> Tensor

With `--per-operator-headers`, the line number is omitted, so that adding an operator doesn't change the
files of the operators defined after it, which would then be recompiled.
"""

from __future__ import annotations

from pathlib import PurePath

from opgen.model import NativeFunction
from opgen.program.program import Options, Program


def origin_comment(program: Program, function: NativeFunction, options: Options) -> str:
    """Return one line, without its end."""
    schema = f"{function.namespace}::{program.signatures(function).schema}"
    place = definition_place(function, options)
    return f"// {place}: {schema}" if place else f"// {schema}"


def definition_place(function: NativeFunction, options: Options) -> str:
    """Return file and line of the entry of `function`; empty if the output must not depend on lines."""
    if options.per_operator_headers:
        return ""
    return f"{PurePath(function.loc.source.name).name}:{function.loc.line}"
