"""All operators → the Python functions that are bound, with their overloads in the parser's order.

A Python function has one overload per signature; the form with out arguments and the functional form
share one.  The argument parser tries overloads in order and takes the first match, so an overload that
accepts more kinds of values must come after those that accept fewer: a tensor of one element is
accepted as a `Scalar`, so `Tensor` comes first.

    masked_fill(Tensor self, Tensor mask, Scalar value) -> Tensor
    masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor

    masked_fill(Tensor input, Tensor mask, Tensor value)
    masked_fill(Tensor input, Tensor mask, Scalar value)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import Final, TypeAlias

from opgen.api.python import SCALAR, Deprecation, PythonNumber, PythonSignature, PythonSignatures
from opgen.api.python_parser import DIMNAME, TENSOR
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, BaseType, ListType, NativeFunction, OptionalType, Type, Variant


@dataclass(frozen=True, slots=True)
class DeprecatedForm:
    """A deprecated signature of an operator, which Python still accepts."""

    function: NativeFunction
    deprecation: Deprecation


@dataclass(frozen=True, slots=True)
class Pair:
    """One operator overload and its Python signature."""

    signature: PythonSignature
    function: NativeFunction


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a Python function and what it calls."""

    signature: PythonSignature
    base: NativeFunction
    outplace: NativeFunction | None
    """The out variant, which is called if `out` is passed."""

    def functions(self) -> tuple[NativeFunction, ...]:
        """Return the operators that it calls."""
        return (self.base,) if self.outplace is None else (self.base, self.outplace)


class OverloadError(ValueError):
    """Overloads that the parser can't distinguish, or an out variant without a functional form."""

    def __init__(self, function: NativeFunction, others: tuple[NativeFunction, ...], reason: str) -> None:
        super().__init__(f"'{function.func.name}' {reason}")
        self.function = function
        self.others = others
        self.reason = reason


# --------------------------------------------------------------------------- what is bound


def _names(text: str) -> frozenset[str]:
    return frozenset(_parts(text))


def _parts(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_HANDWRITTEN: Final = _names(
    """
    _reshape_alias _reshape_copy _to_copy alias contiguous copy copy_ copy_sparse_to_sparse_ data dim get_device
    index is_contiguous is_cuda is_leaf is_sparse is_sparse_csr item _local_scalar_dense matrix_H mH mT nonzero
    nonzero_numpy normal_functional numel numpy_T output_nr requires_grad_ retains_grad set_ set_data size slice
    storage_offset stride sym_is_contiguous sym_numel sym_size sym_storage_offset sym_stride tensor to
    """
)
"""Operators with handwritten bindings in torch, or that are attributes of tensors."""
_INTERNAL: Final = _names(
    """
    _batch_norm_no_update _batch_norm_with_update _batch_norm_with_update_functional _foreach_copy _fw_primal
    _has_same_storage_numel _new_zeros_with_same_feature_meta _unsafe_view _version
    fake_quantize_per_channel_affine_cachemask fake_quantize_per_tensor_affine_cachemask unique_dim_consecutive
    """
)
"""Internal operators, which aren't bound."""
_INTERNAL_PREFIXES: Final = _parts(
    """
    _cholesky _cumprod _cumsum _inverse _prod _qr _range _solve _sparse_bsc_tensor _sparse_bsr_tensor
    _sparse_compressed_tensor _sparse_coo_tensor _sparse_csc_tensor _sparse_csr_tensor _sparse_div _sparse_mul
    _sparse_sub _sum _svd _th_ _thnn_ _triangular_solve lift range sparse_bsc_tensor sparse_bsr_tensor
    sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor
    """
)
_INTERNAL_SUFFIXES: Final = _parts(
    "_backward _backward_bias _backward_input _backward_weight _forward _jvp _overrideable"
)
"""Patterns of the names of internal operators and of operators with a handwritten binding."""
_COPIES: Final = _names(
    """
    _conj_copy _fw_primal_copy _indices_copy _make_dual_copy _neg_view_copy _nested_get_values_copy
    _nested_view_from_buffer_copy _nested_view_from_jagged_copy _reshape_alias_copy _sparse_broadcast_to_copy
    _test_autograd_multiple_dispatch_view_copy _values_copy alias_copy as_strided_copy ccol_indices_copy
    col_indices_copy crow_indices_copy detach_copy diagonal_copy expand_copy indices_copy permute_copy
    row_indices_copy select_copy slice_copy slice_scatter squeeze_copy t_copy transpose_copy unfold_copy
    unsqueeze_copy values_copy view_as_complex_copy view_as_real_copy view_copy
    """
)
"""Derived operators that torch binds for compatibility."""
_UNREACHABLE_SCALAR_OVERLOADS: Final = frozenset(
    f"{name}.Scalar({tensor} self, Scalar other{alpha}) -> {tensor}"
    for name, alpha in (("add", ", Scalar alpha=1"), ("sub", ", Scalar alpha=1"), ("mul", ""), ("div", ""))
    for name, tensor in ((name, "Tensor"), (f"{name}_", "Tensor(a!)"))
)
"""Overloads that Python never calls, since numbers are converted to tensors first."""


def should_generate_py_binding(function: NativeFunction) -> bool:
    """Return whether an operator has a generated Python function or method."""
    name = function.func.name.name
    if "generated" in function.tags and name.base not in _COPIES:
        return False
    text = name.text
    if text in _HANDWRITTEN or text in _INTERNAL:
        return False
    if text.startswith(_INTERNAL_PREFIXES) or text.endswith(_INTERNAL_SUFFIXES):
        return False
    return function.func.name.overload_name != "Scalar" or str(function.func) not in _UNREACHABLE_SCALAR_OVERLOADS


# Where Python binds an operator.

Selection: TypeAlias = Callable[[NativeFunction], bool]


def is_py_variable_method(function: NativeFunction) -> bool:
    """Return whether it is a method of tensors."""
    return function.python_module is None and Variant.method in function.variants


def is_py_torch_function(function: NativeFunction) -> bool:
    """Return whether it is a function of the module `torch`."""
    return function.python_module is None and Variant.function in function.variants


def is_in_module(name: str) -> Selection:
    """Return the predicate for functions of the module `torch.<name>`."""
    return lambda function: function.python_module == name


# ------------------------------------------------------------------------------- signatures


def load_signatures(
    functions: Iterable[NativeFunction],
    deprecated: Iterable[DeprecatedForm],
    *,
    method: bool,
    signatures: PythonSignatures | None = None,
) -> tuple[Pair, ...]:
    """Return the signatures of functions, then the deprecated ones."""
    memo = PythonSignatures() if signatures is None else signatures
    current = [Pair(memo.of(function, method=method), function) for function in functions]
    deprecated_pairs = [
        Pair(memo.deprecated(form.deprecation, form.function, method=method), form.function) for form in deprecated
    ]
    return (*current, *deprecated_pairs)


def group_by_name(pairs: Iterable[Pair], selection: Selection) -> dict[str, list[Pair]]:
    """Return the selected overloads of each Python name, in the order of first appearance."""
    by_name: dict[str, list[Pair]] = {}
    for pair in pairs:
        if selection(pair.function):
            by_name.setdefault(pair.function.func.name.name.text, []).append(pair)
    return by_name


def group_overloads(pairs: Sequence[Pair]) -> tuple[Overload, ...]:
    """Return the overloads of one Python name, functional forms and out variants paired, in the parser's order.

    Raises OverloadError for an out form without a functional one, and for two forms with one signature.
    """
    if len(pairs) == 1 and not pairs[0].function.func.is_out_fn():
        return (Overload(pairs[0].signature, pairs[0].function, None),)
    bases: dict[str, Pair] = {}
    outs: dict[str, Pair] = {}
    for pair in pairs:
        key = pair.signature.signature_str(skip_outputs=True)
        by_signature = outs if pair.function.func.is_out_fn() else bases
        if by_signature.setdefault(key, pair) is not pair:
            reason = f"has the same signature in Python as '{by_signature[key].function.func.name}': {key}"
            raise OverloadError(pair.function, (by_signature[key].function,), reason)
    for key, out in outs.items():
        if key not in bases:
            reason = f"has no functional form with its signature in Python, {key}"
            raise OverloadError(out.function, tuple(pair.function for pair in bases.values()), reason)
    return sort_overloads([_overload(base, outs.get(key)) for key, base in bases.items()])


def _overload(base: Pair, out: Pair | None) -> Overload:
    if out is None:
        return Overload(base.signature, base.function, None)
    return Overload(base.signature.with_out_form(out.signature), base.function, out.function)


# ------------------------------------------------------------------------------------ order


def sort_overloads(overloads: Sequence[Overload]) -> tuple[Overload, ...]:
    """Return overloads in the parser's order: alphabetical, but never before an overload that it hides."""
    if len(overloads) == 1:
        return tuple(overloads)
    ordered = sorted(overloads, key=lambda overload: overload.signature.signature_str())
    taken = [[a.type for a in o.signature.input_args + o.signature.input_kwargs] for o in ordered]
    waits_for: dict[int, set[int]] = {}
    for later, types in enumerate(taken):
        before = {i for i, others in enumerate(taken) if len(others) == len(types) and hides(types, others)}
        if before:
            waits_for[later] = before
    if not waits_for:
        return tuple(ordered)
    return tuple(ordered[index] for index in _in_order(len(ordered), waits_for))


def _in_order(count: int, waits_for: dict[int, set[int]]) -> list[int]:
    """Return the numbers below `count`, each after those that must precede it, otherwise in ascending order."""
    order = [index for index in range(count) if index not in waits_for]
    for done in order:  # the loop appends to it
        for index in sorted(waits_for):
            waits_for[index].discard(done)
            if not waits_for[index]:
                del waits_for[index]
                order.append(index)
    return order


def hides(one: Sequence[Type], other: Sequence[Type]) -> bool:
    """Return whether arguments of the types `one` accept everything that those of `other` do, and more.

    Then the parser must try `other` first.
    """
    accepts_more = False
    for mine, theirs in zip(one, other, strict=True):
        if mine != theirs:
            if not accepts_all(mine, theirs):
                return False
            accepts_more = True
    return accepts_more


_SCALARS: Final = frozenset({BaseTy.Scalar, BaseTy.int, BaseTy.SymInt})
_INT_LIST: Final = ListType(BaseType(BaseTy.int), None)
_TENSOR_LIST: Final = ListType(TENSOR, None)
_ALSO_ACCEPTED: Final[Mapping[Type, tuple[Type, ...]]] = MappingProxyType(
    {
        **{BaseType(ty): (TENSOR,) for ty in _SCALARS},
        OptionalType(BaseType(BaseTy.Scalar)): (OptionalType(TENSOR),),
        _INT_LIST: (BaseType(BaseTy.int), OptionalType(BaseType(BaseTy.int))),
        ListType(BaseType(BaseTy.SymInt), None): (_INT_LIST,),
        OptionalType(ListType(DIMNAME, None)): (OptionalType(BaseType(BaseTy.Generator)),),
    }
)
"""Types, each with the types whose values it also accepts."""


def accepts_all(one: Type, other: Type) -> bool:
    """Return whether the parser accepts for `one` everything that it accepts for `other`."""
    if other in _ALSO_ACCEPTED.get(one, ()):
        return True
    if one.base_ty is BaseTy.Dimname and other.base_ty is BaseTy.int:
        return True
    # An empty sequence is a list of tensors as well as any other list.
    return one == _TENSOR_LIST and _has_unsized_list(other)


def _has_unsized_list(t: Type) -> bool:
    as_list = t.is_list_like()
    return as_list is not None and as_list.size is None


# ---------------------------------------------------------------------------------- numbers

_MAX_OPERANDS: Final = 3
"""Maximum number of tensors that numbers may replace; each one doubles the number of overloads."""


def takes_numbers(overload: Overload) -> bool:
    """Return whether callers pass numbers instead of tensors to this overload."""
    return any(isinstance(argument, PythonNumber) for argument in overload.signature.input_args)


def with_numbers(overloads: Sequence[Overload]) -> tuple[Overload, ...]:
    """Return the overloads, and those with numbers instead of tensors for pointwise operators.

    At least one tensor must remain.  An overload for numbers in the schemas takes precedence.
    """
    new_overloads: list[Overload] = []
    for overload in overloads:
        for positions in _number_positions(overload):
            if _is_free(positions, overload, (*overloads, *new_overloads)):
                new_overloads.append(_with_numbers_at(positions, overload))
    return sort_overloads([*overloads, *new_overloads]) if new_overloads else tuple(overloads)


def _number_positions(overload: Overload) -> Iterator[tuple[int, ...]]:
    if "pointwise" not in overload.base.tags:
        return
    mutated = {argument.name for argument in overload.base.func.arguments.flat_all if argument.is_write}
    tensors = [index for index, argument in enumerate(overload.signature.input_args) if argument.type == TENSOR]
    free = [index for index in tensors if overload.signature.input_args[index].name not in mutated]
    if len(free) > _MAX_OPERANDS:
        return
    for count in range(1, min(len(free), len(tensors) - 1) + 1):
        yield from combinations(free, count)


def _with_numbers_at(positions: tuple[int, ...], overload: Overload) -> Overload:
    arguments = tuple(
        PythonNumber(argument.name, SCALAR, argument.default) if index in positions else argument
        for index, argument in enumerate(overload.signature.input_args)
    )
    return replace(overload, signature=replace(overload.signature, input_args=arguments))


def _is_free(positions: tuple[int, ...], overload: Overload, others: Sequence[Overload]) -> bool:
    """Return whether no other overload takes numbers at these positions."""
    own = [SCALAR if i in positions else a.type for i, a in enumerate(overload.signature.input_args)]
    for other in others:
        types = [argument.type for argument in other.signature.input_args]
        covers_out = other.outplace is not None or overload.outplace is None
        if other is not overload and ((types == own and covers_out) or not _are_operands(types, positions)):
            return False
    return True


def _are_operands(types: Sequence[Type], positions: tuple[int, ...]) -> bool:
    return all(types[position] in (TENSOR, SCALAR) for position in positions if position < len(types))
