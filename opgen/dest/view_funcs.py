r"""Views → `ViewFuncs.h` and `ViewFuncs.cpp`: classes of objects that replay a view.

Such an object owns the view's arguments, except the viewed tensor.  Its symbolic integers and tensors can be
read and replaced, so that a view can be replayed with others.

    struct SelectIntViewFunc : public torch::autograd::ViewFunc {
      SelectIntViewFunc(int64_t dim, c10::SymInt index) : dim(dim), index(index)
      {}
      …
    };
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from opgen.api.types import (
    INT_ARRAY_REF,
    LONG,
    LONG_VECTOR,
    SYM_INT,
    SYM_INT_ARRAY_REF,
    SYM_INT_VECTOR,
    TENSOR,
    Binding,
    CType,
    NamedCType,
    OptionalCType,
    render_defns,
)
from opgen.dest.autograd_kernels import (
    has_derived_kernel,
    is_handwritten,
    is_tracked_view,
    view_class_name,
    viewed_argument,
)
from opgen.dest.includes import ops_include
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction
from opgen.output.files import OutputFile
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram
from opgen.program.program import Program

_SNIPPETS: Final = Snippets("view_funcs.cpp")


def emit_view_funcs(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `ViewFuncs.h` and `ViewFuncs.cpp`."""
    functions = [
        matched.func
        for matched in program.functions
        if is_tracked_view(matched.func) and has_derived_kernel(matched) and not is_handwritten(matched.func)
    ]
    classes = [ViewClass.derive(program.program, function) for function in functions]
    header = {
        "ops_headers": [ops_include(function.root_name, "_ops") for function in functions],
        "view_func_declarations": [view.declaration() for view in classes],
    }
    source = {"view_func_definitions": [view.definition() for view in classes]}
    yield OutputFile("ViewFuncs.h", templates.render("ViewFuncs.h", header))
    yield OutputFile("ViewFuncs.cpp", templates.render("ViewFuncs.cpp", source))


@dataclass(frozen=True, slots=True)
class ViewClass:
    """The class of objects that replay one view."""

    name: str
    macro: str
    """The macro that is defined if the class exists."""
    parameters: tuple[Binding, ...]
    """The constructor's parameters: the view's arguments, and the index of the result if there are several."""
    members: tuple[Binding, ...]
    """The members that own the constructor's parameters."""
    call: str
    """Replays the view."""

    @staticmethod
    def derive(program: Program, function: NativeFunction) -> ViewClass:
        """Return the class for a view."""
        arguments = program.signatures(function).dispatcher.arguments
        base = viewed_argument(function).name
        parameters = tuple(binding for binding in arguments if binding.name != base)
        operator = function.func.name.unambiguous_name()
        given = ", ".join(["input_base" if binding.name == base else binding.name for binding in arguments])
        call = f"at::_ops::{operator}::call({given})"
        if function.func.returns[0].type.is_list_like() is not None:
            index = NamedCType("view_idx", LONG)
            parameters += (Binding("view_idx", index, viewed_argument(function)),)
            call += "[view_idx]"
        members = tuple(_owned(binding) for binding in parameters)
        macro = f"{operator.upper()}_VIEW_FUNC_AVAILABLE"
        return ViewClass(view_class_name(function), macro, parameters, members, call)

    def declaration(self) -> str:
        """Return the class, without the bodies of its functions."""
        initializers = ", ".join([_initializer(binding) for binding in self.parameters])
        constructor = f"{self.name}({render_defns(self.parameters)}){f' : {initializers}' if initializers else ''}"
        members = [member.defn() for member in self.members]
        return _SNIPPETS.render(
            "declaration", macro=self.macro, name=self.name, constructor=constructor, members=members
        )

    def definition(self) -> str:
        """Return the definitions of its member functions."""
        symints = [m for m in self.members if _holds(m, SYM_INT, SYM_INT_VECTOR)]
        tensors = [m for m in self.members if _holds(m, TENSOR, None)]
        return _SNIPPETS.render(
            "definition",
            states=[self._state("symints", "c10::SymInt", symints), self._state("tensors", "at::Tensor", tensors)],
            name=self.name,
            call=self.call,
            members=[member.name for member in self.members],
        )

    def _state(self, what: str, type: str, members: Sequence[Binding]) -> str:
        return _SNIPPETS.render(
            "state",
            type=type,
            name=self.name,
            what=what,
            count=" + ".join([_count(member) for member in members]),
            members=[
                {
                    "get": _get(member, what),
                    "set": _set(member, what),
                    "count": _count(member),
                    "is_last": member is members[-1],
                }
                for member in members
            ],
        )


_OWNED: Final = ((SYM_INT_ARRAY_REF, SYM_INT_VECTOR), (INT_ARRAY_REF, LONG_VECTOR))
"""References to lists, and the types that own such lists."""


def _owned(binding: Binding) -> Binding:
    """Return the member that holds a parameter."""
    ctype = binding.nctype.type.remove_const_ref()
    ctype = next((owner for reference, owner in _OWNED if ctype == reference), ctype)
    return Binding(binding.name, NamedCType(binding.nctype.name, ctype), binding.argument)


def _initializer(binding: Binding) -> str:
    is_list = any(binding.nctype.type == reference for reference, _ in _OWNED)
    return f"{binding.name}({binding.name}{'.vec()' if is_list else ''})"


def _holds(member: Binding, value: CType, values: CType | None) -> bool:
    return member.nctype.type in (value, OptionalCType(value), values)


# The code for a member: one value, an optional value, or a list.


def _count(member: Binding) -> str:
    if member.nctype.type == SYM_INT_VECTOR:
        return f"{member.name}.size()"
    return f"({member.name}.has_value() ? 1 : 0)" if isinstance(member.nctype.type, OptionalCType) else "1"


def _get(member: Binding, into: str) -> str:
    name = member.name
    if member.nctype.type == SYM_INT_VECTOR:
        return f"{into}.insert({into}.end(), {name}.begin(), {name}.end());"
    if isinstance(member.nctype.type, OptionalCType):
        return f"if({name}.has_value()) {into}.insert({into}.end(), *({name}));"
    return f"{into}.push_back({name});"


def _set(member: Binding, source: str) -> str:
    name = member.name
    if member.nctype.type == SYM_INT_VECTOR:
        first = f"{source}.begin() + i"
        return f"std::copy({first}, {first} + {name}.size(), {name}.begin());"
    condition = f"if({name}.has_value()) " if isinstance(member.nctype.type, OptionalCType) else ""
    return f"{condition}{name} = {source}[i];"
