"""Entries with `autogen` → the out variants and functional forms that they request.

The generated kernels of derived operators call the form that the author defined, so all of them are
registered under CompositeExplicitAutograd.

    - func: zero_(Tensor(a!) self) -> Tensor(a!)       zero.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
      autogen: zero.out, zero                     ->   zero(Tensor self) -> Tensor
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from typing import Final

from opgen.api.boxing import is_boxed
from opgen.api.cpp import name as cpp_name
from opgen.diagnostics import Diagnostics, Note, did_you_mean
from opgen.frontend.entries import Entry, implied_tags
from opgen.frontend.entry_fields import AUTOGEN
from opgen.frontend.groups import Forms
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    DEFAULT_KERNEL_NAMESPACE,
    Annotation,
    Argument,
    Arguments,
    BackendMetadata,
    BaseOperatorName,
    BaseTy,
    BaseType,
    DeviceCheckType,
    FunctionSchema,
    ListType,
    NativeFunction,
    OperatorName,
    Return,
    SchemaKind,
    SelfArgument,
    Variant,
)
from opgen.releases.release import Release

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_INHERITED_TAGS: Final = frozenset({"nondeterministic_seeded", "view_copy", "pt2_compliant_tag"})
"""Tags that derived forms inherit."""
_FUNCTION_ALONE: Final = frozenset({Variant.function})
_TENSOR: Final = BaseType(BaseTy.Tensor)


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived function and its one kernel."""

    function: NativeFunction
    kernel: BackendMetadata
    base: NativeFunction
    """The form it was derived from."""


def derive_forms(
    groups: Iterable[Forms], entries: Mapping[str, Entry], release: Release, log: Diagnostics
) -> list[Derived]:
    """Return all derived functions, group by group; log requests that can't be derived."""
    derived: list[Derived] = []
    for forms in groups:
        new_forms = derive_group(forms, release)
        requesters = [function for function in forms.values() if function.autogen]
        if requesters:
            _check_requests(requesters, new_forms, entries, log)
        derived += new_forms
    return derived


def derive_group(forms: Forms, release: Release) -> list[Derived]:
    """Return the missing forms of a group that can be derived."""
    has_out = SchemaKind.out in forms
    if has_out and SchemaKind.functional in forms:
        return []
    base = _base_form(forms)
    if base is None or not (has_out or _requests_out(base)) or _skips_autogen(forms):
        return []
    derived: list[Derived] = []
    if not has_out and _can_have_out(base):
        derived.append(_derive(base, out_schema(base.func), release))
        has_out = True
    if has_out and SchemaKind.functional not in forms and base.func.kind() is not SchemaKind.out:
        derived.append(_derive(base, _functional_schema(base.func), release))
    return derived


def _base_form(forms: Forms) -> NativeFunction | None:
    """Return the form that others are derived from."""
    for kind in (SchemaKind.mutable, SchemaKind.inplace, SchemaKind.out, SchemaKind.functional):
        if kind in forms:
            return forms[kind]
    return None


def _requests_out(base: NativeFunction) -> bool:
    return any("out" in name.overload_name for name in base.autogen)


def _skips_autogen(forms: Forms) -> bool:
    """Return whether no forms are derived for the group, even if forms are missing."""
    functions = forms.values()
    return (
        all(f.manual_cpp_binding for f in functions)
        or all(_is_decomposed(f) for f in functions)
        or any(f.is_view_op and f.root_name != "set" for f in functions)
    )


def _is_decomposed(function: NativeFunction) -> bool:
    """Return whether the operator is decomposed for transforms; operators tagged `core` are not."""
    return function.has_composite_implicit_autograd_kernel and "core" not in function.tags


def _can_have_out(base: NativeFunction) -> bool:
    """Return whether an out form would have results to write."""
    if base.func.kind() is SchemaKind.inplace:
        return True
    types = [returned.type for returned in base.func.returns]
    if not base.func.is_lenient:
        return any(type.is_tensor_like() for type in types)
    # torch's generator also derives out arguments of type int or float.  In an extension, neither these nor optional
    # results can be written to.
    return bool(types) and all((type.elem if isinstance(type, ListType) else type) == _TENSOR for type in types)


# --------------------------------------------------------------------------- schemas


def out_overload_name(overload: str) -> str:
    """Return the overload name of an out form: `out`, or `Tensor_out`."""
    return f"{overload}_out" if overload else "out"


def out_schema(func: FunctionSchema) -> FunctionSchema:
    """Return the schema of the out form that is derived from another form."""
    base = func.name.name
    name = OperatorName(
        BaseOperatorName(base.base, False, base.dunder_method), out_overload_name(func.name.overload_name)
    )
    arguments = func.arguments
    self_argument, options = arguments.self_arg, None
    if func.kind() is SchemaKind.inplace and self_argument is not None:
        mutated, options = self_argument.argument, arguments.tensor_options
        out = _free_name("out", {argument.name for argument in arguments.flat_all})
        out_arguments: tuple[Argument, ...] = (Argument(out, mutated.type, None, mutated.annotation),)
        self_argument = SelfArgument(Argument(mutated.name, mutated.type, mutated.default, None))
    else:
        out_arguments = tuple(_out_arguments(func))
    before, after = arguments.pre_tensor_options_kwarg_only, arguments.post_tensor_options_kwarg_only
    if options is None:
        before, after = before + after, ()  # as in a parsed schema
    arguments = Arguments(
        arguments.pre_self_positional,
        self_argument,
        arguments.post_self_positional,
        before,
        options,
        after,
        out_arguments + arguments.out,
        arguments.is_vararg,
    )
    return FunctionSchema(name, arguments, _out_returns(out_arguments), is_lenient=func.is_lenient)


def _out_arguments(func: FunctionSchema) -> Iterator[Argument]:
    """Yield an out argument for each return that isn't an argument already, under an unused alias name."""
    taken = {name for annotation in func.arguments.annotations for name in annotation.alias_set}
    letters = chain(_LETTERS, (f"a{number}" for number in count()))
    free = (letter for letter in letters if letter not in taken)
    names = {argument.name for argument in func.arguments.flat_all}
    for index, returned in enumerate(func.returns):
        name = _free_name("out" if len(func.returns) == 1 else f"out{index}", names)
        yield Argument(name, returned.type, None, Annotation((next(free),), True, ()))


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return the name of an out argument, with underscores after it while another argument is called so."""
    return _free_name(f"{name}_", taken) if name in taken else name


def _out_returns(out_arguments: tuple[Argument, ...]) -> tuple[Return, ...]:
    """Return the out arguments as returns; empty unless all of them are plain tensors."""
    if any(a.type != _TENSOR for a in out_arguments):
        return ()
    return tuple([Return(None, a.type, a.annotation) for a in out_arguments])


def _functional_schema(func: FunctionSchema) -> FunctionSchema:
    base = func.name.name
    is_mutable = func.kind() is SchemaKind.mutable
    name = OperatorName(BaseOperatorName(base.base, False, base.dunder_method, is_mutable), func.name.overload_name)
    return func.signature(keep_return_names=True).with_name(name)


def _derive(base: NativeFunction, func: FunctionSchema, release: Release) -> Derived:
    func = replace(func, is_lenient=base.func.is_lenient)
    stem = func.name.unambiguous_name() if func.is_out_fn() else cpp_name(func)
    kernel = stem + ("_symint" if func.has_symint() else "")
    function = NativeFunction(
        namespace=base.namespace,
        func=func,
        use_const_ref_for_mutable_tensors=base.use_const_ref_for_mutable_tensors,
        variants=_FUNCTION_ALONE,
        device_guard=False,
        device_check=DeviceCheckType.NoCheck,
        manual_kernel_registration=False,
        manual_cpp_binding=False,
        python_module=None,
        category_override=None,
        loc=base.loc,
        autogen=(),
        ufunc_inner_loop=base.ufunc_inner_loop,
        structured=False,
        structured_delegate=None,
        structured_inherits=None,
        precomputed=None,
        cpp_no_default_args=frozenset(),
        is_abstract=base.is_abstract,
        has_composite_implicit_autograd_kernel=False,
        has_composite_implicit_autograd_nested_tensor_kernel=False,
        has_composite_explicit_autograd_kernel=True,
        has_composite_explicit_autograd_non_functional_kernel=False,
        tags=(base.tags & _INHERITED_TAGS) | implied_tags(base.namespace, func, release.form_tags) | {"generated"},
        is_boxed=func.is_lenient and is_boxed(func),
    )
    return Derived(function, BackendMetadata(kernel, False, DEFAULT_KERNEL_NAMESPACE), base)


# --------------------------------------------------------------------------- requests


def _check_requests(
    requesters: Iterable[NativeFunction], derived_forms: list[Derived], entries: Mapping[str, Entry], log: Diagnostics
) -> None:
    """Report requests in `autogen` that no derived form satisfies."""
    names = {form.function.func.name.text for form in derived_forms}
    for function in requesters:
        for name, word in entries[function.func.name.text].values[AUTOGEN]:
            if name.text in names:
                continue
            if name.text in entries:
                first = Note("its entry is here", entries[name.text].name_span)
                log.error(
                    "autogen-exists", f"'{name}' already has an entry", word.span, "remove it from 'autogen'", [first]
                )
            elif _is_decomposed(function):
                message = f"'{name}' is not derived: '{function.func.name}' is composite, so its forms are never needed"
                log.remark("autogen-composite", message, word.span, "remove this, or give 'dispatch' another key")
            else:
                message = f"'{name}' can't be derived from '{function.func.name}'"
                log.error("autogen-impossible", message, word.span, _derivable(word.text, names, function))


def _derivable(word: str, names: set[str], function: NativeFunction) -> str:
    """Return a label that lists the forms that can be derived."""
    if names:
        return did_you_mean(word, names) or f"these can be derived: {', '.join(sorted(names))}"
    if not _can_have_out(function):
        return "no form can be derived: it returns no tensor, or not only tensors and lists of them, and isn't in-place"
    return f"this can be derived: {function.func.name.name}.{out_overload_name(function.func.name.overload_name)}"
