"""What the tests run on a Ray cluster."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanfold import App, AsyncContext, Context, Permanent, count, each, handler, job, stage

logger = logging.getLogger("ray_app")


@dataclass
class Many:
    n: int


@dataclass
class Square:
    square: int
    pid: int


@handler("ray.square", ray={"num_cpus": 0.5})
def square(i: int, ctx: Context) -> Square:
    if i == 7:
        print("printed by seven")
        logger.info("logged by seven")
        ctx.log.info("said by seven", place=i)
    return Square(i * i, os.getpid())


@handler("ray.sum")
async def total(ctx: AsyncContext) -> dict[str, int]:
    squares, pids = 0, set[int]()
    async for one in ctx.previous(Square):
        squares += one.square
        pids.add(one.pid)
    return {"total": squares, "processes": len(pids), "own": os.getpid()}


@handler("ray.features", timeout_s=120)
def features(ref: str, ctx: Context) -> dict[str, Any]:
    source = ctx.zones.download(ref)
    made = ctx.scratch / "twice.bin"
    made.write_bytes(source.read_bytes() * 2)
    asset = ctx.zones.publish(made, zone="silver", prefix=f"ray/{ctx.index}", media_type="application/octet-stream")
    ctx.next_stage_params({"from": ctx.index})
    ctx.deliver("files", count=1)
    ctx.enqueue("ray.noop", [{"parameters": {}}])
    stat = ctx.zones.stat(ref)
    assert stat is not None
    return {
        "ref": asset.ref,
        "bytes": asset.bytes,
        "stat": stat["bytes"],
        "listed": len(ctx.zones.list("bronze", "ray/")["entries"]),
        "secret": len(ctx.secret("ray_key")),
        "key_in_environment": "FANFOLD_KEY" in os.environ,
        "state": ctx.state,
        "scratch": str(ctx.scratch),
    }


@handler("ray.follow")
def follow(ctx: Context) -> dict[str, Any]:
    before = ctx.predecessor()
    assert before is not None
    return {"from": before.next_stage_params["from"], "bytes": before.result["bytes"]}


@handler("ray.noop")
def noop() -> None:
    return None


@handler("ray.errors")
def errors(how: str, ctx: Context) -> Any:
    if how == "permanent":
        raise Permanent(f"the key is {ctx.secret('ray_key')}", code="leaky")
    if how == "result":
        return {"n": float("nan")}
    if how == "large":
        return "x" * 3_000_000
    if how == "exit":
        sys.exit(3)
    return how


@handler("ray.die_once")
def die_once(mark: str) -> str:
    path = Path(mark)
    if not path.exists():
        path.write_text("died")
        os.kill(os.getpid(), signal.SIGKILL)
    return "lived"


@handler("ray.hold", timeout_s=600)
def hold(mark: str, ctx: Context) -> None:
    ctx.progress(0.25, "holding")
    logger.info("holding")
    Path(mark).write_text(str(os.getpid()))
    time.sleep(600)


@handler("ray.on_second", ray={"resources": {"second": 1}})
def on_second(mark: str, ctx: Context) -> str:
    path = Path(mark)
    if not path.exists():
        path.write_text(str(os.getpid()))
        time.sleep(600)
    return "done on another node"


@handler("ray.too_long", timeout_s=1)
def too_long(mark: str) -> None:
    Path(mark).write_text(str(os.getpid()))
    time.sleep(600)


many = job(
    "ray_many",
    Many,
    [stage("square", square, count("{parameters.n}", i="{ordinal}")), stage("sum", total, parallelism="fan_in")],
)


@dataclass
class Refs:
    refs: list[str]


featured = job(
    "ray_featured",
    Refs,
    [
        stage("features", features, each("$.refs[*]", ref="{item}")),
        stage("follow", follow, parallelism="match_previous"),
    ],
)


@contextmanager
def lifespan() -> Any:
    yield "made once in each process"


def vault(tenant: str, name: str) -> str | None:
    return "correct-horse-battery" if name == "ray_key" else None


app = App(
    jobs=[many, featured],
    handlers=[square, total, features, follow, noop, errors, die_once, hold, on_second, too_long],
    lifespan=lifespan,
    secrets=vault,
)
