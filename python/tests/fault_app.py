"""The handlers that test/remote asks of any worker: `python -m fanfold.worker fault_app:app`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from fanfold import App, AsyncContext, Cancelled, Context, handler


def note(*words: object) -> None:
    line = " ".join(map(str, (*words[:3], os.getpid(), *words[3:]))) + "\n"
    descriptor = os.open(os.environ["FANFOLD_EFFECTS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def await_gate(gate: str, ctx: Context) -> None:
    while not Path(gate).exists():
        ctx.raise_if_cancelled()
        time.sleep(0.02)


@handler("fault.step")
def step(n: int, ms: float, ctx: Context) -> dict[str, int]:
    note("start", n, ctx.attempt)
    ctx.sleep(ms / 1000)
    note("end", n, ctx.attempt)
    return {"n": n}


@handler("fault.hold")
def hold(n: int, gate: str, ctx: Context) -> dict[str, int]:
    note("start", n, ctx.attempt)
    try:
        await_gate(gate, ctx)
    except Cancelled:
        note("stopped", n, ctx.attempt)
        raise
    note("end", n, ctx.attempt)
    return {"n": n}


@handler("fault.publish")
def publish(n: int, bytes: int, ctx: Context, gate: str | None = None) -> dict[str, Any]:
    file = ctx.scratch / "f.bin"
    file.write_bytes(filled(n % 256, bytes))
    asset = ctx.zones.publish(file, zone="silver", prefix=f"fault/{n}", name="f.bin")
    note("uploaded", n, ctx.attempt, asset.key)
    if gate is not None:
        await_gate(gate, ctx)
    return {"n": n, "key": asset.key}


def filled(value: int, count: int) -> bytearray:
    return bytearray([value]) * count


@handler("fault.sum")
def total(ctx: Context) -> dict[str, int]:
    found = [one["n"] for one in ctx.previous()]
    return {"sum": sum(found), "count": len(found)}


@handler("fault.block")
async def block(n: int, ms: float, mark: str, ctx: AsyncContext) -> dict[str, int]:
    """Does what a handler must not, once: holds the loop."""
    note("start", n, ctx.attempt)
    if not Path(mark).exists():
        Path(mark).touch()
        time.sleep(ms / 1000)
    note("end", n, ctx.attempt)
    return {"n": n}


@handler("fault.child", process=True, memory_mb=200)
def child(n: int, how: str, ctx: Context, gate: str | None = None) -> dict[str, int]:
    note("start", n, ctx.attempt)
    if ctx.attempt == 1 and how == "memory" and n == 0:
        kept = [filled(1, 50_000_000) for _ in range(8)]
        time.sleep(60)
        return {"n": len(kept)}
    if ctx.attempt == 1 and how == "wait" and gate is not None:
        await_gate(gate, ctx)
    note("end", n, ctx.attempt)
    return {"n": n}


app = App(handlers=[step, hold, publish, total, block, child])
