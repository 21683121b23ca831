"""The worker's own thread, with a loop of its own: registers, claims, beats, tells. Handlers run elsewhere, so that a
blocked loop or a long computation costs nobody the lease."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._async.transport import AsyncTransport
from .._sync.transport import Transport
from ..api.endpoints import (
    Endpoint,
    post_workers_register,
    post_workers_worker_id_stop,
)
from ..context import BaseContext, Services
from ..errors import FanfoldError
from ..secrets import Secrets
from ..version import VERSION
from .app import Registry
from .beating import Beating
from .claiming import Claiming
from .desk import Desk
from .held import Held
from .life import Life
from .outbox import Outbox
from .outcome import End
from .runner import Runner
from .tending import Tending
from .watch import Watch

PROTOCOL = Endpoint("GET", "/api/work/protocol.json", True, (200,))

log = logging.getLogger("fanfold.worker")


@dataclass
class Options:
    slots: int = 8
    processes: int = 0
    lease_s: int = 30
    wait_s: float = 20
    grace_s: float = 30
    abort_grace_s: float = 5
    once: bool = False
    memory_mb: int | None = None
    scratch_dir: Path = Path("/tmp")
    database_url: str | None = None
    dask_address: str | None = None


class WorkerServices(Services):
    def __init__(self, engine: Engine, options: Options) -> None:
        self._engine = engine
        self.scratch_dir = options.scratch_dir
        self.database_url = options.database_url
        self.dask = engine.registry.app.dask or options.dask_address

    @property
    def worker_id(self) -> str:  # type: ignore[override]
        life = self._engine.life
        return "" if life is None else life.worker_id

    def log(self, ctx: BaseContext, level: str, message: str, data: Mapping[str, Any] | None) -> None:
        self._engine.task_line(ctx, level, message, data)


class Engine:
    def __init__(self, registry: Registry, url: str | None, key: Any, options: Options) -> None:
        self.registry, self.options = registry, options
        self.life: Life | None = None
        self.failure: BaseException | None = None
        self.registered = threading.Event()
        self.done = threading.Event()
        self.stats = {
            "claimed": 0,
            "completed": 0,
            "failed": 0,
            "refused": 0,
            "dropped": 0,
            "registered": 0,
            "claims": 0,
        }
        self.services = WorkerServices(self, options)
        blocking = Transport(url, key, timeout_s=60)
        self.blocking = blocking
        self._transport_given = (url, key)
        self._secrets = Secrets(registry.app.secrets)
        self.desk = Desk(None, blocking, self._secrets, options.slots)  # type: ignore[arg-type]
        self.runner = Runner(options.slots, options.processes, self.services, self.desk, self._told)
        self._held_by_ctx: dict[int, Held] = {}
        self._bounds: list[float] = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = False
        self.floor_s = 0.0
        # What the service speaks; an older one does not say.
        self.protocol = 0
        self.leaving = False
        self.hurried = False
        self.claiming = Claiming(self)
        self.watch = Watch(self)

    # From other threads.

    def start(self) -> None:
        threading.Thread(target=self._thread, name="fanfold-engine", daemon=True).start()

    def leave(self) -> None:
        """Takes nothing more; what runs may end within the grace."""
        self.leaving = True
        self._from_outside(self._wake)
        self._from_outside(self.claiming.stop_waiting)

    def hurry(self) -> None:
        """Leaves at once."""
        self.hurried = True
        self.leave()

    def call(self, endpoint: Endpoint, params: Mapping[str, Any], body: Any, text: str | None = None) -> Future[Any]:
        """From any thread: a call in the engine's loop."""
        assert self._loop is not None
        work = self.transport.call(endpoint, params=params, body=body, text=text)
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _from_outside(self, what: Any) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(what)

    def task_line(self, ctx: BaseContext, level: str, message: str, data: Any) -> None:
        held = self._held_by_ctx.get(id(ctx)) or self._holder(ctx)
        if held is not None:
            self.outbox.line(held.life, held, level, message, data)
            self._nudge()

    def _holder(self, ctx: BaseContext) -> Held | None:
        with self.runner.lock:
            return next((one for one in self.runner.running if one.ctx is ctx), None)

    def _told(self, held: Held, text: str | None, end: End | None) -> None:
        """From whatever thread a task ended in."""
        held.served.pace.record(held.duration_s)
        if text is None or end is None:
            self.stats["dropped"] += 1
            if held.life.over or self._loop is None:
                return
            why = None if held.ctx is None else held.ctx.why_cancelled
            if why != "stopping":
                # stop() hands back all that is held and not told.
                self._from_outside(lambda: held.life.settle(held.claim_id))
        else:
            held.served.tally.ended(held.duration_s, end.failure, self._bounds)
            self.stats["completed" if end.failure is None else "failed"] += 1
            self.outbox.add(held, text, end)
        self._nudge()

    def _nudge(self) -> None:
        if not self._woken:
            self._woken = True
            self._from_outside(self._wake)

    # In the engine's loop.

    def _thread(self) -> None:
        try:
            asyncio.run(self._run())
        except BaseException as error:
            self.failure = error
        finally:
            self.runner.close()
            self.desk.close()
            self.registered.set()
            self.done.set()

    async def _run(self) -> None:
        self._loop = self.desk.loop = asyncio.get_running_loop()
        self.room = asyncio.Event()
        url, key = self._transport_given
        async with AsyncTransport(url, key, timeout_s=30) as transport:
            self.transport = transport
            self.desk._transport = transport  # pyright: ignore[reportPrivateUsage]
            self.outbox = Outbox(
                transport, self._answered, self.abandon, self.claiming.with_finish, self.claiming.came_with_finish
            )
            await self._learn()
            self.life = await self.register(first=True)
            self.registered.set()
            loops = [
                asyncio.ensure_future(one) for one in (self.claiming.loop(), Beating(self).loop(), Tending(self).loop())
            ]
            try:
                await self._until_left(loops)
            finally:
                for one in loops:
                    one.cancel()
                self.outbox.cancel()
        self.blocking.close()

    async def _learn(self) -> None:
        """Limits as the service states them; an older one states none."""
        try:
            told = await self.transport.call(PROTOCOL, retries=1)
            self.protocol = int(told.get("protocol") or 0)
            if isinstance(told.get("duration_bounds_s"), list):
                self._bounds = [float(one) for one in told["duration_bounds_s"]]
                for one in self.registry.served.values():
                    one.tally.durations = [0] * (len(self._bounds) + 1)
        except FanfoldError:
            pass

    async def register(self, first: bool = False) -> Life:
        body: dict[str, Any] = {
            "types": list(self.registry.served),
            "slots": self.options.slots,
            "lease_s": self.options.lease_s,
            "host": socket.gethostname()[:255],
            "pid": os.getpid(),
            "version": f"python {VERSION}",
        }
        if self.registry.plans and self.protocol >= 1:
            body["plans"] = self.registry.plans
        if self.options.memory_mb is not None and self.protocol >= 1:
            body["memory_mb"] = self.options.memory_mb
        sent_at = time.monotonic()
        # At the start a wrong key or address is told at once; later whoever waits longest wins.
        reply = await self.transport.call(post_workers_register, body=body, repeatable=True, retries=3 if first else 0)
        self.stats["registered"] += 1
        self.claiming.forget()
        lease, beat = float(reply["lease_s"]), float(reply.get("heartbeat_s") or reply["lease_s"] / 3)
        life = Life(reply["worker_id"], lease, min(beat, lease / 3), sent_at, self.protocol)
        log.info(
            "worker registered", extra={"worker_id": life.worker_id, "lease_s": lease, "slots": self.options.slots}
        )
        return life

    def _wake(self) -> None:
        self._woken = False
        self.outbox.send()
        self.room.set()

    def _answered(self, life: Life, ends: list[tuple[Held, End | None]], reply: Mapping[str, Any]) -> None:
        for held, _ in ends:
            life.settle(held.claim_id)
        refused: list[Any] = reply.get("refused") or []
        self.stats["refused"] += len(refused)
        unstorable: list[dict[str, Any]] = reply.get("unstorable") or []
        for one in unstorable:
            self.stats["completed"] -= 1
            self.stats["failed"] += 1
            log.warning(
                "a result could not be stored", extra={"task_id": one.get("task_id"), "why": one.get("message")}
            )
        self.room.set()

    def abandon(self, life: Life) -> None:
        """Others may hold these tasks already: stop, forget, say nothing more; the claim loop registers anew."""
        if life.over and not life.claims:
            return
        life.over = True
        life.claims.clear()
        log.warning("the lease is over or the service does not know this worker: what it held is dropped")
        self.runner.take_back(unwanted=lambda one: one.life is life)
        with self.runner.lock:
            running = [one for one in self.runner.running if one.life is life]
        for held in running:
            self.runner.abort(held, "lost")
        self.claiming.stop_waiting()
        self.room.set()

    async def _until_left(self, loops: list[asyncio.Task[None]]) -> None:
        while not self.leaving:
            await asyncio.wait([loops[0]], timeout=0.1)
            for one in loops:
                if one.done() and not self.leaving:
                    one.result()
                    self.leaving = True
        life = self.life
        assert life is not None
        self.claiming.stop_waiting()
        self.outbox.release(life, self.runner.take_back())
        await self._until_quiet(life, self.options.grace_s)
        with self.runner.lock:
            running = list(self.runner.running)
        for held in running:
            self.runner.abort(held, "stopping")
        await self._until_quiet(life, self.options.abort_grace_s if not self.hurried else 0.5)
        if not life.is_over:
            patience = 3.0 if self.hurried else life.lease_s
            ends_at = time.monotonic() + patience
            await self.outbox.drained(lambda: life.is_over or time.monotonic() > ends_at)
            try:
                # What is left is handed back here, started or not.
                params = {"worker_id": life.worker_id}
                await self.transport.call(post_workers_worker_id_stop, params=params, timeout_s=5, retries=0)
            except FanfoldError as error:
                log.warning("the service was not told that this worker left", extra={"why": error.title})
        life.over = True

    async def _until_quiet(self, life: Life, seconds: float) -> None:
        ends_at = time.monotonic() + seconds
        while self.runner.running and time.monotonic() < ends_at and not life.is_over:
            if self.hurried and seconds > 1:
                return
            await asyncio.sleep(0.02)
