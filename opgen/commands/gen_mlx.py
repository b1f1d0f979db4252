"""`opgen gen_mlx`: operators in `mlx_ops.yaml` → their primitives, gradients, Python bindings and Metal glue.

    python -m opgen.gen_mlx --source-path ops --install-dir out --namespace mylib

torch is neither needed nor imported.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from opgen.commands._mlx import NAMESPACE, load_mlx_generation
from opgen.diagnostics import Diagnostics
from opgen.mlx import FILE_NAME
from opgen.run.command import Command, Group
from opgen.run.flags import add_common_flags, add_install_dir
from opgen.run.inputs import SOURCE_PATH_FLAG
from opgen.run.work import Work


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    parser.add_argument(
        "-s",
        SOURCE_PATH_FLAG,
        "--source_path",
        type=Path,
        required=True,
        metavar="DIR",
        help=f"folder of the definitions ({FILE_NAME}) and optional templates (templates/)",
    )
    add_install_dir(parser)
    parser.add_argument(
        "--namespace",
        default=NAMESPACE,
        metavar="NAME",
        help="the library's name: a namespace in C++, a package in Python; default: %(default)s",
    )
    parser.add_argument(
        "--check-nanobind",
        "--check_nanobind",
        action="store_true",
        help="report an error unless the installed nanobind is one that the installed mlx works with",
    )
    add_common_flags(parser, of_torch=False)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators; return None, with errors logged, if it fails."""
    generation = load_mlx_generation(
        options.source_path,
        options.install_dir,
        log,
        namespace=options.namespace,
        checks_nanobind=options.check_nanobind,
    )
    return None if generation is None else generation.work


COMMAND: Final = Command(
    name="gen_mlx",
    group=Group.OPERATORS,
    summary="write operators of MLX from mlx_ops.yaml",
    produces="Writes primitives, gradients, Python bindings and Metal glue into the install directory.  Needs no "
    "torch.",
    add_flags=add_flags,
    load=load,
)
