"""Derivatives of operators with arguments that are renamed in C++ → the same derivatives with the new names.

Formulas use the names in the schema.  An argument whose name the code generated from formulas uses for something
else is renamed, and so is each reference to it in a formula.

    f(Tensor x, int gen)    x: grad * gen    →    grad * opgen_gen
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import Derivative, DifferentiabilityInfo, ForwardDerivative, SavedAttribute
from opgen.api.types import Binding, NamedCType
from opgen.frontend.cpp_names import KEYWORDS
from opgen.frozen_map import FrozenMap
from opgen.model import NativeFunction, OperatorName
from opgen.program.autograd import AutogradProgram

_OWN_TEXT: Final = """
    after after_autograd_keyset any_grad_defined any_variable_defined apply apply_with_saved args array ArrayRef at
    AutoDispatchBelowADInplaceOrView AutoDispatchBelowAutograd autograd before bind_function c10 called
    check_inplace check_no_requires_grad clear clone collect collect_next_edges compiled_args
    compiled_autograd_apply_functional CompiledNodeArgs compute_requires_grad copy_range defined detail Device
    DispatchKeySet dynamo edge_list fill_gradients flatten_tensor_args forward_as_tuple gen generated Generator get
    get_py_compiler getptr getPyCompilerInterface given grad grad_fn grad_input_mask grad_inputs grad_result
    GradMode grads graph guard has_value i impl IndexRangeGenerator inputs int64_t IntArrayRef irange is_conj
    is_enabled is_inplace_op is_view isFwGradDefined isFwGradDefinedTensorList ivalue_list IValuePacker kCPU ks
    Layout level List lock lock_guard m make_node make_saved_variable_list make_tuple maybe_unused MemoryFormat move
    mutex name needs_input_grad next_edges Node NodePointer not_implemented not_implemented_list NotImplemented
    nullopt optional OptionalArray OptionalIntArrayRef options original_self original_selfs output_result override
    pack packed_args packed_type PackedArgs pyinterface range rebase_history redispatch release_variables reset_data
    result retain_variables saved SavedVariable Scalar ScalarType schema set_history set_next_edges
    should_compute_output size size_t std strides_or_error string string_view SwapSavedVariables sym_sizes SymInt
    SymIntArrayRef task_should_compute_output Tensor TensorGeometry TensorList TensorOptions
    throw_error_for_complex_autograd throw_error_out_requires_grad tmp to_args_scalartypes to_args_sizes
    to_args_sizes_symint toNonOptFwGrad toNonOptPrimal toNonOptTensor torch TraceableFunction tuple TypeAndSize
    TypePtr unpack unpack_list unpack_opt_list update_wrapped_number value variable_list vec vector
    will_release_variables wrap_opt_if zeros_of_kept zeros_symint
"""
OWN_NAMES: Final = frozenset(_OWN_TEXT.split())
"""Names that the code generated from formulas uses."""
_TANGENT: Final = ("_new_fw_grad_opt", "_new_fw_grad_opts")
"""Suffixes of the names of tangents; the rest is the result's name."""
_CALL: Final = r"(?<![\w.])(?<!->)(?<!::){}\s*\("


def clashing_names(autograd: AutogradProgram | None) -> Mapping[str, frozenset[str]]:
    """Return the arguments with names that the code generated from formulas uses, by base name."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for matched in () if autograd is None else autograd.functions:
        for info in (matched.info or {}).values():
            found[matched.func.func.name.name.base].update(_clashing(matched.func, info))
    return {base: frozenset(names) for base, names in found.items()}


def _clashing(function: NativeFunction, info: DifferentiabilityInfo) -> Iterator[str]:
    names = [argument.name for argument in function.func.arguments.flat_all]
    formulas = " ".join([one.formula for one in info.derivatives] + [one.formula for one in info.forward_derivatives])
    results = () if function.func.arguments.out else cpp.return_names(function)
    taken = {*OWN_NAMES, *results, *info.available_named_gradients}
    for name in names:
        is_derived = name.endswith(_TANGENT) or any(name.startswith(f"{other}_") for other in names)
        if name != "self" and (name in taken or is_derived or re.search(_CALL.format(name), formulas)):
            yield name


def rename_derivatives(autograd: AutogradProgram, renamed: Mapping[OperatorName, Mapping[str, str]]) -> AutogradProgram:
    """Return the derivatives of `autograd.program`, whose arguments have been `renamed`."""
    functions = {function.func.name: function for function in autograd.program.functions}
    infos: dict[int, DifferentiabilityInfo] = {}

    def rename(info: DifferentiabilityInfo) -> DifferentiabilityInfo:
        name = info.func.func.name
        if id(info) not in infos:
            infos[id(info)] = _rename_info(info, functions[name], renamed[name]) if renamed.get(name) else info
        return infos[id(info)]

    return replace(
        autograd,
        functions=tuple(
            replace(
                matched,
                func=functions[matched.func.func.name],
                info=matched.info and FrozenMap((key, rename(info)) for key, info in matched.info.items()),
                fw_derivatives=matched.fw_derivatives
                and FrozenMap(
                    (key, tuple(_rename_forward(one, renamed[matched.func.func.name]) for one in formulas))
                    for key, formulas in matched.fw_derivatives.items()
                ),
            )
            for matched in autograd.functions
        ),
        infos=tuple(map(rename, autograd.infos)),
        list_infos=tuple(map(rename, autograd.list_infos)),
        _nodes={},
        _members={},
    )


def _rename_info(
    info: DifferentiabilityInfo, function: NativeFunction, renamed: Mapping[str, str]
) -> DifferentiabilityInfo:
    return replace(
        info,
        func=function,
        derivatives=tuple(_rename_backward(one, renamed) for one in info.derivatives),
        forward_derivatives=tuple(_rename_forward(one, renamed) for one in info.forward_derivatives),
        all_saved_inputs=_rename_saved(info.all_saved_inputs, renamed),
        args_with_derivatives=tuple(_rename_binding(one, renamed) for one in info.args_with_derivatives),
        non_differentiable_arg_names=_rename_all(info.non_differentiable_arg_names, renamed),
        output_differentiability_conditions=info.output_differentiability_conditions
        and tuple(rename_words(one, renamed) for one in info.output_differentiability_conditions),
    )


def _rename_all(names: tuple[str, ...], renamed: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(renamed.get(name, name) for name in names)


def rename_words(formula: str, renamed: Mapping[str, str], *, keeps_keywords: bool = True) -> str:
    """Return the formula with values renamed; members, functions, namespaces and C++ keywords are unchanged."""
    values = renamed.keys() - (KEYWORDS if keeps_keywords else frozenset())
    if not values:
        return formula
    words = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    pattern = rf"(?<![\w.])(?<!->)(?<!::)({words})\b(?!\s*\(|::)"
    return re.sub(pattern, lambda word: renamed[word[1]], formula)


def _rename_backward(one: Derivative, renamed: Mapping[str, str]) -> Derivative:
    return replace(
        one,
        formula=rename_words(one.formula, renamed),
        original_formula=rename_words(one.original_formula, renamed),
        var_names=_rename_all(one.var_names, renamed),
        saved_inputs=_rename_saved(one.saved_inputs, renamed),
    )


def _rename_forward(one: ForwardDerivative, renamed: Mapping[str, str]) -> ForwardDerivative:
    values = {f"{name}_{suffix}": f"{new}_{suffix}" for name, new in renamed.items() for suffix in "pt"}
    return replace(
        one,
        formula=rename_words(one.formula, {**renamed, **values}, keeps_keywords=not one.is_linear),
        required_inputs_fw_grad=_rename_all(one.required_inputs_fw_grad, renamed),
        required_inputs_primal=_rename_all(one.required_inputs_primal, renamed),
    )


def _rename_saved(saved: tuple[SavedAttribute, ...], renamed: Mapping[str, str]) -> tuple[SavedAttribute, ...]:
    return tuple(
        SavedAttribute(NamedCType(renamed.get(one.name, one.name), one.nctype.type), rename_words(one.expr, renamed))
        for one in saved
    )


def _rename_binding(binding: Binding, renamed: Mapping[str, str]) -> Binding:
    new = renamed.get(binding.name)
    if new is None:
        return binding
    return replace(binding, name=new, nctype=NamedCType(new, binding.nctype.type))
