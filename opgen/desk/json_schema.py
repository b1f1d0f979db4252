"""The tables that read YAML files -> JSON Schemas, with which editors complete and check those files.

    json_schema("native_functions", tags={"core": "Belongs to the core operators."})
    {"type": "array", "items": {"properties": {"func": {"type": "string", ...}, ...}, "required": ["func"]}}

Keys come from the tables of the front end, so that a key that is read has a place here; enumerations come from the
values that the readers accept.  A JSON Schema knows no names of operators: what depends on other entries is left to
the run itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from opgen.api.autograd import DEFAULT_KEY
from opgen.backend import backend_yaml
from opgen.desk.key_descriptions import DERIVATIVE_KEYS, DESCRIPTIONS
from opgen.dispatch_keys import DispatchKey
from opgen.frontend import derivative_entries, entries, selection, tags
from opgen.frontend.fields import Field, Table
from opgen.frontend.formula_languages import CPP, PYTHON
from opgen.mlx import definitions as mlx
from opgen.mlx.model import Batching
from opgen.mlx.types import DTYPE_SETS, ELEMENT_TYPES
from opgen.model import DTYPE_CLASSES, DeviceCheckType, ScalarType, UfuncKey, Variant
from opgen.selective_build.dtypes import DTYPES

Json = dict[str, Any]
DRAFT: Final = "http://json-schema.org/draft-07/schema#"
"""The draft that editors know best."""

_TEXT: Final = MappingProxyType({"type": ["string", "number", "boolean"]})
"""A text: opgen reads `1e3` and `on` as text too, but an editor takes them for a number and a boolean."""
_BOOLEAN: Final = MappingProxyType({"type": "boolean"})
_IDENTIFIER: Final = MappingProxyType({"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_]*$"})
_QUALIFIED: Final = MappingProxyType({**_TEXT, "pattern": r"^[A-Za-z_]\w*(::[A-Za-z_]\w*)*$"})


def _words(items: Mapping[str, Any] = _TEXT) -> Json:
    """Return a list, or a text with commas between the words."""
    return {"anyOf": [{"type": "array", "items": dict(items)}, dict(_TEXT)]}


def _list(items: Mapping[str, Any] = _TEXT) -> Json:
    return {"type": "array", "items": dict(items)}


def _or_nothing(schema: Json) -> Json:
    """Return the schema of a key whose value may be missing."""
    return {"anyOf": [schema, {"type": "null"}]}


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
    """Return the schema of tags; without a list of them, any words."""
    if not known:
        return _words()
    one = [{"const": name, "description": description.strip()} for name, description in known.items()]
    several = {"type": "string", "pattern": rf"^({'|'.join(known)})(\s*,\s*({'|'.join(known)}))+$"}
    return {"anyOf": [{"type": "array", "items": {"anyOf": one}}, *one, several]}


def _dispatch_key_names() -> list[str]:
    return [key.name for key in DispatchKey if key is not DispatchKey.Undefined]


def _shapes(known_tags: Mapping[str, str]) -> Mapping[Field[Any], Json]:
    """Return the value of each key, by the field that reads it."""
    operators = _or_nothing(_list())
    return {
        entries.FUNC: {"type": "string", "pattern": r"^[^()]+\(.*\)\s*->\s*.+$"},
        entries.VARIANTS: _variants(),
        entries.DISPATCH: _keys_of(_dispatch_key_names(), _QUALIFIED),
        entries.STRUCTURED: dict(_BOOLEAN),
        entries.STRUCTURED_DELEGATE: dict(_TEXT),
        entries.STRUCTURED_INHERITS: dict(_QUALIFIED),
        entries.PRECOMPUTED: _words(),
        entries.AUTOGEN: _words(),
        entries.MANUAL_KERNEL_REGISTRATION: dict(_BOOLEAN),
        entries.MANUAL_CPP_BINDING: dict(_BOOLEAN),
        entries.PYTHON_MODULE: dict(_IDENTIFIER),
        entries.CATEGORY_OVERRIDE: dict(_TEXT),
        entries.DEVICE_GUARD: dict(_BOOLEAN),
        entries.DEVICE_CHECK: {"enum": list(DeviceCheckType.__members__)},
        entries.CPP_NO_DEFAULT_ARGS: _words(),
        entries.USE_CONST_REF: dict(_BOOLEAN),
        entries.UFUNC_INNER_LOOP: _ufuncs(),
        entries.TAGS: _tag_words(known_tags),
        entries.RANDOM: dict(_BOOLEAN),
        entries.DOC: dict(_TEXT),
        tags.TAG: dict(_IDENTIFIER),
        tags.DESCRIPTION: dict(_TEXT),
        backend_yaml.BACKEND: {"enum": _dispatch_key_names()},
        backend_yaml.CPP_NAMESPACE: dict(_QUALIFIED),
        backend_yaml.CLASS_NAME: _or_nothing(dict(_IDENTIFIER)),
        backend_yaml.EXTRA_HEADERS: _or_nothing(_words()),
        backend_yaml.USE_OUT_AS_PRIMARY: dict(_BOOLEAN),
        backend_yaml.DEVICE_GUARD: dict(_BOOLEAN),
        backend_yaml.SUPPORTED: operators,
        backend_yaml.AUTOGRAD: operators,
        backend_yaml.SYMINT: operators,
        backend_yaml.FULL_CODEGEN: operators,
        backend_yaml.IR_GEN: operators,
        backend_yaml.NON_NATIVE: _or_nothing(_list(_table(backend_yaml.NODE_TABLE, _node_shapes()))),
        selection.ALL_OPERATORS: dict(_BOOLEAN),
        selection.ALL_ELSE: dict(_BOOLEAN),
        selection.DEBUG_INFO: _list(),
        selection.OPERATORS: {"type": "object", "additionalProperties": _selected_operator()},
        selection.KERNELS: {"type": "object", "additionalProperties": _words({"enum": sorted(DTYPES)})},
        selection.ET_KERNELS: {"type": "object", "additionalProperties": _list()},
        selection.CLASSES: _words(),
        selection.FEATURES: _words(),
    }


def _node_shapes() -> Mapping[Field[Any], Json]:
    return {
        backend_yaml.FUNC: dict(_TEXT),
        backend_yaml.OPKIND: dict(_TEXT),
        backend_yaml.PROPERTIES: _or_nothing(_list()),
    }


def _selected_operator() -> Json:
    shapes = {
        selection.IS_ROOT: dict(_BOOLEAN),
        selection.FOR_TRAINING: dict(_BOOLEAN),
        selection.ALL_OVERLOADS: dict(_BOOLEAN),
        selection.OPERATOR_DEBUG_INFO: _list(),
    }
    return _or_nothing(_table(selection.OPERATOR_TABLE, shapes))


def _table(table: Table, shapes: Mapping[Field[Any], Json]) -> Json:
    """Return the mapping that a table reads."""
    properties = {
        field.name: {"description": DESCRIPTIONS[table.fields[field.name]], **shapes[field]}
        for field in table.fields.values()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": [field.name for field in table.required],
        "additionalProperties": False,
    }


def _native_functions(known_tags: Mapping[str, str]) -> Json:
    return {"type": "array", "items": _table(entries.TABLE, _shapes(known_tags))}


def _tags(known_tags: Mapping[str, str]) -> Json:
    return {"type": "array", "items": _table(tags.TABLE, _shapes(known_tags))}


def _backend(known_tags: Mapping[str, str]) -> Json:
    return _table(backend_yaml.TABLE, _shapes(known_tags))


def _selection(known_tags: Mapping[str, str]) -> Json:
    return _table(selection.TABLE, _shapes(known_tags))


def _mlx(known_tags: Mapping[str, str]) -> Json:
    one_or_several: Json = {"anyOf": [dict(_TEXT), _list()]}
    texts: Json = {"type": "object", "additionalProperties": dict(_TEXT)}
    dtype: Json = {"enum": list(ELEMENT_TYPES)}
    shapes: dict[Field[Any], Json] = {
        mlx.NAME: dict(_IDENTIFIER),
        mlx.SIGNATURE: dict(_TEXT),
        mlx.CPP_SIGNATURE: dict(_TEXT),
        mlx.PYTHON_SIGNATURE: dict(_TEXT),
        mlx.DISPATCH: {
            "type": "object",
            "properties": {device: dict(_QUALIFIED) for device in mlx.DEVICES},
            "additionalProperties": False,
        },
        mlx.COMPOSITE: dict(_TEXT),
        mlx.PYTHON_NAME: dict(_IDENTIFIER),
        mlx.GRAD: texts,
        mlx.DOC: dict(_TEXT),
        mlx.POINTWISE: dict(_BOOLEAN),
        # The words are what an editor suggests; C++ expressions are legal too.
        mlx.SHAPE: {"anyOf": [{"enum": list(mlx.SHAPE_RULES)}, *one_or_several["anyOf"]]},
        mlx.DTYPES: {"anyOf": [{"enum": [*DTYPE_SETS, *ELEMENT_TYPES]}, {**_list(dtype), "minItems": 1}]},
        mlx.INPUT_DTYPES: {"type": "object", "additionalProperties": dtype},
        mlx.RESULT_DTYPE: {"anyOf": [{"enum": [mlx.SAME_DTYPE, *ELEMENT_TYPES]}, *one_or_several["anyOf"]]},
        mlx.VMAP: {"anyOf": [{"enum": [each.value for each in Batching]}, texts]},
    }
    return {"type": "array", "items": _table(mlx.TABLE, shapes)}


def _derivatives(known_tags: Mapping[str, str]) -> Json:
    """Return the schema of an entry: a few fixed keys, and formulas by argument or result."""
    text = {"type": ["string", "number"]}
    languages = {CPP: text, PYTHON: text}
    formula = {
        "type": ["string", "number", "object"],
        "properties": languages,
        "additionalProperties": False,
        "minProperties": 1,
        "description": DERIVATIVE_KEYS["formula"],
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
        "properties": {key: {"description": DERIVATIVE_KEYS[key], **shape} for key, shape in shapes.items()},
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
