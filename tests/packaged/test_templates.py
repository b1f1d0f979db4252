"""Our own templates: complete, explained, ours, and what they make is pleasant to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from opgen import gen, gen_annotated_fn_args, gen_autograd, gen_python
from opgen.commands._gen_flags import parse_request
from opgen.commands.gen import emitters_for
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.native_functions import load_definitions, load_program
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.template_parser import Conditional, Inline, Loop, Segment, Splice, parse_template
from opgen.program.program import Program
from opgen.releases.known import newest_release
from opgen.run.inputs import find_inputs, packaged_folder, packaged_templates


def _folder(kind: str) -> Path:
    return next(folder for folder in packaged_templates(kind) if folder.is_dir())


def _names(kind: str) -> list[str]:
    return sorted(path.name for path in _folder(kind).iterdir())


FOLDER: Final = _folder("ATen")
EACH: Final = [(kind, name) for kind in ("ATen", "autograd") for name in _names(kind)]
OF_OTHER_COMMANDS: Final = frozenset(
    {
        "DispatchKeyNativeFunctions.cpp",
        "DispatchKeyNativeFunctions.h",
        "LazyIr.h",
        "LazyNonNativeIr.h",
        "RegisterCodegenUnboxedKernels.cpp",
        "UnboxingFunctions.cpp",
        "UnboxingFunctions.h",
        "selected_mobile_ops.h",
    }
)
"""What gen_backend_stubs, gen_lazy_tensor, gen_unboxing and select make files of."""
OF_LATER_RELEASES: Final = frozenset({"NativeAotStubs.cpp", "NativeAotStubs.h"})
"""What only releases newer than the packaged definitions have."""
OUR_OWN: Final = frozenset({"selected_mobile_ops.h"})
"""What torch has no template for."""
ALWAYS_THERE: Final = frozenset({"generated_comment", "shard_id"})


@pytest.fixture(scope="module")
def program() -> Program:
    folder, log = packaged_folder("ATen") / "native", Diagnostics()
    found = load_program(folder / "native_functions.yaml", folder / "tags.yaml", log)
    assert found is not None, log.render()
    return found


def _emitted(program: Program, templates: TemplateSet, **flags: object) -> Iterator[OutputFile]:
    options = replace(parse_request([], Diagnostics()).options, **flags)  # type: ignore[arg-type]
    for emitter in emitters_for(options):
        yield from emitter.emit(program, options, templates)


@pytest.fixture(scope="module")
def monolithic(program: Program) -> Mapping[str, str]:
    """What a default run writes."""
    return {file.path: file.text for file in _emitted(program, TemplateSet(FOLDER))}


@pytest.fixture(scope="module")
def per_operator(program: Program) -> Mapping[str, str]:
    """What a run with a header an operator writes."""
    return {file.path: file.text for file in _emitted(program, TemplateSet(FOLDER), per_operator_headers=True)}


# ------------------------------------------------------------------------------------ which there are


class _Recording(TemplateSet):
    """Templates that remember which of them were asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked: set[str] = set()

    def render(self, name: str, env: Mapping[str, object] | None = None) -> str:
        self.asked.add(name)
        return super().render(name, env or {})


def test_every_template_is_used_and_is_one_of_torchs(program: Program, torch_source: Path) -> None:
    templates = _Recording(FOLDER)
    for _ in (*_emitted(program, templates), *_emitted(program, templates, per_operator_headers=True)):
        pass
    assert not templates.asked & OF_LATER_RELEASES
    for _ in _emitted(replace(program, release=newest_release()), templates):
        pass
    assert templates.asked >= OF_LATER_RELEASES
    assert sorted(templates.asked | OF_OTHER_COMMANDS) == _names("ATen")
    theirs = {path.name for path in (torch_source / "templates").iterdir()}
    assert theirs >= (templates.asked | OF_OTHER_COMMANDS) - OUR_OWN - OF_LATER_RELEASES


@pytest.fixture(scope="module")
def autograd_files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """What the generators of autograd and of Python's bindings write."""
    out, native = tmp_path_factory.mktemp("autograd"), packaged_folder("ATen") / "native"
    inputs = [
        str(native / "native_functions.yaml"),
        str(native / "tags.yaml"),
        str(out),
        str(packaged_folder("autograd")),
    ]
    for generator in (gen_autograd, gen_python, gen_annotated_fn_args):
        assert generator.main([*inputs, "--quiet"]) == 0
    return {path.name: path.read_text(encoding="utf-8") for path in out.glob("[!.]*")}


def test_every_template_of_autograd_is_used_and_is_one_of_torchs(
    autograd_files: Mapping[str, str], torch_source: Path
) -> None:
    made = {re.sub(r"(_\d|Everything)?(\.\w+)$", r"\2", name) for name in autograd_files}
    assert made == {name.removesuffix(".in") for name in _names("autograd")}
    assert {path.name for path in (torch_source.parent / "autograd" / "templates").iterdir()} == set(_names("autograd"))


def test_torchs_templates_take_our_definitions(program: Program, torch_source: Path, monolithic: object) -> None:
    theirs = {file.path for file in _emitted(program, TemplateSet(torch_source / "templates"))}
    assert isinstance(monolithic, dict)
    assert theirs == set(monolithic)


# --------------------------------------------------------------------------------- what they say of themselves


def _references(segments: Iterable[Segment], bound: frozenset[str] = frozenset()) -> Iterator[tuple[str, ...]]:
    """The paths of all variables that a template asks for."""
    for segment in segments:
        if isinstance(segment, (Splice, Inline)):
            found = [segment.reference.path]
        elif isinstance(segment, Conditional):
            found = [segment.reference.path]
            yield from _references((*segment.body, *segment.otherwise), bound)
        elif isinstance(segment, Loop):
            found = [segment.reference.path]
            yield from _references(segment.body, bound | {segment.item})
        else:
            continue
        yield from (path for path in found if path[0] not in bound)


def _paths(kind: str, name: str) -> set[tuple[str, ...]]:
    return set(_references(parse_template(Source(name, _text(kind, name)))))


def _text(kind: str, name: str) -> str:
    return (_folder(kind) / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("kind", "name"), EACH)
def test_each_says_what_it_makes_and_of_what(kind: str, name: str) -> None:
    text = _text(kind, name)
    remarks = [line for line in text.splitlines() if line.startswith("$#")]
    assert text.startswith("$# Makes ")
    listed = {
        word for line in remarks[1:] if line.startswith("$#   ") for word in re.findall(r"[A-Za-z_]\w*", line[:60])
    }
    asked = {path[0] for path in _paths(kind, name)} - ALWAYS_THERE
    assert asked <= listed, f"{name} doesn't tell of {sorted(asked - listed)}"


def test_they_ask_for_operators_that_torch_has(torch_source: Path) -> None:
    """A misspelt name would just never be there."""
    log, native = Diagnostics(), torch_source / "native"
    theirs = load_definitions(native / "native_functions.yaml", native / "tags.yaml", log)
    assert theirs is not None
    names = {function.func.name.unambiguous_name() for function in theirs.functions}
    paths = [path for kind, name in EACH for path in _paths(kind, name)]
    asked = {path[1] for path in paths if path[0] in ("has_method", "has_function")}
    assert len(asked) > 20
    assert asked <= names


def test_the_words_are_ours(torch_source: Path) -> None:
    """No comment, and no message, stands in torch's templates as well."""
    for kind in ("ATen", "autograd"):
        theirs = (torch_source.parent / kind / "templates").iterdir()
        known = {sentence for path in theirs for sentence in _sentences(path.read_text(encoding="utf-8"))}
        for name in _names(kind):
            assert not known.intersection(_sentences(_text(kind, name))), name


def _sentences(text: str) -> Iterator[str]:
    """Comments and string literals of three words and more, as far as they are no names, commands or signatures."""
    for found in re.findall(r'//(.*)|"([^"\n]*)"', text):
        words = "".join(found).split()
        is_signature = "->" in words or re.match(r"\w+\(", words[0] if words else "")
        if len(words) > 2 and words[0] != "namespace" and not is_signature:
            yield " ".join(words).lower()


# ------------------------------------------------------------------------------------- what they make


def test_no_runs_of_blank_lines(
    monolithic: Mapping[str, str], per_operator: Mapping[str, str], autograd_files: Mapping[str, str]
) -> None:
    for path, text in (*monolithic.items(), *per_operator.items(), *autograd_files.items()):
        assert "\n\n\n" not in text, path
        assert not text.endswith("\n\n"), path
        assert " \n" not in text, path


def test_functions_say_where_they_come_from(program: Program, monolithic: Mapping[str, str]) -> None:
    function = next(f for f in program.functions if str(f.func.name) == "add.Tensor")
    place = f"// native_functions.yaml:{function.loc.line}: aten::add.Tensor("
    for path in ("Functions.h", "RedispatchFunctions.h", "core/TensorBody.h", "OperatorsEverything.cpp"):
        assert place in monolithic[path], path
    assert (
        f"// ---- native_functions.yaml:{function.loc.line}: aten::add.Tensor, "
        in monolithic["RegisterCPUEverything.cpp"]
    )


def test_lines_are_left_out_where_they_would_make_work(per_operator: Mapping[str, str]) -> None:
    assert "// aten::add.Tensor(" in per_operator["ops/add.h"]
    for path, text in per_operator.items():
        assert "native_functions.yaml:" not in text, path


def test_includes_come_once(per_operator: Mapping[str, str]) -> None:
    for path in ("Operators_0.cpp", "ViewMetaClasses.cpp", "CompositeViewCopyKernels.cpp", "RegisterBackendSelect.cpp"):
        includes = [line for line in per_operator[path].splitlines() if line.startswith("#include <ATen/ops/")]
        assert includes
        assert len(includes) == len(set(includes)), path


# -------------------------------------------------------------------------------------------- where they are

TINY: Final = "- func: twice(Tensor self) -> Tensor\n"


def _write(folder: Path, **files: str) -> Path:
    for path, text in {"native/native_functions.yaml": TINY, "native/tags.yaml": "[]\n", **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def test_a_folder_without_templates_takes_ours(tmp_path: Path) -> None:
    source, out = _write(tmp_path / "ops"), tmp_path / "out"
    assert gen.main(["-q", "-s", str(source), "-d", str(out), "--generate", "headers"]) == 0
    assert "// native_functions.yaml:1: aten::twice(Tensor self) -> Tensor" in (out / "Functions.h").read_text()


def test_templates_beside_the_definitions_take_the_place_of_ours(tmp_path: Path) -> None:
    source = _write(tmp_path, **{"templates/Functions.h": "$Functions_declarations\n"})
    inputs = find_inputs(source, Diagnostics())
    assert inputs is not None
    assert inputs.templates == tmp_path / "templates"


def test_what_comes_with_torch(torch_source: Path) -> None:
    inputs = find_inputs(None, Diagnostics(), from_torch=True)
    assert inputs is not None
    assert inputs.functions == torch_source / "native" / "native_functions.yaml"
    assert inputs.templates == torch_source / "templates"


def test_every_place_looked_at_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opgen.run.inputs._HERE", tmp_path / "opgen")
    log = Diagnostics()
    assert find_inputs(None, log) is None
    said = log.render()
    native = tmp_path / "opgen" / "packaged" / "ATen"
    places = (native / "native" / "native_functions.yaml", native / "native" / "tags.yaml", native / "templates")
    for place in (*places, tmp_path / "opgen" / "packaged" / "templates" / "ATen", tmp_path / "templates" / "ATen"):
        assert f"looked for '{place}'" in said
