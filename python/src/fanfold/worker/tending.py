"""Ten times a second: ends what runs too long, gives back what would wait too long, and looks after the process."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from .batch import surplus
from .life import Life

if TYPE_CHECKING:
    from .engine import Engine

TICK_S = 0.1


class Tending:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._ended_at = (time.monotonic(), 0)

    async def loop(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            life = self._engine.life
            assert life is not None
            now = time.monotonic()
            if life.is_over and (life.claims or not life.over):
                self._engine.abandon(life)
            self._measure(now)
            self._overdue(now)
            self._hand_back(life, now)
            self._engine.watch.look(now)
            self._engine.outbox.send()
            self._engine.room.set()

    def _measure(self, now: float) -> None:
        """How quickly tasks end when there are always some waiting: what one interpreter can do, whatever the slots."""
        at, count = self._ended_at
        ended = self._engine.runner.ended_count
        if ended - count >= 20 and len(self._engine.runner.running) >= self._engine.options.slots:
            seen = (now - at) / (ended - count)
            self._engine.floor_s = (
                seen if self._engine.floor_s == 0 else self._engine.floor_s + (seen - self._engine.floor_s) / 4
            )
        elif not self._engine.runner.waiting:
            self._engine.floor_s *= 0.9
        self._ended_at = (now, ended)

    def _overdue(self, now: float) -> None:
        with self._engine.runner.lock:
            running = list(self._engine.runner.running)
        for held in running:
            if held.ctx is None:
                continue
            if held.aborted_at is not None:
                if now - held.aborted_at >= self._engine.options.abort_grace_s and held.served.kind != "process":
                    self._engine.runner.give_up(held)
            elif now >= held.deadline:
                self._engine.runner.abort(held, "timeout")

    def _hand_back(self, life: Life, now: float) -> None:
        """Gives back what would not start within about a second."""
        runner = self._engine.runner
        if not runner.waiting or len(runner.running) < self._engine.options.slots:
            return
        with runner.lock:
            queue: list[tuple[int, float | None]] = []
            oldest = now
            for one in runner.waiting:
                queue.append(
                    (1, one.served.pace.per_start(self._engine.claiming.slots_of(one.served), self._engine.floor_s))
                )
                oldest = min(oldest, one.claimed_at)
        waited = now - oldest
        # Neither counts before the tasks themselves have waited: they may have come after the last start.
        since_start = min(now - runner.last_start, waited)
        youngest = runner.youngest_s(now) if waited >= 1 else 0.0
        count = surplus(self._engine.options.slots, len(runner.running), queue, since_start, youngest)
        if count > 0:
            self._engine.outbox.release(life, runner.take_back(count))
