"""A selection → the constants of `selected_mobile_ops.h`, which torch's headers read.

A build with `TEMPLATE_SELECTIVE_BUILD` includes this header, and registers only what it lists.  For the selection of
`aten::relu` and of the floats of one kernel:

    #define TORCH_OPERATOR_WHITELIST aten::relu

    if (kernel_tag == "relu_kernel") {
      return scalar_type == at::ScalarType::Float;
    }

The list has names with overloads, since registrations have overloads: a name that selects all overloads
is replaced by the defined ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from opgen.dest.cpp_text import string_literal
from opgen.selective_build.dtypes import SCALAR_TYPES
from opgen.selective_build.operator import strip_operator_overload_name
from opgen.selective_build.selector import SelectiveBuilder


def header_values(selector: SelectiveBuilder, defined: Iterable[str]) -> dict[str, object]:
    """Return the values of the header's template; `defined` are the defined operators, with overloads."""
    keeps_all = selector.include_all_operators
    keeps_else = keeps_all or selector.include_all_non_op_selectives
    macros = [] if keeps_all else [("TORCH_OPERATOR_WHITELIST", operator_list(selector, defined))]
    if not keeps_else:
        macros.append(("TORCH_CUSTOM_CLASS_ALLOWLIST", class_list(selector.custom_classes)))
        macros.append(("TORCH_BUILD_FEATURE_ALLOWLIST", sorted(selector.build_features)))
    return {
        "allowlists": [f"#define {name} {';'.join(items)}".rstrip() for name, items in macros],
        "checks_kernels": not keeps_else,
        "kernel_checks": [] if keeps_else else list(map(_kernel_check, *_sorted_kernels(selector))),
    }


def operator_list(selector: SelectiveBuilder, defined: Iterable[str]) -> list[str]:
    """Return the selected operators with their overloads, sorted."""
    selected = {name for name in defined if selector.is_operator_selected(name)}
    overloaded = {strip_operator_overload_name(name) for name in selected}
    # Operators that are not defined here, such as TorchScript's, are listed unchanged.
    return sorted({*selected, *(name for name in selector.operators if name not in overloaded or "." in name)})


def class_list(classes: Iterable[str]) -> list[str]:
    """Return the names under which classes are registered, without their namespace, sorted."""
    return sorted({name.rpartition(".")[2] for name in classes})


def _sorted_kernels(selector: SelectiveBuilder) -> tuple[list[str], list[tuple[str, ...]]]:
    tags = sorted(selector.kernel_metadata)
    return tags, [selector.kernel_metadata[tag] for tag in tags]


def _kernel_check(tag: str, dtypes: Iterable[str]) -> str:
    """Return the statement that checks whether a kernel is selected."""
    names = sorted({SCALAR_TYPES.get(dtype, dtype) for dtype in dtypes})
    condition = " || ".join(f"scalar_type == at::ScalarType::{name}" for name in names) or "false"
    return f"if (kernel_tag == {string_literal(tag)}) {{\n  return {condition};\n}}"
