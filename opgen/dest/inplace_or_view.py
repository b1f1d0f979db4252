"""Operators that write to arguments, and views → kernels that keep autograd's books on them.

A tensor has a version, which goes up when it is written to; a view knows its base, and how to take it
again.  These kernels run below those of autograd itself, and also where no graph is recorded.

    at::Tensor & abs_(c10::DispatchKeySet ks, at::Tensor & self) {
      {
        at::AutoDispatchBelowADInplaceOrView guard;
        at::_ops::abs_::redispatch(ks & c10::after_ADInplaceOrView_keyset, self);
      }
      increment_version(self);
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import NativeFunctionWithDifferentiabilityInfo, gen_differentiable_outputs
from opgen.api.dispatcher import DispatcherSignature
from opgen.api.types import INT_ARRAY_REF, SYM_INT_ARRAY_REF
from opgen.autograd_program import AutogradProgram
from opgen.dest.autograd_kernels import (
    CHANGES_METADATA,
    has_derived_kernel,
    is_tracked_view,
    is_written_by_hand,
    kernel_head,
    kernel_name,
    returned_value,
    view_class_name,
    viewed_argument,
    writes_arguments,
)
from opgen.model import NativeFunction
from opgen.output.files import OutputFile, emit_sharded
from opgen.output.template import TemplateSet

SHARDS: Final = 2
_TEMPLATE: Final = "ADInplaceOrViewType.cpp"


def emit_inplace_or_view(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """ADInplaceOrViewType_0.cpp … and ADInplaceOrViewTypeEverything.cpp"""
    signatures = program.program.signatures

    def item_env(matched: NativeFunctionWithDifferentiabilityInfo) -> Mapping[str, Sequence[str]]:
        function = matched.func
        return {
            "ops_headers": (f"#include <ATen/ops/{function.root_name}_ops.h>",),
            "inplace_or_view_method_definitions": (_render(matched, signatures(function).dispatcher),),
            "inplace_or_view_wrapper_registrations": (_registration(function),),
        }

    yield from emit_sharded(
        templates,
        _TEMPLATE,
        {},
        filter(_has_books, program.functions),
        key=lambda matched: matched.func.root_name,
        item_env=item_env,
        shards=SHARDS,
        sharded_keys=(
            "ops_headers",
            "inplace_or_view_method_definitions",
            "inplace_or_view_wrapper_registrations",
        ),
    )


def _has_books(matched: NativeFunctionWithDifferentiabilityInfo) -> bool:
    """Whether there is anything to note about an operator."""
    function = matched.func
    if is_written_by_hand(function) or not has_derived_kernel(matched):
        return False
    return is_tracked_view(function) or (writes_arguments(function) and bool(_written(function)))


def _written(function: NativeFunction) -> tuple[str, ...]:
    """The tensors that an operator writes to and returns."""
    names = cpp.return_names(function)
    return tuple(n for n, r in zip(names, function.func.returns, strict=True) if r.type.is_list_like() is None)


def _registration(function: NativeFunction) -> str:
    return f'm.impl("{function.func.name}",\n       TORCH_FN(ADInplaceOrView::{kernel_name(function)})\n);'


def _render(matched: NativeFunctionWithDifferentiabilityInfo, signature: DispatcherSignature) -> str:
    function = matched.func
    keys = "ks & c10::after_ADInplaceOrView_keyset"
    arguments = ", ".join([keys, *(binding.name for binding in signature.arguments)])
    call = f"at::_ops::{function.func.name.unambiguous_name()}::redispatch({arguments})"
    body = _render_write(function, call) if writes_arguments(function) else _render_view(matched, signature, call)
    names = cpp.return_names(function)
    result = f"  return {returned_value(names, function.func.kind())};\n" if names else ""
    return f"{kernel_head(signature, function)} {{\n{body}{result}}}\n"


def _render_write(function: NativeFunction, call: str) -> str:
    """Calls the operator, then counts the write."""
    versions = "".join([f"  increment_version({name});\n" for name in _written(function)])
    return f"""\
  {{
    at::AutoDispatchBelowADInplaceOrView guard;
    {call};
  }}
{versions}"""


# ---------------------------------------------------------------------------------------- views


def _render_view(matched: NativeFunctionWithDifferentiabilityInfo, signature: DispatcherSignature, call: str) -> str:
    """Calls the operator, then ties the result to its base."""
    function = matched.func
    (name,) = cpp.return_names(function)
    base = viewed_argument(function).name
    head = f"""\
  auto _tmp = ([&]() {{
    at::AutoDispatchBelowADInplaceOrView guard;
    return {call};
  }})();
"""
    if not gen_differentiable_outputs(matched):
        differentiable = "/* is_bw_differentiable */ false, /* is_fw_differentiable */ false"
        return f"{head}  auto {name} = as_view({base}, _tmp, {differentiable});\n"
    if function.func.returns[0].type.is_list_like() is None:
        replay = _render_replay(function, signature, base, "", "  ")
        return f"{head}{replay}  auto {name} = {_as_view(base, '_tmp', 'DEFAULT')};\n"
    replay = _render_replay(function, signature, base, "view_idx", "    ")
    return f"""\
{head}\
  for (auto view_idx : c10::irange(_tmp.size())) {{
{replay}\
    {_as_view(base, "_tmp[view_idx]", "MULTI_OUTPUT_NODE")};
  }}
  auto {name} = std::move(_tmp);
"""


def _as_view(base: str, output: str, creation: str) -> str:
    meta = (
        "InferenceMode::is_enabled() ? CreationMeta::INFERENCE_MODE : "
        f"(at::GradMode::is_enabled() ? CreationMeta::{creation} : CreationMeta::NO_GRAD_MODE)"
    )
    return (
        f"as_view(/* base */ {base}, /* output */ {output}, /* is_bw_differentiable */ true, "
        "/* is_fw_differentiable */ true, /* view_func */ std::move(func), /* rev_view_func */ rev_func, "
        f"/* creation_meta */ {meta})"
    )


def _render_replay(function: NativeFunction, signature: DispatcherSignature, base: str, index: str, indent: str) -> str:
    """Makes what takes the view again, and what inverts it, where strides won't do."""
    others = [binding for binding in signature.arguments if binding.name != base]
    borrowed = {b.name for b in others if b.nctype.type in (INT_ARRAY_REF, SYM_INT_ARRAY_REF)}
    copies = "".join([f"{indent}  auto {b.name}_vec = {b.name}.vec();\n" for b in others if b.name in borrowed])
    indices = [index] if index else []
    replayed = ", ".join([*(binding.name for binding in others), *indices])
    mode = "at::functionalization::InverseReturnMode::AlwaysView"
    kept = [f"{binding.name}_vec" if binding.name in borrowed else binding.name for binding in others]
    inverted = ", ".join([base, "input_view", mode, *indices, *kept])
    inverse = f"at::functionalization::FunctionalInverses::{function.func.name.unambiguous_name()}_inverse"
    changes = "true" if function.root_name in CHANGES_METADATA else "false"
    return f"""\
{indent}std::unique_ptr<torch::autograd::ViewFunc> func(nullptr);
{indent}std::function<at::Tensor(const at::Tensor&)> rev_func=nullptr;
{indent}if ({changes} ||
{indent}    !{base}.unsafeGetTensorImpl()->support_as_strided() ||
{indent}    {base}.unsafeGetTensorImpl()->is_python_dispatch() ||
{indent}    c10::AutogradState::get_tls_state().get_view_replay_enabled()) {{
{copies}\
{indent}  func = std::make_unique<torch::autograd::generated::{view_class_name(function)}>({replayed});
{indent}  rev_func = [=](const at::Tensor& input_view) {{
{indent}    return {inverse}({inverted});
{indent}  }};
{indent}}}
"""
