"""Messages between a worker and a child process: JSON with its length before it, over a socket that nothing else
knows."""

from __future__ import annotations

import json
import socket
import struct
import threading
from typing import Any

MOST_BYTES = 1 << 31


class Wire:
    def __init__(self, end: socket.socket) -> None:
        self.socket = end
        self._lock = threading.Lock()
        self._buffer = bytearray()

    def send(self, message: dict[str, Any]) -> None:
        raw = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        with self._lock:
            self.socket.sendall(struct.pack(">Q", len(raw)) + raw)

    def read(self) -> list[dict[str, Any]] | None:
        """What has come, when the socket says that something has; None: the other side is gone."""
        try:
            piece = self.socket.recv(1 << 20)
        except (ConnectionError, OSError):
            return None
        if not piece:
            return None
        self._buffer += piece
        found: list[dict[str, Any]] = []
        while len(self._buffer) >= 8:
            (length,) = struct.unpack(">Q", self._buffer[:8])
            if length > MOST_BYTES:
                return None
            if len(self._buffer) < 8 + length:
                break
            found.append(json.loads(self._buffer[8 : 8 + length]))
            del self._buffer[: 8 + length]
        return found
