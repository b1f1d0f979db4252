"""Sources of a backend's kernels → whether they define each kernel of the backend YAML.

    backend.yaml:4:14: error: 'Mine::abs' is not defined in 'kernels.cpp' [kernel-not-defined]
        4 | supported: [abs, view]
          |             ^^^ define 'at::Tensor Mine::abs(const at::Tensor & self)'

Sources are read as tokens, so line ends, comments, strings and macros of the file don't matter.
Kernels of the same name are distinguished by their number of parameters; the compiler checks their types.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from opgen.backend.backend_yaml import ExternalBackend
from opgen.backend.cpp_tokens import Token, expand
from opgen.diagnostics import Diagnostics, Note, Source, Span, did_you_mean
from opgen.frozen_dataclass import dataclass
from opgen.model import OperatorName
from opgen.program.program import Program

_TRANSPARENT: Final = frozenset({"namespace", "extern"})
"""Keywords whose braces contain outermost definitions."""


@dataclass(frozen=True, slots=True)
class _Definition:
    """A member of the class that a source defines."""

    name: str
    parameters: int
    span: Span


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel that must be defined."""

    operator: OperatorName
    name: str
    parameters: int
    declaration: str


def check_kernels(
    sources: Sequence[Source],
    backend: ExternalBackend,
    program: Program,
    log: Diagnostics,
    generated: Collection[OperatorName] = (),
) -> int:
    """Log kernels that no source defines, and members that aren't kernels; return the number of kernels.

    The kernels of the operators in `generated` aren't expected in the sources.
    """
    kernels = [kernel for kernel in _kernels(backend, program) if kernel.operator not in generated]
    definitions = [each for source in sources for each in find_definitions(source, backend.class_name)]
    by_name: dict[str, list[_Definition]] = {}
    for definition in definitions:
        by_name.setdefault(definition.name, []).append(definition)
    wanted: dict[str, list[_Kernel]] = {}
    for kernel in kernels:
        wanted.setdefault(kernel.name, []).append(kernel)
    files = " or ".join(f"'{source.name}'" for source in sources)
    for name, of_name in wanted.items():
        _check_name(of_name, by_name.get(name, []), by_name, files, backend, log)
    others = {kernel.name for kernel in _kernels(backend, program)}
    for name, found in by_name.items():
        if name not in others and _other_name(name) not in others:
            _report_unlisted(name, found, wanted, backend, log)
    return len(kernels)


def _kernels(backend: ExternalBackend, program: Program) -> Iterator[_Kernel]:
    """Yield the kernels that the author must define, for all keys."""
    for index in backend.indices:
        for function in program.functions:
            kernel = index.index.get(function.func.name)
            if kernel is not None:
                signature = program.signatures(function).kernel(index)
                declaration = signature.defn(f"{backend.class_name}::{kernel.kernel}")
                yield _Kernel(function.func.name, kernel.kernel, len(signature.arguments), declaration)


def _check_name(
    kernels: Sequence[_Kernel],
    found: Sequence[_Definition],
    by_name: dict[str, list[_Definition]],
    files: str,
    backend: ExternalBackend,
    log: Diagnostics,
) -> None:
    """Check the kernels of one name against the definitions."""
    left, missing = list(found), list[_Kernel]()
    for kernel in kernels:
        match = next((each for each in left if each.parameters == kernel.parameters), None)
        if match is None:
            missing.append(kernel)
        else:
            left.remove(match)
    for kernel in missing:
        message = f"'{backend.class_name}::{kernel.name}' is not defined in {files}"
        if found:
            message = f"'{kernel.operator}' has no '{backend.class_name}::{kernel.name}' with its parameters"
        notes = [Note("the kernel to define", lines=(kernel.declaration,)), *_near(kernel, left, by_name, backend)]
        log.error("kernel-not-defined", message, backend.places.get(kernel.operator), notes=notes)
    for definition in () if missing else left:
        message = f"'{backend.class_name}::{definition.name}' has more definitions than operators that use it"
        operators = ", ".join(str(kernel.operator) for kernel in kernels)
        log.error("kernel-too-many", message, definition.span, f"it is the kernel of {operators}")


def _near(
    kernel: _Kernel, found: Sequence[_Definition], by_name: dict[str, list[_Definition]], backend: ExternalBackend
) -> Iterator[Note]:
    """Yield definitions that may have been meant: with other parameters, or named without regard to `symint`."""
    for definition in found:
        parameters = f"{definition.parameters} parameter{'s' if definition.parameters != 1 else ''}"
        yield Note(f"this one has {parameters}, not {kernel.parameters}", definition.span)
    other = _other_name(kernel.name)
    for definition in by_name.get(other, [])[:1]:
        listed = "is" if kernel.operator in backend.symint else "isn't"
        yield Note(f"this one is named '{other}', but the operator {listed} listed under 'symint'", definition.span)


def _other_name(name: str) -> str:
    """Return the name of the kernel if the operator were moved to `symint`, or out of it."""
    return name.removesuffix("_symint") if name.endswith("_symint") else f"{name}_symint"


def _report_unlisted(
    name: str,
    found: Iterable[_Definition],
    wanted: Collection[str],
    backend: ExternalBackend,
    log: Diagnostics,
) -> None:
    for definition in found:
        message = f"'{backend.class_name}::{name}' is not the kernel of any listed operator"
        log.warning("kernel-not-listed", message, definition.span, did_you_mean(name, wanted))


# ------------------------------------------------------------------------------- definitions


def find_definitions(source: Source, class_name: str) -> Iterator[_Definition]:
    """Yield the members of a class that a source defines outside of it."""
    tokens = expand(source.text)
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        if text == "{" and not _is_transparent(tokens, at):
            at = _after(tokens, at)
            continue
        if text == class_name and _texts(tokens, at + 1, at + 4)[0::2] == ["::", "("]:
            body = _body(tokens, at + 3)
            if body is not None:
                name = tokens[at + 2]
                span = source.span(tokens[at].start, max(name.end, tokens[at].end))
                yield _Definition(name.text, _count_parameters(tokens, at + 3), span)
                at = _after(tokens, body)
                continue
        at += 1


def _texts(tokens: Sequence[Token], start: int, end: int) -> list[str]:
    return [token.text for token in tokens[start:end]]


def _is_transparent(tokens: Sequence[Token], opened: int) -> bool:
    """Return whether the brace belongs to a namespace, or to `extern "C"`."""
    at = opened - 1
    while at >= 0 and tokens[at].text not in (";", "{", "}", ")"):
        if tokens[at].text in _TRANSPARENT:
            return True
        at -= 1
    return False


def _after(tokens: Sequence[Token], opened: int) -> int:
    """Return the index after the bracket that closes the one at `opened`."""
    depth = 0
    for at in range(opened, len(tokens)):
        text = tokens[at].text
        depth += (text in "([{") - (text in ")]}")
        if depth == 0:
            return at + 1
    return len(tokens)


def _body(tokens: Sequence[Token], opened: int) -> int | None:
    """Return the brace that opens the body of a function whose parameters open at `opened`; None if it has none."""
    at = _after(tokens, opened)
    while at < len(tokens) and tokens[at].text not in (";", "}", ",", "="):
        if tokens[at].text == "{":
            return at
        at = _after(tokens, at) if tokens[at].text in ("(", "[") else at + 1
    return None


def _count_parameters(tokens: Sequence[Token], opened: int) -> int:
    """Return the number of parameters in the parentheses at `opened`; commas in angle brackets don't count."""
    end = _after(tokens, opened) - 1
    inside = _texts(tokens, opened + 1, end)
    if inside in ([], ["void"]):
        return 0
    depth = commas = 0
    for text in inside:
        depth += (text in "([{<") - (text in ")]}>")
        commas += text == "," and depth == 0
    return commas + 1
