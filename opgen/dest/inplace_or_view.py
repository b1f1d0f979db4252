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
from dataclasses import dataclass
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import NativeFunctionWithDifferentiabilityInfo, gen_differentiable_outputs
from opgen.api.dispatcher import DispatcherSignature
from opgen.api.signatures import Signatures
from opgen.api.types import INT_ARRAY_REF, SYM_INT_ARRAY_REF
from opgen.dest.autograd_kernels import (
    CHANGES_METADATA,
    has_derived_kernel,
    is_tracked_view,
    is_written_by_hand,
    kernel_name,
    named_head,
    returned_value,
    view_class_name,
    viewed_argument,
    writes_arguments,
)
from opgen.dest.includes import ops_include
from opgen.model import NativeFunction
from opgen.output.files import OutputFile, emit_sharded
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram

SHARDS: Final = 2
_TEMPLATE: Final = "ADInplaceOrViewType.cpp"


def emit_inplace_or_view(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """ADInplaceOrViewType_0.cpp … and ADInplaceOrViewTypeEverything.cpp"""
    signatures = program.program.signatures
    yield from emit_sharded(
        templates,
        _TEMPLATE,
        {},
        [noted for matched in program.functions if (noted := _Noted.of(matched)) is not None],
        key=lambda noted: noted.matched.func.root_name,
        item_env=lambda noted: _item_env(noted, signatures(noted.matched.func)),
        shards=SHARDS,
        sharded_keys=(
            "ops_headers",
            "inplace_or_view_method_definitions",
            "inplace_or_view_wrapper_registrations",
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Noted:
    """An operator that there is something to note about."""

    matched: NativeFunctionWithDifferentiabilityInfo
    written: tuple[int, ...]
    """Which of its results are tensors that it wrote to; none if it is a view."""

    @staticmethod
    def of(matched: NativeFunctionWithDifferentiabilityInfo) -> _Noted | None:
        """What is noted about an operator, if anything."""
        function = matched.func
        written: tuple[int, ...] = ()
        if writes_arguments(function):
            returns = enumerate(function.func.returns)
            written = tuple([at for at, returned in returns if returned.type.is_list_like() is None])
        if not (written or is_tracked_view(function)):
            return None
        return _Noted(matched, written) if has_derived_kernel(matched) and not is_written_by_hand(function) else None


def _item_env(noted: _Noted, signatures: Signatures) -> Mapping[str, tuple[str]]:
    function = signatures.function
    name = kernel_name(function)
    registration = f'm.impl("{function.func.name.text}",\n       TORCH_FN(ADInplaceOrView::{name})\n);'
    return {
        "ops_headers": (ops_include(function.root_name, "_ops"),),
        "inplace_or_view_method_definitions": (_render(noted, signatures, name),),
        "inplace_or_view_wrapper_registrations": (registration,),
    }


def _render(noted: _Noted, signatures: Signatures, name: str) -> str:
    func, signature, names = signatures.func, signatures.dispatcher, signatures.return_names
    keys = "ks & c10::after_ADInplaceOrView_keyset"
    arguments = ", ".join([keys, *[binding.name for binding in signature.arguments]])
    call = f"at::_ops::{func.name.unambiguous_name()}::redispatch({arguments})"
    if noted.written:
        body = _render_write([names[at] for at in noted.written], call)
    else:
        body = _render_view(noted.matched, signature, call)
    return f"{named_head(signature, name)} {{\n{body}  return {returned_value(names, func.kind())};\n}}\n"


def _render_write(written: Sequence[str], call: str) -> str:
    """Calls the operator, then counts the write."""
    versions = "".join([f"  increment_version({name});\n" for name in written])
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
