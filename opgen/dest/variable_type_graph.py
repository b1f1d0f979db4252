"""Derivatives → the part of a kernel that adds a node to the graph, and saves variables in it.

c10::intrusive_ptr<AbsBackward0> grad_fn;
if (_any_requires_grad) {
  grad_fn = c10::make_intrusive<AbsBackward0>();
  grad_fn->set_next_edges(collect_next_edges( self ));
  grad_fn->self_ = SavedVariable(self, false);
}
…
if (grad_fn) {
    set_history(flatten_tensor_args( result ), grad_fn);
}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import Final

from opgen.api.autograd import Derivative, DifferentiabilityInfo, SavedAttribute
from opgen.api.types import (
    I_TENSOR_LIST_REF,
    INT_ARRAY_REF,
    OPTIONAL_TENSOR,
    SCALAR_ARRAY_REF,
    SYM_INT_ARRAY_REF,
    TENSOR,
    TENSOR_LIST,
    ArrayRefCType,
    BaseCType,
    ListCType,
    OptionalCType,
    VectorCType,
    stringT,
)
from opgen.dest.variable_type_kernel import Kernel, Parameter
from opgen.output.snippets import Snippets

_SNIPPETS: Final = Snippets("variable_type_graph.cpp")

_STRING: Final = BaseCType(stringT)
_OPTIONAL_STRING: Final = OptionalCType(_STRING)
_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{one.spelled: "tensor" for one in (TENSOR, OPTIONAL_TENSOR)},
        **{one.spelled: "tensors" for one in (TENSOR_LIST, VectorCType(TENSOR), ListCType(OPTIONAL_TENSOR))},
        I_TENSOR_LIST_REF.remove_const_ref().spelled: "tensors",
        **{one.spelled: "borrowed" for one in (INT_ARRAY_REF, SYM_INT_ARRAY_REF, SCALAR_ARRAY_REF)},
        _STRING.spelled: "string",
        _OPTIONAL_STRING.spelled: "optional string",
    }
)
"""How values are saved, by their types; other values are saved unchanged."""


def _node(kernel: Kernel) -> str:
    """Return the node's class."""
    derivatives = kernel.derivatives
    return derivatives.op if derivatives is not None and derivatives.op else "NotImplemented"


def _maker(kernel: Kernel, node: str) -> str:
    """Return the expression that creates the node."""
    argument = f'"{kernel.names.base}"' if node == "NotImplemented" else ""
    return kernel.home.make_node.format(node, argument)


# -------------------------------------------------------------------------------- before the call


def render_nodes(kernel: Kernel) -> str:
    """Return statements that create the node and save inputs for backward."""
    node, saved = _node(kernel), ""
    if kernel.derivatives is not None:
        saved = _render_saved(kernel, kernel.derivatives.all_saved_inputs, is_output=False)
    if kernel.is_of_lists:
        return _render_nodes_of_lists(kernel, node, saved)
    if kernel.derivatives is not None:
        lists = [parameter.name for parameter in kernel.differentiated if parameter.is_list]
        saved += "".join([f"grad_fn->{name}_size_ = {name}.size();\n" for name in lists])
    return _SNIPPETS.render(
        "node",
        pointer=f"{kernel.home.node_pointer}<{node}>",
        maker=_maker(kernel, node),
        names=[parameter.name for parameter in kernel.differentiated],
        saved=_indented(saved, "    "),
    )


def _render_nodes_of_lists(kernel: Kernel, node: str, saved: str) -> str:
    names = ", ".join([_element(kernel, parameter) for parameter in kernel.differentiated])
    pointer = f"{kernel.home.node_pointer}<{node}>"
    saved = _indented(_for_each_node(kernel, saved), "    ") if saved else ""
    return _SNIPPETS.render("nodes_of_lists", pointer=pointer, names=names, maker=_maker(kernel, node), saved=saved)


def _element(kernel: Kernel, parameter: Parameter) -> str:
    """Return the input of one element's node; without derivatives, other lists as a whole."""
    return parameter.element if kernel.derivatives is not None or parameter.name == "self" else parameter.name


def _for_each_node(kernel: Kernel, statements: str, before: str = "") -> str:
    return _SNIPPETS.render(
        "for_each_node",
        before=before,
        type="const auto&" if kernel.home.avoids_copies else "auto",
        statements=_indented(statements, "            "),
    )


def _indented(text: str, indent: str) -> str:
    return "".join([f"{indent}{line}\n" for line in text.removesuffix("\n").split("\n") if text])


# ------------------------------------------------------------------------------ what is kept


def _render_saved(kernel: Kernel, saved: Sequence[SavedAttribute], *, is_output: bool) -> str:
    """Return statements that save values, sorted by name."""
    if not saved:
        return ""
    conditions = {} if is_output or kernel.derivatives is None else _conditions(kernel.derivatives)
    named = sorted([(one.name, one) for one in saved], key=_BY_NAME)
    return "".join([_render_one(kernel, name, one, is_output, conditions) for name, one in named])


_BY_NAME: Final = itemgetter(0)


def _render_one(
    kernel: Kernel, name: str, saved: SavedAttribute, is_output: bool, conditions: Mapping[str, str]
) -> str:
    ctype = saved.nctype.type
    kind = _KINDS.get(ctype.spelled, "")
    expr = _in_lists(kernel, saved.expr)
    if kind == "tensor" and name == saved.expr:
        return _render_result(kernel, name, expr) if is_output else _render_tensor(kernel, name, expr, conditions)
    if kind == "tensors":
        kept = f"make_saved_variable_list({expr}, {'true' if is_output else 'false'})"
        return f"grad_fn->{name}_ = {kept};\n"
    if kernel.home.saves_more_types and isinstance(ctype, ArrayRefCType):
        is_of_strings = ctype.elem == _STRING
        expr = f"std::vector<std::string>({expr}.begin(), {expr}.end())" if is_of_strings else f"{expr}.vec()"
        return f"grad_fn->{name} = {expr};\n"
    return f"grad_fn->{name} = {_owned(kind, expr)};\n"


def _owned(kind: str, expr: str) -> str:
    """Return an expression that owns the value."""
    if kind == "borrowed":
        return f"{expr}.vec()"
    if kind == "string":
        return f"std::string({expr})"
    if kind == "optional string":
        return f"{expr}.has_value() ? ::std::optional<std::string>(std::string({expr}.value())) : ::std::nullopt"
    return expr


def _render_result(kernel: Kernel, name: str, expr: str) -> str:
    kept = f"SavedVariable({expr}, true)"
    if kernel.is_inplace:
        # The result of an in-place operator is `self`, which may be a view.
        own = "self[i]" if kernel.is_foreach else "self"
        kept = f"SavedVariable({own}, true, {own}.is_view())"
    return f"grad_fn->{name}_ = {kept};\n"


def _render_tensor(kernel: Kernel, name: str, expr: str, conditions: Mapping[str, str]) -> str:
    if kernel.is_inplace and name == "self":
        original, own = ("original_selfs[i]", "self[i]") if kernel.is_foreach else ("original_self", "self")
        statements = _SNIPPETS.render("original_self", original=original, own=own)
    else:
        statements = f"grad_fn->{name}_ = SavedVariable({expr}, false);\n"
    condition = conditions.get(name)
    if not condition:
        return statements
    return _SNIPPETS.render("conditional", condition=condition, statements=_indented(statements, "  "))


def _in_lists(kernel: Kernel, expr: str) -> str:
    """Return the expression in terms of one element, for an in-place foreach operator."""
    if not kernel.renamed:
        return expr
    values = {name: parameter.element for name, parameter in kernel.renamed.items()}
    return re.sub(r"\b\w+\b", lambda word: values.get(word.group(), word.group()), expr)


def _conditions(info: DifferentiabilityInfo) -> dict[str, str]:
    """Return the conditions under which tensors are needed, by their names; other tensors are always needed.

    A tensor that only the gradient of one argument uses isn't saved if that gradient isn't needed, except in
    operators that compute gradients.
    """
    arguments = info.args_with_derivatives
    if len(arguments) < 2 or "backward" in info.func.root_name:
        return {}
    spelled = [one.nctype.type.spelled for one in arguments]
    if [one for one in spelled if one == TENSOR_LIST.spelled or "TensorListRef" in one]:
        return {}
    users: dict[str, list[Derivative]] = {}
    for derivative in info.derivatives:
        for saved in derivative.saved_inputs:
            if saved.nctype.type.spelled == TENSOR.spelled and saved.nctype.name == saved.expr:
                users.setdefault(saved.expr, []).append(derivative)
    places = [one.name for one in arguments]
    return {name: _condition(name, one[0], places) for name, one in users.items() if len(one) == 1}


def _condition(name: str, user: Derivative, places: Sequence[str]) -> str:
    """Return the condition that the gradient that uses a tensor is needed; empty if unknown."""
    if len(user.var_names) != 1:
        return _wanted_by_mask(user.formula, name)
    return f"grad_fn->should_compute_output({places.index(user.var_names[0])})"


def _wanted_by_mask(formula: str, name: str) -> str:
    """Return the condition in `wrap_opt_if(name, condition)`, in terms of the node."""
    for found in _MASKED.finditer(formula):
        if found[1] == name:
            return re.sub(r"grad_input_mask\[(\d+)\]", r"grad_fn->should_compute_output(\1)", found[2].strip())
    return ""


_MASKED: Final = re.compile(r"wrap_opt_if\(\s*(\w+)\s*,(?=(.*?)\))")
"""A call `wrap_opt_if(name, condition)`; the match ends before the condition, which may contain other calls."""


# --------------------------------------------------------------------------------- after the call


def render_history(kernel: Kernel, outputs: Sequence[str]) -> str:
    """Return statements that set the history of the results."""
    rebases, names = _rebases(kernel), ", ".join(outputs)
    function = "rebase_history" if rebases else "set_history"
    before = keep = ""
    if rebases and kernel.home.fires_hooks:
        node = f"{kernel.home.node_pointer}<Node>"
        if kernel.is_of_lists:
            before, keep = f"  c10::SmallVector<{node}, 8> _rebased_fns(grad_fns.size());\n", "_rebased_fns[i] = "
        else:
            before, keep = f"  {node} _rebased_fn;\n", "_rebased_fn = "
    if kernel.is_of_lists:
        flattened = _SNIPPETS.render("outputs_of_lists", names=names)
        statement = f"{keep}{function}(differentiable_outputs[i], grad_fns[i]);"
        return before + _indented(_for_each_node(kernel, statement, flattened), "  ")
    call = f"{keep}{function}(flatten_tensor_args( {names} ), grad_fn)"
    return _SNIPPETS.render("history", before=before, call=call)


def _rebases(kernel: Kernel) -> bool:
    """Return whether the results are mutated arguments, which already have a history."""
    return kernel.writes and not kernel.is_view_family


def render_hooks(kernel: Kernel) -> str:
    """Return statements that call the hooks of new nodes; empty if the library has none."""
    if not kernel.home.fires_hooks:
        return ""
    if kernel.is_of_lists:
        return _SNIPPETS.render("hooks_of_lists")
    node = "_rebased_fn" if _rebases(kernel) else "grad_fn"
    return _SNIPPETS.render("hooks", node=node)


def render_saved_outputs(kernel: Kernel) -> str:
    """Return statements that save results for backward."""
    saved = kernel.derivatives.all_saved_outputs if kernel.derivatives is not None else ()
    if not saved:
        return ""
    statements = _render_saved(kernel, saved, is_output=True)
    if kernel.is_of_lists:
        return _indented(_for_each_node(kernel, statements), "  ")
    return _SNIPPETS.render("saved_outputs", statements=_indented(statements, "    "))
