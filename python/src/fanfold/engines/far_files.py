"""Files of zones for a task on another machine. Bytes go between that machine and the store, where a store gives addresses
for them; where the service itself keeps the files, they go through the worker in pieces, because only the worker has the key."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import httpx

from .._sync.transport import Transport
from ..errors import ContractViolation, Permanent, Transient, Unavailable
from ..retries import refused
from ..worker.files import NEW_FILE, Files

if TYPE_CHECKING:
    from ..worker.held import Held

PIECE = 8 * 1024 * 1024
TIMEOUT_S = 300.0

Ask = Callable[[str, Mapping[str, Any]], Any]


class FarFiles:
    """On the cluster: the same steps as a worker's own, over what can be asked of it."""

    def __init__(self, ask: Ask) -> None:
        self._files = Files(cast("Transport", _Asking(ask)))

    def publish(self, task: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
        return self._files.publish("", task, given, lambda: True)

    def download(self, given: Mapping[str, Any]) -> Any:
        return self._files.download("", given)


class _Asking:
    """In the place of a transport: addresses that begin with / are the service's, all others a store's own."""

    url = ""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def headers(self) -> dict[str, str]:
        return {}

    def call(self, _: Any, *, params: Mapping[str, Any], body: Mapping[str, Any]) -> Any:
        return self._ask("new_file", {"body": dict(body)})

    def put(self, url: str, headers: Mapping[str, str], content: Any) -> httpx.Response:
        if url.startswith("/"):
            piece = content if isinstance(content, bytes) else b"".join(content())
            return _response(self._ask("put_part", {"url": url, "headers": dict(headers), "content": piece}))
        with _line("the store"), httpx.Client(trust_env=False) as http:
            body = content if isinstance(content, bytes) else content()
            return http.put(url, content=body, headers=dict(headers), timeout=TIMEOUT_S)

    def get(self, url: str, headers: Mapping[str, str]) -> httpx.Response:
        if url.startswith("/"):
            return _response(self._ask("put_offset", {"url": url}))
        with _line("the store"), httpx.Client(trust_env=False) as http:
            return http.get(url, headers=dict(headers), timeout=TIMEOUT_S)

    def fetch(self, url: str, file: Path, headers: Mapping[str, str] | None, max_bytes: int | None) -> str:
        digest = hashlib.sha256()
        query = httpx.URL(url).params
        place = {"zone": query["zone"], "key": query["key"]}
        received, etag, total = 0, None, None
        with file.open("wb") as out:
            while total is None or received < total:
                told = self._ask("read_piece", {**place, "start": received, "length": PIECE})
                if told.get("elsewhere") is not None:
                    return self._from_store(told["elsewhere"], file, max_bytes)
                if etag is not None and told["etag"] != etag:
                    raise Transient(f"{place['zone']}:{place['key']} was replaced while it was read", code="replaced")
                etag, total = told["etag"], int(told["total"])
                _bounded(total, max_bytes)
                digest.update(told["content"])
                out.write(told["content"])
                received += len(told["content"])
        return digest.hexdigest()

    @staticmethod
    def _from_store(url: str, file: Path, max_bytes: int | None) -> str:
        digest, received = hashlib.sha256(), 0
        with _line("the store"), httpx.Client(trust_env=False) as http, http.stream("GET", url, timeout=60) as answer:
            if not 200 <= answer.status_code < 300:
                answer.read()
                raise refused(url.split("?")[0], answer, answer.text).error
            with file.open("wb") as out:
                for piece in answer.iter_bytes():
                    received += len(piece)
                    _bounded(received, max_bytes)
                    digest.update(piece)
                    out.write(piece)
        return digest.hexdigest()


def _bounded(size: int, max_bytes: int | None) -> None:
    if max_bytes is not None and size > max_bytes:
        raise Permanent(f"the file has more than {max_bytes} bytes", code="file_too_large")


@contextlib.contextmanager
def _line(what: str) -> Any:
    try:
        yield
    except httpx.TransportError as error:
        raise Unavailable(f"{what} did not answer: {type(error).__name__}") from None


def _response(told: Mapping[str, Any]) -> httpx.Response:
    return httpx.Response(told["status"], headers=told["headers"], content=told["content"])


class Relay:
    """In the worker: what it does for such a task, which may touch its own files and nothing else."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        # Asked for through a connection of its own: a large file must not hold up the claims.
        self._http = httpx.Client(base_url=transport.url, follow_redirects=False, trust_env=False)
        self.verbs: dict[str, Callable[[Held, Mapping[str, Any]], Any]] = {
            "new_file": self._new_file,
            "put_part": self._put_part,
            "put_offset": self._put_offset,
            "read_piece": self._read_piece,
        }

    def close(self) -> None:
        self._http.close()

    def _new_file(self, held: Held, given: Mapping[str, Any]) -> Any:
        place = {"task_id": held.task_id, "claim_id": held.claim_id, "attempt": held.task["attempt"]}
        made = self._transport.call(
            NEW_FILE, params={"worker_id": held.life.worker_id}, body={**given["body"], **place}
        )
        _uploads(held).add(str(made["upload"]["url"]))
        return made

    def _put_part(self, held: Held, given: Mapping[str, Any]) -> Any:
        headers = {**given["headers"], **self._transport.headers()}
        return self._told(self._send("PUT", self._own(held, given), headers, given["content"]))

    def _put_offset(self, held: Held, given: Mapping[str, Any]) -> Any:
        return self._told(self._send("GET", self._own(held, given), self._transport.headers(), None))

    def _read_piece(self, held: Held, given: Mapping[str, Any]) -> Any:
        query = httpx.QueryParams({"zone": given["zone"], "key": given["key"]})
        path = f"/api/workers/{held.life.worker_id}/files/content?{query}"
        start, length = int(given["start"]), min(int(given["length"]), PIECE)
        answer = self._send(
            "GET", path, {**self._transport.headers(), "range": f"bytes={start}-{start + length - 1}"}, None
        )
        if 300 <= answer.status_code < 400:
            return {"elsewhere": str(answer.url.join(answer.headers["location"]))}
        if answer.status_code == 416:
            return {"content": b"", "total": 0, "etag": None}
        if not 200 <= answer.status_code < 300:
            raise refused(self._transport.url, answer, answer.text).error
        _, _, total = answer.headers.get("content-range", "").rpartition("/")
        size = int(total) if total.isdigit() else len(answer.content)
        return {"content": answer.content, "total": size, "etag": answer.headers.get("etag")}

    def _send(self, method: str, path: str, headers: Mapping[str, str], content: bytes | None) -> httpx.Response:
        with _line("the service"):
            return self._http.request(method, path, headers=dict(headers), content=content, timeout=TIMEOUT_S)

    @staticmethod
    def _own(held: Held, given: Mapping[str, Any]) -> str:
        url = str(given["url"])
        if url not in _uploads(held) or not url.startswith("/"):
            raise ContractViolation("this task was given no such address")
        return url

    @staticmethod
    def _told(answer: httpx.Response) -> dict[str, Any]:
        kept = {
            name: one
            for name, one in answer.headers.items()
            if name in ("content-type", "upload-offset", "retry-after")
        }
        return {"status": answer.status_code, "headers": kept, "content": answer.content}


def _uploads(held: Held) -> set[str]:
    ctx = cast("Any", held.ctx)
    found: set[str] | None = getattr(ctx, "_upload_urls", None)
    if found is None:
        found = set[str]()
        ctx._upload_urls = found
    return found
