"""A program → the signatures, kernels and formulas of each operator, as texts.

    facts_of(program, derivatives)["mylib::scale.out"].schema    "scale.out(Tensor self, …) -> Tensor(a!)"

`opgen diff` compares these values, and `opgen list` and `opgen explain` print them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from opgen.api.python import signature as python_signature
from opgen.api.python_stubs import stub_function
from opgen.api.types import UnsupportedTypeError
from opgen.diagnostics import Span
from opgen.frontend.nodes import ListNode, MappingNode, Node, Scalar
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.model import FunctionSchema, NativeFunction
from opgen.program.program import Program
from opgen.schema.lexer import SchemaError


@dataclass(frozen=True, slots=True)
class OperatorFacts:
    """The signatures, kernels and formulas of one operator."""

    func: FunctionSchema = field(compare=False)
    schema: str
    cpp: tuple[str, ...]
    """Declarations of the C++ functions, with defaults."""
    symbols: tuple[str, ...]
    """The same without names and defaults: what compiled code is linked with."""
    python: str
    """The signature as a type checker reads it; empty if Python can't call the operator by keyword."""
    kernels: FrozenMap[str, str]
    """The kernel under each dispatch key, with its namespace."""
    gradients: FrozenMap[str, str]
    """The formula for each key of the operator's entry in derivatives.yaml."""
    tags: frozenset[str]
    is_selected: bool
    """Whether a selective build registers it."""


def facts_of(
    program: Program, derivatives: Mapping[str, Mapping[str, str]], *, has_cpp: bool = True
) -> dict[str, OperatorFacts]:
    """Return the facts of all operators by name, with the namespace.

    Args:
        program: The operators.
        derivatives: Formulas by operator name.
        has_cpp: Whether C++ functions call the operators; not in the stable ABI, where C++ calls the dispatcher.
    """
    kernels: dict[str, dict[str, str]] = {}
    for key, index in program.backend_indices.items():
        for name, kernel in index.index.items():
            kernels.setdefault(str(name), {})[str(key)] = f"{kernel.cpp_namespace}::{kernel.kernel}"
    return {
        function.qualified_name: _facts(
            function,
            program,
            kernels.get(str(function.func.name), {}),
            derivatives.get(str(function.func.name), {}),
            has_cpp=has_cpp,
        )
        for function in program.functions
    }


def _facts(
    function: NativeFunction,
    program: Program,
    kernels: Mapping[str, str],
    gradients: Mapping[str, str],
    *,
    has_cpp: bool,
) -> OperatorFacts:
    signatures = list(program.signatures(function).cpp.signatures()) if has_cpp else []
    return OperatorFacts(
        func=function.func,
        schema=str(function.func),
        cpp=tuple(signature.decl() for signature in signatures),
        symbols=tuple(
            f"{s.returns.spelled} {s.name()}({', '.join(a.nctype.type.spelled for a in s.arguments)})"
            for s in signatures
        ),
        python=python_text(function),
        kernels=FrozenMap(kernels),
        gradients=FrozenMap(gradients),
        tags=frozenset(function.tags),
        is_selected=program.selector.is_native_function_selected(function),
    )


def python_text(function: NativeFunction) -> str:
    """Return the signature that type checkers get for a Python function; empty if there is none."""
    try:
        text = stub_function(python_signature(function)).render()
    except UnsupportedTypeError:
        return ""
    return " ".join(text.split()).replace("( ", "(").replace(", )", ")")


def formulas_of(root: Node | None) -> dict[str, dict[str, str]]:
    """Return the formulas of a derivatives.yaml by operator name, as far as it can be read.

    Formulas under a dispatch key other than Default have the key before the argument: `AutogradCUDA self`.
    """
    formulas: dict[str, dict[str, str]] = {}
    for name, entry in _named_entries(root):
        formulas.setdefault(name, {}).update(_formulas(entry, ""))
    return formulas


def places_of_derivatives(root: Node | None) -> dict[str, Span]:
    """Return the places of the entries of a derivatives.yaml by operator name, as far as it can be read."""
    return {name: entry.span for name, entry in _named_entries(root)}


def _named_entries(root: Node | None) -> Iterator[tuple[str, MappingNode]]:
    for entry in root.items if isinstance(root, ListNode) else ():
        if isinstance(entry, MappingNode) and (name := _operator_name(entry.get("name"))):
            yield name, entry


def _operator_name(node: Node | None) -> str:
    if not isinstance(node, Scalar):
        return ""
    before, _, after = node.text.partition("(")
    text = before.rpartition("::")[2]
    try:
        return str(FunctionSchema.parse(f"{text}({after}").name)
    except SchemaError:
        return text


def _formulas(entry: MappingNode, prefix: str) -> dict[str, str]:
    formulas: dict[str, str] = {}
    for key, value in entry.entries:
        if key.text == "dispatch" and isinstance(value, MappingNode):
            for name, below in value.entries:
                inner = "" if name.text == "Default" else f"{name.text} "
                formulas.update(_formulas(below, inner) if isinstance(below, MappingNode) else {})
        elif key.text != "name":
            formulas[prefix + key.text] = value.text if isinstance(value, Scalar) else _listed(value)
    return formulas


def _listed(node: Node) -> str:
    items = node.items if isinstance(node, ListNode) else ()
    return f"[{', '.join(item.text for item in items if isinstance(item, Scalar))}]"
