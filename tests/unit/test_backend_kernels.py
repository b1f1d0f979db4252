"""What backends outside of torch say, what is made of functional kernels, and how sources are searched for kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.backend.backend_yaml import ExternalBackend, load_backend
from opgen.backend.kernel_check import find_definitions
from opgen.backend.native_class import emit_class_header
from opgen.backend.registrations import RegistrationStyle, emit_registrations
from opgen.commands.gen_backend_stubs import COMMAND
from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.gen_backend_stubs import main, run
from opgen.model import DispatchKey, OperatorName
from opgen.output.manifest import NAME as MANIFEST
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.inputs import packaged_templates
from tests.unit.tiny_programs import program_of

EACH = """
- func: each_abs_(Tensor(a!)[] self) -> ()
  dispatch: {CPU: each_abs_}
  autogen: each_abs, each_abs.out
"""
MUTABLE = """
- func: stats(Tensor self, Tensor(a!) mean) -> Tensor
  dispatch: {CPU: stats}
  autogen: stats_functional, stats.out
"""
ABS = """
- func: abs(Tensor self) -> Tensor
  dispatch: {CPU: abs}
"""


def backend_of(text: str, program: Program) -> ExternalBackend:
    log = Diagnostics()
    backend = load_backend(Source("backend.yaml", f"backend: XLA\ncpp_namespace: my\n{text}"), program, log)
    assert backend is not None, log.render()
    return backend


def files_of(text: str, definitions: str, style: RegistrationStyle | None = None) -> dict[str, str]:
    program = program_of(definitions)
    backend, templates = backend_of(text, program), TemplateSet(*packaged_templates("ATen"))
    made = (
        *emit_class_header(backend, program, templates),
        *emit_registrations(backend, program, templates, style or RegistrationStyle()),
    )
    return {file.path: file.text for file in made}


def test_lists_that_are_changed_are_made_of_lists_that_are_returned() -> None:
    text = files_of("supported: [each_abs]", EACH)["RegisterXLA.cpp"]
    assert "  at::_copy_from(wrapper_XLA__each_abs__tmp[i], self[i]);" in " ".join(text.splitlines())
    assert 'm.impl("each_abs_", TORCH_FN(wrapper_XLA__each_abs_));' in text


def test_arguments_that_are_changed_are_made_of_results() -> None:
    text = files_of("supported: [stats_functional]", MUTABLE)["RegisterXLA.cpp"]
    assert (
        "at::_copy_from(std::get<1>(wrapper_XLA__stats_tmp), mean);\n  return std::get<0>(wrapper_XLA__stats_tmp);"
        in text
    )
    assert "at::_copy_from_and_resize(std::get<0>(wrapper_XLA_out_stats_out_tmp), out);" in text


def test_autograd_kernels_alone_are_written() -> None:
    files = files_of("autograd: [abs]", ABS)
    assert files.keys() == {"XLANativeFunctions.h", "RegisterAutogradXLA.cpp"}


def test_extra_headers_are_included_behind_the_class() -> None:
    for headers in ('"#include <my/a.h>"', '["#include <my/a.h>"]', "|\n  #include <my/a.h>\n"):
        text = files_of(f"extra_headers: {headers}\nsupported: [abs]", ABS)["RegisterXLA.cpp"]
        assert '#include "XLANativeFunctions.h"\n#include <my/a.h>\n' in text


def test_a_class_may_be_in_four_namespaces() -> None:
    program = program_of(ABS)
    log = Diagnostics()
    text = "backend: XLA\ncpp_namespace: a::b::c::d\nsupported: [abs]\n"
    backend = load_backend(Source("backend.yaml", text), program, log)
    assert backend is not None
    assert backend.kernel_scope == "a::b::c::d::XLANativeFunctions"


def test_a_key_of_torchs_may_have_kernels_for_operators_that_have_none_there() -> None:
    log = Diagnostics()
    text = "backend: XPU\ncpp_namespace: my\nsupported: [abs]\n"
    backend = load_backend(Source("backend.yaml", text), program_of(f"{ABS}  device_guard: False\n"), log)
    assert backend is not None
    assert backend.index.dispatch_key is DispatchKey.XPU


@pytest.mark.parametrize("key", ["Undefined", "CompositeExplicitAutograd"])
def test_a_backend_is_a_device(key: str) -> None:
    log = Diagnostics()
    text = f"backend: {key}\ncpp_namespace: my\nsupported: [abs]\n"
    assert load_backend(Source("backend.yaml", text), program_of(ABS), log) is None
    assert [problem.id for problem in log.all] == ["backend-not-a-device"]


def test_operators_of_several_libraries_are_registered_in_each() -> None:
    text = files_of(
        "supported: [abs, twice]",
        f"{ABS}\n- func: lib::twice(Tensor self) -> Tensor\n  dispatch: {{CPU: twice}}\n",
        RegistrationStyle(eager_registration=False),
    )["RegisterXLA.cpp"]
    assert "{\nstatic auto m = MAKE_TORCH_LIBRARY_IMPL(aten, XLA);" in text
    assert "{\nstatic auto m = MAKE_TORCH_LIBRARY_IMPL(lib, XLA);" in text


def test_the_lists_of_a_lazy_backend_are_kept_in_order() -> None:
    backend = backend_of(
        "full_codegen: [view_it, abs]\nsymint: [view_it]\nnon_native:\n- func: cast(Tensor input) -> Tensor\n"
        "  opkind: my_cast\n  properties: [ShapeCompute, LowerDeclOnly]\n",
        program_of(f"{ABS}\n- func: view_it(Tensor self, SymInt[] size) -> Tensor\n  dispatch: {{CPU: view_it}}\n"),
    )
    assert backend.full_codegen == (OperatorName.parse("view_it"), OperatorName.parse("abs"))
    assert [kernel.kernel for kernel in backend.index.index.values()] == ["view_it_symint", "abs"]
    (node,) = backend.non_native
    assert (str(node.func), node.opkind) == ("cast(Tensor input) -> Tensor", "my_cast")
    assert node.properties == ("ShapeCompute", "LowerDeclOnly")


FOUND = (
    pytest.param("T X::f(A a) {}", [("f", 1)], id="plain"),
    pytest.param("T\n my::X\n::f // (\n(A a, /* , */ B b)\n{}", [("f", 2)], id="lines and comments"),
    pytest.param("auto ::my::X::f() -> T { return X::g(1); }", [("f", 0)], id="call in a body"),
    pytest.param("T X::f(std::tuple<A, B> a, int b = g(1, 2)) noexcept {}", [("f", 2)], id="commas inside"),
    pytest.param("T X::f(void) {}", [("f", 0)], id="void"),
    pytest.param("T X::f(A a);", [], id="declaration"),
    pytest.param('auto s = "T X::f(A a) {}"; auto r = R"(T X::f(A a) {})";', [], id="strings"),
    pytest.param("#define F T X::f(A a) {}\n", [], id="macro that isn't used"),
    pytest.param("#define F(n, ...) T X::n##_out(__VA_ARGS__) \\\n {}\nF(f, A a, B b)", [("f_out", 2)], id="macro"),
    pytest.param("#define F F T X::f(A a) {}\nF", [("f", 1)], id="macro of itself"),
    pytest.param("#define F T X::f(A a) {}\n#undef F\nF", [], id="macro that is gone"),
    pytest.param("#define F(n) T X::n(A a) {}\nT F; F(f)", [("f", 1)], id="macro without parentheses"),
    pytest.param("#if 0\nT X::f() {}\n#if 1\nT X::f() {}\n#endif\n#else\nT X::g() {}\n#endif", [("g", 0)], id="if 0"),
    pytest.param("#ifdef A\nT X::f() {}\n#else\nT X::f(A a) {}\n#endif", [("f", 0), ("f", 1)], id="ifdef"),
    pytest.param('extern "C" { namespace my { T X::f() {} } }', [("f", 0)], id="namespaces"),
    pytest.param("struct Y { T g() { return X::f(a); } };", [], id="in a class"),
    pytest.param("T XX::f() {} T X::Y::f() {}", [], id="other classes"),
    pytest.param("T X::f(A a) { /* never ends", [("f", 1)], id="cut off"),
)


@pytest.mark.parametrize(("text", "found"), FOUND)
def test_definitions_are_found_by_tokens(text: str, found: list[tuple[str, int]]) -> None:
    assert [(d.name, d.parameters) for d in find_definitions(Source("kernels.cpp", text), "X")] == found


def test_macros_that_multiply_end_and_hide_nothing_behind_them() -> None:
    lines = ["#define A0 x x x x x x x x x x"]
    lines += [f"#define A{at + 1} {' '.join([f'A{at}'] * 10)}" for at in range(12)]
    text = "\n".join([*lines, "A12", "T X::f() {}"])
    assert [each.name for each in find_definitions(Source("kernels.cpp", text), "X")] == ["f"]


def test_run_raises_what_is_wrong(tmp_path: Path) -> None:
    source = tmp_path / "backend.yaml"
    source.write_text("backend: XLA\ncpp_namespace: my\nsupported: [abss]\n", encoding="utf-8")
    with pytest.raises(UserError, match="unknown-operator"):
        run(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_run_writes_and_writes_nothing_twice(tmp_path: Path) -> None:
    source, out = tmp_path / "backend.yaml", tmp_path / "out"
    source.write_text("backend: XLA\ncpp_namespace: my\nsupported: [abs]\n", encoding="utf-8")
    run(source, out, dry_run=True)
    assert not out.exists()
    run(source, out)
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.*") if path.name != MANIFEST}
    run(source, out)
    assert {path: path.stat().st_mtime_ns for path in out.glob("*.*") if path.name != MANIFEST} == before
    assert len(before) == 2


@pytest.mark.parametrize(("flags", "is_dry"), [((), False), (("--dry-run",), True), (("--dry-run", "false"), False)])
def test_a_dry_run_may_be_declined(flags: tuple[str, ...], is_dry: bool) -> None:
    assert COMMAND.build_parser().parse_args(["-s", "backend.yaml", "-o", "out", *flags]).dry_run is is_dry


def test_results_go_to_all_that_an_in_place_form_changes() -> None:
    definitions = """
- func: scale_(Tensor(a!) self, Tensor(b!) growth) -> Tensor(a!)
  dispatch: {CPU: scale_}
  autogen: scale, scale.out
"""
    text = files_of("supported: [scale]", definitions)["RegisterXLA.cpp"]
    assert "at::_copy_from(std::get<0>(wrapper_XLA__scale__tmp), self);" in text
    assert "at::_copy_from(std::get<1>(wrapper_XLA__scale__tmp), growth);" in text


def test_files_of_a_former_run_are_removed(tmp_path: Path) -> None:
    source, out, listing = tmp_path / "backend.yaml", tmp_path / "out", tmp_path / "files.txt"
    native = tmp_path / "native_functions.yaml"
    native.write_text(f"{ABS}\n- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n", encoding="utf-8")
    (tmp_path / "tags.yaml").write_text("[]\n", encoding="utf-8")
    flags = ["-s", str(source), "-o", str(out), "--native-yaml", str(native), "--output-list", str(listing), "--quiet"]
    head = "backend: XLA\ncpp_namespace: my\nsupported: [abs]\n"
    source.write_text(f"{head}autograd: [mul.Tensor]\n", encoding="utf-8")
    assert main(flags) == 0
    assert (out / "RegisterAutogradXLA.cpp").exists()
    mine = out / "mine.cpp"
    mine.write_text("", encoding="utf-8")
    source.write_text(head, encoding="utf-8")
    assert main([*flags, "--dry-run"]) == 0
    assert (out / "RegisterAutogradXLA.cpp").exists()
    assert main(flags) == 0
    assert not (out / "RegisterAutogradXLA.cpp").exists()
    assert mine.exists()
    assert listing.read_text(encoding="utf-8").split() == [
        str(out / "XLANativeFunctions.h"),
        str(out / "RegisterXLA.cpp"),
    ]
