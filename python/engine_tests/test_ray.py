"""Handlers on a real Ray cluster of two nodes on this machine: what it loses, Fanfold tries again."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from conftest import Service, ended, is_alive, serving, until

from fanfold import Client

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# On loopback, whatever else this machine is called.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
STORE = 100 * 1024 * 1024


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Nodes:
    """A head, and a second node that can be killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self.client_port = free_port()
        head = {
            "num_cpus": 2,
            "object_store_memory": STORE,
            "include_dashboard": False,
            "ray_client_server_port": self.client_port,
        }
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self._second: Any = None
        self.add_second()

    @property
    def address(self) -> str:
        return str(self._cluster.gcs_address)

    def add_second(self) -> None:
        # With an address of its own: the worker's own part of Ray must not hang on the node that is killed.
        self._second = self._cluster.add_node(
            num_cpus=1, node_ip_address="127.0.0.2", object_store_memory=STORE, resources={"second": 1}
        )

    def kill_second(self) -> None:
        self._cluster.remove_node(self._second, allow_graceful=False)

    def close(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Generator[Nodes, None, None]:
    made = Nodes()
    yield made
    made.close()


@pytest.fixture(scope="module")
def worker(service: Service, client: Client, nodes: Nodes) -> Generator[Any, None, None]:
    place = f"ray:{nodes.address}"
    with service.worker("ray_app:app", "--executor", place, "--slots", "8", FANFOLD_LEASE_S="10") as made:
        yield serving(client, made)


def submitted(client: Client, job: str, parameters: Any) -> Any:
    return client.wait(client.submit(job, parameters, mode="force")["job_id"], timeout_s=300)


def progress(client: Client, task_id: str) -> Any:
    running: Any = client.task(task_id)["running"] or {}
    return running.get("progress") or {}


def test_a_thousand_tasks_run_on_the_cluster_once_each(client: Client, worker: Any) -> None:
    done = submitted(client, "ray_many", {"n": 1000})
    assert done["status"] == "completed", client.errors(done["job_id"])
    result = client.result(done["job_id"])
    assert result["total"] == sum(i * i for i in range(1000))
    assert result["processes"] >= 2
    assert result["own"] != worker.pid
    tasks = [one for one in client.tasks(done["job_id"]) if one["task_type"] == "ray.square"]
    assert len(tasks) == 1000
    assert {one["attempt"] for one in tasks} == {1}
    assert client.verify(done["job_id"])["ok"]
    seven = next(one for one in tasks if one["index"] == "7")
    lines = until(lambda: client.logs(seven["task_id"])["lines"], "its lines")
    assert [one["message"] for one in lines] == ["printed by seven", "logged by seven", "said by seven"]


def test_zones_secrets_hand_overs_and_effects_work_there(client: Client, worker: Any, tmp_path: Path) -> None:
    storage = os.environ.get("FANFOLD_TEST_BRONZE")
    if not storage:
        pytest.skip("the test does not know where bronze is")
    # More than one piece, and not a whole number of them.
    content = os.urandom(1000) * 20_001
    (Path(storage) / "ray").mkdir(parents=True, exist_ok=True)
    (Path(storage) / "ray" / "a.bin").write_bytes(content)
    (Path(storage) / "ray" / "empty.bin").write_bytes(b"")
    done = submitted(client, "ray_featured", {"refs": ["bronze:ray/a.bin", "bronze:ray/empty.bin"]})
    assert done["status"] == "completed", client.errors(done["job_id"])
    first, empty = [one["result"] for one in client.results(done["job_id"]) if one["task_type"] == "ray.features"]
    assert (first["bytes"], first["stat"], first["listed"]) == (2 * len(content), len(content), 2)
    assert (empty["bytes"], empty["stat"]) == (0, 0)
    assert first["secret"] == len("correct-horse-battery")
    assert first["key_in_environment"] is False
    assert first["state"] == "made once in each process"
    assert not Path(first["scratch"]).exists()
    assert client.download(first["ref"], tmp_path / "got.bin").read_bytes() == content * 2
    follow = [one["result"] for one in client.results(done["job_id"]) if one["task_type"] == "ray.follow"]
    assert {one["bytes"] for one in follow} == {2 * len(content), 0}


def test_errors_come_back_as_they_were_raised(client: Client, worker: Any) -> None:
    hows = ("permanent", "result", "exit", "large", "fine")
    tasks = {how: client.enqueue("ray.errors", {"how": how}, retry={"attempts": 1}) for how in hows}
    told = {how: ended(client, task_id) for how, task_id in tasks.items()}
    leaky = told["permanent"]["error"]
    assert (leaky["category"], leaky["code"]) == ("permanent", "leaky")
    assert "correct-horse" not in leaky["message"]
    assert (told["result"]["error"]["category"], told["result"]["error"]["code"]) == ("contract", "bad_result")
    assert told["exit"]["status"] == "failed"
    assert told["fine"]["result"] == "fine"
    assert told["large"]["status"] == "completed"


def test_a_killed_process_is_a_crash_that_is_tried_again(client: Client, worker: Any, tmp_path: Path) -> None:
    task_id = client.enqueue("ray.die_once", {"mark": str(tmp_path / "mark")})
    done = ended(client, task_id)
    assert done["status"] == "completed"
    crashed = done["attempts"][0]
    assert (crashed["category"], crashed["code"]) == ("crash", "cluster_worker_lost")
    assert done["attempt"] == 2


def test_cancel_kills_the_process_and_the_slot_is_free(client: Client, worker: Any, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    task_id = client.enqueue("ray.hold", {"mark": str(mark)})
    pid = int(until(lambda: mark.exists() and mark.read_text(), "its start"))
    until(lambda: progress(client, task_id).get("share") == 0.25, "its progress")
    until(lambda: [one for one in client.logs(task_id)["lines"] if one["message"] == "holding"], "its line")
    client.cancel_task(task_id)
    until(lambda: not is_alive(pid), "the end of its process")
    assert ended(client, task_id)["status"] == "cancelled"
    assert ended(client, client.enqueue("ray.errors", {"how": "fine"}))["result"] == "fine"


def test_a_time_out_kills_the_process(client: Client, worker: Any, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    done = ended(client, client.enqueue("ray.too_long", {"mark": str(mark)}, retry={"attempts": 1}))
    assert done["error"]["code"] == "timeout"
    until(lambda: not is_alive(int(mark.read_text())), "the end of its process")


def test_a_lost_node_is_a_crash_and_the_task_runs_on_the_next(
    client: Client, nodes: Nodes, worker: Any, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    task_id = client.enqueue("ray.on_second", {"mark": str(mark)})
    until(lambda: mark.exists() and mark.read_text(), "its start")
    nodes.kill_second()
    until(lambda: client.task(task_id)["attempt"] == 2, "its second attempt")
    waiting = until(lambda: progress(client, task_id).get("message"), "why it waits")
    assert waiting == "waits for a place on the Ray cluster"
    nodes.add_second()
    done = ended(client, task_id)
    assert (done["status"], done["result"]) == ("completed", "done on another node")
    crashed = done["attempts"][0]
    assert crashed["category"] == "crash"
    assert crashed["code"] in ("node_lost", "cluster_worker_lost")


def test_a_worker_that_is_stopped_hands_back_what_runs_there(
    client: Client, service: Service, nodes: Nodes, worker: Any, tmp_path: Path
) -> None:
    """Through Ray's client, as from outside of the cluster; stopped while a task of it runs."""
    mark = tmp_path / "mark"
    place = f"ray://127.0.0.1:{nodes.client_port}"
    worker.send_signal(15)
    assert worker.wait(60) == 0
    with service.worker("ray_app:app", "--executor", place, "--slots", "2", "--grace-s", "0") as outside:
        serving(client, outside)
        done = submitted(client, "ray_many", {"n": 20})
        assert done["status"] == "completed", client.errors(done["job_id"])
        task_id = client.enqueue("ray.hold", {"mark": str(mark)})
        pid = int(until(lambda: mark.exists() and mark.read_text(), "its start"))
        outside.send_signal(15)
        assert outside.wait(60) == 0
    until(lambda: not is_alive(pid), "the end of its process")
    task = client.task(task_id)
    assert (task["status"], task["attempt"]) == ("queued", 1)
    client.cancel_task(task_id)


def test_a_cluster_of_this_machine_is_started_and_ended_with_the_worker(client: Client, service: Service) -> None:
    task_id = client.enqueue("ray.errors", {"how": "fine"})
    with service.worker("ray_app:app", "--executor", "ray:local", "--slots", "2", "--once") as worker:
        assert worker.wait(120) == 0
    assert client.task(task_id)["result"] == "fine"


def test_a_cluster_that_is_not_there_is_told_in_one_line(service: Service) -> None:
    with service.worker(
        "ray_app:app", "--executor", f"ray://127.0.0.1:{free_port()}", RAY_CLIENT_RECONNECT_GRACE_PERIOD="1"
    ) as worker:
        assert worker.wait(120) == 5
