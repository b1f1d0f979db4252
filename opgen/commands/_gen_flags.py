"""The flags of `gen`, which `check` and `diff` take too, and the checked `Request` that they stand for.

The flags are those of `python -m torchgen.gen`, in both spellings where it has two, and a few of opgen's own.

    -d out --mps   ->   Request(Options(install_dir=out, dispatch_keys=(CPU, …, MPS, …)), …)
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from opgen.commands._flag_effects import given_flags
from opgen.diagnostics import Diagnostics
from opgen.dispatch_keys import (
    MPS_DISPATCH_KEYS,
    MTIA_DISPATCH_KEYS,
    TORCH_DISPATCH_KEYS,
    DispatchKey,
    is_generic_dispatch_key,
)
from opgen.frontend.fallback_ops import FLAG as FALLBACK_OPS_FLAG
from opgen.frontend.native_aot import FLAG as NATIVE_AOT_FLAG
from opgen.frontend.selection import BACKEND_LIST_FLAG, check_words
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.output.diagnostic_formats import FORMATS
from opgen.program.program import Options
from opgen.releases.choice import STABLE_ABI_FLAG, Choice, choose_oldest, choose_release
from opgen.releases.known import newest_release
from opgen.releases.release import Release
from opgen.run.arguments import Parser
from opgen.run.flags import add_build, add_definitions, add_dry_run, add_talk

GENERATED: Final = ("headers", "sources", "declarations_yaml")
"""The choices of `--generate`."""

UPDATE_SHIM_FLAG: Final = "--update-aoti-c-shim"
EXTEND_SHIM_FLAG: Final = "--extend-aoti-c-shim"
KERNEL_BUILDER_FLAG: Final = "--kernel-builder"
NAMESPACE_FLAG: Final = "--namespace"
STATIC_DISPATCH_FLAG: Final = "--static-dispatch-backend"


@dataclass(frozen=True, slots=True)
class Request:
    """One run of `gen`: what to write, and from what."""

    options: Options
    source_path: Path | None
    """Folder of the definitions; None for those that come with opgen or with torch."""
    from_torch: bool
    """Whether to use the definitions and templates of the installed torch."""
    selected_names: tuple[str, ...] | None
    """Operators named by `--op-registration-whitelist`; None if it is not given."""
    selection_path: Path | None
    """The selection file, if any."""
    allow_unknown_operators: bool
    """Whether the selection may name operators that are not defined."""
    fallback_ops_path: Path | None
    """A list of further operators with shims, if any."""
    native_aot_folder: Path | None
    """A folder of modules that declare kernels which are compiled ahead of time, if any."""
    ignored_keys: frozenset[DispatchKey]
    """Keys whose kernels the definitions may name, but which this build doesn't have."""
    extension: bool | None
    """Whether to write an extension or the sources of ATen; None to decide by the definitions."""
    is_fragment: bool
    """Whether an extension's library is defined elsewhere too."""
    with_python: bool
    """Whether an extension gets a Python package."""
    backends: frozenset[DispatchKey] | None
    """The keys that `--backend-whitelist` names; None for all."""
    stable_abi: Release | None
    """The oldest torch that an extension in the stable ABI is to run with; None for torch's C++."""
    kernel_builder: bool
    """Whether Hugging Face's kernel-builder builds an extension in the stable ABI."""
    has_xpu: bool
    """Whether the build is for XPU and so has a list of XPU sources."""
    choice: Choice | None
    """The release of torch; None if it can't be determined, with the reason logged."""
    flags: FrozenMap[str, str]
    """The flags that were given, spelled, by the names of their values."""
    namespace: str | None = None
    """The name of a library of operators of MLX, if it is given; others have it in their definitions."""
    install_list: Path | None = None
    """Where to list the headers that users of the library need."""


def add_gen_flags(parser: argparse.ArgumentParser, formats: Sequence[str] = FORMATS) -> None:
    """Add the flags of the ATen generator; `formats` are the choices of `--format`."""
    _add_paths(parser)
    _add_backends(parser)
    _add_selection(parser)
    _add_outputs(parser)
    build = parser.add_argument_group("build systems")
    add_build(build)
    build.add_argument(
        "--install-list", type=Path, metavar="FILE", help="list the headers below the install directory in FILE"
    )
    add_talk(parser, verbose="name the files that change, and show every warning", formats=formats)


def _add_paths(parser: argparse.ArgumentParser) -> None:
    folders = parser.add_argument_group("folders")
    add_definitions(
        folders,
        folder="folder of the definitions (native/*.yaml) and optional templates (templates/); default: opgen's own",
        torch="use the definitions and templates of the installed torch",
    )
    folders.add_argument(
        "-d",
        "--install-dir",
        "--install_dir",
        type=Path,
        default=Path("build/aten/src/ATen"),
        metavar="DIR",
        help="folder to write to; default: %(default)s",
    )
    folders.add_argument(
        "--aoti-install-dir",
        "--aoti_install_dir",
        type=Path,
        metavar="DIR",
        help="folder to write the AOTInductor shims to, also those of an extension; default: write no shims",
    )
    folders.add_argument(
        "--headeronly-install-dir",
        "--headeronly_install_dir",
        type=Path,
        metavar="DIR",
        help="folder for files that need no library, such as enum_tag.h; default: core in the install directory",
    )
    folders.add_argument(
        NATIVE_AOT_FLAG,
        "--native_aot_ops_dir",
        metavar="DIR",
        help="folder of <operator>/aot.py, which declare kernels that are compiled ahead of time; '' for none; "
        "default: torch/_native/ops in the tree of the definitions",
    )
    folders.add_argument(
        "-o",
        "--output-dependencies",
        "--output_dependencies",
        type=Path,
        metavar="FILE",
        help="also write CMake variables that list the outputs, to FILE and to files beside it",
    )


def _add_backends(parser: argparse.ArgumentParser) -> None:
    backends = parser.add_argument_group("backends")
    backends.add_argument("--rocm", action="store_true", help="treat CUDA as ROCm/HIP")
    backends.add_argument("--mps", action="store_true", help="write registrations for MPS")
    backends.add_argument("--xpu", action="store_true", help="write registrations for XPU")
    backends.add_argument("--mtia", action="store_true", help="write registrations for MTIA")
    backends.add_argument(
        BACKEND_LIST_FLAG,
        "--backend_whitelist",
        nargs="*",
        metavar="KEY",
        help="write code for these dispatch keys only (and the composite ones)",
    )
    backends.add_argument(
        STATIC_DISPATCH_FLAG,
        "--static_dispatch_backend",
        nargs="*",
        metavar="KEY",
        help="call the kernels of these keys directly, without the dispatcher",
    )


def _add_selection(parser: argparse.ArgumentParser) -> None:
    selection = parser.add_argument_group("selective build")
    selection.add_argument(
        "--op-registration-whitelist",
        "--op_registration_whitelist",
        nargs="*",
        metavar="OPERATOR",
        help="register these operators only, with all their overloads (aten::add)",
    )
    selection.add_argument(
        "--op-selection-yaml-path",
        "--op_selection_yaml_path",
        type=Path,
        metavar="FILE",
        help="register what a selection file selects",
    )
    selection.add_argument(
        "--allow-unknown-operators",
        action="store_true",
        help="only warn about selected operators that are not defined here, such as those of TorchScript",
    )
    selection.add_argument(
        "--skip-dispatcher-op-registration",
        "--skip_dispatcher_op_registration",
        action="store_true",
        help="register no operator",
    )
    selection.add_argument(
        "--force-schema-registration",
        "--force_schema_registration",
        action="store_true",
        help="register the schemas of all operators, selected or not",
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    outputs = parser.add_argument_group("outputs")
    outputs.add_argument(
        "--extension",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="write an extension, built outside of torch, or the sources of ATen; default: an extension "
        "if all operators are in a namespace other than aten",
    )
    outputs.add_argument(
        "--fragment",
        action="store_true",
        help="define an extension's library with TORCH_LIBRARY_FRAGMENT, because it is also defined elsewhere",
    )
    outputs.add_argument(
        "--python",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write a Python package of an extension's operators; default: write it",
    )
    outputs.add_argument(
        STABLE_ABI_FLAG,
        metavar="VERSION",
        help="write an extension in torch's stable ABI, whose binary runs with this release of torch and newer ones",
    )
    outputs.add_argument(
        KERNEL_BUILDER_FLAG,
        action="store_true",
        help=f"with {STABLE_ABI_FLAG}, write what Hugging Face's kernel-builder compiles: its folder torch-ext",
    )
    outputs.add_argument(
        NAMESPACE_FLAG, metavar="NAME", help="the name of a library of operators of MLX; default: mlx_ops"
    )
    add_dry_run(outputs)
    outputs.add_argument(
        "--per-operator-headers",
        "--per_operator_headers",
        action="store_true",
        help="write a set of headers for each operator, in ops/",
    )
    outputs.add_argument(
        "--generate", nargs="*", choices=GENERATED, default=GENERATED, help="write these kinds of files only"
    )
    outputs.add_argument(
        UPDATE_SHIM_FLAG,
        "--update_aoti_c_shim",
        action="store_true",
        help="write the headers of the AOTInductor shims instead of checking them; also those for MPS and XPU",
    )
    outputs.add_argument(
        EXTEND_SHIM_FLAG,
        "--extend_aoti_c_shim",
        action="store_true",
        help="write shims for the devices' own kernels only, to be used beside torch's shims",
    )
    outputs.add_argument(
        FALLBACK_OPS_FLAG, type=Path, metavar="FILE", help="list of further operators that get AOTInductor shims"
    )


def parse_request(argv: Sequence[str], log: Diagnostics) -> Request:
    """Return what a command line of `gen` asks for; wrong values are reported, wrong flags end the process."""
    return read_request(_parser().parse_args(argv), log)


def _parser() -> Parser:
    parser = Parser(prog="opgen gen")
    add_gen_flags(parser)
    return parser


def _native_aot_folder(given: argparse.Namespace, choice: Choice | None) -> Path | None:
    """Return the folder that the flag names, or the one in the tree that the definitions and torch are in."""
    if given.native_aot_ops_dir is not None:
        return Path(given.native_aot_ops_dir) if given.native_aot_ops_dir else None
    if choice is None or not choice.read or (given.source_path is None and not given.from_torch):
        return None
    place = choice.read[0].parent
    root = place if choice.read[0].suffix == ".txt" else place.parent
    is_inside = given.from_torch or root in given.source_path.resolve().parents
    return root / "torch" / "_native" / "ops" if is_inside else None


def read_request(given: argparse.Namespace, log: Diagnostics) -> Request:
    """Return what the flags of `gen` ask for; wrong values are reported.

    The release of torch that it is for may be read from the tree of the definitions.
    """
    choice = choose_release(given.source_path, given.torch_version, log)
    release = newest_release() if choice is None else choice.release
    mps, xpu = given.mps or given.update_aoti_c_shim, given.xpu or given.update_aoti_c_shim
    ignored = _ignored_keys(release, mps, xpu, given.mtia)
    stable_abi = _stable_abi(given, log)
    _check_kernel_builder(given, log)
    options = Options(
        install_dir=given.install_dir,
        aoti_install_dir=given.aoti_install_dir,
        headeronly_install_dir=given.headeronly_install_dir,
        output_dependencies=given.output_dependencies,
        dry_run=given.dry_run,
        per_operator_headers=given.per_operator_headers,
        rocm=given.rocm,
        dispatch_keys=_dispatch_keys(given.backend_whitelist, ignored, log),
        static_dispatch_keys=_static_dispatch_keys(given.static_dispatch_backend or (), log),
        skip_dispatcher_op_registration=given.skip_dispatcher_op_registration,
        force_schema_registration=given.force_schema_registration,
        generate=frozenset(given.generate),
        shim_keys=_shim_keys(mps=mps, xpu=xpu),
        update_aoti_c_shim=given.update_aoti_c_shim,
        extend_aoti_c_shim=given.extend_aoti_c_shim,
    )
    return Request(
        options=options,
        source_path=given.source_path,
        from_torch=given.from_torch,
        selected_names=None if given.op_registration_whitelist is None else tuple(given.op_registration_whitelist),
        selection_path=given.op_selection_yaml_path,
        allow_unknown_operators=given.allow_unknown_operators,
        fallback_ops_path=given.aoti_fallback_ops,
        native_aot_folder=_native_aot_folder(given, choice),
        ignored_keys=frozenset(ignored),
        extension=True if stable_abi is not None else given.extension,
        is_fragment=given.fragment,
        with_python=given.python,
        backends=_backends(given.backend_whitelist),
        stable_abi=stable_abi,
        kernel_builder=given.kernel_builder,
        has_xpu=xpu,
        choice=choice,
        flags=FrozenMap(given_flags(_parser(), given)),
        namespace=given.namespace,
        install_list=given.install_list,
    )


def _stable_abi(given: argparse.Namespace, log: Diagnostics) -> Release | None:
    """Return the oldest release for an extension in the stable ABI, if the flags ask for one."""
    if given.stable_abi is None:
        return None
    if given.extension is False:
        label = "the sources of ATen are part of torch, which has no other ABI"
        log.error("conflicting-flags", f"{STABLE_ABI_FLAG} and --no-extension contradict each other", label=label)
    if given.source_path is None:
        label = "name the folder of your definitions with --source-path"
        log.error("conflicting-flags", f"{STABLE_ABI_FLAG} is for operators of your own", label=label)
    return choose_oldest(given.stable_abi, log)


def _check_kernel_builder(given: argparse.Namespace, log: Diagnostics) -> None:
    """Report flags that contradict `--kernel-builder`."""
    if not given.kernel_builder:
        return
    id, flag = "conflicting-flags", KERNEL_BUILDER_FLAG
    if given.stable_abi is None:
        log.error(id, f"{flag} is for the stable ABI", label=f"add {STABLE_ABI_FLAG} with the oldest torch")
    if given.fragment:
        label = "each build has a namespace of its own"
        log.error(id, f"{flag} and --fragment contradict each other", label=label)
    if not given.python:
        label = "a kernel is a Python package"
        log.error(id, f"{flag} and --no-python contradict each other", label=label)


def check_shim_flags(request: Request, log: Diagnostics) -> None:
    """Warn about flags of shims that are not written."""
    if request.options.aoti_install_dir is None:
        for name in ("update_aoti_c_shim", "extend_aoti_c_shim", "aoti_fallback_ops"):
            if name in request.flags:
                label = "--aoti-install-dir names the folder that they are written to"
                message = f"{request.flags[name]} is given, but no shims are written"
                log.warning("flag-without-effect", message, label=label)


def _ignored_keys(release: Release, mps: bool, xpu: bool, mtia: bool) -> tuple[DispatchKey, ...]:
    switches = ((mps, MPS_DISPATCH_KEYS), (xpu, release.xpu_keys), (mtia, MTIA_DISPATCH_KEYS))
    return tuple(key for is_on, keys in switches if not is_on for key in keys)


def _shim_keys(*, mps: bool, xpu: bool) -> tuple[DispatchKey, ...]:
    switches = ((True, DispatchKey.CPU), (True, DispatchKey.CUDA), (mps, DispatchKey.MPS), (xpu, DispatchKey.XPU))
    return tuple(key for is_on, key in switches if is_on)


def _backends(wanted: Sequence[str] | None) -> frozenset[DispatchKey] | None:
    members = DispatchKey.__members__
    return frozenset(members[name] for name in wanted if name in members) if wanted else None


def _dispatch_keys(
    wanted: Sequence[str] | None, ignored: Sequence[DispatchKey], log: Diagnostics
) -> tuple[DispatchKey, ...]:
    """Return the keys to write code for: torch's in their order, and others that are wanted."""
    available = tuple(key for key in TORCH_DISPATCH_KEYS if key not in ignored)
    if not wanted:
        return available
    check_words(BACKEND_LIST_FLAG, wanted, "dispatch key", DispatchKey.__members__, log)
    others = (key for key in DispatchKey if key not in TORCH_DISPATCH_KEYS and str(key) in wanted)
    return (*(key for key in available if is_generic_dispatch_key(key) or str(key) in wanted), *others)


def _static_dispatch_keys(wanted: Sequence[str], log: Diagnostics) -> tuple[DispatchKey, ...]:
    check_words(STATIC_DISPATCH_FLAG, wanted, "dispatch key", DispatchKey.__members__, log)
    return tuple(DispatchKey[name] for name in wanted if name in DispatchKey.__members__)
