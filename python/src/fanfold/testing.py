"""For tests of handlers: `run_handler` without a server, `server()` with the real one on the embedded database, where Node is there."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Awaitable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ._async.context import AsyncContext
from ._sync.client import Client
from ._sync.context import Context
from .classify import Failure
from .context import Asset, BaseContext, Services
from .declare.handlers import Handler, Signature
from .errors import Permanent
from .problems import Problem
from .settings import read_settings
from .tasklog import TaskLogHandler, current
from .values import to_text
from .worker.app import App
from .worker.engine import Engine
from .worker.main import run, save_jobs
from .worker.outcome import End, ended_badly, ended_well


@dataclass
class Outcome:
    """What became of one run of a handler: a result as it would be stored, or the failure."""

    result: Any = None
    failure: Failure | None = None
    next_stage_params: Any = None
    logs: list[tuple[str, str, Any]] = field(default_factory=lambda: list[tuple[str, str, Any]]())
    progress: dict[str, Any] | None = None
    deliverables: list[dict[str, Any]] = field(default_factory=lambda: list[dict[str, Any]]())
    effects: list[dict[str, Any]] = field(default_factory=lambda: list[dict[str, Any]]())
    assets: dict[str, bytes] = field(default_factory=lambda: dict[str, bytes]())
    """What was published, by zone:key as the handler was told."""

    def __bool__(self) -> bool:
        return self.failure is None


class _TestServices(Services):
    def __init__(self, scratch_dir: Path, state: Any) -> None:
        self.scratch_dir, self.state, self.worker_id = scratch_dir, state, "test"
        self.lines: list[tuple[str, str, Any]] = []

    def log(self, ctx: BaseContext, level: str, message: str, data: Mapping[str, Any] | None) -> None:
        self.lines.append((level, message, data))


class _Answers:
    """Answers what a handler asks, from what the test gave."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self.assets: dict[str, bytes] = {}

    def answer(self, ctx: BaseContext, verb: str, asked: Mapping[str, Any]) -> Any:
        if verb == "results":
            return {"items": _stored(self._given["previous"]), "next": None}
        if verb == "predecessor":
            found = self._given["predecessor"]
            if found is None:
                return {"predecessor": None}
            return {"predecessor": {**_stored([found])[0], "status": "completed", "error": None}}
        if verb == "secret":
            secrets: Mapping[str, str] = self._given["secrets"]
            name = str(asked["name"]).removeprefix("secret://")
            if name not in secrets:
                raise Permanent(f'there is no secret "{name}" in this test', code="secret_missing")
            return secrets[name]
        if verb == "publish":
            return self._publish(ctx, asked)
        files: Mapping[str, bytes | Path] = self._given["files"]
        ref = f"{asked.get('zone')}:{asked.get('key')}"
        if verb == "list":
            keys = [
                one.partition(":")[2] for one in sorted(files) if one.startswith(f"{asked['zone']}:{asked['prefix']}")
            ]
            return {
                "entries": [{"key": key, "bytes": len(_bytes(files[f"{asked['zone']}:{key}"]))} for key in keys],
                "next": None,
            }
        if verb == "stat":
            return {
                "stat": {"bytes": len(_bytes(files[ref])), "etag": "test", "modified_at": ""} if ref in files else None
            }
        if verb == "download":
            if ref not in files:
                raise Permanent(f"there is no file {ref} in this test", code="missing_file")
            Path(asked["file"]).write_bytes(_bytes(files[ref]))
            return {}
        raise Permanent(f"{verb} is not to be had in a test without a server")

    def _publish(self, ctx: BaseContext, asked: Mapping[str, Any]) -> Any:
        import hashlib

        content = Path(asked["file"]).read_bytes()
        key = f"{asked['prefix']}/{ctx.attempt}/{asked['name']}"
        self.assets[f"{asked['zone']}:{key}"] = content
        asset = Asset(
            asked["zone"],
            key,
            asked["name"],
            f"fanfold://{asked['zone']}/{key}",
            len(content),
            hashlib.sha256(content).hexdigest(),
            asked["media_type"],
        )
        return vars(asset)


class _Asker:
    def __init__(self, answers: _Answers) -> None:
        self._answers = answers

    def ask(self, ctx: BaseContext, verb: str, given: Mapping[str, Any]) -> Any:
        return self._answers.answer(ctx, verb, given)


class _AsyncAsker:
    def __init__(self, answers: _Answers) -> None:
        self._answers = answers

    async def ask(self, ctx: BaseContext, verb: str, given: Mapping[str, Any]) -> Any:
        return self._answers.answer(ctx, verb, given)


def _bytes(content: bytes | Path) -> bytes:
    return content if isinstance(content, bytes) else content.read_bytes()


def _stored(results: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {
            "ordinal": place,
            "index": str(place),
            "result": json.loads(to_text(one)),
            "next_stage_params": None,
            "left_out": None,
        }
        for place, one in enumerate(results)
    ]


def run_handler(
    handler: Handler[..., Any],
    parameters: object = None,
    *,
    previous: Sequence[Any] = (),
    predecessor: Any = None,
    secrets: Mapping[str, str] | None = None,
    files: Mapping[str, bytes | Path] | None = None,
    job_parameters: object = None,
    index: str = "0",
    attempt: int = 1,
    state: Any = None,
    dask: Any = None,
) -> Outcome:
    """Runs a handler as a worker would: parameters checked, logs captured, errors classified, the result as JSON. `files` are those of zones, by
    "bronze:some/key.tif"; `dask` is an address or a cluster for ctx.dask(). A handler that says process=True runs here, in this process."""
    problems: list[Problem] = []
    signature = Signature(handler.function, problems, f"handler {handler.name}")
    if problems:
        raise Permanent("; ".join(f"{one.path}: {one.problem}" for one in problems))
    answers = _Answers(
        {"previous": previous, "predecessor": predecessor, "secrets": secrets or {}, "files": files or {}}
    )
    with tempfile.TemporaryDirectory(prefix="fanfold-test-") as folder:
        services = _TestServices(Path(folder), state)
        services.dask = dask
        task = {
            "task_id": "1-0",
            "claim_id": 1,
            "stage_id": 1,
            "ordinal": 0,
            "index": index,
            "attempt": attempt,
            "parameters": json.loads(to_text({} if parameters is None else parameters)),
            "metadata": None,
        }
        stage = _stage(handler.name, job_parameters, len(previous))
        ctx: BaseContext = (
            AsyncContext(task, stage, services, _AsyncAsker(answers))
            if handler.is_async
            else Context(task, stage, services, _Asker(answers))
        )
        end = contextvars.copy_context().run(_run, handler, signature, ctx)
        private = cast("Any", ctx)
        return Outcome(
            result=None if end.result is None else json.loads(end.result),
            failure=end.failure,
            next_stage_params=None if end.next_stage_params is None else json.loads(end.next_stage_params),
            logs=services.lines,
            progress=private._progress,
            deliverables=private._delivered,
            effects=private._effects,
            assets=answers.assets,
        )


def _stage(task_type: str, job_parameters: object, before: int) -> dict[str, Any]:
    return {
        "stage_id": 1,
        "tenant_id": "test",
        "job_id": "0" * 64,
        "job_type": "test",
        "stage": "test",
        "number": 2,
        "task_type": task_type,
        "timeout_s": None,
        "max_attempts": None,
        "parallelism": "fan_in",
        "batch": None,
        "parameters": {} if job_parameters is None else json.loads(to_text(job_parameters)),
        "correlation_id": None,
        "traceparent": None,
        "previous": [{"number": 1, "name": "before", "stage_id": 0, "total": before, "status": "completed"}],
        "of": None,
    }


def _run(handler: Handler[..., Any], signature: Signature, ctx: BaseContext) -> End:
    current.set(ctx)
    capture = TaskLogHandler()
    root = logging.getLogger()
    level = root.level
    root.addHandler(capture)
    root.setLevel(min(level, logging.INFO) if level else logging.INFO)
    try:
        arguments = signature.arguments(handler.name, ctx.parameters)
        if signature.context_name is not None:
            arguments[signature.context_name] = ctx
        value: Any = handler.function(**arguments)
        if asyncio.iscoroutine(value):
            value = asyncio.run(_awaited(value))
        return ended_well(ctx, handler.name, signature, value)
    except (Exception, asyncio.CancelledError) as error:
        return ended_badly(ctx, error)
    finally:
        root.removeHandler(capture)
        root.setLevel(level)


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


@dataclass(frozen=True)
class Server:
    url: str
    key: str

    def client(self) -> Client:
        return Client(self.url, self.key)


class NoServer(Exception):
    """Node or the fanfold package is not here: skip, or install them."""


def _program() -> list[str]:
    node = shutil.which("node")
    if node is None:
        raise NoServer("there is no node on the PATH")
    here = Path(__file__).resolve()
    places = [Path.cwd(), *Path.cwd().parents, *here.parents]
    for place in places:
        for path in ("node_modules/fanfold/dist/cli/main.js", "dist/cli/main.js"):
            if (place / path).is_file():
                return [node, str(place / path)]
    raise NoServer("the npm package fanfold is not installed here: npm install fanfold")


@contextlib.contextmanager
def server(*, ready_s: float = 120) -> Generator[Server, None, None]:
    """The real product on an embedded database of its own, gone afterwards. Raises NoServer where there is no Node."""
    command = _program()
    with tempfile.TemporaryDirectory(prefix="fanfold-server-") as folder:
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("FANFOLD_") and name != "DATABASE_URL"
        }
        process = subprocess.Popen(
            [*command, "up", "--port", "0", "--data-dir", str(Path(folder) / "data")],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said: list[str] = []
        reading = threading.Thread(target=_read, args=(process, said), daemon=True)
        reading.start()
        try:
            yield _ready(process, said, time.monotonic() + ready_s)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            reading.join(5)
            if process.stdout is not None:
                process.stdout.close()


def _read(process: subprocess.Popen[str], said: list[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)


def _ready(process: subprocess.Popen[str], said: list[str], until: float) -> Server:
    while time.monotonic() < until:
        text = "".join(said)
        url = re.search(r"^\s*http\s+(http://\S+)", text, re.MULTILINE)
        key = re.search(r"\b(ff_[a-z]+_[A-Za-z0-9]+_\S+)", text)
        if url is not None and key is not None:
            return Server(url.group(1), key.group(1))
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise NoServer(f"the server did not start: {''.join(said)[-2000:]}")


@contextlib.contextmanager
def worker(app: App, url: str, key: str, **options: Any) -> Generator[Engine, None, None]:
    """A worker for this app in threads of this process, stopped afterwards; its jobs are saved first."""
    settings = read_settings({}, url=url, key=key, **options)
    registry = app.registry()
    save_jobs(registry, settings)
    capture, root = TaskLogHandler(), logging.getLogger()
    level = root.level
    root.addHandler(capture)
    root.setLevel(min(level or logging.INFO, logging.INFO))
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    started: list[Engine] = []
    failed: list[BaseException] = []
    ready = threading.Event()

    async def work() -> None:
        await run(registry, settings, None, signals=False, started=lambda engine: (started.append(engine), ready.set()))

    def thread() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:
            failed.append(error)
            ready.set()

    running = threading.Thread(target=thread, daemon=True)
    running.start()
    ready.wait(60)
    if failed:
        raise failed[0]
    engine = started[0]
    engine.registered.wait(60)
    if engine.failure is not None:
        raise engine.failure
    try:
        yield engine
    finally:
        engine.leave()
        running.join(60)
        root.removeHandler(capture)
        root.setLevel(level)
