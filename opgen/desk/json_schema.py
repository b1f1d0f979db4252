"""The tables of YAML keys -> JSON Schemas, with which editors complete and check YAML files.

    json_schema("native_functions", tags={"core": "Belongs to the core operators."})
    {"type": "array", "items": {"properties": {"func": {"type": "string", ...}, ...}, "required": ["func"]}}

Keys come from the tables of the front end, so the schemas have every key; enumerations come from the values that
the converters accept.  A JSON Schema can't check names of operators, so only runs of opgen check references between
entries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from opgen.api.autograd import DEFAULT_KEY
from opgen.backend import backend_yaml
from opgen.dispatch_keys import DispatchKey
from opgen.frontend import derivative_entries, entry_fields, selection, tags
from opgen.frontend.cpp_names import identifier, qualified_name
from opgen.frontend.fields import Convert, Field, OneOf, Table, boolean, scalar, text, word_list
from opgen.frontend.formula_languages import CPP, PYTHON
from opgen.mlx import definitions as mlx
from opgen.mlx.model import Batching
from opgen.mlx.types import DTYPE_SETS, ELEMENT_TYPES
from opgen.model import DTYPE_CLASSES, ScalarType, UfuncKey, Variant
from opgen.selective_build.dtypes import DTYPES

Json = dict[str, Any]
DRAFT: Final = "http://json-schema.org/draft-07/schema#"
"""The draft with the best support in editors."""

_TEXT: Final = MappingProxyType({"type": ["string", "number", "boolean"]})
"""A string.  opgen also reads `1e3` and `on` as strings, but editors parse them as a number and a boolean."""
_BOOLEAN: Final = MappingProxyType({"type": "boolean"})
_IDENTIFIER: Final = MappingProxyType({"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_]*$"})
_QUALIFIED: Final = MappingProxyType({**_TEXT, "pattern": r"^[A-Za-z_]\w*(::[A-Za-z_]\w*)*$"})


def _words(items: Mapping[str, Any] = _TEXT) -> Json:
    """Return the schema of a list, or of a string with commas between words."""
    return {"anyOf": [{"type": "array", "items": dict(items)}, dict(_TEXT)]}


def _list(items: Mapping[str, Any] = _TEXT) -> Json:
    return {"type": "array", "items": dict(items)}


def _keys_of(names: list[str], value: Mapping[str, Any]) -> Json:
    """Return a mapping whose keys are some of `names`, or several of them with commas between."""
    one = "|".join(sorted(names, key=len, reverse=True))
    return {
        "type": "object",
        "properties": {name: dict(value) for name in names},
        "patternProperties": {rf"^({one})(,\s*({one}))*$": dict(value)},
        "additionalProperties": False,
    }


def _ufuncs() -> Json:
    dtypes = "|".join((*DTYPE_CLASSES, *ScalarType.__members__))
    loop = {"type": "string", "pattern": rf"^\s*[A-Za-z_]\w*\s*\(\s*((({dtypes})\s*,?\s*)*)\)\s*$"}
    keys = {"type": "object", "properties": dict.fromkeys(UfuncKey.__members__, loop), "additionalProperties": False}
    return {"anyOf": [loop, keys]}


def _variants() -> Json:
    names = list(Variant.__members__)
    texts = {"enum": [*names, ", ".join(names), ", ".join(reversed(names))]}
    return {"anyOf": [{"type": "array", "items": {"enum": names}}, texts]}


def _tag_words(known: Mapping[str, str]) -> Json:
    """Return the schema of tags; without a list of tags, any words are valid."""
    if not known:
        return _words()
    one = [{"const": name, "description": description.strip()} for name, description in known.items()]
    several = {"type": "string", "pattern": rf"^({'|'.join(known)})(\s*,\s*({'|'.join(known)}))+$"}
    return {"anyOf": [{"type": "array", "items": {"anyOf": one}}, *one, several]}


def _dispatch_key_names() -> list[str]:
    return [key.name for key in DispatchKey if key is not DispatchKey.Undefined]


_OF_CONVERTERS: Final[Mapping[Convert[Any], Mapping[str, Any]]] = MappingProxyType(
    {
        boolean: _BOOLEAN,
        identifier: _IDENTIFIER,
        qualified_name: _QUALIFIED,
        scalar: _TEXT,
        text: _TEXT,
        word_list: _words(),
    }
)
"""The schemas of the values that converters accept; those of other converters are with the table of their file."""


def _table(table: Table, shapes: Mapping[Field[Any], Mapping[str, Any]]) -> Json:
    """Return the schema of a table; `shapes` has the schemas of fields whose converters don't determine them."""
    fields = table.fields.values()
    return {
        "type": "object",
        "properties": {each.name: {"description": each.description, **_shape(each, shapes)} for each in fields},
        "required": [each.name for each in table.required],
        "additionalProperties": False,
    }


def _shape(field: Field[Any], shapes: Mapping[Field[Any], Mapping[str, Any]]) -> Json:
    if field in shapes:
        shape = shapes[field]
    elif isinstance(field.convert, OneOf):
        shape = {"enum": list(field.convert.legal)}
    else:
        shape = _OF_CONVERTERS[field.convert]
    # The key may have no value.
    return {"anyOf": [dict(shape), {"type": "null"}]} if field.may_be_empty else dict(shape)


def _native_functions(known_tags: Mapping[str, str]) -> Json:
    shapes = {
        entry_fields.FUNC: {"type": "string", "pattern": r"^[^()]+\(.*\)\s*->\s*.+$"},
        entry_fields.VARIANTS: _variants(),
        entry_fields.DISPATCH: _keys_of(_dispatch_key_names(), _QUALIFIED),
        entry_fields.STRUCTURED_DELEGATE: _TEXT,
        entry_fields.PRECOMPUTED: _words(),
        entry_fields.AUTOGEN: _words(),
        entry_fields.UFUNC_INNER_LOOP: _ufuncs(),
        entry_fields.TAGS: _tag_words(known_tags),
    }
    return _list(_table(entry_fields.TABLE, shapes))


def _tags(known_tags: Mapping[str, str]) -> Json:
    return _list(_table(tags.TABLE, {}))


def _backend(known_tags: Mapping[str, str]) -> Json:
    operators = (
        *(backend_yaml.SUPPORTED, backend_yaml.AUTOGRAD, backend_yaml.SYMINT),
        *(backend_yaml.FULL_CODEGEN, backend_yaml.IR_GEN),
    )
    shapes: dict[Field[Any], Json] = {
        backend_yaml.BACKEND: {"enum": _dispatch_key_names()},
        backend_yaml.EXTRA_HEADERS: _words(),
        **dict.fromkeys(operators, _list()),
        backend_yaml.NON_NATIVE: _list(_table(backend_yaml.NODE_TABLE, {backend_yaml.PROPERTIES: _list()})),
    }
    return _table(backend_yaml.TABLE, shapes)


def _selection(known_tags: Mapping[str, str]) -> Json:
    operator = _table(selection.OPERATOR_TABLE, {selection.OPERATOR_DEBUG_INFO: _list()})
    shapes: dict[Field[Any], Json] = {
        selection.DEBUG_INFO: _list(),
        selection.OPERATORS: {
            "type": "object",
            "additionalProperties": {"anyOf": [operator, {"type": "null"}]},
        },
        selection.KERNELS: {"type": "object", "additionalProperties": _words({"enum": sorted(DTYPES)})},
        selection.ET_KERNELS: {"type": "object", "additionalProperties": _list()},
        selection.CLASSES: _words(),
        selection.FEATURES: _words(),
    }
    return _table(selection.TABLE, shapes)


def _mlx(known_tags: Mapping[str, str]) -> Json:
    one_or_several: Json = {"anyOf": [dict(_TEXT), _list()]}
    texts: Json = {"type": "object", "additionalProperties": dict(_TEXT)}
    dtype: Json = {"enum": list(ELEMENT_TYPES)}
    shapes: dict[Field[Any], Mapping[str, Any]] = {
        mlx.DISPATCH: {
            "type": "object",
            "properties": {device: dict(_QUALIFIED) for device in mlx.DEVICES},
            "additionalProperties": False,
        },
        mlx.COMPOSITE: _TEXT,
        mlx.PYTHON_NAME: _IDENTIFIER,
        mlx.GRAD: texts,
        mlx.DOC: _TEXT,
        # The words are what an editor suggests; C++ expressions are legal too.
        mlx.SHAPE: {"anyOf": [{"enum": list(mlx.SHAPE_RULES)}, *one_or_several["anyOf"]]},
        mlx.DTYPES: {"anyOf": [{"enum": [*DTYPE_SETS, *ELEMENT_TYPES]}, {**_list(dtype), "minItems": 1}]},
        mlx.INPUT_DTYPES: {"type": "object", "additionalProperties": dtype},
        mlx.RESULT_DTYPE: {"anyOf": [{"enum": [mlx.SAME_DTYPE, *ELEMENT_TYPES]}, *one_or_several["anyOf"]]},
        mlx.VMAP: {"anyOf": [{"enum": [each.value for each in Batching]}, texts]},
    }
    return _list(_table(mlx.TABLE, shapes))


def _derivatives(known_tags: Mapping[str, str]) -> Json:
    """Return the schema of an entry: a few fixed keys, and formulas by argument or result."""
    formula_text = {"type": ["string", "number"]}
    languages = {CPP: formula_text, PYTHON: formula_text}
    formula = {
        "type": ["string", "number", "object"],
        "properties": languages,
        "additionalProperties": False,
        "minProperties": 1,
        "description": derivative_entries.DESCRIPTIONS["formula"],
    }
    truths = {"type": "array", "items": {"type": ["boolean", "string"]}}
    formulas = {"type": "object", "additionalProperties": formula, "minProperties": 1}
    keys = (DEFAULT_KEY, *derivative_entries.AUTOGRAD_KEYS)
    shapes: dict[str, Json] = {
        derivative_entries.NAME: {"type": "string"},
        derivative_entries.DISPATCH: {
            "type": "object",
            "properties": dict.fromkeys(keys, formulas),
            "additionalProperties": False,
            "minProperties": 1,
        },
        derivative_entries.OUTPUT_DIFFERENTIABILITY: truths,
        derivative_entries.HANDLES_COMPLEX: dict(_BOOLEAN),
    }
    entry = {
        "type": "object",
        "properties": {
            key: {"description": derivative_entries.DESCRIPTIONS[key], **shape} for key, shape in shapes.items()
        },
        "required": [derivative_entries.NAME],
        "additionalProperties": formula,
    }
    return {"type": "array", "items": entry}


_SCHEMAS: Final[Mapping[str, Callable[[Mapping[str, str]], Json]]] = MappingProxyType(
    {
        "native_functions": _native_functions,
        "derivatives": _derivatives,
        "tags": _tags,
        "backend": _backend,
        "selection": _selection,
        "mlx": _mlx,
    }
)
KINDS: Final = tuple(_SCHEMAS)
"""The kinds of files that there are schemas for."""


def json_schema(kind: str, known_tags: Mapping[str, str] = MappingProxyType({})) -> Json:
    """Return the JSON Schema of a kind of file.

    `kind` is one of `KINDS`; `known_tags` are the tags that operators may have, with their descriptions; any tag is
    legal if there are none.
    """
    return {"$schema": DRAFT, "title": f"opgen: {kind}", **_SCHEMAS[kind](known_tags)}


def render_schema(kind: str, known_tags: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the text of the JSON Schema of a kind of file."""
    return json.dumps(json_schema(kind, known_tags), indent=2) + "\n"
