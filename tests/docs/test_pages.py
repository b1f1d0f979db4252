"""What pages show that no command prints: lists and signatures are read, and code is generated as it is shown.

docs/aoti-shims.md, docs/selective-build.md and docs/mlx.md name this file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from opgen import __main__ as command
from opgen.commands._extension import extension_templates, generate_extension, load_extension
from opgen.diagnostics import Diagnostics, Source
from opgen.dispatch_keys import DispatchKey
from opgen.extension.extension import ExtensionOptions
from opgen.frontend.fallback_ops import load_shims
from opgen.frontend.native_functions import load_program
from opgen.releases.known import newest_release
from opgen.run.inputs import packaged_folder
from tests.docs.blocks import read_blocks
from tests.docs.test_blocks import missing_lines

ROOT: Final = Path(__file__).resolve().parents[2]
HERE: Final = "tests/docs/test_pages.py"
LISTED: Final = """\
- func: mylib::normalize(Tensor self) -> Tensor
- func: mylib::convolve(Tensor self, Tensor weight) -> Tensor
  dispatch: {CPU: convolve}
- func: mylib::attend.masked(Tensor self, Tensor? scale=None, int window=0) -> (Tensor, Tensor)
  dispatch: {CPU: attend}
"""


def shown(page: str) -> list[str]:
    """The blocks of a page that are tested here."""
    return [block.text for block in read_blocks(ROOT / "docs" / page, ROOT) if block.value == HERE]


def test_the_list_of_shims() -> None:
    (text,) = shown("aoti-shims.md")
    log, release = Diagnostics(), newest_release()
    tags = packaged_folder("ATen") / "native" / "tags.yaml"
    program = load_program(Source("native_functions.yaml", LISTED), tags, log)
    assert program is not None, log.render()
    shims = load_shims(program.functions, Source("list.yaml", text), release, log)
    assert not log.has_errors, log.render()
    assert len(shims.per_device) + len(shims.any_device) == 3


def test_the_header_of_a_selection(tmp_path: Path) -> None:
    (text,) = shown("selective-build.md")
    selection, out = tmp_path / "selection.yaml", tmp_path / "out"
    words = ["--kernels", "add_kernel=Float,Long", "--custom-classes", "LinearPackedParams"]
    roots = ["aten::add.Tensor", "aten::relu.out", *words, "--from-torch", "-o", str(selection)]
    assert command.main(["select", "roots", *roots]) == 0
    assert command.main(["select", "header", str(selection), "--from-torch", "-d", str(out)]) == 0
    assert missing_lines(text, (out / "selected_mobile_ops.h").read_text(), "selected_mobile_ops.h") == ""


def test_signatures_and_metal_of_mlx(tmp_path: Path) -> None:
    signatures, metal = shown("mlx.md")
    for number, entry in enumerate(signatures.split("\n\n")):
        text = f"{entry.rstrip()}\n  pointwise: true\n  dispatch:\n    cpu: add_cpu\n"
        generate(tmp_path / str(number), text)
    text = '- name: row_sum\n  signature: "array row_sum(const array& x)"\n  shape: same\n'
    text += "  dispatch:\n    metal: row_sum_metal\n"
    out = generate(tmp_path / "metal", text)
    parameters = metal.partition("row_sum_metal(")[2].partition(")")[0].split(", ")
    names = ", ".join(each.split()[-1] for each in parameters)
    assert f"row_sum_metal({names})" in (out / "kernels.metal").read_text()


def generate(folder: Path, text: str) -> Path:
    """Generate the operators of MLX that a file defines."""
    (folder / "ops").mkdir(parents=True)
    (folder / "ops" / "mlx_ops.yaml").write_text(text)
    out = folder / "out"
    assert command.main(["gen_mlx", "--source-path", str(folder / "ops"), "-d", str(out), "--namespace", "mylib"]) == 0
    return out


def test_the_files_of_an_extension() -> None:
    """The table in docs/extension.md has every file that the example gets."""
    log = Diagnostics()
    extension = load_extension(ROOT / "examples" / "rational" / "ops", ExtensionOptions(), log)
    assert extension is not None, log.render()
    page = (ROOT / "docs" / "extension.md").read_text(encoding="utf-8")
    rows = page.partition("| file | contents |")[2].partition("\n\n")[0].splitlines()
    names = [name for row in rows[2:] for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
    assert len(names) > 15
    keys = "|".join(DispatchKey.__members__)
    patterns = []
    for name in names:
        pattern = re.sub(r"\d+", r"\\d+", re.escape(name.replace("mylib", extension.namespace)))
        pattern = pattern.replace("<Key>", f"(?:{keys})").replace("…", ".*")
        patterns.append(f"{pattern}.*" if name.endswith("/") else pattern)
    paths = [file.path for file in generate_extension(extension, extension_templates())]
    assert [path for path in paths if not re.fullmatch("|".join(patterns), path)] == []
