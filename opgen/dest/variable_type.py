"""Operators and their derivatives → the kernels of autograd, which record the graph (VariableType).

A kernel unpacks its tensors, makes a node for the graph if any of them requires a gradient, calls the
operator's own kernel, ties the results to the node, and computes tangents.  Each of these parts has a
module of its own (`variable_type_*`); here they are put in order.

    at::Tensor neg(c10::DispatchKeySet ks, const at::Tensor & self) {
      auto& self_ = unpack(self, "self", 0);
      [[maybe_unused]] auto _any_requires_grad = compute_requires_grad( self );
      …
      auto _tmp = ([&]() {
        at::AutoDispatchBelowADInplaceOrView guard;
        return at::redispatch::neg(ks & c10::after_autograd_keyset, self_);
      })();

An operator without derivatives and with nothing particular about it is left to a fallback in torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import (
    DEFAULT_KEY,
    DifferentiabilityInfo,
    DifferentiableInput,
    DifferentiableOutput,
    ForwardDerivative,
    NativeFunctionWithDifferentiabilityInfo,
    differentiable_inputs,
    gen_differentiable_outputs,
    is_foreach_func,
)
from opgen.api.dispatcher import DispatcherSignature
from opgen.api.types import OPTIONAL_TENSOR_LIST, Binding
from opgen.autograd_program import AutogradProgram
from opgen.dest.autograd_home import TORCH, AutogradHome, is_of_torch
from opgen.dest.autograd_kernels import (
    base_name,
    has_derived_kernel,
    is_tracked_view,
    is_view_family,
    is_written_by_hand,
    kernel_name,
    viewed_argument,
    writes_arguments,
)
from opgen.dest.autograd_operators import (
    HAS_COMPLEX_GRADIENT,
    MAY_RETURN_OLD_IMPL,
    MAY_RETURN_OLD_STORAGE,
    MAY_SWAP_STORAGE,
    NEVER_DIFFERENTIABLE,
    RESETS_GRADIENTS,
)
from opgen.dest.variable_type_checks import NO_CHECKS, Checked, DebugChecks, render_checks
from opgen.dest.variable_type_forward import (
    OUT_REASON,
    Tangents,
    is_tangent_defined,
    render_flags,
    render_original_self,
    render_refusal,
    render_tangents,
)
from opgen.dest.variable_type_graph import Graph, render_history, render_nodes, render_saved_outputs
from opgen.model import BaseTy, BaseType, NativeFunction, SchemaKind
from opgen.output.files import OutputFile, shard
from opgen.output.template import TemplateSet
from opgen.values import dataclass

SHARDS: Final = 10
_TENSOR: Final = BaseType(BaseTy.Tensor)
_RESULT_OF_FORWARD: Final = "output"
"""Operators that compute gradients take it beside their input, which carries the gradient."""
_SHARES_STORAGE: Final = "_unsafe_view"
"""No view to autograd, though its result has the storage of its argument."""


def emit_variable_type_header(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """VariableType.h"""
    del program
    yield OutputFile("VariableType.h", templates.render("VariableType.h", {}))


def emit_variable_type(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """VariableType_0.cpp … and VariableTypeEverything.cpp"""
    pieces = list(kernel_pieces(program, TORCH))
    shares: list[list[KernelPiece]] = [[] for _ in range(SHARDS)]
    for piece in pieces:
        shares[shard(piece.root_name, SHARDS)].append(piece)
    # Kernels for one key stand together, those for all backends last.
    keys = (*(key for key in program.dispatch_keys if key != DEFAULT_KEY), DEFAULT_KEY)
    for index, chosen in enumerate(shares):
        yield OutputFile(f"VariableType_{index}.cpp", _render_file(chosen, keys, templates))
    yield OutputFile("VariableTypeEverything.cpp", _render_file(pieces, keys, templates), group=None)


@dataclass(frozen=True, slots=True)
class KernelPiece:
    """What one operator adds to a file, for one dispatch key."""

    root_name: str
    """The operator's C++ name, which says which share it is in."""
    operator: str
    key: str
    name: str
    """The kernel's; empty if it is the fallback for operators without derivatives."""
    definition: str


def kernel_pieces(program: AutogradProgram, home: AutogradHome) -> Iterator[KernelPiece]:
    """The kernels of all operators that have some."""
    for matched in program.functions:
        if is_written_by_hand(matched.func) or not has_derived_kernel(matched):
            continue
        for key in matched.info or (DEFAULT_KEY,):
            signature = program.program.signatures(matched.func).dispatcher
            yield _piece(_Kernel.of(matched, key, signature, home), key)


def _piece(kernel: _Kernel, key: str) -> KernelPiece:
    function = kernel.function
    root_name, operator = cpp.name(function.func), str(function.func.name)
    if key == DEFAULT_KEY and kernel.is_plain:
        return KernelPiece(root_name, operator, key, "", "")
    name = kernel.home.kernel_prefix + kernel_name(function) + ("" if key == DEFAULT_KEY else f"_{key}")
    return KernelPiece(root_name, operator, key, name, _render_kernel(kernel, name))


def _render_file(pieces: Iterable[KernelPiece], keys: Sequence[str], templates: TemplateSet) -> str:
    by_key: dict[str, list[KernelPiece]] = {key: [] for key in keys}
    for piece in pieces:
        by_key[piece.key].append(piece)
    env = {
        "type_derived_method_definitions": [piece.definition for key in keys for piece in by_key[key]],
        "wrapper_registrations": [_render_registrations(key, by_key[key]) for key in keys],
    }
    return templates.render("VariableType.cpp", env)


def _render_registrations(key: str, pieces: Iterable[KernelPiece]) -> str:
    lines = "\n".join([_registration(piece) for piece in pieces])
    return f"TORCH_LIBRARY_IMPL(aten, {registered_key(key)}, m) {{\n{lines}\n}}\n\n"


def registered_key(key: str) -> str:
    """The dispatch key that kernels are registered under which are for a key of derivatives.yaml."""
    return "Autograd" if key == DEFAULT_KEY else key


def _registration(piece: KernelPiece) -> str:
    if not piece.name:
        return f'm.impl("{piece.operator}", torch::autograd::autogradNotImplementedFallback());'
    return f'm.impl("{piece.operator}",\n       TORCH_FN(VariableType::{piece.name})\n);'


# ---------------------------------------------------------------------------------- the kernel


@dataclass(frozen=True, slots=True)
class _Kernel:
    """What a kernel is rendered from."""

    function: NativeFunction
    signature: DispatcherSignature
    home: AutogradHome
    info: DifferentiabilityInfo | None
    forward: tuple[ForwardDerivative, ...]
    inputs: tuple[DifferentiableInput, ...]
    """The arguments that may require a gradient."""
    differentiated: tuple[DifferentiableInput, ...]
    """Those that have one."""
    outputs: tuple[DifferentiableOutput, ...]
    """The results that may have a gradient."""
    is_foreach: bool
    renamed: Mapping[str, str]
    """What an in-place operator on lists calls the arguments that its derivatives call otherwise."""

    @staticmethod
    def of(
        matched: NativeFunctionWithDifferentiabilityInfo, key: str, signature: DispatcherSignature, home: AutogradHome
    ) -> _Kernel:
        """The kernel of an operator for a dispatch key."""
        info = matched.info.get(key) if matched.info is not None else None
        forward = matched.fw_derivatives.get(key, ()) if matched.fw_derivatives is not None else ()
        inputs = differentiable_inputs(matched.func.func, info)
        renamed = _reference_names(matched.func, info)
        return _Kernel(
            function=matched.func,
            signature=signature,
            home=home,
            info=info,
            forward=forward,
            inputs=inputs,
            differentiated=_differentiated(matched.func, inputs, info, renamed),
            outputs=gen_differentiable_outputs(matched, key),
            is_foreach=is_foreach_func(matched.func),
            renamed=renamed,
        )

    @property
    def is_inplace(self) -> bool:
        """Whether the operator writes to `self`."""
        return self.function.func.kind() is SchemaKind.inplace

    @property
    def is_out(self) -> bool:
        """Whether the operator writes its results to arguments that are there for that."""
        return self.function.func.is_out_fn()

    @property
    def read(self) -> tuple[DifferentiableInput, ...]:
        """The inputs that are no out arguments."""
        outs = {argument.name for argument in self.function.func.arguments.out}
        return tuple(one for one in self.inputs if one.name not in outs)

    @property
    def records(self) -> bool:
        """Whether the graph may be recorded."""
        if self.is_never_differentiable or not self.read:
            return False
        return bool(self.outputs) or (self.is_foreach and self.is_inplace)

    @property
    def is_of_torch(self) -> bool:
        """Whether what torch knows of operators by their names holds for this one."""
        return is_of_torch(self.function)

    @property
    def has_complex_gradient(self) -> bool:
        """Whether the formulas hold for complex tensors as well."""
        if self.info is not None and self.info.handles_complex:
            return True
        return self.is_of_torch and base_name(self.function) in HAS_COMPLEX_GRADIENT

    @property
    def is_never_differentiable(self) -> bool:
        """Whether the operator needs no gradient, whatever its arguments."""
        return self.function.root_name in NEVER_DIFFERENTIABLE and self.is_of_torch

    @property
    def refuses(self) -> bool:
        """Whether tangents are refused, as they are by all out forms."""
        return self.is_out and bool(self.inputs)

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing about the operator that the fallback doesn't do."""
        name = kernel_name(self.function)
        is_particular = (
            self.is_never_differentiable
            or cpp.name(self.function.func) in MAY_SWAP_STORAGE
            or name in MAY_RETURN_OLD_STORAGE
            or name in MAY_RETURN_OLD_IMPL
        )
        return self.info is None and bool(self.outputs) and not is_particular


def _differentiated(
    function: NativeFunction,
    inputs: Sequence[DifferentiableInput],
    info: DifferentiabilityInfo | None,
    renamed: Mapping[str, str],
) -> tuple[DifferentiableInput, ...]:
    """The inputs that have a gradient; `renamed` says what they are called that `info` calls otherwise."""
    if info is None or not info.has_derivatives:
        outs = {argument.name for argument in function.func.arguments.out}
        return tuple(one for one in inputs if one.name not in outs)
    names = {renamed.get(argument.name, argument.name) for argument in info.args_with_derivatives}
    return tuple(one for one in inputs if one.name in names)


def _render_kernel(kernel: _Kernel, name: str) -> str:
    """The definition of a kernel."""
    function = kernel.function
    unpacked = _unpacked(kernel)
    calls = {one.binding.name: one.name for one in unpacked}
    tangents, graph = _tangents(kernel), _graph(kernel)
    checks = _render_checks(kernel, unpacked, calls) if kernel.home.checks_results else NO_CHECKS
    parts = [_render_unpacking(unpacked)]
    if kernel.records:
        parts += [_render_requirements(kernel, tangents), _render_graph(kernel, graph)]
    parts += [checks.before, _render_call(kernel, calls), checks.after]
    if kernel.records:
        parts += _render_results(kernel, graph, tangents)
    if kernel.refuses:
        parts.append(render_refusal(cpp.name(function.func), kernel.inputs, OUT_REASON))
    if base_name(function) in RESETS_GRADIENTS and is_of_torch(function):
        parts.append("  reset_grad_accumulator(self);\n")
    parts.append(_render_return(kernel))
    parameters = ", ".join(["c10::DispatchKeySet ks", *(binding.defn() for binding in kernel.signature.arguments)])
    return f"{kernel.signature.returns} {name}({parameters}) {{\n{''.join(parts)}}}\n"


def _render_checks(kernel: _Kernel, unpacked: Iterable[Unpacked], calls: Mapping[str, str]) -> DebugChecks:
    """What a debug build looks at; `calls` says what the kernel calls its parameters."""
    function = kernel.function
    named = zip(cpp.return_names(function), function.func.returns, strict=True)
    return render_checks(
        function,
        kernel_name(function),
        _checked(kernel, unpacked),
        () if writes_arguments(function) else named,
        calls[viewed_argument(function).name] if _has_old_storage(function) else "",
    )


def _has_old_storage(function: NativeFunction) -> bool:
    return is_tracked_view(function) or function.root_name == _SHARES_STORAGE


def _checked(kernel: _Kernel, unpacked: Iterable[Unpacked]) -> list[Checked]:
    """The parameters that a debug build looks at, in order."""
    names = {one.binding.name: Checked(one.name, "list" if one.is_list else "tensor") for one in unpacked}
    for binding in kernel.signature.arguments:
        if binding.nctype.type == OPTIONAL_TENSOR_LIST:
            names[binding.name] = Checked(binding.name, "optional list")
    return [names[binding.name] for binding in kernel.signature.arguments if binding.name in names]


def _tangents(kernel: _Kernel) -> Tangents:
    return Tangents(
        derivatives=kernel.forward,
        inputs=kernel.inputs,
        condition=_condition(kernel),
        is_inplace=kernel.is_inplace,
        is_foreach=kernel.is_foreach,
        names={mine: theirs for theirs, mine in kernel.renamed.items()},
        values=_reference_values(kernel),
    )


def _graph(kernel: _Kernel) -> Graph:
    return Graph(
        info=kernel.info if kernel.info is not None and kernel.info.has_derivatives else None,
        name=base_name(kernel.function),
        home=kernel.home,
        inputs=kernel.differentiated,
        is_inplace=kernel.is_inplace,
        is_foreach=kernel.is_foreach,
        lists=_reference_values(kernel),
    )


def _reference_names(function: NativeFunction, info: DifferentiabilityInfo | None) -> dict[str, str]:
    """How an in-place operator on lists calls the arguments of the operator on tensors that it applies."""
    if not is_foreach_func(function) or function.func.kind() is not SchemaKind.inplace or info is None:
        return {}
    theirs = info.func.func.arguments.flat_non_out
    return {one.name: mine.name for one, mine in zip(theirs, function.func.arguments.flat_non_out)}


def _reference_values(kernel: _Kernel) -> dict[str, str]:
    """How the arguments of the operator on tensors are written, for the element at hand."""
    lists = {a.name for a in kernel.function.func.arguments.flat_all if a.type.is_list_like() is not None}
    return {theirs: f"{mine}[i]" if mine in lists else mine for theirs, mine in kernel.renamed.items()}


def _condition(kernel: _Kernel) -> str:
    """The condition under which the results are differentiable, in brackets; empty if there is none."""
    conditions = kernel.info.output_differentiability_conditions if kernel.info is not None else None
    return f"({conditions[0]})" if conditions else ""


# ------------------------------------------------------------------------------ before the call


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A parameter that is made of tensors, and what the kernel calls it once it is unpacked."""

    binding: Binding
    position: int
    """Its place among the parameters."""
    name: str
    is_list: bool


def _unpacked(kernel: _Kernel) -> list[Unpacked]:
    """The parameters that are tensors or lists of them, as they are called below."""
    found = []
    for position, binding in enumerate(kernel.signature.arguments):
        kind = _tensor_kind(binding)
        if kind is not None:
            found.append(Unpacked(binding, position, f"{binding.name}_", kind == "list"))
    return found


def _tensor_kind(binding: Binding) -> str | None:
    """Whether a parameter is a `tensor` or a `list` of tensors, none of which may lack."""
    if binding.type in ("const at::Tensor &", "at::Tensor &"):
        return "tensor"
    return "list" if binding.type in ("at::TensorList", "const at::ITensorListRef &") else None


def _render_unpacking(unpacked: Iterable[Unpacked]) -> str:
    return "".join([_render_unpack(one, one.binding.name) for one in unpacked])


def _render_unpack(one: Unpacked, name: str) -> str:
    return f'  auto{"" if one.is_list else "&"} {one.name} = unpack({name}, "{name}", {one.position});\n'


def _render_requirements(kernel: _Kernel, tangents: Tangents) -> str:
    """Whether the graph has to be recorded, and which tangents to compute."""
    names = ", ".join([one.name for one in kernel.differentiated])
    condition = _condition(kernel)
    narrowed = f"  _any_requires_grad &= {condition};\n" if condition else "\n"
    return (
        f"  [[maybe_unused]] auto _any_requires_grad = compute_requires_grad( {names} );\n"
        f"{narrowed}{render_flags(tangents)}"
    )


def _render_graph(kernel: _Kernel, graph: Graph) -> str:
    """Checks the arguments, and makes the node."""
    text = ""
    if kernel.is_inplace:
        text += "" if kernel.is_foreach else "  check_inplace(self, _any_requires_grad);\n"
        text += render_original_self(_tangents(kernel))
    text += _render_constants(kernel)
    return text + (_render_out_checks(kernel) if kernel.is_out else render_nodes(graph))


def _render_constants(kernel: _Kernel) -> str:
    """Refuses gradients of arguments that have none."""
    if kernel.info is None or not kernel.info.has_derivatives or kernel.is_out:
        return ""
    differentiated = {one.name for one in kernel.differentiated}
    name = kernel.function.func.name.name
    return "".join(
        [
            f'  check_no_requires_grad({one.name}, "{one.name}", "{name}");\n'
            for one in kernel.inputs
            if one.name not in differentiated and not (one.name == _RESULT_OF_FORWARD and kernel.is_of_torch)
        ]
    )


def _render_out_checks(kernel: _Kernel) -> str:
    """Refuses gradients altogether, as out forms don't record the graph."""
    name = base_name(kernel.function)
    groups = [[one.name for one in kernel.read], [one.name for one in kernel.outputs]]
    checks = "".join(
        [
            f"  if (compute_requires_grad( {', '.join(group)} )) {{\n"
            f'    throw_error_out_requires_grad("{name}");\n'
            "  }\n"
            for group in groups
        ]
    )
    return f"  {kernel.home.node_pointer}<Node> grad_fn;\n{checks}"


# ------------------------------------------------------------------------------------- the call


def _render_call(kernel: _Kernel, calls: Mapping[str, str]) -> str:
    """Calls the operator's kernel below autograd's."""
    function, func = kernel.function, kernel.function.func
    names = [binding.name for binding in kernel.signature.arguments]
    arguments = ", ".join(["ks & c10::after_autograd_keyset", *(calls.get(each, each) for each in names)])
    call = f"{kernel.home.redispatch(function)}({arguments})"
    # Of writes to an argument among others, torch's own operators keep no books.
    writes = not kernel.is_of_torch and any(argument.is_write for argument in func.arguments.flat_all)
    is_below = writes or writes_arguments(function) or is_view_family(function)
    guard = f"at::AutoDispatchBelow{'Autograd' if is_below else 'ADInplaceOrView'} guard;"
    if writes_arguments(function) or not func.returns:
        return f"  {{\n    {guard}\n    {call};\n  }}\n"
    return f"""\
  auto _tmp = ([&]() {{
{_render_dispatch(kernel, guard, call)}\
  }})();
{_render_results_named(kernel)}"""


def _render_dispatch(kernel: _Kernel, guard: str, call: str) -> str:
    """The call; or, where there are tangents but no formula for them, one of what the operator is made of."""
    if not (kernel.records and not kernel.forward and kernel.home.has_decompositions):
        return f"    {guard}\n    return {call};\n"
    name = kernel.function.func.name
    names = ", ".join([binding.name for binding in kernel.signature.arguments])
    run = f"impl::run_jit_decomposition_with_args_for_jvp<{_decomposed_type(kernel)}>"
    return f"""\
    if (({is_tangent_defined(kernel.inputs)})) {{
      static c10::OperatorName full_name("aten::{name.name}", "{name.overload_name}");
      static ::std::optional<c10::OperatorHandle> opt_op = c10::Dispatcher::singleton().findSchema(full_name);
      return {run}("{name.name}", *opt_op, ks, {names});
    }} else {{
      {guard}
      return {call};
    }}
"""


def _decomposed_type(kernel: _Kernel) -> str:
    types = [str(cpp.return_type(returned)) for returned in kernel.function.func.returns]
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def _render_results_named(kernel: _Kernel) -> str:
    """Gives the results their names."""
    names, returns = cpp.return_names(kernel.function), kernel.function.func.returns
    if len(names) > 1:
        return f"  auto [{', '.join(names)}] = std::move(_tmp);\n"
    is_tensor = returns[0].type.is_tensor_like()
    return f"  auto {names[0]} = {'std::move(_tmp)' if is_tensor else '_tmp'};\n"


# ------------------------------------------------------------------------------- after the call


def _render_results(kernel: _Kernel, graph: Graph, tangents: Tangents) -> list[str]:
    """Ties the results to the graph and sets their tangents."""
    function = kernel.function
    names = [output.name for output in kernel.outputs] or ["self"]
    writes = writes_arguments(function)
    parts = [render_history(graph, names, rebase=writes and not is_view_family(function))]
    if not writes and not kernel.has_complex_gradient:
        parts += [
            f'  throw_error_for_complex_autograd({output.name}, "{base_name(function)}");\n'
            for output in kernel.outputs
            if output.type == _TENSOR
        ]
    parts.append(_render_tangents(kernel, tangents))
    if not kernel.is_out:
        parts.append(render_saved_outputs(graph))
    return parts


def _render_tangents(kernel: _Kernel, tangents: Tangents) -> str:
    if kernel.is_out:
        return ""
    if kernel.forward:
        return render_tangents(tangents)
    if kernel.is_inplace or not kernel.home.has_decompositions:
        return render_refusal(cpp.name(kernel.function.func), kernel.inputs, kernel.home.lacks_tangents)
    return ""


def _render_return(kernel: _Kernel) -> str:
    names = cpp.return_names(kernel.function)
    if not names:
        return ""
    if len(names) == 1:
        return f"  return {names[0]};\n"
    if writes_arguments(kernel.function):
        return f"  return std::forward_as_tuple({', '.join(names)});\n"
    return f"  return std::make_tuple({', '.join([f'std::move({name})' for name in names])});\n"
