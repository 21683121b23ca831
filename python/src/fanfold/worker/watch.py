"""Looks after the process: a main loop that a handler blocks is reported with the stack that blocks it, and so is an
interpreter that something held for too long. Neither costs the lease; both cost other tasks their time."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine import Engine

BLOCKED_S = 1.0
BEAT_S = 0.2

log = logging.getLogger("fanfold.worker")


class Watch:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._main: int | None = None
        self._beat = time.monotonic()
        self._looked = time.monotonic()
        self._reported = 0.0

    async def beat(self) -> None:
        """In the main loop, as long as it runs."""
        self._main = threading.get_ident()
        while True:
            self._beat = time.monotonic()
            await asyncio.sleep(BEAT_S)

    def look(self, now: float) -> None:
        """In the engine's thread, ten times a second."""
        gap, self._looked = now - self._looked, now
        life = self._engine.life
        if life is not None and gap > life.lease_s / 3:
            names = sorted({one.served.name for one in list(self._engine.runner.running)})
            log.warning(
                "something held the interpreter, heartbeats included: handlers with such native code belong into process=True",
                extra={"seconds": round(gap, 1), "task_types": names},
            )
        blocked = now - self._beat
        if self._main is None or blocked < BLOCKED_S:
            self._reported = 0.0
        elif self._reported == 0.0 or blocked > 2 * self._reported:
            self._reported = blocked
            self._report(blocked)

    def _report(self, blocked: float) -> None:
        frame = sys._current_frames().get(self._main or 0)  # pyright: ignore[reportPrivateUsage]
        stack = "".join(traceback.format_stack(frame, limit=12)) if frame is not None else ""
        held = self._guilty()
        words = f"the main loop has been blocked for {blocked:.1f} s: use await, or write this handler as def"
        extra: dict[str, Any] = {"stack_of_loop": stack}
        if held is not None:
            extra |= {"task_id": held.task_id, "task_type": held.served.name}
            if held.ctx is not None:
                held.ctx.log.warning(words, stack=stack[-4000:])
        log.warning(words, extra=extra)

    def _guilty(self) -> Any:
        loop = self._engine.runner.main_loop
        if loop is None:
            return None
        try:
            running = asyncio.current_task(loop)
        except RuntimeError:
            return None
        return next((one for one in list(self._engine.runner.running) if one.runs is running), None)

    @staticmethod
    def rss_mb() -> int:
        try:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            return pages * 4096 // 1_048_576
        except (OSError, ValueError, IndexError):
            return 0
