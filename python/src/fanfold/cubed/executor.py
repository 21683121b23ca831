"""The executor that a script gives to cubed: saves its plan, submits it as a job, and waits. The job goes on without the
script; the same script again finds it, and what is done is done."""

# The class it builds on belongs to a library that tells no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cubed import Spec  # pyright: ignore[reportMissingImports]
from cubed.runtime.types import DagExecutor, OperationEndEvent, OperationStartEvent, TaskEndEvent  # pyright: ignore[reportMissingImports]

from .._sync.client import Client
from ..errors import BadRequest, FanfoldError
from .plans import RUN, Op, ops_of, signature_of, targets_of, write_plan
from .task import TASK_TYPE

AGAIN = ("failed", "partial_success", "cancelled")
ENDED = ("completed", *AGAIN)
LOOK_S = 1.0


class ComputationFailed(FanfoldError):
    """Some chunks could not be computed; the others are. The same script again tries those that failed."""

    code = "computation_failed"

    def __init__(self, title: str, job_id: str) -> None:
        super().__init__(title, hint="run the same script again: what is done is kept, what failed is tried again")
        self.job_id = job_id


class FanfoldExecutor(DagExecutor):  # pyright: ignore[reportUntypedBaseClass]
    def __init__(
        self,
        work_dir: str,
        run: str,
        *,
        client: Client | None = None,
        max_parallel: int | None = None,
        retry: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """`work_dir`: where chunks between operations lie, for this script and all workers (a shared folder, s3://…).
        `run`: the computation's name. The same script under the same name goes on where it was."""
        super().__init__()
        if not RUN.match(run):
            words = f"{run!r} is no name for a run: letters, digits, dots, _ and -, at most 100"
            raise BadRequest(words, hint='write e.g. "ndvi-2024"')
        self.run, self.folder = run, f"{str(work_dir).rstrip('/')}/{run}"
        self.job_id: str | None = None
        self._client, self._max_parallel, self._retry = client, max_parallel, retry
        self._labels = {"cubed_run": run, **(labels or {})}

    def __getstate__(self) -> dict[str, Any]:
        """Functions of a plan refer to their spec, and it to this: its connection is not for the workers."""
        return {**self.__dict__, "_client": None}

    @property
    def name(self) -> str:
        return "fanfold"

    def spec(self, **options: Any) -> Any:
        """A cubed.Spec whose arrays have the same places on every start, and stay there when the script ends."""
        return Spec(intermediate_store=self.folder, executor=self, **options)

    def execute_dag(
        self,
        dag: Any,
        callbacks: Sequence[Any] | None = None,
        spec: Any = None,
        compute_id: str | None = None,
        **_: Any,
    ) -> None:
        if spec is None or spec.intermediate_store != self.folder:
            words = "the arrays were made with a spec of their own, whose chunks are gone when this script ends"
            raise BadRequest(words, hint="make it with executor.spec(allowed_mem=…), and give it to all arrays")
        ops, work = ops_of(dag)
        if not ops:
            return
        signature = signature_of(dag)
        targets = targets_of(dag, list(work))
        plan, sha256 = write_plan(self.folder, signature, work, int(spec.allowed_mem), targets)
        client = self._client or Client()
        try:
            self._compute(client, signature, ops, {"plan": plan, "sha256": sha256}, callbacks or ())
        finally:
            if self._client is None:
                client.close()

    def _compute(
        self, client: Client, signature: str, ops: Sequence[Op], parameters: Mapping[str, str], callbacks: Sequence[Any]
    ) -> None:
        job_type = f"cubed_{signature}"
        client.save_blueprint(job_type, self._declaration(ops))
        submitted = client.submit(job_type, parameters, labels=self._labels)
        self.job_id = job_id = submitted["job_id"]
        if client.status(job_id)["status"] in AGAIN:
            client.resume(job_id, reason=f"the run {self.run} was started again")
        watching = Watching(ops, callbacks)
        while True:
            job = client.status(job_id)
            watching.look(job["stages"])
            if job["status"] in ENDED:
                break
            time.sleep(LOOK_S)
        if job["status"] != "completed":
            groups = client.errors(job_id)
            why = f": {groups[0]['tasks']} × {groups[0]['message']}" if groups else ""
            raise ComputationFailed(f"job {job_id[:12]} of the run {self.run} ended as {job['status']}{why}", job_id)

    def _declaration(self, ops: Sequence[Op]) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if self._max_parallel is not None:
            more["max_parallel"] = self._max_parallel
        if self._retry is not None:
            more["retry"] = dict(self._retry)
        text = {"type": "string"}
        return {
            "description": f"cubed: {self.run}",
            "parameters": {
                "type": "object",
                "properties": {"plan": text, "sha256": text},
                "required": ["plan", "sha256"],
                "additionalProperties": False,
            },
            "deadline_s": None,
            "stages": [
                {
                    "name": one.stage,
                    "task": TASK_TYPE,
                    "after": list(one.after),
                    "tasks": {"count": one.tasks, "parameters": {"op": one.name, "i": "{ordinal}"}},
                    **more,
                }
                for one in ops
            ],
        }


class Watching:
    """Tells cubed's callbacks (progress bars, histories) what the stages say."""

    def __init__(self, ops: Sequence[Op], callbacks: Sequence[Any]) -> None:
        self._ops = {one.stage: one.name for one in ops}
        self._callbacks = callbacks
        self._begun: set[str] = set()
        self._done: dict[str, int] = {}
        self._ended: set[str] = set()

    def look(self, stages: Sequence[Any]) -> None:
        for stage in stages:
            name = self._ops[stage["name"]]
            if stage["completed"] == 0 and stage["status"] in ("waiting", "planning"):
                continue
            if name not in self._begun:
                self._begun.add(name)
                self._tell(lambda one, name=name: one.on_operation_start(OperationStartEvent(name)))
            more = stage["completed"] - self._done.get(name, 0)
            if more > 0:
                self._done[name] = stage["completed"]
                self._tell(lambda one, name=name, more=more: one.on_task_end(TaskEndEvent(name, num_tasks=more)))
            if stage["status"] == "completed" and name not in self._ended:
                self._ended.add(name)
                self._tell(lambda one, name=name: one.on_operation_end(OperationEndEvent(name)))

    def _tell(self, tell: Callable[[Any], Any]) -> None:
        for one in self._callbacks:
            tell(one)
