"""An operator → its explanation for authors and reviewers, as one value, as text and as JSON.

explanation = explain(subject, function)
render_explanation(explanation)

mylib::scale

forms
  scale        functional   delegates to scale.out   ops/native/native_functions.yaml:3:9
…
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from enum import Enum
from operator import attrgetter
from typing import Any, Final

from opgen.desk.facts import OperatorFacts
from opgen.desk.registrations import Place
from opgen.dispatch_keys import UFUNC_DISPATCH_KEYS, DispatchKey, is_structured_dispatch_key
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, NativeFunctionsGroup, SchemaKind
from opgen.program.program import Program

_COMPOSITES: Final = (
    DispatchKey.CompositeExplicitAutogradNonFunctional,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeImplicitAutograd,
)
_DEVICES: Final = ("CPU", "CUDA", "Meta")
"""Keys that are shown even if nothing is registered under them."""
_DECOMPOSITION: Final = "FuncTorchBatchedDecomposition"
"""Used by vmap if FuncTorchBatched has no kernel."""
_AUTOGRAD: Final = ("Autograd", "AutogradCPU", "AutogradCUDA", "AutogradMeta", "AutogradPrivateUse1")


_GENERATED: Final = "generated"
_NOT_NEEDED: Final = "not needed"
_FALLBACK: Final = "torch's fallback"
_NO_KERNEL: Final = "no kernel: a call raises NotImplementedError"
_BY_TORCH_IN_PYTHON: Final = "no kernel, unless torch/_meta_registrations.py has one"


class State(Enum):
    """The kind of kernel that a form has under a dispatch key."""

    KERNEL = "a kernel that is written by hand"
    GENERATED = "a generated kernel"
    COMPOSITE = "a composite kernel, which calls other operators"
    FALLBACK = "nothing is needed"
    MISSING = _NO_KERNEL


@dataclass(frozen=True, slots=True)
class Subject:
    """A program, and the facts and registrations of its operators."""

    program: Program
    facts: Mapping[str, OperatorFacts]
    """By operator, with its namespace."""
    registrations: Mapping[str, Mapping[str, Place]]
    """By operator, without its namespace, and dispatch key."""
    is_extension: bool
    stable_kernels: Mapping[str, str] | None = None
    """The declarations of the kernels of an extension in the stable ABI, by name with the namespace."""


@dataclass(frozen=True, slots=True)
class Form:
    """One form of an operator."""

    name: str
    kind: str
    origin: str
    """Its origin: written, structured, or derived from another form."""
    place: str
    """file:line:column of its entry, or of the entry that it is derived from."""
    schema: str


@dataclass(frozen=True, slots=True)
class Cell:
    """The kernel of one form under one dispatch key."""

    form: str
    key: str
    kernel: str
    """The kernel's name, or the kind of the generated kernel; empty if nothing is registered."""
    place: str
    """The file and line of the registration."""
    reason: str
    """Why nothing is registered."""

    @property
    def state(self) -> State:
        """Return the kind of kernel that the form has."""
        if self.place:
            return State.GENERATED if self.kernel == _GENERATED else State.KERNEL
        if self.reason in (_NOT_NEEDED, _FALLBACK):
            return State.FALLBACK
        return State.MISSING if self.reason in (_NO_KERNEL, _BY_TORCH_IN_PYTHON) else State.COMPOSITE


@dataclass(frozen=True, slots=True)
class Service:
    """The support for one form by a subsystem of torch: autograd, functionalization, vmap, meta."""

    name: str
    form: str
    place: str
    """The file and line of the registration; empty if there is none."""
    missing: str
    """The consequence if nothing is registered, or only a kernel that raises an error; empty if nothing is missing."""

    @property
    def text(self) -> str:
        """Return the location and what is missing, in one line."""
        return ": ".join(filter(None, (self.place, self.missing))) or _NOT_NEEDED


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about one operator."""

    name: str
    forms: tuple[Form, ...]
    table: tuple[Cell, ...]
    kernels_to_write: tuple[str, ...]
    """Declarations of the kernels that the author writes, with their dispatch keys."""
    cpp: tuple[str, ...]
    dispatcher: tuple[str, ...]
    python: tuple[str, ...]
    gradients: tuple[str, ...]
    services: tuple[Service, ...]


def explain(subject: Subject, function: NativeFunction) -> Explanation:
    """Return the explanation of an operator, with all forms of `function`."""
    return explain_forms(subject, next(forms for forms in operators_of(subject.program) if function in forms))


def operators_of(program: Program) -> Iterator[tuple[NativeFunction, ...]]:
    """Yield the operators in definition order, each as its forms, with the functional form first."""
    for group in program.grouped:
        yield tuple(group.functions()) if isinstance(group, NativeFunctionsGroup) else (group,)


def explain_forms(subject: Subject, forms: Sequence[NativeFunction]) -> Explanation:
    """Return the explanation of the operator with the forms `forms`."""
    function = forms[0]
    facts = [subject.facts[form.qualified_name] for form in forms]
    table = tuple(cell_of(subject, form, key) for key in keys_of(subject, forms) for form in forms)
    return Explanation(
        name=f"{function.namespace}::{function.root_name}",
        forms=tuple(_form(subject.program, form) for form in forms),
        table=table,
        kernels_to_write=tuple(dict.fromkeys(line for form in forms for line in _kernels_to_write(subject, form))),
        cpp=tuple(line for each in facts for line in each.cpp),
        dispatcher=tuple(
            subject.program.signatures(form).dispatcher.decl(form.func.name.unambiguous_name()) for form in forms
        ),
        python=tuple(dict.fromkeys(each.python for each in facts if each.python)),
        gradients=tuple(dict.fromkeys(f"{k}: {v}" for each in facts for k, v in each.gradients.items())),
        services=tuple(_services(subject, forms)),
    )


def _form(program: Program, function: NativeFunction) -> Form:
    func = function.func
    kind = "in-place" if func.kind() is SchemaKind.inplace else func.kind().name
    return Form(str(func.name), kind, _origin(program, function), str(function.loc), str(func))


def _origin(program: Program, function: NativeFunction) -> str:
    if "generated" in function.tags:
        asking = next((f for f in program.functions if f.loc == function.loc and "generated" not in f.tags), None)
        return f"autogen of {asking.func.name}" if asking is not None else "autogen"
    if function.structured:
        return "structured"
    if function.structured_delegate is not None:
        return f"delegates to {function.structured_delegate}"
    return "written"


# ------------------------------------------------------------------------------------ the table


def keys_of(subject: Subject, forms: Iterable[NativeFunction]) -> list[str]:
    """Return the dispatch keys that forms have kernels for, and those of common devices, in the dispatcher's order."""
    registered = {key for form in forms for key in subject.registrations.get(str(form.func.name), ())}
    order = {key.name: number for number, key in enumerate(DispatchKey)}
    return sorted({*registered, *_DEVICES}, key=lambda key: (order.get(key, len(order)), key))


def cell_of(subject: Subject, form: NativeFunction, key: str) -> Cell:
    """Return the kernel of a form under a dispatch key."""
    name = str(form.func.name)
    place = subject.registrations.get(name, {}).get(key)
    written = subject.facts[form.qualified_name].kernels.get(key, "")
    if place is not None:
        by_hand = "" if _is_made_of_loops(form, key) else written
        return Cell(name, key, by_hand or _GENERATED, str(place), "")
    return Cell(name, key, "", "", _reason_unregistered(subject, form, key))


def _is_made_of_loops(form: NativeFunction, key: str) -> bool:
    return bool(form.ufunc_inner_loop) and key in (each.name for each in UFUNC_DISPATCH_KEYS)


def _reason_unregistered(subject: Subject, form: NativeFunction, key: str) -> str:
    registered = subject.registrations.get(str(form.func.name), {})
    composites = [each.name for each in _COMPOSITES if each.name in registered]
    if key == "FuncTorchBatched" and _DECOMPOSITION in registered:
        return f"{_DECOMPOSITION} serves it"
    if key in ("Functionalize", "FuncTorchBatched", "ADInplaceOrView") or key.startswith("Autograd"):
        return _NOT_NEEDED if composites[:1] == ["CompositeImplicitAutograd"] else _FALLBACK
    if key == "ZeroTensor":
        return _FALLBACK  # it materializes ZeroTensors
    if key.startswith("Composite") or key == _DECOMPOSITION:
        return _NOT_NEEDED
    composite = next((each for each in composites if _serves(each, key)), "")
    if composite:
        return f"{composite} serves it"
    return _BY_TORCH_IN_PYTHON if key == "Meta" and not subject.is_extension else _NO_KERNEL


def _serves(composite: str, key: str) -> bool:
    """Return whether the dispatcher uses a composite kernel if there is none under `key`."""
    if key.startswith("NestedTensor"):
        return False
    is_sparse = key.startswith("Sparse") and not key.startswith("SparseCsr")
    return not (is_sparse and composite == DispatchKey.CompositeExplicitAutogradNonFunctional.name)


def _kernels_to_write(subject: Subject, form: NativeFunction) -> Iterator[str]:
    """Yield the declarations of the kernels that the author writes for a form."""
    if "generated" in form.tags or form.structured_delegate is not None:
        return
    if form.structured:
        yield from _structured_kernels(subject, form)
        return
    for key, index in subject.program.backend_indices.items():
        kernel = index.get_kernel(form)
        if kernel is not None:
            name = f"{kernel.cpp_namespace}::{kernel.kernel}"
            if subject.stable_kernels is None:
                yield f"{key}: {subject.program.signatures(form).kernel(index).decl(name)}"
            elif name in subject.stable_kernels:
                yield f"{key}: {subject.stable_kernels[name]}"


def _structured_kernels(subject: Subject, form: NativeFunction) -> Iterator[str]:
    group = next(g for g in subject.program.structured_groups if g.out is form)
    signatures = subject.program.group_signatures(group)
    arguments = ", ".join(binding.defn() for binding in signatures.meta_arguments)
    yield f"shape function: TORCH_META_FUNC({signatures.meta_name})({arguments})"
    for key, index in subject.program.backend_indices.items():
        kernel = index.get_kernel(form)
        if kernel is not None and is_structured_dispatch_key(key) and not _is_made_of_loops(form, key.name):
            arguments = ", ".join(binding.defn() for binding in signatures.impl_arguments)
            yield f"{key}: TORCH_IMPL_FUNC({kernel.kernel})({arguments})"
    for loop in form.ufunc_inner_loop.values():
        yield f"{loop.ufunc_key}: the template ufunc::{loop.name}, in ufunc/{group.functional.root_name}.h"


# ---------------------------------------------------------------------------------- what torch does


def _services(subject: Subject, forms: Sequence[NativeFunction]) -> Iterator[Service]:
    """Yield the services for the forms in the definitions; those of derived forms follow from them."""
    written = [form for form in forms if "generated" not in form.tags]
    has_formula = _has_formula(subject, forms)
    for name, keys, cost in _SERVICES if subject.is_extension else _SERVICES_OF_TORCH:
        for form in written:
            place = _first_place(subject, form, keys)
            is_served = bool(place)
            if name == _AUTOGRAD_SERVICE:
                # A kernel is generated for every operator; without a formula, it raises an error.
                is_served = has_formula or any(key in subject.facts[form.qualified_name].kernels for key in keys)
                place = place or (_OF_GEN_AUTOGRAD if has_formula and not subject.is_extension else "")
            if name == _VMAP_SERVICE and not subject.is_extension and _is_needed(name, form):
                place, is_served = _BY_HAND_IN_FUNCTORCH, True
            yield Service(name, str(form.func.name), place, "" if is_served or not _is_needed(name, form) else cost)


def _has_formula(subject: Subject, forms: Sequence[NativeFunction]) -> bool:
    """Return whether derivatives.yaml has an entry for an operator, or for the one that a foreach operator applies."""
    of_elements = forms[0].root_name.removeprefix(_ON_LISTS)
    others = subject.program.functions if forms[0].root_name != of_elements else ()
    return any(
        subject.facts[each.qualified_name].gradients
        for each in (*forms, *(other for other in others if other.root_name == of_elements))
    )


_ON_LISTS: Final = "_foreach_"
_AUTOGRAD_SERVICE: Final = "autograd"
_VMAP_SERVICE: Final = "vmap"
_OF_GEN_AUTOGRAD: Final = "VariableType of gen_autograd"
_NO_FORMULA: Final = "no formula in derivatives.yaml: backward raises an error"
_META_KEYS: Final = ("Meta", *(key.name for key in _COMPOSITES))
_SERVICES: Final = (
    (_AUTOGRAD_SERVICE, _AUTOGRAD, _NO_FORMULA),
    ("functionalization", ("Functionalize",), "torch.compile and torch.export use torch's auto-functionalization"),
    (
        _VMAP_SERVICE,
        ("FuncTorchBatched", _DECOMPOSITION),
        "vmap falls back to a loop over the batch, with a warning",
    ),
    (
        "meta",
        _META_KEYS,
        "torch.compile, torch.export and fake tensors can't run it: write a Meta kernel, or tag it pointwise",
    ),
)
"""The services of torch, the keys of their kernels, and the consequences of a missing kernel."""
_SERVICES_OF_TORCH: Final = (
    (_AUTOGRAD_SERVICE, _AUTOGRAD, _NO_FORMULA),
    ("functionalization", ("Functionalize",), "torch.compile and torch.export can't run it"),
    (_VMAP_SERVICE, (), ""),
    ("meta", _META_KEYS, "fake tensors need a function in torch/_meta_registrations.py"),
)
"""The same for torch's own operators."""
_BY_HAND_IN_FUNCTORCH: Final = "rules are written by hand in aten/src/ATen/functorch"


def _is_needed(service: str, form: NativeFunction) -> bool:
    if service == "functionalization" and not form.func.is_mutable:
        return False
    if service == _AUTOGRAD_SERVICE and form.func.kind() is SchemaKind.out:
        return False  # autograd records nothing for a call with `out=`
    if service in (_AUTOGRAD_SERVICE, _VMAP_SERVICE) and not form.func.arguments.has_tensor_arg():
        return False
    return not form.has_composite_implicit_autograd_kernel


def _first_place(subject: Subject, form: NativeFunction, keys: Sequence[str]) -> str:
    registered = subject.registrations.get(str(form.func.name), {})
    return next((str(registered[key]) for key in keys if key in registered), "")


# ---------------------------------------------------------------------------------- reports


def render_explanation(explanation: Explanation) -> str:
    """Return the explanation as text for a terminal."""
    lines = [explanation.name]
    lines += _section("forms", _columns([(f.name, f.kind, f.origin, f.place) for f in explanation.forms]))
    rows = [(c.key, c.form, c.kernel or "-", c.place or c.reason) for c in explanation.table]
    lines += _section("kernels by dispatch key", _columns(rows))
    lines += _section("kernels to write", explanation.kernels_to_write)
    lines += _section("C++", explanation.cpp)
    lines += _section("dispatcher", explanation.dispatcher)
    lines += _section("Python", explanation.python)
    lines += _section("gradients", explanation.gradients)
    services = [(s.name, s.form, s.text) for s in explanation.services]
    lines += _section("what torch does with it", _columns(services))
    return "\n".join(lines) + "\n"


def _section(title: str, rows: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {row}" for row in rows)] if rows else []


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def explanation_to_json(explanation: Explanation) -> dict[str, Any]:
    """Return the explanation as values of JSON."""
    return asdict(explanation)


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One operator in a list of all."""

    name: str
    kernels: tuple[str, ...]
    """The dispatch keys, or devices, that it has kernels for."""
    delegate: str
    """The operator whose kernels it uses; empty if it has its own kernels."""
    is_differentiable: bool
    place: str
    """file:line:column of its entry."""


def list_operators(program: Program, facts: Mapping[str, OperatorFacts]) -> list[OperatorRow]:
    """Return all operators, sorted by name."""
    return [
        OperatorRow(
            function.qualified_name,
            tuple(facts[function.qualified_name].kernels),
            "" if facts[function.qualified_name].kernels else str(function.structured_delegate),
            bool(facts[function.qualified_name].gradients),
            str(function.loc),
        )
        for function in sorted(program.functions, key=attrgetter("qualified_name"))
    ]


def render_rows(rows: Iterable[OperatorRow]) -> str:
    """Return one line per operator."""
    cells = [
        (
            row.name,
            ", ".join(row.kernels) or (f"of {row.delegate}" if row.delegate else "composite"),
            "differentiable" if row.is_differentiable else "-",
            row.place,
        )
        for row in rows
    ]
    return "".join(f"{line}\n" for line in _columns(cells))
