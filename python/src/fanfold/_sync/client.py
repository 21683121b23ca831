# Made by scripts/generate.py from its twin in _async: do not edit.
"""The client: submit jobs, wait for them, follow them, and act on them. Every method is one call or a page of them."""

from __future__ import annotations

import time
import time as clock
from collections.abc import Iterator, Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import httpx

from .._sync.platform import Releases, Requests
from .._sync.stac import Stac
from .._sync.stream import TERMINAL, Streamed, stream_events
from .._sync.transport import Transport, is_passing
from .._sync.uploads import Uploads
from ..api import endpoints as api
from ..api import models
from ..classify import retry_after
from ..declare.jobs import Job
from ..errors import FanfoldError, NotAllowedNow, StillRunning
from ..retries import read_body
from ..values import to_text

MOST_AT_ONCE = 1_000
MOST_ENQUEUED = 5_000
MOST_BYTES = 900_000


class Client(Stac):
    def __init__(
        self,
        url: str | None = None,
        key: str | Callable[[], str] | None = None,
        *,
        retries: int = 4,
        timeout_s: float = 30,
        longest_wait_s: float = 60,
        http: httpx.Client | None = None,
    ) -> None:
        """`url` and `key` default to FANFOLD_URL and FANFOLD_KEY."""
        super().__init__(
            Transport(url, key, retries=retries, timeout_s=timeout_s, longest_wait_s=longest_wait_s, http=http)
        )
        self.requests = Requests(self)
        self.releases = Releases(self)
        self.uploads = Uploads(self)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.transport.close()

    def submit(
        self, job: Job[Any] | str, parameters: object = None, *, traceparent: str | None = None, **options: Any
    ) -> models.Submitted:
        """The same parameters again are the same job, unless `mode="force"`. Options are those of the HTTP call."""
        return cast("models.Submitted", self._submit(job, parameters, options, traceparent))

    def dry_run(self, job: Job[Any] | str, parameters: object = None, **options: Any) -> models.WouldSubmit:
        """What submit would do, and what it would be refused for. Nothing is written."""
        return cast("models.WouldSubmit", self._submit(job, parameters, {**options, "dry_run": True}, None))

    def _submit(
        self, job: Job[Any] | str, parameters: object, options: Mapping[str, Any], traceparent: str | None
    ) -> Any:
        return self.transport.call(
            api.post_jobs_submit_job_type,
            params={"job_type": job_type(job)},
            body={**options, "parameters": {} if parameters is None else parameters},
            headers={"traceparent": traceparent} if traceparent else None,
            repeatable=options.get("mode") != "force",
        )

    def submit_many(
        self, job: Job[Any] | str, items: Iterable[object], *, mode: str | None = None
    ) -> list[models.Submitted]:
        """Parameters of many jobs. Each call of up to 1,000 is one transaction; all together are not."""
        found: list[models.Submitted] = []
        for batch in _batches(({"parameters": one} for one in items), MOST_AT_ONCE):
            asked = f'"mode":{to_text(mode)},' if mode else ""
            text = f'{{{asked}"items":[{",".join(batch)}]}}'
            reply = self.transport.call(
                api.post_jobs_submit_job_type_batch,
                params={"job_type": job_type(job)},
                text=text,
                repeatable=mode != "force",
            )
            found += reply["jobs"]
        return found

    def enqueue(self, task_type: str, parameters: object = None, **options: Any) -> str:
        """A task that stands alone; its id."""
        reply = self.transport.call(
            api.post_tasks_enqueue_task_type,
            params={"task_type": task_type},
            body={**options, "parameters": {} if parameters is None else parameters},
            repeatable="idempotency_key" in options,
        )
        return str(reply["task_ids"][0])

    def enqueue_many(self, task_type: str, items: Iterable[object]) -> list[str]:
        """Parameters of many lone tasks. A call that is lost on the way is not sent again: it might have arrived."""
        ids: list[str] = []
        for batch in _batches(({"parameters": one} for one in items), MOST_ENQUEUED):
            reply = self.transport.call(
                api.post_tasks_enqueue_task_type,
                params={"task_type": task_type},
                text=f'{{"items":[{",".join(batch)}]}}',
            )
            ids += reply["task_ids"]
        return ids

    def wait(
        self,
        job_id: str,
        *,
        timeout_s: float | None = None,
        on_status: Callable[[models.Job], object] | None = None,
        patience_s: float = 60,
    ) -> models.Job:
        """The job at its end, whatever that is. A service that is away for a while is waited for as well."""
        ends_at = None if timeout_s is None else clock.monotonic() + timeout_s
        job: models.Job | None = None
        away_since: float | None = None
        # Whoever wants to see progress asks; others are answered when there is something to tell.
        query = {"wait": "true"} if on_status is None else {"status_code": "true"}
        while True:
            began = clock.monotonic()
            again_s = 1.0
            try:
                limit = 40.0 if ends_at is None else max(0.05, min(40.0, ends_at - began))
                answer = self.transport.answer(
                    api.get_jobs_status_job_id,
                    params={"job_id": job_id},
                    query=query,
                    timeout_s=limit,
                    retries=0,
                )
                job = cast("models.Job", read_body(api.get_jobs_status_job_id, answer))
                away_since = None
                if on_status is not None:
                    on_status(job)
                if job["status"] in TERMINAL:
                    return job
                again_s = retry_after(answer.headers) or 1.0
            except FanfoldError as error:
                if not is_passing(error):
                    raise
                held = error.code == "timeout" and ends_at is not None and clock.monotonic() >= ends_at
                away_since = began if away_since is None else away_since
                if not held and clock.monotonic() - away_since > patience_s:
                    raise
                again_s = max(again_s, cast("float", getattr(error, "retry_after_s", None) or 0))
            # A call that was held has waited already.
            rest = max(0.0, again_s - (clock.monotonic() - began))
            left = rest if ends_at is None else max(0.0, ends_at - clock.monotonic())
            time.sleep(min(rest, left))
            if ends_at is not None and clock.monotonic() >= ends_at:
                raise StillRunning(f"job {job_id[:12]} has not ended within {timeout_s:g} s", job)

    def result(self, job_id: str) -> Any:
        """Of a job that has ended; None when its last stage was not one task."""
        answer = self.transport.answer(api.get_jobs_job_id_result, params={"job_id": job_id})
        if answer.status_code == 202:
            hint = f"wait for it, or ask again in {retry_after(answer.headers) or 1:g} s"
            raise NotAllowedNow(f"job {job_id[:12]} is under way and has no result yet", hint=hint)
        return read_body(api.get_jobs_job_id_result, answer)["result"]

    def run(
        self, job: Job[Any] | str, parameters: object = None, *, timeout_s: float | None = None, **options: Any
    ) -> models.Job:
        """Submits and waits."""
        submitted = self.submit(job, parameters, **options)
        return self.wait(submitted["job_id"], timeout_s=timeout_s)

    def stream(
        self,
        job_id: str | None = None,
        *,
        follow: bool = False,
        last_event_id: str = "",
        patience_s: float = 60,
    ) -> Iterator[Streamed]:
        """What happens, as it happens; of one job it ends with the job unless it is told to follow."""
        return stream_events(
            self.transport, job_id=job_id, follow=follow, last_event_id=last_event_id, patience_s=patience_s
        )

    def save_job(self, job: Job[Any]) -> Any:
        """The job as a blueprint, as a worker saves it when it starts. All problems are told at once."""
        return self.save_blueprint(job.type, job.declaration())

    def upload(self, source: str | Path | bytes, key: str, **options: Any) -> models.Upload:
        """A file (or bytes) into bronze, in parts: see `uploads.put`."""
        return self.uploads.put(source, key, **options)


def job_type(job: Job[Any] | str) -> str:
    return job if isinstance(job, str) else job.type


def _batches(items: Iterable[dict[str, object]], most: int) -> Iterable[list[str]]:
    """As many at a time as one call takes, written already."""
    batch: list[str] = []
    size = 0
    for item in items:
        text = to_text(item)
        if batch and (len(batch) == most or size + len(text) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text) + 1
    if batch:
        yield batch
