"""The module of a heuristic → its trees, as values, for modules from opgen and those in torch.

    class Toy(LearnedHeuristicDecision):
        CHOICES = ("large", "small")
        …
    →  ReadHeuristic("Toy", "toy", ("large", "small"), tree=Split(AtMost(m, 32), Leaf(…), Leaf(…)))

The module is parsed but not run, so torch isn't needed and the module needn't be trusted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from opgen.autoheuristic.measurements import Feature, Number
from opgen.autoheuristic.tree import AtMost, Condition, Equals, Leaf, Split, Tree
from opgen.diagnostics import Diagnostics, Source, Span
from opgen.frozen_dataclass import dataclass

_METHOD: Final = "get_best_choices"
_HELPERS: Final = (("_ratio", ast.Div), ("_remainder", ast.Mod))


@dataclass(frozen=True, slots=True)
class ReadHeuristic:
    """A class of a module."""

    name: str
    decision: str
    """Inductor's name of the decision; empty if the class doesn't have it."""
    choices: tuple[str, ...]
    numbers: tuple[tuple[str, Number, Number], ...]
    """The measured numerical features, with their minima and maxima; empty if the class doesn't have them."""
    texts: tuple[tuple[str, str], ...]
    """The measured categorical features, with their values; empty if the class doesn't have them."""
    tree: Tree


class _UnreadableError(Exception):
    """A syntax node that isn't part of a heuristic, and the reason."""

    def __init__(self, node: ast.AST, problem: str) -> None:
        super().__init__(problem)
        self.node = node


def read_heuristics(source: Source, log: Diagnostics) -> tuple[ReadHeuristic, ...]:
    """Return the heuristics in a module, in file order; errors are logged."""
    try:
        module = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        line = getattr(problem, "lineno", None) or 1
        log.error("heuristic-unreadable", f"the file is not Python: {problem}", _line_span(source, line))
        return ()
    found = []
    for node in module.body:
        if isinstance(node, ast.ClassDef) and _method(node) is not None:
            try:
                found.append(_read_class(node))
            except _UnreadableError as problem:
                span = _line_span(source, getattr(problem.node, "lineno", node.lineno))
                log.error("heuristic-unreadable", f"in the heuristic '{node.name}', {problem}", span)
    if not found and not log.has_errors:
        log.error("heuristic-unreadable", f"the file has no class with a method {_METHOD}", source.span(0, 0))
    return tuple(found)


def _line_span(source: Source, line: int) -> Span:
    text = source.line(line) if line <= len(source.line_starts()) else ""
    start = source.line_starts()[min(line, len(source.line_starts())) - 1] + len(text) - len(text.lstrip())
    return source.span(start, start + len(text.strip()))


def _method(node: ast.ClassDef, name: str = _METHOD) -> ast.FunctionDef | None:
    return next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == name), None)


def _read_class(node: ast.ClassDef) -> ReadHeuristic:
    method, choices = _method(node), tuple(_choices(node))
    assert method is not None, "only such classes are read"
    tree = _read_tree(method.body, {}, len(choices))
    numbers = tuple((str(name), low, high) for name, low, high in _constant(node, "KNOWN_NUMBERS"))
    texts = tuple((str(name), str(text)) for name, text in _constant(node, "KNOWN_TEXTS"))
    return ReadHeuristic(node.name, _decision(node), choices, numbers, texts, tree)


def _decision(node: ast.ClassDef) -> str:
    method = _method(node, "get_name")
    last = method.body[-1] if method is not None else None
    if isinstance(last, ast.Return) and isinstance(last.value, ast.Constant):
        return str(last.value.value)
    return ""


def _constant(node: ast.ClassDef, name: str) -> Any:
    """Return the value of a constant of the class; an empty tuple if there is none."""
    for item in node.body:
        if isinstance(item, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in item.targets):
            return _literal(item.value)
    return ()


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        raise _UnreadableError(node, "this is not a constant") from None


def _choices(node: ast.ClassDef) -> Iterator[str]:
    """Yield the choices: the constant CHOICES, and those that the class appends to a list."""
    yield from map(str, _constant(node, "CHOICES"))
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append":
            yield from (str(_literal(argument)) for argument in call.args)


def _read_tree(statements: Sequence[ast.stmt], variables: dict[str, Feature], count: int) -> Tree:
    for at, statement in enumerate(statements):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            variables[statement.targets[0].id] = _feature(statement.value, variables)
        elif isinstance(statement, ast.If):
            condition, is_negated = _condition(statement.test, variables)
            branches = [statement.body, statement.orelse or statements[at + 1 :]]
            then, otherwise = [_read_tree(branch, variables, count) for branch in branches]
            return Split(condition, otherwise, then) if is_negated else Split(condition, then, otherwise)
        elif isinstance(statement, ast.Return) and statement.value is not None:
            return _read_leaf(statement.value, count)
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            raise _UnreadableError(statement, "this is neither a comparison nor a choice")
    raise _UnreadableError(statements[-1] if statements else ast.Pass(), "a branch ends without a choice")


def _read_leaf(value: ast.expr, count: int) -> Leaf:
    ranked = _literal(value)
    try:
        leaf = Leaf(tuple((float(share), int(index)) for share, index in ranked or ()))
    except (TypeError, ValueError):
        raise _UnreadableError(value, "this is not a list of pairs") from None
    if any(not 0 <= index < count for _, index in leaf.ranked):
        raise _UnreadableError(value, "a choice has an index that doesn't exist")
    return leaf


def _condition(test: ast.expr, variables: dict[str, Feature]) -> tuple[Condition, bool]:
    """Return the condition, and whether it is negated."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        feature, value = _feature(test.left, variables), _literal(test.comparators[0])
        comparison = test.ops[0]
        if feature.is_categorical and isinstance(comparison, (ast.Eq, ast.NotEq)) and isinstance(value, str):
            return Equals(feature, value), isinstance(comparison, ast.NotEq)
        if not feature.is_categorical and isinstance(comparison, ast.LtE) and isinstance(value, (int, float)):
            return AtMost(feature, value), False
    raise _UnreadableError(test, "a comparison has an unknown form")


def _feature(node: ast.expr, variables: dict[str, Feature]) -> Feature:
    """Return the feature whose value an expression is."""
    if isinstance(node, ast.Name) and node.id in variables:
        return variables[node.id]
    name = _asked_for(node)
    if name is not None:
        return Feature(name)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        return replace(_feature(node.args[0], variables), is_categorical=True)
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Call)):
        return Feature(ast.unparse(_Formula(variables).visit(node)), is_combined=True)
    raise _UnreadableError(node, "a comparison has an unknown form")


def _asked_for(node: ast.expr) -> str | None:
    """Return the name in `context.get_value(name)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get_value":
        return str(_literal(node.args[0])) if node.args else None
    return None


class _Formula(ast.NodeTransformer):
    """Replaces the values of features by their names, and guarded functions by operators."""

    def __init__(self, variables: dict[str, Feature]) -> None:
        self._variables = variables

    def visit_Name(self, node: ast.Name) -> ast.expr:  # the name is ast's
        return ast.Name(_feature(node, self._variables).name, ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.expr:  # the name is ast's
        name = _asked_for(node)
        if name is not None:
            return ast.Name(name, ast.Load())
        for helper, operator in _HELPERS:
            if isinstance(node.func, ast.Name) and node.func.id == helper and len(node.args) == 2:
                return ast.BinOp(self.visit(node.args[0]), operator(), self.visit(node.args[1]))
        raise _UnreadableError(node, "a comparison calls an unknown function")
