"""torchgen's derivation of missing forms, based on opgen's."""

from __future__ import annotations

from opgen.as_torchgen.errors import asserted
from opgen.as_torchgen.programs import own, release_of_torch
from opgen.frontend.derive import derive_group, out_schema
from opgen.frontend.groups import group_forms
from opgen.model import BackendMetadata, DispatchKey, FunctionSchema, NativeFunction, OperatorName, SchemaKind

OUT_OPS_THAT_DONT_GET_GROUPED_PROPERLY = [
    "adaptive_avg_pool3d_backward.grad_input",
    "_slow_conv2d_backward.grad_input",
]
"""Out operators without a functional form.  opgen needs no such list, since it accepts all of them."""


def _out_schema(func: FunctionSchema, kind: SchemaKind) -> FunctionSchema:
    if func.kind() is not kind:
        raise AssertionError(f"'{func}' is {func.kind().name}; a {kind.name} schema is expected")
    return out_schema(func)


def self_to_out_signature(func: FunctionSchema) -> FunctionSchema:
    """Return the schema of the out form of an in-place operator."""
    return _out_schema(func, SchemaKind.inplace)


def functional_to_out_signature(func: FunctionSchema) -> FunctionSchema:
    """Return the schema of the out form of a functional operator."""
    return _out_schema(func, SchemaKind.functional)


def mutable_to_out_signature(func: FunctionSchema) -> FunctionSchema:
    """Return the schema of the out form of a mutable operator."""
    return _out_schema(func, SchemaKind.mutable)


def pre_group_native_functions(
    native_functions: list[NativeFunction],
) -> dict[FunctionSchema, dict[SchemaKind, NativeFunction]]:
    """Return the functions by signature and kind."""
    groups = group_forms(native_functions).values()
    return {next(iter(forms.values())).func.signature(): forms for forms in groups}


@asserted()
def add_generated_native_functions(
    rs: list[NativeFunction], indices: dict[DispatchKey, dict[OperatorName, BackendMetadata]]
) -> None:
    """Add the forms that entries request, with their kernels."""
    release = release_of_torch()
    for forms in list(group_forms(rs).values()):
        for derived in derive_group(forms, release):
            function = own(derived.function, derived.base.loc)  # type: ignore[arg-type]
            rs.append(function)
            kernels = indices.setdefault(DispatchKey.CompositeExplicitAutograd, {})
            kernels[function.func.name] = derived.kernel
