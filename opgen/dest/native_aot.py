"""`NativeAotStubs.h/.cpp`: dispatch stubs for kernels of structured operators that are compiled ahead of time.

torch 2.15 declares such kernels in Python modules of its own source tree, which opgen doesn't read: the files are
written as torch's generator writes them without these modules, so that sources which include them compile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_HEADER: Final = "NativeAotStubs.h"
_SOURCE: Final = "NativeAotStubs.cpp"


def emit_native_aot_header(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `NativeAotStubs.h`, if the release has it."""
    del options
    if program.release.native_aot_stubs:
        yield OutputFile(_HEADER, templates.render(_HEADER, {"native_aot_stub_declarations": []}))


def emit_native_aot_source(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `NativeAotStubs.cpp`, if the release has it."""
    del options
    if program.release.native_aot_stubs:
        yield OutputFile(_SOURCE, templates.render(_SOURCE, {"native_aot_stub_definitions": []}))
