"""One entry of native_functions.yaml → a `NativeFunction` and its kernels.

This module checks each entry by itself; `rules` and `derive` check what depends on several entries.

    - func: mylib::scale(Tensor self, float by=2.0) -> Tensor
      dispatch:
        CPU, CUDA: my::scale_kernel

becomes an `Entry` with the function `scale` of namespace `mylib` and two kernels
`my::native::scale_kernel`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from opgen.api.boxing import is_boxed
from opgen.api.cpp import name as cpp_name
from opgen.diagnostics import Diagnostic, Diagnostics, Note, Span, UserError, closest, expected
from opgen.frontend.cpp_names import is_identifier, qualified_name
from opgen.frontend.entry_fields import (
    CPP_NO_DEFAULT_ARGS,
    DISPATCH,
    FUNC,
    PRECOMPUTED,
    STRUCTURED,
    STRUCTURED_DELEGATE,
    TABLE,
    TAGS,
    UFUNC_INNER_LOOP,
    schema_diagnostic,
    word_set,
)
from opgen.frontend.fields import (
    OneOf,
    Values,
    kind_of,
    missing_space,
    read_fields,
    scalar,
    word_list,
)
from opgen.frontend.nodes import MappingNode, Node, Scalar
from opgen.frontend.tags import TagDefinition
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.model import (
    DEFAULT_KERNEL_NAMESPACE,
    DTYPE_CLASSES,
    Argument,
    BackendMetadata,
    DispatchKey,
    FunctionSchema,
    NativeFunction,
    Precompute,
    ScalarType,
    SchemaError,
    SchemaKind,
    UfuncInnerLoop,
    UfuncKey,
    is_structured_dispatch_key,
)
from opgen.model import UFUNC_DISPATCH_KEYS as UFUNC_KEYS
from opgen.schema.function_schema import SchemaMemo, argument_offsets, check_argument_names
from opgen.schema.lexer import Cursor
from opgen.schema.registered import parse_registered

Kernels = Mapping[DispatchKey, BackendMetadata]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: its function, its kernels, and the places of its parts."""

    function: NativeFunction
    kernels: Kernels
    values: Values
    func: Scalar
    """The schema as written, with its namespace."""

    @property
    def name_span(self) -> Span:
        """The place of the operator's name and overload."""
        return _name_span(self.func)

    def argument_span(self, name: str) -> Span:
        """Return the place of the argument `name` of the schema, with its type."""
        offset, end = _name_offset(self.func), len(self.func.text)
        place = argument_offsets(self.func.text[offset:], lenient=self.function.func.is_lenient).get(
            name, (0, end - offset)
        )
        return self.func.span_at(offset + place[0], offset + place[1])

    @property
    def returns_span(self) -> Span:
        """The place of the returns, after the arrow."""
        text = self.func.text
        start = text.rfind("->") + 2
        return self.func.span_at(start + len(text[start:]) - len(text[start:].lstrip()), len(text))

    def key_span(self, key: DispatchKey) -> Span:
        """Return the place of a key in the dispatch table."""
        table = self.values[DISPATCH]
        words = (word for keys, _ in (table.entries if table else ()) for word in word_list(keys))
        return next((word.span for word in words if word.text == str(key)), self.values.span(DISPATCH))


def _name_offset(func: Scalar) -> int:
    """Return the offset after the namespace in a schema's text."""
    if "::" not in func.text:
        return 0
    colons = func.text.partition("(")[0].rfind("::")
    return 0 if colons < 0 else colons + 2


def _name_span(func: Scalar) -> Span:
    """Return the place of the operator's name and overload."""
    start = _name_offset(func)
    return func.span_at(start, start + len(func.text[start:].partition("(")[0].rstrip()))


# --------------------------------------------------------------------------- the entry


def read_entry(
    node: Node,
    memo: SchemaMemo,
    legal_tags: Mapping[str, TagDefinition] | None,
    ignored_keys: Collection[DispatchKey],
    form_tags: frozenset[str],
    log: Diagnostics,
    *,
    is_extension: bool = False,
) -> Entry | None:
    """Read the entry in `node`; None, with errors logged, if it has errors.

    In an extension, a schema may be any that torch registers.

    `memo` has the parts of the schemas before it.  Kernels under `ignored_keys` are checked and then dropped.
    `legal_tags` is None if their file can't be read; then any tag is legal.
    Of the `form_tags`, the operator carries the one for its form.
    """
    before = log.error_count
    if not isinstance(node, MappingNode):
        label = "write '- func: name(Tensor self) -> Tensor', with other keys below"
        message = f"an entry must be a mapping, not {kind_of(node)}"
        log.error("wrong-kind", message, node.span, missing_space(node) or label)
        return None
    values = read_fields(node, TABLE, lambda: _title(node), log)
    schema = None if values is None else _read_schema(values.written[FUNC], None if is_extension else memo, log)
    if values is None or schema is None:
        return None
    namespace, func = schema
    # Most entries have few keys.
    written = values.written
    kernels = _read_dispatch(written[DISPATCH], values[STRUCTURED], log) if DISPATCH in written else {}
    if ignored_keys:
        kernels = {key: kernel for key, kernel in kernels.items() if key not in ignored_keys}
    loops = _read_inner_loops(written[UFUNC_INNER_LOOP], log) if UFUNC_INNER_LOOP in written else _NO_LOOPS
    if loops:
        kernels |= _ufunc_kernels(func, loops)
    elif DISPATCH not in written and STRUCTURED_DELEGATE not in written:
        kernels = {DispatchKey.CompositeImplicitAutograd: _default_kernel(func)}
    precomputed = _read_precomputed(written[PRECOMPUTED], func, log) if PRECOMPUTED in written else None
    if TAGS in written:
        _check_tags(written[TAGS], legal_tags, log)
    if CPP_NO_DEFAULT_ARGS in written:
        _check_no_default_args(written[CPP_NO_DEFAULT_ARGS], func, log)
    if log.error_count > before:
        return None
    function = _function(values, namespace, func, kernels, loops, precomputed, form_tags)
    return Entry(function, kernels, values, written[FUNC])


_TITLE: Final = re.compile(r"[\w:.]+")


def _title(node: Node) -> str:
    """Return the entry's name for messages, from its operator if that can be read."""
    func = node.get("func") if isinstance(node, MappingNode) else None
    match = _TITLE.match(func.text) if isinstance(func, Scalar) else None
    return f"entry '{match.group()}'" if match else "an entry"


def operator_of(node: Node) -> str | None:
    """Return the operator's name without namespace and overload; None if it can't be read."""
    func = node.get("func") if isinstance(node, MappingNode) else None
    match = re.match(r"(?:\w*::)*([A-Za-z_]\w*)", func.text, re.ASCII) if isinstance(func, Scalar) else None
    return match.group(1) if match else None


def _read_schema(where: Scalar, memo: SchemaMemo | None, log: Diagnostics) -> tuple[str, FunctionSchema] | None:
    """Return the namespace and the schema without it; without a memo, the schema is one of an extension."""
    offset = _name_offset(where)
    namespace = where.text[: offset - 2] if offset else "aten"
    try:
        if offset:
            _check_namespace(where, namespace)
        if memo is None:
            func = parse_registered(where.text[offset:])
        else:
            func = FunctionSchema.parse(where.text[offset:], memo)
        check_argument_names(func, where.text[offset:])
        return namespace, func
    except SchemaError as problem:
        log.extend(schema_diagnostic(problem, where, offset).diagnostics)
    except UserError as problem:
        log.extend(problem.diagnostics)
    return None


def _check_namespace(where: Scalar, namespace: str) -> None:
    found = re.match(r"[A-Za-z_]\w*", namespace, re.ASCII)
    good = found.end() if found else 0
    if not namespace or good != len(namespace):
        message = (
            f"'{namespace}' is not a valid namespace of an operator" if namespace else "the name before '::' is missing"
        )
        label = "an operator has one namespace, a C++ identifier"
        width = 2 if where.text.startswith("::", good) else 1
        raise UserError(Diagnostic("bad-namespace", message, where.span_at(good, good + width), label))


def _function(
    values: Values,
    namespace: str,
    func: FunctionSchema,
    kernels: Kernels,
    loops: Mapping[UfuncKey, UfuncInnerLoop],
    precomputed: Precompute | None,
    form_tags: frozenset[str],
) -> NativeFunction:
    written, implied = values.written, implied_tags(namespace, func, form_tags)
    return NativeFunction(
        **_field_attributes(values),
        namespace=namespace,
        func=func,
        loc=_name_span(written[FUNC]),
        ufunc_inner_loop=loops,
        precomputed=precomputed,
        is_abstract=STRUCTURED_DELEGATE in written or not _is_composite_alone(kernels),
        has_composite_implicit_autograd_kernel=DispatchKey.CompositeImplicitAutograd in kernels,
        has_composite_implicit_autograd_nested_tensor_kernel=(
            DispatchKey.CompositeImplicitAutogradNestedTensor in kernels
        ),
        has_composite_explicit_autograd_kernel=DispatchKey.CompositeExplicitAutograd in kernels,
        has_composite_explicit_autograd_non_functional_kernel=(
            DispatchKey.CompositeExplicitAutogradNonFunctional in kernels
        ),
        tags=word_set(written[TAGS]) | implied if TAGS in written else implied,
        is_boxed=func.is_lenient and is_boxed(func),
    )


def _field_attributes(values: Values) -> dict[str, Any]:
    """Return the attributes of the function that are determined by one field each, including absent fields."""
    attributes = dict(_ATTRIBUTE_DEFAULTS)
    for field, value in values.written.items():
        if field.attribute:
            attributes[field.attribute] = value if field.to_attribute is None else field.to_attribute(value)
    return attributes


_ATTRIBUTE_DEFAULTS: Final = MappingProxyType(
    {
        each.attribute: word_set(()) if each.to_attribute is word_set else each.default
        for each in TABLE.fields.values()
        if each.attribute
    }
)
"""The attributes of an entry without these fields."""


def _is_composite_alone(kernels: Kernels) -> bool:
    return DispatchKey.CompositeImplicitAutograd in kernels and kernels.keys() <= _IMPLICIT_KEYS


_IMPLICIT_KEYS: Final = frozenset(
    {DispatchKey.CompositeImplicitAutograd, DispatchKey.CompositeImplicitAutogradNestedTensor}
)


FORM_TAGS: Final = frozenset({"inplace", "out"})
_OUT_TAGS: Final = (frozenset({"out"}), frozenset({"out", "pt2_compliant_tag"}))
_INPLACE_TAGS: Final = (frozenset({"inplace"}), frozenset({"inplace", "pt2_compliant_tag"}))
_OTHER_TAGS: Final = (frozenset[str](), frozenset({"pt2_compliant_tag"}))
"""The tags of operators of extensions, and of ATen's."""


def implied_tags(namespace: str, func: FunctionSchema, form_tags: frozenset[str]) -> frozenset[str]:
    """Return the tags that an operator has implicitly; of the `form_tags`, the one for its form."""
    kind = func.kind()
    names = _OUT_TAGS if kind is SchemaKind.out else _INPLACE_TAGS if kind is SchemaKind.inplace else _OTHER_TAGS
    tags = names[namespace == "aten"]
    return tags if form_tags >= FORM_TAGS else tags - (FORM_TAGS - form_tags)


def _check_tags(tags: tuple[Scalar, ...], legal: Mapping[str, TagDefinition] | None, log: Diagnostics) -> None:
    for tag in tags:
        if legal is None or tag.text in legal:
            continue
        near = closest(tag.text, legal)
        if near:
            notes = [Note(f"'{near}' is declared here", legal[near].span)]
        else:
            notes = [Note(f"tags are declared in {file}") for file in {t.span.source.name for t in legal.values()}]
        log.error("unknown-tag", f"there is no tag '{tag.text}'", tag.span, expected(tag.text, legal), notes)


def _check_no_default_args(names: tuple[Scalar, ...], func: FunctionSchema, log: Diagnostics) -> None:
    arguments = {argument.name: argument for argument in func.arguments.flat_all}
    for name in names:
        argument = arguments.get(name.text)
        if argument is None:
            message = f"'{func.name}' has no argument '{name.text}'"
            log.error("unknown-argument", message, name.span, expected(name.text, arguments))
        elif argument.default is None:
            message = f"the argument '{name.text}' has no default to hide from C++"
            log.error("no-default", message, name.span, "remove it here")


# --------------------------------------------------------------------------- kernels


_KEYS: Final = DispatchKey.__members__


def _default_kernel(func: FunctionSchema) -> BackendMetadata:
    return BackendMetadata(cpp_name(func), False, DEFAULT_KERNEL_NAMESPACE)


def _read_dispatch(table: MappingNode, is_structured: bool, log: Diagnostics) -> dict[DispatchKey, BackendMetadata]:
    """Return the kernels of a dispatch table by key, in the order written; log the errors in it."""
    kernels: dict[DispatchKey, BackendMetadata] = {}
    written: dict[DispatchKey, Scalar] = {}
    for key_list, value in table.entries:
        try:
            keys = word_list(key_list)
            namespace, name = _read_kernel(table, key_list, value)
        except UserError as problem:
            log.extend(problem.diagnostics)
            continue
        for word in keys:
            key = _read_key(word, log)
            if key is None:
                continue
            if key in written:
                first = Note("first given here", written[key].span)
                log.error("duplicate-key", f"the dispatch key '{key}' is given twice", word.span, notes=[first])
                continue
            written[key] = word
            kernels[key] = BackendMetadata(name, is_structured and is_structured_dispatch_key(key), namespace)
    return kernels


def _read_key(word: Scalar, log: Diagnostics) -> DispatchKey | None:
    key = _KEYS.get(word.text)
    if key is DispatchKey.Undefined:
        log.error("unknown-dispatch-key", "no kernel can be registered under 'Undefined'", word.span)
        return None
    if key is None:
        label = expected(word.text, _KEYS)
        log.error("unknown-dispatch-key", f"there is no dispatch key '{word.text}'", word.span, label)
        return None
    return key


def _read_kernel(table: MappingNode, key: Scalar, value: Node) -> tuple[str, str]:
    """Return the C++ namespace and the name of a kernel.  Raises UserError."""
    if isinstance(value, Scalar) and value.is_empty:
        message = f"the dispatch key '{key.text}' has no kernel"
        raise UserError(Diagnostic("missing-kernel", message, key.span, _kernel_to_write(table, key)))
    if not isinstance(value, Scalar):
        message = f"the kernel under '{key.text}' must be the name of a C++ function, not {kind_of(value)}"
        raise UserError(Diagnostic("wrong-kind", message, value.span, f"write '{key.text}: kernel'"))
    name = qualified_name(value).text
    namespace, _, base = name.rpartition("::")
    return f"{namespace or 'at'}::native", base


def _kernel_to_write(table: MappingNode, key: Scalar) -> str:
    """Return the advice for a key without a kernel; `{CPU, CUDA: k}` probably means one kernel under two keys."""
    keys: list[str] = []
    for word, value in table.entries:
        if word is key or keys:
            keys.append(word.text)
        if keys and isinstance(value, Scalar) and not value.is_empty:
            return f"for one kernel under several keys write '{', '.join(keys)}: {value.text}' on a line of its own"
    return f"write '{key.text}: kernel'"


# --------------------------------------------------------------------------- ufuncs and precomputed


def _ufunc_kernels(
    func: FunctionSchema, loops: Mapping[UfuncKey, UfuncInnerLoop]
) -> dict[DispatchKey, BackendMetadata]:
    base = func.name.name.base
    return {key: BackendMetadata(f"ufunc_{base}_{key}", True, DEFAULT_KERNEL_NAMESPACE) for key in UFUNC_KEYS}


_NO_LOOPS: Final[FrozenMap[UfuncKey, UfuncInnerLoop]] = FrozenMap()


def _read_inner_loops(node: Node, log: Diagnostics) -> FrozenMap[UfuncKey, UfuncInnerLoop]:
    """Return inner loops by key; a loop without a key is for all keys."""
    loops: dict[UfuncKey, UfuncInnerLoop] = {}
    for key, value in _keyed_loops(node):
        try:
            ufunc_key = UfuncKey.Generic if key is None else OneOf("ufunc key", UfuncKey.__members__)(key)
            loops[ufunc_key] = _read_inner_loop(scalar(value), ufunc_key)
        except UserError as problem:
            log.extend(problem.diagnostics)
    return FrozenMap(loops)


def _keyed_loops(node: Node) -> Iterator[tuple[Scalar | None, Node]]:
    if isinstance(node, MappingNode):
        yield from node.entries
    else:
        yield None, node


_INNER_LOOP: Final = re.compile(r"([A-Za-z_]\w*)\s*\(\s*([^()]*?)\s*\)")


def _read_inner_loop(where: Scalar, key: UfuncKey) -> UfuncInnerLoop:
    found = _INNER_LOOP.fullmatch(where.text)
    if found is not None and not is_identifier(found.group(1)):
        span = where.span_at(0, found.end(1))
        raise UserError(Diagnostic("bad-identifier", f"'{found.group(1)}' is a keyword of C++, not a name", span))
    if found is None:
        message = "expected a function and its element types"
        raise UserError(Diagnostic("bad-inner-loop", message, where.span, "write 'name (All, Half)'"))
    dtypes: dict[ScalarType, None] = {}
    for word in re.finditer(r"[^,\s][^,]*", found.group(2)):
        name, start = word.group().rstrip(), found.start(2) + word.start()
        dtypes |= dict.fromkeys(_dtypes(name, where, start))
    return UfuncInnerLoop(found.group(1), tuple(dtypes), key)


def _dtypes(name: str, where: Scalar, start: int) -> tuple[ScalarType, ...]:
    if name in DTYPE_CLASSES:
        return DTYPE_CLASSES[name]
    if name in ScalarType.__members__:
        return (ScalarType[name],)
    label = expected(name, (*DTYPE_CLASSES, *ScalarType.__members__))
    span = where.span_at(start, start + len(name))
    raise UserError(Diagnostic("unknown-dtype", f"there is no element type '{name}'", span, label))


def _read_precomputed(lines: tuple[Scalar, ...], func: FunctionSchema, log: Diagnostics) -> Precompute | None:
    """`dim -> int dim, bool last` replaces the argument `dim`; a line without an arrow adds."""
    if not lines:
        return None
    arguments = [argument.name for argument in func.arguments.flat_all]
    replace: dict[str, tuple[Argument, ...]] = {}
    add: tuple[Argument, ...] = ()
    values: list[_Precomputed] = []
    for line in lines:
        try:
            name, read = _read_precomputed_line(line, arguments)
        except SchemaError as problem:
            log.extend(schema_diagnostic(problem, line, 0).diagnostics)
            continue
        if name is None or name in arguments:
            values += read
        if name is None:
            add = _added(add, tuple([value.argument for value in read]), line, lines, log)
        elif reason := _why_not_replaced(name, func, replace):
            id, message, label = reason
            log.error(id, message, line.span_at(0, len(name)), label)
        else:
            replace[name] = tuple([value.argument for value in read])
    log.extend(_check_precomputed(values, [name for name in arguments if name not in replace]))
    return Precompute(FrozenMap(replace), add)


def _why_not_replaced(name: str, func: FunctionSchema, replaced: Container[str]) -> tuple[str, str, str] | None:
    """Return the id, message and label of what forbids replacing the argument `name`; None if it may be replaced."""
    arguments = [argument.name for argument in func.arguments.flat_all]
    if name not in arguments:
        return "unknown-argument", f"'{func.name}' has no argument '{name}'", expected(name, arguments)
    if name in replaced:
        return "bad-precomputed", f"'{name}' is replaced twice", "write all values that replace it on one line"
    if name in [argument.name for argument in func.arguments.out]:
        return "bad-precomputed", f"'{name}' is an out argument, which the kernel writes to", "remove this line"
    return None


@dataclass(frozen=True, slots=True)
class _Precomputed:
    """A precomputed value and its place."""

    argument: Argument
    line: Scalar
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.line.span_at(self.start, self.end)


def _read_precomputed_line(line: Scalar, arguments: Collection[str]) -> tuple[str | None, list[_Precomputed]]:
    cursor = Cursor(line.text)
    name = None
    if cursor.kind == "name" and (cursor.is_followed_by("->") or cursor.ahead in arguments):
        name = cursor.take()
        cursor.expect("->", "between the argument and what replaces it")
    values: list[_Precomputed] = []
    while not values or cursor.accept(","):
        start = cursor.start
        values.append(_Precomputed(Argument.read(cursor), line, start, cursor.previous_end))
    cursor.expect_end("the precomputed values")
    return name, values


def _check_precomputed(values: Iterable[_Precomputed], arguments: Iterable[str]) -> Iterator[Diagnostic]:
    """Check that precomputed values are plain parameters; `arguments` are those of the schema that stay."""
    seen = dict.fromkeys(arguments, "an argument of the schema has this name, and is not replaced")
    parameters: dict[str, str] = {}
    for value in values:
        argument = value.argument
        if argument.default is not None or argument.annotation is not None:
            message = "a precomputed value has a type and a name, without a default or an alias annotation"
            yield Diagnostic("bad-precomputed", message, value.span, f"write '{argument.type} {argument.name}'")
        if not is_identifier(argument.name):
            message = f"'{argument.name}' is a keyword of C++, not a name"
            yield Diagnostic("bad-identifier", message, value.span)
        if argument.name in seen:
            message = f"two parameters of the kernel would be named '{argument.name}'"
            yield Diagnostic("bad-precomputed", message, value.span, seen[argument.name])
        elif argument.name == argument.name.upper():
            message = f"a precomputed value can't be called '{argument.name}': C++ has its name in capitals too"
            yield Diagnostic("bad-precomputed", message, value.span, "use a lower-case letter")
        elif (other := parameters.setdefault(argument.name.upper(), argument.name)) != argument.name:
            message = f"'{argument.name}' and '{other}' differ only in case"
            yield Diagnostic("bad-precomputed", message, value.span, "C++ has both in capitals: choose another name")
        seen[argument.name] = "another precomputed value has this name"


def _added(
    add: tuple[Argument, ...], values: tuple[Argument, ...], line: Scalar, lines: tuple[Scalar, ...], log: Diagnostics
) -> tuple[Argument, ...]:
    if line is not lines[-1]:
        message = "a line that adds values without replacing an argument must be the last"
        log.error("bad-precomputed", message, line.span)
    return add + values
