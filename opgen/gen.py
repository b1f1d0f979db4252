"""Writes the sources of ATen, or an extension, from operator definitions; the entry point of builds.

    python -m opgen.gen --install-dir out --per-operator-headers

`opgen.commands.gen` does the work.  Programs import names from here as they do from `torchgen.gen`: `docs/library.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opgen.run.entry import names_of, run_as_program
from opgen.run.spine import run

if TYPE_CHECKING:
    from opgen.commands.gen import generate as generate
    from opgen.gen_library import FileManager as FileManager
    from opgen.gen_library import ParsedYaml as ParsedYaml
    from opgen.gen_library import cpp_string as cpp_string
    from opgen.gen_library import get_custom_build_selector as get_custom_build_selector
    from opgen.gen_library import get_grouped_by_view_native_functions as get_grouped_by_view_native_functions
    from opgen.gen_library import get_grouped_native_functions as get_grouped_native_functions
    from opgen.gen_library import get_torchgen_root as get_torchgen_root
    from opgen.gen_library import parse_native_yaml as parse_native_yaml
    from opgen.gen_library import parse_tags_yaml as parse_tags_yaml
else:
    __getattr__ = names_of(
        "opgen.gen_library",
        "FileManager",
        "ParsedYaml",
        "cpp_string",
        "generate",
        "get_custom_build_selector",
        "get_grouped_by_view_native_functions",
        "get_grouped_native_functions",
        "get_torchgen_root",
        "parse_native_yaml",
        "parse_tags_yaml",
    )

__all__ = [
    "FileManager",
    "ParsedYaml",
    "cpp_string",
    "generate",
    "get_custom_build_selector",
    "get_grouped_by_view_native_functions",
    "get_grouped_native_functions",
    "get_torchgen_root",
    "main",
    "parse_native_yaml",
    "parse_tags_yaml",
]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the generator; return its exit code."""
    return run("gen", argv)


if __name__ == "__main__":
    run_as_program(main)
