"""Waiting for what happens elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fanfold import Client


def until(done: Callable[[], Any], what: str, seconds: float = 60) -> Any:
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        found = done()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {seconds} s")


def ended(client: Client, task_id: str) -> Any:
    return until(
        lambda: (task := client.task(task_id))["status"] in ("completed", "failed", "cancelled") and task,
        f"the end of {task_id}",
    )
