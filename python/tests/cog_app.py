"""The example's COG handler, which says when its file is uploaded, and then waits for a gate where it is told one."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "python_cogs"))

from fanfold import App, Context, handler

# Told by name: rasterio's packages are not where the types are checked.
example: Any = importlib.import_module("cogs")


@handler("t.cog", process=True, timeout_s=120)
def held(source: str, collection: str, mark: str, gate: str | None, ctx: Context) -> Any:
    made: Any = example.cog.function(source=source, collection=collection, ctx=ctx)
    Path(mark).write_text(made.ref)
    while gate is not None and not Path(gate).exists():
        ctx.raise_if_cancelled()
        time.sleep(0.02)
    return made


app = App(handlers=[held])
