"""Whatever our definitions declare in C++, the headers of the installed torch declare too.

So what can't be asked of a running torch is right as well: defaults that C++ must not see, which operators
are structured and what their shape functions hand on, the classes that they derive from, the names of
bindings written by hand, the operators that are derived.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import torch

from opgen.diagnostics import Diagnostics, Source
from opgen.dispatch_keys import TORCH_DISPATCH_KEYS, DispatchKey
from opgen.frontend.native_functions import load_program
from opgen.gen import generate
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program
from opgen.run.inputs import packaged_folder
from tests.packaged.differences import check_differences

HEADERS = Path(torch.__file__).parent / "include" / "ATen"


def _is_elsewhere(key: DispatchKey) -> bool:
    """Whether a key is for devices that torch's headers know of only in builds that have them."""
    return any(device in key.name for device in ("MPS", "XPU", "MTIA"))


def _statements(text: str) -> set[str]:
    """Declarations and heads of definitions, white space and spelling of numbers aside."""
    code = re.sub(r"//[^\n]*|^#[^\n]*", "", text, flags=re.M)
    code = re.sub(r"(?<=\d)\.0?(?!\d)", "", code).replace('\\"', '"').replace("'", '"')
    return {"".join(statement.split()) for statement in re.split(r"(?<=[;{}])", code)}


def _mistakes(program: Program, torch_source: Path) -> Iterator[str]:
    keys = tuple(key for key in TORCH_DISPATCH_KEYS if not _is_elsewhere(key))
    options = Options(torch_source, Path("out"), dispatch_keys=keys, per_operator_headers=True)
    files = generate(program, options, TemplateSet(torch_source / "templates"))
    for file in _headers(files):
        theirs = HEADERS / file.path
        if not theirs.exists():
            yield f"torch has no header {file.path}"
            continue
        for statement in sorted(_statements(file.text) - _statements(theirs.read_text(encoding="utf-8"))):
            yield f"{file.path} doesn't have {statement}"


def _headers(files: Iterable[OutputFile]) -> Iterator[OutputFile]:
    return (file for file in files if str(file.path).startswith("ops/"))


def _program(source: Source | Path, tags: Path) -> Program:
    log = Diagnostics()
    program = load_program(source, tags, log, ignored_keys=filter(_is_elsewhere, DispatchKey))
    assert program is not None, log.render()
    return program


def differences(torch_source: Path) -> list[str]:
    """What our definitions declare otherwise than the installed torch."""
    folder = packaged_folder("ATen") / "native"
    return list(_mistakes(_program(folder / "native_functions.yaml", folder / "tags.yaml"), torch_source))


def test_torch_declares_what_we_declare(torch_source: Path) -> None:
    check_differences("declarations", differences(torch_source))


@pytest.mark.parametrize(
    "definitions",
    [
        # `unbiased` has no default in C++.
        "- func: std(Tensor self, bool unbiased=True) -> Tensor\n  variants: function, method\n",
        # Structured, in truth.
        "- func: sin(Tensor self) -> Tensor\n  dispatch:\n    CPU: sin\n",
        # A binding written by hand.
        "- func: is_complex(Tensor self) -> bool\n  variants: function, method\n",
    ],
)
def test_a_wrong_fact_is_told(definitions: str, repository: Path, torch_source: Path) -> None:
    tags = repository / "opgen" / "packaged" / "ATen" / "native" / "tags.yaml"
    assert list(_mistakes(_program(Source("ops.yaml", definitions), tags), torch_source))
