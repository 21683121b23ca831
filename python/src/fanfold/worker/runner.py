"""Runs what is held: `async def` in the main loop, `def` in a pool of exactly as many threads as there are slots,
`process=True` in children. Its lock is held for moments; a thread that ends a task takes the next one of its kind
with it."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._async.context import AsyncContext
from .._sync.context import Context
from ..context import Aborted, Services
from ..errors import FanfoldError, Transient
from ..tasklog import current
from .held import Held
from .outcome import LARGEST_RESULT, End, ended_badly, ended_well
from .tracing import failed, span

if TYPE_CHECKING:
    from .desk import Desk

log = logging.getLogger("fanfold.worker")


class Runner:
    def __init__(
        self,
        slots: int,
        processes: int,
        services: Services,
        desk: Desk,
        told: Callable[[Held, str | None, End | None], None],
    ) -> None:
        self.slots, self.processes = slots, processes
        self._services, self._desk, self._told = services, desk, told
        self.main_loop: asyncio.AbstractEventLoop | None = None
        self.waiting: deque[Held] = deque()
        self.running: dict[Held, None] = {}
        self.lock = threading.Lock()
        self.last_start = time.monotonic()
        self.ended_count = 0
        self.stopped = False
        self._in_children = 0
        self._ready: deque[Held] = deque()
        self._queues: dict[str, queue.SimpleQueue[Held | None]] = {
            "def": queue.SimpleQueue(),
            "process": queue.SimpleQueue(),
        }
        self._threads: set[threading.Thread] = set()
        self._retired: set[threading.Thread] = set()
        self.run_in_child: Callable[[Held], End] | None = None
        self.run_on_cluster: Callable[[Held], None] | None = None
        self.run_plan: Callable[[Held], None] | None = None

    def open(self, has_def: bool, has_processes: bool) -> None:
        for _ in range(self.slots if has_def else 0):
            self._thread("def")
        for _ in range(self.processes if has_processes else 0):
            self._thread("process")

    def _thread(self, kind: str) -> None:
        def work() -> None:
            self._work(kind)

        thread = threading.Thread(target=work, name=f"fanfold-{kind}", daemon=True)
        self._threads.add(thread)
        thread.start()

    def add(self, held: Iterable[Held]) -> None:
        with self.lock:
            self.waiting.extend(held)
        self.pump()

    def take_back(self, count: int | None = None, unwanted: Callable[[Held], bool] | None = None) -> list[Held]:
        """Takes tasks that have not started: so many from the end, or those that are not wanted."""
        with self.lock:
            if unwanted is not None:
                taken = [one for one in self.waiting if unwanted(one)]
                gone = set(map(id, taken))
                self.waiting = deque(one for one in self.waiting if id(one) not in gone)
                return taken
            number = len(self.waiting) if count is None else min(count, len(self.waiting))
            return [self.waiting.pop() for _ in range(number)]

    def pump(self) -> None:
        """Starts what may start."""
        started: list[Held] = []
        with self.lock:
            while len(self.running) < self.slots:
                held = self._next(None)
                if held is None:
                    break
                started.append(held)
        for held in started:
            self._start(held)

    def _next(self, kind: str | None) -> Held | None:
        """The first that may start, of this kind if one is asked for. Under the lock."""
        waiting = self.waiting
        if not waiting or self.stopped:
            return None
        for place, held in enumerate(waiting):
            served = held.served
            most = served.handler.most
            if (most is not None and served.running >= most) or (
                served.kind == "process" and self._in_children >= self.processes
            ):
                if place > 200:
                    return None
                continue
            if kind is not None and served.kind != kind:
                return None
            if place == 0:
                waiting.popleft()
            else:
                del waiting[place]
            self.running[held] = None
            served.running += 1
            if served.kind == "process":
                self._in_children += 1
            return held
        return None

    def _start(self, held: Held) -> None:
        kind = held.served.kind
        if kind == "async":
            self._ready.append(held)
            if self.main_loop is not None:
                self.main_loop.call_soon_threadsafe(self._begin_ready)
        elif kind == "plan" and self.run_plan is not None:
            self.run_plan(held)
        elif kind == "cluster" and self.run_on_cluster is not None:
            self.open_context(held)
            self.run_on_cluster(held)
        elif kind == "missing":
            self.open_context(held)
            words = f'this worker has no handler "{held.stage["task_type"]}"'
            self.ended(held, ended_badly(self._ctx(held), Transient(words, code="no_handler")), None)
        else:
            self._queues[kind].put(held)

    @staticmethod
    def _ctx(held: Held) -> Any:
        return held.ctx

    def open_context(self, held: Held) -> Any:
        held.begin()
        self.last_start = held.started_at
        make: Any = AsyncContext if held.served.kind in ("async", "plan") else Context
        ctx = make(held.task, held.stage, self._services, self._desk.asker(held))
        held.ctx = ctx
        return ctx

    def _begin_ready(self) -> None:
        """In the main loop: tasks of async handlers that may start."""
        while self._ready:
            self._begin_async(self._ready.popleft())

    def _begin_async(self, held: Held) -> None:
        loop = self.main_loop
        if loop is None:
            return
        self.open_context(held)
        held.runs = loop.create_task(self._run_async(held))

    async def _run_async(self, held: Held) -> None:
        ctx = self._ctx(held)
        current.set(ctx)
        end = None
        try:
            try:
                with span(held):
                    arguments = self._arguments(held, ctx)
                    end = ended_well(
                        ctx, held.served.name, held.served.signature, await held.served.handler.function(**arguments)
                    )
            except (Exception, asyncio.CancelledError) as error:
                end = ended_badly(ctx, error)
            if end.result is not None and len(end.result) >= LARGEST_RESULT and not held.ended:
                end, spill = await self._desk.spill_async(held, end)
            else:
                spill = None
        except BaseException as error:
            end, spill = ended_badly(ctx, error), None
        following = self.ended(held, end, "async", spill)
        while following is not None:
            self._begin_async(following)
            with self.lock:
                following = self._next("async") if len(self.running) < self.slots else None

    @staticmethod
    def _arguments(held: Held, ctx: Any) -> dict[str, Any]:
        signature = held.served.signature
        arguments = signature.arguments(held.served.name, ctx.parameters)
        if signature.context_name is not None:
            arguments[signature.context_name] = ctx
        return arguments

    def _work(self, kind: str) -> None:
        me = threading.current_thread()
        source = self._queues[kind]
        while me not in self._retired:
            held = source.get()
            if held is None:
                break
            following: Held | None = held
            while following is not None:
                if me in self._retired:
                    source.put(following)
                    break
                following = self._run_here(following, kind)
        self._threads.discard(me)
        self._retired.discard(me)

    def _run_here(self, held: Held, kind: str) -> Held | None:
        ctx = self.open_context(held)
        held.runs = threading.current_thread()
        spill = None
        try:
            if kind == "process":
                end = contextvars.copy_context().run(self._call_child, held)
            else:
                end = contextvars.copy_context().run(self._call, held, ctx)
            if end.result is not None and len(end.result) >= LARGEST_RESULT and not held.ended:
                end, spill = self._desk.spill(held, end)
        except BaseException as error:
            end = ended_badly(ctx, error)
        return self.ended(held, end, kind, spill)

    def _call(self, held: Held, ctx: Any) -> End:
        current.set(ctx)
        try:
            with span(held):
                arguments = self._arguments(held, ctx)
                return ended_well(
                    ctx, held.served.name, held.served.signature, held.served.handler.function(**arguments)
                )
        except BaseException as error:
            return ended_badly(ctx, error)

    def _call_child(self, held: Held) -> End:
        assert self.run_in_child is not None
        with span(held):
            end = self.run_in_child(held)
            if end.failure is not None:
                failed(end.failure.message)
            return end

    def ended(self, held: Held, end: End | None, kind: str | None, spill: dict[str, Any] | None = None) -> Held | None:
        """Tells of it, and gives the next task of the kind, which the same thread may run."""
        following: Held | None = None
        held.duration_s = time.monotonic() - held.started_at
        with self.lock:
            mine = not held.ended
            held.ended = True
            if held in self.running:
                del self.running[held]
                held.served.running -= 1
                if held.served.kind == "process":
                    self._in_children -= 1
            if mine:
                self.ended_count += 1
            if kind is not None and len(self.running) < self.slots:
                following = self._next(kind)
        if mine:
            self._desk.sweep(held)
            self._tell(held, end, spill)
        if following is None and self.waiting:
            self.pump()
        return following

    def _tell(self, held: Held, end: End | None, spill: dict[str, Any] | None) -> None:
        """What is no longer held is dropped, what was stopped is handed back, all else is told."""
        ctx = held.ctx
        why = None if ctx is None else ctx.why_cancelled
        if (
            end is None
            or held.life.is_over
            or why in ("lost", "cancelled")
            or (why == "stopping" and end.failure is not None)
        ):
            self._told(held, None, None)
            return
        if why == "timeout":
            assert ctx is not None
            words = f"the task ran longer than its time-out of {held.timeout_s:g} s"
            detail = end.failure.detail if end.failure is not None else {}
            end = ended_badly(ctx, Transient(words, code="timeout"))
            if end.failure is not None and "process" in detail:
                end.failure.detail["process"] = detail["process"]
        try:
            text = held.text(end, spill)
        except FanfoldError as error:
            assert ctx is not None
            end = ended_badly(ctx, error)
            text = held.text(end)
        self._told(held, text, end)

    def abort(self, held: Held, why: Aborted) -> None:
        """Asks a running task to stop; called by the engine's thread."""
        if held.ctx is None or held.ended:
            return
        if held.aborted_at is None:
            held.aborted_at = time.monotonic()
        held.ctx._abort(why)  # pyright: ignore[reportPrivateUsage]
        runs, loop = held.runs, self.main_loop
        if isinstance(runs, asyncio.Task) and loop is not None:
            loop.call_soon_threadsafe(runs.cancel)

    def give_up(self, held: Held) -> None:
        """A handler that does not stop when asked keeps its slot for the grace, and no longer."""
        if held.ctx is None:
            return
        words = "the handler did not stop when it was asked to"
        thread = held.runs
        following = self.ended(held, ended_badly(held.ctx, Transient(words, code="did_not_stop")), None)
        assert following is None
        if isinstance(thread, threading.Thread) and held.served.kind == "def" and not self.stopped:
            # Another thread takes its place; this one leaves when its handler ends, if it ever does.
            self._retired.add(thread)
            self._thread("def")
        log.warning("a handler did not stop when asked", extra={"task_id": held.task_id, "task_type": held.served.name})
        self.pump()

    def youngest_s(self, now: float) -> float:
        with self.lock:
            begun = [one.started_at for one in self.running if one.started_at > 0]
        return now - max(begun) if begun else 0.0

    def close(self) -> None:
        self.stopped = True
        for source in self._queues.values():
            for _ in range(len(self._threads) + 1):
                source.put(None)
