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
        place = ["-d", f"../{self.name}"] if self.install_dir else []
        extra = [argument.format(name=self.name, data=DATA) for argument in self.arguments]
        return [sys.executable, "-m", module, "-s", str(source), *place, *extra]

    def folders(self) -> tuple[str, ...]:
        """The folders under the root that a run may have written into, the working directory included."""
        return (self.name, f"{self.name}.cwd", *(self.name + suffix for suffix in self.suffixes))


_EDGE_WHITELIST: Final = ("--op-registration-whitelist", "aten::edge_form", "aten::edge_ufunc", "aten::edge_views")
_AOTI: Final = ("--aoti-install-dir", "../{name}.aoti")

_ALL: Final = (
    FlagSet("default"),
    FlagSet("perop", ("--per-operator-headers",)),
    FlagSet("mps", ("--per-operator-headers", "--mps")),
    FlagSet("rocm", ("--per-operator-headers", "--rocm")),
    FlagSet("xpu_mtia", ("--per-operator-headers", "--xpu", "--mtia")),
    FlagSet("static_cpu", ("--static-dispatch-backend", "CPU")),
    FlagSet("static_cpu_perop", ("--static_dispatch_backend", "CPU", "--per-operator-headers")),
    FlagSet("static_cpu_cuda", ("--static-dispatch-backend", "CPU", "CUDA")),
    FlagSet(
        "whitelist_force",
        ("--op-registration-whitelist", "aten::add", "aten::empty", "aten::conv2d", "--force-schema-registration"),
    ),
    FlagSet("whitelist", ("--op_registration_whitelist", "aten::add", "aten::empty", "aten::conv2d")),
    FlagSet(
        "backends",
        ("--backend-whitelist", "CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "Meta"),
    ),
    FlagSet("backends_cuda", ("--backend_whitelist", "CUDA", "Meta", "--per-operator-headers")),
    FlagSet("skip_registration", ("--skip-dispatcher-op-registration",)),
    FlagSet("selection_mixed", ("--op-selection-yaml-path", "{data}/selection_mixed.yaml")),
    FlagSet(
        "selection_force",
        ("--op_selection_yaml_path", "{data}/selection_mixed.yaml", "--force_schema_registration"),
    ),
    FlagSet("selection_all", ("--op-selection-yaml-path", "{data}/selection_all.yaml")),
    FlagSet("selection_none", ("--op-selection-yaml-path", "{data}/selection_none.yaml")),
    FlagSet("generate_headers", ("--per-operator-headers", "--generate", "headers")),
    FlagSet("generate_sources", ("--per-operator-headers", "--generate", "sources")),
    FlagSet("generate_declarations_yaml", ("--generate", "declarations_yaml")),
    FlagSet("generate_nothing", ("--generate",)),
    FlagSet("dry_run", ("--dry-run", "--per-operator-headers")),
    FlagSet(
        "output_dependencies",
        ("--per-operator-headers", "--output-dependencies", "../{name}.deps/ops.cmake"),
        suffixes=(".deps",),
    ),
    FlagSet(
        "output_dependencies_dry",
        ("--per-operator-headers", "-o", "../{name}.deps/ops.cmake", "--dry-run", *_AOTI),
        suffixes=(".deps", ".aoti"),
    ),
    FlagSet(
        "named_dirs",
        (*_AOTI, "--headeronly-install-dir", "../{name}.headeronly"),
        suffixes=(".aoti", ".headeronly"),
    ),
    FlagSet("update_shim", (*_AOTI, "--update-aoti-c-shim"), suffixes=(".aoti",)),
    FlagSet(
        "update_shim_rocm",
        ("--aoti_install_dir", "../{name}.aoti", "--update-aoti-c-shim", "--rocm"),
        suffixes=(".aoti",),
    ),
    FlagSet("extend_shim", (*_AOTI, "--extend-aoti-c-shim"), suffixes=(".aoti",)),
    FlagSet(
        "extend_update_shim",
        (*_AOTI, "--extend-aoti-c-shim", "--update-aoti-c-shim", "--generate", "sources"),
        suffixes=(".aoti",),
    ),
    FlagSet("bare", ("--per-operator-headers", "--generate", "headers", "declarations_yaml"), install_dir=False),
    FlagSet("edge", definitions="edge"),
    FlagSet("edge_perop", ("--per-operator-headers",), definitions="edge"),
    FlagSet(
        "edge_all_devices",
        ("--per-operator-headers", "--mps", "--xpu", "--mtia", "--rocm", *_AOTI, "--update-aoti-c-shim"),
        suffixes=(".aoti",),
        definitions="edge",
    ),
    FlagSet(
        "edge_extend_shim",
        (*_AOTI, "--extend-aoti-c-shim", "--update-aoti-c-shim"),
        suffixes=(".aoti",),
        definitions="edge",
    ),
    FlagSet("edge_static", ("--static-dispatch-backend", "CPU", "CUDA", "--per-operator-headers"), definitions="edge"),
    FlagSet("edge_whitelist", _EDGE_WHITELIST, definitions="edge"),
    FlagSet("edge_backends", ("--backend-whitelist", "CPU", "--per-operator-headers"), definitions="edge"),
    FlagSet("edge_skip", ("--skip-dispatcher-op-registration",), definitions="edge"),
    FlagSet(
        "edge_dependencies",
        ("--per-operator-headers", "-o", "../{name}.deps/ops.cmake"),
        suffixes=(".deps",),
        definitions="edge",
    ),
)

FLAGSETS: Final[Mapping[str, FlagSet]] = MappingProxyType({flagset.name: flagset for flagset in _ALL})
