"""An operator → the C++ code that lowers its node to TorchScript.

The node's operands are looked up in the lowering context, and its scalars are constants; both are passed to the
TorchScript operator of the same name.

    arguments.emplace_back(loctx->GetOutputOp(operand(i++)));
    torch::lazy::TSOpVector abs_out = torch::lazy::LowerTSBuiltin(function, op().op, arguments, kwarguments);
"""

from __future__ import annotations

from opgen.api.lazy import LazyArgument, LazyIrSchema
from opgen.api.types import OptionalCType


def lowering_body(schema: LazyIrSchema) -> str:
    """Return the statements of the method `Lower`."""
    positional = schema.filtered_args(keyword=False)
    keyword = [*schema.keyword_values, *schema.keyword_scalars]
    result = f"{schema.aten_name}_out"
    lines = (
        "std::vector<torch::jit::NamedValue> arguments;",
        "std::vector<torch::jit::NamedValue> kwarguments;",
        f"arguments.reserve({len(positional)});",
        f"kwarguments.reserve({len(keyword)});",
        "size_t i = 0;",
        *(f"arguments.emplace_back({_positional(argument)});" for argument in positional),
        *(f'kwarguments.emplace_back("{argument.name}", {_given(argument)});' for argument in keyword),
        f"torch::lazy::TSOpVector {result} = torch::lazy::LowerTSBuiltin(function, op().op, arguments, kwarguments);",
        *_returned(schema, result),
    )
    return "".join(f"    {line}\n" for line in lines)


def _positional(argument: LazyArgument) -> str:
    return _given(argument) if argument.is_lazy_value else f'"{argument.name}", {_given(argument)}'


def _given(argument: LazyArgument) -> str:
    """Return the argument's value: a value in the graph, or a constant."""
    if not argument.is_lazy_value:
        return argument.name
    operand = "loctx->GetOutputOp(operand(i++))"
    optional = isinstance(argument.lazy_type, OptionalCType)
    return f"has_{argument.name} ? {operand} : nullptr" if optional else operand


def _returned(schema: LazyIrSchema, result: str) -> tuple[str, ...]:
    """Return statements that check and return the results; a list is one result, and is unpacked."""
    if not schema.returns_list:
        return (f"TORCH_CHECK_EQ({result}.size(), {len(schema.returns)});", f"return {result};")
    unpack = f"function->graph()->createListUnpack({result}[0], num_outputs())"
    return (
        f"TORCH_CHECK_EQ({result}.size(), 1);",
        f"const auto unpacked = function->graph()->insertNode({unpack})->outputs();",
        "return {unpacked.begin(), unpacked.end()};",
    )
