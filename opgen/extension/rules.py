"""The operators of an extension → a diagnostic for each reason why their C++ code wouldn't compile.

They follow the rules of the front end and apply only to extensions, where operators become functions,
namespaces and files of one library.

    ops.yaml:9:16: error: 'by.dim' and 'by' can't be told apart in C++ when called with (Tensor) [ambiguous-overload]
        9 | - func: mylib::by.dim(Tensor self, int dim=0) -> Tensor
          |                ^^^^^^ write 'cpp_no_default_args: [dim]'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

from opgen.api.autograd import Infos, NativeFunctionWithDifferentiabilityInfo
from opgen.api.autograd_nodes import can_be_saved
from opgen.api.cpp import CppSignature
from opgen.dest.variable_type import registered_key
from opgen.diagnostics import Diagnostic, Note, Span
from opgen.dispatch_keys import DispatchKey
from opgen.extension.argument_names import is_renamable, is_renamed
from opgen.extension.batching import UNWRAPPED_TYPES, batch_rule_returns
from opgen.extension.derivative_names import clashing_names
from opgen.extension.macros import UNDEFINED_IN_CPP, is_macro
from opgen.frontend.c_names import C_NAMES
from opgen.frontend.cpp_names import KEYWORDS
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    BackendMetadata,
    BaseTy,
    BaseType,
    ListType,
    NativeFunction,
    OptionalType,
    SchemaKind,
    Type,
    Variant,
)
from opgen.program.autograd import AutogradProgram
from opgen.program.program import Program
from opgen.program.shape_functions import ShapeFunctions

_TORCH_NAMESPACE: Final = "aten"
RESERVED_NAMESPACES: Final = frozenset(
    {"at", "c10", "caffe2", "cuda", "detail", "meta", "native", "prim", "prims", "std", "torch"}
)
"""Namespaces that operators can't use, because C++ or torch uses them."""
_OWN_NAMESPACES: Final = frozenset({"_ops", "autograd", "detail", "meta", "native", "structured", "symint", "ufunc"})
"""Namespaces nested in the extension's namespace, which operators can't be named after."""

_HIDDEN_NAMES: Final = frozenset(
    {
        *("bool", "int8_t", "int16_t", "int32_t", "int64_t", "size_t", "uint8_t", "Py_ssize_t"),
        *("PyObject", "PyTypeObject", "PyMethodDef", "PyModuleDef", "THPObjectPtr"),
    }
)
"""Types in generated C++ that an operator's function would hide, in declarations and in the bindings for Python."""
_TYPES: Final = frozenset(
    {"at", "c10", "std", "torch", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "size_t", "bool"}
)
"""Types and namespaces in declarations of kernels, which a kernel of such a name would hide."""

Rule = Callable[[Program], Iterator[Diagnostic]]


def check_extension(program: Program, *, has_functions: bool = True) -> Iterator[Diagnostic]:
    """Yield every violation of a rule; `has_functions` says whether operators become functions in C++."""
    rules = _RULES if has_functions else tuple(rule for rule in _RULES if rule is not _check_overloads)
    first = [diagnostic for rule in _FIRST_RULES for diagnostic in rule(program)]
    yield from first or (diagnostic for rule in rules for diagnostic in rule(program))


def find_unused_keys(program: Program) -> Iterator[Diagnostic]:
    """Warn about keys that have an effect only in torch's own definitions."""
    for function in _written(program):
        keys = (
            ("variants", Variant.method in function.variants, "torch's Tensor can't have more methods"),
            ("manual_cpp_binding", function.manual_cpp_binding, "all C++ functions of an extension are generated"),
            ("python_module", function.python_module is not None, "the package has all functions in one module"),
            ("category_override", function.category_override is not None, "only torch's Declarations.yaml has it"),
        )
        for key in (key for key in keys if key[1]):
            message = f"'{key[0]}' of '{function.func.name}' has no effect in an extension"
            yield Diagnostic("key-without-effect", message, function.loc, f"remove it: {key[2]}", severity="warning")


def advise(
    program: Program,
    shape_functions: ShapeFunctions | None = None,
    has_automatic: Callable[[NativeFunction], bool] | None = None,
) -> Iterator[Diagnostic]:
    """Yield warnings about operators without fake kernels, which torch.compile and torch.export need.

    Args:
        program: The operators.
        shape_functions: The author's shape functions in Python, if any.
        has_automatic: Whether a fake kernel is generated for an operator; None if none are.
    """
    in_python = frozenset(operator for _, operator in shape_functions.functions) if shape_functions else frozenset()
    meta = program.backend_indices.get(DispatchKey.Meta)
    for function in _written(program):
        has_fake_kernel = function.part_of_structured_group or function.has_composite_kernel
        has_fake_kernel = has_fake_kernel or (meta is not None and meta.has_kernel(function))
        has_fake_kernel = has_fake_kernel or str(function.func.name) in in_python
        has_fake_kernel = has_fake_kernel or (has_automatic is not None and has_automatic(function))
        if has_fake_kernel or function.func.kind() is SchemaKind.inplace or "view_copy" in function.tags:
            continue
        message = (
            f"'{function.func.name}' has no kernel under Meta, so 'torch.compile', 'torch.export' and fake tensors "
            "can't tell what it returns"
        )
        label = "add 'Meta' to its dispatch table, or a shape function to 'meta.py'"
        yield Diagnostic("no-meta-kernel", message, function.loc, label, severity="warning")


# ------------------------------------------------------------------------------------- namespaces


def _check_aten(program: Program) -> Iterator[Diagnostic]:
    others = [f for f in program.functions if f.namespace != _TORCH_NAMESPACE]
    for function in _written(program):
        if function.namespace == _TORCH_NAMESPACE:
            own = others[0] if others else function
            message = f"'{function.func.name}' is an operator of ATen, but the others are in '{own.namespace}'"
            label = f"write '{own.namespace}::{function.func.name.name}', or --no-extension for sources of ATen"
            yield Diagnostic("aten-in-extension", message, function.loc, label)


def _check_one_namespace(program: Program) -> Iterator[Diagnostic]:
    own = [f for f in _written(program) if f.namespace != _TORCH_NAMESPACE]
    for function in own:
        if function.namespace != own[0].namespace:
            message = f"'{function.qualified_name}' is in a different namespace than the operators before it"
            label = f"an extension has one namespace, here '{own[0].namespace}'"
            note = Note(f"'{own[0].namespace}::{own[0].func.name}' is here", own[0].loc)
            yield Diagnostic("several-namespaces", message, function.loc, label, (note,))


def _check_reserved_namespace(program: Program) -> Iterator[Diagnostic]:
    first = program.functions[0] if program.functions else None
    if first is None:
        return
    if first.namespace in RESERVED_NAMESPACES or first.namespace in KEYWORDS:
        message = f"operators can't be in namespace '{first.namespace}': C++ already uses this name"
        yield Diagnostic("reserved-namespace", message, first.loc, "name it after your library")
    elif first.namespace in C_NAMES:
        message = f"operators can't be in namespace '{first.namespace}': the C library uses this name"
        yield Diagnostic("reserved-namespace", message, first.loc, "name it after your library")


def _written(program: Program) -> Iterator[NativeFunction]:
    return (function for function in program.functions if "generated" not in function.tags)


# ------------------------------------------------------------------------------------------ names


def _check_names(program: Program) -> Iterator[Diagnostic]:
    keys = {key.lower(): str(key) for key in program.backend_indices}
    for function in _written(program):
        name = str(function.func.name.name)
        if name in _OWN_NAMESPACES or name in keys or name == function.namespace:
            message = f"an operator can't be named '{name}': '{function.namespace}::{name}' is a namespace in C++"
            yield Diagnostic("reserved-name", message, function.loc, "choose another name")
        elif _is_macro(name, function) or _is_macro(function.func.name.unambiguous_name(), function):
            message = f"an operator can't be named '{name}': it is a macro in headers of C, Python or torch"
            yield Diagnostic("reserved-name", message, function.loc, "choose another name")
        elif name in _HIDDEN_NAMES or function.func.name.unambiguous_name() in _HIDDEN_NAMES:
            message = f"an operator can't be named '{name}': its function in C++ would hide the type"
            yield Diagnostic("reserved-name", message, function.loc, "choose another name")


def _check_derived_names(program: Program) -> Iterator[Diagnostic]:
    """Names of written operators have been checked; `void_` is one in C++, but the form derived of it is not."""
    for function in program.functions:
        name = str(function.func.name.name)
        if "generated" in function.tags and (name in KEYWORDS or _is_macro(name, function)):
            id, what = ("cpp-keyword", "keyword of C++") if name in KEYWORDS else ("reserved-name", "macro of a header")
            message = f"the derived operator '{function.func.name}' can't have this name: it is a {what}"
            yield Diagnostic(id, message, function.loc, "rename the operator that it is derived from")


def _check_kernel_namespaces(program: Program) -> Iterator[Diagnostic]:
    for key, index in program.backend_indices.items():
        for function in _written(program):
            kernel = index.get_kernel(function)
            if kernel is not None and _is_foreign(kernel):
                space = kernel.cpp_namespace.removesuffix("::native")
                message = f"the kernel '{kernel.kernel}' under {key} can't be in the namespace '{space}'"
                label = f"kernels are declared in their namespace: use your own, such as '{function.namespace}::k'"
                yield Diagnostic("reserved-kernel-namespace", message, function.loc, label)


def _check_batch_rules(program: Program) -> Iterator[Diagnostic]:
    """Check that batching rules take tensors, and return tensors or tensor lists, each with its batch dimension."""
    for function in program.functions:
        if not program.has_kernel(DispatchKey.FuncTorchBatched, function):
            continue
        func = function.func
        has_tensor = any(argument.type.is_tensor_like() for argument in func.arguments.flat_all)
        if not has_tensor or not all(_is_batched(r.type) for r in func.returns):
            message = (
                f"'{func.name}' can't have a kernel under FuncTorchBatched: it must take a tensor and return only "
                "tensors and lists of tensors"
            )
            yield Diagnostic("unsupported-type", message, function.loc, "remove it: vmap calls the operator in a loop")


def _is_batched(type: Type) -> bool:
    """Return whether a batching rule can return a value of this type."""
    return (type.elem if isinstance(type, OptionalType | ListType) else type) == BaseType(BaseTy.Tensor)


def _is_macro(name: str, function: NativeFunction) -> bool:
    """Return whether a function in C++ can't be called so: a macro of a header, or the one that exports functions."""
    return name == f"{function.namespace.upper()}_API" or (is_macro(name) and name not in UNDEFINED_IN_CPP)


def _check_kernels(program: Program) -> Iterator[Diagnostic]:
    """Check that C++ can declare each kernel: it isn't a macro, and equal parameters have equal return types."""
    declared: dict[tuple[str, ...], tuple[str, NativeFunction]] = {}
    overloads: dict[tuple[str, str], list[_Overload]] = {}
    for index in program.backend_indices.values():
        for function in program.functions:
            kernel = index.get_kernel(function)
            if kernel is None or (kernel.structured and function.part_of_structured_group):
                continue
            name = kernel.kernel
            if name != str(function.func.name.name) and (name in _TYPES or _is_macro(name, function)):
                message = (
                    f"a kernel can't be called '{kernel.kernel}': generated C++ has a macro or a type of this name"
                )
                yield Diagnostic("bad-identifier", message, function.loc, "rename it")
                continue
            signature = program.signatures(function).kernel(index)
            types = tuple(binding.nctype.type.spelled for binding in signature.arguments)
            returns = signature.returns.spelled
            if index.dispatch_key is DispatchKey.FuncTorchBatched:
                if any(argument.type in UNWRAPPED_TYPES for argument in function.func.arguments.flat_all):
                    continue  # a batching rule has more parameters, so it is a distinct overload
                returns = batch_rule_returns(function.func)
            first = declared.setdefault((kernel.cpp_namespace, kernel.kernel, *types), (returns, function))
            if first[0] != returns:
                message = (
                    f"the kernel '{kernel.kernel}' of '{function.func.name}' must return '{returns}', "
                    f"but as the kernel of '{first[1].func.name}' '{first[0]}'"
                )
                note = Note("the other one is here", first[1].loc)
                yield Diagnostic("kernel-conflict", message, function.loc, "rename one of them", (note,))
            elif first[1] is function:
                least = sum(binding.default is None for binding in signature.arguments)
                overload = _Overload(types, least, function)
                others = overloads.setdefault((kernel.cpp_namespace, kernel.kernel), [])
                yield from (_ambiguous_kernels(name, overload, other) for other in others if overload.meets(other))
                others.append(overload)


@dataclass(frozen=True, slots=True)
class _Overload:
    """A declaration of a kernel."""

    types: tuple[str, ...]
    least: int
    """How many arguments have no default."""
    function: NativeFunction

    def meets(self, other: _Overload) -> bool:
        """Return whether a call with all arguments of the one also fits the other, by its defaults."""
        short, long = sorted((self, other), key=lambda one: len(one.types))
        count = len(short.types)
        return count < len(long.types) and long.types[:count] == short.types and long.least <= count


def _check_kernel_classes(program: Program) -> Iterator[Diagnostic]:
    """Check that structured kernels of two operators have two names, since each is a class in C++."""
    classes: dict[tuple[str, str], NativeFunction] = {}
    for index in program.backend_indices.values():
        for function in program.functions:
            kernel = index.get_kernel(function) if function.structured else None
            if kernel is None or not kernel.structured:
                continue
            other = classes.setdefault((kernel.cpp_namespace, kernel.kernel), function)
            if other is not function:
                message = f"the structured kernel '{kernel.kernel}' of '{function.func.name}'"
                message += f" is that of '{other.func.name}' too"
                note = Note("the other one is here", other.loc)
                label = "each is a class in C++: rename one of them"
                yield Diagnostic("kernel-conflict", message, function.loc, label, (note,))


def _ambiguous_kernels(name: str, one: _Overload, other: _Overload) -> Diagnostic:
    message = (
        f"the kernel '{name}' of '{one.function.func.name}' and that of '{other.function.func.name}' can't be told "
        "apart in C++: one takes the same arguments, and more that have defaults"
    )
    note = Note("the other one is here", other.function.loc)
    return Diagnostic("kernel-conflict", message, one.function.loc, "give one another name in 'dispatch'", (note,))


def _is_foreign(kernel: BackendMetadata) -> bool:
    return kernel.cpp_namespace.split("::")[0] in {"std", "c10", "torch"}


# -------------------------------------------------------------------------------------- overloads


def _check_overloads(program: Program) -> Iterator[Diagnostic]:
    """Check that no C++ call is ambiguous between two functions of the same name."""
    by_name: dict[str, list[tuple[CppSignature, NativeFunction]]] = {}
    for function in program.functions:
        for signature in program.signatures(function).cpp_backend.signatures():
            by_name.setdefault(signature.name(), []).append((signature, function))
    reported: set[frozenset[NativeFunction]] = set()
    for overloads in by_name.values():
        for (first, one), (second, other) in combinations(overloads, 2):
            pair = frozenset((one, other))
            if pair in reported or one is other:
                continue
            common = _ambiguous_call(first, second)
            if common is not None:
                reported.add(pair)
                yield _ambiguity(one, other, common)


def _ambiguous_call(first: CppSignature, second: CppSignature) -> tuple[str, ...] | None:
    """Return the argument types of a call that is ambiguous between both; None if there is none."""
    types = [[str(binding.nctype.type.remove_const_ref()) for binding in s.arguments] for s in (first, second)]
    least = max(sum(1 for binding in s.arguments if binding.default is None) for s in (first, second))
    for count in range(least, min(map(len, types)) + 1):
        if types[0][:count] == types[1][:count]:
            return tuple(types[0][:count])
    return None


def _ambiguity(one: NativeFunction, other: NativeFunction, common: tuple[str, ...]) -> Diagnostic:
    call = ", ".join(name.removeprefix("at::").removeprefix("c10::") for name in common)
    later = max(one, other, key=lambda function: function.loc.start)
    earlier = other if later is one else one
    message = f"'{later.func.name}' and '{earlier.func.name}' can't be told apart in C++ when called with ({call})"
    defaults = [a.name for a in later.func.arguments.flat_non_out if a.default is not None]
    hidden = [name for name in defaults if name not in later.cpp_no_default_args]
    label = f"write 'cpp_no_default_args: [{', '.join(hidden)}]'" if hidden else "change the types of one of them"
    return Diagnostic("ambiguous-overload", message, later.loc, label, (Note("the other one is here", earlier.loc),))


# ------------------------------------------------------------------------------------ derivatives


def check_derivatives(
    program: Program, autograd: AutogradProgram | None, *, in_python: bool = False
) -> Iterator[Diagnostic]:
    """Yield an error for derivatives that no kernel can be generated from, and for argument names that C++ can't have.

    `in_python` says that kernels are in Python.
    """
    yield from _check_argument_names(program, None if in_python else autograd)
    if autograd is None:
        return
    for matched in autograd.functions:
        if matched.info is not None and "generated" not in matched.func.tags:
            yield from _check_no_other_kernel(autograd.program, matched.func, matched.info)
            yield from _check_not_written(matched.func, matched.info)
            if in_python:
                yield from _check_python_names(matched.func)
            else:
                yield from _check_kept(matched.func, matched.info)
                yield from _check_boxed(matched.func)
                yield from _check_result_names(matched)


def _check_no_other_kernel(program: Program, function: NativeFunction, infos: Infos) -> Iterator[Diagnostic]:
    for key in map(registered_key, infos):
        index = next((index for name, index in program.backend_indices.items() if str(name) == key), None)
        if index is not None and index.has_kernel(function):
            message = f"'{function.func.name}' has derivatives and also a kernel under {key}"
            yield Diagnostic("derivative-and-kernel", message, function.loc, "remove one of the two")


_RESULT_NAMES: Final = frozenset(
    {"grad_fn", "ks", "_tmp", "_any_requires_grad", "grads", "grad_inputs", "needs_input_grad"}
)
"""Variables of kernels that record derivatives and of their nodes, beside results."""


def _check_result_names(matched: NativeFunctionWithDifferentiabilityInfo) -> Iterator[Diagnostic]:
    """Results are variables, by their names, of kernels that record derivatives; so are unpacked arguments."""
    function = matched.func
    suffixes = ("_", "_t", "_p") if matched.fw_derivatives else ("_",)
    local = {f"{argument.name}{suffix}" for argument in function.func.arguments.flat_all for suffix in suffixes}
    for returned in function.func.returns:
        name = returned.name or ""
        if name in KEYWORDS or name in _RESULT_NAMES or name in local or _is_macro(name, function):
            message = f"a result of '{function.func.name}', which has derivatives, can't be named '{name}'"
            yield Diagnostic(
                "reserved-name", message, function.loc, "C++ or generated code uses the name: choose another"
            )


def _check_boxed(function: NativeFunction) -> Iterator[Diagnostic]:
    if function.is_boxed:
        message = f"'{function.func.name}' can't have derivatives: it has types that only boxed kernels take or return"
        label = "write an operator of tensors and numbers, and derivatives for that"
        yield Diagnostic("derivative-type", message, function.loc, label)


_PYTHON_NAMES: Final = frozenset({"found", "grad", "grad_input_mask", "grads", "needs", "torch", "_aten", "_ops"})
"""Names of variables in Python functions that are generated from formulas."""


def _check_python_names(function: NativeFunction) -> Iterator[Diagnostic]:
    for argument in function.func.arguments.flat_all:
        if argument.name in _PYTHON_NAMES:
            name = argument.name
            message = f"an argument of '{function.func.name}' can't be named '{name}': generated Python uses this name"
            yield Diagnostic("reserved-argument", message, function.loc, "choose another name")


def _check_not_written(function: NativeFunction, infos: Infos) -> Iterator[Diagnostic]:
    """Check that no gradient is for an argument that a mutable operator (not an in-place form) writes to."""
    if function.func.kind() is not SchemaKind.mutable:
        return
    differentiated = {binding.name for info in infos.values() for binding in info.args_with_derivatives}
    for argument in function.func.arguments.flat_all:
        if argument.is_write and argument.name in differentiated:
            message = f"'{function.func.name}' writes to '{argument.name}', so it can't have a gradient"
            label = "write the derivatives of the functional form, which 'autogen' derives"
            yield Diagnostic("written-derivative", message, function.loc, label)


def _check_kept(function: NativeFunction, infos: Infos) -> Iterator[Diagnostic]:
    """Check that the values that formulas use can be saved in nodes; compiled autograd must support their types."""
    differentiated = {binding.name for info in infos.values() for binding in info.args_with_derivatives}
    names = {one.name for info in infos.values() for one in info.all_saved_inputs if not can_be_saved(one.nctype.type)}
    for argument in function.func.arguments.flat_all:
        if argument.name in names:
            use = f"formulas of '{function.func.name}' use '{argument.name}'"
            message = f"{use}, but the type '{argument.type}' can't be saved for backward"
            label = f"don't use '{argument.name}', or return from the operator what the formulas need of it"
            yield Diagnostic("derivative-type", message, function.loc, label)
        elif argument.name in differentiated and str(argument.type) == "Tensor[]?":
            message = f"'{function.func.name}' can't have a gradient for '{argument.name}', a 'Tensor[]?'"
            label = "make it a 'Tensor[]', which may be empty, or a 'Tensor?[]'"
            yield Diagnostic("derivative-type", message, function.loc, label)


def _check_argument_names(program: Program, autograd: AutogradProgram | None) -> Iterator[Diagnostic]:
    """Check the names of arguments that would be renamed in C++ if the author's C++ didn't use them."""
    clashing = clashing_names(autograd)
    for function in _written(program):
        renamed = clashing.get(function.func.name.name.base, frozenset())
        for argument in () if is_renamable(function) else function.func.arguments.flat_all:
            if is_renamed(argument.name) or argument.name in renamed:
                why = "'precomputed'" if function.precomputed is not None else "'ufunc_inner_loop'"
                message = (
                    f"an argument of '{function.func.name}' can't be named '{argument.name}': generated C++ uses "
                    f"this name, and {why} leaves it as it is"
                )
                yield Diagnostic("reserved-argument", message, _argument_span(function, argument.name), "rename it")
        yield from _check_precomputed_names(function)


def _check_precomputed_names(function: NativeFunction) -> Iterator[Diagnostic]:
    """Check the names of precomputed values, which are members in C++; template parameters have them in capitals."""
    for value in () if function.precomputed is None else function.precomputed.added_and_replacing():
        macros = [name for name in (value.name, value.name.upper()) if is_macro(name)]
        if macros:
            message = f"a precomputed value of '{function.func.name}' can't be named '{value.name}'"
            label = f"generated C++ uses '{macros[0]}', which is a macro: choose another name"
            yield Diagnostic("reserved-argument", message, function.loc, label)


def _argument_span(function: NativeFunction, name: str) -> Span:
    """Return the span of an argument's name in the schema, or that of the operator if the name isn't found."""
    source = function.loc.source
    match = re.compile(rf"\s({re.escape(name)})\s*[,=)]").search(source.text, function.loc.end)
    return function.loc if match is None else Span(source, *match.span(1))


_FIRST_RULES: Final[tuple[Rule, ...]] = (_check_aten, _check_one_namespace, _check_reserved_namespace)
"""Rules that are checked first: if one is violated, the other rules' results are meaningless."""
_RULES: Final[tuple[Rule, ...]] = (
    _check_names,
    _check_derived_names,
    _check_kernel_namespaces,
    _check_kernels,
    _check_kernel_classes,
    _check_batch_rules,
    _check_overloads,
)
