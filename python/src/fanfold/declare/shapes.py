"""Types of annotations as checks of JSON values: what fits is converted, what does not is told with its path. pydantic
models and msgspec structs check themselves; everything else is checked here, with or without them installed."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, Union, cast
from uuid import UUID

from ..classify import pydantic_problems
from ..problems import Problem, is_dict, is_list, json_path, kind_of, quoted

Steps = tuple[Any, ...]
Reader = Callable[[Any, Steps, "list[Problem]"], Any]


class Unsupported(Exception):
    """An annotation that says nothing that can be checked in a JSON value."""


def is_model(hint: Any) -> bool:
    """Does one value of it stand for all parameters together?"""
    hint = _bare(hint)
    origin = typing.get_origin(hint) or hint
    if hint in (Any, object, dict) or origin in (dict, collections.abc.Mapping, collections.abc.MutableMapping):
        return True
    return isinstance(hint, type) and (
        _is_pydantic(cast("Any", hint))
        or is_typed_dict(cast("Any", hint))
        or hasattr(cast("Any", hint), "__dataclass_fields__")
        or hasattr(cast("Any", hint), "__struct_fields__")
    )


def is_typed_dict(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, dict) and hasattr(cast("Any", hint), "__required_keys__")


def _is_pydantic(hint: Any) -> bool:
    return callable(getattr(hint, "model_validate", None)) and callable(getattr(hint, "model_json_schema", None))


def _bare(hint: Any) -> Any:
    while typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    return getattr(hint, "__supertype__", hint)


def reader_of(hint: Any) -> Reader:
    hint = _bare(hint)
    if hint in (Any, object, typing.Hashable):
        return lambda value, path, problems: value
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if hint is None or hint is type(None):
        return _literal((None,))
    origin = typing.get_origin(hint)
    if origin is not None:
        return _generic(origin, typing.get_args(hint))
    if isinstance(hint, type):
        return _class(hint)
    raise Unsupported(f"{hint!r} is not a type that a JSON value can be checked by")


def _expected(words: str, kinds: tuple[type, ...], convert: Callable[[Any], Any] | None = None) -> Reader:
    def read(value: Any, path: Steps, problems: list[Problem]) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            problems.append(Problem(json_path(path), f"must be {words}, not {kind_of(value)}"))
            return value
        if convert is None:
            return value
        try:
            return convert(value)
        except ValueError:
            problems.append(Problem(json_path(path), f"{quoted(value)} is not {words}"))
            return value

    return read


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00") if text.endswith("Z") else text)


_SIMPLE: dict[Any, Reader] = {
    str: _expected("a string", (str,)),
    bool: _expected("true or false", (bool,)),
    int: _expected("a whole number", (int,)),
    float: _expected("a number", (int, float), float),
    datetime: _expected("a date and time in ISO 8601", (str,), _moment),
    date: _expected("a date in ISO 8601", (str,), date.fromisoformat),
    UUID: _expected("a UUID", (str,), UUID),
    Path: _expected("a path", (str,), Path),
    dict: _expected("an object", (dict,)),
    list: _expected("an array", (list,)),
    tuple: _expected("an array", (list,), tuple),
    set: _expected("an array", (list,), set),
}


def _literal(allowed: tuple[Any, ...]) -> Reader:
    def read(value: Any, path: Steps, problems: list[Problem]) -> Any:
        if not any(value == one and type(value) is type(one) for one in allowed):
            words = " or ".join(quoted(one) for one in allowed)
            problems.append(Problem(json_path(path), f"must be {words}, not {quoted(value)}"))
        return value

    return read


_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection, set, frozenset)
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def _generic(origin: Any, arguments: tuple[Any, ...]) -> Reader:
    if origin is Literal:
        return _literal(arguments)
    if origin is Union or origin is types.UnionType:
        return _union([reader_of(one) for one in arguments])
    if origin in _LISTS:
        make = origin if origin in (set, frozenset) else list
        return _list(reader_of(arguments[0]), make)
    if origin in _DICTS:
        return _dict(reader_of(arguments[1]))
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return _list(reader_of(arguments[0]), tuple)
        return _tuple([reader_of(one) for one in arguments])
    name = getattr(origin, "__name__", str(origin))
    if name in ("Required", "NotRequired", "ReadOnly"):
        return reader_of(arguments[0])
    raise Unsupported(f"{name}[…] is not a type that a JSON value can be checked by")


def _union(readers: list[Reader]) -> Reader:
    def read(value: Any, path: Steps, problems: list[Problem]) -> Any:
        fewest: list[Problem] | None = None
        for one in readers:
            found: list[Problem] = []
            told = one(value, path, found)
            if not found:
                return told
            # The alternative that came furthest says best what is wrong: the deepest path.
            if fewest is None or max(len(p.path) for p in found) > max(len(p.path) for p in fewest):
                fewest = found
        problems.extend(fewest or [])
        return value

    return read


def _list(item: Reader, make: Callable[[Any], Any]) -> Reader:
    def read(value: Any, path: Steps, problems: list[Problem]) -> Any:
        if not is_list(value):
            problems.append(Problem(json_path(path), f"must be an array, not {kind_of(value)}"))
            return value
        return make([item(one, (*path, place), problems) for place, one in enumerate(value)])

    return read


def _tuple(items: list[Reader]) -> Reader:
    def read(value: Any, path: Steps, problems: list[Problem]) -> Any:
        if not is_list(value) or len(value) != len(items):
            problems.append(Problem(json_path(path), f"must be an array of {len(items)}, not {kind_of(value)}"))
            return value
        return tuple(one(value[place], (*path, place), problems) for place, one in enumerate(items))

    return read


def _dict(inner: Reader) -> Reader:
    def read(value: Any, path: Steps, problems: list[Problem]) -> Any:
        if not is_dict(value):
            problems.append(Problem(json_path(path), f"must be an object, not {kind_of(value)}"))
            return value
        return {key: inner(one, (*path, key), problems) for key, one in value.items()}

    return read


def _class(hint: Any) -> Reader:
    if _is_pydantic(hint):
        return _pydantic(hint)
    if hasattr(hint, "__struct_fields__"):
        return _msgspec(hint)
    if _is_enum(hint):
        return _expected(f"one of {', '.join(quoted(one.value) for one in hint)}", (str, int, float), hint)
    if hasattr(hint, "__dataclass_fields__"):
        needed = {
            one.name
            for one in dataclasses.fields(hint)
            if one.init and one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
        }
        names = {one.name for one in dataclasses.fields(hint) if one.init}
        hints = {name: one for name, one in hints_of(hint).items() if name in names}
        return fields_reader({name: reader_of(one) for name, one in hints.items()}, needed, hint)
    if is_typed_dict(hint):
        required = cast("frozenset[str]", hint.__required_keys__)
        return fields_reader({name: reader_of(one) for name, one in hints_of(hint).items()}, required, None)
    raise Unsupported(f"{hint.__name__} is not a type that a JSON value can be checked by")


def _is_enum(hint: Any) -> bool:
    return issubclass(hint, enum.Enum)


def hints_of(hint: Any) -> dict[str, Any]:
    module = sys.modules.get(getattr(hint, "__module__", ""), None)
    try:
        return typing.get_type_hints(hint, include_extras=True)
    except NameError as error:
        raise Unsupported(
            f"its annotation names {error.name}, which {getattr(module, '__name__', 'nobody')} does not have"
        ) from None


def fields_reader(
    fields: dict[str, Reader], required: typing.AbstractSet[str], make: Callable[..., Any] | None
) -> Reader:
    """An object with these fields. Keys that are not among them are passed over, as by the handlers of TypeScript."""

    def read(value: Any, path: Steps, problems: list[Problem]) -> Any:
        if not is_dict(value):
            problems.append(Problem(json_path(path), f"must be an object, not {kind_of(value)}"))
            return value
        given: dict[str, Any] = value
        before = len(problems)
        found: dict[str, Any] = {}
        for name, one in fields.items():
            if name in given:
                found[name] = one(given[name], (*path, name), problems)
            elif name in required:
                problems.append(Problem(json_path((*path, name)), "is missing"))
        if make is None:
            return {**given, **found}
        return make(**found) if len(problems) == before else value

    return read


def _pydantic(hint: Any) -> Reader:
    def read(value: Any, path: Steps, problems: list[Problem]) -> Any:
        try:
            return hint.model_validate(value)
        except ValueError as error:
            if not callable(getattr(error, "errors", None)):
                problems.append(Problem(json_path(path), str(error)))
            else:
                problems.extend(pydantic_problems(error, path))
            return value

    return read


def _msgspec(hint: Any) -> Reader:
    def read(value: Any, path: Steps, problems: list[Problem]) -> Any:
        import msgspec  # pyright: ignore[reportMissingImports]

        module = cast("Any", msgspec)
        try:
            return module.convert(value, hint)
        except module.ValidationError as error:
            problems.append(Problem(json_path(path), str(error)))
            return value

    return read
