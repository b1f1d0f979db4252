"""A kernel → the checks of debug builds that an operator didn't replace its arguments.

Before the operator runs, the storage and the implementation of each tensor are saved; afterwards they
must be the same, and results must be new tensors (or, for views, share the storage of their base).

    #ifndef NDEBUG
    auto self__storage_saved =
      self_.has_storage() ? ::std::optional<Storage>(self_.storage()) : ::std::nullopt;
    #endif
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from opgen.dest.autograd_operators import MAY_RETURN_OLD_IMPL, MAY_RETURN_OLD_STORAGE, MAY_SWAP_STORAGE
from opgen.frozen_dataclass import dataclass
from opgen.output.snippets import Snippets

_SNIPPETS: Final = Snippets("variable_type_checks.cpp")


@dataclass(frozen=True, slots=True)
class DebugChecks:
    """Statements for before and after the call."""

    before: str
    after: str


NO_CHECKS: Final = DebugChecks("", "")


def render_checks(
    checked: Sequence[DebugChecks], results: Iterable[str], cpp_name: str, kernel: str, view_base: str
) -> DebugChecks:
    """Return the checks of a kernel, combined from those of its parameters.

    `results` are its new tensors; `view_base` is the parameter whose storage the result has, if it
    is a view.
    """
    if not checked or cpp_name in MAY_SWAP_STORAGE:
        return NO_CHECKS
    before = "".join([piece.before for piece in checked])
    after = "".join([*[piece.after for piece in checked], *[_result(kernel, name, view_base) for name in results]])
    return DebugChecks(_SNIPPETS.render("debug_only", checks=before), _SNIPPETS.render("debug_only", checks=after))


def _tensor(name: str, *, reserves: bool) -> DebugChecks:
    del reserves
    before = _SNIPPETS.render("tensor_before", name=name)
    after = _SNIPPETS.render("tensor_after", same_storage=_same_storage(name, name), name=name)
    return DebugChecks(before, after)


def _same_storage(name: str, other: str) -> str:
    return _SNIPPETS.render("same_storage", name=name, other=other)


def _tensors(name: str, *, reserves: bool) -> DebugChecks:
    return _list_checks("tensors", name, reserves)


def _optional_tensors(name: str, *, reserves: bool) -> DebugChecks:
    return _list_checks("optional_tensors", name, reserves)


def _list_checks(kind: str, name: str, reserves: bool) -> DebugChecks:
    add = "emplace_back" if reserves else "push_back"
    before = _SNIPPETS.render(f"{kind}_before", name=name, reserves=reserves, add=add)
    return DebugChecks(before, _SNIPPETS.render(f"{kind}_after", name=name))


def _result(kernel: str, name: str, view_base: str) -> str:
    """Return the check that a result is a new tensor, with a new storage unless it is a view."""
    usable = f"!at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch({name})"
    text = ""
    if view_base:
        text += _same_storage(view_base, name)
    elif kernel not in MAY_RETURN_OLD_STORAGE:
        text += _SNIPPETS.render("result_storage", name=name, usable=usable, kernel=kernel)
    if kernel not in MAY_RETURN_OLD_IMPL:
        text += _SNIPPETS.render("result_impl", usable=usable, name=name, kernel=kernel)
    return text


class Check(Protocol):
    """The checks of a parameter, given its name, and whether a list of storages is reserved."""

    def __call__(self, name: str, *, reserves: bool) -> DebugChecks: ...


CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {"tensor": _tensor, "list": _tensors, "optional list": _optional_tensors}
)
"""The checks of a parameter, by its kind; tensors of an `optional list` may be missing."""
