"""A task that this worker holds, from the claim to the answer of its finish."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from ..classify import Failure
from ..context import BaseContext
from ..declare.handlers import Handler, Signature
from ..values import to_text
from .batch import Pace
from .outcome import End

if TYPE_CHECKING:
    from .life import Life

Kind = Literal["async", "def", "process", "plan", "missing", "cluster"]
DEFAULT_TIMEOUT_S = 1800.0


class Served:
    """A handler as this worker serves it."""

    __slots__ = ("handler", "kind", "name", "pace", "running", "signature", "tally")

    def __init__(self, handler: Handler[..., Any], signature: Signature, kind: Kind) -> None:
        self.handler, self.signature, self.kind = handler, signature, kind
        self.name = handler.name
        self.pace = Pace()
        self.running = 0
        self.tally = Tally()


class Tally:
    """Counts since the registration, for the metrics of the service."""

    def __init__(self) -> None:
        self.claimed = self.completed = self.refused = 0
        self.duration_s = 0.0
        self.failed: dict[str, int] = {}
        self.durations = [0] * 12
        self.changed = False

    def ended(self, duration_s: float, failure: Failure | None, bounds: list[float]) -> None:
        self.changed = True
        self.duration_s += duration_s
        if failure is None:
            self.completed += 1
        else:
            self.failed[failure.category] = self.failed.get(failure.category, 0) + 1
        place = next((place for place, bound in enumerate(bounds) if duration_s <= bound), len(bounds))
        if place < len(self.durations):
            self.durations[place] += 1

    def told(self) -> dict[str, Any]:
        return {
            "claimed": self.claimed,
            "completed": self.completed,
            "refused": self.refused,
            "duration_s": self.duration_s,
            "failed": dict(self.failed),
            "durations": list(self.durations),
        }


class Held:
    __slots__ = (
        "aborted_at",
        "claim_id",
        "claimed_at",
        "ctx",
        "deadline",
        "duration_s",
        "ended",
        "life",
        "runs",
        "served",
        "stage",
        "started_at",
        "task",
        "timeout_s",
    )

    def __init__(
        self, life: Life, task: Mapping[str, Any], stage: Mapping[str, Any], served: Served, now: float
    ) -> None:
        self.life, self.task, self.stage, self.served = life, task, stage, served
        self.claim_id: int = task["claim_id"]
        self.claimed_at = now
        self.ctx: BaseContext | None = None
        self.started_at = self.deadline = self.duration_s = 0.0
        self.timeout_s = DEFAULT_TIMEOUT_S
        self.aborted_at: float | None = None
        # Told, dropped or given up: whatever its handler does later is nobody's.
        self.ended = False
        # What executes it, for whoever must stop it: a future, a task of a loop.
        self.runs: Any = None

    @property
    def task_id(self) -> str:
        return self.task["task_id"]

    def begin(self) -> None:
        self.started_at = time.monotonic()
        self.timeout_s = timeout_of(self.stage, self.served.handler)
        self.deadline = self.started_at + self.timeout_s

    def text(self, end: End, spill: Mapping[str, Any] | None = None) -> str:
        """The task of a finish, as JSON."""
        task = self.task
        head = (
            f'{{"task_id":"{task["task_id"]}","claim_id":{self.claim_id},"attempt":{task["attempt"]},'
            f'"duration_ms":{self.duration_s * 1000:.3f}'
        )
        private: Any = self.ctx
        if end.failure is not None:
            error = end.failure.told()
            if self.served.handler.retry is not None:
                error["retry"] = dict(self.served.handler.retry)
            uploaded: list[Any] = private._uploaded if private is not None else []
            discard = f',"discard":{to_text(uploaded)}' if uploaded else ""
            return f'{head},"error":{json.dumps(error, ensure_ascii=False, default=str)}{discard}}}'
        parts = [head, f'"spill":{to_text(dict(spill))}' if spill is not None else f'"result":{end.result}']
        if end.next_stage_params is not None:
            parts.append(f'"next_stage_params":{end.next_stage_params}')
        if private is not None and private._delivered:
            parts.append(f'"deliverables":{to_text(private._delivered)}')
        if private is not None and private._effects:
            parts.append(f'"effects":{to_text(private._effects)}')
        return ",".join(parts) + "}"


def timeout_of(stage: Mapping[str, Any], handler: Handler[..., Any]) -> float:
    told, own = stage.get("timeout_s"), handler.timeout_s
    found = (own if own is not None else told) if stage["job_id"] is None else (told if told is not None else own)
    return min(float(found) if found is not None else DEFAULT_TIMEOUT_S, 2_000_000.0)
