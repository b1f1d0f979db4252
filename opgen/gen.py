"""The ATen generator as a command, which does nothing at once if there is nothing to do.

    python -m opgen.gen --install-dir out --per-operator-headers

Most runs of a build change nothing.  So this first asks the manifest in the install directory whether
all that was read and written is as it was; only if not, the rest of opgen is imported, which takes
longer than the question.  The generator itself is `opgen.aten`.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from opgen.output.build_files import touch
from opgen.output.console import format_report
from opgen.output.manifest import Record, find_current
from opgen.output.report import WriteReport
from opgen.run.entry import run_as_program

if TYPE_CHECKING:
    from opgen.aten import ParsedYaml as ParsedYaml
    from opgen.aten import generate as generate
    from opgen.aten import parse_native_yaml as parse_native_yaml
    from opgen.file_manager import FileManager as FileManager
    from opgen.gen_library import cpp_string as cpp_string
    from opgen.gen_library import get_custom_build_selector as get_custom_build_selector
    from opgen.gen_library import get_grouped_by_view_native_functions as get_grouped_by_view_native_functions
    from opgen.gen_library import get_grouped_native_functions as get_grouped_native_functions
    from opgen.gen_library import get_torchgen_root as get_torchgen_root
    from opgen.gen_library import parse_tags_yaml as parse_tags_yaml

_ELSEWHERE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "FileManager": "opgen.file_manager",
        "ParsedYaml": "opgen.aten",
        "cpp_string": "opgen.gen_library",
        "generate": "opgen.aten",
        "get_custom_build_selector": "opgen.gen_library",
        "get_grouped_by_view_native_functions": "opgen.gen_library",
        "get_grouped_native_functions": "opgen.gen_library",
        "get_torchgen_root": "opgen.gen_library",
        "parse_native_yaml": "opgen.aten",
        "parse_tags_yaml": "opgen.gen_library",
    }
)
"""What programs import from here, and the modules that have it, which are imported when first asked for."""

__all__ = [
    "FileManager",
    "ParsedYaml",
    "cpp_string",
    "entry_point",
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
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    started, arguments = time.monotonic(), list(sys.argv[1:] if argv is None else argv)
    current = find_current(arguments)
    if current is not None and touch(current.stamp):
        _say(current, time.monotonic() - started)
        return 0
    code: int = importlib.import_module("opgen.aten").main(arguments)
    return code


def _say(record: Record, seconds: float) -> None:
    """Says what a run that wrote nothing would have said."""
    sys.stderr.write(record.said)
    sys.stdout.write(format_report(WriteReport(record.total, ()), seconds, quiet=record.quiet))


def entry_point() -> None:
    """Runs the generator as a command."""
    run_as_program(main)


def __getattr__(name: str) -> Any:
    """What programs import from here, of the module that has it."""
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(_ELSEWHERE[name]), name)
    raise AttributeError(f"module 'opgen.gen' has no attribute '{name}'")


if __name__ == "__main__":
    entry_point()
