"""torchgen's `gen_aoti_c_shim`: operators → functions with a C interface, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from opgen.api.c_shim import LaterArguments, ShimmedOperator
from opgen.as_torchgen.aoti.fallback_ops import NULL_RESULTS
from opgen.as_torchgen.aoti.fallback_ops import aten_shimified_ops as aten_shimified_ops
from opgen.as_torchgen.aoti.fallback_ops import inductor_fallback_ops as inductor_fallback_ops
from opgen.as_torchgen.api.types.signatures import CppSignature, CppSignatureGroup
from opgen.as_torchgen.errors import asserted
from opgen.as_torchgen.programs import release_of_torch
from opgen.dest.aoti_c_shim import declarations, definitions
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    BackendIndex,
    DispatchKey,
    FunctionSchema,
    NativeFunction,
    NativeFunctionsGroup,
    OperatorName,
)


@dataclass(frozen=True, slots=True)
class _Operator:
    """The properties of an operator that its C functions depend on."""

    func: FunctionSchema


@asserted()
def gen_declaration_and_definition(
    schema: FunctionSchema, device: str, backend_call: str, op_metadata: Mapping[str, Any]
) -> tuple[str, str]:
    """Return the declarations and the definitions of the operator's C functions for a device."""
    numbers = sorted((key for key in op_metadata if key.startswith("v")), key=lambda key: int(key[1:]))
    later = tuple(LaterArguments(frozenset(op_metadata[key]["new_args"]), op_metadata[key]["since"]) for key in numbers)
    name = f"aten.{schema.name.name}.{schema.name.overload_name or 'default'}"
    function = cast("NativeFunction", _Operator(schema))
    operator = ShimmedOperator(function, op_metadata.get("since"), later, name in NULL_RESULTS)
    declared = "\n".join(declarations(operator, device, release_of_torch().shims_have_guards))
    return declared.removesuffix("\n"), "\n".join(definitions(operator, device, backend_call))


def gen_static_dispatch_backend_call_signature(f: NativeFunction) -> CppSignature:
    """Return the signature of the C++ function that is called."""
    group = CppSignatureGroup.from_native_function(f, method=False)
    return group.symint_signature or group.signature


def get_backend_index_for_aoti(
    func: NativeFunction,
    func_group_mapping: Mapping[OperatorName, NativeFunctionsGroup],
    dispatch_key: DispatchKey | None,
    backend_indices: Mapping[DispatchKey, BackendIndex],
    extend_aoti_c_shim: bool,
) -> BackendIndex | None:
    """Return the kernels for `func` on a device; None if there are none."""
    keys = [] if dispatch_key is None else [dispatch_key]
    group = func_group_mapping.get(func.func.name)
    for key in keys:
        index = backend_indices.get(key)
        if index is not None and (
            index.has_kernel(func) or (group is not None and group.structured and index.has_kernel(group))
        ):
            return index
    # Devices outside of torch have their own kernels.
    composite = () if extend_aoti_c_shim or dispatch_key is None else _COMPOSITE_KEYS
    return next((index for key in composite if (index := backend_indices[key]).has_kernel(func)), None)


_COMPOSITE_KEYS = (
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
    DispatchKey.CompositeImplicitAutograd,
)
