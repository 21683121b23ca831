"""The client against a real server: submit, wait, follow, act, and errors as the classes they were thrown as."""

from __future__ import annotations

import asyncio
import http.server
import json
import threading
from typing import Any, ClassVar

import pytest
import shop
from conftest import Service

from fanfold import (
    AsyncClient,
    BadRequest,
    Client,
    Connection,
    NotFound,
    ParameterError,
    SettingsError,
    StillRunning,
    Unauthenticated,
)
from fanfold.retries import Policy, Trouble, may_repeat, wait_s
from fanfold.settings import read_settings
from fanfold.sse import EventReader
from fanfold.testing import worker


def test_a_job_is_submitted_waited_for_and_followed(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key):
        submitted = client.submit(shop.words, shop.Words(["fan", "out", "fold"], 2))
        assert submitted["created"] is True
        assert (
            client.submit("py_words", {"words": ["fan", "out", "fold"], "factor": 2})["job_id"] == submitted["job_id"]
        )
        seen: list[str] = []
        ended = client.wait(submitted["job_id"], timeout_s=60, on_status=lambda job: seen.append(job["status"]))
        assert ended["status"] == "completed"
        assert seen[-1] == "completed"
        assert client.result(submitted["job_id"]) == {"total": 20, "matched": 3, "key": 64}
        kinds = [
            one.data["kind"] for one in client.stream(submitted["job_id"], last_event_id="0") if one.type == "event"
        ]
        assert kinds[-1] == "job.completed"
        tasks = list(client.tasks(submitted["job_id"], limit=2))
        assert len(tasks) == 7
        assert [one["result"]["length"] for one in client.results(submitted["job_id"], stage="1")] == [6, 6, 8]
        assert client.verify(submitted["job_id"])["ok"] is True
        log = client.logs(next(one["task_id"] for one in tasks if one["task_type"] == "py.measure"))
        assert any("measuring" in line["message"] for line in log["lines"])


def test_the_same_calls_can_be_awaited(service: Service) -> None:
    async def calls() -> None:
        async with AsyncClient(service.url, service.key) as client:
            told = await client.dry_run("py_words", {"words": ["a"]})
            assert told["would"] == "create"
            made = await client.submit_many("py_words", [{"words": [str(n)]} for n in range(3)])
            assert len({one["job_id"] for one in made}) == 3
            for one in made:
                await client.cancel(one["job_id"], reason="only a test")
                assert (await client.wait(one["job_id"], timeout_s=30))["status"] == "cancelled"
            assert [one["job_type"] async for one in client.jobs(limit=1, type="py_words")].count("py_words") >= 3

    with worker(shop.app, service.url, service.key, slots=1):
        pass
    asyncio.run(calls())


def test_what_is_refused_comes_as_its_class_with_every_problem(client: Client, service: Service) -> None:
    with pytest.raises(ParameterError) as refused:
        client.submit("py_words", {"wrds": 1})
    assert [one.path for one in refused.value.problems] == ["$.wrds", "$.words"]
    assert refused.value.request_id is not None
    with pytest.raises(NotFound):
        client.status("ffff" * 16)
    with pytest.raises(NotFound):
        client.task("..")
    with pytest.raises(Unauthenticated), Client(service.url, "ff_live_nobody_nothing") as nobody:
        nobody.workers()
    job = client.submit("py_words", {"words": ["waits for nobody"]})
    with pytest.raises(StillRunning) as waiting:
        client.wait(job["job_id"], timeout_s=0.3)
    assert waiting.value.code == "still_running"
    client.cancel(job["job_id"])


class Flaky(http.server.BaseHTTPRequestHandler):
    answers: ClassVar[list[tuple[int, dict[str, Any]]]] = []
    heard: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", "0")))
        self.heard.append(self.path)
        status, body = self.answers.pop(0)
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json" if status < 400 else "application/problem+json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        return


def problem(code: str, status: int) -> tuple[int, dict[str, Any]]:
    told = {"type": "x", "title": "x", "status": status, "detail": "away", "code": code, "request_id": "r"}
    return status, told


def test_only_what_may_be_repeated_is_repeated() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        with Client(url, "ff_test") as client:
            Flaky.answers = [problem("unavailable", 503), problem("unavailable", 502), (200, {"workers": []})]
            assert client.workers() == []
            # A lone task without a key might be there twice.
            Flaky.answers, before = [problem("unavailable", 503)], len(Flaky.heard)
            with pytest.raises(Exception, match="away"):
                client.enqueue("a.b", {})
            assert len(Flaky.heard) == before + 1
            Flaky.answers = [problem("stopping", 503), (201, {"task_ids": ["1-0"], "created": 1})]
            assert client.enqueue("a.b", {}) == "1-0"
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(Connection), Client(url, "ff_test", retries=0) as nobody:
        nobody.workers()


def test_waits_grow_and_heed_what_the_server_asks_for() -> None:
    trouble = Trouble(Connection("x"), status=503, retry_after_s=3)
    assert wait_s(trouble, 0, Policy(), 0.5) == 3.375
    assert wait_s(Trouble(Connection("x"), status=429, retry_after_s=300), 0, Policy(), 0.5) is None
    assert wait_s(Trouble(Connection("x")), 3, Policy(), 1.0) == pytest.approx(1.6)
    assert may_repeat(Trouble(Connection("x"), sent=False), False)
    assert not may_repeat(Trouble(Connection("x"), sent=True), False)
    assert not may_repeat(Trouble(Connection("x"), status=500), True)


def test_settings_tell_all_that_is_wrong_at_once() -> None:
    env = {
        "FANFOLD_URL": "ftp://x",
        "FANFOLD_SLOTS": "many",
        "FANFOLD_KEYS": "x",
        "FANFOLD_KEY": "a key\n",
        "FANFOLD_ZONE_SILVER": "x",
    }
    with pytest.raises(SettingsError) as wrong:
        read_settings(env)
    assert sorted(one.path for one in wrong.value.problems) == [
        "FANFOLD_KEY",
        "FANFOLD_KEYS",
        "FANFOLD_SLOTS",
        "FANFOLD_URL",
    ]
    assert 'Did you mean "FANFOLD_KEY"?' in str(wrong.value)
    assert "a key" not in str(wrong.value)
    assert read_settings({"FANFOLD_SLOTS": "3"}).slots == 3
    with pytest.raises(BadRequest, match="url"):
        Client(None, "ff_x") if "FANFOLD_URL" not in __import__("os").environ else (_ for _ in ()).throw(
            BadRequest("url")
        )


def test_events_are_read_however_they_are_cut() -> None:
    text = "\ufeffretry: 250\r\n: hello\r\nid: 7\r\nevent: job.completed\r\ndata: {\r\ndata: }\r\n\r\ndata: x\n\n"
    for size in (1, 2, 3, 7, 100):
        reader = EventReader()
        found = [one for at in range(0, len(text), size) for one in reader.push(text[at : at + size])]
        assert [(one.id, one.event, one.data) for one in found] == [
            ("7", "job.completed", "{\n}"),
            ("7", "message", "x"),
        ]
        assert reader.retry_s == 0.25
