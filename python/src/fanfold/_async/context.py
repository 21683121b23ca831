"""The ctx of a handler: what is asked of the service while a task runs."""

from __future__ import annotations

import asyncio
import contextlib
import time as clock
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast, overload

from ..context import Asset, BaseContext, Services
from ..declare.shapes import Reader, reader_of
from ..engines.dask_client import AttemptDask
from ..errors import Cancelled, ContractViolation, Permanent
from ..problems import MAX_PROBLEMS, Problem, quoted
from ..redaction import Redaction

T = TypeVar("T")
U = TypeVar("U")

PAGE = 1000


class AsyncAsker(Protocol):
    """Asks the worker, which asks the service: the handler itself has no key."""

    async def ask(self, ctx: BaseContext, verb: str, given: Mapping[str, Any]) -> Any: ...


@dataclass(frozen=True)
class Item(Generic[T]):
    """A stored result of a stage before."""

    ordinal: int
    index: str
    result: T
    next_stage_params: Any


@dataclass(frozen=True)
class Predecessor:
    ordinal: int
    index: str
    status: str
    result: Any
    next_stage_params: Any
    error: Any


class AsyncPrevious(Generic[T]):
    """The completed results this task may see, read page by page, in ordinal order: never all in memory."""

    def __init__(self, ctx: AsyncContext, stage: str | None, reader: Reader | None) -> None:
        self._ctx, self._name, self._reader = ctx, stage, reader

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page:
                yield item.result

    async def items(self) -> AsyncIterator[Item[T]]:
        """With index, ordinal and what was handed over."""
        async for page in self.pages():
            for item in page:
                yield item

    async def pages(self) -> AsyncIterator[list[Item[T]]]:
        """Page by page, for whoever folds faster in bulk."""
        stage, start, end = self._range()
        position: int | None = start
        while position is not None:
            self._ctx.raise_if_cancelled()
            given: dict[str, Any] = {"stage_id": stage["stage_id"], "from": position, "limit": PAGE}
            if end is not None:
                given["to"] = end
            page = await self._ctx.ask("results", given)
            if page["items"]:
                yield [await self._item(one, stage["name"]) for one in page["items"]]
            position = page["next"]

    async def all(self) -> list[T]:
        """Every result in memory: for small stages only."""
        found: list[T] = []
        async for page in self.pages():
            found += [item.result for item in page]
        return found

    async def one(self) -> T:
        """The one result there is; an error when there is none or more than one."""
        found: list[T] = []
        async for page in self.pages():
            found += [item.result for item in page]
            if len(found) > 1:
                break
        if len(found) == 1:
            return found[0]
        name = self._range()[0]["name"]
        many = "no result" if not found else "more than one"
        raise Permanent(f'stage "{name}" has {many}, where one was asked for', code="not_one")

    @property
    def count(self) -> int:
        """Tasks planned there, whatever became of them: at most so many results."""
        return self._range()[0]["total"] or 0

    async def _item(self, stored: Mapping[str, Any], stage: str) -> Item[T]:
        result: Any = await self._ctx.whole(stored, stage)
        if self._reader is not None:
            problems: list[Problem] = []
            result = self._reader(result, (), problems)
            if problems:
                words = f"the result of {stored['index']} in stage {stage} is not what this handler reads"
                raise ContractViolation(words, problems=problems[:MAX_PROBLEMS])
        return Item(stored["ordinal"], stored["index"], result, stored["next_stage_params"])

    def _range(self) -> tuple[Mapping[str, Any], int, int | None]:
        """Task k of a batched fan-in sees the ordinals [k*batch, (k+1)*batch) of the stage it folds, and all of any
        other."""
        facts = self._ctx.facts
        found = self._stage(facts)
        folded = facts["parallelism"] == "fan_in" and facts.get("batch") is not None and self._ctx.ordinal >= 0
        if not folded or found is not self._only(facts):
            return found, 0, None
        first = self._ctx.ordinal * facts["batch"]
        return found, first, first + facts["batch"]

    def _stage(self, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._name is not None:
            for one in facts["previous"]:
                if one["name"] == self._name:
                    return one
            known = ", ".join(quoted(one["name"]) for one in facts["previous"]) or "none"
            words = f'stage "{facts["stage"]}" does not come after a stage "{self._name}"; it comes after: {known}'
            raise Permanent(words)
        found = self._only(facts)
        if found is not None:
            return found
        if not facts["previous"]:
            raise Permanent(f'stage "{facts["stage"]}" has no stage before it to read from')
        names = " or ".join(f'previous(stage="{one["name"]}")' for one in facts["previous"])
        raise Permanent(f'stage "{facts["stage"]}" comes after several stages: say which, with {names}')

    @staticmethod
    def _only(facts: Mapping[str, Any]) -> Mapping[str, Any] | None:
        before: list[Mapping[str, Any]] = facts["previous"]
        if facts.get("of") is None:
            return before[0] if len(before) == 1 else None
        return next((one for one in before if one["number"] == facts["of"]), None)


class AsyncZones:
    """Where data rests: bronze, silver, gold. What is published there is seen when this task has finished."""

    def __init__(self, ctx: AsyncContext) -> None:
        self._ctx = ctx

    async def stat(self, ref: str) -> Mapping[str, Any] | None:
        """`{"bytes", "etag", "modified_at"}`, or None when there is no such file."""
        return (await self._ctx.ask("stat", zone_ref(ref)))["stat"]

    async def list(self, zone: str, prefix: str = "", *, after: str | None = None, limit: int = 1000) -> Any:
        """`{"entries": [{"key", "bytes", …}], "next"}`, in order of key."""
        given = {"zone": zone, "prefix": prefix, "after": after, "limit": limit}
        return await self._ctx.ask("list", given)

    async def download(self, ref: str, file: str | Path | None = None, *, max_bytes: int | None = None) -> Path:
        """Copies `bronze:dem/scene-1.tif` into a new file in the attempt's scratch, or where it is told to."""
        named = zone_ref(ref)
        path = Path(file) if file is not None else self._ctx.scratch / named["key"].rsplit("/", 1)[-1]
        await self._ctx.ask("download", {**named, "file": str(path.absolute()), "max_bytes": max_bytes})
        return path

    async def publish(
        self,
        file: str | Path,
        *,
        zone: str,
        prefix: str,
        name: str | None = None,
        media_type: str = "application/octet-stream",
    ) -> Asset:
        """Uploads a file under a key of this attempt, and has it recorded with the task's finish: a zombie's is never
        seen."""
        path = Path(file).absolute()
        given = {"file": str(path), "zone": zone, "prefix": prefix, "name": name or path.name, "media_type": media_type}
        asset = Asset(**await self._ctx.ask("publish", given))
        self._ctx.add_effect("publish", asset)
        return asset

    async def adopt(self, ref: str, *, bytes: int, sha256: str, media_type: str) -> Asset:
        """Records a file that is there already, and was not made here, as an asset; it is never swept."""
        named = zone_ref(ref)
        asset = Asset(named["zone"], named["key"], named["key"].rsplit("/", 1)[-1], "", bytes, sha256, media_type)
        self._ctx.add_effect("adopt", asset)
        return asset

    async def retract(self, ref: str, *, remove_adopted: bool = False) -> None:
        """With the finish of this task the record goes, and the file right after."""
        self._ctx.retract(zone_ref(ref), remove_adopted)


class AsyncContext(BaseContext):
    def __init__(
        self, task: Mapping[str, Any], stage: Mapping[str, Any], services: Services, asker: AsyncAsker
    ) -> None:
        super().__init__(task, stage, services)
        self._asker = asker

    @property
    def facts(self) -> Mapping[str, Any]:
        """The stage as the service tells of it."""
        return self._stage

    async def ask(self, verb: str, given: Mapping[str, Any]) -> Any:
        return await self._asker.ask(self, verb, given)

    @overload
    def previous(self, result: type[U], *, stage: str | None = None) -> AsyncPrevious[U]: ...
    @overload
    def previous(self, result: None = None, *, stage: str | None = None) -> AsyncPrevious[Any]: ...
    def previous(self, result: Any = None, *, stage: str | None = None) -> AsyncPrevious[Any]:
        """Results of the stage before, or of the named one; with a type each is checked and comes as one of it."""
        return AsyncPrevious(self, stage, None if result is None else reader_of(result))

    async def predecessor(self) -> Predecessor | None:
        """The task with the same index (or the named parent) in the stage before; None when there is none."""
        found = (await self.ask("predecessor", {"task_id": self.task_id}))["predecessor"]
        if found is None:
            return None
        result = await self.whole(found, "before")
        return Predecessor(
            found["ordinal"], found["index"], found["status"], result, found["next_stage_params"], found.get("error")
        )

    async def whole(self, stored: Mapping[str, Any], stage: str) -> Any:
        """A result, fetched if it was too large to come along."""
        left_out = stored.get("left_out")
        if left_out is None:
            return stored["result"]
        if left_out.get("url") is None:
            what = f"the result of {stored['index']} in stage {stage} ({left_out['bytes']} bytes) is not sent over HTTP"
            raise Permanent(f"{what}: {left_out['reason']}", code="result_left_out")
        return await self.ask("spilled", {"url": left_out["url"]})

    @property
    def zones(self) -> AsyncZones:
        return AsyncZones(self)

    def add_effect(self, effect: str, asset: Asset) -> None:
        given = {"zone": asset.zone, "key": asset.key, "bytes": asset.bytes, "sha256": asset.sha256}
        self._effect({"effect": effect, **given, "media_type": asset.media_type})
        if effect == "publish":
            self._uploaded.append({"zone": asset.zone, "key": asset.key})

    def retract(self, named: Mapping[str, str], remove_adopted: bool) -> None:
        self._effect({"effect": "retract", **named, "remove_adopted": remove_adopted})

    async def secret(self, name: str) -> str:
        """A secret of the task's tenant, by name or as "secret://name". It is taken out of this attempt's log, errors
        and result."""
        value = cast("str", await self.ask("secret", {"name": name}))
        if self._redaction is None:
            self._redaction = Redaction()
        self._redaction.add(value)
        return value

    async def sleep(self, seconds: float) -> None:
        """Sleeps, and raises Cancelled as soon as the task is no longer wanted."""
        ends_at = clock.monotonic() + seconds
        while (left := ends_at - clock.monotonic()) > 0:
            self.raise_if_cancelled()
            await asyncio.sleep(min(left, 0.05))
        self.raise_if_cancelled()

    @contextlib.asynccontextmanager
    async def db(self) -> AsyncGenerator[Any, None]:
        """One short transaction on a psycopg connection of the worker's database: compute first, then write. Needs
        fanfold[postgres]."""
        url = self._services.database_url
        if url is None:
            raise Permanent("ctx.db is not to be had here: DATABASE_URL is not set for this worker", code="no_database")
        async with await _connect(url, self.task_id) as connection:
            if self.cancelled():
                raise Cancelled("the task is no longer wanted")
            yield connection

    @contextlib.asynccontextmanager
    async def dask(self) -> AsyncGenerator[Any, None]:
        """A distributed.Client of the Dask cluster that the operator configured; dask and xarray compute there meanwhile.
        What it has asked for ends with this attempt. Needs fanfold[dask]."""
        async with AttemptDask(self, self._services.dask) as client:
            yield client


async def _connect(url: str, task_id: str) -> Any:
    try:
        import psycopg
    except ImportError:
        raise Permanent('ctx.db needs psycopg: pip install "fanfold[postgres]"', code="no_psycopg") from None
    return await psycopg.AsyncConnection.connect(url, application_name=f"fanfold {task_id}")


def zone_ref(ref: str) -> dict[str, str]:
    zone, colon, key = ref.partition(":")
    if not colon or zone not in ("bronze", "silver", "gold") or key == "":
        words = f"{quoted(ref)} names no file in a zone: write bronze:, silver: or gold: and a key"
        raise Permanent(words, code="bad_zone_ref")
    return {"zone": zone, "key": key}
