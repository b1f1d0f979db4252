"""A formula of derivatives.yaml → the formula that a node of the graph computes, and what it keeps for that.

A formula is C++ in terms of the operator's arguments and results.  The node keeps those that are
used; and where only the sizes or the type of a tensor are used, it keeps these and lets the tensor
go.  The expressions that are kept in a tensor's place are those of `_METHODS` and `_CALLS`.

    mm_mat1_backward(grad, mat2, mat1.sym_sizes(), alpha)
    →  mm_mat1_backward(grad, mat2, mat1_sym_sizes, alpha)
       keeps mat2, alpha, and mat1_sym_sizes = mat1.sym_sizes()

Nothing here knows where a formula stands: errors are `FormulaProblem`s with offsets into its text.
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
    """Offset of the first character to blame."""
    end: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """How an expression is kept in place of the tensor `{0}` that it takes."""

    rank: int
    """Its place among the things kept of one tensor."""
    suffix: str
    """What follows the tensor's name in the name of what is kept."""
    ctype: CType
    expr: str
    """What is kept."""
    used: str = "{0}"
    """What takes the expression's place in the formula, `{0}` being the name of what is kept."""
    used_outside: str = ""
    """The same outside of torch, whose library keeps some functions to itself; empty if it is no other."""


_SCALAR_TYPE: Final = BaseCType(scalarTypeT)
_OPTIONAL_SIZES: Final = OptionalCType(SYM_INT_ARRAY_REF)

_METHODS: Final[Mapping[str, Kept]] = MappingProxyType(
    {
        ".sym_sizes()": Kept(0, "_sym_sizes", SYM_INT_ARRAY_REF, "{0}.sym_sizes()"),
        "->sym_sizes()": Kept(
            1,
            "_sym_sizes_opt",
            _OPTIONAL_SIZES,
            "{0}.has_value() ? std::optional<c10::SymIntArrayRef>({0}->sym_sizes()) : std::nullopt",
        ),
        ".sym_blocksize()": Kept(
            2, "_self_sym_blocksize_opt", _OPTIONAL_SIZES, "at::sparse_csr::getSymIntBlockSize({0})"
        ),
        ".options()": Kept(3, "_options", TENSOR_OPTIONS, "{0}.options()"),
        ".numel()": Kept(6, "_numel", LONG, "{0}.numel()"),
        ".sym_numel()": Kept(7, "_sym_numel", SYM_INT, "{0}.sym_numel()"),
        ".scalar_type()": Kept(12, "_scalar_type", _SCALAR_TYPE, "{0}.scalar_type()"),
        ".dim()": Kept(13, "_dim", LONG, "{0}.dim()"),
        ".sym_strides()": Kept(14, "_sym_strides", SYM_INT_ARRAY_REF, 'strides_or_error({0}, "{0}")'),
        ".layout()": Kept(15, "_layout", BaseCType(layoutT), "{0}.layout()"),
        ".is_conj()": Kept(16, "_conjugate", BOOL, "{0}.is_conj()"),
    }
)
KEPT_SUFFIX: Final = "_kept_"
"""The end of the names of what is kept in place of a value, outside of torch: arguments may have any other name."""
_SIZE: Final = Kept(5, "_sym_argsize_{1}", SYM_INT, "{0}.sym_size({1})")
_CALLS: Final[Mapping[str, Kept]] = MappingProxyType(
    {
        "zeros_like": Kept(4, "_info", BaseCType(typeAndSizeT), "{0}", "{0}.zeros()", "zeros_of_kept({0})"),
        "to_args_sizes": Kept(8, "_args_sizes", VectorCType(VectorCType(LONG)), "to_args_sizes({0})"),
        "to_args_sizes_symint": Kept(
            9, "_args_sizes_symint", VectorCType(VectorCType(SYM_INT)), "to_args_sizes_symint({0})"
        ),
        "to_args_scalartypes": Kept(10, "_args_scalartypes", VectorCType(_SCALAR_TYPE), "to_args_scalartypes({0})"),
        "TensorGeometry": Kept(11, "_geometry", BaseCType(tensorGeometryT), "TensorGeometry({0})"),
    }
)
_WHOLE: Final = 17
"""The rank of a value that is kept as it is: after everything that is kept in its place."""

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
"""Of a value, what can be kept in its place, or loses symbolic sizes."""
_KEPT_WORDS: Final = frozenset({"sym_size", *_CALLS, *(method.strip(".->()") for method in _METHODS)})
"""Without one of these, a formula has no term that is kept in place of a value."""


@dataclass(frozen=True, slots=True)
class KeptFormula:
    """A formula as the node computes it."""

    text: str
    saved_inputs: tuple[SavedAttribute, ...]
    saved_outputs: tuple[SavedAttribute, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """What is kept in place of a value."""

    place: tuple[int, int]
    """The order in which things are kept of one value: by rank, by place in the formula."""
    attribute: SavedAttribute


def keep(
    formula: str,
    words: frozenset[str],
    inputs: Mapping[str, NamedCType],
    outputs: Mapping[str, NamedCType],
    *,
    is_outside: bool = False,
) -> KeptFormula:
    """Return the formula with expressions that are kept replaced by what they are kept as.

    `words` are all words of the formula; `inputs` and `outputs` are the operator's arguments and results by name,
    or those of them that are among the words.  `is_outside` says that it is compiled outside of torch.
    """
    reader = _Reader(inputs, outputs, is_outside)
    if not words.isdisjoint(_KEPT_WORDS):
        rest = _TERM.sub(lambda term: term.group() if reader.is_whole(term) else " ", formula)
        formula = _TERM.sub(reader.replace, formula)
        # Values that are named besides are kept as they are.
        words = identifiers(rest)
    for name, value in inputs.items():
        if value.type.spelled == _OPTIONAL_STRING.spelled and name in words:
            formula = _pass_string(formula, name)
        elif is_outside and name in words and value.type.spelled == OPTIONAL_TENSOR.spelled:
            formula = _read_tensor(formula, name)
    saved_inputs = _saved(inputs, words, reader.inputs_kept)
    return KeptFormula(formula, saved_inputs, _saved(outputs, words, reader.outputs_kept))


def _saved(
    values: Mapping[str, NamedCType], words: Container[str], kept: Mapping[str, list[_Found]]
) -> tuple[SavedAttribute, ...]:
    """Return the saved variables, value by value; expressions that are saved instead of a value come before it."""
    if not values:
        return ()
    if not kept:
        return tuple([SavedAttribute(value, name) for name, value in values.items() if name in words])
    saved: list[SavedAttribute] = []
    for name, value in values.items():
        saved += [one.attribute for one in sorted(kept.get(name, ()), key=_PLACE)]
        if name in words:
            saved.append(SavedAttribute(value, name))
    return unique(saved)


_PLACE: Final = attrgetter("place")


class _Reader:
    """Replaces the terms of one formula, and gathers what is to be kept in place of values."""

    def __init__(self, inputs: Mapping[str, NamedCType], outputs: Mapping[str, NamedCType], is_outside: bool) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.is_outside = is_outside
        self.inputs_kept: dict[str, list[_Found]] = {}
        self.outputs_kept: dict[str, list[_Found]] = {}

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
        into = self.inputs_kept if name in self.inputs else self.outputs_kept if name in self.outputs else None
        kept = _kept_expression(term)
        if into is None or kept is None:
            return term.group()
        index = term["index"] or ""
        attribute_name = name + kept.suffix.format("", index.replace("-", "minus_"))
        if self.is_outside:
            attribute_name += KEPT_SUFFIX
        attribute = SavedAttribute(NamedCType(attribute_name, kept.ctype), kept.expr.format(name, index))
        into.setdefault(name, []).append(_Found((kept.rank, term.start()), attribute))
        used = (kept.used_outside if self.is_outside else "") or kept.used
        return used.format(attribute_name)


_OPTIONAL_STRING: Final = OptionalCType(BaseCType(stringT))


def _pass_string(formula: str, name: str) -> str:
    """Return the formula with `name` as it goes into a call: a string is kept as one that owns its text."""
    passed = f"{name}.has_value() ? std::optional<std::string_view>({name}.value()) : std::nullopt"
    return re.sub(rf"\b{name}\b(?!\.|->)", passed, formula)


def _read_tensor(formula: str, name: str) -> str:
    """Return the formula with `name`, which may be None, as the node saves it: a tensor, undefined for None."""
    formula = re.sub(rf"\b{name}\s*(?:\.|->)\s*has_value\(\)", f"{name}.defined()", formula)
    formula = re.sub(rf"\b{name}\s*\.\s*value\(\)", name, formula)
    formula = re.sub(rf"(^|[(\[{{,?:=<>!&|+*/%-]|\breturn\b)(\s*)\*\s*{name}\b", rf"\1\2{name}", formula)
    return re.sub(rf"\b{name}\s*->\s*", f"{name}.", formula)


def _kept_expression(term: re.Match[str]) -> Kept | None:
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
"""What may be the name of a value: no function, member or namespace."""
_COMPARED: Final = re.compile(r"(?<![\w:])\w+\s*<")
"""What may be compared, or be a template, which takes more than a glance to tell."""


def used_indices(formula: str, name: str) -> list[tuple[int, int, int | None]]:
    """Return the elements of a list that a formula takes: start, end and the index; None if it isn't a number."""
    return [
        (*found.span(), int(index) if (index := found.group(1).strip()).isdecimal() and index.isascii() else None)
        for found in re.finditer(rf"(?<!\w){name}\s*\[\s*([^\[\]]*)\]?", formula)
    ]


def find_word(formula: str, word: str) -> tuple[int, int]:
    """Return where a word first stands in a formula."""
    found = re.search(rf"\b{re.escape(word)}\b", formula)
    return found.span() if found else (0, len(formula))


def find_problems(formula: str, words: frozenset[str], known: frozenset[str]) -> Sequence[FormulaProblem]:
    """Return what is wrong with a formula by itself: its syntax, and names that are none of `known`.

    `words` are all words of the formula.
    """
    error = find_syntax_error(formula)
    problems = () if error is None else (FormulaProblem(error.id, error.message, error.start, error.end, error.label),)
    readable = formula[: error.start] if error is not None and error.is_lexical else formula
    # Most formulas are right, which shows without a look at each token.
    plain, unknown = _SKIPPED.sub(" ", readable), words.difference(known, _WORDS_OF_CPP)
    has_comparison = "<" in plain and _COMPARED.search(plain)
    if error is None and not has_comparison and not _may_be_values(unknown, plain):
        return ()
    return (*problems, *_check_names(scan(readable), known))


def _may_be_values(words: frozenset[str], formula: str) -> bool:
    """Return whether any of these words of a formula may stand for a value."""
    # Those that a bracket follows everywhere are functions, as nearly all are.
    others = [word for word in words if formula.count(f"{word}(") != formula.count(word)]
    return bool(others) and not words.isdisjoint(_VALUE.findall(formula))


def find_concrete_sizes(formula: str, values: Collection[str]) -> Iterator[FormulaProblem]:
    """Uses of sizes and strides that would lose symbolic ones."""
    for term in _TERM.finditer(formula):
        method = term["concrete"] or term["concrete_size"]
        if method and term["owner"] in values:
            message = f"'{term.group()}' is a plain integer, but the sizes of '{term['owner']}' may be symbolic"
            yield FormulaProblem("concrete-size", message, *term.span(), f"write '.{_SYMBOLIC[method]}'")


def find_foreign_strides(formula: str, values: Collection[str], var_names: Collection[str]) -> Iterator[FormulaProblem]:
    """Strides of other values than the one argument whose gradient a formula gives."""
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
