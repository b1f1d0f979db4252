"""What programs import from `opgen.gen`, under the names that torchgen's users know.

    from opgen.gen import get_grouped_native_functions, parse_native_yaml
    parsed = parse_native_yaml("native_functions.yaml", "tags.yaml")
    get_grouped_native_functions(parsed.native_functions)

Each function wraps a part of opgen.  Errors in what is read raise one `UserError` with all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from opgen.commands.gen import generate
from opgen.dest.cpp_text import string_literal
from opgen.diagnostics import Diagnostics, UserError
from opgen.frontend.groups import group_forms, group_functions, group_views
from opgen.frontend.native_functions import load_definitions
from opgen.frontend.selection import select
from opgen.frontend.tags import load_tags
from opgen.frozen_dataclass import dataclass
from opgen.model import BackendIndex, DispatchKey, NativeFunction, NativeFunctionsGroup, NativeFunctionsViewGroup
from opgen.output.file_manager import FileManager
from opgen.run.inputs import packaged_folder
from opgen.selective_build.selector import SelectiveBuilder

__all__ = [
    "FileManager",
    "ParsedYaml",
    "cpp_string",
    "generate",
    "get_custom_build_selector",
    "get_grouped_by_view_native_functions",
    "get_grouped_native_functions",
    "get_torchgen_root",
    "parse_native_yaml",
    "parse_tags_yaml",
]


@dataclass(frozen=True, slots=True)
class ParsedYaml:
    """The operators of a definitions file, and their kernels by dispatch key."""

    native_functions: tuple[NativeFunction, ...]
    backend_indices: Mapping[DispatchKey, BackendIndex]


def parse_native_yaml(
    path: str | Path, tags_yaml_path: str | Path, ignore_keys: AbstractSet[DispatchKey] | None = None
) -> ParsedYaml:
    """Read and checks a definitions file and its tags, and derives what they ask for.

    Kernels under `ignore_keys` are left out.  Raises UserError with all errors.
    """
    log = Diagnostics()
    definitions = load_definitions(Path(path), Path(tags_yaml_path), log, ignore_keys or ())
    if definitions is None:
        raise UserError(*log.all)
    return ParsedYaml(definitions.functions, definitions.backend_indices)


def get_grouped_native_functions(
    native_functions: Iterable[NativeFunction],
) -> tuple[NativeFunction | NativeFunctionsGroup, ...]:
    """Return the functions; those that are forms of one operator as one group."""
    return tuple(group_functions(group_forms(native_functions).values()))


def get_grouped_by_view_native_functions(
    native_functions: Iterable[NativeFunction],
) -> tuple[NativeFunction | NativeFunctionsViewGroup, ...]:
    """Return the functions; a view, its copying form and its in-place form as one group."""
    return tuple(group_views(native_functions))


def get_custom_build_selector(
    provided_op_registration_allowlist: Sequence[str] | None, op_selection_yaml_path: str | Path | None
) -> SelectiveBuilder:
    """Return what a list of operators or a selection file selects; everything, if neither is given."""
    log = Diagnostics()
    path = None if op_selection_yaml_path is None else Path(op_selection_yaml_path)
    selector = select(provided_op_registration_allowlist, path, log)
    if selector is None or log.has_errors:
        raise UserError(*log.all)
    return selector


def parse_tags_yaml(path: str | Path) -> set[str]:
    """Return the tags that a file declares."""
    log = Diagnostics()
    tags = load_tags(Path(path), log)
    log.raise_errors()
    return set(tags)


def cpp_string(s: str) -> str:
    """`s` as a C++ string literal."""
    return string_literal(s)


def get_torchgen_root() -> Path:
    """Return the folder that `packaged/ATen` and `packaged/autograd` are in: opgen's own definitions."""
    return packaged_folder("ATen").parents[1]
