"""The command lines that torchgen and opgen are compared on: a name -> its arguments and folders.

A run has a root folder of its own and a working directory `<root>/<name>.cwd`. Arguments name their folders
relative to it (`../<name>`), so a file that lists paths (``--output-dependencies``) reads the same wherever the
root lies. Whatever appears in the working directory itself was written by default and not by name.

    FLAGSETS["perop"].command("torchgen.gen", source)
    -> [python, "-m", "torchgen.gen", "-s", source, "-d", "../perop", "--per-operator-headers"]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

DATA: Final = Path(__file__).resolve().parent / "data"
DEFINITIONS: Final = DATA.parent / "definitions"


@dataclass(frozen=True, slots=True)
class FlagSet:
    """One command line, without the program's name."""

    name: str
    arguments: tuple[str, ...] = ()
    """Extra arguments; `{name}` stands for the flag set's name, `{data}` for the folder of test data."""
    install_dir: bool = True
    """Whether ``-d`` is passed at all."""
    suffixes: tuple[str, ...] = ()
    """Folders named by the arguments beside the install directory: ``.aoti`` is ``<root>/<name>.aoti``."""
    definitions: str = ""
    """A folder of definitions of our own, to be used with torch's templates and tags. Empty: torch's definitions."""

    def command(self, module: str, source: Path) -> list[str]:
        """The whole command, to be run in ``<root>/<name>.cwd``."""
        return [sys.executable, "-m", module, *self.command_line(source)]

    def command_line(self, source: Path) -> list[str]:
        """The arguments of the command."""
        place = ["-d", f"../{self.name}"] if self.install_dir else []
        extra = [argument.format(name=self.name, data=DATA) for argument in self.arguments]
        return ["-s", str(source), *place, *extra]

    def folders(self) -> tuple[str, ...]:
        """The folders under the root that a run may have written into, the working directory included."""
        return (self.name, f"{self.name}.cwd", *(self.name + suffix for suffix in self.suffixes))


_EDGE_WHITELIST: Final = ("--op-registration-whitelist", "aten::edge_form", "aten::edge_ufunc", "aten::edge_views")
_AOTI: Final = ("--aoti-install-dir", "../{name}.aoti")


def _edge(name: str, *arguments: str, suffixes: tuple[str, ...] = ()) -> FlagSet:
    """A flag set for the odd operators of our own, which torchgen is done with in a second."""
    return FlagSet(f"edge{name}", arguments, suffixes=suffixes, definitions="edge")


# torchgen needs 15 seconds for each of these.  Flags that don't meet are set together; alone they are below.
_ALL_OF_TORCH: Final = (
    FlagSet("default"),
    FlagSet("perop", ("--per-operator-headers",)),
    FlagSet("devices", ("--per-operator-headers", "--mps", "--rocm", "--xpu", "--mtia")),
    FlagSet("static", ("--static_dispatch_backend", "CPU", "CUDA", "--per-operator-headers")),
    FlagSet("backends_cuda", ("--backend_whitelist", "CUDA", "Meta", "--per-operator-headers")),
    FlagSet("selection_mixed", ("--op-selection-yaml-path", "{data}/selection_mixed.yaml")),
    FlagSet(
        "named_dirs_and_lists",
        (
            *_AOTI,
            *("--headeronly-install-dir", "../{name}.headeronly"),
            *("--per-operator-headers", "--output-dependencies", "../{name}.deps/ops.cmake"),
        ),
        suffixes=(".aoti", ".headeronly", ".deps"),
    ),
    FlagSet("update_shim", (*_AOTI, "--update-aoti-c-shim"), suffixes=(".aoti",)),
    FlagSet(
        "extend_update_shim",
        (
            "--aoti_install_dir",
            "../{name}.aoti",
            "--extend-aoti-c-shim",
            "--update-aoti-c-shim",
            "--generate",
            "sources",
        ),
        suffixes=(".aoti",),
    ),
    FlagSet("bare", ("--per-operator-headers", "--generate", "headers", "declarations_yaml"), install_dir=False),
    FlagSet("generate_nothing", ("--generate",)),
    FlagSet("dry_run", ("--dry-run", "--per-operator-headers")),
)
_EDGE: Final = (
    _edge(""),
    _edge("_perop", "--per-operator-headers"),
    _edge("_mps", "--mps"),
    _edge("_xpu", "--xpu"),
    _edge("_mtia", "--mtia"),
    _edge("_rocm", "--rocm"),
    _edge(
        "_all_devices",
        *("--per-operator-headers", "--mps", "--xpu", "--mtia", "--rocm", *_AOTI, "--update-aoti-c-shim"),
        suffixes=(".aoti",),
    ),
    _edge("_aoti", *_AOTI, suffixes=(".aoti",)),
    _edge("_headeronly", "--headeronly-install-dir", "../{name}.headeronly", suffixes=(".headeronly",)),
    _edge("_update_shim", *_AOTI, "--update-aoti-c-shim", suffixes=(".aoti",)),
    _edge("_update_shim_rocm", *_AOTI, "--update-aoti-c-shim", "--rocm", suffixes=(".aoti",)),
    _edge("_extend_shim", *_AOTI, "--extend-aoti-c-shim", suffixes=(".aoti",)),
    _edge("_extend_update_shim", *_AOTI, "--extend-aoti-c-shim", "--update-aoti-c-shim", suffixes=(".aoti",)),
    _edge("_static_cpu", "--static-dispatch-backend", "CPU"),
    _edge("_static", "--static-dispatch-backend", "CPU", "CUDA", "--per-operator-headers"),
    _edge("_whitelist", *_EDGE_WHITELIST),
    _edge("_whitelist_force", *_EDGE_WHITELIST, "--force-schema-registration"),
    _edge("_backends", "--backend-whitelist", "CPU", "--per-operator-headers"),
    _edge("_backends_composite", "--backend-whitelist", "CPU", "CompositeImplicitAutograd", "Meta"),
    _edge("_selection", "--op-selection-yaml-path", "{data}/selection_edge.yaml"),
    _edge("_selection_force", "--op_selection_yaml_path", "{data}/selection_edge.yaml", "--force_schema_registration"),
    _edge("_selection_all", "--op-selection-yaml-path", "{data}/selection_all.yaml"),
    _edge("_selection_none", "--op-selection-yaml-path", "{data}/selection_none.yaml"),
    _edge("_skip", "--skip-dispatcher-op-registration"),
    _edge("_headers", "--per-operator-headers", "--generate", "headers"),
    _edge("_sources", "--per-operator-headers", "--generate", "sources"),
    _edge("_declarations_yaml", "--generate", "declarations_yaml"),
    _edge("_dependencies", "--per-operator-headers", "-o", "../{name}.deps/ops.cmake", suffixes=(".deps",)),
    _edge(
        "_dependencies_dry",
        *("--per-operator-headers", "-o", "../{name}.deps/ops.cmake", "--dry-run", *_AOTI),
        suffixes=(".deps", ".aoti"),
    ),
)
_ALL: Final = (*_ALL_OF_TORCH, *_EDGE)

FLAGSETS: Final[Mapping[str, FlagSet]] = MappingProxyType({flagset.name: flagset for flagset in _ALL})
