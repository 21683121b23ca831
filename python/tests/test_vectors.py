"""The vectors that every worker is held to: how errors are classified, which values can be stored, what a return value
means, and what the server answers."""

from __future__ import annotations

import errno
import json
import math
import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from conftest import Service

from fanfold import Client, Context, Permanent, Throttled, Transient
from fanfold._sync.transport import Transport
from fanfold.api.endpoints import Endpoint
from fanfold.classify import classify
from fanfold.context import BaseContext, Services
from fanfold.declare.handlers import Signature
from fanfold.errors import FanfoldError
from fanfold.values import value_problems
from fanfold.worker.outcome import ended_well

FOLDER = Path(__file__).parent.parent.parent / "test" / "vectors" / "worker"


def vectors(name: str) -> list[dict[str, Any]]:
    return json.loads((FOLDER / f"{name}.json").read_text())


def raised(error: dict[str, Any]) -> BaseException | None:
    """An exception as a library of Python says the same; None where none does."""
    if "wraps" in error:
        outside = RuntimeError("outside")
        outside.__cause__ = raised(error["wraps"])
        return outside
    if "own" in error:
        told = error["own"]
        if told["kind"] == "throttled":
            return Throttled(told.get("retry_after_s"), told["message"], code=told.get("code"))
        return {"transient": Transient, "permanent": Permanent}[told["kind"]](told["message"], code=told.get("code"))
    if "http_status" in error:
        made: Any = RuntimeError("over HTTP")
        made.status_code, made.headers = error["http_status"], error.get("headers", {})
        return made
    if "sqlstate" in error:
        made = RuntimeError("of a database")
        made.sqlstate = error["sqlstate"]
        return made
    if "errno" in error:
        number = getattr(errno, error["errno"], None)
        return None if number is None else OSError(number, "of the system")
    if error.get("name") in ("AbortError", "TimeoutError"):
        return TimeoutError("took too long")
    return None


def test_errors_are_classified_as_by_every_worker() -> None:
    compared = 0
    for one in vectors("classification"):
        error = raised(one["error"])
        if error is None:
            continue
        compared += 1
        found = classify(error)
        told = {"category": found.category, "code": found.code, "retry_after_s": found.retry_after_s}
        assert {**told, **one["gives"]} == told, one["what"]
    assert compared > 20


def number(text: str) -> float:
    """A number is a double in the vectors; an integer of Python is exact, and beyond 2^53 it is refused by this worker."""
    return int(text) if abs(int(text)) < 2**53 else float(text)


def test_values_are_refused_as_by_every_worker() -> None:
    for one in vectors("values"):
        value = json.loads(
            one["json"], parse_int=number, parse_constant=lambda word: math.nan if word == "NaN" else math.inf
        )
        assert [problem.path for problem in value_problems(value)] == one["problems"], one["what"]


class Nobody:
    def ask(self, ctx: BaseContext, verb: str, given: Mapping[str, Any]) -> Any:
        raise AssertionError("nothing is asked")


def test_what_is_returned_means_the_same_to_every_worker() -> None:
    def anything() -> Any: ...

    signature = Signature(anything, [], "test")
    for one in vectors("outcomes"):
        ctx = Context({"task_id": "1-0"}, {}, Services(), Nobody())
        end = ended_well(ctx, "test", signature, one["returned"])
        gives = one["gives"]
        if "error" in gives:
            assert end.failure is not None, one["what"]
            told = end.failure.told()
            assert {**told, **gives["error"]} == told, one["what"]
        else:
            assert end.result is not None, (one["what"], end.failure)
            assert json.loads(end.result) == gives.get("result"), one["what"]
            over = None if end.next_stage_params is None else json.loads(end.next_stage_params)
            assert over == gives.get("next_stage_params"), one["what"]


def filled(value: Any, kept: Mapping[str, Any]) -> Any:
    """`{name}` in texts; a text that is nothing else becomes what was kept."""
    if isinstance(value, str):
        alone = re.fullmatch(r"\{(\w+)\}", value)
        return kept[alone[1]] if alone else re.sub(r"\{(\w+)\}", lambda found: str(kept[found[1]]), value)
    if isinstance(value, list):
        return [filled(one, kept) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: filled(one, kept) for name, one in cast("dict[str, Any]", value).items()}
    return value


def fits(pattern: Any, told: Any) -> bool:
    """Objects may have more, lists may not."""
    if pattern in ("$text", "$number"):
        return isinstance(told, str if pattern == "$text" else (int, float))
    if isinstance(pattern, list):
        wanted, came = cast("list[Any]", pattern), cast("list[Any]", told)
        return isinstance(told, list) and len(wanted) == len(came) and all(map(fits, wanted, came))
    if isinstance(pattern, dict):
        named = cast("dict[str, Any]", pattern)
        return isinstance(told, dict) and all(name in told and fits(one, told[name]) for name, one in named.items())
    return told == pattern


def at(told: Any, place: str) -> Any:
    for part in place.split("."):
        told = told[int(part) if part.isdigit() else part]
    return told


def told_by(error: FanfoldError) -> dict[str, Any]:
    problems = [{"path": one.path, "problem": one.problem, "fix": one.fix} for one in error.problems]
    return {"code": error.code, "status": error.http_status, "problems": problems}


@pytest.mark.parametrize("place", range(len(vectors("calls"))))
def test_a_call_is_answered_as_to_every_worker(place: int, service: Service, client: Client) -> None:
    one = vectors("calls")[place]
    # Others of this tenant have nothing to do with what is enqueued here.
    steps = json.loads(json.dumps(one["steps"]).replace("v.lone", f"v.lone_{uuid.uuid4().hex[:8]}"))
    kept: dict[str, Any] = {}
    with Transport(service.url, service.key) as transport:
        for number, step in enumerate(steps):
            # Only what some worker has reported can be enqueued.
            if number == 1:
                for given in cast("list[Any]", one["setup"]["enqueue"]):
                    client.enqueue(steps[0]["body"]["types"][0], given["parameters"])
            method, _, path = filled(step["call"], kept).partition(" ")
            sent = step.get("bytes")
            kind = "application/json" if sent is None else "application/octet-stream"
            told: Any = None
            try:
                answer = transport.answer(
                    Endpoint(method, path, False, ()),
                    # As it stands: what cannot be stored is the server's to refuse here.
                    text=sent or (json.dumps(filled(step["body"], kept)) if "body" in step else None),
                    headers={"content-type": kind, **step.get("headers", {})},
                )
                status, text = answer.status_code, answer.text
            except FanfoldError as error:
                status, text, told = error.http_status, "", told_by(error)
            assert (step["call"], status) == (step["call"], step["status"]), (text, told)
            assert text == step.get("text", text)
            if "reply" in step or "keep" in step:
                told = json.loads(text) if told is None else told
                assert fits(filled(step.get("reply", {}), kept), told), (step["call"], told)
            for name, path in step.get("keep", {}).items():
                kept[name] = at(told, path)


@pytest.mark.parametrize("name", ["calls", "classification", "values", "outcomes"])
def test_there_are_vectors(name: str) -> None:
    assert len(vectors(name)) > 3
