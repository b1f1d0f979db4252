"""The flags of `gen` that were given, and what it writes → a warning for each flag without an effect on that.

--namespace mine, for an extension   →   warning: --namespace has no effect on an extension
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from opgen.diagnostics import Diagnostics


class Target(Enum):
    """What `gen` writes, as warnings name it."""

    ATEN = "the sources of ATen"
    EXTENSION = "an extension"
    STABLE = "an extension in the stable ABI"
    MLX = "operators of MLX"


OF_THE_RUN: Final = frozenset({"format", "dry_run", "jobs", "stamp", "depfile", "quiet", "verbose"})
"""The flags about how to run and what to print."""
# --stable-abi makes an extension or is an error; without it, --kernel-builder is one.
_OF_ALL: Final = OF_THE_RUN | {"source_path", "from_torch", "install_dir", "stable_abi", "kernel_builder"}
_OF_TORCH: Final = _OF_ALL | {"torch_version", "extension", "backend_whitelist", "output_dependencies", "install_list"}

EFFECTS: Final[Mapping[Target, frozenset[str]]] = MappingProxyType(
    {
        Target.ATEN: _OF_TORCH
        | {"aoti_install_dir", "headeronly_install_dir", "native_aot_ops_dir", "per_operator_headers", "generate"}
        | {"rocm", "mps", "xpu", "mtia", "static_dispatch_backend"}
        | {"op_registration_whitelist", "op_selection_yaml_path", "allow_unknown_operators"}
        | {"skip_dispatcher_op_registration", "force_schema_registration"}
        | {"update_aoti_c_shim", "extend_aoti_c_shim", "aoti_fallback_ops"},
        Target.EXTENSION: _OF_TORCH | {"aoti_install_dir", "fragment", "python"},
        Target.STABLE: _OF_TORCH | {"fragment", "python"},
        Target.MLX: _OF_ALL | {"namespace"},
    }
)
"""The flags that have an effect on what is written, by the names of their values."""


def given_flags(parser: argparse.ArgumentParser, options: argparse.Namespace) -> dict[str, str]:
    """Return the flags of a parser that have other values than their defaults, spelled, by the names of the values."""
    flags = {}
    for action in parser._actions:
        value = getattr(options, action.dest, action.default)
        if action.option_strings and value != action.default:
            spellings = [each for each in action.option_strings if each.startswith("--no-") == (value is False)]
            flags[action.dest] = next(each for each in spellings if each.startswith("--"))
    return flags


def warn_of_flags(flags: Mapping[str, str], target: Target, log: Diagnostics) -> None:
    """Warn about each of the flags, from `given_flags`, that has no effect on what is written."""
    for name, flag in flags.items():
        if name not in EFFECTS[target]:
            message = f"{flag} has no effect on {target.value}"
            log.warning("flag-without-effect", message, label=_label(name, target))


def _label(name: str, target: Target) -> str:
    if target is Target.MLX:
        return "'opgen gen_mlx --help' lists the flags that do"
    if name == "namespace":
        return "the namespace in the definitions is the library's name"
    if name == "aoti_install_dir":
        return "compiled models call the operators through the dispatcher"
    if target is Target.ATEN:
        return "it is for an extension, which --extension writes"
    return "it is for the sources of ATen, which --no-extension writes"
