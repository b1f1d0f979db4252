"""`NativeAotStubs.h/.cpp`: dispatch stubs for kernels of structured operators that are compiled ahead of time.

Since torch 2.15, the wrapper of a structured kernel first calls such a stub: its kernel computes the outputs and
returns true, or returns false, and the author's `impl` runs.

    using topk_aot_fn = bool (*)(const at::Tensor & self, int64_t k, …, const at::Tensor & indices);
    DECLARE_DISPATCH(topk_aot_fn, topk_aot_stub)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.api.types import render_defns
from opgen.model import DispatchKey, NativeFunctionsGroup
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_HEADER: Final = "NativeAotStubs.h"
_SOURCE: Final = "NativeAotStubs.cpp"


def emit_native_aot_header(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `NativeAotStubs.h`, if the release has it."""
    del options
    if _has_stubs(program, templates, _HEADER):
        declarations = [_declaration(program, group) for group in _groups(program)]
        yield OutputFile(_HEADER, templates.render(_HEADER, {"native_aot_stub_declarations": declarations}))


def emit_native_aot_source(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `NativeAotStubs.cpp`, if the release has it."""
    del options
    if _has_stubs(program, templates, _SOURCE):
        definitions = [_definition(group) for group in _groups(program)]
        yield OutputFile(_SOURCE, templates.render(_SOURCE, {"native_aot_stub_definitions": definitions}))


def _has_stubs(program: Program, templates: TemplateSet, name: str) -> bool:
    """Return whether to write the file; an older release without such kernels may have no template for it."""
    return program.release.native_aot_stubs and (bool(program.native_aot) or templates.has(name))


def _groups(program: Program) -> list[NativeFunctionsGroup]:
    """Return the operators that have stubs, by name."""
    names = sorted({name for name, _ in program.native_aot})
    groups = {group.functional.func.name.text: group for group in program.structured_groups}
    return [groups[name] for name in names]


def _stem(group: NativeFunctionsGroup) -> str:
    return f"{group.functional.func.name.unambiguous_name()}_aot"


def _declaration(program: Program, group: NativeFunctionsGroup) -> str:
    stem, arguments = _stem(group), render_defns(program.group_signatures(group).impl_arguments)
    return f"using {stem}_fn = bool (*)({arguments});\nDECLARE_DISPATCH({stem}_fn, {stem}_stub)"


def _definition(group: NativeFunctionsGroup) -> str:
    stub = f"{_stem(group)}_stub"
    return f"DEFINE_DISPATCH({stub});\nREGISTER_NO_CPU_DISPATCH({stub})"


# --------------------------------------------------------------------------------- wrappers


def has_stub(program: Program, group: NativeFunctionsGroup, key: DispatchKey) -> bool:
    """Return whether the kernel of a group under a key has a stub."""
    return (group.functional.func.name.text, key) in program.native_aot


def stub_includes(program: Program, key: DispatchKey) -> list[str]:
    """Return the header of stubs, if any kernel under the key has one."""
    return [f"#include <ATen/{_HEADER}>"] if any(key is each for _, each in program.native_aot) else []


def call_impl(group: NativeFunctionsGroup, key: DispatchKey, arguments: str, *, has_stub: bool) -> list[str]:
    """Return the statements that compute; with a stub, the author's `impl` is called only if the stub returns false."""
    call = f"op.impl({arguments});"
    if not has_stub:
        return [call]
    stub, device = f"at::native::{_stem(group)}_stub", f"c10::DeviceType::{key}"
    taken = (
        f"at::globalContext().allowNativeAot() && {stub}.is_device_supported({device}) && {stub}({device}, {arguments})"
    )
    return [f"if (!({taken})) {{ {call} }}"]
