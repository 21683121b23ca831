"""What the worker has to tell: ends of tasks, log lines and tasks that go back, many at a time, sent again until the
service has answered or the lease is over. Filled from any thread, emptied in the engine's."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from .._async.transport import AsyncTransport
from ..api.endpoints import (
    post_workers_worker_id_finish,
    post_workers_worker_id_logs,
    post_workers_worker_id_release,
)
from ..classify import Verdict, failure_of
from ..errors import BadRequest, BeyondLimit, FanfoldError, StaleWorker, TooLarge
from .held import Held
from .life import Life
from .outcome import End

MOST_TASKS = 500
MOST_BYTES = 4 * 1024 * 1024
MOST_LINES = 2000
LOG_S = 0.5
LANES = 2
MOST_TRIED = 10_000

log = logging.getLogger("fanfold.worker")


def pause_s(tries: int) -> float:
    return min(5.0, 0.1 * 2 ** min(tries, 6)) * (0.5 + random.random() / 2)


class Outbox:
    def __init__(
        self,
        transport: AsyncTransport,
        on_told: Callable[[Life, list[tuple[Held, End | None]], Mapping[str, Any]], None],
        on_stale: Callable[[Life], None],
        next_claim: Callable[[Life], dict[str, Any] | None],
        on_claimed: Callable[[Life, Mapping[str, Any] | None], None],
    ) -> None:
        self._transport = transport
        self._on_told, self._on_stale = on_told, on_stale
        self._next_claim, self._on_claimed = next_claim, on_claimed
        self._ends: deque[tuple[Held, str, End | None]] = deque()
        self._lines: deque[tuple[Life, Held, float, str, str, Any]] = deque()
        self._sending = 0
        self._background: set[asyncio.Task[None]] = set()
        self._logs_due: asyncio.TimerHandle | None = None
        # Of tasks whose finish was not answered yet.
        self.unanswered = 0

    def add(self, held: Held, text: str, end: End | None) -> None:
        """From any thread."""
        self._ends.append((held, text, end))

    def line(self, life: Life, held: Held, level: str, message: str, data: Any) -> None:
        self._lines.append((life, held, time.monotonic(), level, message, data))

    @property
    def is_empty(self) -> bool:
        return not self._ends and self._sending == 0 and not self._background

    def send(self) -> None:
        """In the engine's loop: as many lanes as there is work for."""
        while self._ends and self._sending < LANES:
            self._sending += 1
            self._spawn(self._lane())
        if self._lines and self._logs_due is None:
            self._logs_due = asyncio.get_running_loop().call_later(LOG_S, self._send_lines)

    def _spawn(self, work: Awaitable[None]) -> None:
        async def run() -> None:
            await work

        task = asyncio.ensure_future(run())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _lane(self) -> None:
        try:
            while self._ends:
                batch: list[tuple[Held, str, End | None]] = []
                size = 0
                life = self._ends[0][0].life
                while self._ends and len(batch) < MOST_TASKS and self._ends[0][0].life is life:
                    length = len(self._ends[0][1])
                    if batch and size + length > MOST_BYTES:
                        break
                    batch.append(self._ends.popleft())
                    size += length
                self.unanswered += len(batch)
                try:
                    await self._deliver(life, batch)
                finally:
                    self.unanswered -= len(batch)
        finally:
            self._sending -= 1

    async def _deliver(self, life: Life, batch: list[tuple[Held, str, End | None]]) -> None:
        lines = self._take_lines(life)
        tries = 0
        while not life.is_over:
            # Asked for with the first try only: a claim whose answer was lost would be claimed twice.
            claim = self._next_claim(life) if tries == 0 else None
            asked = f',"claim":{json.dumps(claim)}' if claim is not None else ""
            body = f'{{"tasks":[{",".join(text for _, text, _ in batch)}],"logs":[{",".join(lines)}]{asked}}}'
            reply: Any = None
            try:
                reply = await self._transport.call(
                    post_workers_worker_id_finish,
                    params={"worker_id": life.worker_id},
                    text=body.encode("utf-8", "replace"),
                    retries=0,
                )
            except StaleWorker:
                self._on_stale(life)
                return
            except (BadRequest, TooLarge, BeyondLimit) as error:
                await self._one_by_one(life, batch, error)
                return
            except FanfoldError as error:
                log.warning(
                    "the ends of tasks could not be told, trying again", extra={"why": error.title, "tries": tries}
                )
                await asyncio.sleep(max(pause_s(tries), getattr(error, "retry_after_s", None) or 0))
                tries += 1
            finally:
                if claim is not None:
                    self._on_claimed(life, None if reply is None else reply.get("claim"))
            if reply is not None:
                self._on_told(life, [(held, end) for held, _, end in batch], reply)
                return

    async def _one_by_one(self, life: Life, batch: list[tuple[Held, str, End | None]], error: FanfoldError) -> None:
        """The service cannot take this body: the task it is about fails, and only that."""
        if len(batch) > 1:
            for one in batch:
                await self._deliver(life, [one])
            return
        held, text, end = batch[0]
        if end is None or text.find('"told_again":true') >= 0:
            log.error("the end of a task cannot be told", extra={"task_id": held.task_id, "why": str(error)})
            self._on_told(life, [(held, end)], {"refused": [], "unstorable": []})
            return
        failed = End(failure=failure_of(error, Verdict("contract", "bad_result", detail={"told_again": True})))
        log.error("the service refused the end of a task", extra={"task_id": held.task_id, "why": str(error)})
        await self._deliver(
            life, [(held, held.text(failed).replace('"told_again": true', '"told_again":true'), failed)]
        )

    def _send_lines(self) -> None:
        self._logs_due = None
        if self._lines:
            self._spawn(self._deliver_lines())

    async def _deliver_lines(self) -> None:
        while self._lines:
            life = self._lines[0][0]
            lines = self._take_lines(life)
            if life.is_over or not lines:
                continue
            try:
                text = f'{{"lines":[{",".join(lines)}]}}'.encode("utf-8", "replace")
                await self._transport.call(
                    post_workers_worker_id_logs, params={"worker_id": life.worker_id}, text=text, retries=1
                )
            except FanfoldError as error:
                # A lost line is a lost line.
                log.warning("log lines of tasks were lost", extra={"why": error.title, "lines": len(lines)})

    def _take_lines(self, life: Life) -> list[str]:
        now = time.monotonic()
        taken: list[str] = []
        size = 0
        while self._lines and len(taken) < MOST_LINES and size < 1_000_000 and self._lines[0][0] is life:
            _, held, at, level, message, data = self._lines.popleft()
            line: dict[str, Any] = {
                "task_id": held.task_id,
                "claim_id": held.claim_id,
                "attempt": held.task["attempt"],
                "ago_ms": (now - at) * 1000,
                "level": level,
                "message": message,
            }
            if data is not None:
                line["data"] = data
            text = json.dumps(line, ensure_ascii=False)
            size += len(text)
            taken.append(text)
        return taken

    def release(self, life: Life, tasks: list[Held], *, started: bool = False) -> None:
        """Hands tasks back, at no cost to them."""
        if tasks and not life.is_over:
            self._spawn(self._release(life, tasks, started))

    async def _release(self, life: Life, tasks: list[Held], started: bool) -> None:
        body = {"tasks": [{"task_id": one.task_id, "claim_id": one.claim_id, "started": started} for one in tasks]}
        for tries in range(MOST_TRIED):
            if life.is_over:
                return
            try:
                params = {"worker_id": life.worker_id}
                await self._transport.call(post_workers_worker_id_release, params=params, body=body, retries=0)
                break
            except StaleWorker:
                self._on_stale(life)
                return
            except FanfoldError as error:
                log.warning("tasks could not be handed back, trying again", extra={"why": error.title})
                await asyncio.sleep(pause_s(tries))
        for one in tasks:
            life.settle(one.claim_id)

    async def drained(self, until: Callable[[], bool]) -> None:
        """Until all was told, or cannot be."""
        if self._logs_due is not None:
            self._logs_due.cancel()
            self._send_lines()
        while not self.is_empty and not until():
            self.send()
            await asyncio.sleep(0.01)

    def cancel(self) -> None:
        if self._logs_due is not None:
            self._logs_due.cancel()
        for task in list(self._background):
            task.cancel()
