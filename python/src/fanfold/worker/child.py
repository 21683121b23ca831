"""The process of handlers that run apart: `python -m fanfold.worker.child <descriptor>`. It has no key; whatever it
needs it asks of the worker that started it. One task at a time, many tasks in its life."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import importlib
import logging
import os
import queue
import socket
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._sync.context import Context
from ..classify import classify
from ..context import BaseContext, Services
from ..declare.handlers import Handler, Signature
from ..errors import Transient, told_error
from ..tasklog import TaskIds, TaskLogHandler, current
from .outcome import End, ended_badly, ended_well
from .wire import Wire


class ChildServices(Services):
    def __init__(self, wire: Wire, told: Mapping[str, Any]) -> None:
        self._wire = wire
        self.scratch_dir = Path(told["scratch_dir"])
        self.worker_id = told["worker_id"]
        self.database_url = told["database_url"]
        self.dask = told["dask_address"]

    def log(self, ctx: BaseContext, level: str, message: str, data: Mapping[str, Any] | None) -> None:
        self._wire.send({"log": [level, message, data]})


class ChildContext(Context):
    def _progressed(self) -> None:
        self._services._wire.send({"progress": self._progress})  # type: ignore[attr-defined]


class Asker:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._number = 0
        self._lock = threading.Lock()

    def ask(self, ctx: BaseContext, verb: str, given: Mapping[str, Any]) -> Any:
        answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        with self._lock:
            self._number += 1
            number = self._number
            self._waiting[number] = answers
        self._wire.send({"ask": number, "verb": verb, "given": dict(given)})
        answer = answers.get()
        if "error" in answer:
            error = answer["error"]
            if error.get("problem") is not None:
                raise told_error(error["status"], error["problem"], None, None)
            raise Transient(error["message"], code=error.get("code"))
        return answer["value"]

    def answered(self, message: Mapping[str, Any]) -> None:
        with self._lock:
            waiting = self._waiting.pop(message["answer"], None)
        if waiting is not None:
            waiting.put(dict(message))

    def close(self) -> None:
        with self._lock:
            for one in self._waiting.values():
                one.put({"error": {"message": "the worker is gone", "code": "worker_gone"}})


class Child:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._asker = Asker(wire)
        self._tasks: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._ctx: BaseContext | None = None
        self._services: ChildServices | None = None

    def listen(self) -> None:
        """In a thread: what the worker says while a handler runs."""
        while (messages := self._wire.read()) is not None:
            for message in messages:
                if "answer" in message:
                    self._asker.answered(message)
                elif "abort" in message:
                    if self._ctx is not None:
                        self._ctx._abort(message["abort"])  # pyright: ignore[reportPrivateUsage]
                else:
                    self._tasks.put(message)
        self._asker.close()
        # The worker is gone, and with it the lease of whatever runs here.
        os._exit(70)

    def main(self) -> None:
        first = self._tasks.get()
        assert first is not None
        with contextlib.ExitStack() as life:
            try:
                self._open(first["open"], life)
            except BaseException as error:
                self._wire.send({"unable": classify(error).told()})
                return
            self._wire.send({"ready": os.getpid()})
            while (message := self._tasks.get()) is not None:
                self._wire.send(self._run(message["run"]))

    def _open(self, told: Mapping[str, Any], life: contextlib.ExitStack) -> None:
        for path in told["path"]:
            if path not in sys.path:
                sys.path.append(path)
        logging.getLogger().setLevel(told["log_level"].upper())
        logging.getLogger().addHandler(TaskLogHandler())
        logging.getLogger().addFilter(TaskIds())
        self._services = ChildServices(self._wire, told)
        if told["app"] is not None:
            module, _, name = told["app"].partition(":")
            app = getattr(importlib.import_module(module), name)
            self._services.dask = app.dask or self._services.dask
            if app.lifespan is not None:
                self._services.state = entered(app.lifespan(), life)

    def _run(self, told: Mapping[str, Any]) -> dict[str, Any]:
        assert self._services is not None
        self._services.worker_id = told["worker_id"]
        ctx = ChildContext(told["task"], told["stage"], self._services, self._asker)
        self._ctx = ctx
        end = contextvars.copy_context().run(self._call, told, ctx)
        self._ctx = None
        sys.stdout.flush()
        sys.stderr.flush()
        return {
            "end": {
                "result": end.result,
                "next_stage_params": end.next_stage_params,
                "failure": None if end.failure is None else end.failure.told(),
                "delivered": ctx._delivered,  # pyright: ignore[reportPrivateUsage]
                "effects": ctx._effects,  # pyright: ignore[reportPrivateUsage]
                "uploaded": ctx._uploaded,  # pyright: ignore[reportPrivateUsage]
                "scratch": None if ctx._scratch is None else str(ctx._scratch),  # pyright: ignore[reportPrivateUsage]
            }
        }

    def _call(self, told: Mapping[str, Any], ctx: Context) -> End:
        current.set(ctx)
        try:
            handler, signature = handler_of(told["module"], told["name"])
            arguments = signature.arguments(handler.name, ctx.parameters)
            if signature.context_name is not None:
                arguments[signature.context_name] = ctx
            return ended_well(ctx, handler.name, signature, handler.function(**arguments))
        except (Exception, asyncio.CancelledError) as error:
            return ended_badly(ctx, error)


@functools.cache
def handler_of(module: str, name: str) -> tuple[Handler[..., Any], Signature]:
    """What a module names, in a process that only knows the name."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    handler: Handler[..., Any] = found if _is_handler(found) else Handler(name, found)
    return handler, Signature(handler.function, [], name)


def _is_handler(found: object) -> bool:
    return isinstance(found, Handler)


def entered(manager: Any, life: contextlib.ExitStack) -> Any:
    if hasattr(manager, "__enter__"):
        return life.enter_context(manager)
    loop = asyncio.new_event_loop()
    life.callback(loop.close)
    life.callback(lambda: loop.run_until_complete(manager.__aexit__(None, None, None)))
    return loop.run_until_complete(manager.__aenter__())


def main() -> None:
    end = socket.socket(fileno=int(sys.argv[1]))
    child = Child(Wire(end))
    threading.Thread(target=child.listen, daemon=True).start()
    child.main()


if __name__ == "__main__":
    main()
