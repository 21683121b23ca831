"""What the tests compute on a Dask cluster."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fanfold import App, AsyncContext, Context, count, handler, job, stage


def grid(size: int) -> Any:
    import dask.array as da

    return da.arange(size * size, chunks=size).reshape((size, size))


@handler("dask.sum", timeout_s=120)
def total(i: int, ctx: Context) -> dict[str, Any]:
    import xarray as xr

    with ctx.dask() as client:
        # The same graph in every task: only the prefix keeps their keys apart.
        value = xr.DataArray(grid(10), dims=("y", "x")).sum().compute()
        kept = client.submit(lambda n: n + 1, i)
        return {"total": int(value), "next": kept.result(), "keys": [str(key) for key in client.futures]}


@handler("dask.async_sum")
async def async_total(ctx: AsyncContext) -> int:
    async with ctx.dask() as client:
        return int(await client.compute(grid(10).sum()))


@handler("dask.in_child", process=True, memory_mb=1024)
def in_child(ctx: Context) -> int:
    with ctx.dask():
        return int(grid(10).sum().compute())


def linger(mark: str, place: int) -> int:
    Path(f"{mark}.{place}").write_text(str(os.getpid()))
    time.sleep(2)
    return place


@handler("dask.hold", timeout_s=600)
def hold(mark: str, ctx: Context) -> int:
    with ctx.dask() as client:
        return sum(client.gather(client.map(linger, [mark] * 200, range(200))))


@handler("dask.too_long", timeout_s=2)
def too_long(mark: str, ctx: Context) -> int:
    with ctx.dask() as client:
        return sum(client.gather(client.map(linger, [mark] * 200, range(200))))


def kill_once(mark: str) -> str:
    if not Path(mark).exists():
        Path(mark).write_text("killed")
        os.kill(os.getpid(), 9)
    return "lived"


@handler("dask.kills")
def kills(mark: str, ctx: Context) -> str:
    with ctx.dask() as client:
        return client.submit(kill_once, mark, retries=0).result()


@dataclass
class Many:
    n: int


many = job("dask_many", Many, [stage("sum", total, count("{parameters.n}", i="{ordinal}"))])
app = App(jobs=[many], handlers=[total, async_total, in_child, hold, too_long, kills])
