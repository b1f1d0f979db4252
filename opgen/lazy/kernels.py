"""Operators → kernels of a lazy backend, which add a node to the graph and compute nothing.

    at::Tensor LazyNativeFunctions::abs(const at::Tensor & self) {
        …
        torch::lazy::NodePtr node = torch::lazy::ReuseNode<Abs>(lazy_self->GetIrValue());
        if (!node) { … node = torch::lazy::MakeNode<Abs>(lazy_self->GetIrValue(), std::move(shapes)); … }

A backend customizes the kernels in a subclass: each method generates one part of a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass  # extension points for backends
from typing import Final

from opgen.api.dispatcher import DispatcherSignature
from opgen.api.lazy import VALUE_CLASS, LazyArgument, LazyIrSchema
from opgen.api.native import NativeSignature
from opgen.api.signatures import kernel_signature
from opgen.api.translate import translate
from opgen.api.types import BaseCType, Binding, OptionalCType, VectorCType, deviceT
from opgen.lazy.nodes import aten_symbol
from opgen.lazy.shapes import meta_namespace, shape_signature
from opgen.model import Argument, BackendIndex, BackendMetadata, NativeFunction, SchemaKind
from opgen.output.snippets import Snippets

_SNIPPETS: Final = Snippets("lazy_kernels.cpp")

Signature = DispatcherSignature | NativeSignature

_DEVICE: Final = BaseCType(deviceT)
_MAKE_NUMBER: Final = "torch::lazy::LazyGraphExecutor::Get()->GetIrValueForScalarFromCodegen"


@dataclass(frozen=True, slots=True)
class GenLazyNativeFuncDefinition:
    """Generates the kernels; the strings are a backend's C++ names."""

    class_method_name: str
    """The class that has the kernels as members."""
    backend_index: BackendIndex
    tensor_class: str
    gen_forced_fallback_code: bool
    """Whether kernels first check if a fallback to the CPU is forced."""
    backend_namespace: str
    """The namespace of the next three, and of `create_tensor`."""
    get_tensorlist: str
    get_tensor_or_wrap_number: str
    try_get_tensor: str
    metrics_counter: str
    create_tensor: str
    create_from_first_tensor: bool
    """Whether a method of the first tensor argument creates tensors."""
    create_aten_from_ltc_tensor: str
    tuple_aten_from_ltc_tensors: str
    lazy_tensor_ptr: str
    get_device_fn: str
    value_class: str = VALUE_CLASS
    """The C++ class of a value."""

    def __call__(self, function: NativeFunction) -> list[str]:
        """Return the kernel of an operator, as a list with one string."""
        kernel = self.backend_index.get_kernel(function)
        if kernel is None:
            raise AssertionError(f"'{function.func.name}' has no kernel under '{self.backend_index.dispatch_key}'")
        signature = self.signature(function)
        schema = LazyIrSchema.derive(function.func, symint=kernel.supports_symint(), value_class=self.value_class)
        head = signature.decl(f"{self.class_method_name}::{kernel.kernel}")
        parts = (
            self.force_eager_fallback(function, schema, kernel, signature),
            self.metrics(function, schema),
            self.get_device(function, schema),
            self.lazy_tensor_decls(function, schema),
            self.build_ir_node(function, schema),
            self.return_aten_tensor(function, schema),
        )
        body = "\n".join(filter(None, parts))
        return [_SNIPPETS.render("kernel", head=head, body=body)]

    def signature(self, function: NativeFunction) -> Signature:
        """Return the signature of the kernel."""
        return kernel_signature(function, self.backend_index)

    # ------------------------------------------------------------ what backends override
    # Names and parameters are those of torchgen's class, which backends derive from.

    def force_eager_fallback(
        self, func: NativeFunction, schema: LazyIrSchema, metadata: BackendMetadata, sig: Signature
    ) -> str:
        """Return statements that run the operator on the CPU if the fallback is forced."""
        if not self.gen_forced_fallback_code:
            return ""
        overload = schema.name.overload_name
        operator = f"ATEN_OP2({schema.aten_name}, {overload})" if overload else f"ATEN_OP({schema.aten_name})"
        wanted = DispatcherSignature.derive(func).arguments
        arguments = ",\n    ".join(each.expr for each in translate(sig.arguments, wanted))
        return fallback_code(aten_symbol(schema), operator, arguments)

    def metrics(self, func: NativeFunction, schema: LazyIrSchema) -> str:
        """Return statements that count the call."""
        return f"{self.metrics_counter};"

    def get_device(self, func: NativeFunction, schema: LazyIrSchema) -> str:
        """Return statements that find the device: that of the tensors, the requested one, or the default."""
        kept = schema.filtered_args(values=False)
        asked = [a.name for a in schema.filtered_args(scalars=False) if not a.is_wrapped_scalar]
        asked += [a.name for a in kept if a.lazy_type == OptionalCType(_DEVICE)]
        asked = asked or [a.name for a in kept if a.lazy_type == _DEVICE]
        found = (
            f"{self.get_device_fn}({', '.join(asked)})" if asked else "std::make_optional(torch::lazy::BackendDevice())"
        )
        return _SNIPPETS.render("device", device=found)

    def lazy_tensor_decls(self, func: NativeFunction, schema: LazyIrSchema) -> str:
        """Return statements that get the lazy tensor of each tensor, and create nodes for numbers."""
        values = schema.filtered_args(scalars=False)
        return "\n".join(self._lazy_tensor(value) for value in values if not value.is_symint_or_list)

    def shape_inference(self, func: NativeFunction, schema: LazyIrSchema) -> str:
        """Return statements that compute `shapes`."""
        namespace = meta_namespace(func)
        lines = [self._computed_shapes(func)] if namespace is None else self._meta_shapes(func, schema, namespace)
        if not schema.returns_list:
            lines += _symbolic_shapes(schema)
        return "\n".join(lines)

    def build_ir_node(self, func: NativeFunction, schema: LazyIrSchema) -> str:
        """Return statements that reuse an existing `node`, or create it."""
        inputs = ", ".join(node_ctor_arg_rvalue_string(argument) for argument in schema.filtered_args())
        made = ", ".join(filter(None, (inputs, "std::move(shapes)")))
        return _SNIPPETS.render(
            "node",
            node_class=schema.node_name,
            inputs=inputs,
            shapes=_indented(self.shape_inference(func, schema), 2) + "\n",
            made=made,
        )

    def create_lazy_tensor(self, first_tensor_name: str | None = None) -> str:
        """Return the C++ function that creates a lazy tensor."""
        if not self.create_from_first_tensor:
            return f"{self.backend_namespace}::{self.create_tensor}"
        if first_tensor_name is None:
            raise AssertionError("there is no first tensor to make others with")
        return f"{first_tensor_name}.{self.create_tensor}"

    def return_aten_tensor(self, func: NativeFunction, schema: LazyIrSchema) -> str:
        """Return statements that wrap the node as `result` and return it."""
        if schema.func.kind() in (SchemaKind.inplace, SchemaKind.out):
            return self._return_written(func)
        values = [a for a in schema.filtered_args(scalars=False) if not a.is_wrapped_scalar]
        create = self.create_lazy_tensor(values[0].name if values else None)
        if schema.returns_list:
            return self._return_list(create)
        if len(schema.returns) == 1:
            return _SNIPPETS.render("return_tensor", it=self, create=create).removesuffix("\n")
        count = len(schema.returns)
        return _SNIPPETS.render("return_tuple", it=self, count=count, create=create).removesuffix("\n")

    # ---------------------------------------------------------------------------------------- details

    def _lazy_tensor(self, value: LazyArgument) -> str:
        name, scope = value.name, self.backend_namespace
        optional = isinstance(value.lazy_type, OptionalCType)
        if value.is_wrapped_scalar:
            if not optional:
                return f"auto node_{name} = {_MAKE_NUMBER}({name}, *common_device);"
            made = f"std::make_optional({_MAKE_NUMBER}(*{name}, *common_device))"
            return f"auto node_{name} = {name} ? {made}: ::std::nullopt;"
        if value.is_tensor_list:
            return f"auto lazy_{name}_tensorlist = {scope}::{self.get_tensorlist}({name});"
        found = (
            f"{self.try_get_tensor}({name}.value_or(at::Tensor()))"
            if optional
            else f"{self.get_tensor_or_wrap_number}({name}, *common_device)"
        )
        return f"{self.lazy_tensor_ptr} lazy_{name} = {scope}::{found};"

    def _computed_shapes(self, func: NativeFunction) -> str:
        signature = shape_signature(func, self.backend_index)
        if signature is None:
            raise AssertionError(f"'{func.func.name}' needs no function for its shapes")
        return f"auto shapes = {signature.shape_call};"

    def _meta_shapes(self, func: NativeFunction, schema: LazyIrSchema, namespace: str) -> list[str]:
        """Return statements that run the operator on meta tensors."""
        out_form = func.func.is_out_fn()
        metadata = self.backend_index.get_kernel(func)
        kernel = schema.aten_name if metadata is None or out_form else metadata.kernel
        # The previous shape of an out argument doesn't matter, so shapes come from the functional form.
        given = [b for b in kernel_signature(func, self.backend_index).arguments if not (out_form and _is_written(b))]
        tensors = [b.name for b in given if _is_tensor(b)]
        arguments = ", ".join(f"{b.name}_meta" if _is_tensor(b) else b.name for b in given)
        return [
            *(f"auto {tensor}_meta = to_meta({tensor});" for tensor in tensors),
            f"auto out_meta = {namespace}::{kernel}({arguments});",
            *_shapes_of_result(schema),
        ]

    def _return_list(self, create: str) -> str:
        """Return statements that return one tensor for each result of the node."""
        return _SNIPPETS.render("return_list", it=self, create=create).removesuffix("\n")

    def _return_written(self, func: NativeFunction) -> str:
        """Return statements that store the results in the mutated arguments, and return these."""
        written = [name for name in func.func.aliased_return_names() if name is not None]
        if len(written) == 1:
            return _SNIPPETS.render("return_written", name=written[0]).removesuffix("\n")
        lines = [f"lazy_{name}->SetInPlaceIrValue({self.value_class}(node, {at}));" for at, name in enumerate(written)]
        return "\n".join([*lines, f"return {{{', '.join(written)}}};"])


def fallback_code(symbol: str, operator: str, arguments: str) -> str:
    """Return statements that run an operator on the CPU if the fallback is forced."""
    return _SNIPPETS.render("force_eager_fallback", symbol=symbol, operator=operator, arguments=arguments)


def node_ctor_arg_rvalue_string(argument: LazyArgument) -> str:
    """Return the expression that passes an argument to the node's constructor."""
    name = argument.name
    if not argument.is_lazy_value:
        return _scalar(argument)
    optional = isinstance(argument.lazy_type, OptionalCType)
    if argument.is_wrapped_scalar:
        return f"node_{name}"
    if argument.is_tensor_list:
        return f"lazy_{name}_tensorlist"
    if argument.is_symint_or_list:
        found = f"{name} ? std::make_optional(GetSymIntValue(*{name})) : ::std::nullopt"
        return found if optional else f"GetSymIntValue({name})"
    found = f"lazy_{name}->GetIrValue()"
    return f"lazy_{name} ? std::make_optional({found}) : ::std::nullopt" if optional else found


def _scalar(argument: LazyArgument) -> str:
    """Return the expression that passes an argument that the node stores; a list is copied."""
    name, ctype = argument.name, argument.lazy_type
    if isinstance(ctype, OptionalCType) and isinstance(ctype.elem, VectorCType):
        if argument.is_symint_or_list:
            return f"{name} ? std::make_optional(GetSymIntArrayRefValue(*{name})) : ::std::nullopt"
        return f"torch::lazy::ToOptionalVector<{ctype.elem.elem}>({name})"
    if not isinstance(ctype, VectorCType) or isinstance(ctype.elem, OptionalCType):
        return name
    if argument.is_symint_or_list:
        return f"GetSymIntArrayRefValue({name})"
    return f"std::vector<{ctype.elem}>({name}.begin(), {name}.end())"


def _is_tensor(binding: Binding) -> bool:
    return isinstance(binding.argument, Argument) and binding.argument.type.is_tensor_like()


def _is_written(binding: Binding) -> bool:
    return isinstance(binding.argument, Argument) and binding.argument.is_write


def _symbolic_shapes(schema: LazyIrSchema) -> list[str]:
    """Return statements that check the number of shapes, and add symbolic shapes if the backend supports them."""
    names = ", ".join(argument.name for argument in schema.filtered_args())
    return [
        f"TORCH_INTERNAL_ASSERT(shapes.size() == {len(schema.returns)});",
        "if(torch::lazy::symbolicShapeEnabled()){",
        f"  std::vector<torch::jit::IValue> inputs = {{ {names} }};",
        f'  const char* schema_str = "aten::{schema.func}";',
        "  applySymbolicShapesOnLT(schema_str, inputs, shapes);",
        "}\n",
    ]


def _shapes_of_result(schema: LazyIrSchema) -> list[str]:
    """Return statements that compute `shapes` from the tensors in `out_meta`."""
    vector = "std::vector<torch::lazy::Shape> shapes"
    if schema.returns_list:
        shape = _shape_of("each", "shapes.emplace_back")
        return [f"{vector};", f"for (const auto& each : out_meta) {{ {shape}; }}"]
    count = len(schema.returns)
    results = ["out_meta"] if count == 1 else [f"std::get<{at}>(out_meta)" for at in range(count)]
    shapes = ",".join(_shape_of(result, "torch::lazy::Shape") for result in results)
    return [f"{vector}{{{shapes}}};"]


def _shape_of(tensor: str, make: str) -> str:
    return f"{make}({tensor}.scalar_type(), {tensor}.sizes().vec())"


def _indented(text: str, by: int) -> str:
    return "\n".join(f"{' ' * by}{line}" if line else "" for line in text.split("\n"))
