"""What a handler has of other packages: a transaction on the worker's database, spans where OpenTelemetry is, and the
helpers for tests, with and without a server."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from conftest import Service
from waiting import ended, until

from fanfold import App, AsyncContext, Client, Context, Job, Permanent, Throttled, handler, job, stage
from fanfold.testing import NoServer, run_handler, server, worker


@pytest.fixture(scope="module")
def table() -> Generator[tuple[str, str], None, None]:
    """The database, and a table of this run in it."""
    psycopg = pytest.importorskip("psycopg")
    url = os.environ.get("FANFOLD_TEST_DATABASE_URL")
    if url is None:
        pytest.skip("the test does not know where the database is")
    name = f"py_{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"create table public.{name} (n integer primary key, by_task text, name text)")
    yield url, name
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"drop table public.{name}")


def insert(table: str) -> str:
    return f"insert into public.{table} values (%s, %s, current_setting('application_name')) on conflict do nothing"


@handler("db.blocking")
def blocking(n: int, table: str, fails: bool, ctx: Context) -> int:
    with ctx.db() as connection:
        connection.execute(insert(table), (n, ctx.task_id))
        if fails:
            raise Permanent("after the insert", code="after_insert")
    return n


@handler("db.child", process=True)
def in_child(n: int, table: str, ctx: Context) -> int:
    with ctx.db() as connection:
        connection.execute(insert(table), (n, ctx.task_id))
    return n


@handler("db.awaited")
async def awaited(n: int, table: str, ctx: AsyncContext) -> int:
    async with ctx.db() as connection:
        await connection.execute(insert(table), (n, ctx.task_id))
    return n


@handler("db.wrong")
def wrong(table: str, ctx: Context) -> None:
    with ctx.db() as connection:
        connection.execute(f"insert into public.{table} values (1, 'a', 'b'), (1, 'a', 'b')")


databases = App(handlers=[blocking, in_child, awaited, wrong])


def test_what_a_handler_writes_is_one_transaction_of_the_workers_database(
    client: Client, service: Service, table: tuple[str, str]
) -> None:
    import psycopg

    url, name = table
    with worker(databases, service.url, service.key, database_url=url, processes=1):
        once: Any = {"attempts": 1}
        tasks = [
            client.enqueue("db.blocking", {"n": 1, "table": name, "fails": False}),
            client.enqueue("db.awaited", {"n": 2, "table": name}),
            client.enqueue("db.child", {"n": 3, "table": name}),
        ]
        bad = client.enqueue("db.blocking", {"n": 4, "table": name, "fails": True}, retry=once)
        twice = client.enqueue("db.wrong", {"table": name}, retry=once)
        for task_id in tasks:
            assert ended(client, task_id)["status"] == "completed", client.task(task_id)["error"]
        assert ended(client, bad)["error"]["code"] == "after_insert"
        # The SQLSTATE says that trying again would not help.
        assert ended(client, twice)["error"]["category"] == "permanent"
    with psycopg.connect(url) as connection:
        written: Any = connection
        rows = written.execute(f"select n, by_task, name from public.{name} order by n").fetchall()
    assert rows == [(n + 1, task_id, f"fanfold {task_id}") for n, task_id in enumerate(tasks)]


def test_without_a_database_it_is_said_what_is_missing(client: Client, service: Service) -> None:
    told = run_handler(blocking, {"n": 1, "table": "t", "fails": False})
    assert told.failure is not None
    assert (told.failure.category, told.failure.code) == ("permanent", "no_database")
    assert "DATABASE_URL is not set" in told.failure.message


@handler("span.fine")
async def fine(ctx: AsyncContext) -> str:
    return "fine"


@handler("span.fails")
def fails(ctx: Context) -> None:
    raise Permanent("it failed", code="failed")


@handler("span.child", process=True)
def dies(ctx: Context) -> None:
    os._exit(3)


traced: Job[Any] = job("py_traced", None, [stage("fine", fine), stage("fails", fails, failure_budget={"percent": 100})])
spans = App(jobs=[traced], handlers=[fine, fails, dies])
TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_each_attempt_is_a_span_of_the_trace_that_submitted_it(client: Client, service: Service) -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    with worker(spans, service.url, service.key, processes=1):
        submitted = client.submit(traced, {}, mode="force", traceparent=f"00-{TRACE}-b7ad6b7169203331-01")
        done = client.wait(submitted["job_id"], timeout_s=60)
        lone = client.enqueue("span.child", {}, retry={"attempts": 1})
        assert ended(client, lone)["error"]["category"] == "crash"
        until(lambda: len(kept.get_finished_spans()) == 3, "three spans")
    found = {one.name: one for one in kept.get_finished_spans()}
    assert done["status"] == "partial_success"
    for name in ("span.fine", "span.fails"):
        context: Any = found[name].context
        assert format(context.trace_id, "032x") == TRACE
        assert (found[name].attributes or {})["fanfold.job_id"] == submitted["job_id"]
        assert found[name].kind is trace.SpanKind.CONSUMER
    assert [found[f"span.{name}"].status.is_ok for name in ("fine", "fails", "child")] == [True, False, False]
    assert [one.name for one in found["span.fails"].events] == ["exception"]


@handler("help.scene")
def scene(source: str, ctx: Context) -> dict[str, Any]:
    path = ctx.zones.download(source)
    ctx.log.info("read", bytes=path.stat().st_size)
    ctx.progress(0.5, "half")
    ctx.deliver("cogs", count=1)
    copy = ctx.scratch / "copy.bin"
    copy.write_bytes(path.read_bytes() + ctx.secret("salt").encode())
    asset = ctx.zones.publish(copy, zone="silver", prefix="out", media_type="image/tiff")
    if ctx.attempt == 1:
        raise Throttled(2.5)
    return {"ref": asset.ref, "before": sum(ctx.previous(int)), "state": ctx.state}


def test_a_handler_runs_without_a_server_on_files_secrets_and_results_of_the_test(tmp_path: Path) -> None:
    (tmp_path / "b.bin").write_bytes(b"four")
    given: dict[str, Any] = {
        "previous": [1, 2, 3],
        "secrets": {"salt": "grain-of-salt"},
        "files": {"bronze:a.bin": b"one", "bronze:b.bin": tmp_path / "b.bin"},
        "state": "warm",
    }
    first = run_handler(scene, {"source": "bronze:a.bin"}, **given)
    assert first.failure is not None
    assert (bool(first), first.failure.category, first.failure.retry_after_s) == (False, "throttled", 2.5)
    second = run_handler(scene, {"source": "bronze:b.bin"}, attempt=2, **given)
    assert second.result == {"ref": "silver:out/2/copy.bin", "before": 6, "state": "warm"}
    assert second.assets == {"silver:out/2/copy.bin": b"fourgrain-of-salt"}
    assert second.logs == [("info", "read", {"bytes": 4})]
    assert (second.progress, second.deliverables[0]["name"]) == ({"share": 0.5, "message": "half"}, "cogs")
    assert [one["effect"] for one in second.effects] == ["publish"]
    gone = run_handler(scene, {"source": "bronze:c.bin"}, **given)
    assert gone.failure is not None
    assert gone.failure.code == "missing_file"
    wrong = run_handler(scene, {"sorce": "bronze:a.bin"}, **given)
    assert wrong.failure is not None
    assert wrong.failure.category == "contract"


@pytest.mark.slow
def test_the_product_itself_is_started_for_a_test_and_gone_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as own:
        with own.client() as client, worker(App(handlers=[fine]), own.url, own.key):
            assert ended(client, client.enqueue("span.fine", {}))["result"] == "fine"
        url = own.url
    with Client(url, own.key, retries=0) as late, pytest.raises(Exception, match="cannot reach"):
        late.queues()

    def nowhere(name: str) -> None:
        return None

    monkeypatch.setattr(shutil, "which", nowhere)
    with pytest.raises(NoServer, match="no node on the PATH"), server():
        pass
