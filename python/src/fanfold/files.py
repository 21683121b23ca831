"""What is to be uploaded: a file on disk or bytes, read in pieces."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

PIECE = 1024 * 1024


class Content:
    def __init__(self, source: str | Path | bytes) -> None:
        # Closed by __exit__.
        self._file: BinaryIO = io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb")  # noqa: SIM115
        self.size = self._file.seek(0, io.SEEK_END)

    def read(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(length)

    def __enter__(self) -> Content:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def sha256_of(content: Content) -> str:
    digest = hashlib.sha256()
    for start in range(0, content.size, PIECE):
        digest.update(content.read(start, PIECE))
    return digest.hexdigest()
