"""Jobs as data: a list of stages, written in Python and saved on the server, which checks them with the same code and
the same words as those declared in TypeScript."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..problems import Problem
from .handlers import Handler
from .schemas import schema_of
from .shapes import Unsupported

T = TypeVar("T")

Planner = Callable[..., Any]


@dataclass(frozen=True)
class Plan:
    """A function that says which tasks a stage has: it runs on a worker that serves the job."""

    function: Planner

    @property
    def hash(self) -> str:
        """Another text of the function, another plan."""
        try:
            text = inspect.getsource(self.function)
        except (OSError, TypeError):
            text = getattr(self.function, "__qualname__", repr(self.function))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def plan(function: Planner) -> Plan:
    """Decorates a function (def or async def, returning or yielding) that gives `{"index", "parameters", …}` for each
    task."""
    return Plan(function)


def each(
    path: str, *, index: str | None = None, parameters: Mapping[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    """A task for each value that a JSONPath finds: `each("$.sources[*]", source="{item}", crs="{parameters.crs}")`."""
    return _data({"each": path}, index, parameters, fields)


def count(
    number: int | str, *, index: str | None = None, parameters: Mapping[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    """So many tasks: `count("{parameters.n}", n="{ordinal}")`."""
    return _data({"count": number}, index, parameters, fields)


def _data(
    what: dict[str, Any], index: str | None, parameters: Mapping[str, Any] | None, fields: Mapping[str, Any]
) -> dict[str, Any]:
    given = {**(parameters or {}), **fields}
    return {**what, **({"index": index} if index is not None else {}), **({"parameters": given} if given else {})}


@dataclass(frozen=True)
class Stage:
    name: str
    task: str
    tasks: Mapping[str, Any] | Plan | None = None
    options: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any]())

    def declaration(self) -> dict[str, Any]:
        options = {key: one for key, one in self.options.items() if one is not None}
        if isinstance(self.tasks, Plan):
            options["tasks"] = {"function": self.tasks.hash}
        elif self.tasks is not None:
            options["tasks"] = dict(self.tasks)
        return {"name": self.name, "task": self.task, **options}


def stage(
    name: str,
    task: Handler[..., Any] | str,
    tasks: Mapping[str, Any] | Plan | None = None,
    *,
    parallelism: str | None = None,
    after: Sequence[str] | None = None,
    failure_budget: Mapping[str, int | float] | None = None,
    max_parallel: int | None = None,
    **options: Any,
) -> Stage:
    """`task` is a handler of this app, or the name of one that another worker has, in Python or TypeScript. The
    options are those of defineJob: importance, on_task_failure, timeout_s, retry, batch, of, gate, when,
    description."""
    more: dict[str, Any] = {
        "parallelism": parallelism,
        "after": None if after is None else list(after),
        "failure_budget": None if failure_budget is None else dict(failure_budget),
        "max_parallel": max_parallel,
        **options,
    }
    return Stage(name, task if isinstance(task, str) else task.name, tasks, more)


@dataclass(frozen=True)
class Job(Generic[T]):
    type: str
    parameters: type[T] | None
    stages: Sequence[Stage]
    options: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any]())

    def declaration(self) -> dict[str, Any]:
        """As it is sent to the server; raises Unsupported when the parameters cannot be written as JSON Schema."""
        made: dict[str, Any] = {key: one for key, one in self.options.items() if one is not None}
        if self.parameters is not None:
            schema = schema_of(self.parameters)
            made["parameters"] = {**schema, "additionalProperties": False} if "properties" in schema else schema
        return {**made, "stages": [one.declaration() for one in self.stages]}

    @property
    def planners(self) -> dict[str, Plan]:
        return {one.name: one.tasks for one in self.stages if isinstance(one.tasks, Plan)}


def job(
    type: str,
    parameters: type[T] | None,
    stages: Sequence[Stage],
    *,
    description: str | None = None,
    identity: Sequence[str] | None = None,
    deadline_s: float | None = None,
    no_deadline: bool = False,
) -> Job[T]:
    """`parameters`: a pydantic model, a dataclass or a TypedDict, which becomes the JSON Schema that submits are
    checked by."""
    options: dict[str, Any] = {
        "description": description,
        "identity": None if identity is None else list(identity),
        "deadline_s": deadline_s,
    }
    if no_deadline:
        # None means "not said" among the options; this says that there is none.
        return _EndlessJob(type, parameters, stages, options)
    return Job(type, parameters, stages, options)


class _EndlessJob(Job[T]):
    def declaration(self) -> dict[str, Any]:
        return {**super().declaration(), "deadline_s": None}


def job_problems(one: Job[Any], problems: list[Problem]) -> None:
    """What can be told without the server, which tells the rest."""
    try:
        one.declaration()
    except Unsupported as error:
        problems.append(
            Problem(f"job {one.type}, parameters", str(error), "Use a pydantic model, a dataclass or a TypedDict.")
        )
