"""Heartbeats: what is held and what runs, told in time; what comes back is no longer ours."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..api.endpoints import post_workers_worker_id_heartbeat
from ..errors import FanfoldError, StaleWorker
from .life import Life

if TYPE_CHECKING:
    from .engine import Engine

log = logging.getLogger("fanfold.worker")


class Beating:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def loop(self) -> None:
        """Beats until the worker has left: what runs on while it stops must be kept."""
        while True:
            life = self._engine.life
            assert life is not None
            await asyncio.sleep(life.heartbeat_s)
            if life is not self._engine.life or life.is_over:
                continue
            sent_at = time.monotonic()
            try:
                reply = await self._engine.transport.call(
                    post_workers_worker_id_heartbeat,
                    params={"worker_id": life.worker_id},
                    text=json.dumps(self._beat(life)),
                    timeout_s=life.lease_s / 3,
                    retries=0,
                )
                life.renewed_at = sent_at
                self._heard(life, reply)
            except StaleWorker:
                self._engine.abandon(life)
            except FanfoldError as error:
                log.warning("a heartbeat was not answered", extra={"why": error.title})

    def _beat(self, life: Life) -> dict[str, Any]:
        now = time.monotonic()
        with self._engine.runner.lock:
            running = list(self._engine.runner.running)
        told: list[dict[str, Any]] = []
        for held in running:
            ctx: Any = held.ctx
            if ctx is None or held.life is not life:
                continue
            progress = ctx._progress
            told.append(
                {
                    "task_id": held.task_id,
                    "claim_id": held.claim_id,
                    "elapsed_s": now - held.started_at,
                    "timeout_s": held.timeout_s,
                    "progress": progress,
                    "progress_age_s": None if progress is None else max(0.0, now - ctx._progress_at),
                }
            )
        beat: dict[str, Any] = {
            "claims": list(life.claims),
            "running": told,
            "draining": self._engine.leaving,
            "rss_mb": self._engine.watch.rss_mb(),
        }
        if life.protocol >= 1:
            beat["counts"] = {
                name: one.tally.told() for name, one in self._engine.registry.served.items() if one.tally.changed
            }
            for one in self._engine.registry.served.values():
                one.tally.changed = False
        return beat

    def _heard(self, life: Life, reply: Mapping[str, Any]) -> None:
        lost = set(reply["lost"])
        cancelled = {(one["claim_id"], one["task_id"]) for one in reply["abort"]}
        if not lost and not cancelled:
            return
        gone = self._engine.runner.take_back(
            unwanted=lambda one: one.claim_id in lost or (one.claim_id, one.task_id) in cancelled
        )
        for held in gone:
            if held.claim_id not in lost:
                life.settle(held.claim_id)
        with self._engine.runner.lock:
            running = list(self._engine.runner.running)
        for held in running:
            if held.claim_id in lost:
                self._engine.runner.abort(held, "lost")
            elif (held.claim_id, held.task_id) in cancelled:
                self._engine.runner.abort(held, "cancelled")
        for claim_id in lost:
            life.claims.pop(claim_id, None)
