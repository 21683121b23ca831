"""Handlers: functions with a name and rules. The decorator registers nothing: an App lists what it serves. What a
function takes and gives is read from its annotations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from ..context import BaseContext
from ..errors import ContractViolation
from ..problems import MAX_PROBLEMS, Problem, quoted
from .shapes import Reader, Unsupported, fields_reader, hints_of, is_model, reader_of

P = ParamSpec("P")
R = TypeVar("R")

TASK_TYPE = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*\Z")
TASK_TYPE_RULE = "words of small letters, digits and _ joined by dots, at most 63 characters"
MAX_TIMEOUT_S = 2_147_483
DEFAULT_MEMORY_MB = 2048
OPTIONS = ("process", "memory_mb", "timeout_s", "retry", "most", "ray")
RAY_OPTIONS = ("num_cpus", "num_gpus", "memory", "resources", "accelerator_type", "label_selector", "runtime_env")


@dataclass
class Handler(Generic[P, R]):
    """Still callable as the function it was made of."""

    name: str
    function: Callable[P, R]
    process: bool = False
    memory_mb: int = DEFAULT_MEMORY_MB
    timeout_s: float | None = None
    retry: Mapping[str, Any] | None = None
    most: int | None = None
    """At most so many of it at a time in one worker; None: as many as there are slots."""
    ray: Mapping[str, Any] | None = None
    """What it needs of a Ray cluster (`{"num_gpus": 1}`), where the worker runs its handlers on one."""
    options: dict[str, Any] = field(default_factory=lambda: dict[str, Any]())

    def __post_init__(self) -> None:
        self.__name__ = getattr(self.function, "__name__", self.name)
        self.__doc__ = self.function.__doc__
        self.__wrapped__ = self.function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.function)


@overload
def handler(name: str, function: Callable[P, R], **options: Any) -> Handler[P, R]: ...


@overload
def handler(
    name: str,
    *,
    process: bool = False,
    memory_mb: int = DEFAULT_MEMORY_MB,
    timeout_s: float | None = None,
    retry: Mapping[str, Any] | None = None,
    most: int | None = None,
    ray: Mapping[str, Any] | None = None,
    **options: Any,
) -> Callable[[Callable[P, R]], Handler[P, R]]: ...


def handler(name: str, function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`@handler("tiles.cog", process=True, memory_mb=4096, timeout_s=900)`, or `handler("tiles.cog", cog)`."""
    own = {key: options.pop(key) for key in OPTIONS if key in options}

    def made(found: Callable[..., Any]) -> Handler[..., Any]:
        return Handler(name, found, **own, options=options)

    return made if function is None else made(function)


class Signature:
    """How a function is called with a task's parameters, and how its result is checked."""

    def __init__(self, function: Callable[..., Any], problems: list[Problem], place: str) -> None:
        self._whole: Reader | None = None
        self._whole_name = ""
        self._fields: Reader | None = None
        self._rest = False
        self.context_name: str | None = None
        self.context_type: type[BaseContext] | None = None
        self._result: Reader | None = None
        self._result_class: type | None = None
        try:
            self._read(function)
        except Unsupported as error:
            fix = "Use a pydantic model, a dataclass, a TypedDict or a plain type."
            problems.append(Problem(place, str(error), fix))

    def _read(self, function: Callable[..., Any]) -> None:
        hints = hints_of(function)
        others: list[inspect.Parameter] = []
        for one in inspect.signature(function).parameters.values():
            hint = hints.get(one.name)
            if isinstance(hint, type) and issubclass(hint, BaseContext):
                self.context_name, self.context_type = one.name, hint
            elif one.name == "ctx" and hint is None:
                self.context_name = one.name
            elif one.kind is inspect.Parameter.VAR_KEYWORD:
                self._rest = True
            elif one.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY):
                raise Unsupported(f"its parameter {one.name} has no name that a task could give it by")
            else:
                others.append(one)
        if len(others) == 1 and not self._rest and (others[0].name not in hints or is_model(hints[others[0].name])):
            self._whole_name = others[0].name
            self._whole = reader_of(hints.get(others[0].name, Any))
        else:
            readers = {one.name: reader_of(hints.get(one.name, Any)) for one in others}
            required = {one.name for one in others if one.default is inspect.Parameter.empty}
            self._fields = fields_reader(readers, required, dict)
        self._read_result(hints.get("return"))

    def _read_result(self, hint: Any) -> None:
        if hint is None or hint in (dict, Any, object):
            return
        try:
            self._result = reader_of(hint)
            self._result_class = hint if isinstance(hint, type) and not hasattr(hint, "__required_keys__") else None
        except Unsupported:
            # What cannot be checked is not: a generator or an array has its own rules where it is written as JSON.
            self._result = None

    def arguments(self, name: str, parameters: Any) -> dict[str, Any]:
        """Keyword arguments; ContractViolation with every problem."""
        problems: list[Problem] = []
        if self._whole is not None:
            made: dict[str, Any] = {self._whole_name: self._whole(parameters, (), problems)}
        elif self._fields is not None:
            found = self._fields(parameters, (), problems)
            if problems:
                made = {}
            else:
                given = cast("dict[str, Any]", parameters)
                made = {**given, **found} if self._rest else found
        else:
            made = {}
        if problems:
            raise ContractViolation(f"the parameters of {name} are not right", problems=problems[:MAX_PROBLEMS])
        return made

    @property
    def checks_result(self) -> bool:
        return self._result is not None

    def is_result(self, value: object) -> bool:
        return self._result_class is not None and isinstance(value, self._result_class)

    def check_result(self, name: str, value: Any) -> None:
        if self._result is None:
            return
        problems: list[Problem] = []
        self._result(value, (), problems)
        if problems:
            raise ContractViolation(f"{name} returned what it does not promise", problems=problems[:MAX_PROBLEMS])


def handler_problems(one: Handler[..., Any], problems: list[Problem]) -> None:
    place = f"handler {quoted(one.name)}"
    if not TASK_TYPE.match(one.name) or len(one.name) > 63:
        problems.append(
            Problem(place, f"{quoted(one.name)} is not a task type: {TASK_TYPE_RULE}", 'Write e.g. "tiles.cog".')
        )
    for name in one.options:
        problems.append(Problem(f"{place}, {name}", "there is no such option", f"Known: {', '.join(OPTIONS)}."))
    for name in one.ray or {}:
        if name not in RAY_OPTIONS:
            fix = f"Known: {', '.join(RAY_OPTIONS)}. Whether a task is tried again is the stage's to say."
            problems.append(Problem(f"{place}, ray, {name}", "is not for a handler to say", fix))
    if one.timeout_s is not None and not 0 < one.timeout_s <= MAX_TIMEOUT_S:
        problems.append(
            Problem(f"{place}, timeout_s", f"must be a number of seconds up to {MAX_TIMEOUT_S}", "Leave it out: 1800.")
        )
    if one.memory_mb < 16:
        problems.append(
            Problem(f"{place}, memory_mb", "must be a whole number from 16", f"Leave it out: {DEFAULT_MEMORY_MB}.")
        )
    if one.most is not None and one.most < 1:
        problems.append(
            Problem(f"{place}, most", "must be a whole number from 1", "Leave it out for as many as there are slots.")
        )
    if not callable(one.function):
        problems.append(Problem(place, "is not a function", "Decorate a function."))
    elif inspect.isasyncgenfunction(one.function) or inspect.isgeneratorfunction(one.function):
        problems.append(Problem(place, "is a generator: a handler returns once", "Return a list, or make it a @plan."))
    if one.process and one.is_async:
        problems.append(Problem(f"{place}, process", "an async def cannot run in a process of its own", "Write def."))
    if one.process and "<" in getattr(one.function, "__qualname__", "<"):
        fix = "Move it to the top of its module: the child process imports it."
        problems.append(Problem(f"{place}, process", "must be a function that a module names", fix))
