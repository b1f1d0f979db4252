r"""The operators → `RegisterSchema.cpp`, which registers their schemas and tags.

TORCH_LIBRARY(mylib, m) {
  std::vector<at::Tag> tags_0 = {at::Tag::pointwise};
  m.def("scale(Tensor self, float by=1.0) -> Tensor", tags_0);
}
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.api.python_parser import TENSOR
from opgen.dest.cpp_text import string_literal
from opgen.extension.extension import Extension
from opgen.extension.includes import render_file
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseType, FunctionSchema, NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.releases.known import known_releases


@dataclass(frozen=True, slots=True)
class _TagGroup:
    """A set of tags of one or more operators."""

    name: str
    tags: str
    newer: tuple[str, ...]
    """The tags that the oldest release of torch doesn't have."""


@dataclass(frozen=True, slots=True)
class _Definition:
    """An operator's schema as a C++ literal, and its tags."""

    schema: str
    tags: str


def emit_schemas(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterSchema.cpp`."""
    groups: dict[frozenset[str], _TagGroup] = {}
    definitions: list[_Definition] = []
    for function in extension.program.functions:
        tags = registered_tags(extension.program, function)
        if tags and tags not in groups:
            groups[tags] = _tag_group(f"tags_{len(groups)}", tags)
        name = groups[tags].name if tags else "{}"
        definitions.append(_Definition(string_literal(extension.signatures(function).schema), name))
    yield render_file(
        extension,
        templates,
        "RegisterSchema.cpp",
        "RegisterSchema.cpp",
        macro="TORCH_LIBRARY_FRAGMENT" if extension.options.is_fragment else "TORCH_LIBRARY",
        newer_tags=sorted({tag for group in groups.values() for tag in group.newer}),
        tag_groups=list(groups.values()),
        definitions=definitions,
    )


def registered_tags(program: Program, function: NativeFunction) -> frozenset[str]:
    """Return the tags that are registered with the dispatcher.

    torch.compile in torch 2.13 finds the out variant of a functional form by the tag `out`.  It passes
    all tensors first, then other arguments, flattens lists and drops keywords, so variants that can't be called
    this way don't get the tag.
    """
    declared = function.tags.intersection(program.tags)
    return declared if _is_called_plainly(function.func) else declared - {"out"}


def _is_called_plainly(func: FunctionSchema) -> bool:
    """Return whether tensors come first, then other values, and the only keyword-only argument is one out argument."""
    arguments = func.arguments
    types = [argument.type for argument in arguments.flat_positional]
    are_tensors = [type == TENSOR for type in types]
    return (
        len(arguments.out) <= 1
        and not arguments.flat_kwarg_only
        and all(isinstance(type, BaseType) for type in types)
        and are_tensors == sorted(are_tensors, reverse=True)
    )


def _tag_group(name: str, tags: frozenset[str]) -> _TagGroup:
    old = known_releases()[0].tags
    return _TagGroup(name, ", ".join(f"at::Tag::{tag}" for tag in sorted(tags & old)), newer=tuple(sorted(tags - old)))
