"""The selected operators → kernels for TorchScript's interpreter: `UnboxingFunctions`, `RegisterCodegenUnboxedKernels`.

A kernel pops an operator's arguments from a stack, calls the operator's C++ function and pushes the results.
torch instantiates such kernels from C++ templates; a small build generates them instead, only for the
operators that its models call.

    TORCH_API void relu(Stack & stack) {
      c10::IValue self = std::move(peek(stack, 0, 1));
      at::Tensor self_base = self.to<at::Tensor>();
      drop(stack, 1);
      auto result_ = self_base.relu();
      pack(stack, std::move(result_));
    }

Each is registered with the operator's name and the names and defaults of its arguments, so that no schema is
parsed at startup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Final

from opgen.api import unboxing
from opgen.api.cpp import default_expr
from opgen.api.translate import call_arguments
from opgen.dest.cpp_text import string_literal
from opgen.model import Argument, BaseTy, BaseType, ListType, NativeFunction, OptionalType, Type, Variant
from opgen.output.files import OutputFile, emit_sharded, shard
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet
from opgen.program.program import Program

_SNIPPETS: Final = Snippets("unboxing.cpp")

_HEADER: Final = "UnboxingFunctions.h"
_SOURCE: Final = "UnboxingFunctions.cpp"
_REGISTRATIONS: Final = "RegisterCodegenUnboxedKernels.cpp"
_SOURCE_SHARDS: Final = 5
_REGISTRATION_SHARDS: Final = 10
_WORTH_SHARDS: Final = 100
"""The minimum number of selected operators for several shards."""

_NOTHING: Final = "::std::nullopt,"
"""An operator that isn't registered: empty braces would be ambiguous in C++."""
_ELEMENTS: Final = MappingProxyType({BaseTy.int: "int64_t", BaseTy.SymInt: "int64_t", BaseTy.float: "double"})
"""The C++ types of numbers, which literals are cast to."""


def emit_unboxing(program: Program, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the header, the kernels and their registrations."""
    functions = [f for f in program.functions if program.selector.is_root_operator(f.qualified_name)]
    source_shards, registration_shards = _shards(program, functions)
    declarations = [_declaration(program, function) for function in functions]
    yield OutputFile(_HEADER, templates.render(_HEADER, {"declarations": declarations}))
    yield from emit_sharded(
        templates,
        _SOURCE,
        {},
        functions,
        key=lambda function: function.root_name,
        item_env=lambda function: {"definitions": [_definition(program, function)]},
        shards=source_shards,
        sharded_keys=("definitions",),
    )
    has_empty_shard = len({shard(f.root_name, registration_shards) for f in functions}) < registration_shards
    yield from emit_sharded(
        templates,
        _REGISTRATIONS,
        {"unboxed_ops": (_NOTHING,) if has_empty_shard else ()},
        functions,
        key=lambda function: function.root_name,
        item_env=lambda function: {"unboxed_ops": [_registration(program, function)]},
        shards=registration_shards,
        sharded_keys=("unboxed_ops",),
    )


def _shards(program: Program, functions: Sequence[NativeFunction]) -> tuple[int, int]:
    """Return the numbers of files with kernels and with registrations."""
    count = len(functions if program.selector.include_all_operators else program.selector.operators)
    return (1, 1) if count < _WORTH_SHARDS else (_SOURCE_SHARDS, _REGISTRATION_SHARDS)


def _schema(program: Program, function: NativeFunction) -> str:
    return f"{function.namespace}::{program.signatures(function).schema}"


def _declaration(program: Program, function: NativeFunction) -> str:
    return f"// {_schema(program, function)}\nTORCH_API void {unboxing.name(function)}(Stack & stack);"


def _definition(program: Program, function: NativeFunction) -> str:
    """Return the kernel of one operator."""
    bindings, code = unboxing.convert_arguments(function)
    signatures = program.signatures(function)
    # If the usual function is handwritten, only the one generated next to it certainly exists.
    signature, callee = signatures.cpp.most_faithful_signature(), "at::"
    if Variant.method in function.variants:
        itself = next(b.name for b in bindings if b.nctype.name == "self")
        signature, callee = signature.as_method(), f"{itself}."
    call = f"{callee}{signature.name()}({call_arguments(bindings, signature.arguments)});"
    body = [*code, f"drop(stack, {len(bindings)});"]
    body += ["auto result_ = " + call, "pack(stack, std::move(result_));"] if function.func.returns else [call]
    return _SNIPPETS.render(
        "definition", schema=_schema(program, function), name=unboxing.name(function), statements=body
    ).removesuffix("\n")


def _registration(program: Program, function: NativeFunction) -> str:
    """Return the registration of one operator's kernel, followed by a comma."""
    name, func = unboxing.name(function), function.func
    positional = len(func.arguments.flat_positional)
    arguments = [_argument(a, at >= positional) for at, a in enumerate(func.schema_order_arguments())]
    returns = [f"c10::Argument({string_literal(returned.name or '')})" for returned in func.returns]
    return _SNIPPETS.render(
        "registration",
        schema=_schema(program, function),
        operator=string_literal(f"{function.namespace}::{func.name.name}"),
        overload=string_literal(func.name.overload_name),
        arguments=_braced(arguments),
        returns=_braced(returns),
        recorded=string_literal(str(func.name.name)),
        name=name,
    ).removesuffix("\n")


def _braced(items: Sequence[str]) -> str:
    """Return a list in braces, one item per line."""
    return "{\n" + "".join([f"    {item},\n" for item in items]) + "}" if items else "{}"


def _argument(argument: Argument, is_keyword_only: bool) -> str:
    """Return the registry's entry for an argument: its name, its default, and whether it is keyword-only."""
    default = "::std::nullopt" if argument.default is None else default_ivalue(argument.default, argument.type)
    keyword_only = ", true" if is_keyword_only else ""
    return f"c10::Argument({string_literal(argument.name)}, nullptr, ::std::nullopt, {default}{keyword_only})"


def default_ivalue(default: str, t: Type) -> str:
    """Return the C++ expression for a default's `IValue`: `c10::IValue(static_cast<double>(1))`."""
    if isinstance(t, OptionalType):
        return "c10::IValue()" if default == "None" else default_ivalue(default, t.elem)
    expression = default_expr(default, t, symint=False)
    if isinstance(t, ListType):
        return f"c10::IValue({_list(expression, t)})"
    if t == BaseType(BaseTy.Scalar):
        return f"c10::IValue(at::Scalar({expression}))"
    number = _ELEMENTS.get(t.name) if isinstance(t, BaseType) else None
    return f"c10::IValue({expression})" if number is None else f"c10::IValue(static_cast<{number}>({expression}))"


def _list(expression: str, t: ListType) -> str:
    """Return the list for a default; a single value fills a list of fixed length."""
    elem = t.elem
    if elem == BaseType(BaseTy.bool):
        return f"std::array<bool, {t.size}>{expression}"
    spelled = _ELEMENTS.get(elem.name) if isinstance(elem, BaseType) else None
    spelled = spelled or unboxing.unbox(elem, "elem").ctype.cpp_type(strip_ref=True)
    items = expression if expression.startswith("{") else "{" + ", ".join([expression] * (t.size or 1)) + "}"
    return f"std::vector<{spelled}>{items}"
