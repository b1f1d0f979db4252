"""`meta.py` → the shape functions that authors write in Python, or all errors in the file.

Each top-level function is named after an operator, with the overload after an underscore: `norm`, `norm_out`. The
Python package registers it, so it needs no build. Helper functions begin with an underscore.

    def twice(self):                    →   ShapeFunctions(text, (("twice", "twice"),))
        return torch.empty_like(self)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from opgen.diagnostics import Diagnostic, Diagnostics, Source, Span, UserError, closest
from opgen.dispatch_keys import DispatchKey
from opgen.frontend.nodes import read_source
from opgen.model import NativeFunction
from opgen.program.program import Program
from opgen.program.shape_functions import ShapeFunctions
from opgen.python_text import parse_python


def load_shape_functions(path: Path, program: Program, log: Diagnostics) -> ShapeFunctions | None:
    """Return the shape functions of a file; None, with errors logged, if it fails."""
    try:
        source = read_source(path)
        tree = _parse(source)
    except UserError as problem:
        log.extend(problem.diagnostics)
        return None
    operators = {f.func.name.unambiguous_name(): f for f in program.functions}
    functions = [(name, span) for name, span in _functions(tree, source) if not name.startswith("_")]
    errors = [error for name, span in functions for error in _errors(program, operators, name, span)]
    log.extend(errors)
    if errors:
        return None
    return ShapeFunctions(source.text, tuple((name, str(operators[name].func.name)) for name, _ in functions))


def _parse(source: Source) -> ast.Module:
    try:
        return parse_python(source.text)
    except SyntaxError as problem:
        span = _span(source, problem.lineno or 1, max((problem.offset or 1) - 1, 0), 1)
        raise UserError(Diagnostic("shape-function-syntax", f"this isn't valid Python: {problem.msg}", span)) from None


def _functions(tree: ast.Module, source: Source) -> Iterator[tuple[str, Span]]:
    lines = source.text.split("\n")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            column = lines[node.lineno - 1].index(node.name, node.col_offset + len("def "))
            yield node.name, _span(source, node.lineno, column, len(node.name))


def _span(source: Source, line: int, column: int, length: int) -> Span:
    start = sum(len(text) + 1 for text in source.text.split("\n")[: line - 1]) + column
    return Span(source, min(start, len(source.text)), min(start + length, len(source.text)))


def _errors(program: Program, operators: dict[str, NativeFunction], name: str, span: Span) -> Iterator[Diagnostic]:
    function = operators.get(name)
    if function is None:
        near = closest(name, operators)
        label = f"did you mean '{near}'?" if near else "helper functions begin with an underscore"
        yield Diagnostic("shape-function-unknown", f"there is no operator called '{name}'", span, label)
    elif _has_meta(program, function):
        message = f"'{function.func.name}' has a shape function already"
        yield Diagnostic("shape-function-twice", message, span, "remove it here, or in the definitions")


def _has_meta(program: Program, function: NativeFunction) -> bool:
    """Return whether the operator already has a meta function."""
    meta = program.backend_indices.get(DispatchKey.Meta)
    is_registered = meta is not None and meta.has_kernel(function)
    return is_registered or function.part_of_structured_group or function.has_composite_kernel
