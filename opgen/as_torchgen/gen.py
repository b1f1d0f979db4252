"""torchgen's `gen`: definitions → functions, groups and kernels, and snippets of C++ for them.

    parsed = parse_native_yaml("native_functions.yaml", "tags.yaml")
    get_grouped_native_functions(parsed.native_functions)

`python -m torchgen.gen` is `python -m opgen.gen`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple

from opgen import gen as generator
from opgen import gen_library
from opgen.api.signatures import Signatures
from opgen.as_torchgen.api.types.signatures import CppSignature, DispatcherSignature
from opgen.as_torchgen.context import with_native_function
from opgen.as_torchgen.dest.native_functions import compute_native_function_declaration
from opgen.as_torchgen.errors import asserted
from opgen.as_torchgen.programs import LINE, program_of, read_entries, read_file
from opgen.as_torchgen.utils import FileManager as FileManager
from opgen.as_torchgen.utils import NamespaceHelper, concatMap
from opgen.as_torchgen.utils import make_file_manager as make_file_manager
from opgen.as_torchgen.yaml_utils import YamlLoader
from opgen.dest.cpp_text import string_literal
from opgen.dest.meta_functions import render_meta_class
from opgen.dest.static_dispatch import static_call
from opgen.frontend.native_functions import Definitions
from opgen.frozen_dataclass import dataclass
from opgen.gen_library import cpp_string as cpp_string
from opgen.gen_library import get_torchgen_root as get_torchgen_root
from opgen.model import (
    DEFAULT_KERNEL_NAMESPACE,
    FRAGMENT_NAMESPACES,
    BackendIndex,
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    SchemaKind,
)
from opgen.selective_build.selector import SelectiveBuilder

Group = NativeFunction | NativeFunctionsGroup


class LineLoader(YamlLoader):  # type: ignore[misc]
    """Reads YAML; each mapping has the line that it starts on, under `__line__`."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Read a mapping."""
        made: dict[Any, Any] = YamlLoader.construct_mapping(self, node, deep=deep)
        made[LINE] = node.start_mark.line + 1
        return made


class ParsedYaml(NamedTuple):
    """The operators of a definitions file, and their kernels by dispatch key."""

    native_functions: list[NativeFunction]
    backend_indices: dict[DispatchKey, BackendIndex]


_GLOBAL_PARSE_NATIVE_YAML_CACHE: dict[str, ParsedYaml] = {}
"""The cache of read files, as in torchgen: clear it to read them again."""


def parse_native_yaml(
    path: str,
    tags_yaml_path: str,
    ignore_keys: set[DispatchKey] | None = None,
    *,
    skip_native_fns_gen: bool = False,
    loaded_yaml: object | None = None,
) -> ParsedYaml:
    """Read a definitions file; raise AssertionError with all errors."""
    known = _GLOBAL_PARSE_NATIVE_YAML_CACHE.get(str(path))
    if known is not None:
        return known
    if loaded_yaml is None:
        definitions = read_file(Path(path), Path(tags_yaml_path), ignore_keys or ())
        parsed = _parsed(definitions, skip_native_fns_gen)
    else:
        tags = parse_tags_yaml(tags_yaml_path)
        parsed = parse_native_yaml_struct(loaded_yaml, tags, ignore_keys, str(path), skip_native_fns_gen)
    _GLOBAL_PARSE_NATIVE_YAML_CACHE[str(path)] = parsed
    return parsed


def parse_native_yaml_struct(
    es: Any,
    valid_tags: set[str],
    ignore_keys: set[DispatchKey] | None = None,
    path: str = "<stdin>",
    skip_native_fns_gen: bool = False,
) -> ParsedYaml:
    """Read entries that are Python data already; raise AssertionError with all errors."""
    if not isinstance(es, list):
        raise AssertionError(f"a file of operator definitions is a list of entries, not a {type(es).__name__}")
    return _parsed(read_entries(es, valid_tags, ignore_keys or (), path), skip_native_fns_gen)


def _parsed(definitions: Definitions, is_plain: bool) -> ParsedYaml:
    functions = list(definitions.functions)
    if is_plain:
        functions = [function for function in functions if "generated" not in function.tags]
    names = {function.func.name for function in functions}
    indices: dict[DispatchKey, BackendIndex] = defaultdict(_empty_index)
    for key, index in definitions.backend_indices.items():
        kernels = {name: kernel for name, kernel in index.index.items() if name in names}
        indices[key] = BackendIndex(key, index.use_out_as_primary, index.device_guard, index.external, kernels)
    return ParsedYaml(functions, indices)


def _empty_index() -> BackendIndex:
    return BackendIndex(DispatchKey.Undefined, True, False, False, {})


@asserted()
def parse_tags_yaml(path: str) -> set[str]:
    """Return the tags that a file declares."""
    return gen_library.parse_tags_yaml(path)


def get_grouped_native_functions(native_functions: Iterable[NativeFunction]) -> list[Group]:
    """Return the functions, with forms of one operator as one group."""
    return list(gen_library.get_grouped_native_functions(native_functions))


def get_grouped_by_view_native_functions(
    native_functions: Iterable[NativeFunction],
) -> list[NativeFunction | NativeFunctionsViewGroup]:
    """Return the functions, with each view, its `_copy` form and its in-place form as one group."""
    return list(gen_library.get_grouped_by_view_native_functions(native_functions))


@asserted()
def get_custom_build_selector(
    provided_op_registration_allowlist: list[str] | None, op_selection_yaml_path: str | None
) -> SelectiveBuilder:
    """Return what a list of operators or a selection file selects; everything, if neither is given."""
    return gen_library.get_custom_build_selector(provided_op_registration_allowlist, op_selection_yaml_path)


def error_check_native_functions(funcs: Sequence[NativeFunction]) -> None:
    """Check the rules between functions; raise AssertionError with all errors."""
    wrong = list(_inconsistencies({function.func.name: function for function in funcs}.values()))
    if wrong:
        raise AssertionError("\n".join(wrong))


def _inconsistencies(functions: Iterable[NativeFunction]) -> Iterator[str]:
    by_name = {function.func.name: function for function in functions}
    bases = {(f.root_name, f.func.name.name.inplace) for f in by_name.values()}
    for function in by_name.values():
        name, delegate = function.func.name, function.structured_delegate
        if delegate is not None:
            target = by_name.get(delegate)
            if target is None:
                yield f"{function.loc}: '{name}' delegates to '{delegate}', which is not defined"
            elif not target.structured:
                yield f"{function.loc}: '{name}' delegates to '{delegate}', which is not structured"
        if "inplace_view" in function.tags and str(name) not in ("resize_", "resize_as_", "resize_as_sparse_"):
            if not name.name.inplace:
                yield f"{function.loc}: '{name}' is tagged 'inplace_view', but isn't in-place by its name"
            elif (function.root_name, False) not in bases and not name.name.base.startswith("set"):
                yield f"{function.loc}: '{name}' is tagged 'inplace_view', but no view goes with it"


# ------------------------------------------------------------------------------ declarations


def get_native_function_declarations_from_ns_grouped_kernels(*, ns_grouped_kernels: dict[str, list[str]]) -> list[str]:
    """Return declarations, each namespace opened before and closed after its declarations."""
    lines: list[str] = []
    for namespace, kernels in ns_grouped_kernels.items():
        helper = NamespaceHelper(namespace, max_level=4)
        declared = list(dict.fromkeys(kernels))
        lines += ["", *helper.prologue.split("\n"), *declared, *helper.epilogue.split("\n"), ""]
    return lines


def get_native_function_declarations(
    *,
    grouped_native_functions: Sequence[Group],
    backend_indices: dict[DispatchKey, BackendIndex],
    native_function_decl_gen: Callable[[Group, BackendIndex], list[str]] = compute_native_function_declaration,
) -> list[str]:
    """Return the declarations of all kernels, by their namespaces."""
    kernels: dict[str, list[str]] = {}
    for group in grouped_native_functions:
        found: set[str] = set()
        for index in backend_indices.values():
            metadata = index.get_kernel(group)
            names = {kernel.cpp_namespace for f in _functions(group) if (kernel := index.get_kernel(f)) is not None}
            namespace = metadata.cpp_namespace if metadata is not None else next(iter(names), DEFAULT_KERNEL_NAMESPACE)
            found |= names
            if len(found) > 1:
                raise AssertionError(f"the kernels of '{group.root_name}' are in several namespaces: {sorted(found)}")
            kernels.setdefault(namespace, []).extend(native_function_decl_gen(group, index))
    return get_native_function_declarations_from_ns_grouped_kernels(ns_grouped_kernels=kernels)


def _functions(group: Group) -> Iterable[NativeFunction]:
    return group.functions() if isinstance(group, NativeFunctionsGroup) else (group,)


@with_native_function
def compute_meta_function_declaration(g: NativeFunctionsGroup) -> str | None:
    """Return the class of the group's meta function; None if it has none."""
    return render_meta_class(program_of(SelectiveBuilder.get_nop_selector()), g) if g.structured else None


# ----------------------------------------------------------------------------------- schemas


@dataclass(frozen=True, slots=True)
class RegisterSchema:
    """Generates the statements that register schemas."""

    selector: SelectiveBuilder
    known_tags: dict[str, int] = field(default_factory=dict)
    """The sets of tags that were declared before, and their numbers."""

    def __call__(self, f: NativeFunction) -> str | None:
        """Return the statements for an operator; None if it isn't selected."""
        if not self.selector.is_native_function_selected(f):
            return None
        schema = string_literal(str(f.func))
        tags = "{" + ", ".join(f"at::Tag::{tag}" for tag in sorted(f.tags)) + "}"
        if tags == "{}":
            return f"m.def({schema}, {{}});\n"
        before = ""
        if tags not in self.known_tags:
            number = self.known_tags[tags] = len(self.known_tags)
            before = f"const std::vector<at::Tag> tags_{number} = {tags};\n"
        return f"{before}m.def({schema}, tags_{self.known_tags[tags]});\n"


def get_native_function_schema_registrations(
    *, native_functions: Sequence[NativeFunction], schema_selector: SelectiveBuilder
) -> tuple[list[str], str]:
    """Return the statements for torch's own library, and the blocks of other libraries."""
    by_namespace: dict[str, list[NativeFunction]] = {}
    for function in native_functions:
        by_namespace.setdefault(function.namespace, []).append(function)
    own: list[str] = []
    others = ""
    for namespace, functions in by_namespace.items():
        made = RegisterSchema(schema_selector)
        definitions = [text for text in map(made, functions) if text is not None]
        if namespace == "aten":
            own = definitions
            continue
        macro = "TORCH_LIBRARY_FRAGMENT" if namespace in FRAGMENT_NAMESPACES else "TORCH_LIBRARY"
        body = "".join(definitions)
        others += f"\n{macro}({namespace}, m) {{\n{body}}};"
    return own, others


def static_dispatch(
    sig: CppSignature | DispatcherSignature, f: NativeFunction, backend_indices: list[BackendIndex]
) -> str:
    """Return the statements that select the backend and call its kernel; empty if there are no backends."""
    del sig
    if not backend_indices or f.manual_kernel_registration:
        return ""
    return static_call(f, Signatures(f), tuple(backend_indices)) or ""


def main() -> None:
    """Run the generator; exit with its code if that is not 0."""
    code = generator.main()
    if code:
        sys.exit(code)


__all__ = [
    "FileManager",
    "LineLoader",
    "ParsedYaml",
    "RegisterSchema",
    "SchemaKind",
    "compute_meta_function_declaration",
    "concatMap",
    "cpp_string",
    "error_check_native_functions",
    "get_custom_build_selector",
    "get_grouped_by_view_native_functions",
    "get_grouped_native_functions",
    "get_native_function_declarations",
    "get_native_function_declarations_from_ns_grouped_kernels",
    "get_native_function_schema_registrations",
    "get_torchgen_root",
    "main",
    "make_file_manager",
    "parse_native_yaml",
    "parse_native_yaml_struct",
    "parse_tags_yaml",
    "static_dispatch",
]

if __name__ == "__main__":
    main()
