"""What an exception means for its task: by class, HTTP status, SQLSTATE or errno, read from tables. Only GDAL is read
by its words, because it has nothing else. Nothing here imports the libraries it knows, and nothing here raises."""

from __future__ import annotations

import errno
import math
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, cast

from .errors import FAILURE_CODE, Category, FanfoldError
from .problems import MAX_PROBLEMS, Problem, json_path
from .values import storable

MAX_MESSAGE_BYTES = 4096
MAX_STACK_BYTES = 8192
LONGEST_WAIT_S = 86_400


@dataclass
class Failure:
    category: Category
    code: str
    message: str
    retry_after_s: float | None = None
    detail: dict[str, Any] = field(default_factory=lambda: dict[str, Any]())

    def told(self) -> dict[str, Any]:
        told: dict[str, Any] = {"category": self.category, "code": self.code, "message": self.message}
        if self.retry_after_s is not None:
            told["retry_after_s"] = self.retry_after_s
        if self.detail:
            told["detail"] = self.detail
        return told


# (class with the first part of its module, category, code): the first of an error's classes that stands here decides.
CLASSES: Mapping[str, tuple[Category, str]] = {
    "builtins.TimeoutError": ("transient", "timeout"),
    "asyncio.TimeoutError": ("transient", "timeout"),
    "asyncio.CancelledError": ("transient", "timeout"),
    "socket.timeout": ("transient", "timeout"),
    "concurrent.TimeoutError": ("transient", "timeout"),
    "httpx.TimeoutException": ("transient", "timeout"),
    "httpx.TransportError": ("transient", "connection"),
    "requests.Timeout": ("transient", "timeout"),
    "requests.ConnectionError": ("transient", "connection"),
    "requests.ChunkedEncodingError": ("transient", "connection"),
    "urllib3.TimeoutError": ("transient", "timeout"),
    "urllib3.ProtocolError": ("transient", "connection"),
    "urllib3.NewConnectionError": ("transient", "connection"),
    "urllib.URLError": ("transient", "connection"),
    "aiohttp.ServerTimeoutError": ("transient", "timeout"),
    "aiohttp.ClientConnectionError": ("transient", "connection"),
    "aiohttp.ClientPayloadError": ("transient", "connection"),
    "botocore.ReadTimeoutError": ("transient", "timeout"),
    "botocore.ConnectTimeoutError": ("transient", "timeout"),
    "botocore.EndpointConnectionError": ("transient", "connection"),
    "botocore.ConnectionClosedError": ("transient", "connection"),
    "botocore.HTTPClientError": ("transient", "connection"),
    "botocore.NoCredentialsError": ("permanent", "no_credentials"),
    "azure.ServiceRequestTimeoutError": ("transient", "timeout"),
    "azure.ServiceResponseTimeoutError": ("transient", "timeout"),
    "azure.ServiceRequestError": ("transient", "connection"),
    "azure.ServiceResponseError": ("transient", "connection"),
    "fsspec.FSTimeoutError": ("transient", "timeout"),
    "distributed.KilledWorker": ("crash", "cluster_worker_lost"),
    "distributed.CommClosedError": ("transient", "connection"),
    "distributed.FutureCancelledError": ("transient", "cluster_forgot"),
    "distributed.FuturesCancelledError": ("transient", "cluster_forgot"),
    "psycopg.OperationalError": ("transient", "connection"),
    "asyncpg.InterfaceError": ("transient", "connection"),
    "asyncpg.ConnectionDoesNotExistError": ("transient", "connection"),
}

# botocore's own words where the status (400) says nothing.
BOTO_CODES: Mapping[str, tuple[Category, str]] = {
    "SlowDown": ("throttled", "slow_down"),
    "Throttling": ("throttled", "throttling"),
    "ThrottlingException": ("throttled", "throttling"),
    "TooManyRequestsException": ("throttled", "throttling"),
    "RequestLimitExceeded": ("throttled", "throttling"),
    "ProvisionedThroughputExceededException": ("throttled", "throttling"),
    "RequestTimeout": ("transient", "timeout"),
    "RequestTimeTooSkewed": ("transient", "clock_skew"),
    "ExpiredToken": ("transient", "expired_token"),
}

# GDAL says what happened in words; the first that fits decides. A status is judged as any other.
GDAL_MODULES = ("rasterio", "fiona", "pyogrio", "osgeo")
GDAL_STATUS = re.compile(r"(?:HTTP response code|HTTP error code|response_code)\D{0,4}(\d{3})", re.IGNORECASE)
GDAL_WORDS: tuple[tuple[str, Category, str], ...] = (
    (r"not recognized as (?:being in )?a supported file format", "permanent", "unreadable"),
    (r"no such file|does not exist in the file system|not found", "permanent", "missing_file"),
    (r"timed? ?out|connection (?:reset|refused)|could not resolve|curl error|temporar", "transient", "connection"),
    (r"read or write failed|tiff(?:read|fill)|unexpected end of file|corrupt", "permanent", "unreadable"),
)

PASSING_SQL = frozenset({"08", "40", "53", "57", "58"})
LASTING_SQL = frozenset({"22", "23", "42"})
LOCK_TIMEOUT = "55P03"

PASSING_ERRNOS = frozenset(
    [
        "ECONNREFUSED",
        "ECONNRESET",
        "ECONNABORTED",
        "EPIPE",
        "ETIMEDOUT",
        "EHOSTUNREACH",
        "EHOSTDOWN",
        "ENETUNREACH",
        "ENETDOWN",
        "ENETRESET",
        "EADDRNOTAVAIL",
        "ENOTCONN",
        "EAGAIN",
        "EBUSY",
        "EMFILE",
        "ENFILE",
        "ENOBUFS",
        "ENOMEM",
        "EIO",
        "ESTALE",
        "EDEADLK",
        "ETXTBSY",
        "ENOSPC",
        "EDQUOT",
    ]
)

# Errors that only code makes: another attempt meets the same line. What wraps a cause is not one of them.
MISTAKES = frozenset(
    [
        "TypeError",
        "NameError",
        "UnboundLocalError",
        "AttributeError",
        "SyntaxError",
        "IndentationError",
        "AssertionError",
        "IndexError",
        "KeyError",
        "ZeroDivisionError",
        "NotImplementedError",
        "RecursionError",
        "ImportError",
        "ModuleNotFoundError",
    ]
)


@dataclass
class Verdict:
    category: Category
    code: str
    retry_after_s: float | None = None
    detail: dict[str, Any] = field(default_factory=lambda: dict[str, Any]())


def classify(error: BaseException) -> Failure:
    """An error means what it wraps, unless it says more itself; five levels end any circle."""
    cause: BaseException | None = error
    for _ in range(5):
        if cause is None:
            break
        verdict = _own(cause) if isinstance(cause, FanfoldError) else read_foreign(cause)
        if verdict is not None:
            return failure_of(error, verdict)
        cause = cause.__cause__
    is_mistake = type(error).__name__ in MISTAKES and error.__cause__ is None
    return failure_of(error, Verdict("transient", "bug" if is_mistake else "unexpected"))


def _own(error: FanfoldError) -> Verdict:
    detail: dict[str, Any] = {}
    if error.problems:
        detail["problems"] = [one.told() for one in error.problems[:MAX_PROBLEMS]]
    wait = getattr(error, "retry_after_s", None)
    return Verdict(error.category, error.code, wait if isinstance(wait, (int, float)) else None, detail)


def failure_of(error: BaseException, verdict: Verdict) -> Failure:
    detail = dict(verdict.detail)
    detail["name"] = storable(type(error).__name__, 200)
    try:
        stack = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-40))
        # The end of a Python traceback says where it broke.
        detail["stack"] = storable(stack if len(stack) <= MAX_STACK_BYTES else "…" + stack[-7_000:], MAX_STACK_BYTES)
    except Exception:
        pass
    message = _message(error)
    failure = Failure(verdict.category, verdict.code, storable(message, MAX_MESSAGE_BYTES), detail=detail)
    wait = verdict.retry_after_s
    # A hostile or broken Retry-After must neither stop a task for ever nor break the insert.
    if wait is not None and math.isfinite(wait) and wait >= 0:
        failure.retry_after_s = min(wait, LONGEST_WAIT_S)
    return failure


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = ""
    return text or type(error).__name__


def read_foreign(error: BaseException) -> Verdict | None:
    """None when the error says nothing we know."""
    for read in (_validation, _boto, _http, _sql, _gdal, _os_error, _by_class):
        try:
            verdict = read(error)
        except Exception:
            continue
        if verdict is not None:
            return verdict
    return None


def _validation(error: BaseException) -> Verdict | None:
    """pydantic's issues in our shape."""
    if type(error).__name__ != "ValidationError" or not callable(getattr(error, "errors", None)):
        return None
    problems = [one.told() for one in pydantic_problems(error)[:MAX_PROBLEMS]]
    return Verdict("contract", "contract", detail={"problems": problems})


def pydantic_problems(error: Any, above: tuple[str | int, ...] = ()) -> list[Problem]:
    issues: list[dict[str, Any]] = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        Problem(json_path([*above, *issue.get("loc", ())]), str(issue.get("msg", "is not right"))) for issue in issues
    ]


def _boto(error: BaseException) -> Verdict | None:
    response: Any = getattr(error, "response", None)
    if not isinstance(response, dict):
        return None
    told = cast("dict[str, Any]", response)
    found: dict[str, Any] = told.get("Error") or {}
    code = str(found.get("Code", ""))
    meta: dict[str, Any] = told.get("ResponseMetadata") or {}
    if code in BOTO_CODES:
        category, word = BOTO_CODES[code]
        return Verdict(category, word, detail={"status": meta.get("HTTPStatusCode")})
    return status_verdict(meta.get("HTTPStatusCode"), meta.get("HTTPHeaders"))


def _http(error: BaseException) -> Verdict | None:
    response: Any = getattr(error, "response", None)
    found: list[Any] = [
        getattr(error, "status_code", None),
        getattr(error, "status", None),
        getattr(response, "status_code", None),
        getattr(response, "status", None),
    ]
    if type(error).__module__.split(".")[0] == "urllib":
        found.append(getattr(error, "code", None))
    for status in found:
        headers: Any = getattr(error, "headers", None) or getattr(response, "headers", None)
        verdict = status_verdict(status, headers)
        if verdict is not None:
            return verdict
    return None


def status_verdict(status: Any, headers: Any = None) -> Verdict | None:
    if not isinstance(status, int) or isinstance(status, bool) or not 400 <= status <= 599:
        return None
    code = f"http_{int(status)}"
    wait = retry_after(headers)
    if status == 429 or (status == 503 and wait is not None):
        return Verdict("throttled", code, wait, {"status": int(status)})
    passing = status in (408, 425) or status >= 500
    return Verdict("transient" if passing else "permanent", code, detail={"status": int(status)})


def retry_after(headers: Any) -> float | None:
    """Seconds, of a Retry-After in seconds or as a date (read against the reply's own Date)."""
    text = _header(headers, "retry-after")
    if text is None:
        return None
    if re.fullmatch(r"\d{1,9}", text):
        return float(text)
    try:
        at = parsedate_to_datetime(text)
        sent = parsedate_to_datetime(_header(headers, "date") or "")
        return max(0.0, (at - sent).total_seconds())
    except (TypeError, ValueError):
        return None


def _header(headers: Any, name: str) -> str | None:
    try:
        for key, value in cast("Mapping[Any, Any]", headers).items():
            if str(key).lower() == name:
                return str(value).strip()
    except Exception:
        return None
    return None


def _sql(error: BaseException) -> Verdict | None:
    sqlstate = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    if not isinstance(sqlstate, str) or not re.fullmatch(r"[0-9A-Z]{5}", sqlstate):
        return None
    code, detail = f"sqlstate_{sqlstate.lower()}", {"sqlstate": sqlstate}
    if sqlstate[:2] in PASSING_SQL or sqlstate == LOCK_TIMEOUT:
        return Verdict("transient", code, detail=detail)
    return Verdict("permanent", code, detail=detail) if sqlstate[:2] in LASTING_SQL else None


def _gdal(error: BaseException) -> Verdict | None:
    if not any(one.__module__.split(".")[0] in GDAL_MODULES for one in type(error).__mro__):
        return None
    text = _message(error)
    status = GDAL_STATUS.search(text)
    if status is not None:
        return status_verdict(int(status.group(1)))
    for words, category, code in GDAL_WORDS:
        if re.search(words, text, re.IGNORECASE):
            return Verdict(category, code)
    return None


def _os_error(error: BaseException) -> Verdict | None:
    if not isinstance(error, OSError) or isinstance(error, TimeoutError) or error.errno is None:
        return None
    # A lookup that failed says so with a number of its own.
    if type(error).__name__ == "gaierror":
        return Verdict("transient", "enotfound")
    name = errno.errorcode.get(error.errno, "")
    if name in PASSING_ERRNOS:
        return Verdict("transient", name.lower())
    return None


def _by_class(error: BaseException) -> Verdict | None:
    for one in type(error).__mro__:
        found = CLASSES.get(f"{one.__module__.split('.')[0]}.{one.__name__}")
        if found is not None:
            return Verdict(*found)
    return None


def usable_code(code: object) -> str | None:
    return code if isinstance(code, str) and FAILURE_CODE.match(code) else None
