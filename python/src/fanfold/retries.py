"""When a call is tried again, and how long that waits. A call whose repetition could do something twice is repeated
only when the server surely did not do it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlencode

import httpx

from .api.endpoints import Endpoint
from .classify import retry_after
from .errors import BadRequest, Connection, ContractViolation, FanfoldError, NotFound, ServiceError, told_error

PASSING = frozenset({429, 502, 503, 504})
FIRST_WAIT_S = 0.2
LAST_WAIT_S = 10.0


@dataclass(frozen=True)
class Policy:
    retries: int = 4
    longest_wait_s: float = 60


@dataclass
class Trouble:
    """What became of a try that did not succeed."""

    error: FanfoldError
    status: int | None = None
    # A network error: may the call have arrived?
    sent: bool = True
    retry_after_s: float | None = None


def may_repeat(trouble: Trouble, repeatable: bool) -> bool:
    if trouble.status is None:
        return repeatable or not trouble.sent
    if trouble.status not in PASSING:
        return False
    # A limit is looked at before anything is done; a 503 is as sure only where it says that it began nothing.
    return repeatable or trouble.status == 429 or (trouble.status == 503 and trouble.error.code == "stopping")


def wait_s(trouble: Trouble, retry: int, policy: Policy, chance: float) -> float | None:
    """Full jitter below a doubling bound; what the server asked for is the least. None: too long."""
    asked = trouble.retry_after_s or 0.0
    if asked > policy.longest_wait_s:
        return None
    if asked > 0:
        # Not all who were sent away at once come back at once.
        return asked + chance * min(1.0, asked / 4)
    return chance * min(LAST_WAIT_S, FIRST_WAIT_S * 2 ** min(retry, 20))


def address(endpoint: Endpoint, params: Mapping[str, Any] | None, query: Mapping[str, Any] | None) -> str:
    def part(match: re.Match[str]) -> str:
        name = match.group(1)
        value = (params or {}).get(name)
        if value is None or value == "":
            raise BadRequest(f"{endpoint.method} {endpoint.path} needs {name}")
        text = str(value)
        # These would be taken for steps in the path, escaped or not.
        if text in (".", ".."):
            raise NotFound(f"there is no {name} {text}")
        return quote(text, safe="")

    path = re.sub(r"\{(\w+)\}", part, endpoint.path)
    pairs: list[tuple[str, str]] = []
    for name, value in (query or {}).items():
        many: list[Any] = [*cast("list[Any]", value)] if isinstance(value, (list, tuple)) else [value]
        pairs += [(name, _word(one)) for one in many if one is not None]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def refused(url: str, response: httpx.Response, text: str) -> Trouble:
    status = response.status_code
    asked = retry_after(response.headers)
    if 300 <= status < 400:
        error: FanfoldError = ServiceError(
            "redirected",
            status,
            f"{url} answered with a redirect",
            hint="give the url the service is really at: a key is not sent on to another place",
        )
    else:
        error = told_error(status, text, response.headers.get("x-request-id"), asked)
    return Trouble(error, status=status, retry_after_s=getattr(error, "retry_after_s", None) or asked)


def network_trouble(url: str, error: httpx.TransportError, timeout_s: float) -> Trouble:
    # What httpx raised is not passed on as the cause: it holds the request, and with it the key.
    sent = not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
    if isinstance(error, httpx.TimeoutException):
        told = Connection(
            f"{url} did not answer within {timeout_s:g} s",
            timeout=True,
            hint="it may have done what was asked; a larger timeout_s waits longer",
        )
    else:
        told = Connection(
            f"cannot reach {url} ({type(error).__name__})",
            hint="see that the service runs there and that nothing stands in between",
        )
    return Trouble(told, sent=sent)


def is_usual(endpoint: Endpoint, status: int) -> bool:
    return status in endpoint.statuses or 200 <= status < 300


def read_body(endpoint: Endpoint, response: httpx.Response) -> Any:
    kind = response.headers.get("content-type", "")
    if "json" in kind:
        try:
            return response.json() if response.content else None
        except ValueError:
            words = f"{endpoint.method} {endpoint.path} was answered with JSON that cannot be read"
            raise ContractViolation(words) from None
    if response.content and 300 > response.status_code >= 200 and "html" in kind:
        raise ContractViolation(
            f"{endpoint.method} {endpoint.path} was not answered with JSON",
            hint="see that the url is the one of a Fanfold server, and that no proxy answers in its place",
        )
    return response.text if kind.startswith("text/") else (response.content or None)
