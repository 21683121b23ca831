"""Files of zones and spilled results, over HTTP: uploads that go on where they broke off, downloads by redirect or
bytes. Blocking, in threads of their own: a large file costs nobody the lease."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from .._sync.transport import Transport
from ..api.endpoints import Endpoint
from ..errors import Cancelled, FanfoldError, Permanent, Unavailable
from ..retries import refused

PIECE = 1024 * 1024
TRIES = 6

# Called by their paths: the worker's own endpoints, which the generated table has under longer names.
NEW_FILE = Endpoint("POST", "/api/workers/{worker_id}/files", True, (201,))
LIST_FILES = Endpoint("GET", "/api/workers/{worker_id}/files", True, (200,))
STAT_FILE = Endpoint("GET", "/api/workers/{worker_id}/files/stat", True, (200,))

Wanted = Callable[[], bool]


class Files:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def stat(self, worker_id: str, given: Mapping[str, Any]) -> Any:
        return self._transport.call(STAT_FILE, params={"worker_id": worker_id}, query=given)

    def list(self, worker_id: str, given: Mapping[str, Any]) -> Any:
        return self._transport.call(LIST_FILES, params={"worker_id": worker_id}, query=given)

    def download(self, worker_id: str, given: Mapping[str, Any]) -> Any:
        query = httpx.QueryParams({"zone": given["zone"], "key": given["key"]})
        url = f"{self._transport.url}/api/workers/{worker_id}/files/content?{query}"
        file = Path(given["file"])
        for tries in range(TRIES):
            try:
                sha256 = self._transport.fetch(url, file, self._transport.headers(), given.get("max_bytes"))
                return {"bytes": file.stat().st_size, "sha256": sha256}
            except Unavailable:
                if tries == TRIES - 1:
                    raise
                _pause(tries)
        raise Unavailable("nobody answered")

    def publish(self, worker_id: str, task: Mapping[str, Any], given: Mapping[str, Any], wanted: Wanted) -> Any:
        path = Path(given["file"])
        size, sha256 = path.stat().st_size, _digest(path, wanted)
        asked = {
            "zone": given["zone"],
            "prefix": given["prefix"],
            "name": given["name"],
            "media_type": given["media_type"],
            "bytes": size,
            "sha256": sha256,
        }
        made = self._new(worker_id, task, asked)
        with path.open("rb") as source:
            self._upload(made["upload"], size, lambda start: _pieces(source, start, wanted))
        return {
            "zone": made["zone"],
            "key": made["key"],
            "name": given["name"],
            "href": made["href"],
            "bytes": size,
            "sha256": sha256,
            "media_type": given["media_type"],
        }

    def spill(self, worker_id: str, task: Mapping[str, Any], text: bytes) -> dict[str, Any]:
        """A result that is too large for the database: its file, for the finish."""
        made = self._new(worker_id, task, {"spill": True, "bytes": len(text)})
        self._upload(made["upload"], len(text), lambda start: iter([text[start:]]))
        return {"key": made["key"], "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}

    def _new(self, worker_id: str, task: Mapping[str, Any], asked: Mapping[str, Any]) -> Any:
        place = {"task_id": task["task_id"], "claim_id": task["claim_id"], "attempt": task["attempt"]}
        return self._transport.call(NEW_FILE, params={"worker_id": worker_id}, body={**place, **asked})

    def _upload(self, upload: Mapping[str, Any], size: int, content: Callable[[int], Iterator[bytes]]) -> None:
        url, headers = str(upload["url"]), dict(upload.get("headers") or {})
        if url.startswith("/"):
            url, headers = self._transport.url + url, {**self._transport.headers(), **headers}
        start = 0
        for tries in range(TRIES):
            try:
                if upload["resumable"]:
                    self._parts(url, headers, start, size, upload.get("part_bytes") or size, content)
                else:
                    # A store wants to know the length before the first byte.
                    self._whole(url, {**headers, "content-length": str(size)}, content(0))
                return
            except Unavailable:
                if tries == TRIES - 1:
                    raise
                _pause(tries)
                start = self._offset(url, headers) if upload["resumable"] else 0

    def _whole(self, url: str, headers: Mapping[str, str], pieces: Iterator[bytes]) -> None:
        response = self._transport.put(url, headers, lambda: pieces)
        if response.status_code >= 500 or response.status_code in (408, 429):
            raise Unavailable(f"the store answered {response.status_code}")
        if not 200 <= response.status_code < 300:
            words = f"the store refused the file with {response.status_code}: {response.text[:300]}"
            raise Permanent(words, code="upload_refused")

    def _parts(
        self,
        url: str,
        headers: Mapping[str, str],
        start: int,
        size: int,
        part: int,
        content: Callable[[int], Iterator[bytes]],
    ) -> None:
        if size == 0:
            self._part(url, headers, b"", None)
        while start < size:
            end = min(start + part, size)
            self._part(url, headers, _take(content(start), end - start), f"bytes {start}-{end - 1}/{size}")
            start = end

    def _part(self, url: str, headers: Mapping[str, str], piece: bytes, place: str | None) -> None:
        sent = {**headers, "content-type": "application/octet-stream", "content-length": str(len(piece))}
        if place is not None:
            sent["content-range"] = place
        response = self._transport.put(url, sent, piece)
        if 200 <= response.status_code < 300:
            return
        error = refused(url, response, response.text).error
        # It begins elsewhere than where the file ends: an answer was lost, and the offset is asked for.
        if response.status_code == 409 and "upload-offset" in response.headers:
            raise Unavailable(error.title)
        raise error

    def _offset(self, url: str, headers: Mapping[str, str]) -> int:
        """How much of it is there."""
        response = self._transport.get(url, headers)
        return int(response.json().get("received", 0)) if response.status_code == 200 else 0

    def spilled(self, path: str) -> Any:
        """The JSON of a result that did not come along."""
        endpoint = Endpoint("GET", "/{path}", True, (200,))
        url = f"{self._transport.url}{path}" if path.startswith("/") else path
        import tempfile

        with tempfile.NamedTemporaryFile() as file:
            self._transport.fetch(url, Path(file.name), self._transport.headers() if path.startswith("/") else None)
            import json

            try:
                return json.loads(Path(file.name).read_bytes())
            except ValueError:
                raise FanfoldError(f"{endpoint.method} {path} was answered with JSON that cannot be read") from None


def _pause(tries: int) -> None:
    time.sleep(min(5.0, 0.1 * 2**tries) * (0.5 + random.random() / 2))


def _digest(path: Path, wanted: Wanted) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while piece := source.read(PIECE):
            if not wanted():
                raise Cancelled("the task is no longer wanted")
            digest.update(piece)
    return digest.hexdigest()


def _pieces(source: Any, start: int, wanted: Wanted) -> Iterator[bytes]:
    source.seek(start)
    while piece := source.read(PIECE):
        if not wanted():
            raise Cancelled("the task is no longer wanted")
        yield piece


def _take(pieces: Iterator[bytes], length: int) -> bytes:
    taken: list[bytes] = []
    for piece in pieces:
        taken.append(piece[:length])
        length -= len(taken[-1])
        if length == 0:
            break
    return b"".join(taken)
