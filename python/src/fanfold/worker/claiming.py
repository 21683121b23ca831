"""Claims ahead of the slots, so that they never wait for the network: as much as starts within about a second. With nothing to do it waits in a
call that the service holds."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..api.endpoints import post_workers_worker_id_claim
from ..declare.handlers import Handler, Signature
from ..errors import FanfoldError, Forbidden, StaleWorker, Unauthenticated
from .batch import Load, wanted
from .held import Held, Served
from .life import Life
from .outbox import pause_s

if TYPE_CHECKING:
    from .engine import Engine

BATCH_MAX = 1000
KNOWN_STAGES = 100
BUSY_WAIT_S = 0.5

log = logging.getLogger("fanfold.worker")


class Claiming:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stages: dict[int, Mapping[str, Any]] = {}
        self._claiming = False
        self._last_batch = 0
        self._last_types: dict[str, int] = {}
        self._waiting_claim: asyncio.Task[Any] | None = None
        self._plan = Served(Handler("plan", _planned), Signature(_planned, [], "plan"), "plan")
        self._missing = Served(Handler("missing", _planned), Signature(_planned, [], "missing"), "missing")

    def forget(self) -> None:
        """Of a new registration: what stages are must be told again."""
        self._stages.clear()

    def stop_waiting(self) -> None:
        if self._waiting_claim is not None and not self._waiting_claim.done():
            self._waiting_claim.cancel()

    async def loop(self) -> None:
        failures = 0
        while not self._engine.leaving:
            life = self._engine.life
            assert life is not None
            try:
                if life.is_over:
                    self._engine.abandon(life)
                    self._engine.life = await self._engine.register()
                    continue
                limit = 0 if self._claiming or self._engine.outbox.unanswered > 4 * BATCH_MAX else self._wanted()
                if limit == 0:
                    self._engine.room.clear()
                    if not self._claiming and self._wanted() > 0:
                        continue
                    await self._engine.room.wait()
                    continue
                # Asked before: what ends while the call is under way may open a stage that the call did not see.
                was_quiet = self._is_quiet()
                found = await self._claim(life, limit, was_quiet)
                failures = 0
                if found == 0 and self._engine.options.once and was_quiet and self._is_quiet():
                    self._engine.leaving = True
            except asyncio.CancelledError:
                if self._engine.leaving:
                    return
                raise
            except StaleWorker:
                self._engine.abandon(life)
            except (Unauthenticated, Forbidden) as error:
                # The key was taken away: nothing that is held may be told any more.
                self._engine.failure = error
                self._engine.leaving = self._engine.hurried = True
            except FanfoldError as error:
                failures += 1
                if not life.is_over:
                    log.warning("claim failed, trying again", extra={"why": error.title, "tries": failures})
                await asyncio.sleep(max(pause_s(failures), getattr(error, "retry_after_s", None) or 0))

    def _is_quiet(self) -> bool:
        return not self._engine.runner.running and not self._engine.runner.waiting and self._engine.outbox.is_empty

    def _wanted(self) -> int:
        runner = self._engine.runner
        load = Load(
            slots=self._engine.options.slots,
            running=len(runner.running),
            queued=len(runner.waiting),
            batch_max=BATCH_MAX,
            per_start_s=self._expected(),
            last_batch=self._last_batch,
            youngest_s=0.0,
        )
        hoped = wanted(load)
        if hoped == 0 or load.running < load.slots:
            return hoped
        load.youngest_s = runner.youngest_s(time.monotonic())
        return wanted(load)

    def _expected(self) -> float | None:
        """The next batch is taken to be like the last one; a type never seen makes it unknown."""
        total, seconds = 0, 0.0
        for name, count in self._last_types.items():
            served = self._engine.registry.served.get(name)
            each = None if served is None else served.pace.per_start(self.slots_of(served), self._engine.floor_s)
            if each is None:
                return None
            total += count
            seconds += each * count
        return None if total == 0 else seconds / total

    def slots_of(self, served: Served) -> int:
        most = self._engine.options.processes if served.kind == "process" else self._engine.options.slots
        return max(1, min(most, served.handler.most or most))

    def _claim_body(self, limit: int) -> dict[str, Any]:
        body: dict[str, Any] = {"limit": min(limit, BATCH_MAX), "known_stages": list(self._stages)[-KNOWN_STAGES:]}
        most = self._per_type() if self._engine.protocol >= 1 else {}
        if most:
            body["per_type"] = most
        return body

    def _per_type(self) -> dict[str, int]:
        """What a type may not have more of than its own slots is not claimed for others to wait behind it."""
        found: dict[str, int] = {}
        with self._engine.runner.lock:
            held: dict[str, int] = {}
            for one in (*self._engine.runner.waiting, *self._engine.runner.running):
                held[one.served.name] = held.get(one.served.name, 0) + 1
        for name, served in self._engine.registry.served.items():
            own = self.slots_of(served)
            if own < self._engine.options.slots:
                found[name] = max(0, own - held.get(name, 0))
        return found

    async def _claim(self, life: Life, limit: int, is_quiet: bool) -> int | None:
        body = self._claim_body(limit)
        wait_s = self._engine.options.wait_s
        if self._engine.options.once:
            wait_s = 0 if is_quiet else BUSY_WAIT_S
        if 0 in body.get("per_type", {}).values():
            # What this type may have changes as soon as one of its tasks ends: a call that waits would not know.
            wait_s = min(wait_s, BUSY_WAIT_S)
        self._claiming = True
        call = self._engine.transport.call(
            post_workers_worker_id_claim,
            params={"worker_id": life.worker_id},
            body={**body, "wait_s": wait_s},
            timeout_s=wait_s + 15,
            retries=0,
        )
        self._waiting_claim = asyncio.ensure_future(call)
        try:
            # The end of the lease ends the waiting too: what comes then is nobody's.
            while not self._waiting_claim.done():
                await asyncio.wait([self._waiting_claim], timeout=max(0.05, life.lease_s / 3))
                if life.is_over:
                    self._waiting_claim.cancel()
            if self._waiting_claim.cancelled():
                # By the end of the lease, or because the worker leaves: the loop goes on by what it finds then.
                return None
            return self._hold(life, self._waiting_claim.result())
        finally:
            self._claiming = False

    def _hold(self, life: Life, reply: Mapping[str, Any]) -> int:
        for stage in reply["stages"]:
            # Told again, it is another: overwritten, never merged.
            self._stages.pop(stage["stage_id"], None)
            self._stages[stage["stage_id"]] = stage
        tasks: list[Mapping[str, Any]] = reply["tasks"]
        self._engine.stats["claims"] += 1
        if not tasks:
            return 0
        now = time.monotonic()
        held: list[Held] = []
        types: dict[str, int] = {}
        for task in tasks:
            stage = self._stages[task["stage_id"]]
            name = stage["task_type"]
            served = self._plan if task.get("kind") == "plan" else self._engine.registry.served.get(name, self._missing)
            served.tally.claimed += 1
            types[name] = types.get(name, 0) + 1
            life.took(task["claim_id"])
            held.append(Held(life, task, stage, served, now))
        while len(self._stages) > 2 * KNOWN_STAGES:
            del self._stages[next(iter(self._stages))]
        self._engine.stats["claimed"] += len(held)
        self._last_batch, self._last_types = len(held), types
        if life.is_over or self._engine.leaving:
            self._engine.outbox.release(life, held)
        else:
            self._engine.runner.add(held)
        return len(held)

    def with_finish(self, life: Life) -> dict[str, Any] | None:
        if life.protocol < 1 or self._claiming or self._engine.leaving or life is not self._engine.life:
            return None
        limit = self._wanted()
        if limit == 0:
            return None
        self._claiming = True
        return self._claim_body(limit)

    def came_with_finish(self, life: Life, reply: Mapping[str, Any] | None) -> None:
        self._claiming = False
        if reply is not None:
            self._hold(life, reply)
        self._engine.room.set()


def _planned() -> None:
    """Stands in for handlers that are none."""
