"""Forward formulas → the part of a kernel that computes tangents of results and sets them.

[[maybe_unused]] auto _any_has_forward_grad_result = (isFwGradDefined(self));
…
::std::optional<at::Tensor> result_new_fw_grad_opt = ::std::nullopt;
if (_any_has_forward_grad_result && (result.defined())) {
    auto self_t_raw = toNonOptFwGrad(self);
    …
    result_new_fw_grad_opt = self_t.neg();
}
if (result_new_fw_grad_opt.has_value() && …) {
  result._set_fw_grad(result_new_fw_grad_opt.value(), /* level */ 0, /* is_inplace_op */ false);
}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from opgen.api.autograd import ForwardDerivative
from opgen.dest.line_directives import place_formula
from opgen.dest.variable_type_kernel import Kernel, Parameter
from opgen.model import BaseTy, BaseType
from opgen.output.snippets import Snippets

_SNIPPETS: Final = Snippets("variable_type_forward.cpp")

_TENSOR: Final = BaseType(BaseTy.Tensor)

OUT_REASON: Final = "because it is an out= function"


def is_tangent_defined(inputs: Iterable[Parameter]) -> str:
    """Return the C++ condition that any of the inputs has a tangent."""
    return " || ".join([parameter.is_tangent_defined for parameter in inputs])


def render_refusal(kernel: Kernel, reason: str) -> str:
    """Return the check that no input has a tangent, for an operator without a formula."""
    message = f'"Trying to use forward AD with {kernel.names.cpp} that does not support it {reason}"'
    return f"  TORCH_CHECK_NOT_IMPLEMENTED(!(({is_tangent_defined(kernel.inputs)})), {message});\n"


def _flag(derivative: ForwardDerivative) -> str:
    return f"_any_has_forward_grad_{'_'.join(derivative.var_names)}"


# ------------------------------------------------------------------------------ before the call


def render_flags(kernel: Kernel) -> str:
    """Return statements that define, for each formula, whether tangents must be computed."""
    return "".join([_render_flag(derivative, kernel) for derivative in kernel.forward])


def _render_flag(derivative: ForwardDerivative, kernel: Kernel) -> str:
    wanted = derivative.required_inputs_fw_grad
    required = [parameter for name, parameter in zip(kernel.formula_names, kernel.inputs) if name in wanted]
    if kernel.is_foreach:
        return _render_flags_of_lists(derivative, kernel, required)
    if not wanted:
        return f"  [[maybe_unused]] auto {_flag(derivative)} = true;\n"
    condition = f"{kernel.condition} && " if kernel.condition else ""
    return f"  [[maybe_unused]] auto {_flag(derivative)} = {condition}({is_tangent_defined(required)});\n"


def _render_flags_of_lists(derivative: ForwardDerivative, kernel: Kernel, required: Sequence[Parameter]) -> str:
    lists = [parameter.name for parameter in required if parameter.is_list]
    any_defined = " || ".join([f"isFwGradDefined({parameter.element})" for parameter in required]) or "true"
    return _SNIPPETS.render(
        "flags_of_lists",
        length_checks=[_SNIPPETS.render("same_length", first=lists[0], other=other) for other in lists[1:]],
        flag=_flag(derivative),
        length=kernel.length,
        any_defined=any_defined,
    )


def render_original_self(kernel: Kernel) -> str:
    """Return statements that save the value of `self` before an in-place mutation, if a formula needs it."""
    needed = [derivative for derivative in kernel.forward if derivative.required_original_self_value]
    if kernel.is_foreach:
        return "  std::vector<::std::optional<at::Tensor>> original_selfs(self.size());\n" + "".join(
            [_render_original_selfs(derivative, kernel) for derivative in needed]
        )
    copies = [_SNIPPETS.render("original_self", flag=_flag(derivative)) for derivative in needed]
    return "  ::std::optional<at::Tensor> original_self;\n" + "".join(copies)


def _render_original_selfs(derivative: ForwardDerivative, kernel: Kernel) -> str:
    return _SNIPPETS.render("original_selfs", length=kernel.length, flag=_flag(derivative))


# ------------------------------------------------------------------------------- after the call


def render_tangents(kernel: Kernel) -> str:
    """Return statements that compute all tangents, then set them."""
    compute = [_render_formula(derivative, kernel) for derivative in kernel.forward]
    assign = [_render_setter(derivative, kernel) for derivative in kernel.forward]
    return "".join(compute + assign)


def _render_formula(derivative: ForwardDerivative, kernel: Kernel) -> str:
    name = "_".join(derivative.var_names)
    if kernel.is_foreach:
        return _SNIPPETS.render(
            "tangents_of_lists",
            name=name,
            length=kernel.length,
            inputs=_render_inputs(derivative, kernel),
            formula=place_formula(_in_lists(derivative.formula, kernel), derivative.place),
        )
    defined = f" && ({name}.defined())" if derivative.var_types == (_TENSOR,) else ""
    return _SNIPPETS.render(
        "tangents",
        tangent_type=_tangent_type(derivative),
        name=name,
        defined=defined,
        inputs=_render_inputs(derivative, kernel),
        formula=place_formula(derivative.formula, derivative.place),
    )


def _in_lists(formula: str, kernel: Kernel) -> str:
    """Return the formula in terms of one element."""
    if not kernel.renamed:
        return formula
    values = {name: parameter.element for name, parameter in kernel.renamed.items()}
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda word: values.get(word.group(), word.group()), formula)


def _tangent_type(derivative: ForwardDerivative) -> str:
    types = derivative.var_types
    if len(types) > 1:
        return f"::std::tuple<{','.join(['at::Tensor'] * len(types))}>"
    return "at::Tensor" if types == (_TENSOR,) else "::std::vector<at::Tensor>"


def _render_inputs(derivative: ForwardDerivative, kernel: Kernel) -> str:
    """Return statements that define the values and tangents that a formula uses."""
    text, zeros = "", ""
    for name, parameter in zip(kernel.formula_names, kernel.inputs):
        value = parameter.element if kernel.is_foreach else parameter.name
        is_written = kernel.is_inplace and name == "self"
        zeros = "zeros_symint" if is_written else "_efficientzerotensor_symint"
        if name in derivative.required_inputs_fw_grad:
            text += _render_tangent(name, value, zeros)
            if not is_written:
                text += f"      update_wrapped_number({name}_tensor, {name}_t);\n"
        if name in derivative.required_inputs_primal:
            text += f"      auto {name}_p = toNonOptPrimal({value});\n"
    if derivative.required_original_self_value:
        # The kind of zeros of the last input is used; it doesn't affect the result.
        original = "original_selfs[i]" if kernel.is_foreach else "original_self"
        text += _render_tangent("original_self", original, zeros)
        text += f"      auto original_self_p = toNonOptPrimal({original});\n"
    elif derivative.is_reusing_outplace_formula:
        # The formula may save its argument, which is mutated next.
        text += "      self_t = GradMode::is_enabled() ? self_t.clone() : self_t;\n"
    return text


def _render_tangent(name: str, value: str, zeros: str) -> str:
    """Return statements that define the tangent of a value; zeros if it has none."""
    return _SNIPPETS.render("tangent", name=name, value=value, zeros=zeros)


def _render_setter(derivative: ForwardDerivative, kernel: Kernel) -> str:
    inplace = "true" if kernel.is_inplace else "false"
    if kernel.is_foreach:
        return _set_each(derivative.var_names[0], inplace)
    if len(derivative.var_names) > 1:
        name = "_".join(derivative.var_names)
        return "\n".join([_set_one_of(name, at, one, inplace) for at, one in enumerate(derivative.var_names)])
    if derivative.var_types != (_TENSOR,):
        return _set_list(derivative.var_names[0], inplace)
    (name,) = derivative.var_names
    tangent = f"{name}_new_fw_grad_opt"
    return _SNIPPETS.render("set_tensor", tangent=tangent, name=name, inplace=inplace)


def _set_each(name: str, inplace: str) -> str:
    tangent = f"{name}_new_fw_grad_opt"
    return _SNIPPETS.render("set_each", tangent=tangent, name=name, inplace=inplace)


def _set_one_of(name: str, at: int, result: str, inplace: str) -> str:
    tangent = f"std::get<{at}>({name}_new_fw_grad_opt.value())"
    return _SNIPPETS.render("set_one_of", name=name, tangent=tangent, result=result, inplace=inplace)


def _set_list(name: str, inplace: str) -> str:
    return _SNIPPETS.render("set_list", name=name, inplace=inplace)
