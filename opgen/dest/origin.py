"""An operator → the comment that says which it is and where it was defined.

    // native_functions.yaml:2610: aten::abs(Tensor self) -> Tensor

The line is left out with `--per-operator-headers`.  There, adding an operator must not touch the
files of those that are defined below it, or all of them would be compiled again.
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
