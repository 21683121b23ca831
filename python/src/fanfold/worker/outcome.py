"""What a handler returned or raised, as it is told: JSON text of one task in a finish. Made where the handler ran, so
that only text travels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..classify import Failure, Verdict, classify, failure_of, usable_code
from ..context import BaseContext
from ..declare.handlers import Signature
from ..errors import Category, FanfoldError, ValueProblems
from ..values import to_text

LARGEST_RESULT = 1024 * 1024
_ENVELOPE = frozenset({"success", "result", "next_stage_params"})


@dataclass
class End:
    """One of the two: the text of the result, or the failure."""

    result: str | None = None
    next_stage_params: str | None = None
    failure: Failure | None = None


def ended_well(ctx: BaseContext, name: str, signature: Signature, value: Any) -> End:
    try:
        if signature.checks_result and value is not None and not signature.is_result(value):
            signature.check_result(name, json.loads(to_text(value, _UNWRITABLE)))
        return _outcome(ctx, value)
    except Exception as error:
        return End(failure=clean(ctx, _bad_result(error)))


_UNWRITABLE = "The handler returned what JSON cannot hold"


def _bad_result(error: Exception) -> Failure:
    if isinstance(error, ValueProblems):
        problems = {"problems": [one.told() for one in error.problems]}
        return failure_of(error, Verdict("contract", "bad_result", detail=problems))
    if isinstance(error, FanfoldError):
        return classify(error)
    failure = failure_of(error, Verdict("contract", "bad_result"))
    failure.message = f"the result could not be read: {failure.message}"
    return failure


def _outcome(ctx: BaseContext, value: Any) -> End:
    """`{"success": False, …}` is a failure, as if raised. `{"success": True, "result", "next_stage_params"}` and any
    object with `next_stage_params` hand that part to the next stage. All else is the result."""
    if type(value) is dict:
        given = cast("dict[str, Any]", value)
        if given.get("success") is False:
            return End(failure=clean(ctx, returned_failure(given)))
        if given.get("success") is True and len(given) > 1 and given.keys() <= _ENVELOPE:
            return _done(ctx, given.get("result"), given.get("next_stage_params"))
        if "next_stage_params" in given:
            rest = {key: one for key, one in given.items() if key != "next_stage_params"}
            return _done(ctx, rest, given["next_stage_params"])
    return _done(ctx, value, None)


def _done(ctx: BaseContext, result: Any, handed_over: Any) -> End:
    private = cast("Any", ctx)
    text = "null" if result is None else to_text(result, _UNWRITABLE)
    if private._redaction is not None:
        text = to_text(private._redaction.value(json.loads(text)))
    over: str | None = private._handed_over
    if over is None and handed_over is not None:
        over = to_text(handed_over, _UNWRITABLE)
    return End(result=text, next_stage_params=over)


def returned_failure(value: Mapping[str, Any]) -> Failure:
    error, retry, wait = value.get("error"), value.get("retry"), value.get("retry_after_s")
    raised = classify(error) if isinstance(error, BaseException) else None
    waits = isinstance(wait, (int, float)) and not isinstance(wait, bool)
    category: Category = "throttled" if waits else (raised.category if raised is not None else "transient")
    if retry is False:
        category = "contract" if raised is not None and raised.category == "contract" else "permanent"
    elif retry is True and category in ("permanent", "contract"):
        category = "transient"
    told: Mapping[str, Any] = cast("Mapping[str, Any]", error) if isinstance(error, Mapping) else {}
    code = raised.code if raised is not None else usable_code(told.get("code")) or "returned_failure"
    words: Any = error if isinstance(error, str) else told.get("message", "the handler returned success: false")
    source = error if isinstance(error, BaseException) else ReturnedFailure(str(words))
    asked = float(cast("float", wait)) if waits else (raised.retry_after_s if raised is not None else None)
    return failure_of(source, Verdict(category, code, asked))


class ReturnedFailure(Exception):
    """What a handler returned as success: false."""


def ended_badly(ctx: BaseContext, error: BaseException) -> End:
    return End(failure=clean(ctx, classify(error)))


def clean(ctx: BaseContext, failure: Failure) -> Failure:
    redaction = cast("Any", ctx)._redaction
    if redaction is None:
        return failure
    told = redaction.value(failure.told())
    return Failure(told["category"], told["code"], told["message"], told.get("retry_after_s"), told.get("detail", {}))
