"""torchgen's `gen_backend_stubs`: a backend YAML → its kernels, and its files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from opgen import gen_backend_stubs
from opgen.as_torchgen.errors import asserted
from opgen.as_torchgen.programs import release_of_torch
from opgen.backend.backend_yaml import load_backend
from opgen.diagnostics import Diagnostics, UserError
from opgen.frozen_map import FrozenMap
from opgen.model import BackendIndex, DispatchKey, NativeFunction, NativeFunctionsGroup
from opgen.program.program import Program
from opgen.selective_build.selector import SelectiveBuilder


class ParsedExternalYaml(NamedTuple):
    """The contents of a backend YAML."""

    backend_key: DispatchKey | None
    autograd_key: DispatchKey | None
    class_name: str | None
    cpp_namespace: str
    backend_indices: dict[DispatchKey, BackendIndex]


@asserted()
def parse_backend_yaml(
    backend_yaml_path: str,
    grouped_native_functions: Sequence[NativeFunction | NativeFunctionsGroup],
    backend_indices: dict[DispatchKey, BackendIndex],
) -> ParsedExternalYaml:
    """Read a backend YAML; raise AssertionError with all errors."""
    functions = tuple(function for group in grouped_native_functions for function in _functions(group))
    program = Program(
        functions,
        tuple(grouped_native_functions),
        (),
        FrozenMap(backend_indices),
        SelectiveBuilder.get_nop_selector(),
        release_of_torch(),
        FrozenMap(),
    )
    log = Diagnostics()
    backend = load_backend(Path(backend_yaml_path), program, log)
    if backend is None or log.has_errors:
        raise UserError(*log.all)
    own = {index.dispatch_key: _mutable(index) for index in backend.indices}
    indices = {**backend_indices, **own}
    # torchgen leaves the default to its caller.
    name = None if backend.class_name == f"{backend.key}NativeFunctions" else backend.class_name
    return ParsedExternalYaml(backend.key, backend.autograd_key, name, backend.cpp_namespace, indices)


def _functions(group: NativeFunction | NativeFunctionsGroup) -> Iterable[NativeFunction]:
    return group.functions() if isinstance(group, NativeFunctionsGroup) else (group,)


def _mutable(index: BackendIndex) -> BackendIndex:
    return BackendIndex(
        index.dispatch_key, index.use_out_as_primary, index.device_guard, index.external, dict(index.index)
    )


@asserted()
def run(source_yaml: str, output_dir: str, dry_run: bool, impl_path: str | None = None) -> None:
    """Write the files of a backend; raise AssertionError with all errors."""
    gen_backend_stubs.run(source_yaml, output_dir, dry_run, impl_path, from_torch=True)


def main() -> None:
    """Run the generator; exit with its code if that is not 0."""
    code = gen_backend_stubs.main()
    if code:
        sys.exit(code)


if __name__ == "__main__":
    main()
