"""Takes secrets out of what is recorded: values by themselves and as they are usually written (URL, base64, hex,
JSON), in capitals, small letters or backwards, and whatever stands under a key that sounds like one."""

from __future__ import annotations

import base64
import json
import math
import re
from typing import Any, cast
from urllib.parse import quote, quote_plus

REDACTED = "[redacted]"
# Shorter ones stand everywhere by chance, and would make every line unreadable.
_LEAST = 4
# A piece of base64 shorter than this says nothing.
_LEAST_BASE64 = 8
# A longer secret is a file: it is looked for as it is.
_MOST_VARIED = 4096

_SECRET_WORDS = [
    "authorization",
    "cookie",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "signingkey",
    "credential",
    "credentials",
    "connectionstring",
]


class Redaction:
    def __init__(self) -> None:
        self._values: set[str] = set()
        # In small letters, the longest first: a form may hold another.
        self._forms: list[str] = []

    def add(self, value: str) -> None:
        if len(value) < _LEAST or value in self._values:
            return
        self._values.add(value)
        forms = {_small(form) for one in _variants(value) for form in _forms_of(one)}
        self._forms = sorted({*self._forms, *forms}, key=len, reverse=True)

    def text(self, text: str) -> str:
        if len(text) < _LEAST:
            return text
        clean, searched = text, _small(text)
        for form in self._forms:
            if form in searched:
                clean = _without(clean, searched, form)
                searched = _small(clean)
        if clean.endswith("…"):
            return self._without_tail(clean, searched[:-1])
        return clean

    def _without_tail(self, text: str, body: str) -> str:
        """A text that was cut may end in the first half of a secret."""
        for form in self._forms:
            for length in range(min(len(form) - 1, len(body)), _LEAST - 1, -1):
                if body.endswith(form[:length]):
                    return f"{text[: len(body) - length]}{REDACTED}…"
        return text

    def value(self, value: Any) -> Any:
        """All through a JSON value, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return REDACTED if str(value) in self._values else value
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(one) for key, one in cast("dict[Any, Any]", value).items()}
        return value


def _small(text: str) -> str:
    """Letter by letter, of the same length: what is found must be where it was in the text."""
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _without(text: str, searched: str, form: str) -> str:
    clean, start = "", 0
    at = searched.find(form)
    while at >= 0:
        clean += text[start:at] + REDACTED
        start = at + len(form)
        at = searched.find(form, start)
    return clean + text[start:]


def _variants(value: str) -> list[str]:
    if len(value) > _MOST_VARIED:
        return [value]
    spelt = [value, value.upper(), value.lower()]
    return list(dict.fromkeys([*spelt, *(one[::-1] for one in spelt)]))


def _forms_of(value: str) -> list[str]:
    raw = value.encode("utf-8", "replace")
    in_json = json.dumps(value, ensure_ascii=False)[1:-1]
    b64 = base64.b64encode(raw).decode()
    forms = [
        value,
        in_json,
        json.dumps(in_json, ensure_ascii=False)[1:-1],
        in_json.replace("/", "\\/"),
        raw.hex(),
        b64,
        b64.rstrip("="),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
        quote(raw, safe="-_.!~*'()"),
        quote_plus(raw),
    ]
    for offset in range(3):
        forms += _base64_forms(raw, offset)
    return [form for form in forms if len(form) >= _LEAST]


def _base64_forms(raw: bytes, offset: int) -> list[str]:
    """What of the secret alone decides when it is encoded inside a longer text, as in "Basic base64(user:password)"."""
    whole = base64.b64encode(bytes(offset) + raw).decode().rstrip("=")
    piece = whole[math.ceil(offset * 8 / 6) : (offset + len(raw)) * 8 // 6]
    return [piece, piece.replace("+", "-").replace("/", "_")] if len(piece) >= _LEAST_BASE64 else []


def is_secret_key(key: str) -> bool:
    plain = re.sub(r"[^a-z]", "", key[-60:].lower())
    return any(plain.endswith(word) for word in _SECRET_WORDS)


def without_secret_keys(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [without_secret_keys(one) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        key: REDACTED if is_secret_key(str(key)) and not _harmless(one) else without_secret_keys(one)
        for key, one in cast("dict[Any, Any]", value).items()
    }


def _harmless(value: Any) -> bool:
    return value is None or value == "" or isinstance(value, bool) or str(value).startswith("secret://")
