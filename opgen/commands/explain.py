"""`opgen explain OP`: print where an operator is defined, which kernels it has, and what is missing; write nothing.

    python -m opgen explain scale --source-path ops
    python -m opgen explain aten::add.Tensor --from-torch --json

OP is a name with or without namespace and overload.  The other flags are those of `opgen gen` that
determine which kernels are registered.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Final

from opgen.commands._gen_flags import add_registration_flags, read_request
from opgen.commands._subject import load_subject
from opgen.desk.explain import explain, explanation_to_json, render_explanation
from opgen.diagnostics import Diagnostic, Diagnostics, UserError, did_you_mean
from opgen.model import NativeFunction
from opgen.run.command import Command, Group, Result


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the operator, and the flags that determine which kernels are registered."""
    parser.add_argument("operator", metavar="OP", help="operator, with or without namespace and overload")
    parser.add_argument("--json", action="store_true", help="print JSON, as --format json does")
    add_registration_flags(parser)


def load(options: argparse.Namespace, log: Diagnostics) -> Result | None:
    """Explain; return None, with errors logged, if the definitions are wrong or have no such operator."""
    subject = load_subject(read_request(options, log), log)
    if subject is None:
        return None
    explanation = explain(subject, _find(options.operator, subject.program.functions))
    if options.json or options.format == "json":
        return Result(json.dumps(explanation_to_json(explanation), indent=2) + "\n")
    return Result(render_explanation(explanation))


def _find(name: str, functions: Sequence[NativeFunction]) -> NativeFunction:
    """Return the operator that a name refers to: an exact match, or else the first overload."""
    wanted = name.rpartition("::")[2]
    namespace = name.rpartition("::")[0]
    candidates = [f for f in functions if not namespace or f.namespace == namespace]
    for name_of in (
        lambda f: str(f.func.name),
        lambda f: str(f.func.name.name),
        lambda f: f.root_name,
    ):
        match = next((f for f in candidates if name_of(f) == wanted), None)
        if match is not None:
            return match
    names = [str(f.func.name) for f in functions]
    near = did_you_mean(wanted, [*names, *dict.fromkeys(f.root_name for f in functions)])
    near = near or "'opgen list' lists the operators"
    raise UserError(Diagnostic("unknown-operator", f"there is no operator '{name}'", label=near))


COMMAND: Final = Command(
    name="explain",
    group=Group.OPERATORS,
    summary="print where an operator is defined, which kernels it has, and what is missing",
    produces="Prints its forms, a table of kernels by dispatch key, the kernels to write, C++ and Python "
    "signatures, and gradients.  Writes nothing.",
    add_flags=add_flags,
    load=load,
)
