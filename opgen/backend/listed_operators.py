"""The lists in a backend YAML → operators, and a diagnostic for every wrong item.

    backend.yaml:4:14: error: there is no operator 'abss' [unknown-operator]
        4 | supported: [abss, add.Tensor]
          |             ^^^^ did you mean 'abs'?

An operator must exist and have one kernel, so it may be in only one of the lists of kernels, once.  All forms
of an operator must be registered under the same key, since a form may be generated from another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from opgen.diagnostics import Diagnostics, Note, Span, closest, did_you_mean, expected
from opgen.frontend.nodes import Scalar
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.model import DispatchKey, NativeFunction, NativeFunctionsGroup, OperatorName
from opgen.program.program import Program

MAX_SUGGESTIONS: Final = 10
"""Maximum number of unknown operators that get a suggestion."""


@dataclass(frozen=True, slots=True)
class Listings:
    """The lists in the YAML file, with their locations."""

    supported: tuple[Scalar, ...]
    autograd: tuple[Scalar, ...]
    symint: tuple[Scalar, ...]
    full_codegen: tuple[Scalar, ...]
    ir_gen: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """The operators in the lists, without duplicates in a list."""

    supported: tuple[OperatorName, ...]
    autograd: tuple[OperatorName, ...]
    symint: tuple[OperatorName, ...]
    full_codegen: tuple[OperatorName, ...]
    ir_gen: tuple[OperatorName, ...]
    functions: Mapping[OperatorName, NativeFunction]
    """The functions by name."""
    places: Mapping[OperatorName, Span]
    """The places of the operators with kernels or nodes."""


def check_lists(lists: Listings, key: DispatchKey | None, program: Program, log: Diagnostics) -> Listed:
    """Return the operators of the lists; log errors and leave them out."""
    reader = _Reader(program, log)
    supported = reader.read("supported", lists.supported)
    full_codegen = reader.read("full_codegen", lists.full_codegen)
    autograd = reader.read("autograd", lists.autograd)
    symint = reader.read("symint", lists.symint)
    supported = _without_generated(supported, full_codegen, log)
    ir_gen = reader.read("ir_gen", lists.ir_gen)
    backend = _join((supported, full_codegen), log)
    kernels = _join((backend, autograd), log)
    _join((full_codegen, ir_gen), log)
    _check_forms(program, backend, autograd, log)
    _check_symint(symint, kernels, reader.functions, log)
    if key is not None:
        _check_not_registered(key, backend, program, reader.functions, log)
    return Listed(
        supported=tuple(supported),
        autograd=tuple(autograd),
        symint=tuple(symint),
        full_codegen=tuple(full_codegen),
        ir_gen=tuple(ir_gen),
        functions=FrozenMap({name: reader.functions[name] for name in (*kernels, *symint, *ir_gen)}),
        places=FrozenMap({name: item.where.span for name, item in {**ir_gen, **kernels}.items()}),
    )


@dataclass(frozen=True, slots=True)
class _Item:
    """An operator in a list."""

    where: Scalar
    of: str
    """The list's name."""


class _Reader:
    """Finds the operators that lists name."""

    def __init__(self, program: Program, log: Diagnostics) -> None:
        self.functions = {function.func.name: function for function in program.functions}
        self._names = {str(name): name for name in self.functions}
        self._log = log
        self._suggestions_left = MAX_SUGGESTIONS

    def read(self, of: str, words: Iterable[Scalar]) -> dict[OperatorName, _Item]:
        """Return the operators of one list, without duplicates."""
        found: dict[OperatorName, _Item] = {}
        for word in words:
            name = self._names.get(word.text)
            if name is None:
                self._report_unknown(word, is_error=of != "symint")
            elif name in found:
                note = Note("first listed here", found[name].where.span)
                self._log.warning("operator-listed-twice", f"'{name}' is listed twice", word.span, notes=[note])
            else:
                found[name] = _Item(word, of)
        return found

    def _report_unknown(self, word: Scalar, *, is_error: bool) -> None:
        label = self._nearest(word.text) if self._suggestions_left else ""
        self._suggestions_left -= bool(self._suggestions_left)
        log = self._log.error if is_error else self._log.warning
        log("unknown-operator", f"there is no operator '{word.text}'", word.span, label)

    def _nearest(self, word: str) -> str:
        """Return the suggestion for an unknown operator."""
        base, _, overload = word.partition(".")
        bare = word.rpartition("::")[2]
        if bare in self._names:
            return f"write '{bare}', without a namespace"
        overloads = [name for name in self._names if name.partition(".")[0] == base]
        if not overloads:
            return did_you_mean(word, self._names)
        near = closest(word, overloads) if overload else None
        return f"did you mean '{near}'?" if near else expected(word, overloads, len(overloads))


def _without_generated(
    supported: Mapping[OperatorName, _Item], full_codegen: Mapping[OperatorName, _Item], log: Diagnostics
) -> dict[OperatorName, _Item]:
    """Return `supported` without operators whose kernels are generated; each gets a warning."""
    for name in supported:
        if name in full_codegen:
            message = f"'{name}' is listed under 'full_codegen' and under 'supported'"
            note = Note("it is listed under 'supported' here, which has no effect", supported[name].where.span)
            log.warning(
                "operator-in-two-lists", message, full_codegen[name].where.span, "remove one of the two", [note]
            )
    return {name: item for name, item in supported.items() if name not in full_codegen}


def _join(lists: Sequence[Mapping[OperatorName, _Item]], log: Diagnostics) -> dict[OperatorName, _Item]:
    """Return the operators of several lists; an operator in two of them is logged."""
    joined: dict[OperatorName, _Item] = {}
    for items in lists:
        for name, item in items.items():
            first = joined.setdefault(name, item)
            if first is not item:
                message = f"'{name}' is listed under '{item.of}' and under '{first.of}'"
                note = Note(f"it is listed under '{first.of}' here", first.where.span)
                log.error("operator-in-two-lists", message, item.where.span, "remove one of the two", [note])
    return joined


def _check_forms(
    program: Program, backend: Mapping[OperatorName, _Item], autograd: Mapping[OperatorName, _Item], log: Diagnostics
) -> None:
    """Log operators with autograd kernels for only some of their forms."""
    if not autograd:
        return
    for group in program.grouped:
        if not isinstance(group, NativeFunctionsGroup):
            continue
        forms = [form.func.name for form in group.functions()]
        others = [backend[name] for name in forms if name in backend]
        for name in forms:
            if name in autograd and name not in backend and others:
                item, other = autograd[name], others[0]
                message = f"'{name}' is listed under 'autograd', another form of it under '{other.of}'"
                note = Note(f"'{other.where.text}' is the other form", other.where.span)
                label = "all forms of an operator must be under one key"
                log.error("mixed-autograd", message, item.where.span, label, [note])


def _check_symint(
    symint: Mapping[OperatorName, _Item],
    kernels: Mapping[OperatorName, _Item],
    functions: Mapping[OperatorName, NativeFunction],
    log: Diagnostics,
) -> None:
    for name, item in symint.items():
        function = functions[name]
        if not function.func.has_symint():
            message = f"'{name}' takes no SymInt, so its kernel can't"
            note = Note(f"it is {function.func}", function.loc)
            log.error("symint-without-symint", message, item.where.span, "remove it here", [note])
        elif name not in kernels:
            message = f"'{name}' has no kernel: it is in no other list"
            log.warning("symint-without-kernel", message, item.where.span)


def _check_not_registered(
    key: DispatchKey,
    backend: Mapping[OperatorName, _Item],
    program: Program,
    functions: Mapping[OperatorName, NativeFunction],
    log: Diagnostics,
) -> None:
    """Log operators that already have a kernel under the key in the definitions."""
    index = program.backend_indices.get(key)
    if index is None:
        return
    for name, item in backend.items():
        function = functions[name]
        delegate = function.structured_delegate
        if name in index.index or (delegate is not None and delegate in index.index):
            message = f"'{name}' already has a kernel under '{key}' in its definition"
            note = Note("it is defined here", function.loc)
            label = "remove it: a kernel can't be registered twice"
            log.error("kernel-registered-twice", message, item.where.span, label, [note])
