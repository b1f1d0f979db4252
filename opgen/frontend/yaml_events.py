"""YAML text → nodes, parsed with libyaml.

YAML features that definitions don't use (tags, merge keys, several documents, keys that aren't
scalars) are errors, as is anything that can't be parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from opgen.diagnostics import Diagnostic, Diagnostics, Note, Source, Span, UserError, did_you_mean
from opgen.frontend.yaml_errors import explain
from opgen.frontend.yaml_nodes import ListNode, MappingNode, Node, Scalar

LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's loader if PyYAML has it; otherwise PyYAML's own, which is about twenty times slower."""
MAX_DEPTH: Final = 64
"""Maximum nesting depth of nodes."""
MAX_ALIASED: Final = 100_000
"""Maximum number of nodes that all aliases of a file may expand to."""
MAX_UNREADABLE: Final = 20
"""Maximum number of unreadable entries that are reported for a file."""

_PROPERTIES = re.compile(r"(?:[&!]\S*(?!\S)(?:\s|(?<=\s)#[^\n\r\x85\u2028\u2029]*(?![^\n\r\x85\u2028\u2029]))*)*")
_TAG = re.compile(r"!\S*")
_ENTRY = re.compile(r"^-(?=\s)", re.MULTILINE)
_ROOT = re.compile(r"^(?!---)[^\s#%]", re.MULTILINE)


def compose(source: Source, log: Diagnostics) -> Node | None:
    """Return the root node of a text; None, with errors logged, if it can't be read."""
    # libyaml doesn't count a byte order mark in its offsets, so it is replaced by a line break.
    text = "\n" + source.text[1:] if source.text.startswith("\ufeff") else source.text
    try:
        return _Composer(source, log).compose(text)
    except (yaml.YAMLError, UnicodeEncodeError) as problem:
        log.extend(_unreadable(source, text, problem))
        return None


def _unreadable(source: Source, text: str, problem: Exception | None) -> Iterator[Diagnostic]:
    """Yield the diagnostics of `problem`, and of unreadable entries after it if the root is a list."""
    for _ in range(MAX_UNREADABLE):
        if problem is None:
            return
        diagnostics = explain(problem, source)
        yield from diagnostics
        following = _following_entry(text, diagnostics[0].span)
        if following is None or not isinstance(problem, yaml.MarkedYAMLError):
            return
        text = "\n" * following + text[following:]
        problem = _first_problem(text)


def _following_entry(text: str, span: Span | None) -> int | None:
    """Return the offset of the first entry of the root list after `span`."""
    first = _ROOT.search(text)
    if span is None or first is None or first.group() != "-":
        return None
    following = _ENTRY.search(text, span.start + 1)
    return following.start() if following else None


def _first_problem(text: str) -> Exception | None:
    try:
        for _ in yaml.parse(text, Loader=LOADER):
            pass
    except yaml.YAMLError as problem:
        return problem
    return None


@dataclass(slots=True)
class _Opened:
    """A list or mapping that is still open."""

    event: Any
    children: list[Node] = field(default_factory=list)


class _Composer:
    """Builds nodes from libyaml's events, without recursion."""

    def __init__(self, source: Source, log: Diagnostics) -> None:
        self.source = source
        self.log = log
        self.children: list[Node] = []
        """Finished nodes of the innermost open collection; of the document, at the outermost."""
        self.opened: list[_Opened] = []
        self.anchors: dict[str, Node | None] = {}
        """Anchored nodes by name; None while the node is still open."""
        self.aliases_left = MAX_ALIASED
        self.documents = 0

    def compose(self, text: str) -> Node:
        """Read every event of `text`, and return the root node."""
        act: dict[type[Any], Callable[[Any], None]] = {
            ScalarEvent: self.add_scalar,
            AliasEvent: self.add_alias,
            MappingStartEvent: self.open,
            SequenceStartEvent: self.open,
            MappingEndEvent: self.close_mapping,
            SequenceEndEvent: self.close_list,
            DocumentStartEvent: self.start_document,
        }
        loader = LOADER(text)
        try:
            # Like yaml.parse(), without a Python generator step per event.
            for event in iter(loader.get_event, None):
                add = act.get(type(event))
                if add is not None:
                    add(event)
        finally:
            loader.dispose()
        return self.children[0] if self.children else Scalar("", self.source, 0, 0)

    def start_document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            label = "remove it, or move what follows to another file"
            span = self.source.span(event.start_mark.index, event.end_mark.index)
            raise UserError(Diagnostic("yaml-documents", "a second YAML document starts here", span, label))

    def add_scalar(self, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        if event.anchor is not None or event.tag is not None:
            start = self.skip_properties(event, start, end)
        scalar = Scalar(event.value, self.source, start, end, event.style or "")
        self.children.append(scalar)
        if event.anchor is not None:
            self.anchors[event.anchor] = scalar

    def add_alias(self, event: Any) -> None:
        span = self.source.span(event.start_mark.index, event.end_mark.index)
        target = self.anchors.get(event.anchor)
        if target is None:
            message = f"there is no anchor '&{event.anchor}' for this alias"
            label = did_you_mean(event.anchor, self.anchors) or "quote this value if it is text"
            if event.anchor in self.anchors:
                message, label = f"the alias '*{event.anchor}' is inside the value of its own anchor", ""
            self.log.error("yaml-alias", message, span, label)
            target = Scalar("", self.source, span.start, span.start)
        self.aliases_left -= _count(target, self.aliases_left)
        if self.aliases_left <= 0:
            raise UserError(Diagnostic("yaml-alias", "the aliases of this file expand to too many nodes", span))
        self.children.append(target)

    def open(self, event: Any) -> None:
        if event.tag is not None:
            self.skip_properties(event, event.start_mark.index, event.end_mark.index)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        if len(self.opened) >= MAX_DEPTH:
            span = self.source.span(event.start_mark.index, event.end_mark.index)
            raise UserError(Diagnostic("yaml-nesting", f"this is nested more than {MAX_DEPTH} deep", span))
        self.opened.append(_Opened(event, self.children))
        self.children = []

    def close_list(self, event: Any) -> None:
        start, end = self.extent(event)
        self.close(ListNode(tuple(self.children), self.source, start, end))

    def close_mapping(self, event: Any) -> None:
        start, end = self.extent(event)
        entries = tuple(zip(self.children[::2], self.children[1::2], strict=True))
        self.close(MappingNode(self.check_keys(entries), self.source, start, end))

    def close(self, node: Node) -> None:
        """Add a finished list or mapping to the collection around it."""
        opened = self.opened.pop()
        self.children = opened.children
        self.children.append(node)
        if opened.event.anchor is not None:
            self.anchors[opened.event.anchor] = node

    def extent(self, end_event: Any) -> tuple[int, int]:
        """Return start and end of the innermost collection; in block style it ends with its last child."""
        start_event = self.opened[-1].event
        start: int = start_event.start_mark.index
        if start_event.flow_style or not self.children:
            return start, end_event.end_mark.index
        return start, max(start, self.children[-1].end)

    def check_keys(self, entries: tuple[tuple[Node, Node], ...]) -> tuple[tuple[Scalar, Node], ...]:
        """Return the entries whose keys are unique words; log the others."""
        kept: dict[str, tuple[Scalar, Node]] = {}
        for key, value in entries:
            if not isinstance(key, Scalar):
                label = "quote it if it is text"
                self.log.error("yaml-key", "a key must be a word, not a list or a mapping", key.span, label)
            elif key.text in kept:
                first = Note("first given here", kept[key.text][0].span)
                self.log.error("duplicate-key", f"the key '{key.text}' is given twice", key.span, notes=[first])
            elif key.text == "<<" and key.is_plain:
                label = "write the merged keys out"
                self.log.error("yaml-merge", "merge keys are not supported", key.span, label)
            else:
                kept[key.text] = (key, value)
        return tuple(kept.values())

    def skip_properties(self, event: Any, start: int, end: int) -> int:
        """Return the offset after a node's anchor and tag; log the tag."""
        properties = _PROPERTIES.match(self.source.text, start, end)
        after = properties.end() if properties else start
        if event.tag is not None:
            tag = _TAG.search(self.source.text, start)
            span = self.source.span(*tag.span()) if tag else self.source.span(start, after)
            label = "quote this value if it is text"
            self.log.error("yaml-tag", "YAML tags are not supported", span, label)
        return after


def _count(node: Node, limit: int) -> int:
    """Return the number of nodes in `node`, with aliases expanded; stop counting at `limit`."""
    pending, count = [node], 0
    while pending and count < limit:
        count += 1
        current = pending.pop()
        if isinstance(current, ListNode):
            pending.extend(current.items)
        elif isinstance(current, MappingNode):
            pending.extend(value for _, value in current.entries)
    return count
