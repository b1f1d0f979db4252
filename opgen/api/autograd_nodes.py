"""Derivatives → the classes of autograd nodes: their members, and the code that handles each member.

self (at::Tensor)                       SavedVariable self_;
                                        self_.reset_data();
                                        auto self = self_.unpack();
dim (at::IntArrayRef)                   std::vector<int64_t> dim;
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import itemgetter
from types import MappingProxyType
from typing import Final, TypeAlias

from opgen.api.autograd import DifferentiabilityInfo, SavedAttribute, uses_retain_variables
from opgen.api.types import (
    I_TENSOR_LIST_REF,
    INT_ARRAY_REF,
    LONG,
    OPTIONAL_INT_ARRAY_REF,
    OPTIONAL_SYM_INT_ARRAY_REF,
    OPTIONAL_TENSOR,
    OPTIONAL_TENSOR_LIST,
    SCALAR_ARRAY_REF,
    SYM_INT_ARRAY_REF,
    TENSOR,
    TENSOR_LIST,
    ArrayRefCType,
    BaseCType,
    Binding,
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
from opgen.frozen_dataclass import dataclass

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
"""The owning types that save non-owning values."""

_STRING: Final = BaseCType(stringT)

_TENSORS: Final = frozenset({TENSOR.spelled, OPTIONAL_TENSOR.spelled})
_TENSOR_LISTS: Final = frozenset(
    {TENSOR_LIST.spelled, I_TENSOR_LIST_REF.remove_const_ref().spelled, VectorCType(TENSOR).spelled}
)
_OPTIONAL_TENSOR_LISTS: Final = frozenset({ListCType(OPTIONAL_TENSOR).spelled})
"""Types of saved tensors, as C++ spells them: comparing strings runs no Python code."""
_LIST_PARAMETERS: Final = frozenset({TENSOR_LIST.spelled, I_TENSOR_LIST_REF.spelled})
"""Types of parameters that are lists of tensors."""
_UNSUPPORTED: Final = tuple(map(BaseCType, (qschemeT, storageT, streamT, SymBoolT)))
"""Types that compiled autograd doesn't support."""
_REPLACED: Final = ("Sym", "TypeAndSize", "TensorGeometry")
"""Parts of the names of types whose tensors or symbols compiled autograd replaces."""


SELF_POINTER: Final = "getptr()"
"""A pointer to the node, in its members."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member of a node's class, and the lines of code that handle it."""

    name: str
    """The name of the value in formulas."""
    ctype: CType
    member: str
    """The member's name: saved variables end in an underscore."""
    declared: str
    """The declaration of the member."""
    type: str
    """The type of the value in the function that computes gradients."""
    released: str = ""
    """The statements that release its value."""
    guard: str = ""
    """The check that it was not released."""
    unpacked: str = ""
    """The statement that unpacks the value; empty if the member is the value, as for anything but tensors."""
    is_output: bool = False
    """Whether it saves a result rather than an argument."""
    is_swapped: bool = True
    """Whether compiled autograd replaces its tensors and symbols."""


MemberMemo: TypeAlias = dict[tuple[str, str, bool], Member]
"""A cache of members by name, type and whether they are results: most nodes save the same few values."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """The class of an autograd node."""

    info: DifferentiabilityInfo
    op: str
    members: tuple[Member, ...]
    arguments: tuple[Binding, ...]
    """The arguments whose gradients it computes."""
    sizes: tuple[str, ...]
    """The members for the lengths of the arguments that are lists."""
    lists: frozenset[str]
    """The names of the arguments that are lists."""
    retains: bool
    """Whether a formula uses `retain_variables`."""

    @staticmethod
    def of(
        info: DifferentiabilityInfo,
        op: str,
        *,
        saves_more_types: bool = False,
        memo: MemberMemo | None = None,
        self_pointer: str = SELF_POINTER,
    ) -> Node:
        """Return the class for an entry; with `saves_more_types`, it also supports types that torch's own nodes don't.

        `self_pointer` is the expression for a pointer to the node in its members.
        """
        arguments = info.args_with_derivatives
        # In torch, lists of optional tensors have no gradients.
        list_types = _LIST_PARAMETERS | {OPTIONAL_TENSOR_LIST.spelled} if saves_more_types else _LIST_PARAMETERS
        lists = [argument.name for argument in arguments if argument.nctype.type.spelled in list_types]
        members = [
            *_members(info.all_saved_inputs, False, memo if memo is not None else {}, self_pointer),
            *_members(info.all_saved_outputs, True, memo if memo is not None else {}, self_pointer),
        ]
        return Node(
            info,
            op,
            tuple(map(_owning, members) if saves_more_types else members),
            arguments,
            tuple([f"{name}_size_" for name in lists]),
            frozenset(lists),
            uses_retain_variables(info),
        )


def nodes_of(infos: Iterable[DifferentiabilityInfo], *, saves_more_types: bool = False) -> list[Node]:
    """Return the node classes of the entries that have gradients."""
    memo: MemberMemo = {}
    return [
        Node.of(info, info.op, saves_more_types=saves_more_types, memo=memo) for info in infos if info.op is not None
    ]


# ------------------------------------------------------------------------------------ members


def _members(values: Iterable[SavedAttribute], is_output: bool, memo: MemberMemo, self_pointer: str) -> list[Member]:
    """Return the members for saved values, sorted by name."""
    members = []
    for name, ctype in sorted([(value.name, value.nctype.type) for value in values], key=itemgetter(0)):
        key = (name, ctype.spelled, is_output)
        member = memo.get(key)
        if member is None:
            member = memo[key] = _member(name, ctype, is_output, self_pointer)
        members.append(member)
    return members


def _owning(member: Member) -> Member:
    """Return the member with an owning type and without helpers that only torch's own types have."""
    name, ctype = member.name, member.ctype
    if member.unpacked or ctype in _OWNING:
        return member
    type = _owning_type(ctype) or member.type
    # A device has no default constructor.
    start = "{at::kCPU}" if ctype == BaseCType(deviceT) else " = 0" if ctype == LONG else ""
    is_swapped = any(word in type for word in _REPLACED)
    return replace(member, type=type, declared=f"  {type} {name}{start};\n", is_swapped=is_swapped)


def _owning_type(ctype: CType) -> str | None:
    """Return the owning type of a list; None for other types."""
    if isinstance(ctype, ArrayRefCType):
        return f"std::vector<{'std::string' if ctype.elem == _STRING else ctype.elem}>"
    if isinstance(ctype, OptionalCType) and isinstance(ctype.elem, ArrayRefCType):
        return f"c10::OptionalArray<{ctype.elem.elem}>"
    return None


def can_be_saved(ctype: CType) -> bool:
    """Return whether nodes of a library outside of torch can save an argument of type `ctype`."""
    is_optional = isinstance(ctype, OptionalCType)
    value = ctype.elem if isinstance(ctype, OptionalCType) else ctype
    if not isinstance(value, ArrayRefCType):
        return value not in _UNSUPPORTED and not (is_optional and value == TENSOR_LIST)
    # torch determines the elements of lists from their static types.
    is_lost = isinstance(value.elem, OptionalCType) or value.elem == BaseCType(generatorT)
    return not is_lost and value.elem not in _UNSUPPORTED and not (is_optional and value.elem == _STRING)


def _member(name: str, ctype: CType, is_output: bool, self_pointer: str) -> Member:
    spelled = ctype.spelled
    if spelled in _TENSORS:
        node = self_pointer if is_output else ""
        return Member(
            name=name,
            ctype=ctype,
            member=f"{name}_",
            declared=f"  SavedVariable {name}_;\n",
            type="Tensor",
            released=f"    {name}_.reset_data();\n",
            unpacked=f"  auto {name} = {name}_.unpack({node});\n",
            is_output=is_output,
        )
    if spelled in _TENSOR_LISTS:
        node = self_pointer if is_output else "nullptr"
        return _list_member(name, ctype, "std::vector<Tensor>", f"unpack_list({name}_, {node})", is_output)
    if spelled in _OPTIONAL_TENSOR_LISTS:
        return _list_member(name, ctype, "torch::List<std::optional<Tensor>>", f"unpack_opt_list({name}_)", is_output)
    return _plain_member(name, ctype, is_output)


def _list_member(name: str, ctype: CType, type: str, unpacked: str, is_output: bool) -> Member:
    return Member(
        name=name,
        ctype=ctype,
        member=f"{name}_",
        declared=f"  std::vector<SavedVariable> {name}_;\n  bool {name}_released_ = false;\n",
        type=type,
        released=f"    {name}_.clear();\n    {name}_released_ = true;\n",
        guard=f"  TORCH_CHECK(!{name}_released_, ERR_BACKWARD_TWICE);\n",
        unpacked=f"  auto {name} = {unpacked};\n",
        is_output=is_output,
    )


def _plain_member(name: str, ctype: CType, is_output: bool) -> Member:
    type = _OWNING.get(ctype) or ctype.spelled
    declared = f"  {type} {name}{' = 0' if ctype == LONG else ''};\n"
    released = ""
    if ctype == SCALAR_ARRAY_REF:
        declared += f"  bool {name}_released_ = false;\n"
        released = f"    {name}.clear();\n"
    return Member(name, ctype, name, declared, type, released, is_output=is_output)
