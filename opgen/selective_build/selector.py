"""A selection → whether an operator is kept, also for training, or a dtype of a kernel.

    operators:
      aten::add: {include_all_overloads: true}
    kernel_metadata:
      add_kernel: [float, int64_t]

keeps `aten::add.Tensor` (`is_operator_selected`), and of `add_kernel` the code for `float`
(`is_kernel_dtype_selected`).  `get_nop_selector()` keeps everything.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Protocol

from opgen.diagnostics import Diagnostic, Diagnostics, UserError
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.input_files import read_text
from opgen.selective_build.operator import (
    SelectiveBuildOperator,
    merge_debug_info,
    merge_operator_dicts,
    read_operator,
    strip_operator_overload_name,
)
from opgen.selective_build.plain_data import as_boolean, as_mapping, as_texts, check_keys

SELECTION_KEYS: Final = (
    "include_all_non_op_selectives",
    "include_all_operators",
    "debug_info",
    "operators",
    "kernel_metadata",
    "et_kernel_metadata",
    "custom_classes",
    "build_features",
)
"""The keys of a selection."""


class NamedSchema(Protocol):
    """The properties of a schema that a selector needs."""

    @property
    def name(self) -> object:
        """The operator's name with its overload, which prints as `add.Tensor`."""


class NamedFunction(Protocol):
    """The properties of a native function that a selector needs."""

    @property
    def namespace(self) -> str:
        """The namespace that the operator is registered in."""

    @property
    def func(self) -> NamedSchema:
        """The schema."""


@dataclass(frozen=True, slots=True)
class SelectiveBuilder:
    """A selection."""

    include_all_operators: bool
    """Whether all operators and kernels are kept."""
    _debug_info: tuple[str, ...] | None
    """The origin of the selection; None if it isn't given."""
    operators: FrozenMap[str, SelectiveBuildOperator]
    """The operators by name, with namespace and, if the entry is for one, overload."""
    kernel_metadata: FrozenMap[str, tuple[str, ...]]
    """The dtypes that are kept, by the tag of a kernel."""
    et_kernel_metadata: FrozenMap[str, tuple[str, ...]]
    """The kernel keys that ExecuTorch models need, by operator."""
    custom_classes: frozenset[str]
    """TorchBind classes that are kept."""
    build_features: frozenset[str]
    """Features of the build that are kept."""
    include_all_non_op_selectives: bool
    """Whether all kernels, classes and features are kept, whichever operators are."""

    @property
    def debug_info(self) -> tuple[str, ...] | None:
        """The origin of the selection."""
        return self._debug_info

    @staticmethod
    def get_nop_selector() -> SelectiveBuilder:
        """Return the selector that keeps everything."""
        return SelectiveBuilder.from_yaml_dict({"include_all_operators": True})

    @staticmethod
    def from_yaml_dict(data: Mapping[str, object]) -> SelectiveBuilder:
        """Read a selection from plain data.  Raises UserError with all errors."""
        log = Diagnostics()
        selector = _read_selection(data, log)
        log.raise_errors()
        return selector

    @staticmethod
    def from_yaml_str(config_contents: str) -> SelectiveBuilder:
        """Read a selection from YAML text.  Raises UserError with all errors."""
        # Few runs have a selection, and it takes a while to import.
        yaml = importlib.import_module("yaml")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            return SelectiveBuilder.from_yaml_dict(yaml.load(config_contents, Loader=loader))
        except yaml.YAMLError as problem:
            raise UserError(Diagnostic("yaml-syntax", f"the selection is not YAML: {problem}")) from None

    @staticmethod
    def from_yaml_path(config_path: str) -> SelectiveBuilder:
        """Read a selection from a YAML file.  Raises UserError with all errors."""
        try:
            text = read_text(config_path)
        except (OSError, UnicodeDecodeError) as problem:
            raise UserError(Diagnostic("unreadable-file", f"can't read '{config_path}': {problem}")) from None
        return SelectiveBuilder.from_yaml_str(text)

    @staticmethod
    def from_legacy_op_registration_allow_list(
        allow_list: Collection[str], is_root_operator: bool, is_used_for_training: bool
    ) -> SelectiveBuilder:
        """Return the selector that keeps these operators with all overloads, and all kernels, classes and features."""
        operators = {
            name: SelectiveBuildOperator(name, is_root_operator, is_used_for_training, True)
            for name in sorted(allow_list)
        }
        nothing: FrozenMap[str, tuple[str, ...]] = FrozenMap()
        return SelectiveBuilder(
            include_all_operators=False,
            _debug_info=None,
            operators=FrozenMap(operators),
            kernel_metadata=nothing,
            et_kernel_metadata=nothing,
            custom_classes=frozenset(),
            build_features=frozenset(),
            include_all_non_op_selectives=True,
        )

    def is_operator_selected(self, name: str) -> bool:
        """Return whether the operator `name`, with its namespace, is kept."""
        return self.include_all_operators or name in self.operators or self._all_overloads(name) is not None

    def is_root_operator(self, name: str) -> bool:
        """Return whether models call the operator; the entry of an overload precedes that of all overloads."""
        entry = self.operators.get(name) or self._all_overloads(name)
        return self.include_all_operators or (entry is not None and entry.is_root_operator)

    def is_operator_selected_for_training(self, name: str) -> bool:
        """Return whether the operator's autograd kernels are kept, by its entry or that of all overloads."""
        entries = (self.operators.get(name), self._all_overloads(name))
        return self.include_all_operators or any(entry.is_used_for_training for entry in entries if entry)

    def is_native_function_selected(self, func: NamedFunction) -> bool:
        """Return whether the operator of a native function is kept."""
        return self.is_operator_selected(op_name_from_native_function(func))

    def is_native_function_selected_for_training(self, func: NamedFunction) -> bool:
        """Return whether the autograd kernels of a native function are kept."""
        return self.is_operator_selected_for_training(op_name_from_native_function(func))

    def is_kernel_dtype_selected(self, kernel_tag: str, dtype: str) -> bool:
        """Return whether the kernel `kernel_tag` is kept for `dtype`."""
        if self.include_all_operators or self.include_all_non_op_selectives:
            return True
        return dtype in self.kernel_metadata.get(kernel_tag, ())

    def et_get_selected_kernels(self, op_name: str, kernel_key: Sequence[str]) -> list[str]:
        """Return the operator's kernel keys that the selected ExecuTorch models need, sorted.

        A model's key and a kernel's are the same if what follows their version is; a model whose
        key has no kernel falls back on the kernel `default`, and it is a `UserError` if there is none.
        """
        if op_name not in self.et_kernel_metadata:
            return list(kernel_key) if self.include_all_operators else []
        needed = {_kernel_for(op_name, key, kernel_key) for key in self.et_kernel_metadata[op_name]}
        return sorted(needed)

    def to_dict(self) -> dict[str, object]:
        """Return plain data that `from_yaml_dict` reads."""
        data: dict[str, object] = {
            "include_all_non_op_selectives": self.include_all_non_op_selectives,
            "include_all_operators": self.include_all_operators,
            "operators": {name: operator.to_dict() for name, operator in self.operators.items()},
        }
        if self._debug_info is not None:
            data["debug_info"] = sorted(self._debug_info)
        data["kernel_metadata"] = {tag: sorted(dtypes) for tag, dtypes in self.kernel_metadata.items()}
        data["et_kernel_metadata"] = {name: list(keys) for name, keys in self.et_kernel_metadata.items()}
        data["custom_classes"] = sorted(self.custom_classes)
        data["build_features"] = sorted(self.build_features)
        return data

    def _all_overloads(self, name: str) -> SelectiveBuildOperator | None:
        """Return the entry for all overloads of the operator `name`; None if there is none."""
        entry = self.operators.get(strip_operator_overload_name(name))
        return entry if entry is not None and entry.include_all_overloads else None


def op_name_from_native_function(function: NamedFunction) -> str:
    """Return the name of a native function in selections: `aten::add.Tensor`."""
    return f"{function.namespace}::{function.func.name}"


def merge_kernel_metadata(
    lhs: Mapping[str, Collection[str]], rhs: Mapping[str, Collection[str]]
) -> FrozenMap[str, tuple[str, ...]]:
    """Return the sorted dtypes of both, by tag."""
    tags = dict.fromkeys((*lhs, *rhs))
    return FrozenMap({tag: tuple(sorted({*lhs.get(tag, ()), *rhs.get(tag, ())})) for tag in tags})


merge_et_kernel_metadata = merge_kernel_metadata
"""Returns the sorted kernel keys of both, by operator."""


def combine_selective_builders(lhs: SelectiveBuilder, rhs: SelectiveBuilder) -> SelectiveBuilder:
    """Return the union of both selectors."""
    return SelectiveBuilder(
        include_all_operators=lhs.include_all_operators or rhs.include_all_operators,
        _debug_info=merge_debug_info(lhs.debug_info, rhs.debug_info),
        operators=merge_operator_dicts(lhs.operators, rhs.operators),
        kernel_metadata=merge_kernel_metadata(lhs.kernel_metadata, rhs.kernel_metadata),
        et_kernel_metadata=merge_et_kernel_metadata(lhs.et_kernel_metadata, rhs.et_kernel_metadata),
        custom_classes=lhs.custom_classes | rhs.custom_classes,
        build_features=lhs.build_features | rhs.build_features,
        include_all_non_op_selectives=lhs.include_all_non_op_selectives or rhs.include_all_non_op_selectives,
    )


def _kernel_for(op_name: str, wanted: str, kernels: Sequence[str]) -> str:
    """Return the kernel key of `op_name` for a model's key `wanted`."""
    for kernel in kernels:
        if kernel == wanted or (kernel != "default" and _unversioned(kernel) == _unversioned(wanted)):
            return kernel
    if "default" in kernels:
        return "default"
    raise UserError(Diagnostic("missing-kernel", f"'{op_name}' has no kernel for the key '{wanted}'"))


def _unversioned(kernel_key: str) -> str:
    """Return the tensor part of a kernel key: `6;0,1` of `v1/6;0,1`."""
    version, _, key = kernel_key.partition("/")
    return key.partition("/")[0] or version


def _read_selection(plain: object, log: Diagnostics) -> SelectiveBuilder:
    data = as_mapping(plain, "a selection", log)
    check_keys(data, SELECTION_KEYS, "a selection", log)
    operators = as_mapping(data.get("operators"), "'operators'", log)
    return SelectiveBuilder(
        include_all_operators=as_boolean(data.get("include_all_operators", False), "'include_all_operators'", log),
        _debug_info=as_texts(data["debug_info"], "'debug_info'", log) if "debug_info" in data else None,
        operators=FrozenMap({name: read_operator(name, info, log) for name, info in operators.items()}),
        kernel_metadata=_lists(data, "kernel_metadata", log),
        et_kernel_metadata=_lists(data, "et_kernel_metadata", log),
        custom_classes=frozenset(as_texts(data.get("custom_classes", ()), "'custom_classes'", log)),
        build_features=frozenset(as_texts(data.get("build_features", ()), "'build_features'", log)),
        include_all_non_op_selectives=as_boolean(
            data.get("include_all_non_op_selectives", False), "'include_all_non_op_selectives'", log
        ),
    )


def _lists(data: Mapping[str, object], key: str, log: Diagnostics) -> FrozenMap[str, tuple[str, ...]]:
    """Return the mapping of names to lists under `key`."""
    lists = as_mapping(data.get(key), f"'{key}'", log)
    return FrozenMap({name: as_texts(value, f"'{key}' of '{name}'", log) for name, value in lists.items()})
