"""The formula of an entry in derivatives.yaml, given once for both languages, or once for each language.

    self: grad * scale                                     C++, and translated to Python
    self: {cpp: norm_backward(grad, self.options()), python: "norm_backward(grad, self.dtype)"}

C++ is for extensions whose autograd is in C++, Python for those in torch's stable ABI.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from opgen.diagnostics import Diagnostic, Diagnostics, expected
from opgen.frontend.fields import kind_of
from opgen.frontend.formula_rules import FormulaNames
from opgen.frontend.nodes import MappingNode, Node, Scalar
from opgen.frontend.python_formulas import (
    FormulaScope,
    UntranslatableError,
    find_python_problems,
    qualify_operators,
    translate_formula,
)
from opgen.frontend.torch_functions import TorchFunctions
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, FunctionSchema, NativeFunction

CPP: Final = "cpp"
PYTHON: Final = "python"
_LANGUAGES: Final = (CPP, PYTHON)


@dataclass(frozen=True, slots=True)
class FormulaSource:
    """The text of a formula, in one or both languages."""

    key: Scalar
    """The arguments or results that it is for."""
    text: Scalar
    """The text in C++; the text in Python if there is no C++."""
    is_cpp: bool
    """Whether there is a text in C++."""
    python: Scalar | None
    """The separate text in Python, if given."""

    def for_cpp(self, log: Diagnostics) -> Scalar | None:
        """Return the text in C++; None, with an error logged, if there is none."""
        if self.is_cpp:
            return self.text
        message = f"the formula for '{self.key.text}' is in Python, but this extension's autograd is in C++"
        log.error("formula-language", message, self.text.span, f"add '{CPP}: …' beside it")
        return None


def read_formula(key: Scalar, value: Node, log: Diagnostics) -> FormulaSource | None:
    """Return the formula in `value`; None, with an error logged, if there is none."""
    if isinstance(value, MappingNode):
        return _read_languages(key, value, log)
    text = _read_text(key, value, "C++", log)
    return None if text is None else FormulaSource(key, text, is_cpp=True, python=None)


def _read_languages(key: Scalar, node: MappingNode, log: Diagnostics) -> FormulaSource | None:
    before, texts = log.error_count, dict[str, Scalar]()
    for language, value in node.entries:
        if language.text not in _LANGUAGES:
            message = f"'{language.text}' is not a language of formulas"
            log.error("unknown-key", message, language.span, expected(language.text, _LANGUAGES))
            continue
        text = _read_text(key, value, "C++" if language.text == CPP else "Python", log)
        if text is not None:
            texts[language.text] = text
    if not node.entries:
        log.error("missing-value", f"'{key.text}' has no formula", node.span, f"write '{{{CPP}: …, {PYTHON}: …}}'")
    if log.error_count > before:
        return None
    python = texts.get(PYTHON)
    return FormulaSource(key, next(filter(None, (texts.get(CPP), python))), CPP in texts, python)


def _read_text(key: Scalar, value: Node, language: str, log: Diagnostics) -> Scalar | None:
    if not isinstance(value, Scalar):
        message = f"the formula for '{key.text}' must be text, not {kind_of(value)}"
        log.error("wrong-kind", message, value.span, "quote it: brackets and '- ' are YAML syntax")
        return None
    if value.text:
        return value
    comment = value.trailing_comment()
    label = f"write a formula in {language}" if comment is None else "' #' starts a comment in YAML: quote the formula"
    log.error("missing-value", f"'{key.text}' has no formula", comment or key.span, label)
    return None


# ------------------------------------------------------------------------------------- Python


def formula_scope(
    operator: FormulaNames, functions: Mapping[str, NativeFunction], torch: TorchFunctions
) -> FormulaScope:
    """Return the scope of an operator's formulas.

    Args:
        operator: The operator.
        functions: All operators of the library, by name.
        torch: torch's operators.
    """
    schemas: dict[str, list[FunctionSchema]] = {}
    for function in functions.values():
        if not function.func.is_out_fn():
            schemas.setdefault(str(function.func.name.name), []).append(function.func)
    arguments = operator.function.func.arguments.flat_all
    integers = {a.name for a in arguments if str(a.type) in (BaseTy.int.name, BaseTy.SymInt.name)}
    return FormulaScope(operator.known - {"retain_variables"}, integers, operator.function.namespace, schemas, torch)


def check_python(text: Scalar, scope: FormulaScope) -> Iterator[Diagnostic]:
    """Yield the errors in a Python formula."""
    for problem in find_python_problems(text.text, {*scope.values, *scope.operators}):
        span = text.span_at(problem.start, problem.end)
        yield Diagnostic(problem.id, problem.message, span, problem.label)


def python_formula(formula: FormulaSource, scope: FormulaScope, log: Diagnostics) -> str | None:
    """Return a formula in Python; None, with an error logged, if it is in C++ and can't be translated."""
    if formula.python is not None:
        return qualify_operators(formula.python.text.strip(), scope.operators)
    try:
        return translate_formula(formula.text.text, scope)
    except UntranslatableError as problem:
        span = formula.text.span_at(problem.start, problem.end)
        expression = formula.text.text[problem.start : problem.end]
        message = f"this formula can't be translated to Python: '{expression}' {problem.reason}"
        label = f"write '{formula.key.text}: {{{CPP}: …, {PYTHON}: …}}'"
        log.error("formula-language", message, span, label)
        return None
