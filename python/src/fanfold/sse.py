"""Reads server-sent events out of text as it comes, in pieces cut anywhere, as the HTML standard parses them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import ContractViolation

# An event is a record or two; whoever sends more is not a Fanfold server.
MOST_CHARACTERS = 4 * 1024 * 1024
_END_OF_LINE = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class ServerEvent:
    id: str
    event: str
    data: str


class EventReader:
    def __init__(self) -> None:
        self.retry_s: float | None = None
        self._rest = ""
        self._started = False
        self._after_cr = False
        self._id = ""
        self._event = ""
        self._data: list[str] = []
        self._size = 0

    def push(self, text: str) -> list[ServerEvent]:
        """The events that are complete with this piece of text."""
        if not self._started and text:
            self._started = True
            text = text.removeprefix("\ufeff")
        # A CR LF that is cut in two is one end of line.
        if self._after_cr and text:
            self._after_cr = False
            text = text.removeprefix("\n")
        events: list[ServerEvent] = []
        start = 0
        for found in _END_OF_LINE.finditer(text):
            event = self._line(self._rest + text[start : found.start()])
            self._rest = ""
            if event is not None:
                events.append(event)
            start = found.end()
            self._after_cr = found.group() == "\r" and start == len(text)
        self._rest += text[start:]
        if len(self._rest) + self._size > MOST_CHARACTERS:
            raise ContractViolation("the server sent an event that is too large to be one")
        return events

    def _line(self, line: str) -> ServerEvent | None:
        if line == "":
            return self._dispatch()
        name, _, value = line.partition(":")
        if name == "":
            return None
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
            self._size += len(value) + 1
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and re.fullmatch(r"\d{1,9}", value):
            self.retry_s = int(value) / 1000
        return None

    def _dispatch(self) -> ServerEvent | None:
        event, data = self._event or "message", self._data
        self._event, self._data, self._size = "", [], 0
        return ServerEvent(self._id, event, "\n".join(data)) if data else None
