"""A vegetation index into one Zarr store, a window to a task: fanfold-worker ndvi:app --slots 2

The first task writes the store's description and no data, so that windows can be filled in any order. A window is a chunk of its own: no two tasks
write one file, and the same window again is the same bytes."""

import os
from collections.abc import AsyncGenerator
from typing import Any

import numpy as np
import xarray as xr
from pydantic import BaseModel

from fanfold import App, AsyncPrevious, Context, handler, job, plan, stage


class Ask(BaseModel):
    store: str
    size: int = 1024
    chunk: int = 256


def cube(size: int, x: slice, y: slice) -> xr.Dataset:
    """Three dates of a made-up country, as odc.stac.load would give them: any part of it without the rest."""
    xs, ys = np.arange(size)[x], np.arange(size)[y]
    wave = np.sin(xs / 40)[None, None, :] * np.cos(ys / 60)[None, :, None] * np.array([0.6, 0.8, 1.0])[:, None, None]
    coords = {"time": np.array(["2026-05", "2026-06", "2026-07"], dtype="datetime64[ns]"), "y": ys, "x": xs}
    dims = ("time", "y", "x")
    return xr.Dataset({"red": (dims, 0.3 - 0.1 * wave), "nir": (dims, 0.5 + 0.2 * wave)}, coords)


def index_of(part: xr.Dataset) -> xr.Dataset:
    return xr.Dataset({"ndvi": ((part.nir - part.red) / (part.nir + part.red)).median("time").astype("float32")})


@handler("ndvi.template")
def template(ask: Ask) -> dict[str, int]:
    nothing = np.broadcast_to(np.float32("nan"), (ask.size, ask.size))
    places = {"y": np.arange(ask.size), "x": np.arange(ask.size)}
    empty = xr.Dataset({"ndvi": (("y", "x"), nothing)}, places)
    encoding: Any = {"ndvi": {"chunks": (ask.chunk, ask.chunk), "_FillValue": np.float32("nan")}}
    empty.to_zarr(ask.store, mode="w", encoding=encoding, write_empty_chunks=False, consolidated=False)
    return {"nx": ask.size, "ny": ask.size}


@plan
async def windows(ask: Ask, previous: AsyncPrevious[Any]) -> AsyncGenerator[dict[str, Any], None]:
    shape = await previous.one()
    for y in range(0, shape["ny"], ask.chunk):
        for x in range(0, shape["nx"], ask.chunk):
            yield {"index": f"x{x}-y{y}", "parameters": {"x": x, "y": y}}


@handler("ndvi.window", timeout_s=1800)
def window(x: int, y: int, ctx: Context) -> dict[str, Any]:
    assert ctx.job is not None
    ask = Ask.model_validate(ctx.job.parameters)
    region = {"y": slice(y, y + ask.chunk), "x": slice(x, x + ask.chunk)}
    made = index_of(cube(ask.size, region["x"], region["y"]))
    ctx.sleep(0.25)  # as if it had come over the network
    made.drop_vars(["x", "y"]).to_zarr(ask.store, region=region, consolidated=False)
    return {"mean": float(made.ndvi.mean()), "by": os.getpid()}


@handler("ndvi.check")
def check(ask: Ask, ctx: Context) -> dict[str, Any]:
    """Compares all of it with what it should be, and says what there is."""
    whole = xr.open_zarr(ask.store, consolidated=False).ndvi.load()
    expected = index_of(cube(ask.size, slice(None), slice(None))).ndvi
    return {"windows": ctx.previous().count, "equal": bool(np.array_equal(whole.values, expected.values))}


ndvi = job(
    "ndvi",
    Ask,
    [
        stage("template", template),
        stage("windows", window, windows, parallelism="fan_out", failure_budget={"count": 1}),
        stage("check", check, parallelism="fan_in"),
    ],
)
app = App(jobs=[ndvi], handlers=[template, window, check])
