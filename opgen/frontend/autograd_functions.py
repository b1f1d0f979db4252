"""Turns operators and derivatives.yaml into the operators that autograd gets kernels for.

derive_autograd(program, Path("autograd/derivatives.yaml"), log, program.selector)   →   AutogradProgram
"""

from __future__ import annotations

from pathlib import Path

from opgen.api import cpp
from opgen.api.autograd import DEFAULT_KEY
from opgen.api.autograd_matching import match_differentiability_info
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.derivatives import load_derivatives, used_dispatch_keys
from opgen.program.autograd import AutogradProgram
from opgen.program.program import Program
from opgen.selective_build.selector import SelectiveBuilder


def derive_autograd(
    program: Program,
    derivatives: Source | Path,
    log: Diagnostics,
    selector: SelectiveBuilder,
    *,
    namespace: str = "aten",
) -> AutogradProgram | None:
    """Return the operators of a program with their derivatives; None, with the reasons logged, after mistakes.

    All kernels are registered in one namespace, as a rule torch's own: its operators get kernels.
    """
    infos = load_derivatives(derivatives, program.functions, program.view_groups, log)
    if log.has_errors:
        return None
    functions = [function for function in program.functions if function.namespace == namespace]
    if not selector.include_all_operators:
        functions = list(filter(selector.is_native_function_selected_for_training, functions))
    functions.sort(key=lambda function: cpp.name(function.func))
    matched = match_differentiability_info(functions, infos)
    return AutogradProgram(
        program=program,
        functions=matched.functions,
        infos=tuple(info for by_key in infos.values() for info in by_key.values()),
        list_infos=matched.derived,
        dispatch_keys=tuple(sorted(used_dispatch_keys(infos), key=lambda key: (key != DEFAULT_KEY, key))),
    )
