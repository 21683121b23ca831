"""What a worker serves, listed explicitly: handlers, jobs, and what they share. Nothing registers by being imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import ModuleType
from typing import Any

from .._async.context import AsyncContext
from .._sync.context import Context
from ..context import BaseContext
from ..declare.handlers import Handler, Signature, handler_problems
from ..declare.jobs import Job, Plan, job_problems
from ..errors import DeclarationError
from ..problems import Problem, kind_of, quoted
from .held import Served

Lifespan = Callable[[], AbstractAsyncContextManager[Any] | AbstractContextManager[Any]]


class App:
    def __init__(
        self,
        *,
        handlers: Iterable[Handler[..., Any]] = (),
        jobs: Iterable[Job[Any]] = (),
        lifespan: Lifespan | None = None,
        secrets: Callable[[str, str], str | None] | None = None,
        dask: Callable[[], Any] | None = None,
        ray_env: Mapping[str, Any] | None = None,
    ) -> None:
        """`lifespan`: a context manager, entered once per worker and per child process; what it gives is ctx.state.
        `secrets`: a vault, asked with tenant and name. `dask`: gives the Dask cluster of ctx.dask() (an address, or an
        object of a Gateway), instead of FANFOLD_DASK_ADDRESS. `ray_env`: Ray's runtime_env, with --executor ray."""
        self.handlers: Sequence[Handler[..., Any]] = tuple(handlers)
        self.jobs: Sequence[Job[Any]] = tuple(jobs)
        self.lifespan = lifespan
        self.secrets = secrets
        self.dask = dask
        self.ray_env = ray_env

    @classmethod
    def from_modules(cls, *modules: ModuleType, **options: Any) -> App:
        """All handlers and jobs that these modules name, in the order in which they stand there."""
        found = [one for module in modules for one in vars(module).values()]
        handlers: dict[int, Any] = {id(one): one for one in found if _is(one, Handler)}
        jobs: dict[int, Any] = {id(one): one for one in found if _is(one, Job)}
        return cls(handlers=handlers.values(), jobs=jobs.values(), **options)

    def registry(self) -> Registry:
        return Registry(self)


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind)


class Registry:
    """The app, checked: DeclarationError with everything that is wrong."""

    def __init__(self, app: App) -> None:
        problems: list[Problem] = []
        self.app = app
        self.served: dict[str, Served] = {}
        self.planners: dict[tuple[str, str], Plan] = {}
        for one in app.handlers:
            self._handler(one, problems)
        for found in app.jobs:
            self._job(found, problems)
        if not app.handlers and not app.jobs:
            problems.append(Problem("app", "has no handlers", "List them: App(handlers=[…])."))
        if problems:
            words = "A declaration is wrong" if len(problems) == 1 else f"{len(problems)} declarations are wrong"
            raise DeclarationError(words, problems=problems)

    def _handler(self, one: Any, problems: list[Problem]) -> None:
        if not _is(one, Handler):
            problems.append(
                Problem("app, handlers", f"holds {kind_of(one)}", 'Decorate the function: @handler("family.name").')
            )
            return
        found: Handler[..., Any] = one
        handler_problems(found, problems)
        if found.name in self.served:
            problems.append(Problem(f"handler {quoted(found.name)}", "is listed twice", "Rename one, or list it once."))
        signature = Signature(found.function, problems, f"handler {quoted(found.name)}")
        wanted = AsyncContext if found.is_async else Context
        given = signature.context_type
        if given is not None and given is not BaseContext and not issubclass(given, wanted):
            kind = "an async def" if found.is_async else "a def"
            words = f"{kind} takes {wanted.__name__}, not {given.__name__}"
            fix = f"Annotate {signature.context_name}: {wanted.__name__}."
            problems.append(Problem(f"handler {quoted(found.name)}", words, fix))
        kind = "process" if found.process else ("async" if found.is_async else "def")
        self.served[found.name] = Served(found, signature, kind)

    def _job(self, one: Any, problems: list[Problem]) -> None:
        if not _is(one, Job):
            problems.append(Problem("app, jobs", f"holds {kind_of(one)}", "Make it with job(…)."))
            return
        found: Job[Any] = one
        job_problems(found, problems)
        for name, plan in found.planners.items():
            self.planners[(found.type, name)] = plan

    @property
    def plans(self) -> list[str]:
        """The job types of which it has planners."""
        return sorted({job_type for job_type, _ in self.planners})
