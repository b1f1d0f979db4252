"""What the installed torch knows of its operators: schemas, tags, registrations and headers.

Asked of the running library, and never of the file that it was generated from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

_REGISTRATION = re.compile(
    r"^(\w+)(?:\[alias\])?(?: \(inactive\))?: registered at \S*/Register(\w+?)(?:_\d+)?\.cpp:", re.M
)
_DISPATCHED = re.compile(r"at::_ops::(\w+)::call\(")
_DECLARED = re.compile(r"TORCH_(?:CUDA_CPP_)?API [^;{()]*?\b(\w+)\(|struct TORCH_(?:CUDA_CPP_)?API structured_(\w+)")

MODULES = MappingProxyType(
    {
        "nn": torch._C._nn,
        "linalg": torch._C._linalg,
        "fft": torch._C._fft,
        "special": torch._C._special,
        "sparse": torch._C._sparse,
        "nested": torch._C._nested,
    }
)
"""Where the operators of each Python module are bound."""


def spelled(schema: str) -> str:
    """An operator's schema as torch's own parser understands it: defaults canonical, aliases and all."""
    return str(torch._C.parse_schema(f"aten::{schema}"))


@dataclass(frozen=True)
class TorchFacts:
    """The operators of namespace aten in the running torch."""

    schemas: Mapping[str, str]
    """By name and overload, in torch's spelling."""
    methods: frozenset[str]
    """The overloads that are methods of Tensor, by their identifiers in C++."""
    include: Path
    """Where ATen's headers are."""
    _declared: dict[str, frozenset[str]] = field(default_factory=dict)

    @staticmethod
    def gather() -> TorchFacts:
        """Asks the installed torch."""
        schemas = {_full_name(schema): str(schema) for schema in torch._C._jit_get_all_schemas()}
        include = Path(torch.__file__).parent / "include" / "ATen"
        tensor = (include / "core" / "TensorBody.h").read_text(encoding="utf-8")
        return TorchFacts(schemas, frozenset(_DISPATCHED.findall(tensor)), include)

    def keys(self, name: str) -> frozenset[str]:
        """The dispatch keys under which generated code registered kernels of `aten::name`.

        What Python or hand-written code registers is left out: it isn't said in definitions.
        """
        found = _REGISTRATION.findall(torch._C._dispatch_dump(f"aten::{name}"))
        return frozenset(key for key, file in found if key == file)

    def tags(self, name: str) -> frozenset[str]:
        """The tags of `aten::name`."""
        base, _, overload = name.partition(".")
        return frozenset(tag.name for tag in torch._C._get_operation_overload(f"aten::{base}", overload)[2])

    def kernels(self, base: str) -> frozenset[str]:
        """The kernels of all overloads of `base` that torch's headers declare, structured ones without their prefix."""
        if base not in self._declared:
            text = self._header(f"ops/{base}_native.h")
            self._declared[base] = frozenset(plain or structured for plain, structured in _DECLARED.findall(text))
        return self._declared[base]

    def is_function(self, base: str, identifier: str) -> bool:
        """Whether there is a C++ function for the overload that C++ knows as `identifier`."""
        return identifier in _DISPATCHED.findall(self._header(f"ops/{base}.h"))

    def modules(self, base: str) -> Iterator[str]:
        """The Python modules that bind `base`."""
        return (name for name, module in MODULES.items() if hasattr(module, base))

    def _header(self, path: str) -> str:
        file = self.include / path
        return file.read_text(encoding="utf-8") if file.exists() else ""


def _full_name(schema: Any) -> str:
    overload = f".{schema.overload_name}" if schema.overload_name else ""
    return f"{schema.name.removeprefix('aten::')}{overload}"
