# Made by scripts/generate.py from its twin in _async: do not edit.
"""How a call goes over HTTP: a time limit for each try, retries, and errors as classes. The key goes nowhere but into
the Authorization header."""

from __future__ import annotations

import time
import hashlib
import random
from collections.abc import Generator, Iterable, Callable, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from ..api.endpoints import Endpoint
from ..errors import BadRequest, FanfoldError, Permanent
from ..problems import Problem
from ..retries import Policy, Trouble, address, is_usual, may_repeat, network_trouble, read_body, refused, wait_s
from ..settings import KEY, read_settings
from ..values import to_text


class Transport:
    def __init__(
        self,
        url: str | None = None,
        key: str | Callable[[], str] | None = None,
        *,
        retries: int = 4,
        timeout_s: float = 30,
        longest_wait_s: float = 60,
        http: httpx.Client | None = None,
    ) -> None:
        """`url` and `key` default to FANFOLD_URL and FANFOLD_KEY; a function is asked for the key before each try."""
        settings = read_settings(url=url, key=key if isinstance(key, str) else None)
        if settings.url is None:
            fix = "Give url, or set FANFOLD_URL, e.g. to http://127.0.0.1:8080."
            raise BadRequest("This client cannot be made", problems=[Problem("url", "is missing", fix)])
        self.url = settings.url
        self._key: str | Callable[[], str] | None = key if callable(key) else settings.key
        self._policy = Policy(retries, longest_wait_s)
        self._timeout_s = timeout_s
        self._http = http or httpx.Client(
            base_url=self.url, follow_redirects=False, trust_env=False, limits=httpx.Limits(max_connections=100)
        )

    def __enter__(self) -> Transport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def headers(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        key = self._key() if callable(self._key) else self._key
        if key is not None and not KEY.match(key):
            raise BadRequest("the function `key` gave no key")
        auth = {} if key is None else {"authorization": f"Bearer {key}"}
        return {"accept": "application/json", **auth, **(more or {})}

    def call(
        self,
        endpoint: Endpoint,
        *,
        params: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        text: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
        timeout_s: float | None = None,
        retries: int | None = None,
    ) -> Any:
        """The answer's body, or the error the server threw."""
        answer = self.answer(
            endpoint,
            params=params,
            query=query,
            body=body,
            text=text,
            headers=headers,
            repeatable=repeatable,
            timeout_s=timeout_s,
            retries=retries,
        )
        return read_body(endpoint, answer)

    def answer(
        self,
        endpoint: Endpoint,
        *,
        params: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        text: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
        timeout_s: float | None = None,
        retries: int | None = None,
    ) -> httpx.Response:
        path = address(endpoint, params, query)
        content = (
            text if text is not None else (None if body is None else to_text(body, "What is to be sent is not JSON"))
        )
        may = endpoint.repeatable if repeatable is None else repeatable
        most = self._policy.retries if retries is None else retries
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        retry = 0
        while True:
            outcome = self._attempt(endpoint, path, content, headers, limit_s)
            if isinstance(outcome, httpx.Response):
                return outcome
            wait = wait_s(outcome, retry, self._policy, random.random())
            if wait is None or retry >= most or not may_repeat(outcome, may):
                raise outcome.error
            retry += 1
            time.sleep(wait)

    def _attempt(
        self,
        endpoint: Endpoint,
        path: str,
        content: str | bytes | None,
        headers: Mapping[str, str] | None,
        timeout_s: float,
    ) -> httpx.Response | Trouble:
        sent = self.headers(headers)
        if content is not None:
            sent.setdefault("content-type", "application/json")
        try:
            response = self._http.request(
                endpoint.method, self.url + path, content=content, headers=sent, timeout=timeout_s
            )
        except httpx.TransportError as error:
            return network_trouble(self.url, error, timeout_s)
        if is_usual(endpoint, response.status_code):
            return response
        return refused(self.url, response, response.text)

    @contextmanager
    def open(
        self,
        endpoint: Endpoint,
        *,
        params: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        silence_s: float = 45,
    ) -> Generator[httpx.Response, None, None]:
        """One try whose body the caller reads as it comes; a line that says nothing for so long is dead."""
        path = address(endpoint, params, query)
        timeout = httpx.Timeout(self._timeout_s, read=silence_s)
        request = self._http.build_request(
            endpoint.method, self.url + path, headers=self.headers(headers), timeout=timeout
        )
        try:
            response = self._http.send(request, stream=True)
        except httpx.TransportError as error:
            raise network_trouble(self.url, error, self._timeout_s).error from None
        try:
            if not is_usual(endpoint, response.status_code):
                response.read()
                raise refused(self.url, response, response.text).error
            yield response
        except httpx.TransportError as error:
            raise network_trouble(self.url, error, silence_s).error from None
        finally:
            response.close()

    def fetch(
        self, url: str, file: Path, headers: Mapping[str, str] | None = None, max_bytes: int | None = None
    ) -> str:
        """The bytes behind an address, into a new file; their sha256. One redirect is followed, and the key does not
        go along."""
        digest = hashlib.sha256()
        received = 0
        try:
            with self._http.stream("GET", url, headers=headers or {}, timeout=self._timeout_s) as response:
                if 300 <= response.status_code < 400 and headers is not None:
                    location = str(response.url.join(response.headers.get("location", "")))
                    return self.fetch(location, file, None, max_bytes)
                if not 200 <= response.status_code < 300:
                    response.read()
                    raise refused(self.url, response, response.text).error
                with file.open("wb") as out:
                    for piece in response.iter_bytes():
                        received += len(piece)
                        if max_bytes is not None and received > max_bytes:
                            raise Permanent(f"the file has more than {max_bytes} bytes", code="file_too_large")
                        digest.update(piece)
                        out.write(piece)
        except httpx.TransportError as error:
            raise network_trouble(self.url, error, self._timeout_s).error from None
        return digest.hexdigest()

    def put(
        self,
        url: str,
        headers: Mapping[str, str],
        content: Callable[[], Iterable[bytes]] | bytes,
        *,
        timeout_s: float = 300,
    ) -> httpx.Response:
        """One PUT of bytes, to an address that a reply gave, with exactly these headers; whatever is answered."""
        body = content if isinstance(content, bytes) else content()
        try:
            return self._http.put(url, content=body, headers=dict(headers), timeout=timeout_s)
        except httpx.TransportError as error:
            raise network_trouble(self.url, error, timeout_s).error from None

    def get(self, url: str, headers: Mapping[str, str]) -> httpx.Response:
        try:
            return self._http.get(url, headers=dict(headers), timeout=self._timeout_s)
        except httpx.TransportError as error:
            raise network_trouble(self.url, error, self._timeout_s).error from None


def is_passing(error: FanfoldError) -> bool:
    """Trouble on the way, that says nothing about what was asked for."""
    return error.http_status == 429 or 502 <= error.http_status <= 504
