"""torchgen's types of C++ and its signatures, over opgen's.

DispatcherSignature.from_schema(func).arguments()       # a list, where opgen's signatures have a value
"""

from __future__ import annotations

from opgen.api.types import ArgName as ArgName
from opgen.api.types import ArrayCType as ArrayCType
from opgen.api.types import ArrayRefCType as ArrayRefCType
from opgen.api.types import BaseCppType as BaseCppType
from opgen.api.types import BaseCType as BaseCType
from opgen.api.types import BaseTypeToCppMapping as BaseTypeToCppMapping
from opgen.api.types import ConstRefCType as ConstRefCType
from opgen.api.types import Expr as Expr
from opgen.api.types import ListCType as ListCType
from opgen.api.types import MutRefCType as MutRefCType
from opgen.api.types import NamedCType as NamedCType
from opgen.api.types import OptionalCType as OptionalCType
from opgen.api.types import ScalarTypeToCppMapping as ScalarTypeToCppMapping
from opgen.api.types import SpecialArgName as SpecialArgName
from opgen.api.types import SymBoolT as SymBoolT
from opgen.api.types import SymIntT as SymIntT
from opgen.api.types import TupleCType as TupleCType
from opgen.api.types import VectorCType as VectorCType
from opgen.api.types import VectorizedCType as VectorizedCType
from opgen.api.types import bfloat16T as bfloat16T
from opgen.api.types import boolT as boolT
from opgen.api.types import byteT as byteT
from opgen.api.types import charT as charT
from opgen.api.types import complexDoubleT as complexDoubleT
from opgen.api.types import complexFloatT as complexFloatT
from opgen.api.types import complexHalfT as complexHalfT
from opgen.api.types import deviceIndexT as deviceIndexT
from opgen.api.types import deviceT as deviceT
from opgen.api.types import dimVectorT as dimVectorT
from opgen.api.types import doubleT as doubleT
from opgen.api.types import floatT as floatT
from opgen.api.types import generatorT as generatorT
from opgen.api.types import halfT as halfT
from opgen.api.types import int32T as int32T
from opgen.api.types import intArrayRefT as intArrayRefT
from opgen.api.types import iOptTensorListRefT as iOptTensorListRefT
from opgen.api.types import iTensorListRefT as iTensorListRefT
from opgen.api.types import layoutT as layoutT
from opgen.api.types import longT as longT
from opgen.api.types import memoryFormatT as memoryFormatT
from opgen.api.types import opmath_t as opmath_t
from opgen.api.types import optionalIntArrayRefT as optionalIntArrayRefT
from opgen.api.types import optionalScalarRefT as optionalScalarRefT
from opgen.api.types import optionalSymIntArrayRefT as optionalSymIntArrayRefT
from opgen.api.types import optionalTensorRefT as optionalTensorRefT
from opgen.api.types import qschemeT as qschemeT
from opgen.api.types import scalar_t as scalar_t
from opgen.api.types import scalarT as scalarT
from opgen.api.types import scalarTypeT as scalarTypeT
from opgen.api.types import shortT as shortT
from opgen.api.types import storageT as storageT
from opgen.api.types import streamT as streamT
from opgen.api.types import stringT as stringT
from opgen.api.types import symIntArrayRefT as symIntArrayRefT
from opgen.api.types import tensorListT as tensorListT
from opgen.api.types import tensorOptionsT as tensorOptionsT
from opgen.api.types import tensorT as tensorT
from opgen.api.types import voidT as voidT
from opgen.as_torchgen.api.types.bindings import Binding as Binding
from opgen.as_torchgen.api.types.bindings import CType as CType
from opgen.as_torchgen.api.types.signatures import CppSignature as CppSignature
from opgen.as_torchgen.api.types.signatures import CppSignatureGroup as CppSignatureGroup
from opgen.as_torchgen.api.types.signatures import DispatcherSignature as DispatcherSignature
from opgen.as_torchgen.api.types.signatures import NativeSignature as NativeSignature
from opgen.as_torchgen.api.types.signatures import StructuredImplSignature as StructuredImplSignature
from opgen.as_torchgen.api.types.signatures import kernel_signature as kernel_signature
