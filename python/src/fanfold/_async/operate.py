"""What can be learnt of jobs and tasks that exist, and what is done about them. One endpoint each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, cast

import httpx

from .._async.transport import AsyncTransport
from ..api import endpoints as api
from ..api import models
from ..api.endpoints import Endpoint
from ..errors import BadRequest


class AsyncCalls:
    def __init__(self, transport: AsyncTransport) -> None:
        self.transport = transport

    async def status(self, job_id: str) -> models.Job:
        return cast("models.Job", await self._ask(api.get_jobs_status_job_id, {"job_id": job_id}))

    def jobs(self, **filter: Any) -> AsyncIterator[models.ListedJob]:
        """Newest first."""
        return self.listed(api.get_jobs, "jobs", filter)

    async def counts(self, **filter: Any) -> Any:
        """By status, of those that fit."""
        return await self.transport.call(api.get_jobs_counts, query=filter)

    def tasks(self, job_id: str | None = None, **filter: Any) -> AsyncIterator[models.TaskSummary]:
        """Those of a job, or those that stand alone."""
        if job_id is None:
            return self.listed(api.get_tasks, "tasks", filter)
        return self.listed(api.get_jobs_job_id_tasks, "tasks", filter, {"job_id": job_id})

    def results(self, job_id: str, **filter: Any) -> AsyncIterator[models.TaskWithResult]:
        """The tasks of a job with what they were given and what they produced."""
        return self.listed(api.get_dbadmin_tasks_job_id, "tasks", filter, {"job_id": job_id})

    async def task(self, task_id: str) -> models.Task:
        return cast("models.Task", await self._ask(api.get_tasks_task_id, {"task_id": task_id}))

    async def logs(self, task_id: str, **filter: Any) -> Any:
        """What a task logged, a page of it."""
        return await self.transport.call(api.get_tasks_task_id_logs, params={"task_id": task_id}, query=filter)

    def events(self, job_id: str, **filter: Any) -> AsyncIterator[models.Event]:
        """What happened to a job, oldest first unless asked otherwise."""
        return self.listed(api.get_jobs_job_id_events, "events", filter, {"job_id": job_id})

    async def errors(self, job_id: str) -> list[models.ErrorGroup]:
        """The failures of a job in groups, largest first."""
        reply = await self._ask(api.get_jobs_job_id_errors, {"job_id": job_id})
        return cast("list[models.ErrorGroup]", reply["groups"])

    async def why(self, id: str) -> models.Why:
        """Why a job or a task does not move, or ended as it did."""
        if "-" in id:
            return cast("models.Why", await self._ask(api.get_tasks_task_id_why, {"task_id": id}))
        return cast("models.Why", await self._ask(api.get_jobs_job_id_why, {"job_id": id}))

    async def verify(self, job_id: str) -> models.Verified:
        """Proves the ledger of a job from its rows and files."""
        return cast("models.Verified", await self._ask(api.get_jobs_job_id_verify, {"job_id": job_id}))

    async def workers(self) -> list[models.Worker]:
        return cast("list[models.Worker]", (await self.transport.call(api.get_workers))["workers"])

    async def queues(self) -> list[models.Queue]:
        """What waits of each task type, and who serves it."""
        return cast("list[models.Queue]", (await self.transport.call(api.get_queues))["queues"])

    async def alerts(self) -> list[models.Alert]:
        return cast("list[models.Alert]", (await self.transport.call(api.get_alerts))["alerts"])

    async def download(self, ref: str, file: str | Path) -> Path:
        """A published file, named `silver:dem/scene-1/cog.tif`, by the address of an item's asset, or by a task that
        made it."""
        path = Path(file)
        part = path.with_name(f"{path.name}.part")
        headers: dict[str, str] | None = None
        if ref.startswith(("http://", "https://")):
            url, headers = ref, self.transport.headers() if ref.startswith(f"{self.transport.url}/") else None
        elif ":" in ref:
            zone, _, key = ref.partition(":")
            url = f"{self.transport.url}/assets/{httpx.URL('/').copy_with(path=f'/{zone}/{key}').raw_path.decode()[1:]}"
            headers = self.transport.headers()
        elif "-" in ref:
            url, headers = f"{self.transport.url}/api/tasks/{ref}/asset", self.transport.headers()
        else:
            raise BadRequest(f"{ref} names no file", hint="give zone:key, an address, or the id of a task")
        await self.transport.fetch(url, part, headers)
        part.replace(path)
        return path

    # What an operator does. `reason` and `actor` are for the record; `dry_run=True` only says what it would touch.

    async def cancel(self, job_id: str, **options: Any) -> Any:
        """What runs is told to stop, what is done stays."""
        return await self.verb(api.post_jobs_job_id_cancel, {"job_id": job_id}, options)

    async def pause(self, job_id: str, **options: Any) -> Any:
        return await self.verb(api.post_jobs_job_id_pause, {"job_id": job_id}, options)

    async def proceed(self, job_id: str, **options: Any) -> Any:
        """A paused job goes on."""
        return await self.verb(api.post_jobs_job_id_continue, {"job_id": job_id}, options)

    async def resume(self, job_id: str, **options: Any) -> models.Repaired:
        """What completed is kept, the rest runs again, under the same id."""
        return cast("models.Repaired", await self.verb(api.post_jobs_job_id_resume, {"job_id": job_id}, options))

    async def retry_stage(self, job_id: str, stage: str | int, **options: Any) -> Any:
        return await self.verb(api.post_jobs_retry_stage_job_id_stage, {"job_id": job_id, "stage": stage}, options)

    async def retry_group(self, job_id: str, signature: str, **options: Any) -> Any:
        """The tasks that failed with this signature (see errors) run again, and what follows them."""
        body = {**options, "signature": signature}
        return await self.verb(api.post_jobs_job_id_retry_group, {"job_id": job_id}, body)

    async def approve(self, job_id: str, **options: Any) -> Any:
        return await self.verb(api.post_jobs_job_id_approve, {"job_id": job_id}, options)

    async def reject(self, job_id: str, **options: Any) -> Any:
        return await self.verb(api.post_jobs_job_id_reject, {"job_id": job_id}, options)

    async def cancel_task(self, task_id: str, **options: Any) -> Any:
        return await self.verb(api.post_tasks_task_id_cancel, {"task_id": task_id}, options)

    async def retry_task(self, task_id: str, **options: Any) -> Any:
        return await self.verb(api.post_tasks_task_id_retry, {"task_id": task_id}, options)

    async def redo_task(self, task_id: str, **options: Any) -> Any:
        """A completed task runs again, with what depends on it: what it delivered is gone."""
        return await self.verb(api.post_tasks_task_id_redo, {"task_id": task_id}, options)

    async def skip_task(self, task_id: str, *, reason: str, **options: Any) -> Any:
        """A task counts as done without a result."""
        return await self.verb(api.post_tasks_task_id_skip, {"task_id": task_id}, {**options, "reason": reason})

    async def reschedule_task(self, task_id: str, run_at: str, **options: Any) -> Any:
        body = {**options, "run_at": run_at}
        return await self.verb(api.post_tasks_task_id_reschedule, {"task_id": task_id}, body)

    async def pause_type(self, task_type: str, **options: Any) -> Any:
        return await self.verb(api.post_task_types_task_type_pause, {"task_type": task_type}, options)

    async def proceed_type(self, task_type: str, **options: Any) -> Any:
        return await self.verb(api.post_task_types_task_type_continue, {"task_type": task_type}, options)

    # Job types as data.

    async def blueprints(self) -> list[models.Blueprint]:
        return cast("list[models.Blueprint]", (await self.transport.call(api.get_blueprints))["blueprints"])

    async def blueprint(self, job_type: str) -> models.Blueprint:
        return cast("models.Blueprint", await self._ask(api.get_blueprints_job_type, {"job_type": job_type}))

    async def save_blueprint(self, job_type: str, declaration: Mapping[str, Any]) -> Any:
        """All problems are told at once. Jobs that exist keep the blueprint they were submitted with."""
        params = {"job_type": job_type}
        return await self.transport.call(api.put_blueprints_job_type, params=params, body=declaration)

    async def validate_blueprint(self, job_type: str, declaration: Mapping[str, Any]) -> Any:
        """What saving would say; nothing is saved."""
        return await self.transport.call(api.post_blueprints_validate, body={**declaration, "type": job_type})

    async def _ask(self, endpoint: Endpoint, params: Mapping[str, Any]) -> Any:
        return await self.transport.call(endpoint, params=params)

    async def verb(self, endpoint: Endpoint, params: Mapping[str, Any], body: Mapping[str, Any]) -> Any:
        return await self.transport.call(
            endpoint, params=params, body=dict(body), repeatable=True if body.get("dry_run") is True else None
        )

    async def listed(
        self, endpoint: Endpoint, name: str, query: Mapping[str, Any], params: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Any]:
        cursor: str | None = None
        while True:
            page = await self.transport.call(endpoint, params=params, query={**query, "cursor": cursor})
            for one in page[name]:
                yield one
            cursor = page["next"]
            if cursor is None:
                return
