"""torch's operators by name, for what a formula calls: their schemas, and whether they are methods of tensors.

    functions = TorchFunctions(Path("…/native/native_functions.yaml"))
    functions.schemas("neg")       (FunctionSchema "neg(Tensor self) -> Tensor",)
    functions.is_method("neg")     True

Formulas name few of torch's thousands of operators, so entries are found in the text of the file, and only the
requested schemas are parsed.
"""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import Path
from typing import Final

from opgen.frozen_dataclass import dataclass
from opgen.model import FunctionSchema

_ENTRY: Final = re.compile(
    r"^- func: (?P<schema>(?P<name>\w+)(?:\.\w+)?\(.*)$(?P<rest>(?:\n(?!- func:).*)*)", re.MULTILINE
)
_METHOD: Final = re.compile(r"^  variants:.*\bmethod\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Overloads:
    """The overloads of one name, out forms excluded."""

    schemas: tuple[str, ...] = ()
    is_method: bool = False


@dataclass(frozen=True, slots=True)
class TorchFunctions:
    """The operators in torch's definitions."""

    definitions: Path | None
    """torch's native_functions.yaml; None if no formula needs it."""
    _named: dict[str, _Overloads] = field(default_factory=dict, repr=False, compare=False)
    """The overloads in the file by name; read on first use."""

    def schemas(self, name: str) -> tuple[FunctionSchema, ...]:
        """Return the schemas of the operators called `name`; none if there is no such operator."""
        return tuple([FunctionSchema.parse(text) for text in self._find(name).schemas])

    def is_method(self, name: str) -> bool:
        """Return whether tensors have a method of this name that is an operator."""
        return self._find(name).is_method

    def _find(self, name: str) -> _Overloads:
        if not self._named and self.definitions is not None:
            for entry in _ENTRY.finditer(self.definitions.read_text(encoding="utf-8")):
                named = self._named.get(entry["name"], _Overloads())
                is_out = "!) out" in entry["schema"]
                schemas = named.schemas if is_out else (*named.schemas, entry["schema"])
                is_method = named.is_method or _METHOD.search(entry["rest"]) is not None
                self._named[entry["name"]] = _Overloads(schemas, is_method)
        return self._named.get(name, _Overloads())
