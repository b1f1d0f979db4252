"""C++ names of element types ⇄ names of `at::ScalarType`.

SCALAR_TYPES["int64_t"]     "Long"
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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
"""C++ names of element types, with their names in `at::ScalarType`."""
DTYPES: Final = frozenset((*SCALAR_TYPES.keys(), *SCALAR_TYPES.values()))
"""The names of element types in selections."""
TRACED_DTYPES: Final = DTYPES | {"all"}
"""The names in traced selections: the tracer writes `all` for a kernel that was called without a dtype."""
