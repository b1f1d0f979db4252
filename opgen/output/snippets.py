"""A file of templates/snippets/ → the text of one of its sections, with values.

    $section copy
    if (needs_input_grad[/*$name*/$place]) {
      copy_range(grad_inputs, ${name}_ix, $gradient);
    }

    _SNIPPETS: Final = Snippets("autograd_functions.cpp")
    _SNIPPETS.render("copy", name="self", place=0, gradient="grad_result")

Emitters compose C++ from snippets.  Unlike templates, snippets can't be replaced by a user's folder of templates.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from opgen.output.template import CodeTemplate, TemplateSet, read_sections

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_FOLDERS: Final = (_PACKAGE / "packaged" / "templates" / "snippets", _PACKAGE.parent / "templates" / "snippets")
"""The folders of snippets: in the package in a wheel, beside the package in a checkout."""


class Snippets:
    """The sections of one file of snippets; the file is read on first use."""

    def __init__(self, name: str) -> None:
        """Refer to the file `name` of templates/snippets/."""
        self.name: Final = name

    def render(self, section: str, **values: object) -> str:
        """Return the text of `section` with `values`.

        Raises UserError if a value is missing, or if the file can't be read.
        """
        return self._sections[section].substitute(values)

    @cached_property
    def _sections(self) -> Mapping[str, CodeTemplate]:
        return read_sections(TemplateSet(*_FOLDERS).find(self.name))


def snippet_files() -> list[str]:
    """Return the paths of all files of snippets, which are part of opgen's code."""
    return sorted(str(path) for folder in _FOLDERS if folder.is_dir() for path in folder.iterdir())
