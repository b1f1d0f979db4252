"""A language server for operator definitions, over standard input and output.

    while you type    the diagnostics of `opgen gen`, for definitions, tags and derivatives
    hover             what `opgen explain` prints about the operator of the entry
    go to definition  from a delegate to its entry, from a derivative to its operator, from a kernel to its C++

For operators of MLX: diagnostics, and "go to definition" from a kernel to its C++.

The server reads the folder of the document that is edited, with the unsaved text of open documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument

from opgen import __version__
from opgen.commands._definitions_kind import count_namespaces
from opgen.commands._extension import extension_templates, generate_extension, load_extension
from opgen.commands._mlx import NAMESPACE
from opgen.desk.explain import Subject, explain, render_explanation
from opgen.desk.facts import facts_of, formulas_of, places_of_derivatives
from opgen.desk.registrations import find_registrations
from opgen.diagnostics import Diagnostic, Diagnostics, Source, Span
from opgen.extension.extension import Extension, ExtensionOptions
from opgen.frontend.native_functions import load_program
from opgen.frontend.nodes import Node, load_yaml
from opgen.frozen_dataclass import dataclass
from opgen.input_files import read_text_if_possible
from opgen.mlx import FILE_NAME as MLX_FILE
from opgen.mlx.definitions import load_library
from opgen.model import NativeFunction
from opgen.output.manifest import NAME as MANIFEST
from opgen.program.program import Program
from opgen.run.inputs import packaged_folder

FUNCTIONS: Final = "native/native_functions.yaml"
TAGS: Final = "native/tags.yaml"
DERIVATIVES: Final = "autograd/derivatives.yaml"
_SEVERITIES: Final = MappingProxyType(
    {
        "error": types.DiagnosticSeverity.Error,
        "warning": types.DiagnosticSeverity.Warning,
        "remark": types.DiagnosticSeverity.Information,
    }
)
_SOURCES: Final = (".cpp", ".cc", ".cxx", ".cu", ".mm", ".h", ".hpp", ".cuh", ".metal")
_WORD: Final = re.compile(r"[A-Za-z_][\w.:]*")


@dataclass(frozen=True, slots=True)
class Analysis:
    """The result of reading a folder of definitions."""

    diagnostics: tuple[Diagnostic, ...]
    program: Program | None
    extension: Extension | None = field(repr=False)


def folder_of(path: Path) -> Path | None:
    """Return the folder of definitions that a file belongs to; None if it isn't a definitions file."""
    if path.name == MLX_FILE:
        return path.parent
    for name in (FUNCTIONS, TAGS, DERIVATIVES):
        if path.as_posix().endswith(f"/{name}"):
            return path.parents[1]
    return None


def analyze(folder: Path, texts: Mapping[Path, str], torch: str | None = None) -> Analysis:
    """Read a folder of definitions.

    Args:
        folder: The folder of the definitions.
        texts: The unsaved texts of open documents, by path.
        torch: The version of torch that the definitions are for, if the user names it.
    """
    log, functions = Diagnostics(), folder / FUNCTIONS
    mlx = folder / MLX_FILE
    if (mlx in texts or mlx.exists()) and functions not in texts and not functions.exists():
        load_library(_source(mlx, texts), NAMESPACE, log)
        return Analysis(tuple(log.sorted()), None, None)
    text = texts.get(functions) or read_text_if_possible(functions)
    namespaces = count_namespaces(text)
    if set(namespaces) - {"aten"} and "aten" not in namespaces:
        extension = load_extension(folder, ExtensionOptions(), log, torch=torch, texts=texts)
        # In an extension in the stable ABI, formulas are in Python.
        diagnostics = tuple([each for each in log.sorted() if each.id != "formula-language"])
        return Analysis(diagnostics, extension.program if extension else None, extension)
    tags = folder / TAGS
    legal = _source(tags, texts) if tags.exists() or tags in texts else packaged_folder("ATen") / TAGS
    program = load_program(_source(functions, texts), legal, log, torch=torch)
    return Analysis(tuple(log.sorted()), program, None)


def _source(path: Path, texts: Mapping[Path, str]) -> Source | Path:
    return Source(str(path), texts[path]) if path in texts else path


class DefinitionsServer(LanguageServer):
    """The server, and the last analysis of each folder."""

    def __init__(self, torch: str | None) -> None:
        super().__init__("opgen", __version__)
        self.torch = torch
        self.analyses: dict[Path, Analysis] = {}
        self.published: dict[Path, set[str]] = {}

    def open_texts(self) -> dict[Path, str]:
        """Return the texts of the documents that the editor has open."""
        documents = self.workspace.text_documents.values()
        return {_path(document.uri): document.source.replace("\r\n", "\n") for document in documents}

    def refresh(self, uri: str) -> None:
        """Analyze the folder of a document and publish its diagnostics."""
        folder = folder_of(_path(uri))
        if folder is None:
            return
        texts = self.open_texts()
        analysis = self.analyses[folder] = analyze(folder, texts, self.torch)
        by_file: dict[str, list[types.Diagnostic]] = {name: [] for name in self.published.get(folder, ())}
        by_file.setdefault(str(_path(uri)), [])
        for diagnostic in analysis.diagnostics:
            name = diagnostic.span.source.name if diagnostic.span is not None else str(_path(uri))
            by_file.setdefault(name, []).append(_to_lsp(diagnostic))
        self.published[folder] = set(by_file)
        for name, diagnostics in by_file.items():
            params = types.PublishDiagnosticsParams(uri=from_fs_path(name) or uri, diagnostics=diagnostics)
            self.text_document_publish_diagnostics(params)

    def analysis_of(self, uri: str) -> Analysis | None:
        """Return the last analysis of a document's folder."""
        folder = folder_of(_path(uri))
        if folder is None:
            return None
        if folder not in self.analyses:
            self.analyses[folder] = analyze(folder, self.open_texts(), self.torch)
        return self.analyses[folder]


def _path(uri: str) -> Path:
    return Path(to_fs_path(uri) or uri)


def _to_lsp(diagnostic: Diagnostic) -> types.Diagnostic:
    lines = filter(None, [diagnostic.message, diagnostic.label, *(note.message for note in diagnostic.notes)])
    return types.Diagnostic(
        range=_range(diagnostic.span),
        message="\n".join(lines),
        severity=_SEVERITIES[diagnostic.severity],
        code=diagnostic.id,
        source="opgen",
    )


def _range(span: Span | None) -> types.Range:
    """Return the range of a span; columns count UTF-16 code units, as the protocol requires."""
    if span is None:
        return types.Range(types.Position(0, 0), types.Position(0, 0))
    return types.Range(_position(span.source, span.start), _position(span.source, max(span.start, span.end)))


def _position(source: Source, offset: int) -> types.Position:
    line, column = source.position(offset)
    before = source.line(line)[: column - 1]
    return types.Position(line - 1, len(before.encode("utf-16-le")) // 2)


# ---------------------------------------------------------------------------------- requests


def operator_at(program: Program, path: Path, line: int) -> NativeFunction | None:
    """Return the operator whose entry contains the 0-based line of a definitions file."""
    before = [f for f in program.functions if f.loc.source.name == str(path) and f.loc.line <= line + 1]
    return max(before, key=lambda f: f.loc.start) if before else None


def differentiated_at(program: Program, derivatives: Node | None, line: int) -> NativeFunction | None:
    """Return the operator whose entry in derivatives.yaml contains the 0-based line."""
    before = [(span.start, name) for name, span in places_of_derivatives(derivatives).items() if span.line <= line + 1]
    name = max(before)[1] if before else ""
    return next((function for function in program.functions if str(function.func.name) == name), None)


def describe(analysis: Analysis, function: NativeFunction, derivatives: Node | None) -> str:
    """Return the text that `opgen explain` prints about an operator."""
    program = analysis.program
    assert program is not None
    formulas = formulas_of(derivatives)
    files = () if analysis.extension is None else generate_extension(analysis.extension, extension_templates())
    subject = Subject(program, facts_of(program, formulas), find_registrations(files), analysis.extension is not None)
    return render_explanation(explain(subject, function))


def definitions_of(analysis: Analysis, word: str, folder: Path) -> Iterator[types.Location]:
    """Yield the locations where the operator or kernel named by a word is defined."""
    program = analysis.program
    name = word.rpartition("::")[2]
    for function in program.functions if program is not None else ():
        if str(function.func.name) == name and "generated" not in function.tags:
            yield types.Location(from_fs_path(function.loc.source.name) or "", _range(function.loc))
            return
    yield from _kernels(name, folder.parent)


def _kernels(name: str, project: Path) -> Iterator[types.Location]:
    pattern = re.compile(rf"\b(?:TORCH_IMPL_FUNC\(\s*{re.escape(name)}\s*\)|{re.escape(name)}\s*\()")
    generated = {path.parent for path in project.rglob(MANIFEST)}
    for path in sorted(p for p in project.rglob("*") if p.suffix in _SOURCES and "build" not in p.parts):
        if not generated.isdisjoint(path.parents):
            continue
        source = Source(str(path), read_text_if_possible(path))
        match = pattern.search(source.text)
        if match is not None:
            yield types.Location(from_fs_path(str(path)) or "", _range(source.span(*match.span())))


def _word_at(document: TextDocument, position: types.Position) -> str:
    line = document.lines[position.line] if position.line < len(document.lines) else ""
    column = len(line.encode("utf-16-le")[: 2 * position.character].decode("utf-16-le", errors="ignore"))
    return next((m.group().strip(".:") for m in _WORD.finditer(line) if m.start() <= column <= m.end()), "")


def build_server(torch: str | None) -> DefinitionsServer:
    """Return the server with its features, for the version of torch that the user names, if any."""
    server = DefinitionsServer(torch)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.refresh(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.refresh(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        return _hover(server, params)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> list[types.Location]:
        uri, folder = params.text_document.uri, folder_of(_path(params.text_document.uri))
        analysis = server.analysis_of(uri)
        word = _word_at(server.workspace.get_text_document(uri), params.position)
        return [] if analysis is None or folder is None or not word else list(definitions_of(analysis, word, folder))

    return server


def _hover(server: DefinitionsServer, params: types.HoverParams) -> types.Hover | None:
    path = _path(params.text_document.uri)
    analysis, folder = server.analysis_of(params.text_document.uri), folder_of(path)
    if analysis is None or analysis.program is None or folder is None:
        return None
    path_of_derivatives, line = folder / DERIVATIVES, params.position.line
    texts = server.open_texts()
    derivatives = (
        load_yaml(_source(path_of_derivatives, texts), Diagnostics())
        if path_of_derivatives in texts or path_of_derivatives.exists()
        else None
    )
    if path == path_of_derivatives:
        function = differentiated_at(analysis.program, derivatives, line)
    else:
        function = operator_at(analysis.program, path, line)
    if function is None:
        return None
    text = f"```\n{describe(analysis, function, derivatives)}```"
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))
