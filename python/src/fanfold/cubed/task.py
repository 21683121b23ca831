"""What a worker does for cubed: one chunk of one operation. `fanfold-worker fanfold.cubed:app`, with FANFOLD_CUBED_WORK_DIR."""

from __future__ import annotations

import functools
import importlib
import os
import posixpath
import re
from typing import Any

from .._sync.context import Context
from ..context import BaseContext
from ..declare.handlers import DEFAULT_MEMORY_MB, handler
from ..errors import Permanent, SettingsError
from ..problems import Problem, quoted
from ..worker.app import App
from .plans import read_plan

TASK_TYPE = "cubed.chunk"


def _memory_mb() -> int:
    text = os.environ.get("FANFOLD_CUBED_MEMORY_MB", "")
    if text == "":
        return DEFAULT_MEMORY_MB
    if not re.fullmatch(r"\d{2,9}", text) or int(text) < 64:
        fix = "Give e.g. 4096: what a process may use, a little more than cubed's allowed_mem."
        problem = Problem("FANFOLD_CUBED_MEMORY_MB", f"{quoted(text)} is not a whole number from 64", fix)
        raise SettingsError("These settings are not right", problems=[problem])
    return int(text)


MEMORY_MB = _memory_mb()


@handler(TASK_TYPE, process=True, memory_mb=MEMORY_MB)
def run_chunk(op: str, i: int, ctx: Context) -> None:
    """Writes what it computes, and returns nothing: the same again writes the same."""
    job = ctx.job
    if job is None:
        raise Permanent("a chunk is part of a job", code="not_cubed")
    function, item, config = _work(_allowed(job.parameters.get("plan"), ctx), str(job.parameters.get("sha256")), op, i)
    function(item, config=config)


def _allowed(url: Any, ctx: BaseContext) -> str:
    """A plan is code. Only who may write into the work directory can have it run here, and not everybody who may submit."""
    root = os.environ.get("FANFOLD_CUBED_WORK_DIR", "").rstrip("/")
    if root == "":
        words = "this worker runs no plans of cubed: FANFOLD_CUBED_WORK_DIR is not set"
        raise Permanent(f"{words}; set it to the work_dir of FanfoldExecutor", code="no_work_dir")
    text = str(url)
    path = text.partition("://")[2] or text
    if not text.startswith(f"{root}/") or posixpath.normpath(path) != path:
        raise Permanent(f"the plan {text} is not in the work directory of this worker, {root}", code="not_in_work_dir")
    return text


@functools.lru_cache(maxsize=2)
def _plan(url: str, sha256: str) -> dict[str, Any]:
    plan = read_plan(url, sha256)
    if plan["allowed_mem"] > MEMORY_MB * 1_000_000:
        words = (
            f"the computation may use {plan['allowed_mem'] // 1_000_000} MB a task, this worker's processes {MEMORY_MB}"
        )
        raise Permanent(f"{words}: raise FANFOLD_CUBED_MEMORY_MB, or lower allowed_mem", code="too_little_memory")
    return plan


@functools.lru_cache(maxsize=8)
def _op(url: str, sha256: str, op: str) -> Any:
    return importlib.import_module("pickle").loads(_plan(url, sha256)["ops"][op])


def _work(url: str, sha256: str, op: str, i: int) -> tuple[Any, Any, Any]:
    function, items, config = _op(url, sha256, op)
    return function, items[i], config


app = App(handlers=[run_chunk])
