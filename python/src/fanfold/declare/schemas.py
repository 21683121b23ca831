"""Types of annotations as JSON Schema, in the words the server checks by: no references, no patterns."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import types
import typing
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, Union, cast
from uuid import UUID

from .shapes import Unsupported, hints_of, is_typed_dict

Schema = dict[str, Any]

_SIMPLE: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    UUID: {"type": "string", "format": "uuid"},
    Path: {"type": "string"},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    type(None): {"type": "null"},
    None: {"type": "null"},
}


def schema_of(hint: Any) -> Schema:
    while typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    hint = getattr(hint, "__supertype__", hint)
    if hint in (Any, object):
        return {}
    if hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    origin = typing.get_origin(hint)
    if origin is not None:
        return _generic(origin, typing.get_args(hint))
    if isinstance(hint, type):
        return _class(hint)
    raise Unsupported(f"{hint!r} cannot be written as JSON Schema")


def _generic(origin: Any, arguments: tuple[Any, ...]) -> Schema:
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is Union or origin is types.UnionType:
        return {"anyOf": [schema_of(one) for one in arguments]}
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        items = [schema_of(one) for one in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin in (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable):
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin in (dict, collections.abc.Mapping, collections.abc.MutableMapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    name = getattr(origin, "__name__", str(origin))
    if name in ("Required", "NotRequired", "ReadOnly"):
        return schema_of(arguments[0])
    raise Unsupported(f"{name}[…] cannot be written as JSON Schema")


def _class(hint: Any) -> Schema:
    made = getattr(hint, "model_json_schema", None)
    if callable(made):
        return _inlined(cast("Schema", made()), {}, ())
    if _is_enum(hint):
        return {"enum": [one.value for one in hint]}
    if hasattr(hint, "__dataclass_fields__"):
        return _fields(
            hint,
            {one.name for one in dataclasses.fields(hint) if not _has_default(one)},
            {one.name: one.default for one in dataclasses.fields(hint) if one.default is not dataclasses.MISSING},
        )
    if is_typed_dict(hint):
        return _fields(hint, cast("frozenset[str]", hint.__required_keys__), {})
    raise Unsupported(f"{hint.__name__} cannot be written as JSON Schema")


def _is_enum(hint: Any) -> bool:
    return issubclass(hint, enum.Enum)


def _has_default(one: Any) -> bool:
    return one.default is not dataclasses.MISSING or one.default_factory is not dataclasses.MISSING


def _fields(hint: Any, required: typing.AbstractSet[str], defaults: dict[str, Any]) -> Schema:
    properties = {name: schema_of(one) for name, one in hints_of(hint).items()}
    for name, value in defaults.items():
        if value is None or isinstance(value, (str, int, float, bool)):
            properties[name]["default"] = value
    needed = [name for name in properties if name in required]
    return {"type": "object", "properties": properties, **({"required": needed} if needed else {})}


# The server refuses what it would not check: a pattern, for one. The model checks it where the task runs.
_LEFT_OUT = frozenset(
    {"$defs", "pattern", "discriminator", "contentMediaType", "contentEncoding", "const_", "writeOnly", "readOnly"}
)
_FORMATS = frozenset({"email", "uri", "uuid", "date-time", "date", "time", "ipv4", "ipv6", "hostname"})


def _inlined(schema: Any, definitions: Schema, above: tuple[str, ...]) -> Any:
    """References written out where they stand."""
    if isinstance(schema, list):
        return [_inlined(one, definitions, above) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    given = cast("Schema", schema)
    known = {**definitions, **given.get("$defs", {})}
    if "$ref" in given:
        name = str(given["$ref"]).rsplit("/", 1)[1]
        if name in above:
            raise Unsupported(f"{name} refers to itself, which the server's JSON Schema cannot say")
        others = {key: one for key, one in given.items() if key not in ("$ref", "$defs")}
        return {**_inlined(known.get(name, {}), known, (*above, name)), **others}
    kept = {key: one for key, one in given.items() if key not in _LEFT_OUT}
    if kept.get("format") not in _FORMATS:
        kept.pop("format", None)
    if isinstance(kept.get("properties"), dict):
        fields = cast("Schema", kept["properties"])
        made = {key: _inlined(one, known, above) for key, one in fields.items()}
        rest = {key: _inlined(one, known, above) for key, one in kept.items() if key not in ("properties", "default")}
        return {**rest, "properties": made, **({"default": kept["default"]} if "default" in kept else {})}
    return {
        key: one if key in ("default", "enum", "const", "examples", "required") else _inlined(one, known, above)
        for key, one in kept.items()
    }
