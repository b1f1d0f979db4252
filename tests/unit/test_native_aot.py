"""Stubs for kernels that are compiled ahead of time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from expecttest import assert_expected_inline

from opgen.dest.native_aot import emit_native_aot_header, emit_native_aot_source
from opgen.dest.register_dispatch_key import emit_register_dispatch_key
from opgen.diagnostics import Diagnostics
from opgen.frontend.native_aot import load_native_aot
from opgen.model import DispatchKey
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program
from opgen.releases.known import newest_release
from tests.unit.tiny_programs import program_of

BEST = """
- func: best.out(Tensor self, int k, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: best_out
- func: best(Tensor self, int k) -> Tensor
  structured_delegate: best.out
"""
TEMPLATES = TemplateSet(Path(__file__).resolve().parents[2] / "templates" / "ATen")
OPTIONS = Options(install_dir=Path("out"), dispatch_keys=(DispatchKey.CPU, DispatchKey.CUDA))


def _program(folder: Path) -> Program:
    (folder / "best").mkdir()
    (folder / "best" / "aot.py").write_text('import torch\nATEN_OP = "best"\nDISPATCH_KEY = "CUDA"\n', encoding="utf-8")
    log, program = Diagnostics(), replace(program_of(BEST), release=newest_release())
    program = replace(program, native_aot=load_native_aot(folder, program, log))
    assert not log.has_errors
    return program


def test_stubs(tmp_path: Path) -> None:
    program = _program(tmp_path)
    (header,) = emit_native_aot_header(program, OPTIONS, TEMPLATES)
    (source,) = emit_native_aot_source(program, OPTIONS, TEMPLATES)
    lines = [line for file in (header, source) for line in file.text.splitlines() if "aot_" in line]
    assert_expected_inline(
        "\n".join(lines),
        """\
using best_aot_fn = bool (*)(const at::Tensor & self, int64_t k, const at::Tensor & out);
DECLARE_DISPATCH(best_aot_fn, best_aot_stub)
DEFINE_DISPATCH(best_aot_stub);
REGISTER_NO_CPU_DISPATCH(best_aot_stub)""",
    )


def test_wrappers_ask_stubs_first(tmp_path: Path) -> None:
    files = emit_register_dispatch_key(_program(tmp_path), OPTIONS, TEMPLATES)
    texts = {file.path: file.text for file in files}
    cuda = texts["RegisterCUDA_0.cpp"]
    assert "#include <ATen/NativeAotStubs.h>" in cuda
    assert cuda.count("at::native::best_aot_stub(c10::DeviceType::CUDA, self, k, op.") == 2
    assert "aot" not in texts["RegisterCPU_0.cpp"]


def test_older_templates_have_none(tmp_path: Path) -> None:
    program = replace(program_of(BEST), release=newest_release())
    assert not list(emit_native_aot_header(program, OPTIONS, TemplateSet(tmp_path)))
