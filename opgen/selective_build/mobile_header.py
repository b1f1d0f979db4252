"""Turns a selection into what `selected_mobile_ops.h` tells torch's headers.

A build with `TEMPLATE_SELECTIVE_BUILD` includes that header before it registers anything, and leaves out
what the header doesn't list.  For the selection of `aten::relu` and of the floats of one kernel:

    #define TORCH_OPERATOR_WHITELIST aten::relu

    if (kernel_tag == "relu_kernel") {
      return scalar_type == at::ScalarType::Float;
    }

The list has names with overloads, since those are what registrations have: a name that stands for all
overloads is replaced by those that are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from opgen.selective_build.operator import strip_operator_overload_name
from opgen.selective_build.selector import SelectiveBuilder

SCALAR_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "uint8_t": "Byte",
        "int8_t": "Char",
        "int16_t": "Short",
        "int": "Int",
        "int32_t": "Int",
        "int64_t": "Long",
        "c10::Half": "Half",
        "at::Half": "Half",
        "float": "Float",
        "double": "Double",
        "c10::complex<c10::Half>": "ComplexHalf",
        "c10::complex<float>": "ComplexFloat",
        "c10::complex<double>": "ComplexDouble",
        "bool": "Bool",
        "c10::qint8": "QInt8",
        "c10::quint8": "QUInt8",
        "c10::qint32": "QInt32",
        "c10::BFloat16": "BFloat16",
        "at::BFloat16": "BFloat16",
        "c10::quint4x2": "QUInt4x2",
        "c10::quint2x4": "QUInt2x4",
        "c10::bits1x8": "Bits1x8",
        "c10::bits2x4": "Bits2x4",
        "c10::bits4x2": "Bits4x2",
        "c10::bits8": "Bits8",
        "c10::bits16": "Bits16",
        "c10::Float8_e5m2": "Float8_e5m2",
        "c10::Float8_e4m3fn": "Float8_e4m3fn",
        "c10::Float8_e5m2fnuz": "Float8_e5m2fnuz",
        "c10::Float8_e4m3fnuz": "Float8_e4m3fnuz",
        "c10::Float8_e8m0fnu": "Float8_e8m0fnu",
        "c10::Float4_e2m1fn_x2": "Float4_e2m1fn_x2",
        "uint16_t": "UInt16",
        "uint32_t": "UInt32",
        "uint64_t": "UInt64",
        **{f"c10::dummy_uint1_7_t<{bits}>": f"UInt{bits}" for bits in range(1, 8)},
        **{f"c10::dummy_int1_7_t<{bits}>": f"Int{bits}" for bits in range(1, 8)},
    }
)
"""The names in C++ of types of elements, and what `at::ScalarType` calls them."""
DTYPES: Final = frozenset((*SCALAR_TYPES.keys(), *SCALAR_TYPES.values()))
"""What a selection may call a type of elements."""


def header_values(selector: SelectiveBuilder, known: Iterable[str]) -> dict[str, object]:
    """The values of the header's template; `known` are the operators there are, with overloads."""
    keeps_all = selector.include_all_operators
    keeps_else = keeps_all or selector.include_all_non_op_selectives
    macros = [] if keeps_all else [("TORCH_OPERATOR_WHITELIST", operator_list(selector, known))]
    if not keeps_else:
        macros.append(("TORCH_CUSTOM_CLASS_ALLOWLIST", class_list(selector.custom_classes)))
        macros.append(("TORCH_BUILD_FEATURE_ALLOWLIST", sorted(selector.build_features)))
    return {
        "allowlists": [f"#define {name} {';'.join(items)}".rstrip() for name, items in macros],
        "checks_kernels": not keeps_else,
        "kernel_checks": [] if keeps_else else list(map(_kernel_check, *_sorted_kernels(selector))),
    }


def operator_list(selector: SelectiveBuilder, known: Iterable[str]) -> list[str]:
    """The operators that are selected, with their overloads, sorted."""
    selected = {name for name in known if selector.is_operator_selected(name)}
    overloaded = {strip_operator_overload_name(name) for name in selected}
    # Operators that aren't known here, those that TorchScript brings for instance, are listed as they are.
    return sorted({*selected, *(name for name in selector.operators if name not in overloaded or "." in name)})


def class_list(classes: Iterable[str]) -> list[str]:
    """The classes by the names under which they are registered, which lack their namespace, sorted."""
    return sorted({name.rpartition(".")[2] for name in classes})


def _sorted_kernels(selector: SelectiveBuilder) -> tuple[list[str], list[tuple[str, ...]]]:
    tags = sorted(selector.kernel_metadata)
    return tags, [selector.kernel_metadata[tag] for tag in tags]


def _kernel_check(tag: str, dtypes: Iterable[str]) -> str:
    """The statement that answers for one kernel."""
    names = sorted({SCALAR_TYPES.get(dtype, dtype) for dtype in dtypes})
    condition = " || ".join(f"scalar_type == at::ScalarType::{name}" for name in names) or "false"
    quoted = tag.replace("\\", "\\\\").replace('"', '\\"')
    return f'if (kernel_tag == "{quoted}") {{\n  return {condition};\n}}'
