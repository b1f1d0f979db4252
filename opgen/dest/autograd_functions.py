"""Derivatives → the classes of autograd nodes, which compute gradients (Functions.h/.cpp).

A node saves the inputs of its formulas.  The formulas are in a separate function that takes these as
arguments, so that compiled autograd can call it too.

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

from collections.abc import Iterator, Mapping
from typing import Final

from opgen.api.autograd import Derivative, identifiers, is_foreach_func, uses_single_grad
from opgen.api.autograd_nodes import Node
from opgen.dest.autograd_home import AutogradHome, is_of_torch, torch_home
from opgen.dest.line_directives import place_formula
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, SchemaKind
from opgen.output.files import OutputFile
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram

_SNIPPETS: Final = Snippets("autograd_functions.cpp")

_SHARES_NOTHING: Final = ("lift_fresh",)
"""Operators whose schemas are views, but whose nodes aren't."""


def emit_autograd_function_headers(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield Functions.h."""
    home = torch_home(program.program.release)
    env = {
        "autograd_function_declarations": "\n".join([render_declaration(node, home) for node in _all_nodes(program)])
    }
    yield OutputFile("Functions.h", templates.render("Functions.h", env))


def emit_autograd_function_sources(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield Functions.cpp."""
    home = torch_home(program.program.release)
    env = {"autograd_function_definitions": "\n".join([render_definition(node, home) for node in _all_nodes(program)])}
    yield OutputFile("Functions.cpp", templates.render("Functions.cpp", env))


def _all_nodes(program: AutogradProgram) -> list[Node]:
    return program.nodes_of((*program.infos, *program.list_infos))


# ------------------------------------------------------------------------------- declarations


def _base_class(function: NativeFunction) -> str:
    """Return the base class of a node; those of views can't be traced, since views must be replayed."""
    is_view = (
        function.is_view_op
        and function.func.kind() is SchemaKind.functional
        and not function.has_composite_implicit_autograd_kernel
        and not (function.root_name in _SHARES_NOTHING and is_of_torch(function))
    )
    return "Node" if is_view else "TraceableFunction"


def render_declaration(node: Node, home: AutogradHome) -> str:
    """Return the class of `node`, exported as `home` says."""
    return _SNIPPETS.render(
        "declaration",
        op=node.op,
        base=_base_class(node.info.func),
        exports=home.exports,
        released="".join([member.released for member in node.members]),
        retains=node.retains,
        members=[member.declared for member in node.members],
        sizes=node.sizes,
    )


# -------------------------------------------------------------------------------- definitions


def render_definition(node: Node, home: AutogradHome) -> str:
    """Return the member functions of the class of `node`, and the functions that they call."""
    fills = home.fills_gradients and not is_foreach_func(node.info.func) and _returns_list(node.info.func)
    return _SNIPPETS.render(
        "definition",
        op=node.op,
        fills=fills,
        count=len(node.arguments),
        values=_Values.of(node),
        places=_Places.of(node),
        members=_Members.of(node),
        gradients=_render_gradients(node, home),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """The saved values that `apply_functional` takes, in each form used in the code."""

    names: str
    """As further arguments of a call."""
    parameters: str
    """As further parameters."""
    taken: str
    """Statements that unpack them from IValues."""
    packed: str
    """Statements that pack them into IValues."""
    schema: str
    """Their types in TorchScript."""

    @staticmethod
    def of(node: Node) -> _Values:
        """Return the parameters of a node's function."""
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
class _Members:
    """Statements about the members of a node, for each of its functions."""

    locks: bool
    """Whether the node must lock its mutex before it reads them."""
    unpacked: str
    """Define a variable for each, which formulas use."""
    collected: str
    """Pass them to compiled autograd."""
    before: str
    """Replace tensors and symbols by those of compiled autograd."""
    after: str
    """Restore them."""

    @staticmethod
    def of(node: Node) -> _Members:
        """Return the statements about all members of `node`."""
        guards = unpacked = collected = before = after = ""
        for member in node.members:
            guards += member.guard
            unpacked += member.unpacked
            output = f", {'true' if member.is_output else 'false'}" if member.unpacked else ""
            collected += f"    args.collect({member.member}{output});\n"
            if member.is_swapped:
                before += f"  saved.before({member.member});\n"
                after += f"  saved.after({member.member});\n"
        locks = any(member.released for member in node.members)
        return _Members(locks, guards + unpacked, collected, before, after)


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """The positions of gradients in the list that `apply` returns."""

    ranges: str
    """Statements that define `<argument>_ix`, the range of each."""
    needs: str
    """`ranges`, and statements that define `needs_input_grad`."""

    @staticmethod
    def of(node: Node) -> _Places:
        """Return the statements for the arguments of `node`."""
        ranges, names = "  IndexRangeGenerator gen;\n", [argument.name for argument in node.arguments]
        for name in names:
            ranges += f"  auto {name}_ix = gen.range({f'{name}_size_' if name in node.lists else '1'});\n"
        return _Places(ranges, ranges + _SNIPPETS.render("needs", count=len(names), names=names))


# ----------------------------------------------------------------------------------- formulas


def _render_gradients(node: Node, home: AutogradHome) -> str:
    """Return the statements that compute the gradients, after the names that formulas use."""
    info = node.info
    places = {argument.name: index for index, argument in enumerate(node.arguments)}
    is_foreach = is_foreach_func(info.func)
    head = "  const auto& grad = grads[0];\n" if uses_single_grad(info) else ""
    for name in sorted(info.used_named_gradients):
        head += f"  const auto& {name} = grads[{info.available_named_gradients.index(name)}];\n"
    is_guarded, gradients = False, ""
    for derivative in info.derivatives:
        # Formulas are skipped if no result has a gradient, except those that report a missing derivative.
        skips = "not_implemented" not in derivative.formula
        guard = "any_grad_defined && " if skips and home.fills_gradients and not is_foreach else ""
        if len(derivative.var_names) != 1:
            is_guarded = is_guarded or bool(guard)
            gradients += _render_several(derivative, places, is_foreach, guard)
            continue
        name, formula = derivative.var_names[0], place_formula(derivative.formula, derivative.place)
        if name not in node.lists:
            guard = ""
            formula = f"any_grad_defined ? ({formula}) : Tensor()" if skips else formula
        is_guarded = is_guarded or "any_grad_defined" in guard + formula
        section = "gradient_of_list" if is_foreach else "gradient"
        gradients += _SNIPPETS.render(section, name=name, place=places[name], formula=formula, guard=guard)
    any_grad_defined = "  bool any_grad_defined = any_variable_defined(grads);\n" if is_guarded else ""
    return head + any_grad_defined + gradients


def _returns_list(function: NativeFunction) -> bool:
    return any(returned.type.is_list_like() is not None for returned in function.func.returns)


def _render_several(derivative: Derivative, places: Mapping[str, int], is_foreach: bool, guard: str) -> str:
    """Return the statements for several arguments whose gradients one formula computes as a tuple."""
    names = derivative.var_names
    needs = [f"needs_input_grad[{places[name]}]" for name in names]
    lists = [{"index": index, "name": f"grad_result_{index}"} for index in range(len(names))]
    values = [each["name"] if is_foreach else f"std::get<{each['index']}>(grad_result)" for each in lists]
    return _SNIPPETS.render(
        "gradients_of_lists" if is_foreach else "gradients",
        needed=f"{guard}({' || '.join(needs)})" if guard else " || ".join(needs),
        needs=needs,
        has_mask="grad_input_mask" in identifiers(derivative.formula),
        count=len(needs),
        formula=place_formula(derivative.formula, derivative.place),
        lists=lists,
        copies=[
            _SNIPPETS.render("copy", name=name, place=places[name], gradient=value)
            for name, value in zip(names, values, strict=True)
        ],
    )
