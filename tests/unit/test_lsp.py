"""The language server, driven by pygls' client as an editor drives it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

from opgen import __main__ as command
from opgen.commands._language_server import analyze
from opgen.output.manifest import NAME as MANIFEST

DEFINITIONS = """\
- func: lib::scale(Tensor self, float by=2.0) -> Tensor
  structured_delegate: scale.out
- func: lib::scale.out(Tensor self, float by=2.0, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: scale_cpu
"""
KERNELS = "#include <lib/NativeFunctions.h>\n\nTORCH_IMPL_FUNC(scale_cpu)(const at::Tensor& self) {}\n"


class Editor:
    """A client with one document open."""

    def __init__(self, client: LanguageClient, path: Path) -> None:
        self.client, self.uri = client, from_fs_path(str(path)) or ""
        self.version = 0
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.published.put_nowait(params))

    async def open(self, text: str) -> list[types.Diagnostic]:
        item = types.TextDocumentItem(self.uri, "yaml", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.next()

    async def change(self, text: str) -> list[types.Diagnostic]:
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))
        return await self.next()

    async def next(self) -> list[types.Diagnostic]:
        while True:
            params = await asyncio.wait_for(self.published.get(), 60)
            if params.uri == self.uri:
                return list(params.diagnostics)

    def at(self, line: int, character: int) -> dict[str, object]:
        document = types.TextDocumentIdentifier(self.uri)
        return {"text_document": document, "position": types.Position(line, character)}


@pytest.fixture
def ops(tmp_path: Path) -> Path:
    for name, text in (("ops/native/native_functions.yaml", DEFINITIONS), ("src/kernels.cpp", KERNELS)):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return tmp_path


def with_editor(path: Path, use: Callable[[Editor], Awaitable[None]]) -> None:
    async def session() -> None:
        client = LanguageClient("test", "1")
        root = str(Path(__file__).parents[2])
        await client.start_io(sys.executable, "-m", "opgen", "lsp", "--stdio", env={**os.environ, "PYTHONPATH": root})
        try:
            await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
            client.initialized(types.InitializedParams())
            await use(Editor(client, path))
        finally:
            # Without these two the server goes on, and stop() waits for it.
            await client.shutdown_async(None)
            client.exit(None)
            await asyncio.wait_for(client.stop(), 60)  # type: ignore[no-untyped-call]

    asyncio.run(session())


def test_diagnostics_while_typing(ops: Path) -> None:
    async def use(editor: Editor) -> None:
        assert await editor.open(DEFINITIONS) == []
        (mistake,) = await editor.change(
            DEFINITIONS.replace("float by=2.0) -> Tensor\n", "flaot by=2.0) -> Tensor\n", 1)
        )
        assert (mistake.code, mistake.source, mistake.severity) == (
            "unknown-type",
            "opgen",
            types.DiagnosticSeverity.Error,
        )
        assert "did you mean 'float'?" in mistake.message
        assert mistake.range == types.Range(types.Position(0, 32), types.Position(0, 37))
        assert await editor.change(DEFINITIONS) == []

    with_editor(ops / "ops/native/native_functions.yaml", use)


def test_mistakes_in_derivatives(ops: Path) -> None:
    async def use(editor: Editor) -> None:
        text = "- name: scale(Tensor self, float by=2.0) -> Tensor\n  self: grad * yb\n"
        (mistake,) = await editor.open(text)
        assert mistake.code == "unknown-variable"
        assert mistake.range.start == types.Position(1, 15)
        assert await editor.change(text.replace("yb", "by")) == []
        # Which language formulas are needed in is up to the build.
        assert await editor.change(text.replace("grad * yb", "{python: grad * by}")) == []
        (mistake,) = await editor.change(text.replace("grad * yb", "{python: grad * yb}"))
        assert mistake.code == "unknown-variable"

    (ops / "ops/autograd").mkdir()
    with_editor(ops / "ops/autograd/derivatives.yaml", use)


def test_hover_explains_the_operator(ops: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open(DEFINITIONS)
        hover = await editor.client.text_document_hover_async(types.HoverParams(**editor.at(0, 12)))  # type: ignore[arg-type]
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert "lib::scale\n" in hover.contents.value
        assert "CPU: TORCH_IMPL_FUNC(scale_cpu)" in hover.contents.value

    with_editor(ops / "ops/native/native_functions.yaml", use)


def test_hover_on_a_derivative_explains_its_operator(ops: Path) -> None:
    text = "# Gradients.\n- name: scale(Tensor self, float by=2.0) -> Tensor\n  self: grad * by\n"

    async def use(editor: Editor) -> None:
        assert await editor.open(text) == []
        for line, wanted in ((0, False), (1, True), (2, True)):
            hover = await editor.client.text_document_hover_async(types.HoverParams(**editor.at(line, 3)))  # type: ignore[arg-type]
            # The formula is what the editor has, which isn't saved.
            shown = hover is not None and isinstance(hover.contents, types.MarkupContent)
            assert shown is wanted
            if hover is not None and isinstance(hover.contents, types.MarkupContent):
                assert "lib::scale\n" in hover.contents.value
                assert "  self: grad * by\n" in hover.contents.value

    (ops / "ops/autograd").mkdir()
    with_editor(ops / "ops/autograd/derivatives.yaml", use)


def test_operators_of_mlx(tmp_path: Path) -> None:
    text = (
        '- name: halve\n  signature: "array halve(const array& x)"\n  pointwise: true\n  dispatch: {cpu: halve_cpu}\n'
    )

    async def use(editor: Editor) -> None:
        assert await editor.open(text) == []
        (mistake,) = await editor.change(text.replace("{cpu:", "{gpu: f, cpu:"))
        assert (mistake.code, mistake.range.start) == ("unknown-device", types.Position(3, 13))
        params = types.DefinitionParams(**editor.at(3, 28))  # type: ignore[arg-type]
        found = await editor.client.text_document_definition_async(params)
        assert isinstance(found, list)
        assert [each.uri.rpartition("/")[2] for each in found if isinstance(each, types.Location)] == ["kernels.h"]

    for name in ("ops/mlx_ops.yaml", "src/kernels.h", "generated/kernels.h", f"generated/{MANIFEST}"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("template <typename T>\nT halve_cpu(T x) { return x / 2; }\n")
    with_editor(tmp_path / "ops/mlx_ops.yaml", use)


def test_every_state_of_a_text_that_is_typed_is_analyzed(ops: Path) -> None:
    path = ops / "ops/native/native_functions.yaml"
    for end in range(0, len(DEFINITIONS), 3):
        analyze(path.parents[1], {path: DEFINITIONS[:end]})
    derivatives = ops / "ops/autograd/derivatives.yaml"
    text = "- name: scale(Tensor self, float by=2.0) -> Tensor\n  self: grad * by\n"
    for end in range(0, len(text), 3):
        analyze(path.parents[1], {derivatives: text[:end]})


def test_delegates_and_kernels_are_found(ops: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open(DEFINITIONS)
        for position, name, line in (((1, 25), "native_functions.yaml", 2), ((6, 12), "kernels.cpp", 2)):
            params = types.DefinitionParams(**editor.at(*position))  # type: ignore[arg-type]
            found = await editor.client.text_document_definition_async(params)
            assert isinstance(found, list)
            (location,) = found
            assert isinstance(location, types.Location)
            assert location.uri.endswith(name)
            assert location.range.start.line == line

    with_editor(ops / "ops/native/native_functions.yaml", use)


def test_without_pygls_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    monkeypatch.delitem(sys.modules, "opgen.commands._language_server", raising=False)
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    assert command.main(["lsp"]) == 1
    assert "the language server needs pygls [pygls-missing]\n  pip install 'opgen[lsp]'" in capsys.readouterr().err
