"""torchgen's data model, over opgen's: the same classes by name, whose values are opgen's.

    NativeFunction.from_yaml({"func": "f(Tensor self) -> Tensor"}, Location("ops.yaml", 1), set())

Values that programs mutate are mutable: `dispatch_keys`, the index of a `BackendIndex`, a function's tags.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto

from opgen import model
from opgen.as_torchgen.facade import facade
from opgen.as_torchgen.programs import Location as Location
from opgen.as_torchgen.programs import read_entry
from opgen.diagnostics import expected
from opgen.model import BackendMetadata as _Metadata
from opgen.model import DispatchKey as _Key
from opgen.model import OperatorName as _Name

KernelIndices = dict[_Key, dict[_Name, _Metadata]]


def _from_yaml(
    ei: Mapping[str, object],
    loc: Location,
    valid_tags: Iterable[str],
    ignore_keys: Iterable[_Key] | None = None,
) -> tuple[model.NativeFunction, KernelIndices]:
    """Read one entry, as loaded by a YAML reader; raise AssertionError if it has errors."""
    function, kernels = read_entry(ei, loc, valid_tags, ignore_keys or ())
    return function, {key: {function.func.name: kernel} for key, kernel in kernels.items()}


def _grow_index(parent_index: KernelIndices, child_index: KernelIndices) -> None:
    """Add the kernels of `child_index` to `parent_index`; AssertionError if an operator has two under a key."""
    for key, kernels in child_index.items():
        for name, kernel in kernels.items():
            if name in parent_index.setdefault(key, {}):
                raise AssertionError(f"'{name}' has two kernels under '{key}'")
            parent_index[key][name] = kernel


def _parse_key(value: str) -> _Key:
    """Return the key of this name; AssertionError if there is none."""
    if value not in _Key.__members__:
        raise AssertionError(f"unknown dispatch key '{value}': {expected(value, _Key.__members__)}")
    return _Key[value]


Annotation = facade("Annotation", model.Annotation)
Argument = facade("Argument", model.Argument)
Arguments = facade("Arguments", model.Arguments)
BackendIndex = facade("BackendIndex", model.BackendIndex, grow_index=staticmethod(_grow_index))
BackendMetadata = facade("BackendMetadata", model.BackendMetadata)
BaseOperatorName = facade("BaseOperatorName", model.BaseOperatorName)
BaseTy = facade("BaseTy", model.BaseTy)
BaseType = facade("BaseType", model.BaseType)
CustomClassType = facade("CustomClassType", model.CustomClassType)
DeviceCheckType = facade("DeviceCheckType", model.DeviceCheckType)
DispatchKey = facade("DispatchKey", model.DispatchKey, parse=staticmethod(_parse_key))
FunctionSchema = facade("FunctionSchema", model.FunctionSchema)
ListType = facade("ListType", model.ListType)
NativeFunction = facade("NativeFunction", model.NativeFunction, from_yaml=staticmethod(_from_yaml))
NativeFunctionsGroup = facade("NativeFunctionsGroup", model.NativeFunctionsGroup)
NativeFunctionsViewGroup = facade("NativeFunctionsViewGroup", model.NativeFunctionsViewGroup)
OperatorName = facade("OperatorName", model.OperatorName)
OptionalType = facade("OptionalType", model.OptionalType)
Precompute = facade("Precompute", model.Precompute)
Return = facade("Return", model.Return)
ScalarType = facade("ScalarType", model.ScalarType)
SchemaKind = facade("SchemaKind", model.SchemaKind)
SelfArgument = facade("SelfArgument", model.SelfArgument)
TensorOptionsArguments = facade("TensorOptionsArguments", model.TensorOptionsArguments)
Type = facade("Type", model.Type)
UfuncInnerLoop = facade("UfuncInnerLoop", model.UfuncInnerLoop)
UfuncKey = facade("UfuncKey", model.UfuncKey)
Variant = facade("Variant", model.Variant)
ViewSchemaKind = facade("ViewSchemaKind", model.ViewSchemaKind)


class _TorchDispatchModeKey(Enum):
    """The modes that may be active when an operator is called from Python."""

    FAKE = auto()
    PROXY = auto()
    FUNCTIONAL = auto()


AUGMENTED_ASSIGNMENT_NAMES = list(model.AUGMENTED_ASSIGNMENT_NAMES)
BACKEND_COMPONENTS = list(model.BACKEND_COMPONENTS)
DEFAULT_KERNEL_NAMESPACE = model.DEFAULT_KERNEL_NAMESPACE
FRAGMENT_NAMESPACES = sorted(model.FRAGMENT_NAMESPACES)
FUNCTIONALITY_KEYS = list(model.FUNCTIONALITY_KEYS)
STRUCTURED_DISPATCH_KEYS = set(model.STRUCTURED_DISPATCH_KEYS)
UFUNC_DISPATCH_KEYS = set(model.UFUNC_DISPATCH_KEYS)
dispatch_keys = list(model.dispatch_keys)

get_view_copy_name = model.get_view_copy_name
gets_generated_out_inplace_wrapper = model.gets_generated_out_inplace_wrapper
gets_generated_view_copy = model.gets_generated_view_copy
is_cuda_dispatch_key = model.is_cuda_dispatch_key
is_generic_dispatch_key = model.is_generic_dispatch_key
is_ufunc_dispatch_key = model.is_ufunc_dispatch_key
is_xpu_dispatch_key = model.is_xpu_dispatch_key
parse_returns = model.parse_returns


def is_structured_dispatch_key(dk: _Key) -> bool:
    """Return whether the kernels of structured operators are structured under `dk`."""
    return dk in STRUCTURED_DISPATCH_KEYS
