r"""The operators → `Declarations.yaml` and `RegistrationDeclarations.h`: lists for tools outside of torch.

Both list every operator, selected or not, with its C++ types; nothing in torch itself reads them.

    - name: relu                                  # Declarations.yaml
      schema_string: aten::relu(Tensor self) -> Tensor
      arguments:
      - annotation: null
        dynamic_type: at::Tensor
        …

    // RegistrationDeclarations.h
    at::Tensor relu(const at::Tensor & self); // {"schema": "aten::relu(Tensor self) -> Tensor", …}

"Dynamic type" is a historical name for the C++ type without reference, const and optional.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from opgen.api import cpp, dispatcher
from opgen.api.signatures import Signatures
from opgen.api.types import Binding, TypePolicy
from opgen.dest.yaml_text import Scalar, mapping, scalar, sequence
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    DispatchKey,
    NativeFunction,
    OperatorName,
    OptionalType,
    Type,
    Variant,
)
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_REGISTRATIONS: Final = "RegistrationDeclarations.h"
_DECLARATIONS: Final = "Declarations.yaml"
_TENSOR: Final = BaseType(BaseTy.Tensor)
_BOOL: Final = BaseType(BaseTy.bool)


def emit_registration_declarations(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegistrationDeclarations.h`."""
    composite = _operators_with_only_a_composite_kernel(program)
    lines = [render_registration(program.signatures(f), f.func.name not in composite) for f in program.functions]
    yield OutputFile(_REGISTRATIONS, templates.render(_REGISTRATIONS, {"registration_declarations": lines}))


def _operators_with_only_a_composite_kernel(program: Program) -> frozenset[OperatorName]:
    """Return the operators whose only kernel is CompositeImplicitAutograd."""
    indices = dict(program.backend_indices)
    composite = indices.pop(DispatchKey.CompositeImplicitAutograd, None)
    others = {name for index in indices.values() for name in index.index}
    return frozenset(composite.index).difference(others) if composite is not None else frozenset()


def render_registration(signatures: Signatures, needs_kernel: bool) -> str:
    """Return the declaration of a kernel, with the facts that authors of backends need."""
    function = signatures.function
    facts = {
        "schema": f"{function.namespace}::{signatures.schema}",
        "dispatch": str(needs_kernel),
        "default": str(function.has_composite_kernel),
    }
    return f"{signatures.dispatcher.decl(dispatcher.name(function.func))}; // {json.dumps(facts)}"


def emit_declarations_yaml(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `Declarations.yaml`."""
    rows = ArgumentRows()
    entries = [render_declaration(program.signatures(f), rows) for f in program.functions]
    yield OutputFile(_DECLARATIONS, "".join(entries) or "[]\n")


def render_declaration(signatures: Signatures, argument_rows: ArgumentRows) -> str:
    """Return the element of the list that describes an operator."""
    function, func = signatures.function, signatures.func
    usual, faithful = signatures.cpp_backend.signature, signatures.cpp_backend.most_faithful_signature()
    rows = argument_rows.of(signatures)
    parameters = [rows.get(binding.name) or _options_row(binding) for binding in usual.arguments]
    head: dict[str, Scalar] = {
        "name": cpp.name(func),
        "operator_name": cpp.plain_name(func),
        "overload_name": func.name.overload_name,
        "manual_kernel_registration": function.manual_kernel_registration,
        "category_override": function.category_override or "",
        "schema_string": f"{function.namespace}::{signatures.schema}",
    }
    return "".join(
        [
            mapping(head, ""),
            sequence("arguments", parameters, "  "),
            f"  schema_order_cpp_signature: {scalar(faithful.type())}\n",
            sequence("schema_order_arguments", rows.values(), "  "),
            sequence("method_of", [f"  - {scope}\n" for scope in _scopes(function)], "  "),
            f"  mode: native\n  python_module: {scalar(function.python_module or '')}\n",
            sequence("returns", _returns(signatures), "  "),
            _flags(function),
        ]
    )


def _scopes(function: NativeFunction) -> list[str]:
    """Return the C++ scopes of the operator; `Type` is a class that no longer exists."""
    variants = ((Variant.method, "Tensor"), (Variant.function, "namespace"))
    return ["Type", *(scope for variant, scope in variants if variant in function.variants)]


def _flags(function: NativeFunction) -> str:
    """Return the boolean fields, the last lines of an operator's entry."""
    has_options = function.func.arguments.tensor_options is not None
    facts = {
        "inplace": function.func.name.name.inplace,
        "is_factory_method": has_options and Variant.method not in function.variants,
        "abstract": function.is_abstract,
        "device_guard": function.device_guard,
        "with_gil": False,
        "deprecated": False,
        "has_math_kernel": function.has_composite_implicit_autograd_kernel,
    }
    return "".join([f"  {key}: {scalar(value)}\n" for key, value in facts.items()])


def _returns(signatures: Signatures) -> Iterator[str]:
    for returned, name in zip(signatures.func.returns, signatures.return_names, strict=True):
        row: dict[str, Scalar] = {
            "name": name,
            "type": cpp.return_type(returned, policy=signatures.policy).cpp_type(),
            "dynamic_type": dynamic_type(returned.type, signatures.policy),
        }
        if returned.name:
            row["field_name"] = returned.name
        yield mapping(row, "  ")


def dynamic_type(type: Type, policy: TypePolicy) -> str:
    """Return the C++ type of a `type` that isn't None: `at::Tensor` for `Tensor?`."""
    if isinstance(type, OptionalType):
        type = type.elem
    if type == _TENSOR:
        return "at::Tensor"
    return cpp.argument_ctype(type, mutable=False, symint=False, policy=policy).cpp_type()


class ArgumentRows:
    """Renders arguments of schemas; memoized, since operators share most of them."""

    def __init__(self) -> None:
        self._memo: dict[tuple[int, TypePolicy, bool], str] = {}

    def of(self, signatures: Signatures) -> dict[str, str]:
        """Return the arguments of a schema by name, as elements of a list."""
        arguments, policy = signatures.func.arguments, signatures.policy
        rows = {a.name: self._row(a, policy, keyword_only=False) for a in arguments.flat_positional}
        rows |= {a.name: self._row(a, policy, keyword_only=True) for a in arguments.flat_kwarg_only}
        return rows | _out_rows(signatures)

    def _row(self, argument: Argument, policy: TypePolicy, *, keyword_only: bool) -> str:
        key = (id(argument), policy, keyword_only)
        row = self._memo.get(key)
        if row is None:
            facts = _facts_of(argument, policy)
            if keyword_only:
                facts["kwarg_only"] = True
            row = self._memo[key] = mapping(facts, "  ")
        return row


def _out_rows(signatures: Signatures) -> dict[str, str]:
    rows, returns = {}, signatures.func.returns
    for index, argument in enumerate(signatures.func.arguments.out):
        row = _facts_of(argument, signatures.policy) | {"allocate": True, "output": True}
        # An operator that mutates several arguments, or lists, may return nothing.
        if index < len(returns) and (name := returns[index].name):
            row["field_name"] = name
        rows[argument.name] = mapping(row, "  ")
    return rows


def _facts_of(argument: Argument, policy: TypePolicy) -> dict[str, Scalar]:
    """Return the list's entry for an argument."""
    facts: dict[str, Scalar] = {
        "name": argument.name,
        "type": cpp.argument_ctype(argument.type, mutable=argument.is_write, symint=False, policy=policy).cpp_type(),
        "dynamic_type": dynamic_type(argument.type, policy),
        "is_nullable": argument.type.is_nullable(),
        "annotation": None if argument.annotation is None else str(argument.annotation),
    }
    if argument.default is not None:
        # Included even if the C++ overloads omit it.
        facts["default"] = typed_default(cpp.default_expr(argument.default, argument.type, symint=False))
    elements = argument.type.is_list_like()
    if elements is not None and elements.size is not None and elements.elem != _BOOL:
        facts["size"] = elements.size
    return facts


def _options_row(options: Binding) -> str:
    """Return the parameter for the four tensor options."""
    row: dict[str, Scalar] = {
        "name": options.name,
        "type": options.type,
        "dynamic_type": options.type,
        "is_nullable": False,
        "annotation": None,
        "kwarg_only": True,
    }
    if options.default is not None:
        row["default"] = typed_default(options.default)
    return mapping(row, "  ")


def typed_default(expression: str) -> Scalar:
    """Return the Python value of a C++ default, if it has one; otherwise the expression."""
    if expression in ("true", "false"):
        return expression == "true"
    for read in (int, float):
        try:
            return read(expression)
        except ValueError:
            continue
    return expression
