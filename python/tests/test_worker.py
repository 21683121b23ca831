"""The worker against a real server: jobs, children, time-outs, cancel, blocked loops, signals and exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import shop
from conftest import Service
from waiting import ended, until

from fanfold import Client
from fanfold.testing import worker

HERE = Path(__file__).parent


def command(service: Service, *given: str, key: str | None = None, **env: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FANFOLD_")}
    return subprocess.Popen(
        [sys.executable, "-m", "fanfold.worker", *given],
        cwd=HERE,
        env={**kept, "FANFOLD_URL": service.url, "FANFOLD_KEY": key or service.key, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_broken_word_costs_one_task_and_is_resumed(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key):
        ended = client.run(shop.words, shop.Words(["ok", "broken", "fine"]), timeout_s=60)
        assert ended["status"] == "partial_success"
        groups = client.errors(ended["job_id"])
        assert [one["code"] for one in groups] == ["broken_word"]
        again = client.resume(ended["job_id"])
        assert again["job_id"] == ended["job_id"]
        assert client.wait(ended["job_id"], timeout_s=60)["status"] == "partial_success"
        failed = [one for one in client.tasks(ended["job_id"]) if one["status"] == "failed"]
        assert len(failed) == 1


def test_a_planner_of_python_says_which_tasks_a_stage_has(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key):
        ended = client.run(shop.planned, shop.Words(["fan", "fold"], 3), timeout_s=60)
        assert ended["status"] == "completed", client.errors(ended["job_id"])
        assert client.result(ended["job_id"]) == 6 * 7
        assert {one["index"] for one in client.tasks(ended["job_id"]) if one["task_type"] == "py.measure"} == {
            "w0",
            "w1",
        }


def test_a_result_beyond_a_megabyte_is_spilled_and_read_again(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key):
        ended = client.run(shop.spilled, {"bytes": 9_000_000}, timeout_s=60)
        assert ended["status"] == "completed", client.errors(ended["job_id"])
        assert client.result(ended["job_id"]) == 9_000_000


def test_a_file_is_published_with_the_finish(client: Client, service: Service, tmp_path: Path) -> None:
    storage = os.environ.get("FANFOLD_TEST_BRONZE")
    if storage is None:
        pytest.skip("the test does not know where bronze is")
    (Path(storage) / "py").mkdir(parents=True, exist_ok=True)
    (Path(storage) / "py" / "a.bin").write_bytes(b"bytes" * 1000)
    with worker(shop.app, service.url, service.key) as engine:
        before = engine.stats["completed"]
        done = ended(client, client.enqueue("py.publish", {"ref": "bronze:py/a.bin"}))
        assert done["status"] == "completed", done["error"]
        assert (done["result"]["bytes"], done["result"]["listed"]) == (10_000, 1)
        got = client.download(done["result"]["ref"], tmp_path / "got.bin")
        assert got.read_bytes() == b"bytes" * 2000
        # The task that was enqueued with the finish runs, too.
        until(lambda: engine.stats["completed"] >= before + 2, "its effect")


def test_stages_of_typescript_and_python_workers_mix(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key):
        ended = client.run(shop.mixed, shop.Words(["fan", "fold"]), timeout_s=60)
        assert ended["status"] == "completed"
        assert client.result(ended["job_id"]) == "FAN! FOLD!"


def test_a_child_that_dies_costs_one_attempt_and_the_worker_nothing(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key, slots=4, processes=2) as engine:
        tasks = {
            how: client.enqueue("py.child", {"how": how}, retry={"attempts": 1})
            for how in ("ask", "killed", "exit", "memory")
        }
        asked = ended(client, tasks["ask"])
        assert asked["result"]["env"] is False
        assert asked["result"]["secret"] == 21
        assert not Path(asked["result"]["scratch"]).exists()
        until(
            lambda: any("output of a child" in one["message"] for one in client.logs(tasks["ask"])["lines"]),
            "its output",
        )
        for how, code in (("killed", "killed"), ("exit", "exited"), ("memory", "out_of_memory")):
            error = ended(client, tasks[how])["error"]
            assert (error["category"], error["code"]) == ("crash", code)
        # Two in a row in one warm child, after all that.
        pids = {ended(client, client.enqueue("py.child", {"how": "fine"}))["result"]["pid"] for _ in range(2)}
        assert len(pids) <= 2
        assert engine.stats["failed"] == 3


def test_results_and_errors_are_told_as_they_should_be(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key):
        hows = ("nan", "big", "secret", "returned", "bug", "throttled")
        tasks = {how: client.enqueue("py.errors", {"how": how}, retry={"attempts": 1}) for how in hows}
        told = {how: ended(client, task_id) for how, task_id in tasks.items()}
        for how, category, code in (
            ("nan", "contract", "bad_result"),
            ("big", "contract", "bad_result"),
            ("secret", "permanent", "leaky"),
            ("returned", "permanent", "said_no"),
            ("bug", "transient", "bug"),
        ):
            error = told[how]["error"]
            assert (error["category"], error["code"]) == (category, code)
        assert told["secret"]["error"]["message"] == "the key is [redacted]"
        # Asked to wait, it spends no attempt.
        assert told["throttled"]["status"] == "completed"
        wrong = ended(client, client.enqueue("py.errors", {"hw": 1}))
        assert wrong["error"]["category"] == "contract"
        assert "$.how: is missing" in wrong["error"]["message"]


def test_what_takes_too_long_is_stopped_and_what_is_cancelled_stops(
    client: Client, service: Service, tmp_path: Path
) -> None:
    with worker(shop.app, service.url, service.key, lease_s=5):
        slow = client.enqueue("py.slow", {}, retry={"attempts": 1})
        mark, child_mark = tmp_path / "mark", tmp_path / "child"
        held = client.enqueue("py.hold", {"mark": str(mark)})
        kept = client.enqueue("py.child", {"how": "wait", "mark": str(child_mark)})
        until(lambda: mark.exists() and child_mark.exists(), "both running")
        pid = int(until(lambda: child_mark.read_text(), "its pid"))
        client.cancel_task(held)
        client.cancel_task(kept)
        until(lambda: mark.read_text() == "stopped", "the coroutine's end")
        until(lambda: not Path(f"/proc/{pid}").exists(), "the child's end")
        error = ended(client, slow)["error"]
        assert (error["category"], error["code"]) == ("transient", "timeout")


def test_a_blocked_loop_costs_nobody_the_lease_and_is_told(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key, lease_s=5) as engine:
        blocked = client.enqueue("py.block", {"seconds": 6.5})
        assert ended(client, blocked)["status"] == "completed"
        assert engine.stats["registered"] == 1
        lines = until(lambda: [one for one in client.logs(blocked)["lines"] if one["level"] == "warn"], "the warning")
        assert "the main loop has been blocked" in lines[0]["message"]
        assert "time.sleep(seconds)" in lines[0]["data"]["stack"]


def test_once_drains_and_ends(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key):
        pass
    submitted = client.submit(shop.words, shop.Words([f"word {n}" for n in range(300)], 3))
    process = command(service, "shop:app", "--once", "--slots", "4")
    said, _ = process.communicate(timeout=90)
    assert process.returncode == 0, said
    assert client.status(submitted["job_id"])["status"] == "completed"


def test_sigterm_hands_back_what_does_not_end_and_a_second_one_ends_at_once(
    client: Client, service: Service, tmp_path: Path
) -> None:
    for signals, grace in ((1, "0.2"), (2, "600")):
        process = command(service, "shop:app", "--grace-s", grace)
        mark = tmp_path / f"mark{signals}"
        until(lambda: any(one["pid"] == process.pid for one in client.workers()), "its registration")  # noqa: B023
        held = client.enqueue("py.hold", {"mark": str(mark)})
        until(mark.exists, "the task's start")
        process.send_signal(signal.SIGTERM)
        if signals == 2:
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 0, said
        task = client.task(held)
        assert task["status"] == "queued"
        assert (task["attempt"] or 0) <= 1
        client.cancel_task(held)


def test_what_is_wrong_is_told_with_our_exit_codes(service: Service) -> None:
    for given, env, code, words in (
        (("shop:nothing",), {}, 2, "shop has no nothing"),
        (("nowhere:app",), {}, 2, "there is no module nowhere"),
        (("shop:app", "--check"), {}, 0, "all is well"),
        (("shop:app", "--slots", "none"), {}, 2, "is not a whole number"),
        (("shop:app",), {"FANFOLD_KEY": "ff_live_nobody_nothing"}, 4, "key"),
        (("shop:app", "--no-save"), {"FANFOLD_URL": "http://127.0.0.1:9"}, 5, "cannot reach"),
    ):
        process = command(service, *given, **env)
        said, _ = process.communicate(timeout=60)
        assert process.returncode == code, said
        assert words in said


def test_a_key_that_may_only_work_is_enough_once_the_jobs_are_saved(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key):
        pass
    submitted = client.submit(shop.words, shop.Words(["only", "work"]))
    process = command(service, "shop:app", "--once", "--no-save", key=service.work_key)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert client.status(submitted["job_id"])["status"] == "completed"


@pytest.mark.parametrize("number", [2_000])
def test_many_short_tasks_are_claimed_and_told_in_batches(client: Client, service: Service, number: int) -> None:
    with worker(shop.app, service.url, service.key, slots=16) as engine:
        client.enqueue_many("py.noop", ({} for _ in range(number)))
        until(lambda: engine.stats["completed"] == number, "their end")
        assert engine.stats["claims"] < number / 20
        assert engine.stats["refused"] == 0
