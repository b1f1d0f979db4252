"""Generated files → the place of each operator's registration under each dispatch key.

find_registrations(files)["scale.out"]["CPU"]    Place("RegisterCPU.cpp", 41)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

from opgen.frozen_dataclass import dataclass
from opgen.output.files import OutputFile

BLOCK: Final = re.compile(r"^(?:STABLE_)?TORCH_LIBRARY_IMPL\(\s*\w+\s*,\s*(\w+)\s*,")
_REGISTRATION: Final = re.compile(r'^\s*m\.impl\(\s*"([^"]+)"')
_IN_PYTHON: Final = re.compile(r'^_support\.register_(\w+)\("([^"]+)"(?:.*, "(\w+)"\)$)?')
KEYS_IN_PYTHON: Final = MappingProxyType(
    {
        "fake": "Meta",
        "pointwise_fake": "Meta",
        "written_fake": "Meta",
        "autograd": "Autograd",
        "out_autograd": "Autograd",
        "versions": "ADInplaceOrView",
        "functional": "CompositeExplicitAutograd",
        "out": "CompositeExplicitAutograd",
        "functionalization": "Functionalize",
        "pointwise_vmap": "FuncTorchBatched",
    }
)
"""The dispatch keys of the functions that register kernels in Python packages for the stable ABI."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a generated file."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def find_registrations(files: Iterable[OutputFile]) -> dict[str, dict[str, Place]]:
    """Return the registrations by operator, without its namespace, and dispatch key."""
    found: dict[str, dict[str, Place]] = {}
    for file in files:
        if file.path.endswith("/_registrations.py"):
            for number, line in enumerate(file.text.split("\n"), start=1):
                if python := _IN_PYTHON.match(line):
                    key = python.group(3) if python.group(1) == "autograd" and python.group(3) else ""
                    key = key or KEYS_IN_PYTHON[python.group(1)]
                    found.setdefault(python.group(2), {}).setdefault(key, Place(file.path, number))
        if "TORCH_LIBRARY_IMPL" not in file.text or is_repetition(file):
            continue
        key = ""
        for number, line in enumerate(file.text.split("\n"), start=1):
            if block := BLOCK.match(line):
                key = block.group(1)
            elif key and (registration := _REGISTRATION.match(line)):
                found.setdefault(registration.group(1), {}).setdefault(key, Place(file.path, number))
    return found


_NAMESPACE: Final = re.compile(r"^namespace ([\w:]+) \{")
_DECLARATION: Final = re.compile(r"^(\S.*?)\b(\w+)(\(.*\));$")


def find_stable_kernels(files: Iterable[OutputFile]) -> dict[str, str]:
    """Return the declarations of the kernels of an extension in the stable ABI, by name with the namespace."""
    found: dict[str, str] = {}
    for file in files:
        if not file.path.endswith("/Kernels.h"):
            continue
        namespace = ""
        for line in file.text.split("\n"):
            if opened := _NAMESPACE.match(line):
                namespace = opened.group(1)
            elif namespace and (declared := _DECLARATION.match(line)):
                name = f"{namespace}::{declared.group(2)}"
                found.setdefault(name, f"{declared.group(1)}{name}{declared.group(3)}")
    return found


def is_repetition(file: OutputFile) -> bool:
    """Return whether a file has the same definitions as its shards."""
    return "Everything" in file.path
