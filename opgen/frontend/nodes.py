"""YAML text → frozen nodes with their locations in the file.

Three kinds of node: `Scalar`, `ListNode`, `MappingNode`.  A scalar is the text as written: nothing
is typed by YAML's implicit rules, so `on`, `010`, `1e3`, `~` and a key named `no` stay what they
are.  YAML features that definitions don't use (tags, merge keys, several documents, keys that aren't
scalars) are errors, as is anything that can't be parsed.  `fields` interprets the keys.

    - func: abs(Tensor self) -> Tensor
      variants: function, method

becomes, with a span for each node,

    ListNode(MappingNode((Scalar 'func', Scalar 'abs(Tensor self) -> Tensor'),
                         (Scalar 'variants', Scalar 'function, method')))
"""

from __future__ import annotations

from pathlib import Path

from opgen.diagnostics import Diagnostic, Diagnostics, Source, UserError
from opgen.frontend.yaml_events import compose
from opgen.frontend.yaml_nodes import ListNode as ListNode
from opgen.frontend.yaml_nodes import MappingNode as MappingNode
from opgen.frontend.yaml_nodes import Node as Node
from opgen.frontend.yaml_nodes import Scalar as Scalar
from opgen.input_files import read_bytes
from opgen.near_paths import nearest_path


def read_source(path: Path, name: str | None = None) -> Source:
    """Read a UTF-8 file as a `Source` named `name`, or `path`.  Raises UserError."""
    shown = name or str(path)
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        near = nearest_path(path)
        label = "" if near is None else f"did you mean '{near}'?"
        raise UserError(Diagnostic("missing-file", f"there is no file '{shown}'", label=label)) from None
    except OSError as problem:
        raise UserError(Diagnostic("unreadable-file", f"can't read '{shown}': {problem.strerror}")) from None
    try:
        return Source(shown, _one_newline(data.decode("utf-8-sig")))
    except UnicodeDecodeError as problem:
        raise UserError(_not_utf8(shown, data, problem)) from None


def load_yaml(where: Source | Path, log: Diagnostics) -> Node | None:
    """Return the root node of a YAML file, or None if it can't be read; `log` says why.

    An empty file is an empty `Scalar`.  Recoverable errors, such as duplicate keys, are logged, and the
    node is returned.
    """
    try:
        source = where if isinstance(where, Source) else read_source(where)
        return compose(source, log)
    except UserError as problem:
        log.extend(problem.diagnostics)
        return None


def _one_newline(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _not_utf8(name: str, data: bytes, problem: UnicodeDecodeError) -> Diagnostic:
    """Return a diagnostic at the first byte that isn't UTF-8, in the text with such bytes replaced."""
    before = data[: problem.start].decode("utf-8-sig")
    source = Source(name, _one_newline(data.decode("utf-8-sig", errors="replace")))
    offset = len(_one_newline(before))
    message = f"the byte 0x{data[problem.start]:02x} is not UTF-8"
    return Diagnostic("bad-encoding", message, source.span(offset, offset + 1), "save the file as UTF-8")
