"""A formula of derivatives.yaml → the formula of an autograd node, and its saved variables.

A formula is C++ in terms of the operator's arguments and results.  The node saves those that are
used.  If only the sizes or the dtype of a tensor are used, it saves these instead of the tensor.
`_METHODS` and `_CALLS` list the expressions that can be saved instead of a tensor.

    mm_mat1_backward(grad, mat2, mat1.sym_sizes(), alpha)
    →  mm_mat1_backward(grad, mat2, mat1_sym_sizes, alpha)
       saves mat2, alpha, and mat1_sym_sizes = mat1.sym_sizes()

Errors are `FormulaProblem`s with offsets into the text of the formula.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from opgen.api.autograd import SavedAttribute, identifiers, unique
from opgen.api.types import (
    BOOL,
    LONG,
    OPTIONAL_TENSOR,
    SYM_INT,
    SYM_INT_ARRAY_REF,
    TENSOR_OPTIONS,
    BaseCType,
    CType,
    NamedCType,
    OptionalCType,
    VectorCType,
    layoutT,
    scalarTypeT,
    stringT,
    tensorGeometryT,
    typeAndSizeT,
)
from opgen.diagnostics import did_you_mean
from opgen.frontend.expressions import Token, find_syntax_error, scan, template_ends
from opgen.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FormulaProblem:
    """An error in a formula."""

    id: str
    message: str
    start: int
    """Offset of the first offending character."""
    end: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class SavedExpression:
    """An expression of the tensor `{0}` that a node saves instead of the tensor."""

    rank: int
    """The order among the expressions saved for one tensor."""
    suffix: str
    """The suffix of the saved variable, after the tensor's name."""
    ctype: CType
    expr: str
    """The saved expression."""
    used: str = "{0}"
    """The replacement in the formula; `{0}` is the name of the saved variable."""
    used_outside: str = ""
    """The replacement outside of torch, if different, since torch doesn't export some functions."""


_SCALAR_TYPE: Final = BaseCType(scalarTypeT)
_OPTIONAL_SIZES: Final = OptionalCType(SYM_INT_ARRAY_REF)

_METHODS: Final[Mapping[str, SavedExpression]] = MappingProxyType(
    {
        ".sym_sizes()": SavedExpression(0, "_sym_sizes", SYM_INT_ARRAY_REF, "{0}.sym_sizes()"),
        "->sym_sizes()": SavedExpression(
            1,
            "_sym_sizes_opt",
            _OPTIONAL_SIZES,
            "{0}.has_value() ? std::optional<c10::SymIntArrayRef>({0}->sym_sizes()) : std::nullopt",
        ),
        ".sym_blocksize()": SavedExpression(
            2, "_self_sym_blocksize_opt", _OPTIONAL_SIZES, "at::sparse_csr::getSymIntBlockSize({0})"
        ),
        ".options()": SavedExpression(3, "_options", TENSOR_OPTIONS, "{0}.options()"),
        ".numel()": SavedExpression(6, "_numel", LONG, "{0}.numel()"),
        ".sym_numel()": SavedExpression(7, "_sym_numel", SYM_INT, "{0}.sym_numel()"),
        ".scalar_type()": SavedExpression(12, "_scalar_type", _SCALAR_TYPE, "{0}.scalar_type()"),
        ".dim()": SavedExpression(13, "_dim", LONG, "{0}.dim()"),
        ".sym_strides()": SavedExpression(14, "_sym_strides", SYM_INT_ARRAY_REF, 'strides_or_error({0}, "{0}")'),
        ".layout()": SavedExpression(15, "_layout", BaseCType(layoutT), "{0}.layout()"),
        ".is_conj()": SavedExpression(16, "_conjugate", BOOL, "{0}.is_conj()"),
    }
)
KEPT_SUFFIX: Final = "_kept_"
"""The suffix of saved variables outside of torch, so that they can't clash with arguments."""
_SIZE: Final = SavedExpression(5, "_sym_argsize_{1}", SYM_INT, "{0}.sym_size({1})")
_CALLS: Final[Mapping[str, SavedExpression]] = MappingProxyType(
    {
        "zeros_like": SavedExpression(4, "_info", BaseCType(typeAndSizeT), "{0}", "{0}.zeros()", "zeros_of_kept({0})"),
        "to_args_sizes": SavedExpression(8, "_args_sizes", VectorCType(VectorCType(LONG)), "to_args_sizes({0})"),
        "to_args_sizes_symint": SavedExpression(
            9, "_args_sizes_symint", VectorCType(VectorCType(SYM_INT)), "to_args_sizes_symint({0})"
        ),
        "to_args_scalartypes": SavedExpression(
            10, "_args_scalartypes", VectorCType(_SCALAR_TYPE), "to_args_scalartypes({0})"
        ),
        "TensorGeometry": SavedExpression(11, "_geometry", BaseCType(tensorGeometryT), "TensorGeometry({0})"),
    }
)
_WHOLE: Final = 17
"""The rank of a value that is saved itself: after the expressions saved instead of it."""

_SYMBOLIC: Final = MappingProxyType({"sizes": "sym_sizes()", "size": "sym_size(…)", "strides": "sym_strides()"})
"""Methods that lose symbolic sizes, and what to write instead."""

_TERM: Final = re.compile(
    rf"""
    (?<!:)\b(?P<call>{"|".join(sorted(_CALLS, key=len, reverse=True))})\((?P<wrapped>\w+)\)
  | \b(?P<owner>[A-Za-z_]\w*)\b
    (?: (?P<method>{"|".join(map(re.escape, _METHODS))})
      | \.sym_size\((?P<index>-?\w+)\)
      | (?:\.|->)(?P<concrete>sizes|strides)\(\)
      | (?:\.|->)(?P<concrete_size>size)\(-?\d+\)
    )
    """,
    re.VERBOSE,
)
"""A use of a value that can be saved instead of it, or that loses symbolic sizes."""
_SAVED_EXPRESSION_WORDS: Final = frozenset({"sym_size", *_CALLS, *(method.strip(".->()") for method in _METHODS)})
"""A formula without any of these words has no expression that is saved instead of a value."""


@dataclass(frozen=True, slots=True)
class NodeFormula:
    """A formula as a node computes it, and its saved variables."""

    text: str
    saved_inputs: tuple[SavedAttribute, ...]
    saved_outputs: tuple[SavedAttribute, ...]


@dataclass(frozen=True, slots=True)
class _SavedTerm:
    """An expression saved instead of a value."""

    sort_key: tuple[int, int]
    """The sort key among the terms of one value: rank, then offset in the formula."""
    attribute: SavedAttribute


def save_variables(
    formula: str,
    words: frozenset[str],
    inputs: Mapping[str, NamedCType],
    outputs: Mapping[str, NamedCType],
    *,
    is_outside: bool = False,
) -> NodeFormula:
    """Return the formula with saved expressions replaced by the variables that hold them.

    `words` are all words of the formula; `inputs` and `outputs` are the operator's arguments and results by name,
    or those among the words.  `is_outside` says that the formula is compiled outside of torch.
    """
    reader = _Reader(inputs, outputs, is_outside)
    if not words.isdisjoint(_SAVED_EXPRESSION_WORDS):
        rest = _TERM.sub(lambda term: term.group() if reader.is_whole(term) else " ", formula)
        formula = _TERM.sub(reader.replace, formula)
        # Values that other terms use are saved themselves.
        words = identifiers(rest)
    for name, value in inputs.items():
        if value.type.spelled == _OPTIONAL_STRING.spelled and name in words:
            formula = _pass_string(formula, name)
        elif is_outside and name in words and value.type.spelled == OPTIONAL_TENSOR.spelled:
            formula = _read_tensor(formula, name)
    saved_inputs = _saved_attributes(inputs, words, reader.input_terms)
    return NodeFormula(formula, saved_inputs, _saved_attributes(outputs, words, reader.output_terms))


def _saved_attributes(
    values: Mapping[str, NamedCType], words: Container[str], terms: Mapping[str, list[_SavedTerm]]
) -> tuple[SavedAttribute, ...]:
    """Return the saved variables, value by value; expressions that are saved instead of a value come before it."""
    if not values:
        return ()
    if not terms:
        return tuple([SavedAttribute(value, name) for name, value in values.items() if name in words])
    saved: list[SavedAttribute] = []
    for name, value in values.items():
        saved += [term.attribute for term in sorted(terms.get(name, ()), key=_SORT_KEY)]
        if name in words:
            saved.append(SavedAttribute(value, name))
    return unique(saved)


_SORT_KEY: Final = attrgetter("sort_key")


class _Reader:
    """Replaces terms of one formula, and collects the expressions to save instead of values."""

    def __init__(self, inputs: Mapping[str, NamedCType], outputs: Mapping[str, NamedCType], is_outside: bool) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.is_outside = is_outside
        self.input_terms: dict[str, list[_SavedTerm]] = {}
        self.output_terms: dict[str, list[_SavedTerm]] = {}

    def is_whole(self, term: re.Match[str]) -> bool:
        """Return whether a term is of a tensor that may be None, of which only `->sym_sizes()` is saved by itself."""
        value = self.inputs.get(term["wrapped"] or term["owner"]) if self.is_outside else None
        is_optional = value is not None and value.type.spelled == OPTIONAL_TENSOR.spelled
        return is_optional and term["method"] != "->sym_sizes()"

    def replace(self, term: re.Match[str]) -> str:
        """Return the replacement of the term in the node's formula."""
        if self.is_whole(term):
            return term.group()
        name = term["wrapped"] or term["owner"]
        terms = self.input_terms if name in self.inputs else self.output_terms if name in self.outputs else None
        expression = _saved_expression(term)
        if terms is None or expression is None:
            return term.group()
        index = term["index"] or ""
        attribute_name = name + expression.suffix.format("", index.replace("-", "minus_"))
        if self.is_outside:
            attribute_name += KEPT_SUFFIX
        attribute = SavedAttribute(NamedCType(attribute_name, expression.ctype), expression.expr.format(name, index))
        terms.setdefault(name, []).append(_SavedTerm((expression.rank, term.start()), attribute))
        used = (expression.used_outside if self.is_outside else "") or expression.used
        return used.format(attribute_name)


_OPTIONAL_STRING: Final = OptionalCType(BaseCType(stringT))


def _pass_string(formula: str, name: str) -> str:
    """Return the formula with `name`, saved as a std::string, passed as a std::string_view."""
    passed = f"{name}.has_value() ? std::optional<std::string_view>({name}.value()) : std::nullopt"
    return re.sub(rf"\b{name}\b(?!\.|->)", passed, formula)


def _read_tensor(formula: str, name: str) -> str:
    """Return the formula with the optional tensor `name` as the node saves it: an undefined tensor for None."""
    formula = re.sub(rf"\b{name}\s*(?:\.|->)\s*has_value\(\)", f"{name}.defined()", formula)
    formula = re.sub(rf"\b{name}\s*\.\s*value\(\)", name, formula)
    formula = re.sub(rf"(^|[(\[{{,?:=<>!&|+*/%-]|\breturn\b)(\s*)\*\s*{name}\b", rf"\1\2{name}", formula)
    return re.sub(rf"\b{name}\s*->\s*", f"{name}.", formula)


def _saved_expression(term: re.Match[str]) -> SavedExpression | None:
    if term["call"]:
        return _CALLS[term["call"]]
    if term["index"]:
        return _SIZE
    return _METHODS[term["method"]] if term["method"] else None


# ---------------------------------------------------------------------------------- problems

_SKIPPED: Final = re.compile(r"""/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)+'""", re.DOTALL)
_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9_]*|k[A-Z]\w*")
_WORDS_OF_CPP: Final = frozenset(
    {
        *("auto", "bool", "const", "double", "else", "false", "float", "if", "int", "int64_t", "new", "nullptr"),
        *("return", "size_t", "sizeof", "static_cast", "std", "this", "true", "void"),
        *("Scalar", "ScalarType", "Tensor", "TensorList", "TensorOptions"),
    }
)
_VALUE: Final = re.compile(r"(?<![A-Za-z0-9_.])(?<!->)(?<!::)[A-Za-z_]\w*\b(?!\(|::)")
"""A possible name of a value: no function, member or namespace."""
_COMPARED: Final = re.compile(r"(?<![\w:])\w+\s*<")
"""A comparison or a template, which only tokens can distinguish."""


def used_indices(formula: str, name: str) -> list[tuple[int, int, int | None]]:
    """Return the elements of a list that a formula takes: start, end and the index; None if it isn't a number."""
    return [
        (*found.span(), int(index) if (index := found.group(1).strip()).isdecimal() and index.isascii() else None)
        for found in re.finditer(rf"(?<!\w){name}\s*\[\s*([^\[\]]*)\]?", formula)
    ]


def find_word(formula: str, word: str) -> tuple[int, int]:
    """Return the range of the first occurrence of a word in a formula."""
    match = re.search(rf"\b{re.escape(word)}\b", formula)
    return match.span() if match else (0, len(formula))


def find_problems(formula: str, words: frozenset[str], known: frozenset[str]) -> Sequence[FormulaProblem]:
    """Return the problems of a formula: syntax errors, and names that aren't in `known`.

    `words` are all words of the formula.
    """
    error = find_syntax_error(formula)
    problems = () if error is None else (FormulaProblem(error.id, error.message, error.start, error.end, error.label),)
    readable = formula[: error.start] if error is not None and error.is_lexical else formula
    # Fast path: most formulas have no problems, which can be seen without scanning tokens.
    plain, unknown = _SKIPPED.sub(" ", readable), words.difference(known, _WORDS_OF_CPP)
    has_comparison = "<" in plain and _COMPARED.search(plain)
    if error is None and not has_comparison and not _may_be_values(unknown, plain):
        return ()
    return (*problems, *_check_names(scan(readable), known))


def _may_be_values(words: frozenset[str], formula: str) -> bool:
    """Return whether any of these words of a formula may name a value."""
    # Words that are always followed by a bracket are functions.
    others = [word for word in words if formula.count(f"{word}(") != formula.count(word)]
    return bool(others) and not words.isdisjoint(_VALUE.findall(formula))


def find_concrete_sizes(formula: str, values: Collection[str]) -> Iterator[FormulaProblem]:
    """Yield uses of concrete sizes and strides, which lose symbolic ones."""
    for term in _TERM.finditer(formula):
        method = term["concrete"] or term["concrete_size"]
        if method and term["owner"] in values:
            message = f"'{term.group()}' is a plain integer, but the sizes of '{term['owner']}' may be symbolic"
            yield FormulaProblem("concrete-size", message, *term.span(), f"write '.{_SYMBOLIC[method]}'")


def find_foreign_strides(formula: str, values: Collection[str], var_names: Collection[str]) -> Iterator[FormulaProblem]:
    """Yield uses of strides of values other than the single argument that a formula is for."""
    for term in _TERM.finditer(formula):
        owner = term["owner"]
        if term["method"] == ".sym_strides()" and owner in values and tuple(var_names) != (owner,):
            message = f"only the formula for '{owner}' alone can use the strides of '{owner}'"
            yield FormulaProblem("foreign-strides", message, *term.span(), f"pass '{owner}' itself")


def _check_names(tokens: Sequence[Token], known: Collection[str]) -> Iterator[FormulaProblem]:
    ends = template_ends(tokens)
    unknown = [
        token
        for index, token in enumerate(tokens)
        if token.kind == "word" and token.text not in known and _is_variable(tokens, index, ends)
    ]
    declared = _declared_names(tokens) if unknown else frozenset()
    reported: set[str] = set()
    for token in unknown:
        if token.text in declared or token.text in reported:
            continue
        reported.add(token.text)
        near = did_you_mean(token.text, known)
        label = near or f"available names: {', '.join(sorted(known))}"
        yield FormulaProblem("unknown-variable", f"unknown variable '{token.text}'", token.start, token.end, label)


def _is_variable(tokens: Sequence[Token], index: int, ends: Sequence[int | None]) -> bool:
    """Return whether the word at `index` is the name of a value: no function, member, namespace, type or macro."""
    word = tokens[index].text
    before = tokens[index - 1].text if index else ""
    after = tokens[index + 1].text
    if before in (".", "->", "::") or after in ("(", "::"):
        return False
    # `a < b` reads as the beginning of a template's arguments unless something closes them.
    if after == "<" and ends[index + 2] is not None:
        return False
    return word not in _WORDS_OF_CPP and not _CONSTANT.fullmatch(word)


def _declared_names(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the names that the formula itself declares: words after a word, as in `auto x` and `const Tensor& t`."""
    names: set[str] = set()
    previous = ""
    for token in tokens:
        is_word = token.kind == "word"
        if is_word and previous:
            names.add(token.text)
        if token.text not in ("&", "*"):
            previous = token.text if is_word and token.text != "return" else ""
        elif previous not in _WORDS_OF_CPP:
            previous = ""
    return frozenset(names)
