"""The flags of `gen`, which `check` and `diff` also take → a checked `Request`.

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
from opgen.frontend.selection import ALLOW_UNKNOWN_FLAG, BACKEND_LIST_FLAG, check_words
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.output.diagnostic_formats import FORMATS
from opgen.program.program import Options
from opgen.releases.choice import STABLE_ABI_FLAG, Choice, choose_oldest, choose_release
from opgen.releases.known import newest_release
from opgen.releases.release import Release
from opgen.run.arguments import Parser
from opgen.run.flags import Flags, add_build, add_definitions, add_dry_run, add_output_flags

GENERATED: Final = ("headers", "sources", "declarations_yaml")
"""The choices of `--generate`."""

FORCE_SCHEMA_FLAG: Final = "--force-schema-registration"
UPDATE_SHIM_FLAG: Final = "--update-aoti-c-shim"
EXTEND_SHIM_FLAG: Final = "--extend-aoti-c-shim"
KERNEL_BUILDER_FLAG: Final = "--kernel-builder"
NAMESPACE_FLAG: Final = "--namespace"
STATIC_DISPATCH_FLAG: Final = "--static-dispatch-backend"


@dataclass(frozen=True, slots=True)
class Request:
    """One run of `gen`: its inputs and options."""

    options: Options
    source_path: Path | None
    """Folder of the definitions; None for those packaged with opgen or with torch."""
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
    """Keys whose kernels this build leaves out, although the definitions name them."""
    extension: bool | None
    """Whether to write an extension or the sources of ATen; None to decide by the definitions."""
    is_fragment: bool
    """Whether an extension's library is defined elsewhere too."""
    with_python: bool
    """Whether an extension gets a Python package."""
    backends: frozenset[DispatchKey] | None
    """The keys that `--backend-whitelist` names; None for all."""
    stable_abi: Release | None
    """The oldest torch that an extension in the stable ABI supports; None for torch's C++ API."""
    kernel_builder: bool
    """Whether Hugging Face's kernel-builder builds an extension in the stable ABI."""
    has_xpu: bool
    """Whether to write the list of XPU sources."""
    choice: Choice | None
    """The release of torch; None if it can't be determined, with an error logged."""
    flags: FrozenMap[str, str]
    """The flags that were given, spelled, by the names of their values."""
    namespace: str | None = None
    """The name of a library of MLX operators, if given; other libraries name it in their definitions."""
    install_list: Path | None = None
    """The file that lists the headers for users of the library."""


def add_gen_flags(parser: argparse.ArgumentParser, formats: Sequence[str] = FORMATS) -> None:
    """Add the flags of commands that write what `gen` writes, or compare it; `formats` are those of `--format`."""
    folders = parser.add_argument_group("folders")
    _add_definitions(folders)
    _add_folders(folders)
    _add_shim_folders(folders)
    _add_backends(parser)
    _add_selection(parser)
    outputs = parser.add_argument_group("outputs")
    _add_contents(outputs)
    outputs.add_argument(
        NAMESPACE_FLAG, metavar="NAME", help="the name of a library of operators of MLX; default: mlx_ops"
    )
    add_dry_run(outputs)
    build = parser.add_argument_group("build systems")
    add_build(build)
    build.add_argument(
        "--install-list", type=Path, metavar="FILE", help="list the headers below the install directory in FILE"
    )
    add_output_flags(parser, verbose="name the files that change, and show every warning", formats=formats)


def add_content_flags(parser: argparse.ArgumentParser, formats: Sequence[str] = FORMATS) -> None:
    """Add the flags that determine what `gen` writes, wherever it writes it."""
    folders = parser.add_argument_group("folders")
    _add_definitions(folders)
    _add_shim_folders(folders)
    _add_backends(parser)
    _add_selection(parser)
    _add_contents(parser.add_argument_group("outputs"))
    add_output_flags(parser, verbose="show every warning", formats=formats)


def add_registration_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that determine which kernels are registered."""
    _add_definitions(parser)
    _add_kind(parser)
    _add_python(parser)
    _add_devices(parser)
    _add_backend_list(parser)
    _add_selected(parser)
    add_output_flags(parser, verbose="show every warning")


def add_operator_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that determine which operators there are, and which kernels they have."""
    _add_definitions(parser)
    _add_kind(parser)
    _add_devices(parser)
    add_output_flags(parser, verbose="show every warning")


def _add_definitions(folders: Flags) -> None:
    add_definitions(
        folders,
        folder="folder of the definitions (native/*.yaml) and optional templates (templates/); default: opgen's own",
        torch="use the definitions and templates of the installed torch",
    )


def _add_folders(folders: Flags) -> None:
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
        "--headeronly-install-dir",
        "--headeronly_install_dir",
        type=Path,
        metavar="DIR",
        help="folder for files that need no library, such as enum_tag.h; default: core in the install directory",
    )
    folders.add_argument(
        "-o",
        "--output-dependencies",
        "--output_dependencies",
        type=Path,
        metavar="FILE",
        help="also write CMake variables that list the outputs, to FILE and to files beside it",
    )


def _add_shim_folders(folders: Flags) -> None:
    folders.add_argument(
        "--aoti-install-dir",
        "--aoti_install_dir",
        type=Path,
        metavar="DIR",
        help="folder to write the AOTInductor shims to, also those of an extension; default: write no shims",
    )
    folders.add_argument(
        NATIVE_AOT_FLAG,
        "--native_aot_ops_dir",
        metavar="DIR",
        help="folder of <operator>/aot.py, which declare kernels that are compiled ahead of time; '' for none; "
        "default: torch/_native/ops in the tree of the definitions",
    )


def _add_backends(parser: argparse.ArgumentParser) -> None:
    backends = parser.add_argument_group("backends")
    backends.add_argument("--rocm", action="store_true", help="treat CUDA as ROCm/HIP")
    _add_devices(backends)
    _add_backend_list(backends)
    backends.add_argument(
        STATIC_DISPATCH_FLAG,
        "--static_dispatch_backend",
        nargs="*",
        metavar="KEY",
        help="call the kernels of these keys directly, without the dispatcher",
    )


def _add_devices(backends: Flags) -> None:
    backends.add_argument("--mps", action="store_true", help="write registrations for MPS")
    backends.add_argument("--xpu", action="store_true", help="write registrations for XPU")
    backends.add_argument("--mtia", action="store_true", help="write registrations for MTIA")


def _add_backend_list(backends: Flags) -> None:
    backends.add_argument(
        BACKEND_LIST_FLAG,
        "--backend_whitelist",
        nargs="*",
        metavar="KEY",
        help="write code for these dispatch keys only (and the composite ones)",
    )


def _add_selection(parser: argparse.ArgumentParser) -> None:
    selection = parser.add_argument_group("selective build")
    _add_selected(selection)
    selection.add_argument(
        FORCE_SCHEMA_FLAG,
        "--force_schema_registration",
        action="store_true",
        help="register the schemas of all operators, selected or not",
    )


def _add_selected(selection: Flags) -> None:
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
        ALLOW_UNKNOWN_FLAG,
        action="store_true",
        help="only warn about selected operators that are not defined here, such as those of TorchScript",
    )
    selection.add_argument(
        "--skip-dispatcher-op-registration",
        "--skip_dispatcher_op_registration",
        action="store_true",
        help="register no operator",
    )


def _add_kind(outputs: Flags) -> None:
    outputs.add_argument(
        "--extension",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="write an extension, built outside of torch, or the sources of ATen; default: an extension "
        "if all operators are in a namespace other than aten",
    )
    outputs.add_argument(
        STABLE_ABI_FLAG,
        metavar="VERSION",
        help="write an extension in torch's stable ABI, whose binary runs with this release of torch and newer ones",
    )


def _add_python(parser: Flags) -> None:
    parser.add_argument(
        "--python",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write a Python package of an extension's operators; default: write it",
    )


def _add_contents(outputs: Flags) -> None:
    _add_kind(outputs)
    outputs.add_argument(
        "--fragment",
        action="store_true",
        help="define an extension's library with TORCH_LIBRARY_FRAGMENT, because it is also defined elsewhere",
    )
    _add_python(outputs)
    outputs.add_argument(
        KERNEL_BUILDER_FLAG,
        action="store_true",
        help=f"with {STABLE_ABI_FLAG}, write what Hugging Face's kernel-builder compiles: its folder torch-ext",
    )
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
    """Parse a command line of `gen`; illegal values are reported, illegal flags end the process."""
    return read_request(_parser().parse_args(argv), log)


def _parser() -> Parser:
    parser = Parser(prog="opgen gen")
    add_gen_flags(parser)
    return parser


def _native_aot_folder(options: argparse.Namespace, choice: Choice | None) -> Path | None:
    """Return the folder that the flag names, or by default the one in torch's source tree."""
    if options.native_aot_ops_dir is not None:
        return Path(options.native_aot_ops_dir) if options.native_aot_ops_dir else None
    if choice is None or not choice.read or (options.source_path is None and not options.from_torch):
        return None
    folder = choice.read[0].parent
    root = folder if choice.read[0].suffix == ".txt" else folder.parent
    is_inside = options.from_torch or root in options.source_path.resolve().parents
    return root / "torch" / "_native" / "ops" if is_inside else None


def read_request(flags: argparse.Namespace, log: Diagnostics) -> Request:
    """Convert the flags of `gen` to a request; illegal values are reported.

    The release of torch may be read from the source tree of the definitions. A command may have some of the flags only:
    the others have their defaults.
    """
    parser = _parser()
    flags = argparse.Namespace(**{**vars(parser.parse_args([])), **vars(flags)})
    choice = choose_release(flags.source_path, flags.torch_version, log)
    release = newest_release() if choice is None else choice.release
    mps, xpu = flags.mps or flags.update_aoti_c_shim, flags.xpu or flags.update_aoti_c_shim
    ignored = _ignored_keys(release, mps, xpu, flags.mtia)
    stable_abi = _stable_abi(flags, log)
    _check_kernel_builder(flags, log)
    options = Options(
        install_dir=flags.install_dir,
        aoti_install_dir=flags.aoti_install_dir,
        headeronly_install_dir=flags.headeronly_install_dir,
        output_dependencies=flags.output_dependencies,
        dry_run=flags.dry_run,
        per_operator_headers=flags.per_operator_headers,
        rocm=flags.rocm,
        dispatch_keys=_dispatch_keys(flags.backend_whitelist, ignored, log),
        static_dispatch_keys=_static_dispatch_keys(flags.static_dispatch_backend or (), log),
        skip_dispatcher_op_registration=flags.skip_dispatcher_op_registration,
        force_schema_registration=flags.force_schema_registration,
        generate=frozenset(flags.generate),
        shim_keys=_shim_keys(mps=mps, xpu=xpu),
        update_aoti_c_shim=flags.update_aoti_c_shim,
        extend_aoti_c_shim=flags.extend_aoti_c_shim,
    )
    return Request(
        options=options,
        source_path=flags.source_path,
        from_torch=flags.from_torch,
        selected_names=None if flags.op_registration_whitelist is None else tuple(flags.op_registration_whitelist),
        selection_path=flags.op_selection_yaml_path,
        allow_unknown_operators=flags.allow_unknown_operators,
        fallback_ops_path=flags.aoti_fallback_ops,
        native_aot_folder=_native_aot_folder(flags, choice),
        ignored_keys=frozenset(ignored),
        extension=True if stable_abi is not None else flags.extension,
        is_fragment=flags.fragment,
        with_python=flags.python,
        backends=_backends(flags.backend_whitelist),
        stable_abi=stable_abi,
        kernel_builder=flags.kernel_builder,
        has_xpu=xpu,
        choice=choice,
        flags=FrozenMap(given_flags(parser, flags)),
        namespace=flags.namespace,
        install_list=flags.install_list,
    )


def _stable_abi(options: argparse.Namespace, log: Diagnostics) -> Release | None:
    """Return the oldest release for an extension in the stable ABI, if the flags ask for one."""
    if options.stable_abi is None:
        return None
    if options.extension is False:
        label = "the sources of ATen are part of torch, which has no other ABI"
        log.error("conflicting-flags", f"{STABLE_ABI_FLAG} and --no-extension contradict each other", label=label)
    if options.source_path is None:
        label = "name the folder of your definitions with --source-path"
        log.error("conflicting-flags", f"{STABLE_ABI_FLAG} is for operators of your own", label=label)
    return choose_oldest(options.stable_abi, log)


def _check_kernel_builder(options: argparse.Namespace, log: Diagnostics) -> None:
    """Report flags that contradict `--kernel-builder`."""
    if not options.kernel_builder:
        return
    id, flag = "conflicting-flags", KERNEL_BUILDER_FLAG
    if options.stable_abi is None:
        log.error(id, f"{flag} is for the stable ABI", label=f"add {STABLE_ABI_FLAG} with the oldest torch")
    if options.fragment:
        label = "each build has a namespace of its own"
        log.error(id, f"{flag} and --fragment contradict each other", label=label)
    if not options.python:
        label = "a kernel is a Python package"
        log.error(id, f"{flag} and --no-python contradict each other", label=label)


def check_shim_flags(request: Request, log: Diagnostics) -> None:
    """Warn about flags that apply to shims if no shims are written."""
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
    names: Sequence[str] | None, ignored: Sequence[DispatchKey], log: Diagnostics
) -> tuple[DispatchKey, ...]:
    """Return the keys to generate code for: those of torch in their order, and others among `names`."""
    available = tuple(key for key in TORCH_DISPATCH_KEYS if key not in ignored)
    if not names:
        return available
    check_words(BACKEND_LIST_FLAG, names, "dispatch key", DispatchKey.__members__, log)
    others = (key for key in DispatchKey if key not in TORCH_DISPATCH_KEYS and str(key) in names)
    return (*(key for key in available if is_generic_dispatch_key(key) or str(key) in names), *others)


def _static_dispatch_keys(names: Sequence[str], log: Diagnostics) -> tuple[DispatchKey, ...]:
    check_words(STATIC_DISPATCH_FLAG, names, "dispatch key", DispatchKey.__members__, log)
    return tuple(DispatchKey[name] for name in names if name in DispatchKey.__members__)
