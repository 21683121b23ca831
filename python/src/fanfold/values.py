"""Which values are JSON as we store it, and how what a handler returns becomes it: pydantic models, dataclasses, numpy
scalars, dates. The usual value is written once and looked at by nothing but C; a walk finds the path of what is
wrong."""

from __future__ import annotations

import enum
import json
import math
import re
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import PurePath
from typing import Any, cast
from uuid import UUID

from .errors import ValueProblems
from .problems import MAX_PROBLEMS, Problem, is_dict, is_list, json_path, kind_of

MOST_DEPTH = 100
LARGEST_INTEGER = 9_007_199_254_740_991

# Sixteen digits in a row, or an escaped NUL or half a surrogate pair: then the walk looks.
_SUSPECT = re.compile(r"\d{16}|\\u0000|\\ud[89a-f]|\"__proto__\":|\"constructor\":", re.IGNORECASE)


def plain(value: Any) -> Any:
    """For json.dumps: what is not JSON by itself, as what it means."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    fields: Any = getattr(value.__class__, "__dataclass_fields__", None)
    if fields is not None:
        return {name: getattr(value, name) for name in fields}
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (UUID, PurePath)):
        return str(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (set, frozenset)):
        return [*cast("set[Any]", value)]
    struct: Any = getattr(value.__class__, "__struct_fields__", None)
    if struct is not None:
        return {name: getattr(value, name) for name in struct}
    # numpy: a scalar has item(), an array tolist(); neither package is imported for it.
    if type(value).__module__.split(".")[0] == "numpy":
        return value.tolist()
    raise TypeError(f"is {kind_of(value)}, which JSON does not know")


def to_text(value: Any, title: str = "This value cannot be stored") -> str:
    """JSON text of the value; ValueProblems with every problem and its path when there is none."""
    try:
        text = json.dumps(value, default=plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        if not text.isascii():
            text.encode()
            if _SUSPECT.search(text) is None:
                return text
        elif _SUSPECT.search(text) is None:
            return text
    except (TypeError, ValueError, RecursionError):
        text = None
    problems = value_problems(value)
    if problems:
        raise ValueProblems(title, problems=problems)
    if text is None:
        raise ValueProblems(title, problems=[Problem("$", "cannot be written as JSON", "Return plain values.")])
    return text


def value_problems(value: Any) -> list[Problem]:
    walk = _Walk()
    walk.visit(value)
    return walk.problems


class _Walk:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._path: list[str | int] = []
        self._above: set[int] = set()

    def visit(self, value: Any) -> None:
        if len(self.problems) >= MAX_PROBLEMS or value is None or isinstance(value, bool):
            return
        if isinstance(value, enum.Enum):
            self.visit(value.value)
        elif isinstance(value, str):
            self._text(value)
        elif isinstance(value, (int, float)):
            self._number(value)
        elif is_dict(value):
            self._inside(value, value.items())
        elif is_list(value):
            self._inside(value, enumerate(value))
        else:
            self._other(value)

    def _other(self, value: Any) -> None:
        try:
            told = plain(value)
        except TypeError:
            self._add(f"is {kind_of(value)}, which JSON does not know", "Return plain dicts, lists and scalars.")
        except Exception as error:
            self._add(f"could not be read: {error}", "Return plain dicts, lists and scalars.")
        else:
            self.visit(told)

    def _inside(self, holder: object, parts: Any) -> None:
        if id(holder) in self._above:
            self._add("contains itself", "Send a tree: refer to the other place by a name.")
        elif len(self._above) >= MOST_DEPTH:
            self._add(f"is nested deeper than {MOST_DEPTH} levels", "Flatten it.")
        else:
            self._above.add(id(holder))
            for step, one in parts:
                self._step(step, one)
            self._above.discard(id(holder))

    def _step(self, step: Any, value: Any) -> None:
        if not isinstance(step, (str, int)):
            self._add(f"has {kind_of(step)} as key", "Use text keys.")
            return
        self._path.append(step)
        if isinstance(step, str):
            self._text(step)
            if step == "__proto__" or (step == "constructor" and is_dict(value) and "prototype" in value):
                self._add("is a key that changes what objects are in JavaScript", "Use another name.")
        self.visit(value)
        self._path.pop()

    def _text(self, text: str) -> None:
        if "\0" in text:
            self._add("holds a NUL character (\\u0000), which Postgres cannot store", "Remove it.")
        try:
            text.encode()
        except UnicodeEncodeError:
            self._add("holds half a surrogate pair, which is no character", "Repair the text's encoding.")

    def _number(self, value: float) -> None:
        if isinstance(value, float):
            if not math.isfinite(value):
                shown = "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
                self._add(f"{shown} is not a number JSON knows", "Leave it out, or use null.")
        elif abs(value) > LARGEST_INTEGER:
            words = f"is an integer beyond ±{LARGEST_INTEGER}, whose last digits would be lost"
            self._add(words, "Send it as a string.")

    def _add(self, problem: str, fix: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(json_path(self._path), problem, fix))


def storable(text: str, most_bytes: int) -> str:
    """Text that Postgres accepts, cut at a character's edge to at most so many bytes of UTF-8."""
    clean = text[: most_bytes + 1].replace("\0", "\ufffd")
    raw = clean.encode("utf-8", "replace") if clean.isascii() else _repaired(clean).encode()
    if len(raw) <= most_bytes:
        return raw.decode()
    return raw[: most_bytes - len("…".encode())].decode("utf-8", "ignore") + "…"


def _repaired(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in text)
