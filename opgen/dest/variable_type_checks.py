"""The checks with which a debug build of torch sees that an operator left its arguments alone.

Before the operator runs, the storage and the implementation of each tensor are noted; after it, they
must be the same, and results must be new tensors (or, for views, share the storage of their base).

    #ifndef NDEBUG
    auto self__storage_saved =
      self_.has_storage() ? ::std::optional<Storage>(self_.storage()) : ::std::nullopt;
    #endif
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from opgen.dest.autograd_operators import MAY_RETURN_OLD_IMPL, MAY_RETURN_OLD_STORAGE, MAY_SWAP_STORAGE


@dataclass(frozen=True, slots=True)
class DebugChecks:
    """Statements for before and after the call."""

    before: str
    after: str


NO_CHECKS: Final = DebugChecks("", "")


def render_checks(
    checked: Sequence[DebugChecks], results: Iterable[str], cpp_name: str, kernel: str, view_base: str
) -> DebugChecks:
    """The checks of a kernel, put together of those of its parameters.

    `results` are its new tensors; `view_base` is the parameter whose storage the result has, if it
    is a view.
    """
    if not checked or cpp_name in MAY_SWAP_STORAGE:
        return NO_CHECKS
    before = "".join([piece.before for piece in checked])
    after = "".join([*[piece.after for piece in checked], *[_result(kernel, name, view_base) for name in results]])
    return DebugChecks(f"  #ifndef NDEBUG\n{before}  #endif\n", f"  #ifndef NDEBUG\n{after}  #endif\n")


def _tensor(name: str, *, reserves: bool) -> DebugChecks:
    del reserves
    before = f"""\
  auto {name}_storage_saved =
    {name}.has_storage() ? ::std::optional<Storage>({name}.storage()) : ::std::nullopt;
  c10::intrusive_ptr<TensorImpl> {name}_impl_saved;
  if ({name}.defined()) {name}_impl_saved = {name}.getIntrusivePtr();
"""
    after = f"""\
{_same_storage(name, name)}\
  if ({name}_impl_saved && !at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch({name}))
    TORCH_INTERNAL_ASSERT({name}_impl_saved == {name}.getIntrusivePtr());
"""
    return DebugChecks(before, after)


def _same_storage(name: str, other: str) -> str:
    return f"""\
  if ({name}_storage_saved.has_value() &&
      !at::impl::dispatch_mode_enabled() &&
      !at::impl::tensor_has_dispatch({name}) &&
      !at::impl::tensor_has_dispatch({other}))
    TORCH_INTERNAL_ASSERT({name}_storage_saved.value().is_alias_of({other}.storage()));
"""


def _storages(name: str, reserves: bool) -> tuple[str, str]:
    """The vector for the storages of a list, and the member function that adds one."""
    vector = f"  std::vector<::std::optional<Storage>> {name}_storage_saved"
    if reserves:
        return f"{vector};\n  {name}_storage_saved.reserve({name}.size());\n", "emplace_back"
    return f"{vector}({name}.size());\n", "push_back"


def _tensors(name: str, *, reserves: bool) -> DebugChecks:
    vector, add = _storages(name, reserves)
    before = f"""\
{vector}\
  for (const Tensor& tensor : {name})
    {name}_storage_saved.{add}(
      tensor.has_storage() ? ::std::optional<Storage>(tensor.storage()) : ::std::nullopt);
  std::vector<c10::intrusive_ptr<TensorImpl>> {name}_impl_saved({name}.size());
  for (size_t i=0; i<{name}.size(); i++)
    if ({name}[i].defined()) {name}_impl_saved[i] = {name}[i].getIntrusivePtr();
"""
    after = f"""\
  for (size_t i=0; i<{name}.size() && !at::impl::dispatch_mode_enabled(); i++) {{
    if ({name}_storage_saved[i].has_value() && !at::impl::tensorlist_has_dispatch({name}))
      TORCH_INTERNAL_ASSERT({name}_storage_saved[i].value().is_alias_of({name}[i].storage()));
  }}
  for (size_t i=0; i<{name}.size() && !at::impl::dispatch_mode_enabled(); i++) {{
    if ({name}_impl_saved[i] && !at::impl::tensorlist_has_dispatch({name}))
      TORCH_INTERNAL_ASSERT({name}_impl_saved[i] == {name}[i].getIntrusivePtr());
  }}
"""
    return DebugChecks(before, after)


def _optional_tensors(name: str, *, reserves: bool) -> DebugChecks:
    vector, add = _storages(name, reserves)
    before = f"""\
{vector}\
  for (const ::std::optional<Tensor>& tensor : {name})
    {name}_storage_saved.{add}(
      tensor.has_value() && tensor->has_storage() ? ::std::optional<Storage>(tensor->storage()) : ::std::nullopt);
  std::vector<c10::intrusive_ptr<TensorImpl>> {name}_impl_saved({name}.size());
  for (size_t i=0; i<{name}.size(); i++) {{
    ::std::optional<Tensor> t = {name}[i];
    if (t.has_value() && t->defined()) {name}_impl_saved[i] = t->getIntrusivePtr();
  }}
"""
    after = f"""\
  for (size_t i=0; i<{name}.size() && !at::impl::dispatch_mode_enabled(); i++) {{
    if ({name}_storage_saved[i].has_value() && !at::impl::tensorlist_has_dispatch({name}))
      TORCH_INTERNAL_ASSERT({name}_storage_saved[i].value().is_alias_of(
          static_cast<::std::optional<Tensor>>({name}[i])->storage()));
  }}
  for (size_t i=0; i<{name}.size() && !at::impl::dispatch_mode_enabled(); i++) {{
    if ({name}_impl_saved[i])
      TORCH_INTERNAL_ASSERT(
        {name}_impl_saved[i] == static_cast<::std::optional<Tensor>>({name}[i])->getIntrusivePtr());
  }}
"""
    return DebugChecks(before, after)


def _result(kernel: str, name: str, view_base: str) -> str:
    """That a result is a new tensor, with a new storage unless it is a view."""
    usable = f"!at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch({name})"
    text = ""
    if view_base:
        text += _same_storage(view_base, name)
    elif kernel not in MAY_RETURN_OLD_STORAGE:
        text += f"""\
  if ({name}.has_storage() && {usable}) {{
    TORCH_INTERNAL_ASSERT({name}.storage().use_count() == 1, "function: {kernel}");
  }}
"""
    if kernel not in MAY_RETURN_OLD_IMPL:
        text += f"""\
  if ({usable})
    TORCH_INTERNAL_ASSERT({name}.use_count() == expected_fresh_use_count({name}), "function: {kernel}");
"""
    return text


class Check(Protocol):
    """The checks of a parameter, given its name, and whether a list of storages is reserved."""

    def __call__(self, name: str, *, reserves: bool) -> DebugChecks: ...


CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {"tensor": _tensor, "list": _tensors, "optional list": _optional_tensors}
)
"""What is looked at of a parameter, by its kind; of an `optional list` tensors may lack."""
