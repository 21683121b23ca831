"""On a Ray cluster: one attempt of a task, in a process of Ray's. It has no key; what it needs it asks of the worker that
sent it, through the mailbox. Cancelling kills the process, so nothing here listens for it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import fcntl
import functools
import importlib
import io
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from .._async.context import AsyncContext
from .._sync.context import Context
from ..context import BaseContext, Services
from ..errors import Transient, told_error
from ..tasklog import TaskIds, TaskLogHandler, current
from ..worker.child import entered, handler_of
from ..worker.outcome import End, ended_badly, ended_well
from .far_files import FarFiles

FLUSH_S = 0.5
ASK_TRIES = 5


class FarServices(Services):
    def __init__(self, post: Post, told: Mapping[str, Any], state: Any, app: Any) -> None:
        self._post = post
        self.scratch_dir = _scratch_root()
        self.worker_id = told["worker_id"]
        self.state = state
        # Never sent over the cluster's lines: who wants ctx.db there sets it there.
        self.database_url = os.environ.get("DATABASE_URL") or None
        self.dask = (None if app is None else app.dask) or told["dask_address"]

    def log(self, ctx: BaseContext, level: str, message: str, data: Mapping[str, Any] | None) -> None:
        self._post.add("line", (level, message, data))


class FarContext(Context):
    def _progressed(self) -> None:
        _tell_progress(self)


class FarAsyncContext(AsyncContext):
    def _progressed(self) -> None:
        _tell_progress(self)


def _tell_progress(ctx: Any) -> None:
    ctx._services._post.add("progress", ctx._progress)


class Post:
    """Lines and progress, on their way to the worker twice a second; what is left goes with the end of the task."""

    def __init__(self, mailbox: Any, token: int) -> None:
        self._mailbox, self._token = mailbox, token
        self._ray: Any = importlib.import_module("ray")
        self._waiting: list[tuple[str, Any]] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._asked = 0
        self.sent = 0
        self._thread: threading.Thread | None = None

    def add(self, kind: str, body: Any) -> None:
        with self._lock:
            self._waiting.append((kind, body))
            if self._thread is None and not self._ended.is_set():
                self._thread = threading.Thread(target=self._flushing, daemon=True)
                self._thread.start()

    def flush(self) -> None:
        with self._lock:
            messages, self._waiting = self._waiting, []
            if messages:
                self.sent += 1
                self._mailbox.tell.remote(self._token, messages)

    def _flushing(self) -> None:
        while not self._ended.wait(FLUSH_S):
            self.flush()

    def rest(self) -> list[tuple[str, Any]]:
        self._ended.set()
        with self._lock:
            messages, self._waiting = self._waiting, []
            return messages

    def ask(self, verb: str, given: Mapping[str, Any]) -> Any:
        with self._lock:
            self._asked += 1
            number = self._asked
        for tries in range(ASK_TRIES):
            try:
                answer = self._ray.get(self._mailbox.ask.remote(self._token, number, verb, dict(given)))
            except self._ray.exceptions.RayActorError:
                # It begins anew on another node, and has forgotten what it was asked.
                time.sleep(2**tries / 2)
                continue
            if "error" in answer:
                error = answer["error"]
                if error.get("problem") is not None:
                    raise told_error(error["status"], error["problem"], None, None)
                raise Transient(error["message"], code=error.get("code"))
            return answer["value"]
        raise Transient("the worker that sent this task cannot be reached", code="worker_gone")


class FarAsker:
    def __init__(self, post: Post, task: Mapping[str, Any]) -> None:
        self._post, self._task = post, task
        self._files = FarFiles(post.ask)

    def ask(self, ctx: BaseContext, verb: str, given: Mapping[str, Any]) -> Any:
        if verb == "publish":
            return self._files.publish(self._task, given)
        if verb == "download":
            return self._files.download(given)
        return self._post.ask(verb, given)


class FarAsyncAsker:
    def __init__(self, asker: FarAsker) -> None:
        self._asker = asker

    async def ask(self, ctx: BaseContext, verb: str, given: Mapping[str, Any]) -> Any:
        return await asyncio.to_thread(self._asker.ask, ctx, verb, given)


def run_attempt(mailbox: Any, token: int, told: Mapping[str, Any]) -> dict[str, Any]:
    """What Ray runs. Everything that goes wrong in here is an end, told like any other."""
    began = time.monotonic()
    post = Post(mailbox, token)
    post.add("started", {"pid": os.getpid(), "node": _node()})
    post.flush()
    task, stage = told["task"], told["stage"]
    asker = FarAsker(post, task)
    ctx: BaseContext = Context(task, stage, Services(), asker)
    try:
        _prepare(tuple(told["path"]), told["log_level"])
        app, state = _app(told["app"])
        services = FarServices(post, told, state, app)
        handler, signature = handler_of(told["module"], told["name"])
        ctx = (
            FarAsyncContext(task, stage, services, FarAsyncAsker(asker))
            if handler.is_async
            else FarContext(task, stage, services, asker)
        )
        with contextlib.redirect_stdout(cast("Any", _Lines(ctx))):
            end = contextvars.copy_context().run(_call, handler, signature, ctx)
    except BaseException as error:
        end = ended_badly(ctx, error)
    private = cast("Any", ctx)
    if private._scratch is not None:
        shutil.rmtree(private._scratch, ignore_errors=True)
    return {
        "result": end.result,
        "next_stage_params": end.next_stage_params,
        "failure": None if end.failure is None else end.failure.told(),
        "delivered": private._delivered,
        "effects": private._effects,
        "uploaded": private._uploaded,
        "ran_s": time.monotonic() - began,
        "rest": post.rest(),
        "sent": post.sent,
    }


def _call(handler: Any, signature: Any, ctx: Any) -> End:
    current.set(ctx)
    try:
        arguments = signature.arguments(handler.name, ctx.parameters)
        if signature.context_name is not None:
            arguments[signature.context_name] = ctx
        value = handler.function(**arguments)
        if asyncio.iscoroutine(value):
            value = asyncio.run(cast("Any", value))
        return ended_well(ctx, handler.name, signature, value)
    except BaseException as error:
        return ended_badly(ctx, error)


def _node() -> str:
    try:
        return str(importlib.import_module("ray").get_runtime_context().get_node_id())
    except Exception:
        return ""


@functools.cache
def _prepare(path: tuple[str, ...], log_level: str) -> None:
    """Once in the life of a process, which runs many tasks."""
    # A cluster that was started from here has it in its environment.
    os.environ.pop("FANFOLD_KEY", None)
    for one in path:
        if one not in sys.path:
            sys.path.append(one)
    root = logging.getLogger()
    root.setLevel(log_level.upper())
    root.addHandler(TaskLogHandler())
    root.addFilter(TaskIds())


@functools.cache
def _app(place: str | None) -> tuple[Any, Any]:
    """The app and what its lifespan gives, once for each process; Ray ends processes without asking."""
    if place is None:
        return None, None
    module, _, name = place.partition(":")
    app = getattr(importlib.import_module(module), name)
    state = None if app.lifespan is None else entered(app.lifespan(), contextlib.ExitStack())
    return app, state


@functools.cache
def _scratch_root() -> Path:
    """A folder of this process. Those of processes that were killed are removed: nobody holds their locks."""
    above = Path(tempfile.gettempdir()) / f"fanfold-ray-{os.getuid()}"
    above.mkdir(mode=0o700, exist_ok=True)
    for old in above.iterdir():
        with contextlib.suppress(OSError), (old / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(old, ignore_errors=True)
    # Locked before it lies where others look: there is no moment in which it seems to be nobody's.
    name = uuid.uuid4().hex
    early = above / f"{name}.lock"
    lock = early.open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    _kept.append(lock)
    own = above / name
    own.mkdir(mode=0o700)
    early.rename(own / "lock")
    return own


_kept: list[Any] = []


class _Lines(io.TextIOBase):
    """What a handler prints is in the log of its task."""

    def __init__(self, ctx: BaseContext) -> None:
        self._ctx, self._rest = ctx, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if line.strip():
                self._ctx.log.line("info", line)
        if len(self._rest) > 65_536:
            self._rest = ""
        return len(text)
