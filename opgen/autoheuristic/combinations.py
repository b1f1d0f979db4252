"""A formula over features → a `Feature` that a heuristic computes: its values for training, its Python code.

    "m*n"            m * n
    "k / (m * n)"    _ratio(k, m * n), which is 0 where m * n is 0
    "k % 8"          _remainder(k, 8)

Training and the generated code apply the same Python operators to the same numbers, so they agree exactly.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Final

from opgen.autoheuristic.measurements import Feature, Measurements, Number, Point, Value, values_by_name
from opgen.diagnostics import Diagnostics, Source, Span, expected

FLAG: Final = "--combine"
PRODUCTS: Final = "products"
TORCH: Final = "torch"


def ratio(dividend: Number, divisor: Number) -> Number:
    """Return the quotient, or 0 if `divisor` is 0."""
    return dividend / divisor if divisor else 0


def remainder(dividend: Number, divisor: Number) -> Number:
    """Return the remainder, or 0 if `divisor` is 0."""
    return dividend % divisor if divisor else 0


_BINARY: Final[Mapping[type[ast.operator], Callable[[Number, Number], Number]]] = MappingProxyType(
    {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: ratio, ast.Mod: remainder}
)
_GUARDED: Final[Mapping[type[ast.operator], str]] = MappingProxyType({ast.Div: "_ratio", ast.Mod: "_remainder"})
HELPERS: Final = tuple(sorted(_GUARDED.values()))
"""The functions that the code of combined features may call."""


def parse_combination(text: str, features: Sequence[Feature], log: Diagnostics) -> Feature | None:
    """Return the feature of a formula; None, with errors logged, if the formula is invalid."""
    source = Source(FLAG, text)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        log.error("bad-combination", "the formula can't be read", source.span(0, len(text)), "write one like m*n")
        return None
    before, lead = log.error_count, len(text) - len(text.lstrip())
    names = [feature.name for feature in features if not feature.is_categorical]
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in (node for node in ast.walk(tree) if id(node) not in called):
        _check_node(node, names, _node_span(source, lead, node), log)
    return Feature(ast.unparse(tree), is_combined=True) if log.error_count == before else None


def _node_span(source: Source, lead: int, node: ast.AST) -> Span:
    """Return the span of a node; that of the formula for nodes without location and formulas with several lines."""
    start, end = getattr(node, "col_offset", None), getattr(node, "end_col_offset", None)
    if start is None or end is None or not source.text.isascii() or "\n" in source.text:
        return source.span(0, len(source.text))
    return source.span(lead + start, lead + end)


def _check_node(node: ast.AST, names: Sequence[str], span: Span, log: Diagnostics) -> None:
    if isinstance(node, ast.Name):
        if node.id not in names:
            log.error("unknown-feature", f"'{node.id}' is not a numerical feature", span, expected(node.id, names))
    elif isinstance(node, ast.Constant):
        if type(node.value) not in (int, float) or not _is_finite(node.value):
            log.error("bad-combination", "a constant must be a finite number", span)
    elif isinstance(node, ast.expr) and not _is_operation(node):
        log.error("bad-combination", "a formula has features, numbers and + - * / % only", span)


def _is_operation(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub)
    return isinstance(node, ast.BinOp) and type(node.op) in _BINARY


def _is_finite(value: object) -> bool:
    try:
        return isinstance(value, (int, float)) and math.isfinite(value)
    except OverflowError:
        return False


def products(features: Iterable[Feature]) -> tuple[Feature, ...]:
    """Return the products of all pairs of numerical features whose names Python can parse."""
    names = [f.name for f in features if not f.is_categorical and not f.is_combined and f.name.isidentifier()]
    return tuple(Feature(f"{one} * {other}", is_combined=True) for one, other in combinations(names, 2))


def evaluate(formula: str, values: Mapping[str, Value]) -> Number:
    """Return the value of a formula.

    Raises:
        KeyError: a feature that the formula names has no value.
        ValueError: the text is not a formula, or its value is not finite.
        OverflowError: a number is too large.
    """
    try:
        result = _evaluate(ast.parse(formula, mode="eval").body, values)
    except SyntaxError:
        raise ValueError(f"{formula} is not a formula") from None
    if not math.isfinite(result):
        raise ValueError(f"{formula} is {result}")
    return result


def _evaluate(node: ast.expr, values: Mapping[str, Value]) -> Number:
    if isinstance(node, ast.Name):
        value = values[node.id]
        if isinstance(value, str):
            raise ValueError(f"{node.id} is not a number")
        return value
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand, values)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_evaluate(node.left, values), _evaluate(node.right, values))
    raise ValueError(f"{ast.unparse(node)} is not a formula")


def code(formula: str, variables: Mapping[str, str]) -> str:
    """Return the Python expression that computes a formula; `variables` has a variable for each feature."""
    return ast.unparse(_Coded(variables).visit(ast.parse(formula, mode="eval")))


def names_in(formula: str) -> tuple[str, ...]:
    """Return the features in a formula, sorted."""
    return tuple(sorted({node.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Name)}))


class _Coded(ast.NodeTransformer):
    """Replaces features by variables, and `/` and `%` by guarded functions."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def visit_Name(self, node: ast.Name) -> ast.expr:  # the name is ast's
        return ast.Name(self._variables[node.id], ast.Load())

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:  # the name is ast's
        operands = [self.visit(node.left), self.visit(node.right)]
        helper = _GUARDED.get(type(node.op))
        if helper is not None:
            return ast.Call(ast.Name(helper, ast.Load()), operands, [])
        return ast.BinOp(operands[0], node.op, operands[1])


def combine(measurements: Measurements, wanted: Sequence[Feature], log: Diagnostics) -> Measurements:
    """Return the measurements with further features; log each formula that has no value for some inputs."""
    known = {feature.name for feature in measurements.features}
    new = tuple(dict.fromkeys(feature for feature in wanted if feature.name not in known))
    failed = dict[str, str]()
    points = []
    for point in measurements.points:
        values = values_by_name(measurements.features, point.inputs)
        more = tuple(_value(feature.name, values, failed) for feature in new)
        points.append(Point(point.inputs + more, point.times))
    for problem in failed.values():
        log.error("bad-combination", problem)
    features = measurements.features + new
    return Measurements(measurements.name, measurements.device, features, tuple(points))


def _value(formula: str, values: Mapping[str, Value], failed: dict[str, str]) -> Number:
    try:
        return evaluate(formula, values)
    except (ValueError, OverflowError):
        failed.setdefault(formula, f"{FLAG} {formula} is too large for some inputs")
        return 0
