"""What every handler's ctx has, whatever kind of function it is: facts of the task, and what it says about itself.
What must be asked of the service is in Context (for def) and AsyncContext (for async def)."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .errors import Cancelled, ContractViolation, Permanent
from .problems import Problem, kind_of
from .redaction import Redaction
from .values import storable, to_text

if TYPE_CHECKING:
    from .tasklog import TaskLog

MOST_DELIVERABLES = 100
MOST_EFFECTS = 100
LARGEST_HAND_OVER = 262_144

Aborted = Literal["timeout", "lost", "cancelled", "stopping"]
_WORDS: Mapping[str, str] = {
    "timeout": "the task ran longer than its time-out",
    "lost": "the task was given to others",
    "cancelled": "the task was cancelled",
    "stopping": "the worker stops",
}
_making = threading.Lock()


@dataclass(frozen=True)
class JobFacts:
    job_id: str
    job_type: str
    tenant_id: str
    correlation_id: str | None
    parameters: Any


@dataclass(frozen=True)
class Asset:
    """A file that a task made. It is there for others from the moment the task has finished, or never."""

    zone: str
    key: str
    name: str
    href: str
    bytes: int
    sha256: str
    media_type: str

    @property
    def ref(self) -> str:
        """`silver:dem/scene-1/…/cog.tif`"""
        return f"{self.zone}:{self.key}"


class Services:
    """What a context needs of its worker; a test gives its own."""

    state: Any = None
    scratch_dir: Path = Path("/tmp")
    database_url: str | None = None
    # The address of a Dask scheduler, or a function that gives one, or a cluster.
    dask: Any = None
    worker_id: str = ""

    def log(self, ctx: BaseContext, level: str, message: str, data: Mapping[str, Any] | None) -> None:
        """A line, on its way with others."""


class BaseContext:
    def __init__(self, task: Mapping[str, Any], stage: Mapping[str, Any], services: Services) -> None:
        self._task = task
        self._stage = stage
        self._services = services
        self._aborted: Aborted | None = None
        self._event: threading.Event | None = None
        self._on_abort: list[Callable[[], object]] = []
        self._handed_over: str | None = None
        self._delivered: list[dict[str, Any]] = []
        self._effects: list[dict[str, Any]] = []
        self._uploaded: list[dict[str, str]] = []
        self._progress: dict[str, Any] | None = None
        self._progress_at = 0.0
        self._redaction: Redaction | None = None
        self._scratch: Path | None = None
        self._log: TaskLog | None = None

    @property
    def task_id(self) -> str:
        return self._task["task_id"]

    @property
    def tenant_id(self) -> str:
        return self._stage["tenant_id"]

    @property
    def job_id(self) -> str | None:
        return self._stage["job_id"]

    @property
    def task_type(self) -> str:
        return self._stage["task_type"]

    @property
    def stage(self) -> str:
        return self._stage["stage"]

    @property
    def ordinal(self) -> int:
        return self._task["ordinal"]

    @property
    def index(self) -> str:
        return self._task["index"]

    @property
    def attempt(self) -> int:
        return self._task["attempt"]

    @property
    def metadata(self) -> Any:
        return self._task.get("metadata")

    @property
    def parameters(self) -> Any:
        """As they were sent; the handler's own arguments are checked."""
        found = self._task.get("parameters")
        if found is None:
            found = self._stage.get("parameters")
        return {} if found is None else found

    @property
    def job(self) -> JobFacts | None:
        """None for a task that stands alone."""
        stage = self._stage
        if stage["job_id"] is None:
            return None
        parameters = stage.get("parameters")
        return JobFacts(
            stage["job_id"],
            stage["job_type"] or "",
            stage["tenant_id"],
            stage.get("correlation_id"),
            {} if parameters is None else parameters,
        )

    @property
    def traceparent(self) -> str | None:
        """W3C trace context to send along with outgoing calls."""
        return self._stage.get("traceparent")

    @property
    def state(self) -> Any:
        """What the app's lifespan gave: once per worker, and once per child process."""
        return self._services.state

    @property
    def effect_key(self) -> str:
        """The same on every attempt of this task: give it to services that take idempotency keys."""
        stage = self._stage
        place = (
            f"{stage['stage_id']}/{self.ordinal}" if self.job_id is None else f"{self.job_id}/{self.stage}/{self.index}"
        )
        return hashlib.sha256(place.encode()).hexdigest()

    @property
    def log(self) -> TaskLog:
        if self._log is None:
            from .tasklog import TaskLog

            self._log = TaskLog(self)
        return self._log

    @property
    def scratch(self) -> Path:
        """A directory of this attempt, made when first asked for and removed afterwards."""
        if self._scratch is None:
            task = self._task
            # The directory may be everybody's: the worker's id is a name that nobody could be there before with.
            name = f"fanfold-scratch-{self._services.worker_id}-{task['task_id']}-{task['attempt']}-{task['claim_id']}"
            path = self._services.scratch_dir / name
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._scratch = path
        return self._scratch

    def progress(
        self,
        share: float | None = None,
        message: str | None = None,
        *,
        done: float | None = None,
        total: float | None = None,
    ) -> None:
        """A share between 0 and 1, or counts; shown with the next heartbeat."""
        told: dict[str, Any] = (
            {"done": _finite(done), "total": _finite(total)}
            if done is not None or total is not None
            else {"share": min(max(_finite(share), 0), 1)}
        )
        if message is not None:
            told["message"] = storable(str(message), 500)
        # Saying the same again is no progress.
        if told != self._progress:
            self._progress_at = time.monotonic()
        self._progress = told
        self._progressed()

    def _progressed(self) -> None:
        """In a child process: tell the worker."""

    def next_stage_params(self, value: object) -> None:
        """Handed to the tasks of the next stage, beside the result."""
        text = to_text(value, "ctx.next_stage_params was given what JSON cannot hold")
        size = len(text.encode())
        if size > LARGEST_HAND_OVER:
            words = f"next_stage_params has {size} bytes; the limit is {LARGEST_HAND_OVER}"
            raise ContractViolation(f"{words}: put the data into storage and hand a reference over")
        self._handed_over = text

    def deliver(
        self, name: str, *, count: int | None = None, location: str | None = None, usable: bool | None = None
    ) -> None:
        """Something of use that this task made: it counts when the task completes."""
        if len(self._delivered) == MOST_DELIVERABLES:
            raise Permanent(f"a task may tell of {MOST_DELIVERABLES} deliverables: tell of many with a count")
        problems: list[Problem] = []
        if not 1 <= len(name) <= 100:
            problems.append(Problem("$.name", "must be text of 1 to 100 characters", 'Write e.g. "cogs".'))
        if count is not None and count < 0:
            problems.append(Problem("$.count", "must be a whole number from 0", "Leave it out for 1."))
        if location is not None and len(location) > 2000:
            fix = "Give a prefix rather than a list."
            problems.append(Problem("$.location", "must be text of at most 2000 characters", fix))
        if problems:
            raise ContractViolation("ctx.deliver was given what cannot be a deliverable", problems=problems)
        given = {"name": name, "count": count, "location": location, "usable": usable}
        self._delivered.append({key: one for key, one in given.items() if one is not None})

    def enqueue(
        self,
        task_type: str,
        tasks: Sequence[Mapping[str, Any]],
        *,
        priority: int | None = None,
        delay_s: float | None = None,
    ) -> None:
        """Lone tasks (`{"parameters": …, "key": …}` each) that exist when this task has finished, or never."""
        effect: dict[str, Any] = {"effect": "enqueue", "task_type": task_type, "tasks": [dict(one) for one in tasks]}
        if priority is not None:
            effect["priority"] = priority
        if delay_s is not None:
            effect["delay_s"] = delay_s
        self._effect(effect)

    def put_items(self, collection: str, items: Sequence[Mapping[str, Any]]) -> None:
        """STAC items, written with the finish of this task; what has their id is replaced."""
        self._effect({"effect": "put_items", "collection": collection, "items": [_dict_of(one) for one in items]})

    def delete_items(self, collection: str, ids: Sequence[str]) -> None:
        self._effect({"effect": "delete_items", "collection": collection, "ids": list(ids)})

    def put_collection(self, collection: Mapping[str, Any], *, replace: bool = False) -> None:
        """A STAC collection, written with the finish of this task, if it is not there or to replace it."""
        self._effect({"effect": "put_collection", "collection": _dict_of(collection), "replace": replace})

    def _effect(self, effect: dict[str, Any]) -> None:
        if len(self._effects) == MOST_EFFECTS:
            raise Permanent(f"a task may have {MOST_EFFECTS} effects: give many items or tasks to one")
        to_text(effect, "An effect holds what JSON cannot")
        self._effects.append(effect)

    def cancelled(self) -> bool:
        """True on time-out, cancel, lost lease and shutdown: nothing it returns then is kept."""
        return self._aborted is not None

    @property
    def why_cancelled(self) -> Aborted | None:
        return self._aborted

    def raise_if_cancelled(self) -> None:
        if self._aborted is not None:
            raise Cancelled(_WORDS[self._aborted])

    def _abort(self, why: Aborted) -> None:
        """Called by the worker, from a thread of its own."""
        first = self._aborted is None
        if first or why == "lost":
            self._aborted = why
        if self._event is not None:
            self._event.set()
        if first:
            for one in list(self._on_abort):
                one()

    def _stop_event(self) -> threading.Event:
        with _making:
            if self._event is None:
                self._event = threading.Event()
                if self._aborted is not None:
                    self._event.set()
            return self._event


def _finite(value: float | None) -> float:
    return value if isinstance(value, (int, float)) and math.isfinite(value) else 0


def _dict_of(value: Any) -> Any:
    """pystac's objects say what they are by to_dict()."""
    made = getattr(value, "to_dict", None)
    if callable(made):
        return made()
    if not isinstance(value, Mapping):
        raise ContractViolation(f"an item must be an object, not {kind_of(value)}")
    return dict(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
