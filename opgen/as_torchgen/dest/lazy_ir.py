"""torchgen's generators of a lazy backend's nodes and kernels, which backends subclass."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TypeAlias

from opgen.api.lazy import VALUE_CLASS, LazyIrSchema
from opgen.api.translate import translate
from opgen.as_torchgen.api.lazy import getValueT
from opgen.as_torchgen.api.types.signatures import DispatcherSignature, NativeSignature, kernel_signature
from opgen.as_torchgen.context import with_native_function
from opgen.as_torchgen.errors import asserted
from opgen.frozen_dataclass import dataclass
from opgen.lazy import kernels, nodes
from opgen.lazy.kernels import node_ctor_arg_rvalue_string as node_ctor_arg_rvalue_string
from opgen.lazy.nodes import aten_symbol as aten_symbol
from opgen.lazy.shapes import ComputeShapeSignature as ComputeShapeSignature
from opgen.lazy.shapes import GenLazyShapeInferenceDefinition as GenLazyShapeInferenceDefinition
from opgen.model import BackendMetadata, NativeFunction, NativeFunctionsGroup

Signature: TypeAlias = NativeSignature | DispatcherSignature


def node_ctor_inputs(schema: LazyIrSchema) -> str:
    """Return the argument that a kernel passes to the constructor of the node."""
    return ", ".join(map(node_ctor_arg_rvalue_string, schema.filtered_args()))


@asserted()
def gen_fallback_code(schema: LazyIrSchema, sig: Signature, overload_name: str) -> str:
    """Return the statements that run the operator on the CPU, if a fallback is requested."""
    name = schema.aten_name
    operator = f"ATEN_OP2({name}, {overload_name})" if overload_name else f"ATEN_OP({name})"
    wanted = DispatcherSignature.from_schema(schema.func).arguments()
    arguments = ",\n    ".join(each.expr for each in translate(sig.arguments(), wanted))
    return kernels.fallback_code(aten_symbol(schema), operator, arguments)


def _value_class() -> str:
    return str(getValueT())


class GenLazyIR(nodes.GenLazyIR):
    """Generates the classes of nodes, without a lowering."""

    __slots__ = ()

    @asserted()
    def __call__(self, operator: NativeFunctionsGroup | NativeFunction) -> list[str]:
        return nodes.GenLazyIR.__call__(self, operator)

    def schema(self, function: NativeFunction) -> LazyIrSchema:
        values = self.value_class if self.value_class != VALUE_CLASS else _value_class()
        return nodes.GenLazyIR.schema(replace(self, value_class=values), function)


class GenTSLazyIR(nodes.GenTSLazyIR, GenLazyIR):
    """Generates the classes of nodes that are lowered to TorchScript."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class GenLazyNativeFuncDefinition(kernels.GenLazyNativeFuncDefinition):
    """Generates the kernels."""

    value_class: str = field(default_factory=_value_class)

    @asserted()
    @with_native_function
    def __call__(self, func: NativeFunction) -> list[str]:
        return kernels.GenLazyNativeFuncDefinition.__call__(self, func)

    def signature(self, function: NativeFunction) -> Signature:  # type: ignore[override]
        """Return the signature of the kernel, whose `arguments` is a method."""
        return kernel_signature(function, self.backend_index)

    def force_eager_fallback(  # type: ignore[override]
        self, func: NativeFunction, schema: LazyIrSchema, metadata: BackendMetadata, sig: Signature
    ) -> str:
        del func, metadata
        # Backends replace the function in this module.
        return gen_fallback_code(schema, sig, schema.name.overload_name) if self.gen_forced_fallback_code else ""
