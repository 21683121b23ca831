"""The app that the tests of the worker serve, in this process and in processes of their own."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanfold import (
    App,
    AsyncContext,
    AsyncPrevious,
    Context,
    Job,
    Permanent,
    Throttled,
    each,
    handler,
    job,
    plan,
    stage,
)

logger = logging.getLogger("shop")
asked_to_wait: set[str] = set()


@dataclass
class Words:
    words: list[str]
    factor: int = 1


@dataclass
class Length:
    length: int
    word: str


@handler("py.measure")
def measure(word: str, factor: int, ctx: Context) -> Length:
    logger.info("measuring %s", word)
    ctx.progress(0.5, "half")
    ctx.deliver("lengths", count=1)
    ctx.next_stage_params({"from": ctx.index})
    if word == "broken":
        raise Permanent("this word is broken", code="broken_word")
    return Length(len(word) * factor, word)


@handler("py.match")
def match(ctx: Context) -> dict[str, Any]:
    before = ctx.predecessor()
    assert before is not None
    return {"word": before.result["word"], "from": before.next_stage_params["from"]}


@handler("py.total")
async def total(ctx: AsyncContext) -> dict[str, Any]:
    lengths = 0
    async for one in ctx.previous(Length, stage="measure"):
        lengths += one.length
    return {"total": lengths, "matched": len(await ctx.previous(stage="match").all()), "key": len(ctx.effect_key)}


@handler("py.child", process=True, memory_mb=220, timeout_s=60)
def child(how: str, ctx: Context) -> dict[str, Any]:
    print("output of a child")
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit":
        os._exit(3)
    if how == "memory":
        keep = [bytearray(40_000_000) for _ in range(12)]
        time.sleep(30)
        return {"kept": len(keep)}
    if how == "ask":
        return {"secret": len(ctx.secret("shop_key")), "env": "FANFOLD_KEY" in os.environ, "scratch": str(ctx.scratch)}
    if how == "wait":
        Path(ctx.parameters["mark"]).write_text(str(os.getpid()))
        time.sleep(600)
    return {"how": how, "pid": os.getpid()}


@handler("py.errors")
def errors(how: str, ctx: Context) -> Any:
    if how == "nan":
        return {"a": [1, float("nan")]}
    if how == "big":
        return {"n": 2**60}
    if how == "throttled" and ctx.task_id not in asked_to_wait:
        asked_to_wait.add(ctx.task_id)
        raise Throttled(0.05)
    if how == "secret":
        raise Permanent(f"the key is {ctx.secret('shop_key')}", code="leaky")
    if how == "returned":
        return {"success": False, "retry": False, "error": {"message": "no", "code": "said_no"}}
    if how == "bug":
        empty: dict[str, int] = {}
        return empty["nothing"]
    return "fine"


@handler("py.block")
async def block(seconds: float) -> str:
    time.sleep(seconds)
    return "blocked"


@handler("py.slow", timeout_s=1)
def slow(ctx: Context) -> None:
    ctx.sleep(600)


@handler("py.hold")
async def hold(mark: str, ctx: AsyncContext) -> None:
    Path(mark).write_text("running")
    try:
        await asyncio.sleep(600)
    finally:
        Path(mark).write_text("stopped")


@handler("py.noop")
async def noop() -> None:
    return None


@handler("py.large")
def large(bytes: int) -> str:
    return "x" * bytes


@handler("py.fold")
def fold(ctx: Context) -> int:
    return sum(len(text) for text in ctx.previous(str))


@plan
async def doubled(ask: Words, previous: AsyncPrevious[Any]) -> AsyncGenerator[dict[str, Any], None]:
    seen = await previous.one()
    for place, word in enumerate(ask.words):
        yield {"index": f"w{place}", "parameters": {"word": word, "factor": seen}}


@handler("py.first")
def first(ask: Words) -> int:
    return ask.factor * 2


words = job(
    "py_words",
    Words,
    [
        stage(
            "measure",
            measure,
            each("$.words[*]", word="{item}", factor="{parameters.factor}"),
            failure_budget={"percent": 50},
        ),
        stage("match", match, parallelism="match_previous"),
        stage("total", total, parallelism="fan_in", after=["measure", "match"], of="match"),
    ],
)
# The stage in the middle is served by the TypeScript worker of the test.
mixed = job(
    "py_mixed",
    Words,
    [
        stage("measure", measure, each("$.words[*]", word="{item}", factor="{parameters.factor}")),
        stage("shout", "ts.shout", parallelism="match_previous"),
        stage("join", "py.join", parallelism="fan_in"),
    ],
)
planned = job(
    "py_planned",
    Words,
    [
        stage("first", first),
        stage("measure", measure, doubled, parallelism="fan_out"),
        stage("sum", "py.sum", parallelism="fan_in"),
    ],
)
spilled: Job[Any] = job("py_spilled", None, [stage("large", large), stage("fold", fold, parallelism="fan_in")])


@handler("py.join")
def join(ctx: Context) -> str:
    return " ".join(one["text"] for one in ctx.previous())


@handler("py.sum")
def sum_up(ctx: Context) -> int:
    return sum(one.length for one in ctx.previous(Length))


def vault(tenant: str, name: str) -> str | None:
    return "correct-horse-battery" if name == "shop_key" else None


@handler("py.publish", process=True)
def publish(ref: str, ctx: Context) -> dict[str, Any]:
    source = ctx.zones.download(ref)
    made = ctx.scratch / "copy.bin"
    made.write_bytes(source.read_bytes() * 2)
    asset = ctx.zones.publish(made, zone="silver", prefix=f"py/{ctx.index}", media_type="application/octet-stream")
    ctx.enqueue("py.noop", [{"parameters": {}}])
    return {"ref": asset.ref, "bytes": asset.bytes, "listed": len(ctx.zones.list("bronze", "py/")["entries"])}


@handler("py.item")
def item(collection: dict[str, Any], text: str, ctx: Context) -> str:
    file = ctx.scratch / "text.txt"
    file.write_text(text)
    asset = ctx.zones.publish(file, zone="silver", prefix="py/item", media_type="text/plain")
    ctx.put_collection(collection)
    made: dict[str, Any] = {
        "type": "Feature",
        "stac_version": "1.0.0",
        "id": "alps",
        "collection": collection["id"],
        "geometry": {"type": "Point", "coordinates": [7, 47]},
        "bbox": [7, 47, 7, 47],
        "properties": {"datetime": "2026-01-01T00:00:00Z"},
        "links": [],
        "assets": {"text": {"href": asset.href, "type": "text/plain"}},
    }
    ctx.put_items(collection["id"], [made])
    return asset.ref


app = App(
    jobs=[words, mixed, planned, spilled],
    handlers=[
        measure,
        match,
        total,
        child,
        errors,
        block,
        slow,
        hold,
        noop,
        large,
        fold,
        first,
        join,
        sum_up,
        publish,
        item,
    ],
    secrets=vault,
)
