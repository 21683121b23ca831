"""Warm child processes for handlers that say process=True: GDAL cannot spoil the worker there, a crash costs one
attempt, memory is limited, and what does not stop is killed with everything it started."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..classify import Failure, Verdict, failure_of
from ..errors import FanfoldError, Transient
from ..redaction import Redaction
from ..values import storable
from .held import Held
from .outcome import End, clean
from .wire import Wire

if TYPE_CHECKING:
    from .engine import Engine

READY_S = 120.0
LOOK_S = 0.1
LAST_LINES = 20

log = logging.getLogger("fanfold.worker")


class Crash(Exception):
    """The process of a handler ended before its task did."""


class Children:
    def __init__(self, engine: Engine, app: str | None, log_level: str) -> None:
        self._engine, self._app, self._log_level = engine, app, log_level
        self._own = threading.local()
        self._all: set[Child] = set()
        self._closed = False

    def run(self, held: Held) -> End:
        """In a thread of the pool, which has a child of its own."""
        child: Child | None = getattr(self._own, "child", None)
        if child is None or not child.is_alive:
            child = self._own.child = self._open(held)
        try:
            end = child.run(held)
        except BaseException:
            child.kill()
            self._all.discard(child)
            self._own.child = None
            raise
        if not child.is_alive or child.memory_mb() > held.served.handler.memory_mb / 2:
            # What a native library keeps is given back by ending its process.
            child.kill()
            self._all.discard(child)
            self._own.child = None
        return end

    def _open(self, held: Held) -> Child:
        if self._closed:
            raise Transient("the worker stops", code="stopping")
        options = self._engine.options
        opening = {
            "path": [one for one in sys.path if one] + [os.getcwd()],
            "app": self._app,
            "scratch_dir": str(options.scratch_dir),
            "worker_id": held.life.worker_id,
            "database_url": options.database_url,
            "dask_address": options.dask_address,
            "log_level": self._log_level,
        }
        child = Child(self._engine, opening)
        self._all.add(child)
        return child

    def close(self) -> None:
        self._closed = True
        for child in list(self._all):
            child.kill()


class Child:
    def __init__(self, engine: Engine, opening: dict[str, Any]) -> None:
        self._engine = engine
        ours, theirs = socket.socketpair()
        env = {name: value for name, value in os.environ.items() if name != "FANFOLD_KEY"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fanfold.worker.child", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            env={**env, "PYTHONUNBUFFERED": "1"},
        )
        theirs.close()
        self._wire = Wire(ours)
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self._rest = b""
        self._peak_mb = 0.0
        self._wire.send({"open": opening})
        self._wait_ready()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def _wait_ready(self) -> None:
        ends_at = time.monotonic() + READY_S
        while time.monotonic() < ends_at:
            for message in self._messages(None):
                if "ready" in message:
                    return
                if "unable" in message:
                    self.kill()
                    told = message["unable"]
                    words = f"the process for handlers could not be opened: {told['message']}"
                    raise Transient(words, code="child_unable")
            if not self.is_alive:
                break
        self.kill()
        words = "the process for handlers could not be opened: " + " / ".join(self._lines)
        raise Transient(words, code="child_unable")

    def run(self, held: Held) -> End:
        function = held.served.handler.function
        self._lines.clear()
        self._peak_mb = 0.0
        self._wire.send(
            {
                "run": {
                    "task": dict(held.task),
                    "stage": dict(held.stage),
                    "module": function.__module__,
                    "name": function.__qualname__,
                    "worker_id": held.life.worker_id,
                }
            }
        )
        told_abort: float | None = None
        looked = 0.0
        while True:
            for message in self._messages(held):
                if "end" in message:
                    return self._ended(held, message["end"])
            now = time.monotonic()
            ctx = held.ctx
            assert ctx is not None
            if ctx.why_cancelled is not None:
                if told_abort is None:
                    told_abort = now
                    with contextlib.suppress(OSError):
                        self._wire.send({"abort": ctx.why_cancelled})
                grace = 0.2 if self._engine.hurried else min(2.0, self._engine.options.abort_grace_s)
                if now - told_abort >= grace:
                    return self._killed(held, "killed", f"the handler did not stop when asked ({ctx.why_cancelled})")
            if now - looked >= 2 * LOOK_S:
                looked = now
                used = self.memory_mb()
                self._peak_mb = max(self._peak_mb, used)
                limit = held.served.handler.memory_mb
                if used > limit:
                    words = f"the handler's process used {used:.0f} MB, its memory_mb is {limit}, and was killed"
                    return self._killed(held, "out_of_memory", words)
            if not self.is_alive:
                # What it said last may still lie in the socket.
                for message in self._messages(held):
                    if "end" in message:
                        return self._ended(held, message["end"])
                return self._crashed(held)

    def _messages(self, held: Held | None) -> list[dict[str, Any]]:
        output = self._process.stdout
        assert output is not None
        sources: list[Any] = [self._wire.socket]
        if not output.closed:
            sources.append(output)
        readable, _, _ = select.select(sources, [], [], LOOK_S)
        if output in readable:
            piece = os.read(output.fileno(), 65536)
            if piece:
                self._output(held, piece)
            else:
                output.close()
        if self._wire.socket not in readable:
            return []
        messages = self._wire.read()
        if messages is None:
            # It has closed its side: it ends, or is about to.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
            return []
        return [one for one in messages if held is None or not self._heard(held, one)]

    def _heard(self, held: Held, message: dict[str, Any]) -> bool:
        ctx: Any = held.ctx
        if "log" in message:
            level, text, data = message["log"]
            self._lines.append(text)
            self._engine.task_line(ctx, level, text, data)
        elif "progress" in message:
            if message["progress"] != ctx._progress:
                ctx._progress_at = time.monotonic()
            ctx._progress = message["progress"]
        elif "ask" in message:
            number = message["ask"]
            future = self._engine.desk.begin(held, message["verb"], message["given"])
            future.add_done_callback(lambda done: self._answer(held, number, message["verb"], done))
        else:
            return False
        return True

    def _answer(self, held: Held, number: int, verb: str, done: Future[Any]) -> None:
        error = done.exception()
        if error is None:
            value = done.result()
            if verb == "secret":
                # What the handler writes to its output is cleaned here.
                ctx: Any = held.ctx
                if ctx._redaction is None:
                    ctx._redaction = Redaction()
                ctx._redaction.add(value)
            answer: dict[str, Any] = {"answer": number, "value": value}
        else:
            answer = {"answer": number, "error": told_error_of(error)}
        with contextlib.suppress(OSError):
            self._wire.send(answer)

    def _output(self, held: Held | None, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for raw in lines:
            line = storable(raw.decode("utf-8", "replace").rstrip("\r"), 8192)
            ctx: Any = None if held is None else held.ctx
            if ctx is not None and ctx._redaction is not None:
                line = ctx._redaction.text(line)
            self._lines.append(line)
            if ctx is not None and line.strip():
                ctx.log.line("info", line)
            elif line.strip():
                log.info(line)
        if len(self._rest) > 65536:
            self._rest = b""

    def _ended(self, held: Held, told: dict[str, Any]) -> End:
        ctx: Any = held.ctx
        ctx._delivered, ctx._effects, ctx._uploaded = told["delivered"], told["effects"], told["uploaded"]
        if told["scratch"] is not None:
            ctx._scratch = Path(told["scratch"])
        found = told["failure"]
        failure = None
        if found is not None:
            failure = Failure(
                found["category"], found["code"], found["message"], found.get("retry_after_s"), found.get("detail", {})
            )
        return End(told["result"], told["next_stage_params"], failure)

    def _killed(self, held: Held, code: str, words: str) -> End:
        self.kill()
        return self._crash(held, code, words)

    def _crashed(self, held: Held) -> End:
        code = self._process.wait()
        # Whatever it had started goes with it.
        self.kill()
        if code == -signal.SIGKILL:
            guess = "by somebody else, perhaps by the system because its memory was full"
            return self._crash(held, "killed", f"the handler's process was killed by SIGKILL, {guess}")
        if code < 0:
            return self._crash(held, "killed", f"the handler's process was killed by {signal.Signals(-code).name}")
        words = f"the handler's process ended with exit code {code} before its task was done"
        return self._crash(held, "exited", words)

    def _crash(self, held: Held, code: str, words: str) -> End:
        peak = round(self._peak_mb)
        end: dict[str, Any] = {"pid": self._process.pid, "peak_memory_mb": peak}
        returned = self._process.returncode
        if returned is not None and returned < 0:
            with contextlib.suppress(ValueError):
                end["signal"] = signal.Signals(-returned).name
        elif returned is not None:
            end["exit_code"] = returned
        end["last_lines"] = [storable(line, 2048) for line in self._lines]
        error = Crash(f"{words} (peak memory {peak} MB)")
        failure = failure_of(error, Verdict("crash", code, detail={"process": end}))
        failure.detail.pop("stack", None)
        assert held.ctx is not None
        return End(failure=clean(held.ctx, failure))

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        with contextlib.suppress(OSError):
            self._wire.socket.close()
        if self._process.stdout is not None and not self._process.stdout.closed:
            self._process.stdout.close()

    def memory_mb(self) -> float:
        """Of the process and everything it started."""
        return sum(map(_rss_mb, _family(self._process.pid)))


def _family(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                found += [int(text) for text in Path(f"/proc/{one}/task/{task}/children").read_text().split()]
        except (OSError, ValueError):
            continue
    return found


_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def _rss_mb(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE / 1_048_576
    except (OSError, ValueError, IndexError):
        return 0.0


def told_error_of(error: BaseException) -> dict[str, Any]:
    if isinstance(error, FanfoldError):
        problem: dict[str, Any] = {
            "code": error.code,
            "detail": error.title,
            "problems": [one.told() for one in error.problems],
            "hint": error.hint,
        }
        known = error.code in _KNOWN
        return {
            "status": error.http_status,
            "message": error.title,
            "code": error.code,
            "problem": json.dumps(problem) if known or error.category == "permanent" else None,
        }
    return {"message": str(error), "code": "unexpected", "status": 500, "problem": None}


_KNOWN = frozenset({"not_found", "bad_request", "conflict", "too_large", "forbidden", "not_allowed_now", "contract"})
