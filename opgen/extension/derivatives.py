"""Operators with derivatives → `RegisterDerivatives.cpp`: the autograd nodes, and the kernels that record them.

Nodes and kernels are the same as those that the emitters of torch's own autograd make from the
formulas.  This module puts them in a source of a library outside of torch.  If there are many operators,
there are several sources, with operators assigned by name, so a new operator recompiles only one of them.

    struct RatioBackward0 : public TraceableFunction { … };

    at::Tensor record_ratio_Tensor(c10::DispatchKeySet ks, const at::Tensor & self, const at::Tensor & other) {
      …
    }
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from opgen.api.autograd import DifferentiabilityInfo, NativeFunctionWithDifferentiabilityInfo, identifiers
from opgen.api.autograd_nodes import nodes_of
from opgen.dest.autograd_functions import render_declaration, render_definition
from opgen.dest.autograd_home import extension_home
from opgen.dest.autograd_kernels import has_derived_kernel
from opgen.dest.cpp_text import string_literal
from opgen.dest.includes import by_root_name
from opgen.dest.line_directives import resume_lines
from opgen.dest.variable_type import KernelPiece, kernel_pieces, registered_key
from opgen.extension.extension import Extension
from opgen.extension.includes import header, operator_headers, render_file
from opgen.frozen_dataclass import dataclass
from opgen.output.files import OutputFile, shard
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram

OPERATORS_PER_FILE: Final = 32
"""The number of operators in a source.  The headers take as long to compile as a dozen operators."""

NODE_KINDS: Final = "detail/NodeKinds.h"
"""The header that declares the nodes, for the Python package's classes."""
_CALL: Final = re.compile(r"(\.\s*|->\s*)?\b(at::(?:symint::)?)?(?<!\w)([A-Za-z_]\w*)\s*(?:<[\w:]*>\s*)?\(")
"""A call in a formula: whether it is a member call, whether it is in `at`, and the name."""
_SUFFIX: Final = re.compile(r"(_out|_outf)?(_symint)?(_out|_outf)?$")
"""Suffixes of function names that the names of their headers lack."""

HELPERS: Final = frozenset(
    {
        *("any_variable_defined", "check_inplace", "check_no_requires_grad", "collect_next_edges"),
        *(
            "compiled_autograd_apply_functional",
            "compute_requires_grad",
            "copy_range",
            "fill_gradients",
            "flatten_tensor_args",
        ),
        *("isFwGradDefined", "isFwGradDefinedTensorList", "make_saved_variable_list", "not_implemented"),
        *("not_implemented_list", "rebase_history", "set_history", "strides_or_error"),
        *("throw_error_for_complex_autograd", "throw_error_out_requires_grad", "toNonOptFwGrad", "toNonOptPrimal"),
        *("toNonOptTensor", "to_args_scalartypes", "to_args_sizes", "to_args_sizes_symint", "unpack", "unpack_list"),
        *("unpack_opt_list", "update_wrapped_number", "wrap_opt_if", "zeros_of_kept"),
    }
)
"""Functions that the file declares; formulas may call operators with the same names."""


def emit_derivatives(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterDerivatives.cpp`, or several such sources, if any operator has derivatives."""
    matched = with_derivatives(extension)
    if extension.autograd is None or not matched:
        return
    has_python = extension.python is not None
    for path in ("detail/Nodes.h", "detail/Derivatives.h", *([NODE_KINDS] if has_python else [])):
        yield render_file(extension, templates, path, path)
    names = sorted({one.func.root_name for one in matched})
    count = _count_files(len(names))
    shards = [[one for one in matched if shard(one.func.root_name, count) == index] for index in range(count)]
    defines_kinds = has_python
    for index, chosen in enumerate(shards):
        if chosen:
            suffix = "" if count == 1 else f"_{index}"
            yield _file(extension, extension.autograd, chosen, templates, suffix, defines_kinds=defines_kinds)
            defines_kinds = False


def _count_files(operators: int) -> int:
    """Return the number of sources: a power of two, so it rarely changes."""
    count = 1
    while count * OPERATORS_PER_FILE < operators:
        count *= 2
    return count


def with_derivatives(extension: Extension) -> list[NativeFunctionWithDifferentiabilityInfo]:
    """Return the operators with kernels generated from derivatives."""
    functions = () if extension.autograd is None else extension.autograd.functions
    return [one for one in functions if one.info is not None and has_derived_kernel(one)]


@dataclass(frozen=True, slots=True)
class _Block:
    """The template values of the kernels for one dispatch key."""

    key: str
    kernels: tuple[_Registered, ...]


@dataclass(frozen=True, slots=True)
class _Called:
    """A function that formulas call."""

    name: str
    is_qualified: bool
    """Whether a formula qualifies it with `at`."""


@dataclass(frozen=True, slots=True)
class _Registered:
    operator: str
    name: str


def _file(
    extension: Extension,
    autograd: AutogradProgram,
    chosen: Sequence[NativeFunctionWithDifferentiabilityInfo],
    templates: TemplateSet,
    suffix: str,
    *,
    defines_kinds: bool,
) -> OutputFile:
    """Return the nodes and kernels of some operators."""
    has_python = extension.python is not None
    home = extension_home(extension.namespace)
    infos = _infos(chosen)
    nodes = nodes_of(infos, saves_more_types=home.saves_more_types)
    pieces = list(kernel_pieces(replace(autograd, functions=tuple(chosen)), home))
    path = f"RegisterDerivatives{suffix}.cpp"
    file = render_file(
        extension,
        templates,
        path,
        "RegisterDerivatives.cpp",
        unit=f"derivatives{suffix}",
        includes=[
            *_headers_of_kept(infos),
            *_headers_of_torch(infos),
            header(extension, "detail/Derivatives.h"),
            *([header(extension, NODE_KINDS)] if has_python else []),
            *operator_headers(extension, "_ops", {one.func.root_name for one in chosen}),
            *operator_headers(extension, "", _called(extension, infos)),
        ],
        called=_functions_of_torch(infos),
        namesakes=_namesakes(extension, infos),
        declarations=[render_declaration(node, home) for node in nodes],
        definitions=[render_definition(node, home) for node in nodes],
        kernels=[piece.definition for piece in pieces],
        node_names=[node.op for node in nodes] if has_python else [],
        defines_kinds=defines_kinds,
        blocks=_blocks(pieces),
    )
    return replace(file, text=resume_lines(file.text, path))


def _infos(chosen: Iterable[NativeFunctionWithDifferentiabilityInfo]) -> list[DifferentiabilityInfo]:
    """Return the derivatives of operators, without duplicates: forms of an operator share them."""
    found = {id(info): info for one in chosen for info in (one.info or {}).values()}
    return list(found.values())


def _headers_of_kept(infos: Iterable[DifferentiabilityInfo]) -> list[str]:
    """Return the additional headers of torch that saved values need."""
    keeps_blocks = any(one.expr.startswith("at::sparse_csr::") for info in infos for one in info.all_saved_inputs)
    return ["ATen/SparseCsrTensorUtils.h"] if keeps_blocks else []


def _headers_of_torch(infos: Iterable[DifferentiabilityInfo]) -> list[str]:
    """Return the header of the functions that torch's own formulas call, if a formula uses a qualified name of one."""
    is_used = any("torch::autograd::generated" in formula for formula in _formulas(infos))
    return ["torch/csrc/autograd/FunctionsManual.h"] if is_used else []


def _functions_of_torch(infos: Iterable[DifferentiabilityInfo]) -> list[_Called]:
    """Return the functions in formulas that are torch's operators if they have a header `ATen/ops/<name>.h`."""
    names: dict[str, bool] = {}
    for formula in _formulas(infos):
        for is_member, is_at, name in _CALL.findall(formula):
            if not is_member:
                root = _SUFFIX.sub("", name)
                names[root] = names.get(root, False) or bool(is_at)
    return [_Called(name, is_qualified) for name, is_qualified in sorted(names.items())]


def _blocks(pieces: Iterable[KernelPiece]) -> list[_Block]:
    by_key: dict[str, list[_Registered]] = {}
    for piece in pieces:
        registered = _Registered(string_literal(piece.operator), piece.name)
        by_key.setdefault(registered_key(piece.key), []).append(registered)
    return [_Block(key, tuple(kernels)) for key, kernels in by_key.items()]


def _called(extension: Extension, infos: Sequence[DifferentiabilityInfo]) -> list[str]:
    """Return the operators of the extension that formulas may call, by base name."""
    words = _words(infos)
    return [
        name
        for name in by_root_name(extension.program.functions)
        if name in words or any(word.startswith(f"{name}_") for word in words)
    ]


def _namesakes(extension: Extension, infos: Sequence[DifferentiabilityInfo]) -> list[str]:
    """Return the operators called in formulas whose name something in the file also has."""
    functions = extension.program.functions
    names = {s.name() for f in functions for s in extension.program.signatures(f).cpp_backend.signatures()}
    return sorted(names & HELPERS & _words(infos))


def _words(infos: Sequence[DifferentiabilityInfo]) -> frozenset[str]:
    """Return the words of all formulas."""
    return frozenset(word for formula in _formulas(infos) for word in identifiers(formula))


def _formulas(infos: Iterable[DifferentiabilityInfo]) -> Iterator[str]:
    for info in infos:
        yield from (one.formula for one in info.derivatives)
        yield from (one.formula for one in info.forward_derivatives)
        yield from (one.expr for one in info.all_saved_inputs)
