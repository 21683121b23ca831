"""Function planners: what a @plan function yields goes to the service page by page, and is there when it says that all
was told."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from ..api.endpoints import Endpoint
from ..context import BaseContext
from ..declare.jobs import Plan
from ..declare.shapes import hints_of, is_model, reader_of
from ..errors import BadRequest, ContractViolation, NotAllowedNow, Transient
from ..problems import MAX_PROBLEMS, Problem, kind_of
from ..tasklog import current
from ..values import to_text
from .held import Held
from .outcome import End, ended_badly

if TYPE_CHECKING:
    from .engine import Engine

PLAN = Endpoint("POST", "/api/workers/{worker_id}/plan", True, (200,))
DONE = Endpoint("POST", "/api/workers/{worker_id}/plan/done", True, (200,))
MOST_TASKS = 5_000
MOST_BYTES = 8 * 1024 * 1024


class Planning:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def start(self, held: Held) -> None:
        """From any thread: planners run in the main loop, blocking ones in a thread beside it."""
        loop = self._engine.runner.main_loop
        if loop is not None:

            def begin() -> None:
                ctx = self._engine.runner.open_context(held)
                held.runs = loop.create_task(self._run(held, ctx))

            loop.call_soon_threadsafe(begin)

    async def _run(self, held: Held, ctx: BaseContext) -> None:
        current.set(ctx)
        end: End | None
        try:
            await self._plan(held, ctx)
            # The plan is told: nothing more is said of its task.
            end = None
        except NotAllowedNow:
            ctx._abort("lost")  # pyright: ignore[reportPrivateUsage]
            end = None
        except BadRequest as error:
            told = ContractViolation(error.title, problems=error.problems)
            end = ended_badly(ctx, told)
        except (Exception, asyncio.CancelledError) as error:
            end = ended_badly(ctx, error)
        self._engine.runner.ended(held, end, None)

    async def _plan(self, held: Held, ctx: BaseContext) -> None:
        found = self._engine.registry.planners.get((str(held.stage["job_type"]), held.stage["stage"]))
        place = {"task_id": held.task_id, "claim_id": held.claim_id}
        if found is None:
            if held.stage.get("planner") == "data":
                await self._call(held, DONE, {**place, "by_data": True})
                return
            words = f"this worker has no planner for stage {held.stage['stage']} of {held.stage['job_type']}"
            raise Transient(words, code="no_planner")
        sent, size, first = 0, 0, True
        page: list[str] = []
        async for task in self._tasks(found, ctx):
            text = to_text(planned(task, sent + len(page)), "A planner yielded what JSON cannot hold")
            if page and (len(page) == MOST_TASKS or size + len(text) > MOST_BYTES):
                await self._page(held, sent, page)
                sent, page, size, first = sent + len(page), [], 0, False
            page.append(text)
            size += len(text)
            ctx.raise_if_cancelled()
        # The first page is sent also if it is empty: it wipes what a dead planner left.
        if page or first:
            await self._page(held, sent, page)
            sent += len(page)
        await self._call(held, DONE, {**place, "total": sent, "plan_hash": found.hash})

    async def _page(self, held: Held, start: int, page: list[str]) -> None:
        head = json.dumps({"task_id": held.task_id, "claim_id": held.claim_id, "from": start})
        await self._call(held, PLAN, None, f'{head[:-1]},"tasks":[{",".join(page)}]}}')

    async def _call(self, held: Held, endpoint: Endpoint, body: Any, text: str | None = None) -> Any:
        work = self._engine.call(endpoint, {"worker_id": held.life.worker_id}, body, text)
        return await asyncio.wrap_future(work)

    async def _tasks(self, found: Plan, ctx: BaseContext) -> AsyncIterator[Any]:
        function = found.function
        arguments = plan_arguments(function, ctx)
        if inspect.isasyncgenfunction(function):
            async for one in function(**arguments):
                yield one
            return
        if inspect.iscoroutinefunction(function):
            made = await function(**arguments)
        else:
            # A search that blocks must not block the handlers of the loop.
            made = await asyncio.to_thread(lambda: _listed(function(**arguments)))
        if hasattr(made, "__aiter__"):
            async for one in made:
                yield one
        else:
            for one in made:
                yield one


def _listed(made: Any) -> Any:
    return list(made) if inspect.isgenerator(made) else made


def plan_arguments(function: Any, ctx: Any) -> dict[str, Any]:
    """By name or annotation: the job's parameters, `previous`, `ctx`."""
    hints = hints_of(function)
    problems: list[Problem] = []
    arguments: dict[str, Any] = {}
    for name in inspect.signature(function).parameters:
        hint = hints.get(name)
        if name == "previous" or (hint is not None and "Previous" in getattr(hint, "__name__", "")):
            arguments[name] = ctx.previous()
        elif name == "ctx" or (isinstance(hint, type) and issubclass(hint, BaseContext)):
            arguments[name] = ctx
        elif hint is None or is_model(hint):
            arguments[name] = reader_of(hint if hint is not None else Any)(ctx.parameters, (), problems)
        else:
            given = cast("Mapping[str, Any]", ctx.parameters)
            arguments[name] = reader_of(hint)(given.get(name), (name,), problems)
    if problems:
        raise ContractViolation(
            "the parameters of the job are not what its planner takes", problems=problems[:MAX_PROBLEMS]
        )
    return arguments


_KEYS = frozenset({"index", "parameters", "metadata", "parent", "bbox"})


def planned(task: Any, place: int) -> dict[str, Any]:
    if not isinstance(task, Mapping):
        raise ContractViolation(f"task {place} of the plan is {kind_of(task)}; yield {{'index': …, 'parameters': …}}")
    given = dict(cast("Mapping[str, Any]", task))
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        raise ContractViolation(
            f"task {place} of the plan has {', '.join(unknown)}: known are {', '.join(sorted(_KEYS))}"
        )
    return {key: one for key, one in given.items() if one is not None}
