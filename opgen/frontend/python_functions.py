"""Operators → their Python functions and methods, or the reasons why they can't have them.

An operator needs types that Python can give, tensor options if and only if it makes a tensor, and a
signature that no other one of its name has.

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
    """Return the operators as Python sees them; None, with errors logged, if any can't be bound.

    Without `symint`, Python gives plain integers only.
    """
    before = log.error_count
    bound = check_bindings(program, log)
    if log.error_count > before:
        return None
    old = [form for form in forms if should_generate_py_binding(form.function)]
    faces = _FunctionBuilder(log, PythonSignatures(symint))
    functions = faces.derive(
        filter(_is_function, bound),
        (form for form in old if _is_function(form.function)),
        method=False,
    )
    methods = faces.derive(
        filter(is_py_variable_method, bound),
        (form for form in old if is_py_variable_method(form.function)),
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
    """Return the functions of these overloads, by module and name; log overloads that Python can't tell apart."""
    for (module, name), pairs in groups.items():
        try:
            yield PythonFunction(name, module, tuple(pairs), group_overloads(pairs))
        except OverloadError as problem:
            notes = [Note(f"beside '{other.func.name}'", other.loc) for other in problem.others]
            log.error("python-overloads", str(problem), problem.function.loc, notes=notes)


def derive_package(program: Program, log: Diagnostics) -> PythonProgram | None:
    """Return the functions of an extension's Python package; None if it can't have a package.

    All operators are functions of the package.  The schema decides whether a function takes tensor options, not
    the operator's name.  An operator that Python's argument parser can't handle is left to
    `torch.ops`, and a warning says so.
    """
    before, legal = log.error_count, set[Type]()
    _check_package_name(program, log)
    if log.error_count > before:
        return None
    problems = {function.func.name: _binding_problems(function, legal) for function in program.functions}
    bound = [function for function in program.functions if not problems[function.func.name]]
    log.extend(_joined([problem for found in problems.values() for problem in found]))
    names = {function.func.name for function in bound}
    groups: dict[tuple[str | None, str], list[Pair]] = {}
    for item in program.grouped:
        forms = tuple(item.functions()) if isinstance(item, NativeFunctionsGroup) else (item,)
        category = WITH_OPTIONS if any(map(has_tensor_options, forms)) else WITHOUT_OPTIONS
        for form in forms:
            if form.func.name in names:
                signature = signature_from_schema(form.func, category_override=category)
                pair = Pair(_with_own_self(_with_means(signature)), form)
                groups.setdefault((None, str(form.func.name.name)), []).append(pair)
    derived = (_package_function(name, pairs, log) for (_, name), pairs in groups.items())
    found = [function for function in derived if function.pairs]
    shown = {pair.function.func.name for function in found for pair in function.pairs}
    return PythonProgram(program, tuple(f for f in bound if f.func.name in shown), tuple(found), ())


def _package_function(name: str, pairs: Sequence[Pair], log: Diagnostics) -> PythonFunction:
    """Return the function of these overloads, without those that Python can't tell from the others."""
    while True:
        try:
            function = PythonFunction(name, None, tuple(pairs), group_overloads(pairs))
            return replace(function, overloads=with_numbers(function.overloads))
        except OverloadError as problem:
            notes = [Note(f"beside '{other.func.name}'", other.loc) for other in problem.others]
            log.warning("python-overloads", str(problem), problem.function.loc, _LEFT_TO_TORCH, notes)
            pairs = [pair for pair in pairs if pair.function is not problem.function]


def _binding_problems(function: NativeFunction, legal: set[Type]) -> tuple[Diagnostic, ...]:
    """Return why Python's argument parser doesn't support the operator."""
    problems = Diagnostics()
    _check_name(function, problems)
    _check_types(function, legal, problems, _LEFT_TO_TORCH)
    _check_python_defaults(function, problems)
    _check_returns(function, problems)
    return tuple(problems.all)


_UNBOUND: Final = " can't be bound to Python: "
"""What stands between the operator and the reason in what is reported of a binding."""


def _joined(problems: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield a warning for each reason, at the first operator that has it, which names all of them."""
    named: dict[str, list[str]] = {}
    for problem in problems:
        name, _, reason = problem.message.partition(_UNBOUND)
        named.setdefault(reason or problem.message, []).append(name)
    for problem in problems:
        name, _, reason = problem.message.partition(_UNBOUND)
        names = dict.fromkeys(named.pop(reason or problem.message, ()))
        if names:
            label = problem.label if len(names) == 1 else _LEFT_TO_TORCH.replace("operator is", "operators are")
            message = f"{', '.join(names)}{_UNBOUND}{reason}" if reason else name
            yield replace(problem, message=message, label=label, severity="warning")


def _with_own_self(signature: PythonSignature) -> PythonSignature:
    """The signature with `self` under its own name, if another argument has the name that Python gives it, `input`."""
    if all(argument.name != "input" for argument in signature.arguments()):
        return signature
    args, kwargs = (
        tuple([PythonSelf(a.name, a.type, a.default) if a.name == "self" else a for a in arguments])
        for arguments in (signature.input_args, signature.input_kwargs)
    )
    return replace(signature, input_args=args, input_kwargs=kwargs)


def _with_means(signature: PythonSignature) -> PythonSignature:
    """Return the signature with 1 for `Mean`: torch's parser reads `at::Reduction::Mean` as 0, no reduction."""
    if all(argument.default != "Mean" for argument in signature.arguments()):
        return signature
    args, kwargs = (
        tuple([PythonArgument(a.name, a.type, "1") if a.default == "Mean" else a for a in arguments])
        for arguments in (signature.input_args, signature.input_kwargs)
    )
    return replace(signature, input_args=args, input_kwargs=kwargs)


def check_bindings(program: Program, log: Diagnostics) -> tuple[NativeFunction, ...]:
    """Return the operators that get bindings; the reason is logged for each that can't have one."""
    legal: set[Type] = set()
    bound = tuple(filter(should_generate_py_binding, program.functions))
    for function in bound:
        _check_types(function, legal, log, "use another type")
        if not function.func.is_out_fn():
            _check_options(function, log)
    return bound


def _check_types(function: NativeFunction, legal: set[Type], log: Diagnostics, fix: str) -> bool:
    """Return whether Python can pass all types; log those that it can't, add the others to the legal ones."""
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


_LEFT_TO_TORCH: Final = "the operator is left to 'torch.ops'"
"""What becomes of an operator that can't be a function of a package."""
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
        log.error("python-name", message, function.loc, _LEFT_TO_TORCH)


_PARSED_DEFAULTS: Final[Mapping[BaseTy, frozenset[str]]] = MappingProxyType(
    {BaseTy.MemoryFormat: frozenset({"None", "contiguous_format"})}
)
"""The defaults of these types that torch's parser of Python's arguments can have."""


def _check_python_defaults(function: NativeFunction, log: Diagnostics) -> None:
    for argument in function.func.arguments.flat_all:
        type = argument.type.elem if isinstance(argument.type, OptionalType) else argument.type
        if argument.default is None or not isinstance(type, BaseType):
            continue
        known = _PARSED_DEFAULTS.get(type.name)
        if known is not None and argument.default not in known:
            message = f"'{function.func.name}' can't be bound to Python: torch's parser has no default '{argument}'"
            log.error("python-default", message, function.loc, _LEFT_TO_TORCH)


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
            message = f"'{function.func.name}' can't be bound to Python: a '{returned.type}' can't be returned"
            log.error("python-type", message, function.loc, _LEFT_TO_TORCH)


def type_span(function: NativeFunction, type: Type, name: str) -> Span:
    """Return the place of the type of the argument `name`; of the operator's name if it is not found."""
    loc = function.loc
    end = loc.source.text.find("\n", loc.end)
    pattern = re.compile(rf"({re.escape(str(type))})\s+{re.escape(name)}\b")
    found = pattern.search(loc.source.text, loc.end, end if end >= 0 else len(loc.source.text))
    return Span(loc.source, *found.span(1)) if found else loc


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
