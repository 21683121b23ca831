"""The closed list of errors. What the server refuses arrives as the class it was thrown as there; a handler raises
Transient, Throttled or Permanent. Nobody reads messages: class, code and category decide."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from .problems import Problem, format_problems, shorten

Category = Literal["transient", "throttled", "permanent", "contract", "crash"]

FAILURE_CODE = re.compile(r"[a-z][a-z0-9_.]{0,62}\Z")


class FanfoldError(Exception):
    code = "failed"
    category: Category = "permanent"
    http_status = 500

    def __init__(
        self,
        title: str,
        *,
        problems: Sequence[Problem] = (),
        hint: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(format_problems(title, problems) if problems else title)
        # The message without the problems, which are listed below it there.
        self.title = title
        self.problems = tuple(problems)
        self.hint = hint
        # The operator finds the call in the server's log by this.
        self.request_id = request_id


class NotFound(FanfoldError):
    code, http_status = "not_found", 404


class BadRequest(FanfoldError):
    code, http_status = "bad_request", 400


class Conflict(FanfoldError):
    code, http_status = "conflict", 409


class TooLarge(FanfoldError):
    code, http_status = "too_large", 413


class Forbidden(FanfoldError):
    code, http_status = "forbidden", 403


class NotAllowedNow(FanfoldError):
    code, http_status = "not_allowed_now", 409


class StaleWorker(FanfoldError):
    """The server does not know this worker any more: it must register anew."""

    code, http_status = "stale_worker", 409
    category: Category = "transient"


class BeyondLimit(FanfoldError):
    """A limit of the tenant's that this very call breaks."""

    code, http_status = "beyond_limit", 422


class Unauthenticated(FanfoldError):
    code, http_status = "unauthenticated", 401


class Unavailable(FanfoldError):
    code, http_status = "unavailable", 503
    category: Category = "transient"


class Stopping(Unavailable):
    """Told before anything was begun: the same call may be sent again, whatever it does."""

    code = "stopping"


class Connection(Unavailable):
    """No answer came: nobody listens, the line broke, or it took too long (`code` is then "timeout")."""

    code = "connection"

    def __init__(self, title: str, *, timeout: bool = False, hint: str | None = None) -> None:
        super().__init__(title, hint=hint)
        if timeout:
            self.code = "timeout"


class OverLimit(FanfoldError):
    """Refused for now: the tenant's limit, and when to come back."""

    code, http_status = "over_limit", 429
    category: Category = "throttled"
    retry_after_s: float = 1


class ContractViolation(FanfoldError):
    """Two parts of the system disagree about a record: failed loudly and not tried again."""

    code = "contract"
    category: Category = "contract"


class ParameterError(FanfoldError):
    code, http_status = "bad_parameters", 400


class ValueProblems(FanfoldError):
    code, http_status = "bad_value", 400


class DeclarationError(FanfoldError):
    """Everything that is wrong with the declared jobs and handlers, at once."""

    code, http_status = "bad_declaration", 400
    category: Category = "contract"


class SettingsError(FanfoldError):
    """Everything that is wrong with the environment, at once."""

    code = "bad_settings"


class StillRunning(FanfoldError):
    """The time to wait is over, and the job is not; it goes on."""

    code, http_status = "still_running", 503

    def __init__(self, title: str, job: Mapping[str, Any] | None) -> None:
        super().__init__(title, hint="it goes on; wait again, or look at it with status or why")
        self.job = job


class ServiceError(FanfoldError):
    """An answer that is none of the classes: told by its status and code."""

    def __init__(self, code: str, http_status: int, title: str, **details: Any) -> None:
        super().__init__(title, **details)
        self.code = code
        self.http_status = http_status
        self.category = "transient" if http_status >= 500 or http_status == 408 else "permanent"


class HandlerError(FanfoldError):
    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None and FAILURE_CODE.match(code):
            self.code = code


class Transient(HandlerError):
    """Raised by a handler: try again later, within the budget."""

    code, http_status = "transient", 503
    category: Category = "transient"


class Throttled(HandlerError):
    """Raised by a handler: the other side asked to wait. It spends no attempt."""

    code, http_status = "throttled", 429
    category: Category = "throttled"

    def __init__(
        self, retry_after_s: float | None = None, message: str = "asked to come back later", *, code: str | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.retry_after_s = retry_after_s


class Permanent(HandlerError):
    """Raised by a handler: trying again would not help."""

    code = "permanent"
    category: Category = "permanent"


class Cancelled(Exception):
    """Raised by ctx.raise_if_cancelled(): the task timed out, was cancelled or is no longer ours. Nothing it returns
    is kept."""


_BY_CODE: Mapping[str, type[FanfoldError]] = {
    one.code: one
    for one in (
        NotFound,
        BadRequest,
        Conflict,
        TooLarge,
        Forbidden,
        NotAllowedNow,
        StaleWorker,
        BeyondLimit,
        Unauthenticated,
        Unavailable,
        Stopping,
        OverLimit,
        ContractViolation,
        ParameterError,
        ValueProblems,
        DeclarationError,
    )
} | {"throttled": OverLimit}


def told_error(status: int, text: str, request_id: str | None, retry_after_s: float | None) -> FanfoldError:
    """What the server refused, as the error it threw. `text` is whatever the body was."""
    problem = _read_problem(text)
    if problem is None:
        words = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\s]+", " ", text).split())
        return ServiceError(
            "not_ours",
            status,
            f"the server answered {status} in words that are not ours: {shorten(words, 200)}",
            hint="a proxy may have answered instead; see that the url is the one of a Fanfold server",
            request_id=request_id,
        )
    details: dict[str, Any] = {
        "problems": [
            Problem(str(one.get("path", "")), str(one.get("problem", "")), str(one.get("fix", "")))
            for one in cast("list[dict[str, Any]]", problem.get("problems") or [])
        ],
        "hint": problem.get("hint"),
        "request_id": problem.get("request_id") or request_id,
    }
    code, title = str(problem["code"]), str(problem["detail"])
    found = _BY_CODE.get(code)
    error = found(title, **details) if found is not None else ServiceError(code, status, title, **details)
    wait = problem.get("retry_after_s", retry_after_s)
    if isinstance(wait, (int, float)):
        # Also of what is unavailable: whoever waits reads it.
        cast("Any", error).retry_after_s = float(wait)
    return error


def _read_problem(text: str) -> dict[str, Any] | None:
    try:
        read: Any = json.loads(text)
    except ValueError:
        return None
    if not isinstance(read, dict):
        return None
    found = cast("dict[str, Any]", read)
    return found if isinstance(found.get("code"), str) and isinstance(found.get("detail"), str) else None
