"""The tags → `python_enum_tag.cpp`, which makes them members of Python's enumeration `torch.Tag`.

.value("core", at::Tag::core)
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.python import PythonProgram


def emit_python_enum_tag(program: PythonProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `python_enum_tag.cpp`."""
    values = [f'.value("{tag}", at::Tag::{tag})' for tag in sorted(program.program.tags)]
    text = templates.render("python_enum_tag.cpp", {"enum_of_valid_tags": "\n".join(values)})
    yield OutputFile("python_enum_tag.cpp", text)
