"""Operators and their derivatives → the kernels of autograd, which record the graph (VariableType).

A kernel unpacks its tensors, creates an autograd node if any of them requires a gradient, calls the
operator's kernel, sets the node as history of the results, and computes tangents.  Each of these parts
has its own module (`variable_type_*`); this module combines them.

    at::Tensor neg(c10::DispatchKeySet ks, const at::Tensor & self) {
      auto& self_ = unpack(self, "self", 0);
      [[maybe_unused]] auto _any_requires_grad = compute_requires_grad( self );
      …
      auto _tmp = ([&]() {
        at::AutoDispatchBelowADInplaceOrView guard;
        return at::redispatch::neg(ks & c10::after_autograd_keyset, self_);
      })();

Operators without derivatives use torch's fallback kernel, unless they need special treatment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import DEFAULT_KEY
from opgen.dest.autograd_home import AutogradHome, torch_home
from opgen.dest.autograd_kernels import has_derived_kernel, is_handwritten, is_tracked_view, viewed_argument
from opgen.dest.autograd_operators import (
    MAY_RETURN_OLD_IMPL,
    MAY_RETURN_OLD_STORAGE,
    MAY_SWAP_STORAGE,
    RESETS_GRADIENTS,
)
from opgen.dest.variable_type_checks import NO_CHECKS, DebugChecks, render_checks
from opgen.dest.variable_type_forward import (
    OUT_REASON,
    is_tangent_defined,
    render_flags,
    render_original_self,
    render_refusal,
    render_tangents,
)
from opgen.dest.variable_type_graph import render_history, render_hooks, render_nodes, render_saved_outputs
from opgen.dest.variable_type_kernel import Kernel, Names, ParameterMemo, derive_kernel
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, BaseType, DispatchKey, NativeFunction
from opgen.output.files import OutputFile, shard
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet, TrimmedTexts, mark_if_trimmed
from opgen.program.autograd import AutogradProgram

_SNIPPETS: Final = Snippets("variable_type.cpp")

_TENSOR: Final = BaseType(BaseTy.Tensor)
_RESULT_OF_FORWARD: Final = "output"
"""Operators that compute gradients take this in addition to the input with the gradient."""
_SHARES_STORAGE: Final = "_unsafe_view"
"""Not a view for autograd, although its result shares its argument's storage."""


def emit_variable_type_header(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield VariableType.h."""
    del program
    yield OutputFile("VariableType.h", templates.render("VariableType.h", {}))


def emit_variable_type(program: AutogradProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield VariableType_0.cpp … and VariableTypeEverything.cpp."""
    count = program.program.release.autograd_shards
    # Kernels are grouped by key; those for all backends come last.
    keys = (*(key for key in program.dispatch_keys if key != DEFAULT_KEY), DEFAULT_KEY)
    everything, *shares = [_Contents({key: [] for key in keys}, {key: [] for key in keys}) for _ in range(count + 1)]
    share_of: dict[str, _Contents] = {}
    for piece in kernel_pieces(program, torch_home(program.program.release)):
        name = piece.root_name
        share = share_of.get(name)
        if share is None:
            share = share_of[name] = shares[shard(name, count)]
        registration = _registration(piece)
        for contents in (everything, share):
            contents.registrations[piece.key].append(registration)
            if piece.definition:
                contents.definitions[piece.key].append(piece.definition)
    is_trimmed = everything.is_trimmed
    for index, share in enumerate(shares):
        yield OutputFile(f"VariableType_{index}.cpp", _render_file(share, is_trimmed, templates))
    yield OutputFile("VariableTypeEverything.cpp", _render_file(everything, is_trimmed, templates), group=None)


@dataclass(frozen=True, slots=True)
class KernelPiece:
    """The kernel and registration of an operator for one dispatch key."""

    root_name: str
    """The operator's C++ name, which determines its shard."""
    operator: str
    key: str
    name: str
    """The kernel's definition; empty for the fallback kernel."""
    definition: str


def kernel_pieces(program: AutogradProgram, home: AutogradHome) -> Iterator[KernelPiece]:
    """Yield the kernels of all operators that have some."""
    memo = ParameterMemo(home)
    for matched in program.functions:
        function = matched.func
        if not has_derived_kernel(matched) or is_handwritten(function):
            continue
        names = Names.of(function)
        has_own = program.program.has_kernel(DispatchKey.Autograd, function)
        if not matched.info and not has_own and _is_plain(function, names):
            yield KernelPiece(names.cpp, names.operator, DEFAULT_KEY, "", "")
            continue
        signatures = program.program.signatures(function)
        for key in matched.info or (DEFAULT_KEY,):
            if program.program.has_kernel(DispatchKey[registered_key(key)], function):
                continue
            kernel = derive_kernel(matched, key, names, signatures, home, memo)
            name = home.kernel_prefix + names.kernel + ("" if key == DEFAULT_KEY else f"_{key}")
            yield KernelPiece(names.cpp, names.operator, key, name, _render_kernel(kernel, name))


def _is_plain(function: NativeFunction, names: Names) -> bool:
    """Return whether the fallback is enough for an operator without derivatives."""
    is_particular = (
        names.cpp in MAY_SWAP_STORAGE
        or names.kernel in MAY_RETURN_OLD_STORAGE
        or names.kernel in MAY_RETURN_OLD_IMPL
        or names.is_never_differentiable
    )
    return not is_particular and bool(
        [returned for returned in function.func.returns if returned.type.is_tensor_like()]
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Contents:
    """The contents of a file, by dispatch key."""

    definitions: dict[str, list[str]]
    registrations: dict[str, list[str]]

    @property
    def is_trimmed(self) -> bool:
        """Whether the kernels have no trailing spaces."""
        return isinstance(mark_if_trimmed([*chain.from_iterable(self.definitions.values())]), TrimmedTexts)


def _render_file(contents: _Contents, is_trimmed: bool, templates: TemplateSet) -> str:
    definitions = [*chain.from_iterable(contents.definitions.values())]
    env = {
        "type_derived_method_definitions": TrimmedTexts(definitions) if is_trimmed else definitions,
        "wrapper_registrations": [_render_block(key, lines) for key, lines in contents.registrations.items()],
    }
    return templates.render("VariableType.cpp", env)


def _render_block(key: str, registrations: Sequence[str]) -> str:
    text = _SNIPPETS.render("registrations", key=registered_key(key), registrations="\n".join(registrations) + "\n")
    return f"{text}\n"


def registered_key(key: str) -> str:
    """Return the dispatch key to register kernels under, for `key` of derivatives.yaml."""
    return "Autograd" if key == DEFAULT_KEY else key


def _registration(piece: KernelPiece) -> str:
    if not piece.name:
        return f'm.impl("{piece.operator}", torch::autograd::autogradNotImplementedFallback());'
    return _SNIPPETS.render("registration", piece=piece).removesuffix("\n")


# ---------------------------------------------------------------------------------- the kernel


def _render_kernel(kernel: Kernel, name: str) -> str:
    """Return the definition of a kernel."""
    parameters = ", ".join(["c10::DispatchKeySet ks", *[parameter.defn for parameter in kernel.parameters]])
    unpacked = [
        f"{parameter.unpacking}{at});\n" for at, parameter in enumerate(kernel.parameters) if parameter.unpacking
    ]
    checks = _render_checks(kernel) if kernel.home.checks_results else NO_CHECKS
    resets = kernel.names.base in RESETS_GRADIENTS and kernel.names.is_of_torch
    return _SNIPPETS.render(
        "kernel",
        returns=kernel.signatures.dispatcher.returns.spelled,
        name=name,
        parameters=parameters,
        unpacking=unpacked,
        recording=_render_recording(kernel) if kernel.records else "",
        checks=checks,
        call=_render_call(kernel),
        results=_render_results(kernel) if kernel.records else "",
        refusal=render_refusal(kernel, OUT_REASON) if kernel.is_out and kernel.inputs else "",
        hooks=render_hooks(kernel) if kernel.records else "",
        reset="  reset_grad_accumulator(self);\n" if resets else "",
        returned=_render_return(kernel),
    )


def _render_checks(kernel: Kernel) -> DebugChecks:
    """Return the checks of debug builds."""
    function, view_base, results = kernel.function, "", []
    if (kernel.is_view and is_tracked_view(function)) or kernel.names.root == _SHARES_STORAGE:
        view_base = {parameter.name: parameter.unpacked for parameter in kernel.parameters if parameter.unpacking}[
            viewed_argument(function).name
        ]
    if not kernel.writes:
        results = [
            name
            for name, parameter in zip(kernel.signatures.return_names, function.func.returns)
            if parameter.type == _TENSOR
        ]
    checked = [parameter.checks for parameter in kernel.parameters if parameter.checks is not None]
    return render_checks(checked, results, kernel.names.cpp, kernel.names.kernel, view_base)


# ------------------------------------------------------------------------------ before the call


def _render_recording(kernel: Kernel) -> str:
    """Return the code that decides what to record, checks arguments and creates the node."""
    names = ", ".join([parameter.name for parameter in kernel.differentiated])
    narrowed = f"  _any_requires_grad &= {kernel.condition};" if kernel.condition else ""
    inplace = ""
    if kernel.is_inplace:
        check = "" if kernel.is_foreach else "  check_inplace(self, _any_requires_grad);\n"
        inplace = check + render_original_self(kernel)
    nodes = _render_out_checks(kernel) if kernel.is_out else f"{_render_constants(kernel)}{render_nodes(kernel)}"
    return _SNIPPETS.render(
        "recording", names=names, narrowed=narrowed, flags=render_flags(kernel), inplace=inplace, nodes=nodes
    )


def _render_constants(kernel: Kernel) -> str:
    """Return checks that arguments without derivatives don't require a gradient."""
    if kernel.derivatives is None or len(kernel.differentiated) == len(kernel.inputs):
        return ""
    differentiated, operator = kernel.differentiated, kernel.function.func.name.name
    return "".join(
        [
            f'  check_no_requires_grad({parameter.name}, "{parameter.name}", "{operator}");\n'
            for parameter in kernel.inputs
            if parameter not in differentiated
            and not (parameter.name == _RESULT_OF_FORWARD and kernel.names.is_of_torch)
        ]
    )


def _render_out_checks(kernel: Kernel) -> str:
    """Return checks that no argument requires a gradient, as out forms don't record the graph."""
    groups = [[parameter.name for parameter in kernel.read], [parameter.name for parameter in kernel.outputs]]
    checks = "".join([_SNIPPETS.render("out_check", names=group, base=kernel.names.base) for group in groups])
    return f"  {kernel.home.node_pointer}<Node> grad_fn;\n{checks}"


# ------------------------------------------------------------------------------------- the call


def _render_call(kernel: Kernel) -> str:
    """Return statements that call the operator's kernel below autograd."""
    func, parameters = kernel.function.func, kernel.parameters
    arguments = ", ".join(["ks & c10::after_autograd_keyset", *[parameter.unpacked for parameter in parameters]])
    symints = [parameter for parameter in parameters[: len(func.arguments.flat_non_out)] if parameter.is_symint_like]
    call = f"{kernel.home.redispatch(kernel.function, symint=bool(symints))}({arguments})"
    # torch's own operators don't track mutation of a single argument among several.
    is_below = kernel.writes or kernel.is_view_family or (not kernel.names.is_of_torch and func.is_mutable)
    guard = f"at::AutoDispatchBelow{'Autograd' if is_below else 'ADInplaceOrView'} guard;"
    if kernel.writes or not func.returns:
        return _SNIPPETS.render("call_in_block", guard=guard, call=call)
    # If there are tangents but no formula for them, the operator's decomposition runs instead.
    return _SNIPPETS.render(
        "call",
        falls_back=kernel.records and not kernel.forward and kernel.home.has_decompositions,
        is_tangent_defined=is_tangent_defined(kernel.inputs),
        name=kernel.function.func.name,
        run=f"impl::run_jit_decomposition_with_args_for_jvp<{_decomposed_type(kernel)}>",
        arguments=[parameter.name for parameter in parameters],
        guard=guard,
        call=call,
        results=_render_results_named(kernel),
    )


def _decomposed_type(kernel: Kernel) -> str:
    types = [str(cpp.return_type(returned)) for returned in kernel.function.func.returns]
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def _render_results_named(kernel: Kernel) -> str:
    """Return the statement that names the results."""
    names = kernel.signatures.return_names
    if len(names) > 1:
        return f"  auto [{', '.join(names)}] = std::move(_tmp);\n"
    is_tensor = kernel.function.func.returns[0].type.is_tensor_like()
    return f"  auto {names[0]} = {'std::move(_tmp)' if is_tensor else '_tmp'};\n"


# ------------------------------------------------------------------------------- after the call


def _render_results(kernel: Kernel) -> str:
    """Return statements that set the history and the tangents of the results."""
    names = [output.name for output in kernel.outputs] or ["self"]
    history = render_history(kernel, names)
    if kernel.is_out:
        return history
    complex_checks = "" if kernel.writes else _render_complex_checks(kernel)
    return f"{history}{complex_checks}{_render_tangents(kernel)}{render_saved_outputs(kernel)}"


def _render_complex_checks(kernel: Kernel) -> str:
    """Return checks against complex results, unless the formulas support them."""
    names, info = kernel.names, kernel.info
    if (info is not None and info.handles_complex) or names.base in kernel.home.complex_gradients:
        return ""
    checked = [output.name for output in kernel.outputs if output.type == _TENSOR]
    return "".join([f'  throw_error_for_complex_autograd({name}, "{names.base}");\n' for name in checked])


def _render_tangents(kernel: Kernel) -> str:
    if kernel.forward:
        return render_tangents(kernel)
    if kernel.is_inplace or not kernel.home.has_decompositions:
        return render_refusal(kernel, kernel.home.no_tangents_reason)
    return ""


def _render_return(kernel: Kernel) -> str:
    names = kernel.signatures.return_names
    if not names:
        return ""
    if len(names) == 1:
        return f"  return {names[0]};\n"
    if kernel.writes:
        return f"  return std::forward_as_tuple({', '.join(names)});\n"
    return f"  return std::make_tuple({', '.join([f'std::move({name})' for name in names])});\n"
