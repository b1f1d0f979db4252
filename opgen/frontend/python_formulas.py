"""A formula in C++ → the same formula in Python, if it can be translated.

    grad * scale                                       grad * scale
    other.defined() ? grad * other : grad              grad * other if other is not None else grad
    at::sum(grad, 0).expand(self.sym_sizes())          _aten.sum(grad, 0).expand(self.shape)
    ratio_backward(grad, self.scalar_type())           _ops.ratio_backward(grad, self.dtype)

`_aten` and `_ops` are torch's operators and the library's, `_not_implemented` raises an error. Keyword-only arguments
are passed by name. Expressions whose meaning differs in Python, or may differ, are not translated: the author then
writes a formula for each language.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from opgen.api.python_stubs import legal_name
from opgen.diagnostics import did_you_mean
from opgen.frontend.expressions import Token, scan, template_ends
from opgen.frontend.formulas import FormulaProblem
from opgen.frontend.torch_functions import TorchFunctions
from opgen.frozen_dataclass import dataclass
from opgen.model import Argument, BaseTy, FunctionSchema, Type
from opgen.python_text import parse_python_expression

TORCH_OPERATORS: Final = "_aten"
OWN_OPERATORS: Final = "_ops"
"""The names of torch's operators and of the library's in translated formulas."""
NOT_IMPLEMENTED: Final = "_not_implemented"
"""The name of the function that raises an error."""

_TERNARY, _OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _SIGN, _POSTFIX = 0, 1, 2, 3, 4, 8, 9, 10, 11
"""Precedences in Python."""


@dataclass(frozen=True, slots=True)
class _Operator:
    """A binary operator."""

    rank: int
    """Its precedence in C++; a higher one binds tighter."""
    text: str
    precedence: int
    """Its spelling and its precedence in Python."""


_BINARY: Final[Mapping[str, _Operator]] = MappingProxyType(
    {
        "||": _Operator(1, "or", _OR),
        "or": _Operator(1, "or", _OR),
        "&&": _Operator(2, "and", _AND),
        "and": _Operator(2, "and", _AND),
        "|": _Operator(3, "|", 5),
        "^": _Operator(4, "^", 6),
        "&": _Operator(5, "&", 7),
        "==": _Operator(6, "==", _COMPARISON),
        "!=": _Operator(6, "!=", _COMPARISON),
        **{text: _Operator(7, text, _COMPARISON) for text in ("<", "<=", ">", ">=")},
        **{text: _Operator(8, text, _SUM) for text in ("+", "-")},
        **{text: _Operator(9, text, _PRODUCT) for text in ("*", "/", "%")},
    }
)
_CONSTANTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "true": "True",
        "false": "False",
        "nullopt": "None",
        "nullptr": "None",
        "kBool": "torch.bool",
        "kByte": "torch.uint8",
        "kChar": "torch.int8",
        "kShort": "torch.int16",
        "kInt": "torch.int32",
        "kLong": "torch.int64",
        "kHalf": "torch.float16",
        "kBFloat16": "torch.bfloat16",
        "kFloat": "torch.float32",
        "kDouble": "torch.float64",
        "kComplexFloat": "torch.complex64",
        "kComplexDouble": "torch.complex128",
    }
)
"""Constants of C++, without their namespaces."""
_FUNCTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "std::max": "_builtins.max",
        "std::min": "_builtins.min",
        "std::abs": "_builtins.abs",
        "std::make_tuple": "",
    }
)
"""C++ functions and the equivalent Python builtins; a tuple needs no function."""
_MEMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "sizes": ".shape",
        "sym_sizes": ".shape",
        "strides": ".stride()",
        "sym_strides": ".stride()",
        "sym_numel": ".numel()",
        "sym_storage_offset": ".storage_offset()",
        "scalar_type": ".dtype",
        "device": ".device",
        "layout": ".layout",
        "is_cuda": ".is_cuda",
        "requires_grad": ".requires_grad",
        "value": "",
        **{name: f".{name}()" for name in ("dim", "numel", "storage_offset", "is_contiguous", "element_size")},
    }
)
"""Members without arguments that aren't operators, and their Python equivalents."""
_PRESENCE: Final = ("defined", "has_value")
"""Members that test whether there is a value: in Python, `is not None`."""
_INTEGERS: Final = frozenset({"dim", "numel", "sym_numel", "size", "sym_size", "storage_offset", "element_size"})
"""Members that are integers."""
_NAMESPACES: Final = ("at", "torch", "c10", "std")
_NUMBER: Final = re.compile(
    r"(?P<digits>0[xX][\da-fA-F']+|0[bB][01']+|[\d.']+(?:[eE][+-]?\d+)?)(?P<suffix>[uUlLzZfF]*)"
)


class UntranslatableError(Exception):
    """The reason why a formula can't be translated, and the location of the expression."""

    def __init__(self, reason: str, token: Token) -> None:
        super().__init__(reason)
        self.reason = reason
        self.start = token.start
        self.end = max(token.end, token.start + 1)


@dataclass(frozen=True, slots=True)
class FormulaScope:
    """The names that a formula may use."""

    values: Collection[str]
    """Arguments, results and gradients."""
    integers: Collection[str]
    """Those arguments that are integers."""
    namespace: str
    operators: Mapping[str, Sequence[FunctionSchema]]
    """The library's operators by name."""
    torch: TorchFunctions


def translate_formula(text: str, scope: FormulaScope) -> str:
    """Return a formula, which is an expression of C++, in Python.

    Raises UntranslatableError.
    """
    return _Translator(scan(text), scope).run()


@dataclass(frozen=True, slots=True)
class _Value:
    """A part of a formula in Python."""

    text: str
    precedence: int = _POSTFIX
    is_integer: bool = False

    def within(self, precedence: int) -> str:
        """Return the text as an operand of an operator with this precedence."""
        return self.text if self.precedence >= precedence else f"({self.text})"


class _Translator:
    """A precedence-climbing parser: `index` is the next token."""

    def __init__(self, tokens: Sequence[Token], scope: FormulaScope) -> None:
        self.tokens = tokens
        self.template_ends = template_ends(tokens)
        self.scope = scope
        self.index = 0

    @property
    def ahead(self) -> Token:
        return self.tokens[self.index]

    def take(self) -> Token:
        self.index += 1
        return self.tokens[self.index - 1]

    def accept(self, text: str) -> bool:
        accepted = self.ahead.kind != "text" and self.ahead.text == text
        self.index += accepted
        return accepted

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise UntranslatableError("isn't an expression of Python", self.ahead)

    def run(self) -> str:
        value = self.expression()
        if self.ahead.kind != "end":
            raise UntranslatableError("isn't an expression of Python", self.ahead)
        return value.text

    # ---------------------------------------------------------------------------- operators

    def expression(self) -> _Value:
        condition = self.binary(1)
        if not self.accept("?"):
            return condition
        chosen = self.expression()
        self.expect(":")
        other = self.expression()
        return _Value(f"{chosen.within(_OR)} if {condition.within(_OR)} else {other.text}", _TERNARY)

    def binary(self, rank: int) -> _Value:
        left = self.prefix()
        while True:
            token = self.ahead
            operator = _BINARY.get(token.text) if token.kind in ("punctuation", "word") else None
            if operator is None or operator.rank < rank:
                return left
            self.take()
            left = self._join(left, operator, self.binary(operator.rank + 1), token)

    def _join(self, left: _Value, operator: _Operator, right: _Value, token: Token) -> _Value:
        are_integers = left.is_integer and right.is_integer
        if are_integers and operator.text in ("/", "%"):
            raise UntranslatableError("of integers rounds differently in Python", token)
        # Python chains comparisons, so operands of a comparison need parentheses.
        nearest = operator.precedence + (operator.precedence == _COMPARISON)
        text = f"{left.within(nearest)} {operator.text} {right.within(operator.precedence + 1)}"
        return _Value(text, operator.precedence, are_integers and operator.precedence != _COMPARISON)

    def prefix(self) -> _Value:
        token = self.ahead
        if token.kind in ("punctuation", "word") and token.text in ("!", "not"):
            self.take()
            return _Value(f"not {self.prefix().within(_NOT)}", _NOT)
        if token.kind == "punctuation" and token.text in ("-", "+", "~"):
            self.take()
            value = self.prefix()
            return _Value(f"{token.text}{value.within(_SIGN)}", _SIGN, value.is_integer)
        if self.accept("*"):
            return self.prefix()  # dereferences an optional
        return self.postfix(self.operand())

    def postfix(self, value: _Value) -> _Value:
        while True:
            if self.accept(".") or self.accept("->"):
                value = self.member(value)
            elif self.accept("["):
                index = self.expression()
                self.expect("]")
                value = _Value(f"{value.within(_POSTFIX)}[{index.text}]")
            else:
                return value

    # ---------------------------------------------------------------------------- operands

    def operand(self) -> _Value:
        token = self.ahead
        if token.kind == "number":
            return self.number()
        if token.kind == "text":
            return self.string()
        if token.kind == "word" or token.text == "::":
            return self.name()
        if self.accept("("):
            value = self.expression()
            self.expect(")")
            return _Value(f"({value.text})", is_integer=value.is_integer)
        if self.accept("{"):
            return _Value(f"[{_join(self.arguments('}'))}]")
        raise UntranslatableError("isn't an expression of Python", token)

    def number(self) -> _Value:
        token = self.take()
        match = _NUMBER.fullmatch(token.text)
        is_octal = re.match(r"0\d", token.text) is not None and "." not in token.text
        if match is None or is_octal:
            raise UntranslatableError("is not a number in Python", token)
        digits = match["digits"].replace("'", "_")
        is_integer = digits.startswith(("0x", "0X", "0b", "0B")) or not set(digits) & set(".eE")
        return _Value(digits, is_integer=is_integer and match["suffix"] not in ("f", "F"))

    def string(self) -> _Value:
        token = self.take()
        if not token.text.startswith('"') or "\\" in token.text or self.ahead.kind == "text":
            raise UntranslatableError("is not a string in Python", token)
        return _Value(token.text)

    def arguments(self, closing: str) -> list[_Value]:
        """Read arguments up to and including the closing bracket."""
        values: list[_Value] = []
        while not self.accept(closing):
            values.append(self.expression())
            if not self.accept(","):
                self.expect(closing)
                break
        return values

    def name(self) -> _Value:
        """Read a value, a constant, or a call of a function."""
        parts = self._parts()
        spaces, name, start = parts[:-1], parts[-1], self.tokens[self.index - 1]
        if spaces == ["std"] and name == "get" and self.ahead.text == "<":
            return self._element()
        if self.ahead.text == "<" and self.template_ends[self.index + 1] is not None:
            raise UntranslatableError("has template arguments", start)
        if self.ahead.text == "{":
            self.take()
            return self._braced(name, start)
        if self.accept("("):
            return self._call(spaces, name, start)
        if not spaces and name in self.scope.values:
            return _Value(legal_name(name), is_integer=name in self.scope.integers)
        if name in _CONSTANTS and all(space in _NAMESPACES for space in spaces):
            return _Value(_CONSTANTS[name])
        raise UntranslatableError("has no known equivalent in Python", start)

    def _parts(self) -> list[str]:
        self.accept("::")
        parts = [self.take().text]
        while self.accept("::"):
            parts.append(self.take().text)
        return parts

    def _element(self) -> _Value:
        """Read `<0>(tuple)` after `std::get`."""
        self.expect("<")
        index = self.take().text
        self.expect(">")
        self.expect("(")
        value = self.expression()
        self.expect(")")
        return _Value(f"{value.within(_POSTFIX)}[{index}]")

    def _braced(self, name: str, start: Token) -> _Value:
        values = self.arguments("}")
        if name == "Tensor" and not values:
            return _Value("None")
        raise UntranslatableError("has no known equivalent in Python", start)

    def _call(self, spaces: Sequence[str], name: str, start: Token) -> _Value:
        values = self.arguments(")")
        if name == "Tensor" and not values:
            return _Value("None")
        builtin = _FUNCTIONS.get("::".join((*spaces, name)))
        if builtin is not None:
            return _Value(f"{builtin}({_join(values)})")
        if not spaces and name == "not_implemented":
            return _Value(f"{NOT_IMPLEMENTED}({_join(values)})")
        if spaces in ([], [self.scope.namespace]) and name in self.scope.operators:
            own = self.scope.operators[name]
            return _Value(f"{OWN_OPERATORS}.{name}({', '.join(_pass_arguments(values, own, start))})")
        schemas = self.scope.torch.schemas(name) if spaces in ([], ["at"], ["torch"]) else ()
        if not schemas:
            raise UntranslatableError("is not an operator of torch or of the library", start)
        return _Value(f"{TORCH_OPERATORS}.{name}({', '.join(_pass_arguments(values, schemas, start))})")

    def member(self, owner: _Value) -> _Value:
        """Read a member of a value: `size(0)`."""
        token = self.take()
        name = token.text
        self.expect("(")
        values = self.arguments(")")
        if name in _PRESENCE and not values:
            return _Value(f"{owner.within(_COMPARISON + 1)} is not None", _COMPARISON)
        if name in ("size", "sym_size") and len(values) == 1:
            return _Value(f"{owner.within(_POSTFIX)}.shape[{values[0].text}]", is_integer=True)
        if name in _MEMBERS and not values:
            return _Value(f"{owner.within(_POSTFIX)}{_MEMBERS[name]}", is_integer=name in _INTEGERS)
        if not self.scope.torch.is_method(name):
            raise UntranslatableError("is not a method of tensors in Python", token)
        given = _pass_arguments([owner, *values], self.scope.torch.schemas(name), token)[1:]
        return _Value(f"{owner.within(_POSTFIX)}.{name}({', '.join(given)})")


def _join(values: Sequence[_Value]) -> str:
    return ", ".join([value.text for value in values])


def _pass_arguments(values: Sequence[_Value], schemas: Sequence[FunctionSchema], token: Token) -> list[str]:
    """Return the arguments of a call, with keyword-only arguments passed by name."""
    candidates = [schema for schema in schemas if _takes(schema, values)]
    count = min((len(schema.arguments.flat_positional) for schema in candidates), default=0)
    keyword_names = {tuple([a.name for a in _parameters(schema)[count : len(values)]]) for schema in candidates}
    if len(keyword_names) != 1:
        reason = "calls its last arguments by different names in different overloads"
        raise UntranslatableError(reason if keyword_names else "takes no such arguments", token)
    (names,) = keyword_names
    texts = [value.text for value in values]
    return [*texts[:count], *(f"{name}={text}" for name, text in zip(names, texts[count:], strict=True))]


def _parameters(schema: FunctionSchema) -> Sequence[Argument]:
    return schema.arguments.flat_non_out


def _takes(schema: FunctionSchema, values: Sequence[_Value]) -> bool:
    """Return whether a call may resolve to an overload."""
    parameters = _parameters(schema)
    required = sum(parameter.default is None for parameter in parameters)
    has_legal_count = required <= len(values) <= len(parameters)
    return has_legal_count and all(_accepts(p.type, value) for p, value in zip(parameters, values))


def _accepts(type: Type, value: _Value) -> bool:
    """Return whether a value may be passed to a parameter, judging by its text."""
    if value.text.startswith("torch.") or value.text.endswith(".dtype"):
        return type.base_ty is BaseTy.ScalarType
    if value.text.startswith("["):
        return type.is_list_like() is not None
    return not value.is_integer or type.base_ty in (BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.Scalar)


# ---------------------------------------------------------------------------- formulas in Python

_BUILTINS: Final = frozenset(
    {
        *("abs", "all", "any", "bool", "enumerate", "float", "int", "isinstance", "len", "list", "max", "min", "range"),
        *("reversed", "sorted", "sum", "tuple", "zip", "torch"),
    }
)
"""Names that Python formulas may use besides arguments, results, gradients and operators."""


def find_python_problems(text: str, known: Collection[str]) -> list[FormulaProblem]:
    """Return the problems of a Python formula: syntax errors, and names that aren't in `known`."""
    try:
        tree = parse_python_expression(text.strip())
    except SyntaxError as problem:
        start = min(max((problem.offset or 1) - 1, 0), max(len(text) - 1, 0))
        return [FormulaProblem("formula-syntax", f"this isn't valid Python: {problem.msg}", start, start + 1)]
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    legal = {*map(legal_name, known), *_BUILTINS, *bound}
    indent = len(text) - len(text.lstrip())
    unknown = {node.id: node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in legal}
    return [_unknown(node, indent, legal) for node in unknown.values()]


def _unknown(node: ast.Name, indent: int, legal: Collection[str]) -> FormulaProblem:
    start = indent + node.col_offset
    label = did_you_mean(node.id, legal)
    return FormulaProblem("unknown-variable", f"unknown variable '{node.id}'", start, start + len(node.id), label)


def qualify_operators(text: str, operators: Collection[str]) -> str:
    """Return a Python formula with calls of the library's operators qualified by `_ops`."""
    tree = ast.parse(text, mode="eval")
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    starts = sorted(name.col_offset for name in calls if isinstance(name, ast.Name) and name.id in operators)
    for start in reversed(starts):
        text = f"{text[:start]}{OWN_OPERATORS}.{text[start:]}"
    return text


def names_in(text: str) -> frozenset[str]:
    """Return the names of values in a formula in Python."""
    return frozenset(node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name))
