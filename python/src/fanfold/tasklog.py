"""What a task logs: lines of ctx.log, and every record of the standard logging made while its handler runs. Bounded,
without secrets, and never a reason for a task to fail."""

from __future__ import annotations

import contextvars
import json
import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .redaction import without_secret_keys
from .values import plain

if TYPE_CHECKING:
    from .context import BaseContext

MOST_LINES = 1000
MOST_BYTES = 256 * 1024
MOST_MESSAGE = 8 * 1024
MOST_DATA = 16 * 1024
TRUNCATED = f"truncated: an attempt may log {MOST_LINES} lines and {MOST_BYTES} bytes"

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_SECRET_HINT = re.compile(r"auth|cookie|pass|secret|token|key|credential|connection", re.IGNORECASE)

current: contextvars.ContextVar[BaseContext | None] = contextvars.ContextVar("fanfold_task", default=None)


class TaskLog:
    def __init__(self, ctx: BaseContext) -> None:
        self._ctx = ctx
        self._lines = 0
        self._bytes = 0

    def debug(self, message: object, **data: Any) -> None:
        self.line("debug", message, data)

    def info(self, message: object, **data: Any) -> None:
        self.line("info", message, data)

    def warning(self, message: object, **data: Any) -> None:
        self.line("warn", message, data)

    def error(self, message: object, **data: Any) -> None:
        self.line("error", message, data)

    def line(self, level: str, message: object, data: Mapping[str, Any] | None = None) -> None:
        if self._lines > MOST_LINES:
            return
        redaction = self._ctx._redaction  # pyright: ignore[reportPrivateUsage]
        text = str(message)
        # Before it is cut: half a secret would not be found.
        if redaction is not None:
            text = redaction.text(text)
        if len(text) > MOST_MESSAGE:
            text = f"{text[:MOST_MESSAGE]}…"
        text = _UNSTORABLE.sub("\ufffd", text)
        told = self._data(data) if data else None
        self._lines += 1
        self._bytes += len(text) + (len(json.dumps(told)) if told is not None else 0) + 40
        if self._lines > MOST_LINES or self._bytes > MOST_BYTES:
            self._lines = MOST_LINES + 1
            level, text, told = "warn", TRUNCATED, None
        self._ctx._services.log(self._ctx, level, text, told)  # pyright: ignore[reportPrivateUsage]

    def _data(self, data: Mapping[str, Any]) -> Any:
        try:
            text = json.dumps(dict(data), default=_shown, ensure_ascii=False)
            if len(text) > MOST_DATA:
                return {"left_out": f"{len(text)} characters of data; the limit is {MOST_DATA}"}
            clean: Any = json.loads(_UNSTORABLE.sub("\ufffd", text).replace("\\u0000", "\\ufffd"), parse_constant=str)
            if _SECRET_HINT.search(text):
                clean = without_secret_keys(clean)
            redaction = self._ctx._redaction  # pyright: ignore[reportPrivateUsage]
            return redaction.value(clean) if redaction is not None else clean
        except (TypeError, ValueError, RecursionError) as error:
            return {"left_out": f"data that is not JSON: {error}"}


def _shown(value: Any) -> Any:
    try:
        return plain(value)
    except Exception:
        return str(value)


_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))


class TaskLogHandler(logging.Handler):
    """Copies records of every logger to the log of the task that runs; each gets the task's ids."""

    def emit(self, record: logging.LogRecord) -> None:
        ctx = current.get()
        if ctx is None or record.name.startswith("fanfold"):
            return
        try:
            level = next((word for number, word in _LEVELS if record.levelno >= number), "debug")
            data: dict[str, Any] = {"logger": record.name}
            if record.exc_info and record.exc_info[1] is not None:
                data["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
            ctx.log.line(level, record.getMessage(), data)
        except Exception:
            self.handleError(record)


class TaskIds(logging.Filter):
    """Each record of the program's own log says which task it belongs to."""

    def filter(self, record: logging.LogRecord) -> bool:
        ctx = current.get()
        if ctx is not None:
            record.job_id, record.task_id, record.attempt = ctx.job_id, ctx.task_id, ctx.attempt
            record.correlation_id = None if ctx.job is None else ctx.job.correlation_id
        return True


_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        level = next((word for number, word in _LEVELS if record.levelno >= number), "debug")
        line: dict[str, Any] = {
            "level": level,
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"),
            "logger": record.name,
        }
        for name, value in vars(record).items():
            if name not in _STANDARD and value is not None:
                line[name] = value
        line["msg"] = record.getMessage()
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return json.dumps(without_secret_keys(line), default=_shown, ensure_ascii=False)
