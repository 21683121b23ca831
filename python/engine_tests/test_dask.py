"""ctx.dask() on a real cluster of this machine: keys of the attempt, and nothing left of an attempt that has ended."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import dask_app
import pytest
from conftest import Service, ended, serving, until

from fanfold import Client, Context, handler
from fanfold.testing import run_handler


@pytest.fixture(scope="module")
def cluster() -> Generator[Any, None, None]:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="600MB") as made:
        yield made


@pytest.fixture(scope="module")
def worker(service: Service, client: Client, cluster: Any) -> Generator[Any, None, None]:
    address = cluster.scheduler_address
    with service.worker(
        "dask_app:app", "--slots", "4", "--processes", "1", FANFOLD_DASK_ADDRESS=address, FANFOLD_LEASE_S="10"
    ) as made:
        yield serving(client, made)


def left(cluster: Any) -> list[str]:
    """Keys that the scheduler still has."""
    return [str(key) for key in list(cluster.scheduler.tasks)]


def test_a_thousand_tasks_compute_small_graphs_apart(client: Client, cluster: Any, worker: Any) -> None:
    submitted = client.submit("dask_many", {"n": 1000}, mode="force")
    done = client.wait(submitted["job_id"], timeout_s=600)
    assert done["status"] == "completed", client.errors(done["job_id"])
    results = list(client.results(done["job_id"]))
    assert len(results) == 1000
    # Nothing fails here, so nothing is tried again.
    again = [client.task(one["task_id"])["attempts"][0] for one in results if one["attempt"] != 1]
    assert not again, f"{len(again)} tried again, the first after {again[0]}"
    for one in results:
        task = one["task_id"].replace("-", ".")
        assert one["result"]["total"] == sum(range(100))
        assert one["result"]["next"] == int(one["index"]) + 1
        strange = [key for key in one["result"]["keys"] if f"_fanfold,{task}.{one['attempt']}." not in key]
        assert not strange, (one["task_id"], one["attempt"], strange)
    until(lambda: not left(cluster), "the end of its keys")
    # A name of a function is kept by the scheduler for ever: there must not be one for each attempt.
    assert len(cluster.scheduler.task_prefixes) < 20


def test_coroutines_and_children_compute_there_too(client: Client, worker: Any) -> None:
    for name in ("dask.async_sum", "dask.in_child"):
        done = ended(client, client.enqueue(name, {}))
        assert (done["status"], done["result"]) == ("completed", sum(range(100))), done


def test_a_cancelled_task_takes_its_graph_with_it(client: Client, cluster: Any, worker: Any, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    task_id = client.enqueue("dask.hold", {"mark": str(mark)})
    until(lambda: list(tmp_path.glob("mark.*")), "its start")
    assert len(left(cluster)) >= 200
    client.cancel_task(task_id)
    until(lambda: not left(cluster), "the end of its keys", 30)
    # What ran may end; what waited is never begun.
    assert len(list(tmp_path.glob("mark.*"))) < 50
    assert ended(client, task_id)["status"] == "cancelled"


def test_a_time_out_takes_its_graph_with_it(client: Client, cluster: Any, worker: Any, tmp_path: Path) -> None:
    done = ended(client, client.enqueue("dask.too_long", {"mark": str(tmp_path / "mark")}, retry={"attempts": 1}))
    assert done["error"]["code"] == "timeout"
    until(lambda: not left(cluster), "the end of its keys", 30)


def test_a_killed_dask_worker_is_a_crash_or_dasks_own_repeat(
    client: Client, cluster: Any, worker: Any, tmp_path: Path
) -> None:
    done = ended(client, client.enqueue("dask.kills", {"mark": str(tmp_path / "mark")}))
    assert (done["status"], done["result"]) == ("completed", "lived"), done


def test_a_killed_worker_leaves_nothing_on_the_cluster(
    client: Client, cluster: Any, worker: Any, tmp_path: Path
) -> None:
    task_id = client.enqueue("dask.hold", {"mark": str(tmp_path / "mark")})
    until(lambda: list(tmp_path.glob("mark.*")), "its start")
    os.kill(worker.pid, signal.SIGKILL)
    until(lambda: not left(cluster), "the end of its keys", 60)
    client.cancel_task(task_id)


def test_the_graphs_of_dask_keep_their_meaning_under_other_keys(cluster: Any) -> None:
    import dask
    import dask.array as da
    import numpy as np

    seen: list[Any] = []

    @handler("dask.all")
    def everything(ctx: Context) -> list[Any]:
        with ctx.dask() as client:
            x = da.ones((40, 40), chunks=20)
            persisted = (x + 1).persist()
            with dask.annotate(priority=3, retries=1):
                annotated = da.ones(10, chunks=5).sum()
            scattered = client.scatter([1, 2, 3])
            named, whole = client.scatter({"a": 5}), client.scatter(np.ones(3))
            seen.extend(client.futures)
            return [
                float(persisted.sum().compute()),
                client.gather(client.map(lambda a: a * 2, range(3))),  # pyright: ignore[reportUnknownLambdaType]
                client.submit(sum, scattered).result(),
                named["a"].result(),
                float(whole.result().sum()),
                float(client.compute(annotated).result()),
                float(x.rechunk((40, 10)).sum().compute()),
                dask.delayed(lambda a, b: a + b)(1, dask.delayed(lambda: 2)()).compute(),  # pyright: ignore[reportUnknownLambdaType]
            ]

    outcome = run_handler(everything, dask=cluster.scheduler_address)
    assert outcome.failure is None, outcome.failure
    assert outcome.result == [3200.0, [0, 2, 4], 6, 5, 3.0, 10.0, 1600.0, 3]
    first = [key[0] if isinstance(key, tuple) else key for key in seen]
    assert first and all(key.startswith("_fanfold,1.0.1.1-") for key in first)


def test_a_cluster_that_is_not_there_is_tried_again_later() -> None:
    outcome = run_handler(dask_app.total, {"i": 1}, dask="tcp://127.0.0.1:1")
    assert outcome.failure is not None
    assert (outcome.failure.category, outcome.failure.code) == ("transient", "dask_unreachable")
