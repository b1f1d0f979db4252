"""Derivatives → the classes of the graph's nodes, each of which computes gradients (Functions.h/.cpp).

A node keeps what its formulas need.  The formulas stand in a function of their own, which takes
all of that as arguments, so that the compiler of graphs can call it as well.

    struct TORCH_API AbsBackward0 : public TraceableFunction {
      variable_list apply(variable_list&& grads) override;
      SavedVariable self_;
    };

    static variable_list AbsBackward0_apply_functional(
      variable_list&& grads, std::array<bool,1> needs_input_grad, Tensor& self) {
      if (needs_input_grad[/*self*/0]) {
        auto grad_result = any_grad_defined ? (grad * self.sgn()) : Tensor();
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from opgen.api.autograd import (
    Derivative,
    DifferentiabilityInfo,
    identifiers,
    is_foreach_func,
    uses_retain_variables,
    uses_single_grad,
)
from opgen.api.types import OPTIONAL_TENSOR_LIST, TENSOR_LIST, Binding
from opgen.autograd_program import AutogradProgram
from opgen.dest.autograd_home import TORCH, AutogradHome, is_of_torch
from opgen.dest.saved_attributes import Member, saved_members
from opgen.model import NativeFunction, SchemaKind
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.values import dataclass

_LISTS: Final = ("at::TensorList", "const at::ITensorListRef &")
"""Types of parameters that are lists of tensors."""

_SHARES_NOTHING: Final = ("lift_fresh",)
"""Views by their schemas, whose nodes are like any other."""


@dataclass(frozen=True, slots=True)
class Node:
    """A class of nodes."""

    info: DifferentiabilityInfo
    op: str
    members: tuple[Member, ...]
    arguments: tuple[Binding, ...]
    """The arguments whose gradients it computes."""
    sizes: tuple[str, ...]
    """The members that tell how many tensors each of these has that is a list."""
    lists: frozenset[str]
    """The names of these arguments."""
    retains: bool
    """Whether a formula asks if the graph is kept."""

    @staticmethod
    def of(info: DifferentiabilityInfo, op: str, home: AutogradHome = TORCH) -> Node:
        """The class for an entry."""
        members = saved_members(info, keeps_more=home.keeps_more)
        lists = [a.name for a in info.args_with_derivatives if is_tensor_list(a) or (home.keeps_more and _has_gaps(a))]
        sizes = tuple(f"{name}_size_" for name in lists)
        retains = uses_retain_variables(info)
        return Node(info, op, members, info.args_with_derivatives, sizes, frozenset(lists), retains)


def nodes_of(infos: Iterable[DifferentiabilityInfo], home: AutogradHome = TORCH) -> list[Node]:
    """The classes for entries that have gradients."""
    return [Node.of(info, info.op, home) for info in infos if info.op is not None]


def is_tensor_list(binding: Binding) -> bool:
    """Whether a parameter is a list of tensors."""
    return binding.nctype.type == TENSOR_LIST or binding.type in _LISTS


def _has_gaps(binding: Binding) -> bool:
    """Whether a parameter is a list of tensors of which some may be missing; torch's own have no gradients."""
    return binding.nctype.type == OPTIONAL_TENSOR_LIST


def emit_autograd_function_headers(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Functions.h"""
    nodes = nodes_of((*program.infos, *program.list_infos))
    env = {"autograd_function_declarations": "\n".join(map(render_declaration, nodes))}
    yield OutputFile("Functions.h", templates.render("Functions.h", env))


def emit_autograd_function_sources(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Functions.cpp"""
    nodes = nodes_of((*program.infos, *program.list_infos))
    env = {"autograd_function_definitions": "\n".join(map(render_definition, nodes))}
    yield OutputFile("Functions.cpp", templates.render("Functions.cpp", env))


# ------------------------------------------------------------------------------- declarations


def _base_class(function: NativeFunction) -> str:
    """Nodes of views can't be traced: they have to be taken again."""
    is_view = (
        function.is_view_op
        and function.func.kind() is SchemaKind.functional
        and not function.has_composite_implicit_autograd_kernel
        and not (function.root_name in _SHARES_NOTHING and is_of_torch(function))
    )
    return "Node" if is_view else "TraceableFunction"


def render_declaration(node: Node, home: AutogradHome = TORCH) -> str:
    """The class."""
    op, base = node.op, _base_class(node.info.func)
    release = [line for member in node.members for line in member.release]
    members = [line for member in node.members for line in member.declarations]
    members += [f"size_t {size};" for size in node.sizes]
    return f"""\
{_render_head(op, base, home)}\
  using {base}::{base};
  variable_list apply(variable_list&& grads) override;
  std::string name() const override {{ return "{op}"; }}
  void release_variables() override {{
{_lines([_LOCK, *release] if release else [], 4)}\
  }}
{_RETAIN if node.retains else ""}\
  void compiled_args(CompiledNodeArgs& args) const override;
  variable_list apply_with_saved(const variable_list& inputs, SwapSavedVariables& saved) override;
{_lines(members, 2)}\
}};
"""


def _render_head(op: str, base: str, home: AutogradHome) -> str:
    if not home.exports:
        return f"struct {op} : public {base} {{\n"
    return f"""\
#ifdef _WIN32
struct {op} : public {base} {{
  {home.exports} {op}() = default;
#else
struct {home.exports} {op} : public {base} {{
#endif
"""


_LOCK: Final = "std::lock_guard<std::mutex> lock(mutex_);"
_RETAIN: Final = """\
  bool retain_variables = true;
  void will_release_variables() override {
    retain_variables = false;
  }
"""


def _lines(lines: Iterable[str], indent: int) -> str:
    """Lines, indented, each with its newline."""
    before = " " * indent
    return "".join([f"{before}{line}\n" for line in lines])


# -------------------------------------------------------------------------------- definitions


def render_definition(node: Node) -> str:
    """All functions of a class, and those that they call."""
    op, values = node.op, _Values.of(node)
    prologue = _lines([m.guard for m in node.members if m.guard], 2)
    prologue += _lines([m.unpack for m in node.members if m.unpack], 2)
    prologue += _render_needs(node)
    lock = f"  {_LOCK}\n" if any(member.release for member in node.members) else ""
    return f"""\
{_render_functional(node, values)}
variable_list {op}::apply(variable_list&& grads) {{
{lock}\
{prologue}\
  return {op}_apply_functional({", ".join(["std::move(grads)", "needs_input_grad", *values.names])});
}}

void {op}::compiled_args(CompiledNodeArgs& args) const {{
{_lines([f"args.collect({member.collected});" for member in node.members], 4)}\
}}
{_render_apply_with_saved(node, values, prologue)}"""


def _render_functional(node: Node, values: _Values) -> str:
    """The formulas as a function of all that they use, and the same for values of TorchScript."""
    op, count = node.op, len(node.arguments)
    return f"""\
static variable_list {op}_apply_functional(
  variable_list&& grads,
  {", ".join([f"std::array<bool,{count}> needs_input_grad", *values.parameters])})
{{
{_render_ranges(node)}\
  variable_list grad_inputs(gen.size());
{_render_gradients(node)}\
  return grad_inputs;
}}
inline variable_list {op}_apply_functional_ivalue(const variable_list& grads, const ivalue_list& args)
{{
#ifdef C10_MOBILE
  TORCH_INTERNAL_ASSERT(false, "compiled autograd doesn't work on mobile");
#else
  auto packed_args = PackedArgs(args);
  auto needs_input_grad = packed_args.unpack<std::array<bool, {count}>>();
{_lines([f"auto {name} = packed_args.unpack<{type}>();" for name, type in values.typed], 2)}\
  return {op}_apply_functional({", ".join(["variable_list(grads)", "needs_input_grad", *values.names])});
#endif
}}
"""


def _render_apply_with_saved(node: Node, values: _Values, prologue: str) -> str:
    """What the compiler of graphs calls in place of `apply`."""
    return f"""\
variable_list {node.op}::apply_with_saved(const variable_list& grads, SwapSavedVariables& saved) {{
#ifdef C10_MOBILE
  TORCH_INTERNAL_ASSERT(false, "compiled autograd doesn't work on mobile");
#else
{_lines([f"saved.before({member.member});" for member in node.members if member.is_swapped], 2)}\

{_render_binding(node, values)}\

  variable_list output_result;

  PackedArgs packed_args;
{prologue}\
  packed_args.pack(needs_input_grad);
{_lines([f"packed_args.pack({name});" for name in values.names], 2)}\

  output_result = compiled_autograd_apply_functional(packed_args, next_edges(), saved, grads, name());

{_lines([f"saved.after({member.member});" for member in node.members if member.is_swapped], 2)}\
  return output_result;
#endif
}}
"""


@dataclass(frozen=True, slots=True)
class _Values:
    """What the formulas' function takes, beside the gradients and which gradients are wanted."""

    names: tuple[str, ...]
    typed: tuple[tuple[str, str], ...]
    """Names and types."""
    parameters: tuple[str, ...]

    @staticmethod
    def of(node: Node) -> _Values:
        """The parameters of a node's function."""
        sizes = [(size, "size_t") for size in node.sizes]
        members = [(member.name, member.type) for member in node.members]
        retain = [("retain_variables", "bool")] if node.retains else []
        typed = (*sizes, *members, *retain)
        by_reference = {name for name, _ in members}
        parameters = tuple(f"{type}{'&' if name in by_reference else ''} {name}" for name, type in typed)
        return _Values(tuple(name for name, _ in typed), typed, parameters)


def _render_ranges(node: Node) -> str:
    """Where in the list of gradients that is returned those of each argument stand."""
    sizes = [f"{a.name}_size_" if a.name in node.lists else "1" for a in node.arguments]
    ranges = [f"auto {a.name}_ix = gen.range({size});" for a, size in zip(node.arguments, sizes)]
    return _lines(["IndexRangeGenerator gen;", *ranges], 2)


def _render_needs(node: Node) -> str:
    wanted = _lines([f"task_should_compute_output({{ {a.name}_ix }})," for a in node.arguments], 4)
    count = len(node.arguments)
    return f"{_render_ranges(node)}  auto needs_input_grad = std::array<bool, {count}>{{\n{wanted}  }};\n"


def _render_binding(node: Node, values: _Values) -> str:
    """Tells the compiler of graphs, once, of the formulas' function."""
    types = [f"std::array<bool, {len(node.arguments)}>", *(type for _, type in values.typed)]
    schema = [f"torch::dynamo::autograd::IValuePacker<{type}>::packed_type()," for type in types]
    return f"""\
  static bool called = false;
  if (!called) {{
    called = true;
    std::vector<at::TypePtr> schema = {{
{_lines(schema, 6)}\
    }};
    const auto& pyinterface = torch::dynamo::autograd::getPyCompilerInterface();
    pyinterface->bind_function(saved.get_py_compiler(), name(), {node.op}_apply_functional_ivalue, schema);
  }}
"""


# ----------------------------------------------------------------------------------- formulas


def _render_gradients(node: Node) -> str:
    """The formulas, in order, after the names that they use."""
    info = node.info
    places = {argument.name: at for at, argument in enumerate(node.arguments)}
    lists = node.lists
    head = ["const auto& grad = grads[0];"] if uses_single_grad(info) else []
    named = sorted(info.used_named_gradients)
    head += [f"const auto& {name} = grads[{info.available_named_gradients.index(name)}];" for name in named]
    if any(_is_checked(derivative, lists) for derivative in info.derivatives):
        head.append("bool any_grad_defined = any_variable_defined(grads);")
    render = _render_for_each if is_foreach_func(info.func) else _render_one
    return _lines(head, 2) + "".join(
        [
            render(derivative, places, lists) if len(derivative.var_names) == 1 else _render_many(derivative, places)
            for derivative in info.derivatives
        ]
    )


def _is_checked(derivative: Derivative, lists: frozenset[str]) -> bool:
    """Whether nothing is computed if no result has a gradient: for one argument that is no list.

    Formulas that only say that there is none speak up in any case.
    """
    names = derivative.var_names
    return len(names) == 1 and names[0] not in lists and "not_implemented" not in derivative.formula


def _checked(derivative: Derivative, lists: frozenset[str]) -> str:
    formula = derivative.formula
    return f"any_grad_defined ? ({formula}) : Tensor()" if _is_checked(derivative, lists) else formula


def _render_one(derivative: Derivative, places: dict[str, int], lists: frozenset[str]) -> str:
    """The gradient of one argument."""
    (name,) = derivative.var_names
    return f"""\
  if (needs_input_grad[/*{name}*/{places[name]}]) {{
    auto grad_result = {_checked(derivative, lists)};
    copy_range(grad_inputs, {name}_ix, grad_result);
  }}
"""


def _render_for_each(derivative: Derivative, places: dict[str, int], lists: frozenset[str]) -> str:
    """The gradients of the tensors of a list."""
    (name,) = derivative.var_names
    return f"""\
  if (needs_input_grad[/*{name}*/{places[name]}]) {{
    std::vector<Tensor> grad_result;
    grad_result.reserve(grads.size());
    for (const auto & i : c10::irange(grads.size())) {{
      if (grads[i].defined()) {{
        grad_result.emplace_back({_checked(derivative, lists)});
      }} else {{
        grad_result.emplace_back(Tensor());
      }}
    }}
    copy_range(grad_inputs, {name}_ix, grad_result);
  }}
"""


def _render_many(derivative: Derivative, places: dict[str, int]) -> str:
    """The gradients of several arguments, which one formula gives as a tuple."""
    names = derivative.var_names
    needs = [f"needs_input_grad[{places[name]}]" for name in names]
    mask = ""
    if "grad_input_mask" in identifiers(derivative.formula):
        wanted = _lines([f"{need}," for need in needs], 8)
        mask = f"      auto grad_input_mask = std::array<bool, {len(names)}>{{\n{wanted}      }};\n"
    copies = [_copy_of_many(name, at, places[name]) for at, name in enumerate(names)]
    return f"""\
  if ({" || ".join(needs)}) {{
{mask}\
    auto grad_result = {derivative.formula};
{"".join(copies)}\
  }}
"""


def _copy_of_many(name: str, at: int, place: int) -> str:
    return f"""\
      if (needs_input_grad[/*{name}*/{place}]) {{
        copy_range(grad_inputs, {name}_ix, std::get<{at}>(grad_result));
      }}
"""
