"""torchgen's `api.lazy`: the schemas of nodes in a lazy backend's graph.

The C++ class of values is set per thread with `setValueT`; opgen passes it as an argument.
"""

from __future__ import annotations

import threading
from typing import Any, Final

from opgen.api import lazy
from opgen.api.types import BaseCppType
from opgen.as_torchgen.facade import Facade, facade
from opgen.model import FunctionSchema


class _Values(threading.local):
    cpp_class: str = lazy.VALUE_CLASS


_values: Final = _Values()


def setValueT(val: BaseCppType) -> None:
    """Set the C++ class of values to `val`."""
    _values.cpp_class = str(val)


def getValueT() -> BaseCppType:
    """Return the C++ class of values."""
    return lazy.value_type(_values.cpp_class).type


class _Properties(Facade):
    def make(cls, *default_properties: str) -> lazy.LazyIrProperties:
        return lazy.LazyIrProperties.of(*default_properties)


class _Schema(Facade):
    def make(
        cls, func: FunctionSchema, properties: lazy.LazyIrProperties | None = None, *, symint: bool
    ) -> lazy.LazyIrSchema:
        chosen = lazy.OPERATOR_PROPERTIES if properties is None else properties
        return lazy.LazyIrSchema.derive(func, chosen, symint=symint, value_class=_values.cpp_class)


LazyArgument: Any = facade("LazyArgument", lazy.LazyArgument)
LazyIrProperties: Any = _Properties("LazyIrProperties", (), {"wrapped": lazy.LazyIrProperties})
LazyIrSchema: Any = _Schema("LazyIrSchema", (), {"wrapped": lazy.LazyIrSchema})
