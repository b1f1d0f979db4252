"""The house rules that a reader of the code can hold: one direction of imports, a pure core, no state, one screen."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

REPOSITORY: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = REPOSITORY / "opgen"
LONGEST_FUNCTION: Final = 60
LONGEST_SPINE: Final = 30
LONGEST_MODULE: Final = 700
MOST_FLAT_MODULES: Final = 32

FOR_ALL: Final = frozenset({"frozen_dataclass"})
EVERYTHING: Final = "everything"
NOTHING: Final = "-"
# Rooms whose code neither reads nor writes anything outside the process. The front end's files are its input.
PURE: Final = frozenset(
    {
        *("diagnostics", "frozen_map", "dispatch_keys", "schema/", "model", "selective_build/", "api/", "program/"),
        *("dest/", "extension/", "backend/", "lazy/", "mlx/", "autoheuristic/"),
    }
)
EFFECTS: Final = frozenset(
    {"open", "print", "input", "mkdir", "makedirs", "write_text", "write_bytes", "read_text", "read_bytes", "unlink"}
)
# SelectiveBuilder.from_yaml_path() reads the file that it is given, as people who call it expect.
ALLOWED_EFFECTS: Final = frozenset({("opgen.selective_build.selector", "read_text")})
# Rooms that hold values.
FROZEN: Final = frozenset(
    {
        *("dispatch_keys", "schema/", "model", "releases/", "selective_build/", "api/", "program/"),
        *("dest/", "extension/", "backend/", "lazy/"),
    }
)
# torchgen's users expect lists that they change, choices that hold for the moment, and a module called `utils`.
AS_TORCHGEN: Final = "as_torchgen/"
MUTABLE_CALLS: Final = frozenset({"list", "dict", "set", "bytearray", "defaultdict", "OrderedDict", "Counter", "deque"})
CACHES: Final = frozenset({"lru_cache", "cache"})


@dataclass(frozen=True)
class Room:
    """A row of ARCHITECTURE.md's table."""

    names: tuple[str, ...]
    """Modules and packages; the latter end in a slash."""
    may_import: frozenset[str]
    """Names of other rows, or `EVERYTHING`."""


def _read_rooms() -> tuple[Room, ...]:
    text = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("## The rooms\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return tuple(Room(tuple(_names_in(row[0])), frozenset(_names_in(row[-1]) or row[-1].split())) for row in rows)


def _names_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


ALL_ROOMS: Final = _read_rooms()
ROOM_OF_NAME: Final = MappingProxyType({name: room for room in ALL_ROOMS for name in room.names})


@dataclass(frozen=True)
class Module:
    """A module of the package, parsed."""

    name: str
    path: Path
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    """All nodes of the tree."""

    @property
    def room(self) -> str:
        """The first name of the row that it belongs to; empty if there is none."""
        path = f"{self.path.relative_to(PACKAGE).with_suffix('').as_posix()}/"
        names = [name for name in ROOM_OF_NAME if path.startswith(f"{name.removesuffix('/')}/")]
        return ROOM_OF_NAME[max(names, key=len)].names[0] if names else ""

    def place(self, node: ast.stmt | ast.expr) -> str:
        return f"{self.path.relative_to(REPOSITORY)}:{node.lineno}"


def _load() -> tuple[Module, ...]:
    return tuple(map(_parse, sorted(PACKAGE.rglob("*.py"))))


def _parse(path: Path) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return Module(_module_name(path), path, tree, tuple(ast.walk(tree)))


def _module_name(path: Path) -> str:
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.fixture(scope="module")
def modules() -> tuple[Module, ...]:
    return _load()


def _imports(module: Module, names: frozenset[str]) -> Iterator[tuple[ast.stmt | ast.expr, str]]:
    """Each import of a module of the package, at once or on demand: where it stands and the module's name."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names if alias.name.split(".")[0] == "opgen")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "opgen":
            base = node.module or ""
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield node, full if full in names else base
        elif isinstance(node, ast.Call) and _called(node) == "OnDemand":
            yield node, ast.literal_eval(node.args[0])


def _names(modules: tuple[Module, ...]) -> frozenset[str]:
    return frozenset(module.name for module in modules)


def _fail_for_each(wrong: Sequence[str]) -> None:
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def test_every_module_has_a_row(modules: tuple[Module, ...]) -> None:
    """And every row a module."""
    _fail_for_each([f"ARCHITECTURE.md has no row for {each.name}" for each in modules if not each.room])
    empty = {room.names[0] for room in ALL_ROOMS} - {module.room for module in modules}
    _fail_for_each([f"no module is in the row of {name}" for name in sorted(empty)])
    named = {name for room in ALL_ROOMS for name in room.may_import} - {EVERYTHING, NOTHING}
    _fail_for_each([f"ARCHITECTURE.md has no row {name}" for name in sorted(named - ROOM_OF_NAME.keys())])


def test_imports_go_one_way(modules: tuple[Module, ...]) -> None:
    names, rooms = _names(modules), {module.name: module.room for module in modules}
    wrong = [
        f"{module.place(node)}: {module.room} may not import {target}"
        for module in modules
        if EVERYTHING not in (allowed := ROOM_OF_NAME[module.room].may_import)
        for node, target in _imports(module, names)
        # The package itself holds its version and nothing else.
        if target != "opgen" and rooms.get(target, "") not in {module.room, *allowed, *FOR_ALL}
    ]
    _fail_for_each(wrong)


def test_only_tables_and_loaders_import_on_demand(modules: tuple[Module, ...]) -> None:
    wrong = [
        module.place(node)
        for module in modules
        if module.room != "commands/" and module.name != "opgen.extension.units"
        for node in module.nodes
        if isinstance(node, ast.Call) and _called(node) == "OnDemand"
    ]
    _fail_for_each(wrong)


def test_nothing_imports_the_names_of_torchgen(modules: tuple[Module, ...]) -> None:
    names = _names(modules)
    wrong = [
        f"{module.place(node)}: {target} is for programs outside of opgen"
        for module in modules
        if module.room != AS_TORCHGEN
        for node, target in _imports(module, names)
        if target.startswith("opgen.as_torchgen")
    ]
    _fail_for_each(wrong)


def test_imports_have_no_cycles(modules: tuple[Module, ...]) -> None:
    names = _names(modules)
    graph = {module.name: {target for _, target in _imports(module, names)} - {"opgen"} for module in modules}
    while leaves := [name for name, targets in graph.items() if not targets & graph.keys()]:
        for name in leaves:
            del graph[name]
    assert graph == {}, "these modules import each other"


def test_imports_stand_at_the_top(modules: tuple[Module, ...]) -> None:
    wrong = [
        f"{module.place(inner)}: an import inside {node.name}()"
        for module in modules
        for node in module.nodes
        if isinstance(node, ast.FunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Import, ast.ImportFrom))
    ]
    _fail_for_each(wrong)


def test_imports_are_absolute_and_named(modules: tuple[Module, ...]) -> None:
    wrong = [
        module.place(node)
        for module in modules
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and (node.level or any(alias.name == "*" for alias in node.names))
    ]
    _fail_for_each(wrong)


def test_the_core_is_pure(modules: tuple[Module, ...]) -> None:
    wrong = [
        f"{module.place(node)}: {name}()"
        for module in modules
        if module.room in PURE
        for node in module.nodes
        if isinstance(node, ast.Call) and (name := _called(node)) in EFFECTS
        if (module.name, name) not in ALLOWED_EFFECTS
    ]
    _fail_for_each(wrong)


def _called(node: ast.Call) -> str:
    function = node.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def test_modules_hold_no_state(modules: tuple[Module, ...]) -> None:
    wrong = [
        f"{module.place(node)}: a mutable value at module level"
        for module in modules
        if module.room != AS_TORCHGEN
        for node in module.tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
        if not _is_all(node) and _is_mutable(node.value)
    ]
    wrong += [
        f"{module.place(node)}: a global that changes"
        for module in modules
        for node in module.nodes
        if isinstance(node, ast.Global)
    ]
    _fail_for_each(wrong)


def _is_all(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def _is_mutable(value: ast.expr) -> bool:
    literals = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
    return isinstance(value, literals) or (isinstance(value, ast.Call) and _called(value) in MUTABLE_CALLS)


def test_no_function_remembers(modules: tuple[Module, ...]) -> None:
    """A cache on a function is state of the process: what is derived once belongs to the program."""
    wrong = [
        f"{module.place(node)}: {name}"
        for module in modules
        for node in module.nodes
        if isinstance(node, (ast.Name, ast.Attribute))
        if (name := node.id if isinstance(node, ast.Name) else node.attr) in CACHES
        and isinstance(node.ctx, ast.Load)
        and name in _imported_from_functools(module)
    ]
    _fail_for_each(wrong)


def _imported_from_functools(module: Module) -> set[str]:
    found = {
        alias.name
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.module == "functools"
        for alias in node.names
    }
    uses_module = any(
        isinstance(node, ast.Import) and any(alias.name == "functools" for alias in node.names) for node in module.nodes
    )
    return found | (set(CACHES) if uses_module else set())


def test_functions_fit_on_a_screen(modules: tuple[Module, ...]) -> None:
    wrong = [
        f"{module.place(node)}: {node.name}() has {length} lines"
        for module in modules
        for node in module.nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if (length := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
    ]
    _fail_for_each(wrong)


def test_the_spine_is_short(modules: tuple[Module, ...]) -> None:
    spine = next(module for module in modules if module.name == "opgen.run.spine")
    run = next(node for node in spine.tree.body if isinstance(node, ast.FunctionDef) and node.name == "run")
    assert (run.end_lineno or 0) - run.lineno < LONGEST_SPINE


def test_modules_are_short_and_in_rooms(modules: tuple[Module, ...]) -> None:
    lengths = {module.name: module.path.read_text(encoding="utf-8").count("\n") for module in modules}
    _fail_for_each([f"{name} has {length} lines" for name, length in lengths.items() if length > LONGEST_MODULE])
    assert sum(module.path.parent == PACKAGE for module in modules) <= MOST_FLAT_MODULES


def test_dataclasses_have_slots_and_values_are_frozen(modules: tuple[Module, ...]) -> None:
    """What collects or caches on purpose lives outside the rooms of values."""
    wrong = [
        f"{module.place(node)}: {node.name} lacks {flag}"
        for module in modules
        for node in module.nodes
        if isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
        if (text := ast.unparse(decorator)).startswith("dataclass")
        for flag in ("slots=True", *(("frozen=True",) if module.room in FROZEN else ()))
        if flag not in text
    ]
    _fail_for_each(wrong)


def test_mistakes_of_users_are_no_assertions(modules: tuple[Module, ...]) -> None:
    """AssertionError is for opgen's own bugs, and the front end reads what users wrote."""
    wrong = [
        module.place(node)
        for module in modules
        if module.room in {"frontend/", "diagnostics", "selective_build/", "backend/"}
        for node in module.nodes
        if isinstance(node, ast.Assert)
        or (isinstance(node, ast.Raise) and node.exc is not None and "AssertionError" in ast.unparse(node.exc))
    ]
    _fail_for_each(wrong)


def test_names_say_something(modules: tuple[Module, ...]) -> None:
    paths = [path for path in PACKAGE.rglob("util*.py") if path.parent != PACKAGE / AS_TORCHGEN]
    wrong = [str(path.relative_to(REPOSITORY)) for path in paths]
    wrong += [
        f"{module.place(node)}: {node.name}"
        for module in modules
        for node in module.nodes
        if isinstance(node, ast.FunctionDef) and node.name.lstrip("_").startswith(("process_", "handle_"))
    ]
    _fail_for_each(wrong)


def test_ruff_is_content() -> None:
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "."]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        pytest.fail(f"{done.stdout}{done.stderr}", pytrace=False)
