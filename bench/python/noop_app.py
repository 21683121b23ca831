"""What the Python worker runs under the benchmark: python -m fanfold.worker noop_app:app"""

from __future__ import annotations

import os
import time
from typing import Any

from fanfold import App, Context, count, handler, job, stage


@handler("bench.def")
def blocking() -> None:
    return None


@handler("bench.async")
async def awaited() -> None:
    return None


@handler("bench.started")
async def started(sent_at: float) -> None:
    """How long it took until here."""
    with open(os.environ["BENCH_LAGS"], "a") as lags:
        lags.write(f"{time.time() - sent_at}\n")


@handler("bench.one")
async def one() -> dict[str, int]:
    return {"n": 1}


@handler("bench.fold")
def fold(ctx: Context) -> dict[str, int]:
    return {"sum": sum(found["n"] for found in ctx.previous())}


folded: Any = job(
    "bench_folded", None, [stage("each", one, count(100_000)), stage("fold", fold, parallelism="fan_in")]
)
app = App(jobs=[folded], handlers=[blocking, awaited, started, one, fold])
