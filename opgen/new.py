"""`opgen new mylib`: lays out a project of operators of one's own, which builds and passes its test at once.

    opgen new mylib            →  mylib/ops/native/native_functions.yaml   the definitions
                                  mylib/src/kernels.cpp                    a structured kernel
                                  mylib/CMakeLists.txt, mylib/pyproject.toml, mylib/setup.py
                                  mylib/tests/test_mylib.py

The files are the templates in `templates/project/`, with the library's name put in.
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics, UserError
from opgen.extension.rules import RESERVED_NAMESPACES
from opgen.frontend.cpp_names import KEYWORDS
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import write_files
from opgen.run.inputs import packaged_templates

_FILES: Final = (
    "README.md",
    "CMakeLists.txt",
    "pyproject.toml",
    "setup.py.in",
    "ops/native/native_functions.yaml",
    "src/kernels.cpp",
    "tests/test_library.py.in",
)
"""The templates of a project; those of Python's end in `.in`, as they are no Python yet."""


def main(argv: Sequence[str] | None = None) -> int:
    """Lays out a project; returns the exit code: 0, or 1 if it can't."""
    parser = argparse.ArgumentParser(prog="opgen new", description="Lay out a project of operators of one's own.")
    parser.add_argument("name", metavar="NAME", help="the library's name: a namespace in C++, a package in Python")
    parser.add_argument("--into", type=Path, metavar="DIR", help="folder to make; default: NAME")
    given = parser.parse_args(argv)
    log, folder = Diagnostics(), given.into or Path(given.name)
    try:
        _check(given.name, folder, log)
        log.raise_errors()
        write_files(project_files(given.name), {"install": folder})
    except UserError as problem:
        sys.stderr.write("".join(diagnostic.render() for diagnostic in problem.diagnostics))
        return 1
    sys.stdout.write(f"{folder} is laid out; its README.md says how to build and test it\n")
    return 0


def project_files(name: str) -> Iterator[OutputFile]:
    """The files of a new project."""
    templates = TemplateSet(*packaged_templates("project"))
    for path in _FILES:
        place = path.replace("test_library", f"test_{name}").removesuffix(".in")
        yield OutputFile(place, templates.render(path, {"name": name}))


def _check(name: str, folder: Path, log: Diagnostics) -> None:
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        log.error("bad-project-name", f"'{name}' is no name for a library", label="letters, digits and '_' only")
    elif name in KEYWORDS or name in RESERVED_NAMESPACES:
        log.error("bad-project-name", f"a library can't be called '{name}': the name is taken in C++")
    elif keyword.iskeyword(name):
        log.error("bad-project-name", f"a package can't be called '{name}': it is a keyword of Python")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        log.error("project-exists", f"'{folder}' is there already", label="name another folder with --into")


if __name__ == "__main__":
    sys.exit(main())
