"""Mutating operators and views → ADInplaceOrView kernels, which track versions and views for autograd.

A tensor has a version, which mutations increment; a view has its base and a function to replay it.
These kernels run below those of autograd, and also if no graph is recorded.

    at::Tensor & abs_(c10::DispatchKeySet ks, at::Tensor & self) {
      {
        at::AutoDispatchBelowADInplaceOrView guard;
        at::_ops::abs_::redispatch(ks & c10::after_ADInplaceOrView_keyset, self);
      }
      increment_version(self);
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import NativeFunctionWithDifferentiabilityInfo, gen_differentiable_outputs
from opgen.api.dispatcher import DispatcherSignature
from opgen.api.signatures import Signatures
from opgen.api.types import INT_ARRAY_REF, SYM_INT_ARRAY_REF
from opgen.dest.autograd_kernels import (
    CHANGES_METADATA,
    has_derived_kernel,
    is_handwritten,
    is_tracked_view,
    kernel_name,
    named_head,
    returned_value,
    view_class_name,
    viewed_argument,
    writes_arguments,
)
from opgen.dest.includes import ops_include
from opgen.frozen_dataclass import dataclass
from opgen.model import DispatchKey, NativeFunction
from opgen.output.files import OutputFile, emit_sharded
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram

_SNIPPETS: Final = Snippets("inplace_or_view.cpp")

SHARDS: Final = 2
_TEMPLATE: Final = "ADInplaceOrViewType.cpp"


def emit_inplace_or_view(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield ADInplaceOrViewType_0.cpp … and ADInplaceOrViewTypeEverything.cpp."""
    signatures, own = program.program.signatures, DispatchKey.ADInplaceOrView
    functions = [matched for matched in program.functions if not program.program.has_kernel(own, matched.func)]
    yield from emit_sharded(
        templates,
        _TEMPLATE,
        {},
        [noted for matched in functions if (noted := _Tracked.of(matched)) is not None],
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
class _Tracked:
    """An operator whose mutations or views are tracked."""

    matched: NativeFunctionWithDifferentiabilityInfo
    written: tuple[int, ...]
    """The indices of its results that are mutated tensors; empty for a view."""

    @staticmethod
    def of(matched: NativeFunctionWithDifferentiabilityInfo) -> _Tracked | None:
        """Return the record of a mutating operator or a view; None for others."""
        function = matched.func
        written: tuple[int, ...] = ()
        if writes_arguments(function):
            returns = enumerate(function.func.returns)
            written = tuple([at for at, returned in returns if returned.type.is_list_like() is None])
        if not (written or is_tracked_view(function)):
            return None
        return _Tracked(matched, written) if has_derived_kernel(matched) and not is_handwritten(function) else None


def _item_env(noted: _Tracked, signatures: Signatures) -> Mapping[str, tuple[str]]:
    function = signatures.function
    name = kernel_name(function)
    registration = _SNIPPETS.render("registration", operator=function.func.name.text, kernel=name).removesuffix("\n")
    return {
        "ops_headers": (ops_include(function.root_name, "_ops"),),
        "inplace_or_view_method_definitions": (_render(noted, signatures, name),),
        "inplace_or_view_wrapper_registrations": (registration,),
    }


def _render(noted: _Tracked, signatures: Signatures, name: str) -> str:
    func, signature, names = signatures.func, signatures.dispatcher, signatures.return_names
    keys = "ks & c10::after_ADInplaceOrView_keyset"
    arguments = ", ".join([keys, *[binding.name for binding in signature.arguments]])
    call = f"at::_ops::{func.name.unambiguous_name()}::redispatch({arguments})"
    if noted.written:
        body = _SNIPPETS.render("write", call=call, written=[names[index] for index in noted.written])
    else:
        body = _render_view(noted.matched, signature, call)
    returned = returned_value(names, func.kind())
    return _SNIPPETS.render("kernel", head=named_head(signature, name), body=body, returned=returned)


# ---------------------------------------------------------------------------------------- views


def _render_view(matched: NativeFunctionWithDifferentiabilityInfo, signature: DispatcherSignature, call: str) -> str:
    """Return statements that call the operator and make its result a view of its base."""
    function = matched.func
    (name,) = cpp.return_names(function)
    base = viewed_argument(function).name
    is_list, replay = function.func.returns[0].type.is_list_like() is not None, ""
    if not gen_differentiable_outputs(matched):
        is_list = False
        differentiable = "/* is_bw_differentiable */ false, /* is_fw_differentiable */ false"
        as_view = f"as_view({base}, _tmp, {differentiable})"
    elif is_list:
        replay = _render_replay(function, signature, base, "view_idx")
        as_view = _as_view(base, "_tmp[view_idx]", "MULTI_OUTPUT_NODE")
    else:
        replay = _render_replay(function, signature, base, "")
        as_view = _as_view(base, "_tmp", "DEFAULT")
    return _SNIPPETS.render("view", call=call, name=name, is_list=is_list, replay=replay, as_view=as_view)


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


def _render_replay(function: NativeFunction, signature: DispatcherSignature, base: str, index: str) -> str:
    """Return statements that define the functions that replay and invert the view, if strides are not enough."""
    others = [binding for binding in signature.arguments if binding.name != base]
    borrowed = [b.name for b in others if b.nctype.type in (INT_ARRAY_REF, SYM_INT_ARRAY_REF)]
    indices = [index] if index else []
    replayed = ", ".join([*(binding.name for binding in others), *indices])
    mode = "at::functionalization::InverseReturnMode::AlwaysView"
    kept = [f"{binding.name}_vec" if binding.name in borrowed else binding.name for binding in others]
    inverted = ", ".join([base, "input_view", mode, *indices, *kept])
    inverse = f"at::functionalization::FunctionalInverses::{function.func.name.unambiguous_name()}_inverse"
    changes = "true" if function.root_name in CHANGES_METADATA else "false"
    return _SNIPPETS.render(
        "replay",
        changes=changes,
        base=base,
        borrowed=borrowed,
        view_class=view_class_name(function),
        replayed=replayed,
        inverse=inverse,
        inverted=inverted,
    )
