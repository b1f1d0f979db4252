"""Derivatives → the part of a kernel that adds a node to the graph, and what the node keeps.

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
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from opgen.api.autograd import (
    DifferentiabilityInfo,
    DifferentiableInput,
    SavedAttribute,
)
from opgen.api.types import (
    INT_ARRAY_REF,
    OPTIONAL_TENSOR,
    SCALAR_ARRAY_REF,
    SYM_INT_ARRAY_REF,
    TENSOR,
    TENSOR_LIST,
    ArrayRefCType,
    BaseCType,
    CType,
    ListCType,
    OptionalCType,
    VectorCType,
    stringT,
)
from opgen.dest.autograd_home import AutogradHome
from opgen.values import dataclass

_TENSORS: Final = (TENSOR, OPTIONAL_TENSOR)
_TENSOR_LISTS: Final = (TENSOR_LIST, VectorCType(TENSOR), ListCType(OPTIONAL_TENSOR))
_BORROWED: Final = (INT_ARRAY_REF, SYM_INT_ARRAY_REF, SCALAR_ARRAY_REF)
_STRING: Final = BaseCType(stringT)
_OPTIONAL_STRING: Final = OptionalCType(_STRING)


@dataclass(frozen=True, slots=True)
class Graph:
    """What one kernel's node is made from."""

    info: DifferentiabilityInfo | None
    """The derivatives; None for an operator whose node only says that it has none."""
    name: str
    """The operator's name."""
    home: AutogradHome
    inputs: tuple[DifferentiableInput, ...]
    """The arguments that have a gradient."""
    is_inplace: bool
    is_foreach: bool
    lists: Mapping[str, str]
    """How an in-place operator on lists writes what formulas call the arguments: `other[i]` for `other`."""

    @property
    def node(self) -> str:
        """The node's class."""
        return self.info.op if self.info is not None and self.info.op else "NotImplemented"

    @property
    def maker(self) -> str:
        """The expression that makes the node."""
        argument = f'"{self.name}"' if self.node == "NotImplemented" else ""
        return f"{self.home.make_node}<{self.node}>({argument})"

    @property
    def pointer(self) -> str:
        """The type of pointers to the node."""
        return f"{self.home.node_pointer}<{self.node}>"

    @property
    def has_one_per_element(self) -> bool:
        """Whether there is a node for each tensor of a list: in-place operators on lists have that."""
        return self.is_inplace and self.is_foreach


# -------------------------------------------------------------------------------- before the call


def render_nodes(graph: Graph) -> str:
    """Makes the node, and keeps what is to be kept of the arguments."""
    saved = graph.info.all_saved_inputs if graph.info is not None else ()
    if graph.has_one_per_element:
        return _render_nodes_of_lists(graph, _render_saved(graph, saved, is_output=False))
    names = ", ".join([one.name for one in graph.inputs])
    sizes = [
        f"grad_fn->{one.name}_size_ = {one.name}.size();\n"
        for one in graph.inputs
        if one.type.is_list_like() is not None and graph.info is not None
    ]
    statements = _indented(_render_saved(graph, saved, is_output=False) + "".join(sizes), "    ")
    return f"""\
  {graph.pointer} grad_fn;
  if (_any_requires_grad) {{
    grad_fn = {graph.maker};
    grad_fn->set_next_edges(collect_next_edges( {names} ));
{statements}\
  }}
"""


def _render_nodes_of_lists(graph: Graph, saved: str) -> str:
    names = ", ".join([_element(graph, one) for one in graph.inputs])
    written = _indented(_for_each_node(saved), "    ") if saved else ""
    return f"""\
  std::vector<{graph.pointer}> grad_fns;
  if (_any_requires_grad) {{
    for (const auto& i : c10::irange( self.size() )) {{
      const auto ith_requires_grad = compute_requires_grad({names});
      check_inplace(self[i], ith_requires_grad);
      grad_fns.push_back([&]() -> {graph.pointer} {{
          if (!ith_requires_grad) {{
              return nullptr;
          }} else {{
              auto grad_fn = {graph.maker};
              grad_fn->set_next_edges(collect_next_edges( {names} ));
              return grad_fn;
          }}
      }}());
    }}
{written}\
  }}
"""


def _element(graph: Graph, one: DifferentiableInput) -> str:
    """What the node of one element is about: without derivatives, all of the other lists."""
    is_indexed = one.type.is_list_like() is not None and (graph.info is not None or one.name == "self")
    return f"{one.name}[i]" if is_indexed else one.name


def _for_each_node(statements: str, before: str = "") -> str:
    return f"""\
if (!grad_fns.empty()) {{
{before}\
    for (const auto& i : c10::irange(grad_fns.size())) {{
        auto grad_fn = grad_fns[i];
        if (grad_fn != nullptr) {{
{_indented(statements, "            ")}\
        }}
    }}
}}
"""


def _indented(text: str, indent: str) -> str:
    return "".join([f"{indent}{line}\n" for line in text.splitlines()])


# ------------------------------------------------------------------------------ what is kept


def _render_saved(graph: Graph, saved: Iterable[SavedAttribute], *, is_output: bool) -> str:
    ordered = sorted(saved, key=lambda one: one.name)
    return "".join([_render_one(graph, one, is_output) for one in ordered])


def _render_one(graph: Graph, saved: SavedAttribute, is_output: bool) -> str:
    """Keeps one value."""
    name, ctype = saved.name, saved.nctype.type
    expr = _in_lists(graph, saved.expr)
    if ctype in _TENSORS and name == saved.expr:
        return _render_tensor(graph, saved, expr, is_output)
    if ctype in _TENSOR_LISTS:
        kept = f"make_saved_variable_list({expr}, {'true' if is_output else 'false'})"
        return f"grad_fn->{name}_ = {kept};\n"
    return f"grad_fn->{name} = {_owned(ctype, expr, graph.home)};\n"


def _owned(ctype: CType, expr: str, home: AutogradHome) -> str:
    """The value such that it owns what it shows."""
    if home.keeps_more and isinstance(ctype, ArrayRefCType):
        is_of_strings = ctype.elem == _STRING
        return f"std::vector<std::string>({expr}.begin(), {expr}.end())" if is_of_strings else f"{expr}.vec()"
    if ctype in _BORROWED:
        return f"{expr}.vec()"
    if ctype == _STRING:
        return f"std::string({expr})"
    if ctype == _OPTIONAL_STRING:
        return f"{expr}.has_value() ? ::std::optional<std::string>(std::string({expr}.value())) : ::std::nullopt"
    return expr


def _render_tensor(graph: Graph, saved: SavedAttribute, expr: str, is_output: bool) -> str:
    name = saved.name
    if is_output:
        # What an in-place operator gives is its self, which may be a view.
        own = "self[i]" if graph.has_one_per_element else "self"
        kept = f"SavedVariable({own}, true, {own}.is_view())" if graph.is_inplace else f"SavedVariable({expr}, true)"
        return f"grad_fn->{name}_ = {kept};\n"
    if graph.is_inplace and name == "self":
        original, own = ("original_selfs[i]", "self[i]") if graph.is_foreach else ("original_self", "self")
        statements = f"""\
if (!{original}.has_value()) {original} = {own}.clone();
grad_fn->self_ = SavedVariable({original}.value(), false);
"""
    else:
        statements = f"grad_fn->{name}_ = SavedVariable({expr}, false);\n"
    guard = _guard(graph, saved)
    return f"if ({guard}) {{\n{_indented(statements, '  ')}}}\n" if guard else statements


def _in_lists(graph: Graph, expr: str) -> str:
    """The expression in terms of one element, for an in-place operator on lists."""
    if not graph.has_one_per_element:
        return expr
    return re.sub(r"\b\w+\b", lambda word: graph.lists.get(word.group(), word.group()), expr)


def _guard(graph: Graph, saved: SavedAttribute) -> str:
    """The condition under which a tensor is needed at all; empty if it is in any case.

    A tensor that only the gradient of one argument takes is not kept if that is not wanted.  (For
    operators that compute gradients, that is not done.)
    """
    info = graph.info
    if info is None or len(info.args_with_derivatives) < 2 or "backward" in info.func.root_name:
        return ""
    if saved.nctype.type != TENSOR:
        return ""
    if any(
        argument.nctype.type == TENSOR_LIST or "TensorListRef" in argument.type
        for argument in info.args_with_derivatives
    ):
        return ""
    users = [derivative for derivative in info.derivatives if saved in derivative.saved_inputs]
    if len(users) != 1:
        return ""
    (user,) = users
    if len(user.var_names) != 1:
        return _wanted_by_mask(user.formula, saved.name, [argument.name for argument in info.args_with_derivatives])
    places = [argument.name for argument in info.args_with_derivatives]
    return f"grad_fn->should_compute_output({places.index(user.var_names[0])})"


def _wanted_by_mask(formula: str, name: str, places: Sequence[str]) -> str:
    """The condition in `wrap_opt_if(name, condition)`, in terms of the node."""
    found = re.search(rf"wrap_opt_if\(\s*{re.escape(name)}\s*,(.*?)\)", formula)
    if found is None:
        return ""
    return re.sub(r"grad_input_mask\[(\d+)\]", r"grad_fn->should_compute_output(\1)", found.group(1).strip())


# --------------------------------------------------------------------------------- after the call


def render_history(graph: Graph, outputs: Sequence[str], *, rebase: bool) -> str:
    """Ties the results to the node."""
    function, names = ("rebase_history" if rebase else "set_history"), ", ".join(outputs)
    if graph.has_one_per_element:
        before = f"""\
    auto differentiable_outputs = flatten_tensor_args( {names} );
    TORCH_INTERNAL_ASSERT(differentiable_outputs.size() == grad_fns.size());
"""
        return _indented(_for_each_node(f"{function}(differentiable_outputs[i], grad_fns[i]);", before), "  ")
    return f"  if (grad_fn) {{\n      {function}(flatten_tensor_args( {names} ), grad_fn);\n  }}\n"


def render_saved_outputs(graph: Graph) -> str:
    """Keeps what is to be kept of the results."""
    saved = graph.info.all_saved_outputs if graph.info is not None else ()
    if not saved:
        return ""
    statements = _render_saved(graph, saved, is_output=True)
    if graph.has_one_per_element:
        return _indented(_for_each_node(statements), "  ")
    return f"  if (grad_fn) {{\n{_indented(statements, '    ')}  }}\n"
