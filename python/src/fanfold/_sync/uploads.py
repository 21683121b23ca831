# Made by scripts/generate.py from its twin in _async: do not edit.
"""Files brought into the zone bronze: announced, sent in parts, and gone on with where it broke off: `client.uploads`."""

from __future__ import annotations

import time
import random
from collections.abc import Iterator, Callable
from pathlib import Path
from typing import Any, cast

from .._sync.operate import Calls
from ..api import endpoints as api
from ..api import models
from ..errors import Forbidden, Permanent, Unavailable
from ..files import Content, sha256_of
from ..retries import refused

PART_S = 15 * 60.0
# Everything is read once more before it is in its place.
COMPLETE_S = 60 * 60.0
HASHED_BYTES = 64 * 1024 * 1024
TRIES = 5


class Uploads:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(self, **filter: Any) -> Iterator[models.Upload]:
        """What was brought and what is under way: `state`, `prefix`."""
        return self._calls.listed(api.get_files, "uploads", filter)

    def get(self, upload_id: str) -> models.UploadWithParts:
        """With the parts that are missing."""
        params = {"upload_id": upload_id}
        return cast("models.UploadWithParts", self._calls.transport.call(api.get_files_upload_id, params=params))

    def remove(self, upload_id: str, *, reason: str | None = None) -> models.Upload:
        """One under way is given up; of a completed one the file goes."""
        reply = self._calls.transport.call(
            api.delete_files_upload_id, params={"upload_id": upload_id}, query={"reason": reason}
        )
        return cast("models.Upload", reply)

    def put(
        self,
        source: str | Path | bytes,
        key: str,
        *,
        media_type: str | None = None,
        sha256: str | None = None,
        overwrite: bool = False,
        upload_id: str | None = None,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> models.Upload:
        """A file (or bytes) into bronze, where jobs find it as the answer's `ref`. One of the same content that was broken
        off is gone on with. The checksum is computed where it is left out, of up to 64 MB."""
        with Content(source) as content:
            known = sha256 or (sha256_of(content) if content.size <= HASHED_BYTES else None)
            asked = {"key": key, "bytes": content.size, "overwrite": overwrite}
            asked |= {"media_type": media_type} if media_type is not None else {}
            asked |= {"sha256": known} if known is not None else {}
            upload = self._begin(asked, upload_id)
            while upload["missing"] > 0:
                before = upload["missing"]
                for part in upload["parts"]:
                    if on_progress is not None:
                        on_progress(part["offset"], content.size)
                    self._send(part, content.read(part["offset"], part["bytes"]))
                upload = self.get(upload["upload_id"])
                if upload["missing"] >= before:
                    # Nothing of it has arrived although all was sent: it would go on for ever.
                    raise Unavailable("parts that were sent have not arrived")
            if on_progress is not None:
                on_progress(content.size, content.size)
        params = {"upload_id": upload["upload_id"]}
        reply = self._calls.transport.call(
            api.post_files_upload_id_complete, params=params, body={}, timeout_s=COMPLETE_S
        )
        return cast("models.Upload", reply)

    def _begin(self, asked: dict[str, Any], upload_id: str | None) -> models.UploadWithParts:
        found = upload_id or self._broken_off(asked)
        if found is not None:
            return self.get(found)
        return cast("models.UploadWithParts", self._calls.transport.call(api.post_files, body=asked))

    def _broken_off(self, asked: dict[str, Any]) -> str | None:
        """The same file for the same place, as its checksum says."""
        if "sha256" not in asked:
            return None
        try:
            for one in self.list(state="open", prefix=asked["key"]):
                wanted = ("key", "bytes", "sha256", "overwrite")
                if all(cast("Any", one)[name] == asked[name] for name in wanted):
                    return one["upload_id"]
        except Forbidden:
            # A key that may bring files need not be one that may look at them: then it begins anew.
            pass
        return None

    def _send(self, part: models.UploadWithPartsPartsItem, piece: bytes) -> None:
        """A path is of the service, and gets the key; an address is of a store, and gets only the headers it named."""
        transport = self._calls.transport
        url, headers = part["url"], dict(part["headers"])
        if url.startswith("/"):
            own = {**transport.headers(), "content-type": "application/octet-stream"}
            url, headers = transport.url + url, {**own, **headers}
        tries = 0
        while True:
            tries += 1
            try:
                answer = transport.put(url, headers, piece, timeout_s=PART_S)
                if 200 <= answer.status_code < 300:
                    return
                if answer.status_code < 500 and answer.status_code not in (408, 429):
                    if part["url"].startswith("/"):
                        raise refused(transport.url, answer, answer.text).error
                    words = f"the store refused a part with {answer.status_code}: {answer.text[:300]}"
                    raise Permanent(words, code="upload_refused")
                raise Unavailable(f"a part was answered with {answer.status_code}")
            except Unavailable:
                if tries == TRIES:
                    raise
                time.sleep(min(5.0, 0.1 * 2**tries) * (0.5 + random.random() / 2))
