"""`fanfold-worker module:app`: reads the settings, checks the app, saves its jobs, and works until it is told to stop."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._sync.client import Client
from ..errors import (
    BadRequest,
    DeclarationError,
    FanfoldError,
    Forbidden,
    NotFound,
    ParameterError,
    SettingsError,
    Unauthenticated,
    Unavailable,
)
from ..problems import Problem, suggestion
from ..settings import Settings, read_settings
from ..tasklog import JsonLines, TaskIds, TaskLogHandler
from ..version import VERSION
from .app import App, Registry
from .children import Children
from .engine import Engine, Options
from .planning import Planning

DONE, FAILED, USAGE, REFUSED, UNUSABLE = 0, 1, 2, 4, 5

log = logging.getLogger("fanfold.worker")


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="fanfold-worker",
        description="Runs the handlers of an app for a Fanfold server, over HTTP. The server and the key are FANFOLD_URL and FANFOLD_KEY.",
        epilog="SIGTERM or Ctrl-C: running tasks are finished or handed back; a second one: at once. "
        "Exit codes: 0 done, 1 failed, 2 usage, 4 refused, 5 the server is out of reach.",
    )
    made.add_argument("app", help="where the app is, as module:name, e.g. tiles:app")
    made.add_argument("--url", help="the server (default: FANFOLD_URL)")
    made.add_argument("--slots", help="how many tasks run at the same time (default: FANFOLD_SLOTS or 8)")
    made.add_argument(
        "--processes", help="how many of them in child processes, for process=True (default: as many as CPUs)"
    )
    made.add_argument("--executor", help="where handlers run: ray://head:10001, ray:auto or ray:local (default: here)")
    made.add_argument("--lease-s", help="for how long a worker that is not heard of keeps its tasks (default: 30)")
    made.add_argument("--grace-s", help="how long running tasks may go on after SIGTERM (default: 30)")
    made.add_argument("--once", action="store_true", help="work until there is nothing more to do, and end")
    made.add_argument("--check", action="store_true", help="only say what is wrong with the app and the settings")
    made.add_argument("--no-save", action="store_true", help="do not save the app's jobs on the server")
    made.add_argument("--log-level", help="debug, info, warning or error (default: FANFOLD_LOG_LEVEL or info)")
    made.add_argument("--version", action="version", version=f"fanfold {VERSION}")
    return made


def load(place: str) -> App:
    """The app, or DeclarationError with what is wrong with its place."""
    module, colon, name = place.partition(":")
    if not colon or not module or not name:
        raise _misplaced(place, "is not module:name", "Write e.g. tiles:app for `app` in tiles.py.")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise _misplaced(place, f"there is no module {module}", "Start where it is, or set PYTHONPATH.") from None
        raise
    app = getattr(found, name, None)
    if isinstance(app, App):
        return app
    apps = [key for key, one in vars(found).items() if isinstance(one, App)]
    words = f"{module} has no {name}" if app is None else f"{name} is not an App"
    raise _misplaced(place, words, suggestion(name, apps))


def _misplaced(place: str, problem: str, fix: str) -> DeclarationError:
    return DeclarationError("The app cannot be loaded", problems=[Problem(place, problem, fix)])


def exit_code(error: BaseException) -> int:
    if isinstance(error, (DeclarationError, SettingsError, BadRequest, ParameterError, NotFound)):
        return USAGE
    if isinstance(error, (Unauthenticated, Forbidden)):
        return REFUSED
    return UNUSABLE if isinstance(error, Unavailable) else FAILED


def open_log(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(TaskIds())
    root = logging.getLogger()
    root.handlers[:] = [handler, TaskLogHandler()]
    root.setLevel(level.upper())
    # Its lines say each request, and would be copied into the log of tasks.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    logging.getLogger("httpcore").setLevel(logging.WARNING)


def save_jobs(registry: Registry, settings: Settings) -> None:
    """The jobs as data blueprints. A key that may not save them is enough where they are there as they should be."""
    if not registry.app.jobs:
        return
    with Client(settings.url, settings.key) as client:
        for job in registry.app.jobs:
            declaration = job.declaration()
            try:
                saved = client.save_blueprint(job.type, declaration)
                if saved["changed"]:
                    log.info("job type saved", extra={"job_type": job.type, "version": saved["blueprint"]["version"]})
                served = {f"task type {name}" for name in registry.served}
                for warning in saved["warnings"]:
                    # That nobody serves it is about to change.
                    if warning["path"] in served:
                        continue
                    log.warning(
                        warning["problem"], extra={"job_type": job.type, "path": warning["path"], "fix": warning["fix"]}
                    )
            except Forbidden as error:
                if not _is_saved(client, job.type, declaration):
                    words = f"the key may not save the job type {job.type}, which is not on the server as it is declared here"
                    hint = "give the worker a key with the scope admin once, or start it with --no-save"
                    raise Forbidden(words, hint=hint) from error


def _is_saved(client: Client, job_type: str, declaration: dict[str, Any]) -> bool:
    try:
        found: Any = client.blueprint(job_type)
    except (NotFound, Forbidden):
        return False
    return found.get("declaration") == declaration


def check(place: str, settings: Settings) -> int:
    """Everything that is wrong, without starting anything."""
    problems: list[Problem] = []
    try:
        registry = load(place).registry()
        if settings.executor is not None:
            on_ray().load_ray()
            on_ray().serve_on_cluster(registry)
        if settings.url is not None:
            with Client(settings.url, settings.key, retries=0) as client:
                for job in registry.app.jobs:
                    told = client.validate_blueprint(job.type, job.declaration())
                    problems += [Problem(one["path"], one["problem"], one["fix"]) for one in told["problems"]]
        if problems:
            words = "A declaration is wrong" if len(problems) == 1 else f"{len(problems)} declarations are wrong"
            raise DeclarationError(words, problems=problems)
    except FanfoldError as error:
        return tell(error)
    names = ", ".join(sorted(registry.served)) or "none"
    where = "" if settings.url is not None else "; FANFOLD_URL is not set, so the server did not check the jobs"
    print(f"all is well: handlers {names}; jobs {', '.join(one.type for one in registry.app.jobs) or 'none'}{where}")
    return DONE


def on_ray() -> Any:
    """Loaded where it is asked for: a worker without a cluster has no use for it."""
    return importlib.import_module("fanfold.engines.ray_cluster")


def tell(error: FanfoldError) -> int:
    print(f"fanfold-worker: {error}", file=sys.stderr)
    if error.hint:
        print(f"  {error.hint}", file=sys.stderr)
    return exit_code(error)


def options_of(settings: Settings, once: bool, registry: Registry) -> Options:
    has_processes = any(one.kind == "process" for one in registry.served.values())
    processes = settings.processes or min(settings.slots, os.cpu_count() or 1)
    return Options(
        slots=settings.slots,
        processes=min(processes, settings.slots) if has_processes else 0,
        lease_s=settings.lease_s,
        grace_s=settings.grace_s,
        once=once,
        memory_mb=settings.memory_mb,
        scratch_dir=settings.scratch_dir or Path(tempfile.gettempdir()),
        database_url=settings.database_url,
        dask_address=settings.dask_address,
    )


async def run(
    registry: Registry,
    settings: Settings,
    place: str | None,
    *,
    once: bool = False,
    signals: bool = True,
    started: Callable[[Engine], object] | None = None,
) -> Engine:
    """Works in the running loop until it is told to stop; the engine then tells how it went."""
    if settings.executor is not None:
        on_ray().serve_on_cluster(registry)
    engine = Engine(registry, settings.url, settings.key, options_of(settings, once, registry))
    runner = engine.runner
    runner.main_loop = asyncio.get_running_loop()
    children = Children(engine, place, settings.log_level)
    runner.run_in_child = children.run
    planning = Planning(engine)
    runner.run_plan = planning.start
    kinds = {one.kind for one in registry.served.values()}
    async with contextlib.AsyncExitStack() as life:
        if registry.app.lifespan is not None:
            manager: Any = registry.app.lifespan()
            entering = life.enter_async_context if hasattr(manager, "__aenter__") else life.enter_context
            entered: Any = entering(manager)
            engine.services.state = await entered if asyncio.iscoroutine(entered) else entered
        if settings.executor is not None:
            cluster = on_ray().RayCluster(engine, settings.executor, place, settings.log_level)
            life.callback(cluster.close)
            runner.run_on_cluster = cluster.start
        runner.open("def" in kinds, "process" in kinds)
        before = _listen(engine) if signals else []
        beat = asyncio.ensure_future(engine.watch.beat())
        try:
            engine.start()
            if started is not None:
                started(engine)
            while not engine.done.is_set():
                await asyncio.sleep(0.05)
        finally:
            beat.cancel()
            engine.hurry()
            children.close()
            for number, handler in before:
                signal.signal(number, handler)
    return engine


def _listen(engine: Engine) -> list[tuple[signal.Signals, Any]]:
    told = 0

    def heard(number: int, _: object) -> None:
        # Runs between two steps of whatever the main thread does: also while a handler blocks the loop.
        nonlocal told
        told += 1
        if told == 1:
            engine.leave()
        elif told == 2:
            engine.hurry()
        else:
            os._exit(FAILED)

    watched = (signal.SIGTERM, signal.SIGINT)
    return [(number, signal.signal(number, heard)) for number in watched]


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    try:
        settings = read_settings(
            url=given.url,
            slots=given.slots,
            processes=given.processes,
            lease_s=given.lease_s,
            grace_s=given.grace_s,
            log_level=given.log_level,
            executor=given.executor,
        )
        if given.check:
            return check(given.app, settings)
        open_log(settings.log_level)
        if settings.url is None:
            fix = "Set FANFOLD_URL, e.g. to http://127.0.0.1:8080, or give --url."
            raise SettingsError("These settings are not right", problems=[Problem("FANFOLD_URL", "is not set", fix)])
        registry = load(given.app).registry()
        if not given.no_save:
            save_jobs(registry, settings)
        engine = asyncio.run(run(registry, settings, given.app, once=given.once))
    except FanfoldError as error:
        return tell(error)
    log.info("worker ended", extra=engine.stats)
    if engine.failure is None:
        return DONE
    if isinstance(engine.failure, FanfoldError):
        return tell(engine.failure)
    raise engine.failure


def entry() -> None:
    code = main()
    logging.shutdown()
    # A def handler that never stops holds its thread, and would hold the process.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
