"""What a node of the graph keeps → the members of its class, and the code that handles each of them.

self (at::Tensor)                       SavedVariable self_;
                                        self_.reset_data();
                                        auto self = self_.unpack();
dim (at::IntArrayRef)                   std::vector<int64_t> dim;
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from opgen.api.autograd import DifferentiabilityInfo, SavedAttribute
from opgen.api.types import (
    INT_ARRAY_REF,
    LONG,
    OPTIONAL_INT_ARRAY_REF,
    OPTIONAL_SYM_INT_ARRAY_REF,
    OPTIONAL_TENSOR,
    SCALAR_ARRAY_REF,
    SYM_INT_ARRAY_REF,
    TENSOR,
    TENSOR_LIST,
    ArrayRefCType,
    BaseCType,
    CType,
    ListCType,
    OptionalCType,
    SymBoolT,
    VectorCType,
    deviceT,
    doubleT,
    generatorT,
    qschemeT,
    storageT,
    streamT,
    stringT,
)
from opgen.values import dataclass

_OWNING: Final[Mapping[CType, str]] = MappingProxyType(
    {
        INT_ARRAY_REF: "std::vector<int64_t>",
        SYM_INT_ARRAY_REF: "std::vector<c10::SymInt>",
        OPTIONAL_INT_ARRAY_REF: "c10::OptionalArray<int64_t>",
        OPTIONAL_SYM_INT_ARRAY_REF: "c10::OptionalArray<c10::SymInt>",
        OptionalCType(SYM_INT_ARRAY_REF): "c10::OptionalArray<c10::SymInt>",
        OptionalCType(ArrayRefCType(BaseCType(doubleT))): "c10::OptionalArray<double>",
        BaseCType(stringT): "std::string",
        OptionalCType(BaseCType(stringT)): "std::optional<std::string>",
        SCALAR_ARRAY_REF: "std::vector<at::Scalar>",
    }
)
"""What values that don't own what they show are kept as."""

_STRING: Final = BaseCType(stringT)

_TENSORS: Final = (TENSOR, OPTIONAL_TENSOR)
_TENSOR_LISTS: Final = (TENSOR_LIST, VectorCType(TENSOR))
_OPTIONAL_TENSOR_LIST: Final = ListCType(OPTIONAL_TENSOR)
_NEVER_KEPT: Final = tuple(map(BaseCType, (qschemeT, storageT, streamT, SymBoolT)))
"""What the compiler of graphs can't take, nor be told to take."""
_REPLACED: Final = ("Sym", "TypeAndSize", "TensorGeometry")
"""What types are called that hold symbols, in whose place the compiler of graphs puts its own."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a node's class, and the statements that handle it."""

    name: str
    """What formulas call the value."""
    ctype: CType
    member: str
    """The member's name: tensors are saved as variables and get a trailing underscore."""
    declarations: tuple[str, ...]
    type: str
    """The type that the value has in the function that computes gradients."""
    release: tuple[str, ...]
    """Statements that let go of it."""
    guard: str
    """A statement that refuses to go on if it was let go of; may be empty."""
    unpack: str
    """A statement that makes the value of the member; empty if they are the same."""
    is_output: bool
    """Whether it is kept of a result, rather than of an argument."""
    is_swapped: bool = True
    """Whether the compiler of graphs is asked to put its own tensors and symbols in."""

    @property
    def is_variable(self) -> bool:
        """Whether it is a tensor or a list of tensors."""
        return bool(self.unpack)

    @property
    def collected(self) -> str:
        """The arguments with which it is handed to the compiler of graphs."""
        return f"{self.member}, {_boolean(self.is_output)}" if self.is_variable else self.member


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def saved_members(info: DifferentiabilityInfo, *, keeps_more: bool = False) -> tuple[Member, ...]:
    """The members of an entry's node: what is kept of arguments, then of results, each by name.

    With `keeps_more`, values of types, too, that torch's own nodes don't keep.
    """
    inputs = sorted(info.all_saved_inputs, key=lambda saved: saved.name)
    outputs = sorted(info.all_saved_outputs, key=lambda saved: saved.name)
    members = (*(_member(saved, False) for saved in inputs), *(_member(saved, True) for saved in outputs))
    return tuple(map(_owning, members)) if keeps_more else members


def _owning(member: Member) -> Member:
    """The member such that it owns its value, and is handled by nothing that torch has for its own types only."""
    name, ctype = member.name, member.ctype
    if member.is_variable or ctype in _OWNING:
        return member
    type = _owning_type(ctype) or member.type
    # A device can't be made of nothing.
    declaration = f"{type} {name}{{at::kCPU}};" if ctype == BaseCType(deviceT) else f"{type} {name};"
    declarations = member.declarations if ctype == LONG else (declaration,)
    return replace(member, type=type, declarations=declarations, is_swapped=any(word in type for word in _REPLACED))


def _owning_type(ctype: CType) -> str | None:
    """The type that owns what a list shows; None for what isn't one."""
    if isinstance(ctype, ArrayRefCType):
        return f"std::vector<{'std::string' if ctype.elem == _STRING else ctype.elem}>"
    if isinstance(ctype, OptionalCType) and isinstance(ctype.elem, ArrayRefCType):
        return f"c10::OptionalArray<{ctype.elem.elem}>"
    return None


def is_kept(ctype: CType) -> bool:
    """Whether nodes of a library outside of torch can keep a value of the type of an argument."""
    is_optional = isinstance(ctype, OptionalCType)
    value = ctype.elem if isinstance(ctype, OptionalCType) else ctype
    if not isinstance(value, ArrayRefCType):
        return value not in _NEVER_KEPT and not (is_optional and value == TENSOR_LIST)
    # Of lists, torch knows what is in them by their types alone.
    is_lost = isinstance(value.elem, OptionalCType) or value.elem == BaseCType(generatorT)
    return not is_lost and value.elem not in _NEVER_KEPT and not (is_optional and value.elem == _STRING)


def _member(saved: SavedAttribute, is_output: bool) -> Member:
    name, ctype = saved.name, saved.nctype.type
    if ctype in _TENSORS:
        node = "getptr()" if is_output else ""
        return Member(
            name=name,
            ctype=ctype,
            member=f"{name}_",
            declarations=(f"SavedVariable {name}_;",),
            type="Tensor",
            release=(f"{name}_.reset_data();",),
            guard="",
            unpack=f"auto {name} = {name}_.unpack({node});",
            is_output=is_output,
        )
    if ctype in _TENSOR_LISTS or ctype == _OPTIONAL_TENSOR_LIST:
        return _list_member(name, ctype, is_output)
    return _plain_member(name, ctype, is_output)


def _list_member(name: str, ctype: CType, is_output: bool) -> Member:
    if ctype == _OPTIONAL_TENSOR_LIST:
        type, unpacked = "torch::List<std::optional<Tensor>>", f"unpack_opt_list({name}_)"
    else:
        node = "getptr()" if is_output else "nullptr"
        type, unpacked = "std::vector<Tensor>", f"unpack_list({name}_, {node})"
    return Member(
        name=name,
        ctype=ctype,
        member=f"{name}_",
        declarations=(f"std::vector<SavedVariable> {name}_;", f"bool {name}_released_ = false;"),
        type=type,
        release=(f"{name}_.clear();", f"{name}_released_ = true;"),
        guard=f"TORCH_CHECK(!{name}_released_, ERR_BACKWARD_TWICE);",
        unpack=f"auto {name} = {unpacked};",
        is_output=is_output,
    )


def _plain_member(name: str, ctype: CType, is_output: bool) -> Member:
    type = _OWNING.get(ctype) or str(ctype)
    declarations: tuple[str, ...] = (f"{type} {name}{' = 0' if ctype == LONG else ''};",)
    release: tuple[str, ...] = ()
    if ctype == SCALAR_ARRAY_REF:
        declarations += (f"bool {name}_released_ = false;",)
        release = (f"{name}.clear();",)
    return Member(name, ctype, name, declarations, type, release, "", "", is_output)
