"""Entries → a diagnostic for each violation of a rule.

`ENTRY_RULES` has the rules for single entries; the other checks compare entries.  Rules have no side effects: they take
entries and yield diagnostics.

    ops.yaml:7:3: error: an out form can't be a method [out-method]
        7 |   variants: function, method
          |   ^^^^^^^^ write 'variants: function'
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from opgen.api import cpp, dispatcher
from opgen.api.types import UnsupportedTypeError
from opgen.diagnostics import Diagnostic, Diagnostics, Note, Span, closest
from opgen.frontend.cpp_names import KEYWORDS
from opgen.frontend.default_rules import expected_default
from opgen.frontend.derive import Derived
from opgen.frontend.entries import Entry
from opgen.frontend.entry_fields import (
    AUTOGEN,
    DEVICE_CHECK,
    DISPATCH,
    DOC,
    PRECOMPUTED,
    STRUCTURED,
    STRUCTURED_DELEGATE,
    STRUCTURED_INHERITS,
    TAGS,
    UFUNC_INNER_LOOP,
    VARIANTS,
)
from opgen.frontend.fields import Field
from opgen.frontend.groups import Forms
from opgen.frontend.registered_rules import check_registered_types, expected_registered_default
from opgen.frontend.release_rules import check_keys, check_seeded, check_types
from opgen.frontend.ufunc_rules import check_ufunc, check_ufunc_names
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    DeviceCheckType,
    DispatchKey,
    NativeFunction,
    OptionalType,
    Return,
    SchemaKind,
    Variant,
    is_structured_dispatch_key,
)
from opgen.releases.release import Release

T = TypeVar("T")
Rule = Callable[[Entry], Iterator[Diagnostic]]

_EXCLUSIVE_COMPOSITE_KEYS: Final = (
    DispatchKey.CompositeImplicitAutograd,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)


def check_each(entries: Collection[Entry], release: Release, log: Diagnostics) -> None:
    """Log every violation of the rules for single entries."""
    log.extend(_violations(entries))
    log.extend(check_keys(entries, release))
    foreign = [entry for entry in entries if entry.function.func.is_lenient]
    own = [entry for entry in entries if not entry.function.func.is_lenient]
    log.extend(check_types(own, release))
    log.extend(check_seeded(entries if not foreign else (), release))
    log.extend(replace(untagged, severity="warning") for untagged in check_seeded(foreign, release))
    log.extend(_check_return_aliases(entries))
    log.extend(_check_keywords(entries))
    log.extend(_check_types(own))
    log.extend(check_registered_types(entries))
    log.extend(_check_defaults(entries))


def _violations(entries: Iterable[Entry]) -> Iterator[Diagnostic]:
    for entry in entries:
        for rule in ENTRY_RULES:
            if not (entry.function.func.is_lenient and rule in _TORCH_ONLY_RULES):
                yield from rule(entry)


def check_between(
    entries: Collection[Entry],
    by_name: Mapping[str, Entry],
    groups: Mapping[Hashable, Forms],
    derived: Collection[Derived],
    unread: Collection[str],
    log: Diagnostics,
) -> None:
    """Log every violation of the rules between entries; operators in `unread` are skipped."""
    for entry in entries:
        if entry.function.structured_delegate is not None:
            log.extend(_check_delegate(entry, by_name, unread))
    log.extend(_check_identifiers(entries, derived, by_name))
    log.extend(check_ufunc_names(entries))
    log.extend(_check_signatures(entries, groups, by_name))
    for forms in groups.values():
        out = forms.get(SchemaKind.out)
        if out is not None and out.structured:
            log.extend(_check_structured_group(out, forms, by_name))
    log.extend(_check_undeclared(derived, by_name))


# --------------------------------------------------------------------------- one entry


def _key_span(entry: Entry, field: Field[Any]) -> Span:
    """Return the span of a field's key; of the operator's name if the key is absent."""
    key = entry.values.node.key(field.name)
    return key.span if key is not None else entry.name_span


def _check_method(entry: Entry) -> Iterator[Diagnostic]:
    function = entry.function
    if Variant.method not in function.variants:
        return
    if function.func.is_out_fn():
        label = "write 'variants: function'"
        yield Diagnostic("out-method", "an out form can't be a method", _key_span(entry, VARIANTS), label)
    elif function.func.arguments.self_arg is None:
        message = f"'{function.func.name}' can't be a method: it has no argument 'self'"
        label = "name its tensor 'self', or write 'variants: function'"
        yield Diagnostic("method-without-self", message, _key_span(entry, VARIANTS), label)
    elif function.func.arguments.self_arg.argument.type != BaseType(BaseTy.Tensor):
        message = f"'{function.func.name}' can't be a method of Tensor: its argument 'self' is not a Tensor"
        yield Diagnostic("method-without-self", message, entry.argument_span("self"), "write 'variants: function'")


def _check_structured(entry: Entry) -> Iterator[Diagnostic]:
    function = entry.function
    if function.structured and function.func.kind() is not SchemaKind.out:
        label = "mark the out form, and write 'structured_delegate: <its name>' here"
        message = f"'structured' belongs to the out form, but '{function.func.name}' is the {_kind(function)} form"
        yield Diagnostic("structured-form", message, _key_span(entry, STRUCTURED), label)
    if function.structured and function.structured_delegate is not None:
        message = "a form is either structured or delegates to one that is"
        yield Diagnostic("structured-form", message, _key_span(entry, STRUCTURED_DELEGATE))
    for field in (STRUCTURED_INHERITS, PRECOMPUTED, UFUNC_INNER_LOOP):
        if field in entry.values and not function.structured:
            message = f"'{field.name}' has no meaning without 'structured: True'"
            yield Diagnostic("needs-structured", message, _key_span(entry, field))


def _kind(function: NativeFunction) -> str:
    return {SchemaKind.inplace: "in-place"}.get(function.func.kind(), function.func.kind().name)


def _check_manual_registration(entry: Entry) -> Iterator[Diagnostic]:
    if entry.function.manual_kernel_registration and DISPATCH in entry.values:
        message = "with 'manual_kernel_registration' a dispatch table has no effect"
        yield Diagnostic("manual-with-dispatch", message, _key_span(entry, DISPATCH), "remove one of the two")


def _check_foreach(entry: Entry) -> Iterator[Diagnostic]:
    function = entry.function
    if function.root_name.startswith("_foreach_") and function.device_check is not DeviceCheckType.NoCheck:
        message = f"'{function.func.name}' takes lists whose tensors may be on several devices"
        yield Diagnostic(
            "foreach-device-check", message, _key_span(entry, DEVICE_CHECK), "write 'device_check: NoCheck'"
        )


def _check_factory(entry: Entry) -> Iterator[Diagnostic]:
    name = entry.function.root_name
    if name.startswith("new_") or name.endswith("_like"):
        if DISPATCH in entry.values or entry.function.structured_delegate is not None:
            return
        message = f"'{name}' creates a tensor, so it needs a dispatch table: transforms must see it as one operator"
        label = f"add 'dispatch: {{CompositeExplicitAutograd: {cpp.name(entry.function.func)}}}'"
        yield Diagnostic("factory-without-dispatch", message, entry.name_span, label)


def _check_composites(entry: Entry) -> Iterator[Diagnostic]:
    keys = [key for key in _EXCLUSIVE_COMPOSITE_KEYS if key in entry.kernels]
    if len(keys) > 1:
        message = f"{' and '.join(map(str, keys))} handle the same calls"
        label = "keep one: CompositeImplicitAutograd where autograd follows from the body, else another"
        note = Note("the other one is here", entry.key_span(keys[0]))
        yield Diagnostic("several-composites", message, entry.key_span(keys[1]), label, (note,))


def _check_inplace_view(entry: Entry) -> Iterator[Diagnostic]:
    function = entry.function
    if "inplace_view" in function.tags and not function.func.name.name.inplace:
        message = f"'{function.func.name}' is tagged 'inplace_view', but it isn't in-place by its name"
        yield Diagnostic("inplace-view-name", message, _key_span(entry, TAGS), "its name must end in '_'")


def _check_tensor_options(entry: Entry) -> Iterator[Diagnostic]:
    """Check that the tensor options are optional, since `TensorOptions` may leave each of them unset."""
    options = entry.function.func.arguments.tensor_options
    for argument in options.all() if options is not None else ():
        if not isinstance(argument.type, OptionalType):
            message = f"the tensor option '{argument.name}' must be optional, as C++ may leave it unset"
            label = f"write '{argument.type}? {argument.name}=None'"
            yield Diagnostic("tensor-options", message, entry.argument_span(argument.name), label)


def _check_python_module(entry: Entry) -> Iterator[Diagnostic]:
    function = entry.function
    if function.python_module is not None and Variant.method in function.variants:
        message = f"'{function.func.name}' is in a Python module, so it can't be a method"
        yield Diagnostic("module-method", message, _key_span(entry, VARIANTS), "write 'variants: function'")


def _check_symint_kernels(entry: Entry) -> Iterator[Diagnostic]:
    """Check that a kernel that takes symbolic sizes has a schema with SymInt."""
    func = entry.function.func
    if func.has_symint():
        return
    for key, kernel in entry.kernels.items():
        if kernel.supports_symint():
            message = f"the kernel '{kernel.kernel}' takes symbolic sizes, but the schema has no SymInt"
            label = f"name it '{kernel.kernel.removesuffix('_symint')}', or write SymInt in place of int in the schema"
            yield Diagnostic("kernel-without-symint", message, entry.key_span(key), label)


def _check_form_tags(entry: Entry) -> Iterator[Diagnostic]:
    func, tags = entry.function.func, entry.function.tags
    if "generated" in tags:
        message = "the tag 'generated' marks forms that are derived, so no entry can have it"
        yield Diagnostic(
            "generated-tag", message, _key_span(entry, TAGS), "remove it; 'autogen' asks for derived forms"
        )
    for kind, form in ((SchemaKind.inplace, "in-place"), (SchemaKind.out, "out")):
        if kind.name in tags and func.kind() is not kind:
            message = f"'{func.name}' is tagged '{kind.name}', but it is no {form} form"
            yield Diagnostic(
                "form-tag", message, _key_span(entry, TAGS), f"remove '{kind.name}'; opgen adds it to {form} forms"
            )


def _check_doc(entry: Entry) -> Iterator[Diagnostic]:
    """Warn about documentation of torch's own operators, which has no effect."""
    if entry.values[DOC] and not entry.function.func.is_lenient:
        message = f"'doc' of '{entry.function.func.name}' has no effect: only extensions have documentation"
        yield Diagnostic("key-without-effect", message, _key_span(entry, DOC), "remove it", severity="warning")


ENTRY_RULES: Final[tuple[Rule, ...]] = (
    _check_method,
    _check_structured,
    _check_manual_registration,
    _check_foreach,
    _check_factory,
    _check_composites,
    _check_inplace_view,
    _check_tensor_options,
    _check_python_module,
    _check_symint_kernels,
    _check_form_tags,
    check_ufunc,
    _check_doc,
)
"""The rules for single entries."""
_TORCH_ONLY_RULES: Final = (_check_foreach, _check_factory, _check_tensor_options)
"""Rules about names and types of torch's own operators."""


# --------------------------------------------------------------------------- all entries at once


def _check_return_aliases(entries: Iterable[Entry]) -> Iterator[Diagnostic]:
    for entry in entries:
        func = entry.function.func
        for returned in func.returns:
            if returned.annotation is None:
                continue
            is_write = returned.annotation.is_write
            annotations = (each for each in func.arguments.annotations if each.is_write or not is_write)
            annotated = {name for annotation in annotations for name in annotation.alias_set}
            for name in returned.annotation.alias_set:
                if name != "*" and name not in annotated:
                    message = f"no argument of '{func.name}' is annotated '{name}', so no return can alias it"
                    label = f"annotate the argument with it, or drop '({name})' here"
                    yield Diagnostic("unknown-alias", message, entry.returns_span, label)


def _check_keywords(entries: Collection[Entry]) -> Iterator[Diagnostic]:
    """Check that names that become C++ names aren't keywords of C++."""
    operators = {entry.function.func.name.name.text for entry in entries}
    arguments = {argument.name for entry in entries for argument in entry.function.func.arguments.flat_all}
    if KEYWORDS.isdisjoint(operators | arguments):
        return
    for entry in entries:
        func = entry.function.func
        # In an extension, such arguments are renamed in C++.
        arguments_of = () if func.is_lenient else func.arguments.flat_all
        for what, name in [("operator", func.name.name.text), *(("argument", a.name) for a in arguments_of)]:
            if name in KEYWORDS:
                span = entry.name_span if what == "operator" else entry.argument_span(name)
                message = f"the {what} '{name}' can't have this name: it is a keyword of C++"
                yield Diagnostic("cpp-keyword", message, span)


def _check_types(entries: Collection[Entry]) -> Iterator[Diagnostic]:
    """Check that each type has a C++ spelling and the dispatcher supports it; each type is checked once."""
    schemas = [entry.function.func for entry in entries]
    arguments = {(a.type.text, a.is_write): a for func in schemas for a in func.arguments.flat_all}
    returns = {(r.type.text, r.is_write): r for func in schemas for r in func.returns}
    argument_problems = {key: _type_problem(_check_argument_type, a) for key, a in arguments.items()}
    return_problems = {key: _type_problem(_check_return_type, r) for key, r in returns.items()}
    if not any(argument_problems.values()) and not any(return_problems.values()):
        return
    for entry in entries:
        for argument in entry.function.func.arguments.flat_all:
            reason = argument_problems[argument.type.text, argument.is_write]
            if reason:
                span = entry.argument_span(argument.name)
                yield Diagnostic("unsupported-type", f"argument '{argument.name}': {reason}", span)
        reasons = [return_problems[returned.type.text, returned.is_write] for returned in entry.function.func.returns]
        reason = next(filter(None, reasons), "")
        if reason:
            yield Diagnostic("unsupported-type", f"the returns: {reason}", entry.returns_span)


def _check_defaults(entries: Collection[Entry]) -> Iterator[Diagnostic]:
    """Check each default against its type; each pair is checked once."""
    arguments = [
        (entry.function.func.is_lenient, a) for entry in entries for a in entry.function.func.arguments.flat_all
    ]
    types = {(is_lenient, a.type.text, a.default): a.type for is_lenient, a in arguments if a.default is not None}
    problems: dict[tuple[bool, str, str | None], str] = {}
    for (is_lenient, text, default), type in types.items():
        expected = expected_registered_default if is_lenient else expected_default
        problems[is_lenient, text, default] = expected(default, type)
    if not any(problems.values()):
        return
    for entry in entries:
        for argument in entry.function.func.arguments.flat_all:
            label = problems.get((entry.function.func.is_lenient, argument.type.text, argument.default))
            if label:
                message = f"argument '{argument.name}' of type '{argument.type}' can't be '{argument.default}'"
                yield Diagnostic("bad-default", message, entry.argument_span(argument.name), label)


def _check_argument_type(argument: Argument) -> None:
    cpp.argument_type(argument, binds=argument.name)
    dispatcher.check_argument_type(argument.type)
    if argument.is_write and argument.type.text not in ("Tensor", "Tensor[]"):
        raise UnsupportedTypeError(argument.type, "can't be written to: only 'Tensor' and 'Tensor[]' can")


def _check_return_type(returned: Return) -> None:
    cpp.return_type(returned)
    dispatcher.check_return_type(returned.type)


def _type_problem(derive: Callable[[T], object], value: T) -> str:
    try:
        derive(value)
    except UnsupportedTypeError as problem:
        return str(problem)
    return ""


# --------------------------------------------------------------------------- several entries


def _check_delegate(entry: Entry, by_name: Mapping[str, Entry], unread: Collection[str]) -> Iterator[Diagnostic]:
    delegate = entry.values[STRUCTURED_DELEGATE]
    if delegate is None:
        return
    name, word = delegate
    target = by_name.get(name.text)
    if target is None and name.name.base in unread:
        return
    if target is None:
        near = closest(name.text, by_name)
        notes = (Note(f"'{near}' is here", by_name[near].name_span),) if near else ()
        label = f"did you mean '{near}'?" if near else "name an out form that is marked 'structured: True'"
        yield Diagnostic("unknown-delegate", f"'{name}' is not defined", word.span, label, notes)
    elif not target.function.structured:
        message = f"'{name}' is not structured, so nothing can be delegated to it"
        yield Diagnostic(
            "delegate-not-structured", message, word.span, "", (Note("mark this 'structured: True'", target.name_span),)
        )
    elif target.function.func.signature() != entry.function.func.signature():
        message = f"'{name}' and '{entry.function.func.name}' take different arguments"
        yield Diagnostic("delegate-mismatch", message, word.span, "", (Note("it is here", target.name_span),))
    for key in entry.kernels if not entry.function.structured else ():
        if is_structured_dispatch_key(key):
            message = f"'{entry.function.func.name}' has a kernel under {key}, but it delegates to '{name}'"
            label = f"move the kernel to '{name}'"
            yield Diagnostic("delegate-with-kernel", message, entry.key_span(key), label)


def _check_identifiers(
    entries: Iterable[Entry], derived: Iterable[Derived], by_name: Mapping[str, Entry]
) -> Iterator[Diagnostic]:
    """Check that no two operators become the same C++ identifier, such as `add.out` and `add_out`."""
    named = [(entry.function, entry, "") for entry in entries]
    derived_forms = [(form.function, by_name[form.base.func.name.text], ", which is derived here,") for form in derived]
    owners: dict[tuple[str, str], tuple[NativeFunction, Entry]] = {}
    for function, entry, origin in (*named, *derived_forms):
        name = function.func.name
        first, owner = owners.setdefault((function.namespace, name.unambiguous_name()), (function, entry))
        if first is not function and first.func.name != name:
            message = f"'{name}'{origin} and '{first.func.name}' are both '{name.unambiguous_name()}' in C++"
            note = Note("the other one is here", owner.name_span)
            yield Diagnostic("name-clash", message, entry.name_span, "rename one of them", (note,))


def _check_signatures(
    entries: Collection[Entry], groups: Mapping[Hashable, Forms], by_name: Mapping[str, Entry]
) -> Iterator[Diagnostic]:
    """Check that no two overloads of the same form share a signature, which would be ambiguous."""
    if sum([len(forms) for forms in groups.values()]) == len(entries):
        return  # all signatures are distinct
    for entry in entries:
        func = entry.function.func
        other = groups[entry.function.namespace, func.signature()][func.kind()]
        if other.func.name == func.name:
            continue
        note = Note(f"'{other.func.name}' is here", by_name[other.func.name.text].name_span)
        message = f"'{func.name}' takes the same arguments as '{other.func.name}'"
        yield Diagnostic("same-signature", message, entry.name_span, "no call can tell them apart", (note,))


def _check_structured_group(out: NativeFunction, forms: Forms, by_name: Mapping[str, Entry]) -> Iterator[Diagnostic]:
    """Check that a structured out form has a functional form, and that all forms of its group delegate to it."""
    if SchemaKind.functional not in forms:
        message = f"'{out.func.name}' is structured, but no functional form delegates to it"
        schema = out.func.signature()
        label = f"add an entry for '{schema.name}' with 'structured_delegate: {out.func.name}'"
        yield Diagnostic("structured-alone", message, by_name[out.func.name.text].name_span, label)
    for function in forms.values():
        if function is not out and function.structured_delegate is None:
            entry = by_name[function.func.name.text]
            message = f"'{function.func.name}' is a form of '{out.func.name}', which is structured"
            label = f"add 'structured_delegate: {out.func.name}'"
            yield Diagnostic("missing-delegate", message, entry.name_span, label)


def _check_undeclared(derived: Iterable[Derived], by_name: Mapping[str, Entry]) -> Iterator[Diagnostic]:
    """Check that each derived form is requested in `autogen`, so that readers find it."""
    names = {form.function.func.name.text for form in derived}
    requested = {name.text for entry in by_name.values() for name in entry.function.autogen}
    for form in derived:
        name, entry = form.function.func.name.text, by_name[form.base.func.name.text]
        if name in by_name:
            yield _name_taken(name, entry, by_name[name])
        if name in requested:
            continue
        requested_by_base = [name.text for name in form.base.autogen]
        if not names.issuperset(requested_by_base):
            continue  # an unknown requested name is probably a misspelling of this one, and already reported
        names_to_request = ", ".join([*requested_by_base, name])
        message = f"'{name}' would be derived from '{form.base.func.name}', but no entry asks for it"
        yield Diagnostic(
            "autogen-undeclared", message, _key_span(entry, AUTOGEN), f"write 'autogen: {names_to_request}'"
        )


def _name_taken(name: str, base: Entry, other: Entry) -> Diagnostic:
    """Return the error for a derived form whose name another operator has."""
    message = f"'{name}' is derived from '{base.function.func.name}', but another operator has its name"
    notes = (Note("its arguments are different", other.name_span),)
    return Diagnostic("autogen-exists", message, _key_span(base, AUTOGEN), "rename the overload of one of them", notes)
