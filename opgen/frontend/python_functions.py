"""Operators → their Python functions and methods, or the reasons why they can't be bound.

An operator needs types that Python can pass, tensor options if and only if it creates a tensor, and a
signature that differs from those of its overloads.

    max, max.other, max.dim, …, max.out      →      PythonFunction("max", …) with its three overloads
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from opgen.api.python import (
    WITH_OPTIONS,
    WITHOUT_OPTIONS,
    PythonArgument,
    PythonSelf,
    PythonSignature,
    PythonSignatures,
    has_tensor_options,
    makes_tensor,
    signature,
    signature_from_schema,
    structseq_fieldnames,
)
from opgen.api.python_overloads import (
    DeprecatedForm,
    OverloadError,
    Pair,
    group_overloads,
    is_py_variable_method,
    load_signatures,
    should_generate_py_binding,
    with_numbers,
)
from opgen.api.types import UnsupportedTypeError
from opgen.diagnostics import Diagnostic, Diagnostics, Note, Span
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    BaseTy,
    BaseType,
    ListType,
    NativeFunction,
    NativeFunctionsGroup,
    OptionalType,
    Type,
    Variant,
)
from opgen.program.program import Program
from opgen.program.python import PythonFunction, PythonProgram


def derive_python(
    program: Program, forms: Iterable[DeprecatedForm], log: Diagnostics, *, symint: bool = True
) -> PythonProgram | None:
    """Return the Python bindings of the operators; None, with errors logged, if any can't be bound.

    Without `symint`, Python can pass plain integers only.
    """
    before = log.error_count
    bound = check_bindings(program, log)
    if log.error_count > before:
        return None
    bound_forms = [form for form in forms if should_generate_py_binding(form.function)]
    builder = _FunctionBuilder(log, PythonSignatures(symint))
    functions = builder.derive(
        filter(_is_function, bound),
        (form for form in bound_forms if _is_function(form.function)),
        method=False,
    )
    methods = builder.derive(
        filter(is_py_variable_method, bound),
        (form for form in bound_forms if is_py_variable_method(form.function)),
        method=True,
    )
    return PythonProgram(program, bound, functions, methods) if log.error_count == before else None


def _is_function(function: NativeFunction) -> bool:
    """Return whether it is a function of torch or of a module below it."""
    return function.python_module is not None or Variant.function in function.variants


@dataclass(frozen=True, slots=True)
class _FunctionBuilder:
    """Builds functions and methods from operators."""

    log: Diagnostics
    signatures: PythonSignatures

    def derive(
        self, functions: Iterable[NativeFunction], forms: Iterable[DeprecatedForm], *, method: bool
    ) -> tuple[PythonFunction, ...]:
        """Return the Python functions or methods of the operators."""
        groups: dict[tuple[str | None, str], list[Pair]] = {}
        for pair in load_signatures(functions, forms, method=method, signatures=self.signatures):
            function = pair.function
            groups.setdefault((function.python_module, function.func.name.name.text), []).append(pair)
        return tuple(_functions(groups, self.log))


def _functions(groups: Mapping[tuple[str | None, str], Sequence[Pair]], log: Diagnostics) -> Iterator[PythonFunction]:
    """Yield the functions of these overloads, by module and name; log ambiguous overloads."""
    for (module, name), pairs in groups.items():
        try:
            yield PythonFunction(name, module, tuple(pairs), group_overloads(pairs))
        except OverloadError as problem:
            notes = [Note(f"beside '{other.func.name}'", other.loc) for other in problem.others]
            log.error("python-overloads", str(problem), problem.function.loc, notes=notes)


def derive_package(program: Program, log: Diagnostics) -> PythonProgram | None:
    """Return the functions of an extension's Python package; None if it can't have a package.

    All operators are functions of the package.  The schema decides whether a function takes tensor options, not
    the operator's name.  An operator that Python's argument parser doesn't support is
    only available as `torch.ops`, with a warning.
    """
    before, legal = log.error_count, set[Type]()
    _check_package_name(program, log)
    if log.error_count > before:
        return None
    problems = {function.func.name: _binding_problems(function, legal) for function in program.functions}
    bound = [function for function in program.functions if not problems[function.func.name]]
    log.extend(_merge_by_reason([problem for reasons in problems.values() for problem in reasons]))
    names = {function.func.name for function in bound}
    groups: dict[tuple[str | None, str], list[Pair]] = {}
    for item in program.grouped:
        forms = tuple(item.functions()) if isinstance(item, NativeFunctionsGroup) else (item,)
        category = WITH_OPTIONS if any(map(has_tensor_options, forms)) else WITHOUT_OPTIONS
        for form in forms:
            if form.func.name in names:
                signature = signature_from_schema(form.func, category_override=category)
                pair = Pair(_keep_self_name(_replace_mean(signature)), form)
                groups.setdefault((None, str(form.func.name.name)), []).append(pair)
    derived = (_package_function(name, pairs, log) for (_, name), pairs in groups.items())
    functions = tuple(function for function in derived if function.pairs)
    included = {pair.function.func.name for function in functions for pair in function.pairs}
    return PythonProgram(program, tuple(f for f in bound if f.func.name in included), functions, ())


def _package_function(name: str, pairs: Sequence[Pair], log: Diagnostics) -> PythonFunction:
    """Return the function of these overloads, without those that it can't have, which are logged."""
    pairs = _with_one_tuple(pairs, log)
    while True:
        try:
            function = PythonFunction(name, None, tuple(pairs), group_overloads(pairs))
            return replace(function, overloads=with_numbers(function.overloads))
        except OverloadError as problem:
            notes = [Note(f"beside '{other.func.name}'", other.loc) for other in problem.others]
            log.warning("python-overloads", str(problem), problem.function.loc, _TORCH_OPS_ONLY, notes)
            pairs = [pair for pair in pairs if pair.function is not problem.function]


def _with_one_tuple(pairs: Sequence[Pair], log: Diagnostics) -> Sequence[Pair]:
    """Return the overloads whose results are named as those of the first one; log the others.

    The results of a function are one class of `return_types`.
    """
    named = [(pair, structseq_fieldnames(pair.function.func.returns)) for pair in pairs]
    first = next(((pair.function, names) for pair, names in named if names), None)
    if first is None:
        return pairs
    function, fields = first
    for pair, names in named:
        if names and names != fields:
            message = f"the results of '{pair.function.func.name}' are named '{', '.join(names)}'"
            notes = [Note(f"those of '{function.func.name}' are named '{', '.join(fields)}'", function.loc)]
            log.warning("python-overloads", message, pair.function.loc, _TORCH_OPS_ONLY, notes)
    return [pair for pair, names in named if not names or names == fields]


def _binding_problems(function: NativeFunction, legal: set[Type]) -> tuple[Diagnostic, ...]:
    """Return why Python's argument parser doesn't support the operator."""
    problems = Diagnostics()
    _check_name(function, problems)
    _check_types(function, legal, problems, _TORCH_OPS_ONLY)
    _check_python_defaults(function, problems)
    _check_returns(function, problems)
    return tuple(problems.all)


_REASON_SEPARATOR: Final = " can't be bound to Python: "
"""The text between the operator and the reason in messages about bindings."""


def _merge_by_reason(problems: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield one warning per reason, at the first operator with it, that names all its operators."""
    named: dict[str, list[str]] = {}
    for problem in problems:
        name, _, reason = problem.message.partition(_REASON_SEPARATOR)
        named.setdefault(reason or problem.message, []).append(name)
    for problem in problems:
        name, _, reason = problem.message.partition(_REASON_SEPARATOR)
        names = dict.fromkeys(named.pop(reason or problem.message, ()))
        if names:
            label = problem.label if len(names) == 1 else _TORCH_OPS_ONLY.replace("operator is", "operators are")
            message = f"{', '.join(names)}{_REASON_SEPARATOR}{reason}" if reason else name
            yield replace(problem, message=message, label=label, severity="warning")


def _keep_self_name(signature: PythonSignature) -> PythonSignature:
    """Return the signature with `self` not renamed to `input`, if another argument is called `input`."""
    if all(argument.name != "input" for argument in signature.arguments()):
        return signature
    args, kwargs = (
        tuple([PythonSelf(a.name, a.type, a.default) if a.name == "self" else a for a in arguments])
        for arguments in (signature.input_args, signature.input_kwargs)
    )
    return replace(signature, input_args=args, input_kwargs=kwargs)


def _replace_mean(signature: PythonSignature) -> PythonSignature:
    """Return the signature with `Mean` replaced by 1, since torch's parser reads `at::Reduction::Mean` as 0."""
    if all(argument.default != "Mean" for argument in signature.arguments()):
        return signature
    args, kwargs = (
        tuple([PythonArgument(a.name, a.type, "1") if a.default == "Mean" else a for a in arguments])
        for arguments in (signature.input_args, signature.input_kwargs)
    )
    return replace(signature, input_args=args, input_kwargs=kwargs)


def check_bindings(program: Program, log: Diagnostics) -> tuple[NativeFunction, ...]:
    """Return the operators that get bindings; log why others can't have one."""
    legal: set[Type] = set()
    bound = tuple(filter(should_generate_py_binding, program.functions))
    for function in bound:
        _check_types(function, legal, log, "use another type")
        if not function.func.is_out_fn():
            _check_options(function, log)
    return bound


def _check_types(function: NativeFunction, legal: set[Type], log: Diagnostics, fix: str) -> bool:
    """Return whether Python can pass all types; log those that it can't, and add the others to `legal`."""
    if legal.issuperset([argument.type for argument in function.func.arguments.flat_all]):
        return True
    before = log.error_count
    for index, argument in enumerate(signature(function).arguments()):
        try:
            argument.argument_str()
            argument.parsed_value(index)
            legal.add(argument.type)
        except UnsupportedTypeError as problem:
            message = f"'{function.func.name}' can't be bound to Python: {problem}"
            log.error("python-type", message, type_span(function, argument.type, argument.name), fix)
    return log.error_count == before


_TORCH_OPS_ONLY: Final = "the operator is left to 'torch.ops'"
"""The consequence for an operator that can't be a function of the package."""
_RESERVED_NAMES: Final = frozenset({"return_types"})
"""Names that a package uses for its modules."""


def _check_package_name(program: Program, log: Diagnostics) -> None:
    function = next(iter(program.functions), None)
    if function is not None and keyword.iskeyword(function.namespace):
        message = f"a Python package can't be named '{function.namespace}': that is a keyword of Python"
        log.error("python-name", message, function.loc, "choose another namespace, or write --no-python")


def _check_name(function: NativeFunction, log: Diagnostics) -> None:
    name = function.func.name.name.text
    if name in _RESERVED_NAMES or keyword.iskeyword(name):
        what = "a keyword of Python" if keyword.iskeyword(name) else "a module of the Python package"
        message = f"a function of the Python package can't be called '{name}': it is {what}"
        log.error("python-name", message, function.loc, _TORCH_OPS_ONLY)


_PARSED_DEFAULTS: Final[Mapping[BaseTy, frozenset[str]]] = MappingProxyType(
    {BaseTy.MemoryFormat: frozenset({"None", "contiguous_format"})}
)
"""The defaults of these types that torch's Python argument parser supports."""


def _check_python_defaults(function: NativeFunction, log: Diagnostics) -> None:
    for argument in function.func.arguments.flat_all:
        type = argument.type.elem if isinstance(argument.type, OptionalType) else argument.type
        if argument.default is None or not isinstance(type, BaseType):
            continue
        legal = _PARSED_DEFAULTS.get(type.name)
        if legal is not None and argument.default not in legal:
            message = f"'{function.func.name}' can't be bound to Python: torch's parser has no default '{argument}'"
            log.error("python-default", message, function.loc, _TORCH_OPS_ONLY)


_RETURNED: Final = frozenset(
    {
        *(BaseTy.Tensor, BaseTy.Scalar, BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.bool, BaseTy.str),
        *(BaseTy.ScalarType, BaseTy.Layout),
    }
)
"""The types that functions of a package can return, also in lists and optionals."""


def _check_returns(function: NativeFunction, log: Diagnostics) -> None:
    for returned in function.func.returns:
        type = returned.type
        while isinstance(type, (ListType, OptionalType)):
            type = type.elem
        if not isinstance(type, BaseType) or type.name not in _RETURNED:
            message = f"'{function.func.name}' can't be bound to Python: the type '{returned.type}' can't be returned"
            log.error("python-type", message, function.loc, _TORCH_OPS_ONLY)


def type_span(function: NativeFunction, type: Type, name: str) -> Span:
    """Return the span of the type of the argument `name`; of the operator's name if it isn't found."""
    loc = function.loc
    end = loc.source.text.find("\n", loc.end)
    pattern = re.compile(rf"({re.escape(str(type))})\s+{re.escape(name)}\b")
    match = pattern.search(loc.source.text, loc.end, end if end >= 0 else len(loc.source.text))
    return Span(loc.source, *match.span(1)) if match else loc


def _check_options(function: NativeFunction, log: Diagnostics) -> None:
    """Check that an operator has tensor options exactly if it creates a tensor."""
    makes = makes_tensor(function.func, function.category_override)
    if makes and not has_tensor_options(function):
        message = f"'{function.func.name}' creates a tensor, but its schema has no tensor options"
        label = "add dtype, layout, device and pin_memory, or write 'category_override: dummy'"
        log.error("python-options", message, function.loc, label)
    elif has_tensor_options(function) and not makes:
        message = f"'{function.func.name}' has tensor options, but creates its result from tensors"
        log.error("python-options", message, function.loc, "write 'category_override: factory'")
