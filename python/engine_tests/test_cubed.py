"""Computations of cubed as jobs: killed half way, failed, changed, and a thousand chunks."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false, reportMissingParameterType=false, reportUntypedBaseClass=false, reportUnknownLambdaType=false

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import cubed
import cubed.array_api as xp
import cubed.random
import numpy as np
import pytest
from conftest import Service, serving, until

from fanfold import Client
from fanfold.cubed import ComputationFailed, FanfoldExecutor
from fanfold.errors import BadRequest

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "cubed_resume" / "anomaly.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cubed")


def chunk_worker(service: Service, folder: Path) -> Any:
    given = ("fanfold.cubed:app", "--slots", "2", "--processes", "2")
    return service.worker(*given, FANFOLD_CUBED_WORK_DIR=str(folder), FANFOLD_LEASE_S="5")


@pytest.fixture(scope="module")
def worker(service: Service, client: Client, folder: Path) -> Generator[Any, None, None]:
    with chunk_worker(service, folder) as made:
        yield serving(client, made)


def start(service: Service, *given: str) -> subprocess.Popen[str]:
    env = {**os.environ, "FANFOLD_URL": service.url, "FANFOLD_KEY": service.key}
    kept = {name: one for name, one in env.items() if not name.startswith("FANFOLD_TEST_")}
    return subprocess.Popen([sys.executable, *given], env=kept, stdout=subprocess.PIPE, text=True)


def test_a_computation_that_is_killed_half_way_goes_on_and_repeats_nothing(
    service: Service, client: Client, tmp_path: Path
) -> None:
    with chunk_worker(service, tmp_path) as worker:
        serving(client, worker)
        script = start(service, str(EXAMPLE), str(tmp_path))
        job = _job(client)

        def half_way() -> bool:
            assert script.poll() is None, "it was too quick to be killed"
            return done_of(client, job) >= 30

        until(half_way, "half of it")
        script.kill()
        os.kill(worker.pid, signal.SIGKILL)
        script.communicate()
    before = {one["task_id"]: one for one in client.tasks(job) if one["status"] == "completed"}
    with chunk_worker(service, tmp_path) as again:
        serving(client, again)
        script = start(service, str(EXAMPLE), str(tmp_path))
        told, _ = script.communicate(timeout=120)
        assert script.returncode == 0
    most, mean, same = told.split()
    assert same == job
    tasks = list(client.tasks(job))
    assert 30 <= len(before) < len(tasks) - 20
    assert {one["status"] for one in tasks} == {"completed"}
    for one in tasks:
        if one["task_id"] in before:
            assert (one["attempt"], one["finished_at"]) == (1, before[one["task_id"]]["finished_at"])
    # Only what the killed processes had in their hands ran again.
    assert sum(len(client.task(one["task_id"])["attempts"]) > 0 for one in tasks) <= 4
    assert client.verify(job)["ok"]
    random.seed(1)
    days = np.asarray(
        cubed.random.random((360, 60, 90), chunks=(60, 20, 30), spec=cubed.Spec(allowed_mem="200MB")).compute()
    )
    rain = -np.log(1 - days) * 4
    worst = (rain - rain.mean(axis=0)).max(axis=0)
    assert (float(most), float(mean)) == (pytest.approx(worst.max(), abs=1e-5), pytest.approx(worst.mean(), abs=1e-5))


def _job(client: Client) -> str:
    return until(
        lambda: next((one["job_id"] for one in client.jobs() if one["status"] == "processing"), None), "the job"
    )


def done_of(client: Client, job_id: str) -> int:
    return sum(one["completed"] for one in client.status(job_id)["stages"])


def test_a_broken_chunk_fails_the_computation_and_is_all_that_runs_again(
    service: Service, client: Client, worker: Any, folder: Path, tmp_path: Path
) -> None:
    mark = str(tmp_path / "mended")
    executor = FanfoldExecutor(str(folder), "broken", client=client, retry={"attempts": 1})
    ones = xp.ones((20, 20), chunks=(10, 10), spec=executor.spec(allowed_mem="100MB"))

    def risky(chunk: Any, block_id: Any = None) -> Any:
        import os

        if tuple(block_id) == (1, 1) and not os.path.exists(mark):
            raise ValueError("this chunk is broken")
        return chunk + 1

    made = cubed.map_blocks(risky, ones, dtype=ones.dtype)
    with pytest.raises(ComputationFailed, match="this chunk is broken") as failed:
        made.compute()
    ended_before = {
        one["task_id"]: one["finished_at"] for one in client.tasks(failed.value.job_id) if one["status"] == "completed"
    }
    Path(mark).write_text("")
    assert np.asarray(made.compute()).tolist() == np.full((20, 20), 2.0).tolist()
    assert executor.job_id == failed.value.job_id
    now = {one["task_id"]: one["finished_at"] for one in client.tasks(failed.value.job_id)}
    assert {key: now[key] for key in ended_before} == ended_before
    assert len(now) == len(ended_before) + 1


def test_a_thousand_chunks_and_callbacks(client: Client, worker: Any, folder: Path) -> None:
    class Counted(cubed.Callback):
        def __init__(self) -> None:
            self.tasks, self.begun, self.ended = 0, 0, 0

        def on_operation_start(self, event: Any) -> None:
            self.begun += 1

        def on_task_end(self, event: Any) -> None:
            self.tasks += event.num_tasks

        def on_operation_end(self, event: Any) -> None:
            self.ended += 1

    executor = FanfoldExecutor(str(folder), "thousand", client=client)
    ones = xp.ones((100, 100), chunks=(4, 2), spec=executor.spec(allowed_mem="100MB"))
    made = xp.negative(ones)
    told = Counted()
    assert float(np.asarray(made.compute(callbacks=[told])).sum()) == -10_000
    assert executor.job_id is not None
    stages = client.status(executor.job_id)["stages"]
    assert max(one["total"] or 0 for one in stages) == 1250
    assert told.tasks == sum(one["total"] or 0 for one in stages)
    assert (told.begun, told.ended) == (len(stages), len(stages))


def test_operations_that_do_not_need_each_other_run_side_by_side(client: Client, worker: Any, folder: Path) -> None:
    executor = FanfoldExecutor(str(folder), "diamond", client=client)
    spec = executor.spec(allowed_mem="100MB")
    x = xp.asarray(np.arange(16.0).reshape(4, 4), chunks=(2, 2), spec=spec)
    left, right = xp.sum(x, axis=0), xp.sum(x, axis=1)
    both = (left + right).compute(optimize_graph=False)
    assert np.asarray(both).tolist() == [24.0 + 6, 28.0 + 22, 32.0 + 38, 36.0 + 54]
    assert executor.job_id is not None
    after = [one["after"] for one in client.status(executor.job_id)["stages"]]
    assert any(len(one) == 2 for one in after)


def test_another_computation_under_the_same_name_is_refused(client: Client, worker: Any, folder: Path) -> None:
    def computed(factor: float) -> Any:
        import cubed.core.array as arrays
        import cubed.core.plan as plans

        # As a second start of the same script would number its arrays.
        plans.sym_counter = arrays.sym_counter = 5000
        executor = FanfoldExecutor(str(folder), "renamed", client=client)
        ones = xp.ones((4, 4), chunks=(2, 2), spec=executor.spec(allowed_mem="100MB"))
        return cubed.map_blocks(lambda chunk: chunk * factor, ones, dtype=ones.dtype).compute()

    assert float(np.asarray(computed(2.0)).sum()) == 32
    with pytest.raises(BadRequest, match="something else"):
        computed(3.0)


def test_a_plan_from_elsewhere_and_a_spec_of_ones_own_are_refused(
    service: Service, client: Client, worker: Any, folder: Path, tmp_path: Path
) -> None:
    executor = FanfoldExecutor(str(tmp_path / "elsewhere"), "outside", client=client)
    ones = xp.negative(xp.ones((2, 2), chunks=(2, 2), spec=executor.spec(allowed_mem="100MB")))
    with pytest.raises(ComputationFailed, match="not in the work directory"):
        ones.compute()
    own = xp.negative(xp.ones((2, 2), chunks=(2, 2), spec=cubed.Spec(allowed_mem="100MB", work_dir=str(tmp_path))))
    with pytest.raises(BadRequest, match="a spec of their own"):
        own.compute(executor=executor)
    with pytest.raises(BadRequest, match="no name for a run"):
        FanfoldExecutor(str(folder), "../up")
