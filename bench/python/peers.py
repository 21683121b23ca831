"""A worker of procrastinate or dramatiq, as a process of its own: it says "ready", waits for "go", and tells what it used.

Settings are the best that were found on two cores: procrastinate with 20 tasks at a time in one process and a pool of 22 connections, jobs kept;
dramatiq with 8 threads to a process, results kept in Redis."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import time


def used_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def heard() -> str:
    return sys.stdin.readline().strip()


def say(**told: object) -> None:
    print(json.dumps(told), flush=True)


def lag(sent_at: float) -> None:
    with open(os.environ["BENCH_LAGS"], "a") as lags:
        lags.write(f"{time.time() - sent_at}\n")


def procrastinate_app(connections: int = 22):
    import procrastinate

    app = procrastinate.App(
        connector=procrastinate.PsycopgConnector(
            conninfo=os.environ["BENCH_DATABASE"], min_size=connections, max_size=connections
        )
    )

    @app.task(name="noop")
    async def noop() -> None:
        return None

    @app.task(name="started")
    async def started(sent_at: float) -> None:
        lag(sent_at)

    return app, noop, started


async def procrastinate_schema() -> None:
    app, _, _ = procrastinate_app(1)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


async def procrastinate_enqueue(number: int) -> None:
    app, noop, _ = procrastinate_app(2)
    async with app.open_async():
        for _ in range(0, number, 500):
            await noop.batch_defer_async(*({} for _ in range(500)))


async def procrastinate_drain() -> None:
    app, _, _ = procrastinate_app()
    async with app.open_async():
        say(ready=True)
        heard()
        began, used = time.perf_counter(), used_s()
        await app.run_worker_async(concurrency=20, wait=False, install_signal_handlers=False)
        say(seconds=time.perf_counter() - began, cpu_s=used_s() - used)


async def procrastinate_latency(samples: int) -> None:
    """The worker here, the caller in a connection of its own: as far apart as they can be in one process."""
    app, _, started = procrastinate_app()
    async with app.open_async():
        working = asyncio.create_task(app.run_worker_async(concurrency=20, wait=True, install_signal_handlers=False))
        await asyncio.sleep(2)
        say(ready=True)
        heard()
        for _ in range(samples):
            await started.defer_async(sent_at=time.time())
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)
        working.cancel()
        say(done=True)
        os._exit(0)


def dramatiq_broker():
    import dramatiq
    from dramatiq.brokers.redis import RedisBroker
    from dramatiq.results import Results
    from dramatiq.results.backends import RedisBackend

    broker = RedisBroker(url=os.environ["BENCH_REDIS"])
    broker.add_middleware(Results(backend=RedisBackend(url=os.environ["BENCH_REDIS"])))
    dramatiq.set_broker(broker)

    @dramatiq.actor(store_results=True)
    def noop() -> int:
        return 1

    return broker, noop


def dramatiq_enqueue(number: int) -> None:
    _, noop = dramatiq_broker()
    for _ in range(number):
        noop.send()


def dramatiq_drain() -> None:
    import dramatiq

    broker, _ = dramatiq_broker()
    worker = dramatiq.Worker(broker, worker_threads=8)
    say(ready=True)
    heard()
    began, used = time.perf_counter(), used_s()
    worker.start()
    broker.join("default", interval=20)
    worker.join()
    say(seconds=time.perf_counter() - began, cpu_s=used_s() - used)
    worker.stop()


def main(what: str, *given: str) -> None:
    numbers = [int(one) for one in given]
    found = globals()[what](*numbers)
    if asyncio.iscoroutine(found):
        asyncio.run(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
