"""Says whether kept headers of AOTInductor's shims are what the operators give; touches nothing.

    python -m opgen.check_aoti_c_shim generated --from-torch

compares `generated/c_shim_aten.h` and those of all devices in one run.  It ends with 0 if they say the
same, and with 1 and a unified diff if not.  Comments and white space make no difference, and are left
out of the diff.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from opgen import __version__
from opgen.aten import load
from opgen.command_line import EXTEND_SHIM_FLAG, UPDATE_SHIM_FLAG, Request, read_request
from opgen.dest.aoti_c_shim import emit_shim_headers
from opgen.diagnostics import Diagnostics, UserError
from opgen.frontend.fallback_ops import FLAG as FALLBACK_OPS_FLAG
from opgen.output.console import count
from opgen.output.pinned import diff_pinned
from opgen.output.template import TemplateSet
from opgen.releases.choice import TORCH_VERSION_FLAG
from opgen.run.entry import run_as_program
from opgen.run.flags import add_torch_version
from opgen.run.inputs import FROM_TORCH_FLAG, SOURCE_PATH_FLAG, find_inputs
from opgen.run.internal_error import EXIT_CODE, render_internal_error


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="opgen check_aoti_c_shim",
        description="Say whether kept headers of AOTInductor's shims are what the operators give.",
        allow_abbrev=False,
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder that keeps the headers, c_shim_….h")
    sources = parser.add_mutually_exclusive_group()
    sources.add_argument(
        "-s",
        SOURCE_PATH_FLAG,
        "--source_path",
        metavar="FOLDER",
        help="folder of the definitions (native/*.yaml); default: opgen's own",
    )
    sources.add_argument(
        FROM_TORCH_FLAG, "--from_torch", action="store_true", help="definitions that come with the installed torch"
    )
    parser.add_argument(
        EXTEND_SHIM_FLAG,
        "--extend_aoti_c_shim",
        action="store_true",
        help="the headers are for kernels of the devices' own only, to stand beside torch's shims",
    )
    parser.add_argument(FALLBACK_OPS_FLAG, metavar="FILE", help="list of further operators that have shims")
    add_torch_version(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing if all is well")
    parser.add_argument("--version", action="version", version=f"opgen {__version__}")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code: 0 if all headers are as they should be, 1 if not, 70 for a bug."""
    given, log = build_parser().parse_args(argv), Diagnostics()
    try:
        said = _check(given, log)
    except UserError as problem:
        log.extend(problem.diagnostics)
        said = None
    except Exception as error:
        sys.stderr.write(render_internal_error(error))
        return EXIT_CODE
    if said is None or log.has_errors:
        sys.stderr.write(log.render(with_remarks=False))
        return 1
    differs, text = said
    if differs or not given.quiet:
        sys.stdout.write(text)
    return int(differs)


def _check(given: argparse.Namespace, log: Diagnostics) -> tuple[bool, str] | None:
    """Whether any header differs, and what to say; None if the inputs are wrong."""
    request = _request(given, log)
    inputs = find_inputs(request.source_path, log, from_torch=request.from_torch)
    program = None if inputs is None else load(inputs, request, log)
    if inputs is None or program is None:
        return None
    headers = list(emit_shim_headers(program, request.options, TemplateSet(inputs.templates)))
    diffs = [diff for header in headers if (diff := diff_pinned(header, given.folder, log))]
    if not diffs:
        return False, f"{count(len(headers), 'header')} in '{given.folder}' are what the operators give\n"
    text = "".join(f"{line}\n" for diff in diffs for line in diff)
    return True, f"{text}{len(diffs)} of {count(len(headers), 'header')} differ; {UPDATE_SHIM_FLAG} writes them\n"


def _request(given: argparse.Namespace, log: Diagnostics) -> Request:
    """The run of `opgen gen` that would write the headers: those of all devices."""
    flags = ["--aoti-install-dir", os.fspath(given.folder), UPDATE_SHIM_FLAG]
    flags += [SOURCE_PATH_FLAG, given.source_path] if given.source_path is not None else []
    flags += [TORCH_VERSION_FLAG, given.torch_version] if given.torch_version is not None else []
    flags += [FROM_TORCH_FLAG] if given.from_torch else []
    flags += [EXTEND_SHIM_FLAG] if given.extend_aoti_c_shim else []
    flags += [FALLBACK_OPS_FLAG, given.aoti_fallback_ops] if given.aoti_fallback_ops is not None else []
    return read_request(flags, log)


def entry_point() -> NoReturn:
    """Runs the command as a program of its own."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
