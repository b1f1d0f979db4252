"""Operators and derivatives.yaml → the operators with autograd kernels.

derive_autograd(program, Path("autograd/derivatives.yaml"), log, program.selector)   →   AutogradProgram
"""

from __future__ import annotations

from pathlib import Path

from opgen.api import cpp
from opgen.api.autograd import DEFAULT_KEY
from opgen.api.autograd_matching import match_differentiability_info
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.derivatives import load_derivatives, used_dispatch_keys
from opgen.frontend.torch_functions import TorchFunctions
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
    python: TorchFunctions | None = None,
) -> AutogradProgram | None:
    """Return the operators of a program with their derivatives; None, with errors logged, if it fails.

    Args:
        program: The operators.
        derivatives: The file of formulas.
        log: Receives all errors.
        selector: Selects the operators that get kernels.
        namespace: The namespace whose operators get kernels, registered in the same namespace.
        python: torch's operators, for formulas in Python; None for formulas in C++.
    """
    infos = load_derivatives(derivatives, program.functions, program.view_groups, log, python=python)
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
