"""cubed on Fanfold: an array computation as the stages of a job, which is resumed where it broke off. `FanfoldExecutor` is
for the script that computes, `app` for the workers: `fanfold-worker fanfold.cubed:app`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .task import app, run_chunk

if TYPE_CHECKING:
    from .executor import ComputationFailed, FanfoldExecutor

__all__ = ["ComputationFailed", "FanfoldExecutor", "app", "run_chunk"]


def __getattr__(name: str) -> Any:
    # A worker has no use for it, and cubed takes its time to load.
    if name in ("ComputationFailed", "FanfoldExecutor"):
        from . import executor

        return getattr(executor, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
