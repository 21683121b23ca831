"""Requests, releases, uploads and the catalogue's links, of the blocking client and of the one that is awaited."""

from __future__ import annotations

import asyncio
import hashlib
import os
import uuid
from pathlib import Path
from typing import Any

import pytest
import shop
from conftest import Service
from waiting import ended

from fanfold import AsyncClient, Client, Conflict, DeclarationError, NotAllowedNow, NotFound, StillRunning
from fanfold.testing import worker

COLLECTION: dict[str, Any] = {
    "type": "Collection",
    "stac_version": "1.0.0",
    "id": "py_dem",
    "description": "heights",
    "license": "CC0-1.0",
    "extent": {"spatial": {"bbox": [[-180, -90, 180, 90]]}, "temporal": {"interval": [[None, None]]}},
    "links": [],
}


def recipe(client: Client) -> None:
    saved = client.requests.save_recipe(
        "py_lengths",
        {
            "description": "Lengths of the names of files",
            "accepts": {"extensions": [".csv"], "max_files": 3},
            "approval": True,
            "jobs": [{"name": "measure", "job": "py_words", "parameters": {"words": "{request.files}", "factor": 1}}],
        },
    )
    assert saved["recipe"]["data_type"] == "py_lengths"


def test_a_request_runs_its_jobs_and_its_release_is_decided_on(client: Client, service: Service) -> None:
    with worker(shop.app, service.url, service.key):
        recipe(client)
        dataset = f"py-{uuid.uuid4().hex[:8]}"
        asked = {"dataset_id": dataset, "resource_id": "alps", "version_id": "1", "files": ["bronze:a.csv"]}
        would = client.requests.dry_run(asked)
        assert (would["would"], would["data_type"], would["problems"]) == ("create", "py_lengths", [])
        submitted = client.requests.submit(asked)
        assert client.requests.submit(asked)["request_id"] == submitted["request_id"]
        place = f"{dataset}/alps/1"
        # Nothing follows its only job, so that is what waits for the approval.
        assert [one["newest"]["approval"] for one in client.releases.datasets(dataset_id=dataset)] == ["pending_review"]
        assert client.releases.lookup(dataset, "alps")["found"] is False
        assert client.releases.approve(place, dry_run=True)["changed"] is False
        assert client.releases.approve(place, clearance="public", reason="checked")["after"] == "approved"
        done = client.requests.wait(submitted["request_id"], timeout_s=60)
        assert done["status"] == "completed"
        assert client.releases.lookup(dataset, "alps", "1")["found"] is True
        assert client.requests.get(place)["request_id"] == submitted["request_id"]
        assert submitted["request_id"] in [one["request_id"] for one in client.requests.list(dataset_id=dataset)]
        assert client.requests.failures(hours=1)["total"] >= 1
        with pytest.raises(NotAllowedNow):
            client.requests.cancel(submitted["request_id"], dry_run=True)
        assert client.releases.unpublish(place)["dry_run"] is True
        assert client.releases.revoke(place, reason="wrong datum")["after"] == "revoked"

        again = client.requests.resubmit(submitted["request_id"], mode="force")
        assert client.releases.approve(place, reason="mended")["after"] == "approved"
        assert client.requests.wait(again["request_id"], timeout_s=60)["status"] == "completed"
        decisions = client.releases.of(dataset, "alps")[0]["decisions"]
        assert {one["decision"] for one in decisions} == {"overwritten", "approved", "revoked"}
        with pytest.raises(NotFound):
            client.releases.reject(f"{dataset}/nothing", reason="no such thing")
    with pytest.raises(DeclarationError) as wrong:
        client.requests.save_recipe("py_bad", {"jobs": [{"name": "a", "job": "nobody"}], "accepts": {"max_files": 0}})
    assert len(wrong.value.problems) >= 2
    assert "py_lengths" in [one["data_type"] for one in client.requests.recipes()]


def test_requests_and_uploads_can_be_awaited(service: Service, client: Client) -> None:
    with worker(shop.app, service.url, service.key):
        recipe(client)

    async def calls() -> None:
        async with AsyncClient(service.url, service.key) as own:
            brought = await own.upload(b"a;b\n", f"py/{uuid.uuid4().hex}.csv", media_type="text/csv")
            assert brought["state"] == "completed"
            asked = {"dataset_id": uuid.uuid4().hex, "resource_id": "r", "version_id": "1", "files": [brought["ref"]]}
            submitted = await own.requests.submit(asked)
            with pytest.raises(StillRunning):
                await own.requests.wait(submitted["request_id"], timeout_s=0)
            cancelled = await own.requests.cancel(submitted["request_id"], reason="a test")
            assert cancelled["changed"] is True
            assert (await own.requests.wait(submitted["request_id"], timeout_s=60))["status"] == "cancelled"
            assert [one["request_id"] async for one in own.requests.list(dataset_id=asked["dataset_id"])] == [
                submitted["request_id"]
            ]
            assert (await own.uploads.remove(brought["upload_id"], reason="a test"))["upload_id"] == brought[
                "upload_id"
            ]

    asyncio.run(calls())


def test_a_file_is_brought_in_parts_and_gone_on_with_where_it_broke_off(client: Client, tmp_path: Path) -> None:
    # Two parts and a bit.
    content = os.urandom(1_000_000) * 17
    source = tmp_path / "scene.bin"
    source.write_bytes(content)
    key = f"py/{uuid.uuid4().hex}/scene 1.bin"
    seen: list[int] = []

    def broken(sent: int, total: int) -> None:
        seen.append(sent)
        if sent > 0:
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        client.upload(source, key, on_progress=broken)
    open_ones = list(client.uploads.list(state="open", prefix=key))
    assert len(open_ones) == 1
    missing = client.uploads.get(open_ones[0]["upload_id"])["missing"]
    assert missing < client.uploads.get(open_ones[0]["upload_id"])["part_count"]
    seen.clear()

    def noted(sent: int, total: int) -> None:
        seen.append(sent)

    done = client.upload(source, key, on_progress=noted)
    assert done["upload_id"] == open_ones[0]["upload_id"]
    assert len(seen) == missing + 1, "parts that had arrived are not sent again"
    assert (done["ref"], done["sha256"]) == (f"bronze:{key}", hashlib.sha256(content).hexdigest())
    with pytest.raises(Conflict):
        client.upload(b"another", key)
    assert client.upload(b"", f"{key}.empty")["bytes"] == 0


def test_items_lead_to_their_files(client: Client, service: Service, tmp_path: Path) -> None:
    if os.environ.get("FANFOLD_TEST_STAC") != "1":
        pytest.skip("the server has no catalogue")
    with worker(shop.app, service.url, service.key):
        task_id = client.enqueue("py.item", {"collection": COLLECTION, "text": "heights of the alps"})
        assert ended(client, task_id)["status"] == "completed", client.task(task_id)["error"]
    assert client.collection("py_dem")["description"] == "heights"
    assert "py_dem" in [one["id"] for one in client.collections()]
    item = client.item("py_dem", "alps")
    assert [one["id"] for one in client.items(collections=["py_dem"], bbox=[6, 46, 8, 48])] == ["alps"]
    got = client.download_asset(item, "text", tmp_path / "got.txt")
    assert got.read_text() == "heights of the alps"
    with pytest.raises(NotFound) as missing:
        client.download_asset(item, "cog", tmp_path / "none")
    assert missing.value.hint == "it has text"
    by_hand: dict[str, Any] = {**item, "id": "by hand", "assets": {}, "links": []}
    assert client.put_item("py_dem", by_hand)["id"] == "by hand"

    async def links() -> None:
        async with AsyncClient(service.url, service.key) as own:
            assert own.stac_url == f"{service.url}/stac"
            assert own.stac_headers() == {"authorization": f"Bearer {service.key}"}
            found = sorted([one["id"] async for one in own.items(collections=["py_dem"], limit=1)])
            assert found == ["alps", "by hand"]

    asyncio.run(links())
