"""`mlx_ops.yaml` → the frozen `Library` that emitters read, or all errors in the file.

    - name: scale
      signature: "array scale(const array& x, float factor = 2.0)"
      dispatch: {cpu: scale_cpu}
      pointwise: true
      grad: {x: grad * factor}

Every error is logged; the result is None if there are any.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostic, Diagnostics, Note, Source, UserError, closest, did_you_mean, expected
from opgen.frontend.cpp_names import identifier, is_identifier, qualified_name
from opgen.frontend.expressions import find_syntax_error, scan
from opgen.frontend.fields import Field, Table, Values, boolean, kind_of, mapping_of, read_fields, scalar
from opgen.frontend.nodes import ListNode, MappingNode, Node, Scalar, load_yaml
from opgen.mlx.metal import metal_dtypes, why_not_metal
from opgen.mlx.model import Argument, Batching, Gradient, Library, Operator, Results
from opgen.mlx.signatures import Signature, parse_signature, parse_signatures
from opgen.mlx.types import DTYPE_SETS, ELEMENT_TYPES, METAL_TYPES, Kind

DEVICES: Final = ("cpu", "metal")
SHAPE_RULES: Final = ("same", "broadcast", "scalar")
_NO_GRADIENT: Final = "none"
SAME_DTYPE: Final = "same"


def _expressions(node: Node) -> tuple[Scalar, ...]:
    """Return one C++ expression, or a list of them."""
    nodes = node.items if isinstance(node, ListNode) else (node,)
    return tuple(_expression(each) for each in nodes)


def _expression(node: Node) -> Scalar:
    """A scalar that is one C++ expression."""
    found = scalar(node)
    problem = find_syntax_error(found.text)
    if problem is not None:
        end = min(max(problem.end, problem.start + 1), len(found.text))
        span = found.span_at(min(problem.start, end - 1), end)
        raise UserError(Diagnostic(problem.id, problem.message, span, problem.label))
    return found


def _dispatch(node: Node) -> tuple[tuple[Scalar, Scalar], ...]:
    return mapping_of(_device, qualified_name)(node)


def _device(node: Node) -> Scalar:
    found = scalar(node)
    if found.text not in DEVICES:
        raise UserError(
            Diagnostic(
                "unknown-device",
                f"'{found.text}' is not a device that a kernel can have",
                found.span,
                expected(found.text, DEVICES),
            )
        )
    return found


def _dtypes(node: Node) -> tuple[str, ...]:
    """Return a word for several dtypes, or a list of dtypes."""
    if isinstance(node, ListNode):
        if not node.items:
            raise UserError(Diagnostic("missing-value", "a kernel needs at least one dtype", node.span))
        return tuple(dict.fromkeys(_dtype(item).text for item in node.items))
    word = scalar(node)
    return DTYPE_SETS[word.text] if word.text in DTYPE_SETS else (_dtype(word, DTYPE_SETS).text,)


def _dtype(node: Node, others: Iterable[str] = ()) -> Scalar:
    found = scalar(node)
    if found.text not in ELEMENT_TYPES:
        label = expected(found.text, [*others, *ELEMENT_TYPES], limit=20)
        raise UserError(Diagnostic("unknown-dtype", f"'{found.text}' is not a dtype", found.span, label))
    return found


def _words(node: Node) -> tuple[Scalar, ...]:
    nodes = node.items if isinstance(node, ListNode) else (node,)
    return tuple(scalar(each) for each in nodes)


def _python_name(node: Node) -> Scalar:
    found = identifier(node)
    if keyword.iskeyword(found.text):
        message = f"'{found.text}' is a keyword of Python, not a name"
        raise UserError(Diagnostic("bad-identifier", message, found.span))
    return found


def _formulas(node: Node) -> tuple[tuple[Scalar, Scalar], ...]:
    return mapping_of(scalar, _expression)(node)


def _vmap(node: Node) -> Scalar | tuple[tuple[Scalar, Scalar], ...]:
    """Return a word, or the arguments that change when a batch axis comes first."""
    if isinstance(node, MappingNode):
        return _formulas(node)
    found = scalar(node)
    words = [each.value for each in Batching]
    if found.text not in words:
        label = did_you_mean(found.text, words) or f"expected one of: {', '.join(words)}; or arguments and expressions"
        raise UserError(Diagnostic("unknown-vmap-rule", f"'{found.text}' is not a batching rule", found.span, label))
    return found


def _text(node: Node) -> str:
    return scalar(node).text


NAME = Field("name", identifier, description="The operator's name in C++, in the namespace of the library.")
SIGNATURE: Field[Scalar | None] = Field(
    "signature", scalar, default=None, description="The C++ signature: array name(arguments)."
)
CPP_SIGNATURE: Field[Scalar | None] = Field(
    "cpp_signature",
    scalar,
    default=None,
    description="With python_signature, instead of signature: the C++ types of results and arguments.",
)
PYTHON_SIGNATURE: Field[Scalar | None] = Field(
    "python_signature",
    scalar,
    default=None,
    description="With cpp_signature, instead of signature: names and defaults as Python writes them.",
)
DISPATCH: Field[tuple[tuple[Scalar, Scalar], ...]] = Field(
    "dispatch", _dispatch, default=(), description="The kernel for each device. Without it, the operator is composite."
)
COMPOSITE: Field[Scalar | None] = Field(
    "composite",
    _expression,
    default=None,
    description="A C++ expression that a composite operator computes. Without it, you write a function.",
)
PYTHON_NAME: Field[Scalar | None] = Field(
    "python_name", _python_name, default=None, description="The name in Python, if it is another one than in C++."
)
GRAD: Field[tuple[tuple[Scalar, Scalar], ...]] = Field(
    "grad", _formulas, default=(), description="The gradient of each array argument: a C++ expression, or none."
)
DOC: Field[str] = Field("doc", _text, default="", description="The docstring of the Python function.")
POINTWISE = Field(
    "pointwise",
    boolean,
    default=False,
    description="True if each element of the result depends on the elements at the same place.",
)
SHAPE: Field[tuple[Scalar, ...]] = Field(
    "shape",
    _expressions,
    default=(),
    description="Of an operator with kernels that isn't pointwise: the shape of each result.",
)
DTYPES: Field[tuple[str, ...]] = Field(
    "dtypes", _dtypes, default=DTYPE_SETS["floating"], description="The dtypes that the kernels are for."
)
INPUT_DTYPES: Field[tuple[tuple[Scalar, Scalar], ...]] = Field(
    "input_dtypes",
    mapping_of(scalar, _dtype),
    default=(),
    description="Arrays that are converted to a dtype of their own.",
)
RESULT_DTYPE: Field[tuple[Scalar, ...]] = Field(
    "result_dtype", _words, default=(), description="The dtype of each result: same is that of the inputs."
)
VMAP: Field[Scalar | tuple[tuple[Scalar, Scalar], ...] | None] = Field(
    "vmap",
    _vmap,
    default=None,
    description="How a batch is computed: a word, or what arguments become when a batch axis comes first.",
)
TABLE: Final = Table.of(
    NAME,
    SIGNATURE,
    CPP_SIGNATURE,
    PYTHON_SIGNATURE,
    DISPATCH,
    COMPOSITE,
    PYTHON_NAME,
    GRAD,
    DOC,
    POINTWISE,
    SHAPE,
    DTYPES,
    INPUT_DTYPES,
    RESULT_DTYPE,
    VMAP,
)
"""Every key that an entry may have."""

_KERNEL_FIELDS: Final[tuple[Field[object], ...]] = (POINTWISE, SHAPE, DTYPES, INPUT_DTYPES, RESULT_DTYPE, VMAP)
"""The keys that only operators with kernels have."""


# ---------------------------------------------------------------------------------------- reading


def load_library(where: Source | Path, name: str, log: Diagnostics) -> Library | None:
    """Return the operators that a YAML file defines; None, with errors logged, if anything in it is wrong."""
    before = log.error_count
    root = load_yaml(where, log)
    if root is None:
        return None
    operators = tuple(_read_entries(root, log))
    _check_names(operators, log)
    return None if log.error_count > before else Library(name, operators)


def _read_entries(root: Node, log: Diagnostics) -> Iterator[Operator]:
    if not isinstance(root, ListNode):
        message = f"the definitions must be a list of operators, not {kind_of(root)}"
        log.error("wrong-kind", message, root.span, "write '- name: ...' for each operator")
        return
    for node in root.items:
        values = read_fields(node, TABLE, _describe(node), log)
        operator = None if values is None else _read_operator(values, log)
        if operator is not None:
            yield operator


def _describe(node: Node) -> str:
    name = node.get("name") if isinstance(node, MappingNode) else None
    return f"entry '{name.text}'" if isinstance(name, Scalar) and name.text else "an entry"


def _check_names(operators: Iterable[Operator], log: Diagnostics) -> None:
    """Report operators with the same name, in C++ or in Python."""
    cpp: dict[str, Operator] = {}
    python: dict[str, Operator] = {}
    for operator in operators:
        for names, name, where in ((cpp, operator.name, "C++"), (python, operator.python_name, "Python")):
            first = names.setdefault(name, operator)
            if first is not operator:
                notes = [Note("first defined here", first.span)]
                message = f"two operators are called '{name}' in {where}"
                log.error("duplicate-operator", message, operator.span, notes=notes)
                break


def _read_operator(values: Values, log: Diagnostics) -> Operator | None:
    before = log.error_count
    signature = _read_signature(values, log)
    if signature is None:
        return None
    kernels = {device.text: kernel.text for device, kernel in values[DISPATCH]}
    _check_kind(values, signature, log)
    python_name, composite = values[PYTHON_NAME] or values[NAME], values[COMPOSITE]
    batching, batched = _read_batching(values, signature, log)
    operator = Operator(
        name=values[NAME].text,
        python_name=python_name.text,
        arguments=signature.arguments,
        results=signature.results,
        result_count=signature.result_count,
        cpu=kernels.get("cpu"),
        metal=kernels.get("metal"),
        composite=None if composite is None else composite.text,
        pointwise=values[POINTWISE],
        shapes=tuple(_read_shapes(values, signature, log)),
        dtypes=values[DTYPES],
        result_dtypes=_read_result_dtypes(values, signature, log),
        input_dtypes=_read_input_dtypes(values, signature, log),
        gradients=tuple(_read_gradients(values, signature, log)),
        batching=batching,
        batched_arguments=batched,
        doc=values[DOC].strip("\n"),
        span=values[NAME].span,
    )
    _check_operator(operator, values, log)
    return None if log.error_count > before else operator


def _read_signature(values: Values, log: Diagnostics) -> Signature | None:
    whole, cpp, python = values[SIGNATURE], values[CPP_SIGNATURE], values[PYTHON_SIGNATURE]
    if whole is not None and (cpp is not None or python is not None):
        other = cpp or python
        assert other is not None
        message = "'signature' already says what 'cpp_signature' and 'python_signature' would"
        log.error("conflicting-keys", message, other.span, "remove one of the two forms")
        return None
    if whole is not None:
        signature = parse_signature(whole, log)
        wanted, where = values[NAME], "'name'"
    elif cpp is not None and python is not None:
        signature = parse_signatures(cpp, python, log)
        wanted, where = values[PYTHON_NAME] or values[NAME], "'python_name', or else 'name',"
    else:
        message = f"{_describe(values.node)} has no signature"
        label = "add 'signature: ...', or 'cpp_signature: ...' and 'python_signature: ...'"
        log.error("missing-key", message, (cpp or python or values[NAME]).span, label)
        return None
    if signature is not None and signature.name is not None and signature.name.text != wanted.text:
        message = f"the signature is of '{signature.name.text}', but {where} is '{wanted.text}'"
        log.error("signatures-disagree", message, signature.name.span, f"write '{wanted.text}'")
    return signature


def _check_kind(values: Values, signature: Signature, log: Diagnostics) -> None:
    """Report keys for operators with kernels in composite operators, and vice versa."""
    composite = values[COMPOSITE]
    if values[DISPATCH] and composite is not None:
        label = "remove 'composite' or 'dispatch'"
        log.error("conflicting-keys", "an operator with kernels is not composite", composite.span, label)
    if DISPATCH not in values and values.node.key(DISPATCH.name) is not None:
        return  # unreadable, and already reported
    if not values[DISPATCH]:
        for field in _KERNEL_FIELDS:
            if field in values:
                message = f"'{field.name}' is about kernels, and this operator has none"
                log.error("without-kernel", message, values.span(field), "remove it, or add 'dispatch'")
        return
    if signature.results is Results.LIST:
        label = "return a tuple"
        message = "an operator with kernels returns a fixed number of arrays"
        log.error("bad-results", message, values.span(SIGNATURE if SIGNATURE in values else CPP_SIGNATURE), label)
    if values[POINTWISE] and SHAPE in values:
        message = "the results of a pointwise operator have the shape that its inputs broadcast to"
        log.error("conflicting-keys", message, values.span(SHAPE), "remove 'shape' or 'pointwise'")
    elif not values[POINTWISE] and SHAPE not in values:
        label = f"add 'pointwise: true', or 'shape' with one of {', '.join(SHAPE_RULES)} or a C++ expression"
        message = f"the shape of what '{values[NAME].text}' returns is not known"
        log.error("missing-shape", message, values[NAME].span, label)


def _check_operator(operator: Operator, values: Values, log: Diagnostics) -> None:
    """Report what kernels don't support."""
    if not operator.has_kernel:
        return
    if operator.pointwise and not operator.arrays:
        log.error("pointwise-without-arrays", "a pointwise operator takes an array", values.span(POINTWISE))
    for argument in operator.arrays:
        if operator.pointwise and argument.type.is_list:
            message = f"a pointwise operator can't take a list of arrays such as '{argument.name}'"
            log.error("pointwise-list", message, argument.span, "give it a shape rule instead")
    parameters = [argument.name for argument in operator.parameters if argument.type.kind is Kind.DTYPE]
    dynamic = [dtype for dtype in operator.result_dtypes if dtype in parameters]
    if not operator.promoted and None in operator.result_dtypes:
        label = "add 'result_dtype' with a dtype" + (f", or with '{parameters[0]}'" if parameters else "")
        log.error("missing-dtype", f"no array says which dtype '{operator.name}' returns", operator.span, label)
    elif dynamic and operator.promoted:
        message = f"the kernel can't be for the dtype of '{operator.promoted[0].name}' and that of '{dynamic[0]}'"
        log.error("two-dtypes", message, values.span(RESULT_DTYPE), "convert the result in a composite operator")
    if operator.metal is not None:
        _check_metal(operator, values, log)
    if operator.batching is Batching.POINTWISE and not operator.pointwise:
        log.error(
            "unknown-vmap-rule",
            "only pointwise operators can have this batching rule",
            values.span(VMAP),
            "write 'leading'",
        )


def _check_metal(operator: Operator, values: Values, log: Diagnostics) -> None:
    """Report arguments and results that Metal kernels don't support."""
    own = [*(dtype for _, dtype in operator.input_dtypes), *(dtype for dtype in operator.result_dtypes if dtype)]
    if not metal_dtypes(operator) or any(dtype in ELEMENT_TYPES and dtype not in METAL_TYPES for dtype in own):
        message = f"Metal has none of the dtypes that the kernel '{operator.metal}' needs"
        log.error("no-metal-dtype", message, values.span(DISPATCH), f"Metal has {', '.join(METAL_TYPES)}")
    for argument in operator.arguments:
        reason = why_not_metal(argument)
        if reason is not None:
            message = f"a Metal kernel can't get {reason} such as '{argument.name}'"
            log.error("metal-argument", message, argument.span, "give arrays, numbers and booleans")


def _read_shapes(values: Values, signature: Signature, log: Diagnostics) -> Iterator[str]:
    """Yield the shape of each result; a single rule is for all of them."""
    rules, count = values[SHAPE], signature.result_count
    if rules and len(rules) not in (1, count):
        message = f"{len(rules)} shapes for {count} result{'s' if count != 1 else ''}"
        log.error("bad-shape", message, values.span(SHAPE), "write one for each result, or one for all")
    arrays = [argument for argument in signature.arguments if argument.type.is_array]
    for rule in rules * count if len(rules) == 1 else rules:
        if rule.text in SHAPE_RULES:
            yield _named_shape(rule, arrays, log)
        else:
            _check_variables(rule, {argument.name for argument in signature.arguments}, log)
            yield rule.text


def _named_shape(rule: Scalar, arrays: list[Argument], log: Diagnostics) -> str:
    plain = [argument for argument in arrays if not argument.type.optional and not argument.type.is_list]
    if rule.text == "scalar":
        return "mx::Shape{}"
    if not plain:
        log.error("bad-shape", f"'{rule.text}' needs an array that is always given, and there is none", rule.span)
        return ""
    if rule.text == "same":
        return f"{plain[0].name}.shape()"
    return f"detail::broadcast({{{', '.join(f'{argument.name}.shape()' for argument in plain)}}})"


def _read_result_dtypes(values: Values, signature: Signature, log: Diagnostics) -> tuple[str | None, ...]:
    words, count = values[RESULT_DTYPE], signature.result_count
    if words and len(words) not in (1, count):
        message = f"{len(words)} dtypes for {count} result{'s' if count != 1 else ''}"
        log.error("bad-dtype-count", message, values.span(RESULT_DTYPE), "write one for each result, or one for all")
    legal = [a.name for a in signature.arguments if a.type.kind is Kind.DTYPE and not a.type.optional]
    for word in words:
        if word.text not in (*legal, *ELEMENT_TYPES, SAME_DTYPE):
            label = expected(word.text, [SAME_DTYPE, *legal, *ELEMENT_TYPES], limit=20)
            log.error("unknown-dtype", f"'{word.text}' is not a dtype", word.span, label)
    dtypes = tuple(None if word.text == SAME_DTYPE else word.text for word in words) or (None,)
    return dtypes * count if len(dtypes) == 1 else dtypes


def _read_input_dtypes(values: Values, signature: Signature, log: Diagnostics) -> tuple[tuple[str, str], ...]:
    arrays = [argument.name for argument in signature.arguments if argument.type.is_array]
    for name, _ in values[INPUT_DTYPES]:
        _check_argument(name, arrays, "array argument", log)
    return tuple((name.text, dtype.text) for name, dtype in values[INPUT_DTYPES])


def _check_argument(name: Scalar, legal: Iterable[str], what: str, log: Diagnostics) -> None:
    legal = list(legal)
    if name.text not in legal:
        log.error("unknown-argument", f"there is no {what} '{name.text}'", name.span, expected(name.text, legal))


def _read_batching(
    values: Values, signature: Signature, log: Diagnostics
) -> tuple[Batching, tuple[tuple[str, str], ...]]:
    rule = values[VMAP]
    if rule is None:
        return (Batching.POINTWISE if values[POINTWISE] else Batching.LOOP), ()
    if isinstance(rule, Scalar):
        return Batching(rule.text), ()
    legal = {argument.name for argument in signature.arguments if not argument.type.is_array}
    for name, expression in rule:
        _check_argument(name, sorted(legal), "non-array argument", log)
        _check_variables(expression, {argument.name for argument in signature.arguments}, log)
    return Batching.LEADING, tuple((name.text, expression.text) for name, expression in rule)


# -------------------------------------------------------------------------------------- gradients


def _read_gradients(values: Values, signature: Signature, log: Diagnostics) -> Iterator[Gradient]:
    """Yield the gradient of each array argument; all of them, or none at all."""
    formulas = values[GRAD]
    if not formulas:
        return
    arrays = [argument for argument in signature.arguments if argument.type.is_array]
    for name, _ in formulas:
        _check_argument(name, [argument.name for argument in arrays], "array argument", log)
    if signature.results is Results.LIST:
        message = "an operator that returns a list can't have gradients: its number of results is not known"
        log.error("bad-results", message, values.span(GRAD), "return a tuple")
        return
    by_name = {name.text: formula for name, formula in formulas}
    for argument in arrays:
        formula = by_name.get(argument.name)
        if formula is None:
            message = f"'grad' has no gradient of '{argument.name}'"
            label = f"add '{argument.name}: ...', or '{argument.name}: {_NO_GRADIENT}' if no gradient flows to it"
            key = values.node.key(GRAD.name)
            log.error("missing-gradient", message, argument.span if key is None else key.span, label)
            continue
        if formula.text == _NO_GRADIENT:
            yield Gradient(argument.name, None)
            continue
        _check_variables(formula, _formula_variables(signature), log)
        yield Gradient(argument.name, formula.text)


def _formula_variables(signature: Signature) -> set[str]:
    names = {argument.name for argument in signature.arguments} | {"s"}
    if signature.result_count == 1:
        return names | {"grad", "grad_out", "out"}
    return names | {f"{word}{index}" for word in ("grad", "out") for index in range(signature.result_count)}


def _check_variables(formula: Scalar, variables: set[str], log: Diagnostics) -> None:
    """Report names that look like misspelled variables; C++ checks the names of functions and constants."""
    tokens = scan(formula.text)
    if any(token.text == "[" and (not i or tokens[i - 1].kind == "punctuation") for i, token in enumerate(tokens)):
        return  # a lambda has its own variables
    for index, token in enumerate(tokens[:-1]):
        before = tokens[index - 1].text if index else ""
        if token.kind != "word" or before in ("::", ".", "->") or tokens[index + 1].text in ("(", "::", "<", "{"):
            continue
        text = token.text
        if text in variables or text in ELEMENT_TYPES or not is_identifier(text):
            continue
        shadowed = _SEVERAL_OR_ONE.fullmatch(text) is not None
        if shadowed or closest(text, variables) is not None:
            label = expected(text, variables)
            log.error("unknown-variable", f"unknown variable '{text}'", formula.span_at(token.start, token.end), label)


_SEVERAL_OR_ONE: Final = re.compile(r"(?:grad|out)\d*|grad_out")
"""Names of gradients and results, either numbered or not."""
