"""The vectors that every worker is held to: how errors are classified, which values can be stored, what a return value means."""

from __future__ import annotations

import errno
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fanfold import Context, Permanent, Throttled, Transient
from fanfold.classify import classify
from fanfold.context import BaseContext, Services
from fanfold.declare.handlers import Signature
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


@pytest.mark.parametrize("name", ["classification", "values", "outcomes"])
def test_there_are_vectors(name: str) -> None:
    assert len(vectors(name)) > 5
