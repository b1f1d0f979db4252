"""tags.yaml → the tags that an operator may have.

    - tag: pointwise
      desc: |
        The operator computes each element of its result from one element of each input.

becomes `TagDefinition("pointwise", "The operator computes ...", <span of 'pointwise'>)`.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from opgen.diagnostics import Diagnostics, Note, Source, Span
from opgen.frontend.cpp_names import identifier
from opgen.frontend.fields import Field, Table, read_fields, text
from opgen.frontend.nodes import ListNode, Node, load_yaml
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap

TAG = Field("tag", identifier, description="The tag's name, a C++ identifier.")
DESCRIPTION = Field("desc", text, description="What the tag says about an operator.")
TABLE = Table.of(TAG, DESCRIPTION)


@dataclass(frozen=True, slots=True)
class TagDefinition:
    """A tag and its declaration."""

    name: str
    """A C++ identifier: tags become an enumeration."""
    description: str
    """The description of the tag, often with a final line break."""
    span: Span = field(compare=False)
    """The span of the name."""


def load_tags(where: Source | Path, log: Diagnostics) -> FrozenMap[str, TagDefinition]:
    """Return the tags of a file by name, in the file's order; errors are logged and skipped."""
    root = load_yaml(where, log)
    tags: dict[str, TagDefinition] = {}
    if isinstance(root, ListNode):
        for entry in root.items:
            _add_tag(entry, tags, log)
    elif root is not None:
        log.error("wrong-kind", "a tags file must be a list", root.span, "start each entry with '- tag: ...'")
    return FrozenMap(tags)


def _add_tag(entry: Node, tags: dict[str, TagDefinition], log: Diagnostics) -> None:
    values = read_fields(entry, TABLE, "a tag", log)
    if values is None:
        return
    name = values[TAG]
    if name.text in tags:
        first = Note("first declared here", tags[name.text].span)
        log.error("duplicate-tag", f"the tag '{name.text}' is declared twice", name.span, notes=[first])
        return
    tags[name.text] = TagDefinition(name.text, values[DESCRIPTION], name.span)
