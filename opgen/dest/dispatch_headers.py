"""Dispatch keys → headers that declare the C++ functions of one backend, which bypass the dispatcher.

For each key that has such functions there is `CPUFunctions.h` for users, and `CPUFunctions_inl.h`
that `Tensor`'s own header can include.  With per-operator headers, the latter includes these
(`ops/add_cpu_dispatch.h`) instead of declaring all functions itself.  The definitions are in
`RegisterCPU_N.cpp`; see `register_dispatch_key`.

    namespace at {
    namespace cpu {
    TORCH_API at::Tensor add(const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha=1);
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.dest.dispatch_key_files import dependency_group, functions_keys, ops_header
from opgen.dest.group_kernels import GroupKernels, KernelMap
from opgen.dest.native_functions import EXPORT
from opgen.model import DispatchKey
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program


def emit_dispatch_headers(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the headers of each key that has its own C++ functions."""
    kernels = KernelMap(program)
    for key in functions_keys(options):
        groups = declare_functions(program, kernels.groups_under(key), program.release.kernel_exports.get(key, EXPORT))
        yield _outer_header(key, options, templates)
        if not options.per_operator_headers:
            every = [declaration for _, declarations in groups for declaration in declarations]
            yield _inline_header(key, [], every, options, templates)
            continue
        operators: dict[str, list[str]] = {}
        for name, declarations in groups:
            operators.setdefault(name, []).extend(declarations)
        includes = [f"#include <ATen/{ops_header(name, key)}>" for name in sorted(operators)]
        yield _inline_header(key, includes, [], options, templates)
        for name, declarations in operators.items():
            yield _operator_header(key, name, declarations, templates)


def declare_functions(program: Program, groups: Iterable[GroupKernels], export: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the root name of each group, and the declarations of its functions."""
    for group_kernels in groups:
        declarations = [
            f"{export} {signature.decl()};"
            for form, _ in group_kernels.forms
            for signature in program.signatures(form).cpp_backend.signatures()
        ]
        yield group_kernels.first.root_name, declarations


def _outer_header(key: DispatchKey, options: Options, templates: TemplateSet) -> OutputFile:
    env = {"inline_headers": f"#include <ATen/{key}Functions_inl.h>"}
    text = templates.render("DispatchKeyFunctions.h", env)
    return OutputFile(f"{key}Functions.h", text, group=dependency_group(key, options))


def _inline_header(
    key: DispatchKey, includes: list[str], declarations: list[str], options: Options, templates: TemplateSet
) -> OutputFile:
    """Return the header with all declarations, or with the includes of the headers that have them."""
    namespace, declared = key.lower(), ""
    if declarations:
        lines = "\n".join(declarations)
        declared = f"""\
namespace at {{
namespace {namespace} {{
{lines}
}} // namespace {namespace}
}} // namespace at"""
    env = {
        "dispatch_namespace": namespace,
        "DispatchKeyFunctions_inl_includes": includes,
        "dispatch_namespaced_declarations": declared,
    }
    text = templates.render("DispatchKeyFunctions_inl.h", env)
    return OutputFile(f"{key}Functions_inl.h", text, group=dependency_group(key, options))


def _operator_header(key: DispatchKey, name: str, declarations: list[str], templates: TemplateSet) -> OutputFile:
    """Return the header for the forms and overloads of one operator."""
    env = {"dispatch_namespace": key.lower(), "dispatch_namespaced_declarations": "\n".join(declarations)}
    text = templates.render("DispatchKeyFunction.h", env)
    return OutputFile(ops_header(name, key), text, group="ops_", operator=name)
