"""Where a task asks: results of stages before, files, secrets. Answered in the engine's thread and in threads for
files, for handlers of every kind; a handler itself has neither key nor connection."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from .._async.transport import AsyncTransport
from .._sync.transport import Transport
from ..api.endpoints import Endpoint
from ..context import BaseContext
from ..errors import ContractViolation, FanfoldError, NotAllowedNow, Transient
from ..secrets import Secrets
from .files import Files
from .held import Held
from .outcome import End, ended_badly

RESULTS = Endpoint("GET", "/api/workers/{worker_id}/results", True, (200,))
PREDECESSOR = Endpoint("GET", "/api/workers/{worker_id}/predecessor", True, (200,))


class Desk:
    def __init__(self, transport: AsyncTransport, blocking: Transport, secrets: Secrets, threads: int) -> None:
        self._transport = transport
        self._secrets = secrets
        self._files = Files(blocking)
        self._pool = ThreadPoolExecutor(max(2, threads), thread_name_prefix="fanfold-files")
        self.loop: asyncio.AbstractEventLoop | None = None
        # What only some executors ask for.
        self.more: dict[str, Callable[[Held, Mapping[str, Any]], Any]] = {}

    def asker(self, held: Held) -> Any:
        return _AsyncAsker(self, held) if held.served.kind in ("async", "plan") else _Asker(self, held)

    def begin(self, held: Held, verb: str, given: Mapping[str, Any]) -> Future[Any]:
        """From any thread."""
        if self.loop is None or self.loop.is_closed():
            raise Transient("the worker stops", code="stopping")
        return asyncio.run_coroutine_threadsafe(self._serve(held, verb, given), self.loop)

    async def _serve(self, held: Held, verb: str, given: Mapping[str, Any]) -> Any:
        worker = {"worker_id": held.life.worker_id}
        try:
            if verb == "results":
                return await self._transport.call(RESULTS, params=worker, query=given)
            if verb == "predecessor":
                return await self._transport.call(PREDECESSOR, params=worker, query=given)
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._blocking, held, verb, given)
        except NotAllowedNow:
            # The task is no longer held: nothing of it is wanted.
            if held.ctx is not None:
                held.ctx._abort("lost")  # pyright: ignore[reportPrivateUsage]
            raise

    def _blocking(self, held: Held, verb: str, given: Mapping[str, Any]) -> Any:
        worker_id = held.life.worker_id
        if verb == "secret":
            return self._secrets.tell(held.stage["tenant_id"], given["name"])
        if verb == "stat":
            return self._files.stat(worker_id, given)
        if verb == "list":
            return self._files.list(worker_id, given)
        if verb == "download":
            return self._files.download(worker_id, given)
        if verb == "publish":
            return self._files.publish(worker_id, held.task, given, lambda: not held.ended and not held.life.over)
        if verb == "spilled":
            return self._files.spilled(given["url"])
        if verb == "spill":
            return self._files.spill(worker_id, held.task, given["text"])
        if verb in self.more:
            return self.more[verb](held, given)
        raise ContractViolation(f"nobody knows how to {verb}")

    def spill(self, held: Held, end: End) -> tuple[End, dict[str, Any] | None]:
        try:
            return end, self._blocking(held, "spill", {"text": (end.result or "").encode()})
        except FanfoldError as error:
            return self._unspilled(held, end, error), None

    async def spill_async(self, held: Held, end: End) -> tuple[End, dict[str, Any] | None]:
        try:
            text = (end.result or "").encode()
            return end, await asyncio.wrap_future(self.begin(held, "spill", {"text": text}))
        except FanfoldError as error:
            return self._unspilled(held, end, error), None

    @staticmethod
    def _unspilled(held: Held, end: End, error: FanfoldError) -> End:
        assert held.ctx is not None
        if error.http_status in (404, 405):
            size = len((end.result or "").encode())
            words = f"the result has {size} bytes; this service takes 1048576: put the data into storage and return a reference"
            error = ContractViolation(words)
            error.code = "result_too_large"
        return ended_badly(held.ctx, error)

    def sweep(self, held: Held) -> None:
        """The attempt's directory goes with it."""
        scratch = None if held.ctx is None else held.ctx._scratch  # pyright: ignore[reportPrivateUsage]
        if scratch is not None:
            self._pool.submit(shutil.rmtree, scratch, True)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class _Asker:
    __slots__ = ("_desk", "_held")

    def __init__(self, desk: Desk, held: Held) -> None:
        self._desk, self._held = desk, held

    def ask(self, ctx: BaseContext, verb: str, given: Mapping[str, Any]) -> Any:
        return self._desk.begin(self._held, verb, given).result()


class _AsyncAsker:
    __slots__ = ("_desk", "_held")

    def __init__(self, desk: Desk, held: Held) -> None:
        self._desk, self._held = desk, held

    async def ask(self, ctx: BaseContext, verb: str, given: Mapping[str, Any]) -> Any:
        return await asyncio.wrap_future(self._desk.begin(self._held, verb, given))
