"""The example's COG handler, which says when its file is uploaded, and then waits for a gate where it is told one."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "python_cogs"))

from cogs import cog  # pyright: ignore

from fanfold import App, Context, handler


@handler("t.cog", process=True, timeout_s=120)
def held(source: str, collection: str, mark: str, gate: str | None, ctx: Context) -> Any:
    made: Any = cog.function(source=source, collection=collection, ctx=ctx)  # pyright: ignore
    Path(mark).write_text(made.ref)
    while gate is not None and not Path(gate).exists():
        ctx.raise_if_cancelled()
        time.sleep(0.02)
    return made


app = App(handlers=[held])
