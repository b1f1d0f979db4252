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

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from opgen.api.autograd import Derivative, identifiers, is_foreach_func, uses_single_grad
from opgen.api.autograd_nodes import Node
from opgen.dest.autograd_home import AutogradHome, is_of_torch, torch_home
from opgen.model import NativeFunction, SchemaKind
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram

_SHARES_NOTHING: Final = ("lift_fresh",)
"""Views by their schemas, whose nodes are like any other."""


def emit_autograd_function_headers(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Functions.h"""
    home = torch_home(program.program.release)
    env = {
        "autograd_function_declarations": "\n".join([render_declaration(node, home) for node in _all_nodes(program)])
    }
    yield OutputFile("Functions.h", templates.render("Functions.h", env))


def emit_autograd_function_sources(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Functions.cpp"""
    env = {"autograd_function_definitions": "\n".join(map(render_definition, _all_nodes(program)))}
    yield OutputFile("Functions.cpp", templates.render("Functions.cpp", env))


def _all_nodes(program: AutogradProgram) -> list[Node]:
    return program.nodes_of((*program.infos, *program.list_infos))


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


def render_declaration(node: Node, home: AutogradHome) -> str:
    """The class."""
    op, base = node.op, _base_class(node.info.func)
    released = "".join([member.released for member in node.members])
    return f"""\
{_render_head(op, base, home)}\
  using {base}::{base};
  variable_list apply(variable_list&& grads) override;
  std::string name() const override {{ return "{op}"; }}
  void release_variables() override {{
{f"    {_LOCK}{released}" if released else ""}\
  }}
{_RETAIN if node.retains else ""}\
  void compiled_args(CompiledNodeArgs& args) const override;
  variable_list apply_with_saved(const variable_list& inputs, SwapSavedVariables& saved) override;
{"".join([member.declared for member in node.members])}\
{_lines([f"size_t {size};" for size in node.sizes], 2)}\
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


_LOCK: Final = "std::lock_guard<std::mutex> lock(mutex_);\n"
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
    op, values, places, members = node.op, _Values.of(node), _Places.of(node), _Handled.of(node)
    return f"""\
{_render_functional(node, values, places)}
variable_list {op}::apply(variable_list&& grads) {{
{members.lock}\
{members.unpacked}\
{places.needs}\
  return {op}_apply_functional(std::move(grads), needs_input_grad{values.names});
}}

void {op}::compiled_args(CompiledNodeArgs& args) const {{
{members.collected}\
}}
variable_list {op}::apply_with_saved(const variable_list& grads, SwapSavedVariables& saved) {{
#ifdef C10_MOBILE
  TORCH_INTERNAL_ASSERT(false, "compiled autograd doesn't work on mobile");
#else
{members.before}\

{_render_binding(node, values)}\

  variable_list output_result;

  PackedArgs packed_args;
{members.unpacked}\
{places.needs}\
  packed_args.pack(needs_input_grad);
{values.packed}\

  output_result = compiled_autograd_apply_functional(packed_args, next_edges(), saved, grads, name());

{members.after}\
  return output_result;
#endif
}}
"""


def _render_functional(node: Node, values: _Values, places: _Places) -> str:
    """The formulas as a function of all that they use, and the same for values of TorchScript."""
    op, count = node.op, len(node.arguments)
    return f"""\
static variable_list {op}_apply_functional(
  variable_list&& grads,
  std::array<bool,{count}> needs_input_grad{values.parameters})
{{
{places.ranges}\
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
{values.taken}\
  return {op}_apply_functional(variable_list(grads), needs_input_grad{values.names});
#endif
}}
"""


def _render_binding(node: Node, values: _Values) -> str:
    """Tells the compiler of graphs, once, of the formulas' function."""
    return f"""\
  static bool called = false;
  if (!called) {{
    called = true;
    std::vector<at::TypePtr> schema = {{
      torch::dynamo::autograd::IValuePacker<std::array<bool, {len(node.arguments)}>>::packed_type(),
{values.schema}\
    }};
    const auto& pyinterface = torch::dynamo::autograd::getPyCompilerInterface();
    pyinterface->bind_function(saved.get_py_compiler(), name(), {node.op}_apply_functional_ivalue, schema);
  }}
"""


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """What the formulas' function takes beside the gradients and which gradients are wanted, wherever it is spelled."""

    names: str
    """As arguments of a call, behind others."""
    parameters: str
    """As parameters, behind others."""
    taken: str
    """Gets them from TorchScript's values."""
    packed: str
    """Makes such values of them."""
    schema: str
    """Their types in TorchScript."""

    @staticmethod
    def of(node: Node) -> _Values:
        """The parameters of a node's function."""
        typed = [(size, "size_t", "") for size in node.sizes]
        typed += [(member.name, member.type, "&") for member in node.members]
        if node.retains:
            typed.append(("retain_variables", "bool", ""))
        names = parameters = taken = packed = schema = ""
        for name, type, reference in typed:
            names += f", {name}"
            parameters += f", {type}{reference} {name}"
            taken += f"  auto {name} = packed_args.unpack<{type}>();\n"
            packed += f"  packed_args.pack({name});\n"
            schema += f"      torch::dynamo::autograd::IValuePacker<{type}>::packed_type(),\n"
        return _Values(names, parameters, taken, packed, schema)


@dataclass(frozen=True, slots=True, eq=False)
class _Handled:
    """What a node's functions do with its members."""

    lock: str
    """Keeps others from letting go of them meanwhile."""
    unpacked: str
    """Makes values of them that formulas can use."""
    collected: str
    """Hands them to the compiler of graphs."""
    before: str
    """Lets it put its own tensors and symbols in."""
    after: str
    """Puts back what was there."""

    @staticmethod
    def of(node: Node) -> _Handled:
        """The statements for all members."""
        lock = guards = unpacked = collected = before = after = ""
        for member in node.members:
            if member.released:
                lock = f"  {_LOCK}"
            guards += member.guard
            unpacked += member.unpacked
            output = f", {'true' if member.is_output else 'false'}" if member.unpacked else ""
            collected += f"    args.collect({member.member}{output});\n"
            if member.is_swapped:
                before += f"  saved.before({member.member});\n"
                after += f"  saved.after({member.member});\n"
        return _Handled(lock, guards + unpacked, collected, before, after)


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Where the arguments' gradients stand."""

    ranges: str
    """Names the place of each argument's gradients in the list that is returned."""
    needs: str
    """The same, and asks which gradients are wanted."""

    @staticmethod
    def of(node: Node) -> _Places:
        """The places of a node's arguments."""
        ranges, wanted = "  IndexRangeGenerator gen;\n", ""
        for argument in node.arguments:
            name = argument.name
            ranges += f"  auto {name}_ix = gen.range({f'{name}_size_' if name in node.lists else '1'});\n"
            wanted += f"    task_should_compute_output({{ {name}_ix }}),\n"
        array = f"std::array<bool, {len(node.arguments)}>"
        return _Places(ranges, f"{ranges}  auto needs_input_grad = {array}{{\n{wanted}  }};\n")


# ----------------------------------------------------------------------------------- formulas


def _render_gradients(node: Node) -> str:
    """The formulas, in order, after the names that they use."""
    info = node.info
    places = {argument.name: at for at, argument in enumerate(node.arguments)}
    render = _render_for_each if is_foreach_func(info.func) else _render_one
    head = "  const auto& grad = grads[0];\n" if uses_single_grad(info) else ""
    for name in sorted(info.used_named_gradients):
        head += f"  const auto& {name} = grads[{info.available_named_gradients.index(name)}];\n"
    any_grad_defined = gradients = ""
    for derivative in info.derivatives:
        if len(derivative.var_names) != 1:
            render_many = _render_many_for_each if is_foreach_func(info.func) else _render_many
            gradients += render_many(derivative, places)
            continue
        name, formula = derivative.var_names[0], derivative.formula
        # Nothing is computed if no result has a gradient, but formulas that only say that there is none
        # speak up in any case.
        if name not in node.lists and "not_implemented" not in formula:
            any_grad_defined = "  bool any_grad_defined = any_variable_defined(grads);\n"
            formula = f"any_grad_defined ? ({formula}) : Tensor()"
        gradients += render(name, places[name], formula)
    return head + any_grad_defined + gradients


def _render_one(name: str, place: int, formula: str) -> str:
    """The gradient of one argument."""
    return f"""\
  if (needs_input_grad[/*{name}*/{place}]) {{
    auto grad_result = {formula};
    copy_range(grad_inputs, {name}_ix, grad_result);
  }}
"""


def _render_for_each(name: str, place: int, formula: str) -> str:
    """The gradients of the tensors of a list."""
    return f"""\
  if (needs_input_grad[/*{name}*/{place}]) {{
    std::vector<Tensor> grad_result;
    grad_result.reserve(grads.size());
    for (const auto & i : c10::irange(grads.size())) {{
      if (grads[i].defined()) {{
        grad_result.emplace_back({formula});
      }} else {{
        grad_result.emplace_back(Tensor());
      }}
    }}
    copy_range(grad_inputs, {name}_ix, grad_result);
  }}
"""


def _render_many(derivative: Derivative, places: Mapping[str, int]) -> str:
    """The gradients of several arguments, which one formula gives as a tuple."""
    copies = [
        _copy_of_many(name, places[name], f"std::get<{at}>(grad_result)")
        for at, name in enumerate(derivative.var_names)
    ]
    return f"""\
{_head_of_many(derivative, places)}\
    auto grad_result = {derivative.formula};
{"".join(copies)}\
  }}
"""


def _render_many_for_each(derivative: Derivative, places: Mapping[str, int]) -> str:
    """The gradients of the tensors of several lists."""
    lists = [f"grad_result_{at}" for at in range(len(derivative.var_names))]
    copies = [_copy_of_many(name, places[name], lists[at]) for at, name in enumerate(derivative.var_names)]
    return f"""\
{_head_of_many(derivative, places)}\
{_lines([f"std::vector<Tensor> {one}(grads.size());" for one in lists], 4)}\
    for (const auto & i : c10::irange(grads.size())) {{
      if (grads[i].defined()) {{
        auto grad_result = {derivative.formula};
{_lines([f"{one}[i] = std::get<{at}>(grad_result);" for at, one in enumerate(lists)], 8)}\
      }}
    }}
{"".join(copies)}\
  }}
"""


def _head_of_many(derivative: Derivative, places: Mapping[str, int]) -> str:
    """Whether any gradient is wanted, and which."""
    needs = [f"needs_input_grad[{places[name]}]" for name in derivative.var_names]
    mask = ""
    if "grad_input_mask" in identifiers(derivative.formula):
        wanted = _lines([f"{need}," for need in needs], 8)
        mask = f"      auto grad_input_mask = std::array<bool, {len(needs)}>{{\n{wanted}      }};\n"
    return f"  if ({' || '.join(needs)}) {{\n{mask}"


def _copy_of_many(name: str, place: int, gradient: str) -> str:
    return f"""\
      if (needs_input_grad[/*{name}*/{place}]) {{
        copy_range(grad_inputs, {name}_ix, {gradient});
      }}
"""
