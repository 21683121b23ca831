"""Tests on real clusters, in an environment of their own (`npm run python -- engines`), against a server that
test/python/engines.soak.ts has opened: FANFOLD_TEST_URL and FANFOLD_TEST_KEY."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fanfold import Client

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Service:
    url: str
    key: str

    @contextlib.contextmanager
    def worker(self, *given: str, **env: str) -> Generator[subprocess.Popen[str], None, None]:
        """`fanfold-worker` in a process of its own, as it is used; stopped afterwards."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FANFOLD_")}
        process = subprocess.Popen(
            [sys.executable, "-m", "fanfold.worker", *given],
            cwd=HERE,
            env={**kept, "FANFOLD_URL": self.url, "FANFOLD_KEY": self.key, **env},
            stderr=subprocess.STDOUT,
            stdout=None,
            text=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="session")
def service() -> Service:
    url = os.environ.get("FANFOLD_TEST_URL")
    if url is None:
        pytest.skip("there is no server: npx vitest run --mode soak test/python")
    return Service(url, os.environ["FANFOLD_TEST_KEY"])


@pytest.fixture(scope="session")
def client(service: Service) -> Generator[Client, None, None]:
    with Client(service.url, service.key) as made:
        yield made


def until(done: Callable[[], Any], what: str, seconds: float = 120) -> Any:
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        found = done()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what} did not happen within {seconds} s")


def ended(client: Client, task_id: str, seconds: float = 120) -> Any:
    return until(
        lambda: (task := client.task(task_id))["status"] in ("completed", "failed", "cancelled") and task,
        f"the end of {task_id}",
        seconds,
    )


def serving(client: Client, process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    """When the server knows it."""

    def known() -> bool:
        assert process.poll() is None, "the worker has ended"
        return any(one["pid"] == process.pid and one["status"] == "live" for one in client.workers())

    until(known, "its registration")
    return process


def is_alive(pid: int) -> bool:
    """A process that has ended and waits for its parent is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
