"""What happens, as it happens: the event stream, opened again when it breaks, going on after the last event that was
read."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time as clock
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal

from .._async.transport import AsyncTransport, is_passing
from ..api.endpoints import get_stream
from ..errors import BadRequest, ContractViolation, FanfoldError
from ..problems import shorten
from ..sse import EventReader, ServerEvent

TERMINAL = frozenset({"completed", "partial_success", "failed", "cancelled"})
MOST_REMEMBERED = 10_000


@dataclass(frozen=True)
class Streamed:
    """`position` is what to give as last_event_id to go on behind it."""

    type: Literal["event", "progress"]
    position: str
    # Of an event its record, of progress `{"stages": [...]}`.
    data: dict[str, Any]


async def stream_events(
    transport: AsyncTransport,
    *,
    job_id: str | None = None,
    follow: bool = False,
    last_event_id: str = "",
    patience_s: float = 60,
    silence_s: float = 45,
) -> AsyncIterator[Streamed]:
    """That of one job ends with the job, unless it is told to follow; any other only by `break`."""
    if not re.fullmatch(r"[\x20-\x7e]{0,2000}", last_event_id):
        raise BadRequest("last_event_id is not a position this service gave", hint="give one unchanged, or none")
    ends = job_id is not None and not follow
    seen: OrderedDict[int, None] = OrderedDict()
    position, failures = last_event_id, 0
    away_since: float | None = None
    while True:
        reader = EventReader()
        resumes = position
        try:
            query = {"job_id": job_id}
            headers = {"accept": "text/event-stream", **({"last-event-id": position} if position else {})}
            async with transport.open(get_stream, query=query, headers=headers, silence_s=silence_s) as response:
                async for text in response.aiter_text():
                    for one in reader.push(text):
                        failures, away_since = 0, None
                        position = one.id or position
                        if one.event == "ready" and ends and resumes == "" and _has_ended(one.data):
                            return
                        told = _streamed(one, position)
                        if told is None or _known(seen, told):
                            continue
                        yield told
                        if ends and told.type == "event" and _ends(told.data.get("kind")):
                            return
        except FanfoldError as error:
            if not is_passing(error):
                raise
            away_since = clock.monotonic() if away_since is None else away_since
            if clock.monotonic() - away_since > patience_s:
                raise
        asked = (reader.retry_s or 0) if failures == 0 else 0
        await asyncio.sleep(random.random() * (asked + min(10.0, 0.2 * 2 ** min(failures, 20))))
        failures += 1


def _ends(kind: object) -> bool:
    return isinstance(kind, str) and kind.startswith("job.") and kind[4:] in TERMINAL


def _known(seen: OrderedDict[int, None], told: Streamed) -> bool:
    """What comes again after a new connection is not told twice."""
    number = told.data.get("event_id")
    if told.type != "event" or not isinstance(number, int):
        return False
    if number in seen:
        return True
    seen[number] = None
    if len(seen) > MOST_REMEMBERED:
        seen.popitem(last=False)
    return False


def _has_ended(data: str) -> bool:
    try:
        return json.loads(data).get("ended") is True
    except (ValueError, AttributeError):
        return False


def _streamed(one: ServerEvent, position: str) -> Streamed | None:
    if one.event in ("ready", "end", "message"):
        return None
    try:
        data: Any = json.loads(one.data)
    except ValueError:
        raise ContractViolation(f"the stream told {shorten(one.event)} in a way this client does not know") from None
    return Streamed("progress" if one.event == "progress" else "event", position, data)
