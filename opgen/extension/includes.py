"""The headers of an extension → their paths and include lines.

All forms and overloads of an operator share headers, named after their common root name, so adding an
operator doesn't change the headers of others.

    header(extension, "ops/blend_native.h")   →   mylib/ops/blend_native.h
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from opgen.api.types import BASE_TYPE_TO_CPP, iTensorListRefT
from opgen.dest.includes import by_root_name
from opgen.extension.extension import Extension
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

_COSTLY_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{str(each): each.header for each in (*BASE_TYPE_TO_CPP.values(), iTensorListRefT) if each.header},
        "c10::List<": "ATen/core/List.h",
        "c10::Dict<": "ATen/core/ivalue.h",
        "c10::IValue": "ATen/core/ivalue.h",
    },
)
"""Names of types, and the headers that declare them."""


def header(extension: Extension, path: str) -> str:
    """Return the path of a header, both in the install directory and in includes."""
    return f"{extension.namespace}/{path}"


def operator_headers(extension: Extension, suffix: str, names: Iterable[str] | None = None) -> list[str]:
    """Return the headers with this suffix of the operators with these names, or of all operators."""
    if names is None:
        names = by_root_name(extension.program.grouped)
    return [header(extension, operator_path(extension, name, suffix)) for name in sorted(set(names))]


_OTHER_HEADER: Final = re.compile(r"(.+)_(?:meta|native|ops|[a-z0-9]+_dispatch)")
"""The names of an operator's other headers, besides that of its functions."""


def operator_path(extension: Extension, name: str, suffix: str) -> str:
    """Return the header of an operator; for the functions of `add_ops`, not that of the entry points of `add`."""
    other = _OTHER_HEADER.fullmatch(name) if not suffix else None
    if other is not None and any(function.root_name == other[1] for function in extension.program.functions):
        return f"ops/{name}_functions.h"
    return f"ops/{name}{suffix}.h"


def type_includes(texts: Iterable[str]) -> list[str]:
    """Return the headers of types that `detail/Types.h` doesn't include, since they would double its compile time."""
    declared = "\n".join(texts)
    return [path for name, path in _COSTLY_TYPES.items() if name in declared]


def render_file(extension: Extension, templates: TemplateSet, path: str, template: str, **env: object) -> OutputFile:
    """Return a header of the extension, or a source next to its folder of headers."""
    place = header(extension, path) if path.endswith(".h") else path
    return OutputFile(place, templates.render(template, {**extension.environment(), **env}))


def include_all(extension: Extension, templates: TemplateSet, path: str, headers: Iterable[str]) -> OutputFile:
    """Return a header that includes others."""
    return render_file(extension, templates, path, "IncludeAll.h", includes=list(headers))
