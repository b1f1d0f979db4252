"""Turns the command line of the ATen generator into checked `Options`.

The flags are those of `python -m torchgen.gen`, in both spellings where it has two, and a few of
our own: `--from-torch`, `--quiet`, `--verbose`, `--version`, `--allow-unknown-operators`.

    -d out --mps   ->   Options(install_dir=out, dispatch_keys=(CPU, …, MPS, …))
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.dispatch_keys import (
    MPS_DISPATCH_KEYS,
    MTIA_DISPATCH_KEYS,
    TORCH_DISPATCH_KEYS,
    DispatchKey,
    is_generic_dispatch_key,
)
from opgen.frontend.fallback_ops import FLAG as FALLBACK_OPS_FLAG
from opgen.frontend.selection import BACKEND_LIST_FLAG, check_words
from opgen.program.program import Options
from opgen.releases.choice import Choice, choose_release
from opgen.releases.known import newest_release
from opgen.releases.release import Release
from opgen.run.flags import DEPFILE_FLAG, STAMP_FLAG, add_build, add_definitions, add_dry_run, add_talk

GENERATED: Final = ("headers", "sources", "declarations_yaml")
"""What `--generate` chooses from."""

UPDATE_SHIM_FLAG: Final = "--update-aoti-c-shim"
EXTEND_SHIM_FLAG: Final = "--extend-aoti-c-shim"
STATIC_DISPATCH_FLAG: Final = "--static-dispatch-backend"


@dataclass(frozen=True, slots=True)
class Request:
    """One run: what to write, from what, and how to talk about it."""

    options: Options
    source_path: Path | None
    """Folder of the definitions; None for those that come with opgen, or with torch."""
    from_torch: bool
    """Whether definitions and templates are those of the installed torch."""
    selected_names: tuple[str, ...] | None
    """Operators named by `--op-registration-whitelist`; None if it is not given."""
    selection_path: Path | None
    """The selection file, if there is one."""
    allow_unknown_operators: bool
    """Whether the selection may name operators that the definitions lack."""
    fallback_ops_path: Path | None
    """A list of further operators with shims, if there is one."""
    ignored_keys: frozenset[DispatchKey]
    """Keys whose kernels the definitions may name, but which this build doesn't have."""
    extension: bool | None
    """Whether to write an extension, or the sources of ATen; None to tell from the definitions."""
    is_fragment: bool
    """Whether an extension's library is defined elsewhere too."""
    with_python: bool
    """Whether an extension gets a Python package."""
    selects_backends: bool
    """Whether `--backend-whitelist` says which keys code is written for."""
    has_xpu: bool
    """Whether the build is for XPU, and so has a list of XPU sources."""
    choice: Choice | None
    """The release of torch; None if it can't be told, with the reason logged."""
    quiet: bool
    verbose: bool
    jobs: int = 0
    """How many processes to use; 0 for as many as can run at once."""
    depfile: Path | None = None
    """Where to say what was read."""
    stamp: Path | None = None
    """The file whose time says when all was last found in order."""
    install_list: Path | None = None
    """Where to list the headers that users of the library need."""


def build_parser() -> argparse.ArgumentParser:
    """The flags of the ATen generator."""
    parser = argparse.ArgumentParser(prog="opgen gen", description="Generate the sources of ATen.", allow_abbrev=False)
    _add_paths(parser)
    _add_backends(parser)
    _add_selection(parser)
    _add_outputs(parser)
    _add_build(parser)
    add_talk(parser, verbose="name the files that change, and show every warning")
    return parser


def _add_paths(parser: argparse.ArgumentParser) -> None:
    folders = parser.add_argument_group("where things are and go")
    add_definitions(
        folders,
        folder="folder of the definitions (native/*.yaml) and maybe templates (templates/); default: opgen's own",
        torch="use the definitions and templates of the torch that is installed",
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
        help="folder to write the AOTInductor shims to; without it, there are none",
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


def _add_backends(parser: argparse.ArgumentParser) -> None:
    backends = parser.add_argument_group("backends")
    backends.add_argument("--rocm", action="store_true", help="read CUDA as ROCm/HIP")
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
        help="call the kernels of these keys straight away, past the dispatcher",
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
        help="only warn of selected operators that are not defined here, such as those that TorchScript brings",
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
    outputs = parser.add_argument_group("what is written")
    outputs.add_argument(
        "--extension",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="write an extension, built outside of torch, or the sources of ATen; default: an extension "
        "if all operators are of a namespace other than aten",
    )
    outputs.add_argument(
        "--fragment",
        action="store_true",
        help="define an extension's library with TORCH_LIBRARY_FRAGMENT, as it is defined elsewhere too",
    )
    outputs.add_argument(
        "--python",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write a Python package of an extension's operators; default: do",
    )
    add_dry_run(outputs)
    outputs.add_argument(
        "--per-operator-headers",
        "--per_operator_headers",
        action="store_true",
        help="write a set of headers for each operator, in ops/",
    )
    outputs.add_argument(
        "--generate", nargs="*", choices=GENERATED, default=GENERATED, help="write these kinds of file only"
    )
    outputs.add_argument(
        UPDATE_SHIM_FLAG,
        "--update_aoti_c_shim",
        action="store_true",
        help="write the headers of the AOTInductor shims, in place of checking them; also those for MPS and XPU",
    )
    outputs.add_argument(
        EXTEND_SHIM_FLAG,
        "--extend_aoti_c_shim",
        action="store_true",
        help="write shims for kernels of the devices' own only, to stand beside torch's shims",
    )
    outputs.add_argument(
        FALLBACK_OPS_FLAG, type=Path, metavar="FILE", help="list of further operators that get AOTInductor shims"
    )


def _add_build(parser: argparse.ArgumentParser) -> None:
    build = parser.add_argument_group("build systems")
    add_build(build)
    build.add_argument(
        "--install-list", type=Path, metavar="FILE", help="list the headers below the install directory in FILE"
    )


def read_request(argv: Sequence[str] | None, log: Diagnostics) -> Request:
    """What the command line asks for; wrong values are logged, wrong flags end the process.

    Which release of torch it is for may be read from the tree of the definitions.
    """
    given = build_parser().parse_args(argv)
    choice = choose_release(given.source_path, given.torch_version, log)
    release = newest_release() if choice is None else choice.release
    mps, xpu = given.mps or given.update_aoti_c_shim, given.xpu or given.update_aoti_c_shim
    ignored = _ignored_keys(release, mps, xpu, given.mtia)
    _check_shim_flags(given, log)
    if given.depfile is not None and given.stamp is None:
        label = "what was read is said of the file that a build waits for"
        log.error("flag-without-effect", f"{DEPFILE_FLAG} needs {STAMP_FLAG}", label=label)
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
        update_aoti_c_shim=given.update_aoti_c_shim,
        extend_aoti_c_shim=given.extend_aoti_c_shim,
    )
    return Request(
        options=options,
        source_path=given.source_path,
        from_torch=given.from_torch,
        selected_names=_tuple_or_none(given.op_registration_whitelist),
        selection_path=given.op_selection_yaml_path,
        allow_unknown_operators=given.allow_unknown_operators,
        fallback_ops_path=given.aoti_fallback_ops,
        ignored_keys=frozenset(ignored),
        extension=given.extension,
        is_fragment=given.fragment,
        with_python=given.python,
        selects_backends=bool(given.backend_whitelist),
        has_xpu=xpu,
        choice=choice,
        quiet=given.quiet,
        verbose=given.verbose,
        jobs=given.jobs,
        depfile=given.depfile,
        stamp=given.stamp,
        install_list=given.install_list,
    )


def _check_shim_flags(given: argparse.Namespace, log: Diagnostics) -> None:
    """Warns of flags about shims that are not written."""
    if given.aoti_install_dir is not None:
        return
    flags = (
        (given.update_aoti_c_shim, UPDATE_SHIM_FLAG),
        (given.extend_aoti_c_shim, EXTEND_SHIM_FLAG),
        (given.aoti_fallback_ops is not None, FALLBACK_OPS_FLAG),
    )
    for is_given, flag in flags:
        if is_given:
            label = "--aoti-install-dir names the folder that they are written to"
            log.warning("flag-without-effect", f"{flag} is given, but no shims are written", label=label)


def _tuple_or_none(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _ignored_keys(release: Release, mps: bool, xpu: bool, mtia: bool) -> tuple[DispatchKey, ...]:
    switches = ((mps, MPS_DISPATCH_KEYS), (xpu, release.xpu_keys), (mtia, MTIA_DISPATCH_KEYS))
    return tuple(key for is_on, keys in switches if not is_on for key in keys)


def _dispatch_keys(
    wanted: Sequence[str] | None, ignored: Sequence[DispatchKey], log: Diagnostics
) -> tuple[DispatchKey, ...]:
    """The keys to write code for, in torch's order."""
    available = tuple(key for key in TORCH_DISPATCH_KEYS if key not in ignored)
    if not wanted:
        return available
    check_words(BACKEND_LIST_FLAG, wanted, "dispatch key", DispatchKey.__members__, log)
    return tuple(key for key in available if is_generic_dispatch_key(key) or str(key) in wanted)


def _static_dispatch_keys(wanted: Sequence[str], log: Diagnostics) -> tuple[DispatchKey, ...]:
    check_words(STATIC_DISPATCH_FLAG, wanted, "dispatch key", DispatchKey.__members__, log)
    return tuple(DispatchKey[name] for name in wanted if name in DispatchKey.__members__)
