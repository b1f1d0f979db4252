"""`opgen check_aoti_c_shim`: check that the headers of AOTInductor's shims are up to date.

    python -m opgen.check_aoti_c_shim generated --from-torch

compares `generated/c_shim_aten.h` and those of all devices in one run.  It ends with 0 if they are the same and
with 1 and a unified diff if not.  Comments and white space are ignored, and are not in the diff.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from opgen.commands._gen_flags import EXTEND_SHIM_FLAG, UPDATE_SHIM_FLAG, Request, parse_request
from opgen.commands.gen import load_aten
from opgen.dest.aoti_c_shim import emit_shim_headers
from opgen.diagnostics import Diagnostics
from opgen.frontend.fallback_ops import FLAG as FALLBACK_OPS_FLAG
from opgen.output.console import count
from opgen.output.pinned import diff_pinned
from opgen.output.template import TemplateSet
from opgen.releases.choice import TORCH_VERSION_FLAG
from opgen.run.command import Command, Group, Result
from opgen.run.flags import add_definitions, add_output_flags
from opgen.run.inputs import FROM_TORCH_FLAG, SOURCE_PATH_FLAG, find_inputs


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of the headers, c_shim_….h")
    add_definitions(parser)
    parser.add_argument(
        EXTEND_SHIM_FLAG,
        "--extend_aoti_c_shim",
        action="store_true",
        help="the headers are for the devices' own kernels only, to be used beside torch's shims",
    )
    parser.add_argument(FALLBACK_OPS_FLAG, metavar="FILE", help="list of further operators that have shims")
    add_output_flags(parser)


def load(options: argparse.Namespace, log: Diagnostics) -> Result | None:
    """Compare; return None, with errors logged, if the inputs are wrong."""
    request = _request(options, log)
    inputs = find_inputs(request.source_path, log, from_torch=request.from_torch)
    program = None if inputs is None else load_aten(inputs, request, log)
    if inputs is None or program is None:
        return None
    headers = list(emit_shim_headers(program, request.options, TemplateSet(inputs.templates)))
    diffs = [diff for header in headers if (diff := diff_pinned(header, options.folder, log))]
    total = count(len(headers), "header")
    if not diffs:
        return Result("" if options.quiet else f"{total} in '{options.folder}' are up to date\n")
    text = "".join(f"{line}\n" for diff in diffs for line in diff)
    return Result(f"{text}{len(diffs)} of {total} differ; {UPDATE_SHIM_FLAG} writes them\n", code=1)


def _request(options: argparse.Namespace, log: Diagnostics) -> Request:
    """Return the run of `opgen gen` that would write the headers of all devices."""
    flags = ["--aoti-install-dir", os.fspath(options.folder), UPDATE_SHIM_FLAG]
    flags += [SOURCE_PATH_FLAG, os.fspath(options.source_path)] if options.source_path is not None else []
    flags += [TORCH_VERSION_FLAG, options.torch_version] if options.torch_version is not None else []
    flags += [FROM_TORCH_FLAG] if options.from_torch else []
    flags += [EXTEND_SHIM_FLAG] if options.extend_aoti_c_shim else []
    flags += [FALLBACK_OPS_FLAG, options.aoti_fallback_ops] if options.aoti_fallback_ops is not None else []
    return parse_request(flags, log)


COMMAND: Final = Command(
    name="check_aoti_c_shim",
    group=Group.REVIEW,
    summary="check that the headers of AOTInductor's shims are up to date",
    produces="Prints a unified diff of the declarations, and writes nothing.  The exit code is 0 if they agree, 1 "
    "if they differ.",
    add_flags=add_flags,
    load=load,
)
