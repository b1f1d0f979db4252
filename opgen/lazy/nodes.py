"""Operators → the node classes of a lazy backend's graph, one class per operator.

A node has operands, which are results of other nodes, and stores scalars.  Its class can hash and print it,
and compare it with the node that a call would create, so that compiled graphs are reused.

    class AddTensor : public TsNode {
      AddTensor(const torch::lazy::Value& self, const torch::lazy::Value& other, …)
      bool CanBeReused(const torch::lazy::Value& self, const torch::lazy::Value& other, …) const { … }

`GenLazyIR` is for all backends; `GenTSLazyIR` adds the lowering to TorchScript.  A backend customizes the
classes in a subclass: each method generates one part of the C++ class.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass  # extension points for backends
from typing import Final

from opgen.api.lazy import OPERATOR_PROPERTIES, VALUE_CLASS, LazyArgument, LazyIrProperties, LazyIrSchema
from opgen.api.types import BaseCType, CType, OptionalCType, stringT
from opgen.backend.backend_yaml import NonNative
from opgen.lazy.lowering import lowering_body
from opgen.model import BackendIndex, BaseTy, NativeFunction, NativeFunctionsGroup
from opgen.output.snippets import Snippets

_SNIPPETS: Final = Snippets("lazy_nodes.cpp")

_STRING: Final = BaseCType(stringT)
_SHAPES_PARAMETER: Final = "std::vector<torch::lazy::Shape>&& shapes"
_NOT_INTERNED: Final = frozenset(("sigmoid_backward",))
"""Operators that may lack a symbol in torch."""
_LOWER_HEAD: Final = """torch::lazy::TSOpVector Lower(
      std::shared_ptr<torch::jit::GraphFunction> function,
      torch::lazy::TSLoweringContext* loctx) const override"""


@dataclass(frozen=True, slots=True)
class GenLazyIR:
    """Generates node classes without a lowering."""

    backend_index: BackendIndex
    """The backend's kernels: a kernel's name says whether it takes symbolic integers."""
    backend_name: str
    node_base: str
    """The C++ class that the classes derive from."""
    use_lazy_shape: bool = True
    """Whether constructors that don't compute shapes take them."""
    value_class: str = VALUE_CLASS
    """The C++ class of a value."""
    moves_text: bool = True
    """Whether a node's text is `std::move(ss).str()` rather than `ss.str()`."""

    def __call__(self, operator: NativeFunction | NativeFunctionsGroup) -> list[str]:
        """Return the class of an operator's node; for a group, that of its functional form."""
        function = operator if isinstance(operator, NativeFunction) else operator.functional
        return self.gen(self.schema(function))

    def schema(self, function: NativeFunction) -> LazyIrSchema:
        """Return the schema of the function's node."""
        kernel = self.backend_index.get_kernel(function)
        symint = kernel is not None and kernel.supports_symint()
        return LazyIrSchema.derive(function.func, OPERATOR_PROPERTIES, symint=symint, value_class=self.value_class)

    # ------------------------------------------------------------ what backends override
    # Names and parameters are those of torchgen's class, which backends derive from.

    def lowering_function(self, schema: LazyIrSchema) -> str:
        """Return the method that lowers the node; empty here."""
        return ""

    def create_function(self, schema: LazyIrSchema, node_ctor_args: str) -> str:
        """Return the static function that creates a node; empty here."""
        return ""

    def can_be_reused_function(self, schema: LazyIrSchema, node_ctor_args: str) -> str:
        """Return the method that tells whether the node can be reused for these arguments; here, never."""
        return _SNIPPETS.render("never_reused", arguments=node_ctor_args).removesuffix("\n")

    def node_base_ctor_call(self, schema: LazyIrSchema) -> str:
        """Return the call of the base class's constructor."""
        values = ", ".join(_operand(argument) for argument in schema.filtered_args(scalars=False))
        kept = ", ".join(argument.name for argument in schema.filtered_args(values=False))
        is_counted = schema.returns_list and schema.properties.ShapePrecompute
        outputs = "shapes.size()" if is_counted else str(len(schema.returns))
        lines = (
            f"{schema.node_name}::ClassOpKind()",
            f"OpList{{{values}}}",
            *_shapes(schema),
            f"/* num_outputs */ {outputs}",
            f"torch::lazy::MHash({kept})",
        )
        separator = ",\n              "
        return f"{self.node_base}(\n              {separator.join(lines)})"

    # ------------------------------------------------------------------------------------ the class

    def gen(self, schema: LazyIrSchema) -> list[str]:
        """Return the class, as a list with one string."""
        return [self._class(schema)]

    def _class(self, schema: LazyIrSchema) -> str:
        name, scalars = schema.node_name, schema.filtered_args(values=False)
        parameters = ", ".join(f"const {argument.lazy_type}& {argument.name}" for argument in schema.filtered_args())
        takes_shapes = self.use_lazy_shape and schema.properties.ShapePrecompute
        ctor_parameters = ", ".join(filter(None, (parameters, _SHAPES_PARAMETER if takes_shapes else "")))
        optional = [a.name for a in schema.filtered_args(scalars=False) if isinstance(a.lazy_type, OptionalCType)]
        initializers = "".join(f",\n        {a.name}({_initial(a)})" for a in scalars)
        flags = _lines((f"has_{each} = !!{each};" for each in optional), indent=4)
        members = _lines((f"{_member_type(a.lazy_type)} {a.name};" for a in scalars), indent=2)
        members += _lines((f"bool has_{each}: 1;" for each in optional), indent=2)
        methods = "\n\n".join(
            f"  {method}"
            for method in (
                self.create_function(schema, parameters),
                self.can_be_reused_function(schema, parameters),
                self.lowering_function(schema),
            )
            if method
        )
        return _SNIPPETS.render(
            "class",
            name=name,
            base=self.node_base,
            opkind=schema.opkind or aten_symbol(schema),
            parameters=ctor_parameters,
            base_constructor=self.node_base_ctor_call(schema),
            initializers=initializers,
            flags=flags,
            text="std::move(ss).str()" if self.moves_text else "ss.str()",
            printed=list(map(_printed, scalars)),
            methods=f"{methods}\n",
            members=members,
        )


@dataclass(frozen=True, slots=True)
class GenTSLazyIR(GenLazyIR):
    """Generates node classes that lower to TorchScript."""

    def lowering_function(self, schema: LazyIrSchema) -> str:
        """Return the method that lowers the node to TorchScript."""
        if schema.properties.LowerDeclOnly:
            return f"{_LOWER_HEAD};"
        return f"{_LOWER_HEAD} {{\n{lowering_body(schema)}  }}" if schema.properties.Lower else ""

    def create_function(self, schema: LazyIrSchema, node_ctor_args: str) -> str:
        """Return the static function that reuses or creates a node."""
        head = f"static NodePtr Create({node_ctor_args})"
        if schema.properties.CreateFnDeclOnly:
            return f"{head};"
        if not schema.properties.CreateFn:
            return ""
        names = ", ".join(argument.name for argument in schema.filtered_args())
        return _SNIPPETS.render("create", head=head, node_class=schema.node_name, names=names).removesuffix("\n")

    def can_be_reused_function(self, schema: LazyIrSchema, node_ctor_args: str) -> str:
        """Return the method that compares the node with these arguments."""
        head = f"bool CanBeReused({node_ctor_args}) const"
        if schema.properties.CanBeReusedDeclOnly:
            return f"{head};"
        if not schema.properties.CanBeReused:
            return ""
        same = [_same_value(argument) for argument in schema.filtered_args(scalars=False)]
        same += [_same_scalar(argument) for argument in schema.filtered_args(values=False)]
        condition = " &&\n        ".join(same)
        result = f"({condition})" if same else "true"
        return _SNIPPETS.render("reused", head=head, result=result).removesuffix("\n")


def non_native_schema(node: NonNative, properties: LazyIrProperties, value_class: str) -> LazyIrSchema:
    """Return the schema of a backend's own node."""
    return LazyIrSchema.derive(
        node.func, properties.with_(*node.properties), symint=True, opkind=node.opkind, value_class=value_class
    )


# ------------------------------------------------------------------------------------- the parts


def aten_symbol(schema: LazyIrSchema) -> str:
    """Return the interned name of the node's operator."""
    if schema.aten_name in _NOT_INTERNED:
        return f'c10::Symbol::fromQualString("aten::{schema.aten_name}")'
    return f"at::aten::{schema.aten_name}"


def _lines(lines: Iterable[str], *, indent: int) -> str:
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


def _operand(argument: LazyArgument) -> str:
    """Return a value of the node's operands; a missing one is null."""
    return f"{argument.name}.value_or(kNullValue)" if isinstance(argument.lazy_type, OptionalCType) else argument.name


def _shapes(schema: LazyIrSchema) -> tuple[str, ...]:
    """Return the shapes passed to the base class, if any."""
    if schema.properties.ShapePrecompute:
        return ("std::move(shapes)",)
    values, scalars = schema.filtered_args(scalars=False), [a.name for a in schema.filtered_args(values=False)]
    function = f"compute_shape_{schema.aten_name}"
    if schema.properties.ShapeCompute:
        return (f"{function}({', '.join([*(value.name for value in values), *scalars])})",)
    if schema.properties.ShapeCache:
        given = ", ".join([*(f"operand({at})" for at in range(len(values))), *scalars])
        return (f"[&](){{ return {function}({given})[0]; }}",)
    return ()


def _member_type(ctype: CType) -> CType | str:
    """Return the type in which the node stores a scalar: strings are owned."""
    if ctype == _STRING:
        return "std::string"
    return "::std::optional<std::string>" if ctype == OptionalCType(_STRING) else ctype


def _initial(argument: LazyArgument) -> str:
    name = argument.name
    if argument.lazy_type == OptionalCType(_STRING):
        return f"{name}.has_value() ? ::std::make_optional(std::string(*{name})) : ::std::nullopt"
    return name


def _printed(argument: LazyArgument) -> str:
    """Return statements that print a scalar."""
    name = argument.name
    if not isinstance(argument.lazy_type, OptionalCType):
        return f'    ss << ", {name}=" << {_shown(argument, name)};\n'
    return _SNIPPETS.render("printed_optional", name=name, shown=_shown(argument, f"{name}.value()"))


def _shown(argument: LazyArgument, value: str) -> str:
    return '"torch.Generator()"' if argument.is_generator else value


def _same_value(argument: LazyArgument) -> str:
    if isinstance(argument.lazy_type, OptionalCType):
        return f"nullable_operand(i++) == {_operand(argument)}"
    return f"operand(i++) == {argument.name}"


def _same_scalar(argument: LazyArgument) -> str:
    name = argument.name
    if argument.orig_type.is_base_ty_like(BaseTy.Scalar):
        # at::Scalar has no operator==; nodes are also distinguished by their hashes.
        return f"torch::lazy::MHash(this->{name}) == torch::lazy::MHash({name})"
    if not isinstance(argument.lazy_type, OptionalCType):
        return f"this->{name} == {name}"
    return f"((!this->{name}&&!{name}) || (this->{name}&&{name} && *(this->{name}) == *{name}))"
