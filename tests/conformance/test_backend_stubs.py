"""The generator of backend registrations and torch's own side by side: the same files, the same tokens.

`backends/` has a file for each field by itself, one with all of them, and one of the shape of the file that
torch's lazy backend has.  Besides, backends that have every operator there is are compared group by group.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest
import yaml

from opgen.backend.backend_yaml import load_backend
from opgen.backend.registrations import emit_registrations
from opgen.diagnostics import Diagnostics
from opgen.frontend.native_functions import load_program
from opgen.gen_backend_stubs import main
from opgen.model import NativeFunction, NativeFunctionsGroup
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from tests.conformance.backend_oracle import EACH_GROUP
from tests.conformance.compare import compare_trees
from tests.conformance.runs import run_command
from tests.conformance.tokens import tokens_of

BACKENDS: Final = tuple(sorted(Path(__file__).with_name("backends").glob("*.yaml")))
_FORMS: Final = ("functional", "inplace", "mutable", "out")
EVERY: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "functional": {"forms": ("functional",), "device_guard": False, "use_out_as_primary": False},
        "guarded": {"forms": ("functional",), "device_guard": True, "use_out_as_primary": False},
        "out": {"forms": ("out",), "device_guard": False, "use_out_as_primary": True},
        "all": {
            "forms": ("functional", "inplace", "mutable", "out"),
            "device_guard": False,
            "use_out_as_primary": False,
        },
    }
)
"""Backends with every operator: which forms of it they have, and how."""
HELPERS_END: Final = "C10_DIAGNOSTIC_POP()"
NOT_COMPILED: Final = "_amp_update_scale"
"""torch's generator hands two tensors to a function that takes one."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What torch's generator made of all backends."""

    root: Path
    outcome: Mapping[str, Any]
    """What it raised; for backends with every operator, what it made of each group."""


@pytest.fixture(scope="module")
def program(torch_source: Path) -> Program:
    """torch's operators."""
    log = Diagnostics()
    read = load_program(torch_source / "native" / "native_functions.yaml", torch_source / "native" / "tags.yaml", log)
    assert read is not None, log.render()
    return read


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory, program: Program) -> Sides:
    """Runs torch's generator on all backends, in one process."""
    root = tmp_path_factory.mktemp("backends")
    for name, how in EVERY.items():
        every = {"backend": "XLA", "cpp_namespace": "my", **how, "supported": list(_names(program, how["forms"]))}
        every["symint"] = list(_takers_of_symint(program, every["supported"]))[::2]
        del every["forms"]
        (root / f"{EACH_GROUP}{name}.yaml").write_text(yaml.safe_dump(every), encoding="utf-8")
    sources = [*BACKENDS, *sorted(root.glob("*.yaml"))]
    pairs = [argument for source in sources for argument in (str(source), f"expected/{source.stem}")]
    command = [sys.executable, "-m", "tests.conformance.backend_oracle", "results.json", *pairs]
    run = run_command(command, root)
    assert run.code == 0, run.err
    return Sides(root, json.loads((root / "results.json").read_text(encoding="utf-8")))


def _names(program: Program, forms: Iterable[str]) -> Iterator[str]:
    for item in program.grouped:
        kept = [getattr(item, form) for form in forms] if isinstance(item, NativeFunctionsGroup) else [item]
        yield from (str(form.func.name) for form in kept if form is not None)


def _takers_of_symint(program: Program, names: Iterable[str]) -> Iterator[str]:
    wanted = set(names)
    for function in program.functions:
        if str(function.func.name) in wanted and function.func.has_symint():
            yield str(function.func.name)


@pytest.mark.parametrize("source", BACKENDS, ids=lambda path: path.stem)
def test_writes_what_torch_writes(source: Path, sides: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sides.outcome[source.stem] == ""
    folder = sides.root / "actual"
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    # Sources include their header by the name of the folder that they are written to, so that has to be the same.
    assert main(["--quiet", "--from-torch", "-s", str(source), "-o", f"expected/{source.stem}"]) == 0
    report = compare_trees(sides.root / "expected" / source.stem, folder / "expected" / source.stem)
    assert report.is_same, report.render()


@pytest.mark.parametrize("kind", EVERY)
def test_every_operator_is_registered_as_torch_does_it(
    kind: str, sides: Sides, program: Program, torch_source: Path
) -> None:
    log = Diagnostics()
    backend = load_backend(sides.root / f"{EACH_GROUP}{kind}.yaml", program, log)
    assert backend is not None, log.render()
    expected: Mapping[str, list[str]] = sides.outcome[f"{EACH_GROUP}{kind}"]
    templates = TemplateSet(torch_source / "templates")
    compared, wrong = 0, []
    for item in program.grouped:
        name = str(_first(item).func.name)
        # What torch's generator raises for a group is all that there is of it.
        if len(expected[name]) == 2 and (name != NOT_COMPILED or kind in ("all", "out")):
            (file,) = emit_registrations(backend, replace(program, grouped=(item,)), templates)
            compared += 1
            if tokens_of(file.text.partition(HELPERS_END)[2]) != tokens_of(_source_of(*expected[name])):
                wrong.append(name)
    assert wrong == []
    assert compared > 1500


def _first(item: NativeFunction | NativeFunctionsGroup) -> NativeFunction:
    return item.functional if isinstance(item, NativeFunctionsGroup) else item


def _source_of(wrappers: str, registrations: str) -> str:
    """What a source has behind the functions that wrappers call."""
    library = f"TORCH_LIBRARY_IMPL(aten, XLA, m) {{ {registrations} }}" if registrations else ""
    return f"}} }} namespace at {{ namespace {{ {wrappers} {library} }} namespace xla {{ }} }}"
