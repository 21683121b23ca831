"""A span for each attempt, under the trace of whoever submitted the job, where OpenTelemetry is installed; nothing
otherwise."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .held import Held

try:
    _otel: Any = importlib.import_module("opentelemetry.trace")
    _propagate: Any = importlib.import_module("opentelemetry.propagate")
except ImportError:
    _otel = _propagate = None


class _Nothing:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


_nothing = _Nothing()


def span(held: Held) -> Any:
    """Around what the handler does. What it raises on the way out is recorded; a child's failure is told by `failed`."""
    return _nothing if _otel is None else _span(held)


def failed(words: str) -> None:
    """Of the current span: what failed, where nothing was raised."""
    if _otel is not None:
        _otel.get_current_span().set_status(_otel.Status(_otel.StatusCode.ERROR, words))


@contextlib.contextmanager
def _span(held: Held) -> Generator[None, None, None]:
    carrier = {"traceparent": held.stage.get("traceparent") or ""}
    tracer: Any = _otel.get_tracer("fanfold")
    attributes = {
        "fanfold.task_id": held.task_id,
        "fanfold.job_id": held.stage["job_id"] or "",
        "fanfold.attempt": held.task["attempt"],
    }
    context: Any = _propagate.extract(carrier)
    with tracer.start_as_current_span(
        held.served.name, context=context, kind=_otel.SpanKind.CONSUMER, attributes=attributes
    ):
        yield
