"""`ctx.dask()`: a client of the Dask cluster that the operator configured, for one attempt. Every key it sends begins with
the attempt, so that no two attempts share anything on the cluster; what it has asked for ends with the attempt."""

# The class it builds on belongs to a library that tells no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from ..context import BaseContext
from ..errors import Cancelled, Permanent, Transient

CONNECT_S = 15
CLOSE_S = 3


class AttemptDask:
    """A context manager for `with` and for `async with`; what it gives is a distributed.Client."""

    def __init__(self, ctx: BaseContext, place: Any) -> None:
        self._ctx, self._place = ctx, place
        self._client: Any = None
        self._token: Any = None

    def __enter__(self) -> Any:
        with self._trouble():
            client = self._client = self._open(asynchronous=False)
        self._ctx._on_abort.append(self._aborted)  # pyright: ignore[reportPrivateUsage]
        if self._ctx.cancelled():
            self.__exit__()
            raise Cancelled("the task is no longer wanted")
        self._token = _current().set(client)
        return client

    def __exit__(self, *_: object) -> None:
        self._leave()
        # A cluster that is gone has nothing left to release.
        with contextlib.suppress(Exception):
            if unfinished := self._client.unfinished():
                self._client.cancel(unfinished, force=True)
        with contextlib.suppress(Exception):
            self._client.close(timeout=CLOSE_S)

    async def __aenter__(self) -> Any:
        with self._trouble():
            client = self._client = await self._open(asynchronous=True)
        self._token = _current().set(client)
        return client

    async def __aexit__(self, *_: object) -> None:
        # A cancelled coroutine comes by here: nothing has to be told from elsewhere.
        self._leave()
        with contextlib.suppress(Exception):
            if unfinished := self._client.unfinished():
                await self._client.cancel(unfinished, force=True)
        with contextlib.suppress(Exception):
            await self._client.close(timeout=CLOSE_S)

    def _open(self, asynchronous: bool) -> Any:
        if self._place is None:
            words = "ctx.dask is not to be had here: this worker was told of no Dask cluster"
            raise Permanent(f"{words}; set FANFOLD_DASK_ADDRESS, e.g. to tcp://dask:8786", code="no_dask")
        place = self._place() if callable(self._place) else self._place
        made = client_class()
        return made(prefix_of(self._ctx), place, asynchronous)

    def _trouble(self) -> contextlib.AbstractContextManager[None]:
        return _unreachable(self._place)

    def _leave(self) -> None:
        with contextlib.suppress(ValueError):
            self._ctx._on_abort.remove(self._aborted)  # pyright: ignore[reportPrivateUsage]
        if self._token is not None:
            _current().reset(self._token)
            self._token = None

    def _aborted(self) -> None:
        """Told by the worker's own thread, which must not wait for a cluster."""
        threading.Thread(target=self._cancel, name="fanfold-dask-cancel", daemon=True).start()

    def _cancel(self) -> None:
        with contextlib.suppress(Exception):
            words = f"the task of Fanfold was stopped: {self._ctx.why_cancelled}"
            if unfinished := self._client.unfinished():
                self._client.cancel(unfinished, force=True, reason="fanfold", msg=words)


def prefix_of(ctx: BaseContext) -> str:
    """`_fanfold,12.0.1.90-`: task, attempt and claim. Dask names functions by what stands between the first word and the
    first that is not letters, and keeps each such name for ever: with the comma there it finds `fanfold-sum`, and no attempt."""
    task: Mapping[str, Any] = ctx._task  # pyright: ignore[reportPrivateUsage]
    return f"_fanfold,{str(task['task_id']).replace('-', '.')}.{task['attempt']}.{task['claim_id']}-"


def prefixed(prefix: str, key: Any) -> Any:
    if isinstance(key, tuple):
        return (prefixed(prefix, key[0]), *key[1:])
    text = str(key)
    return text if text.startswith(prefix) else prefix + text


@contextlib.contextmanager
def _unreachable(place: Any) -> Any:
    try:
        yield
    except (OSError, AssertionError) as error:
        where = place if isinstance(place, str) else "that the app names"
        words = str(error) or "it did not greet this client as expected"
        raise Transient(f"the Dask cluster {where} cannot be reached: {words}", code="dask_unreachable") from error


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise Permanent('ctx.dask needs distributed: pip install "fanfold[dask]"', code="no_distributed") from None


def _current() -> Any:
    """What dask.compute and xarray look at for the client of their thread or task. `Client.as_current` would set an option of
    the whole process as well, which other handlers read."""
    return importlib.import_module("distributed.client")._current_client


@functools.cache
def client_class() -> Any:
    distributed = _distributed()
    future_class = distributed.Future

    class FanfoldClient(distributed.Client):  # type: ignore[misc, name-defined]
        def __del__(self) -> None:
            """Closed where it was opened, or given up there. Dask's own would close it in whatever thread collects garbage, for good stuck
            behind a lock of Dask's if that thread is just opening another client."""

        def __init__(self, prefix: str, place: Any, asynchronous: bool) -> None:
            self.prefix = prefix
            name = prefix.strip("_-").replace(",", "-")
            super().__init__(
                place,
                asynchronous=asynchronous,
                set_as_default=False,
                name=name,
                timeout=CONNECT_S,
                heartbeat_interval=2000,
            )

        def unfinished(self) -> list[Any]:
            """What is done is let go when the client closes. A cancel, even of nothing, is told to all clients of the cluster, and one that is
            just connecting takes that for a broken greeting."""
            return [future_class(key, self) for key, one in list(self.futures.items()) if one.status == "pending"]

        def _graph_to_futures(self, expr: Any, keys: Any, *args: Any, **more: Any) -> Any:
            asked = list(keys)
            renamed = renamed_graph(self.prefix, expr)
            if renamed is None:
                return super()._graph_to_futures(expr, asked, *args, **more)
            if more.get("internal_priority"):
                more["internal_priority"] = {
                    prefixed(self.prefix, key): one for key, one in more["internal_priority"].items()
                }
            own = {key: prefixed(self.prefix, key) for key in asked}
            futures = super()._graph_to_futures(renamed, list(own.values()), *args, **more)
            return {key: futures[new] for key, new in own.items()}

        async def _scatter(self, data: Any, *args: Any, hash: bool = True, **more: Any) -> Any:
            import uuid

            tokenize = importlib.import_module("dask.base").tokenize

            def key(value: Any) -> str:
                return f"{self.prefix}{type(value).__name__}-{tokenize(value) if hash else uuid.uuid4().hex}"

            if type(data) is dict:
                named = {prefixed(self.prefix, name): one for name, one in data.items()}
                told: Any = await super()._scatter(named, *args, hash=hash, **more)
                return {name: told[prefixed(self.prefix, name)] for name in data}
            many = list(data) if isinstance(data, (range, Iterator)) else data
            whole = type(many) not in (list, tuple, set, frozenset)
            listed = [(key(one), one) for one in ([many] if whole else many)]
            told = await super()._scatter(dict(listed), *args, hash=hash, **more)
            found = [told[name] for name, _ in listed]
            return found[0] if whole else type(many)(found)

    return FanfoldClient


def renamed_graph(prefix: str, expr: Any) -> Any:
    """The same graph with keys of the attempt, in classes that the scheduler knows. None: it has steps of a shuffle between
    workers, which know each other by their keys; they stay as they are, and are the client's all the same."""
    specs = importlib.import_module("dask._task_spec")
    exprs = importlib.import_module("dask._expr")
    graph: dict[Any, Any] = specs.convert_legacy_graph(expr.__dask_graph__())
    if any(type(one).__name__ == "P2PBarrierTask" for one in graph.values()):
        return None
    names = {key: prefixed(prefix, key) for key in graph}
    renamed = {names[key]: one.substitute(names, key=names[key]) for key, one in graph.items()}
    annotations: Mapping[str, Mapping[Any, Any]] = expr.__dask_annotations__()
    if not any(annotations.values()):
        return exprs.LLGExpr(renamed)
    return _annotated(renamed, names, annotations)


def _annotated(graph: Mapping[Any, Any], names: Mapping[Any, Any], annotations: Mapping[str, Mapping[Any, Any]]) -> Any:
    """Resources, priorities and retries that were asked for with dask.annotate."""
    graphs = importlib.import_module("dask.highlevelgraph")
    exprs = importlib.import_module("dask._expr")
    told: dict[str, dict[Any, Any]] = {
        kind: {names.get(key, key): one for key, one in by_key.items()} for kind, by_key in annotations.items()
    }
    groups: dict[str, tuple[dict[str, Any], dict[Any, Any]]] = {}
    for key, task in graph.items():
        own = {kind: by_key[key] for kind, by_key in told.items() if key in by_key}
        groups.setdefault(repr(sorted(own.items(), key=str)), (own, {}))[1][key] = task
    layers = {
        f"fanfold-{place}": graphs.MaterializedLayer(tasks, annotations=own or None)
        for place, (own, tasks) in enumerate(groups.values())
    }
    return exprs.HLGExpr(graphs.HighLevelGraph(layers, {name: set[str]() for name in layers}))
