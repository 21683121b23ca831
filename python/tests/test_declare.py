"""How handlers and jobs are declared, checked and tried without a server; values, errors and secrets."""

from __future__ import annotations

import errno
import math
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Literal, TypedDict

import pytest
import shop

from fanfold import (
    App,
    AsyncContext,
    Context,
    DeclarationError,
    Permanent,
    Throttled,
    Transient,
    ValueProblems,
    each,
    handler,
    job,
    stage,
)
from fanfold.classify import classify
from fanfold.declare.schemas import schema_of
from fanfold.redaction import Redaction, without_secret_keys
from fanfold.testing import run_handler
from fanfold.values import to_text
from fanfold.worker.batch import Load, Pace, surplus, wanted

try:
    import pydantic
except ImportError:
    pydantic = None


class Colour(Enum):
    RED = "red"


class Box(TypedDict):
    bbox: tuple[float, float, float, float]


@dataclass
class Scene:
    href: str
    box: Box
    taken: datetime
    colour: Colour = Colour.RED
    bands: list[int] | None = None
    kind: Literal["cog", "raw"] = "cog"


@handler("t.scene")
def scene(scene: Scene) -> dict[str, Any]:
    return {"year": scene.taken.year, "colour": scene.colour, "west": scene.box["bbox"][0]}


def test_parameters_are_read_by_annotation_and_every_offence_is_told() -> None:
    good = {"href": "a", "box": {"bbox": [1, 2, 3, 4]}, "taken": "2024-05-01T00:00:00Z", "colour": "red"}
    assert run_handler(scene, good).result == {"year": 2024, "colour": "red", "west": 1.0}
    bad = {"box": {"bbox": [1, "x", 3, 4]}, "taken": "yesterday", "colour": "blue", "bands": ["1"], "kind": "png"}
    failure = run_handler(scene, bad).failure
    assert failure is not None
    assert (failure.category, failure.code) == ("contract", "contract")
    paths = [one["path"] for one in failure.detail["problems"]]
    assert paths == ["$.href", "$.box.bbox[1]", "$.taken", "$.colour", "$.bands[0]", "$.kind"]


@pytest.mark.skipif(pydantic is None, reason="pydantic is not installed")
def test_pydantic_models_check_themselves_in_our_shape() -> None:
    assert pydantic is not None

    class Tile(pydantic.BaseModel):
        x: int
        name: str = pydantic.Field(pattern="^t")

    class Ask(pydantic.BaseModel):
        tiles: list[Tile]

    def sizes(ask: Ask) -> Tile:
        return Tile(x=len(ask.tiles), name="t")

    sizes.__annotations__ = {"ask": Ask, "return": Tile}
    found = handler("t.sizes", sizes)
    assert run_handler(found, {"tiles": [{"x": 1, "name": "t1"}]}).result == {"x": 1, "name": "t"}
    failure = run_handler(found, {"tiles": [{"x": "one", "name": "q"}]}).failure
    assert failure is not None
    assert [one["path"] for one in failure.detail["problems"]] == ["$.tiles[0].x", "$.tiles[0].name"]
    # The server takes neither references nor patterns.
    assert schema_of(Ask)["properties"]["tiles"]["items"]["properties"]["name"] == {"title": "Name", "type": "string"}


def test_a_result_that_json_cannot_hold_is_told_with_its_path() -> None:
    for value, path in (
        ({"a": [1, math.nan]}, "$.a[1]"),
        ({"a": {"n": 2**53}}, "$.a.n"),
        ({"odd key": "a\0b"}, '$["odd key"]'),
        (["\ud800"], "$[0]"),
        ({"f": object()}, "$.f"),
        ({(1, 2): 3}, "$"),
    ):
        with pytest.raises(ValueProblems) as wrong:
            to_text(value)
        assert [one.path for one in wrong.value.problems] == [path]
    assert to_text({"at": datetime(2024, 1, 2), "n": 2**53 - 1, "s": "1234567890123456789"}) == (
        '{"at":"2024-01-02T00:00:00","n":9007199254740991,"s":"1234567890123456789"}'
    )
    itself: list[Any] = []
    itself.append(itself)
    with pytest.raises(ValueProblems, match="contains itself"):
        to_text(itself)
    numpy = pytest.importorskip("numpy")
    assert to_text({"n": numpy.int64(3), "a": numpy.arange(2)}) == '{"n":3,"a":[0,1]}'


def test_errors_mean_what_their_class_status_or_number_says() -> None:
    httpx = pytest.importorskip("httpx")
    answer = httpx.Response(429, headers={"retry-after": "7"}, request=httpx.Request("GET", "http://192.0.2.1"))
    named: dict[str, Any] = {"__module__": "botocore.exceptions", "response": {"Error": {"Code": "SlowDown"}}}
    boto = type("ClientError", (Exception,), named)
    gdal = type("RasterioIOError", (OSError,), {"__module__": "rasterio.errors"})
    sql = type("Oops", (Exception,), {"sqlstate": "23505"})
    wrapped = RuntimeError("outside")
    wrapped.__cause__ = ConnectionRefusedError(errno.ECONNREFUSED, "no")
    table: list[tuple[BaseException, str, str]] = [
        (httpx.HTTPStatusError("x", request=answer.request, response=answer), "throttled", "http_429"),
        (httpx.ConnectError("x"), "transient", "connection"),
        (boto("x"), "throttled", "slow_down"),
        (gdal("HTTP response code: 503"), "transient", "http_503"),
        (gdal("'x.tif' not recognized as being in a supported file format."), "permanent", "unreadable"),
        (sql("x"), "permanent", "sqlstate_23505"),
        (wrapped, "transient", "econnrefused"),
        (FileNotFoundError(errno.ENOENT, "no"), "transient", "unexpected"),
        (TimeoutError("x"), "transient", "timeout"),
        (KeyError("x"), "transient", "bug"),
        (ValueError("x"), "transient", "unexpected"),
        (Permanent("x", code="no_crs"), "permanent", "no_crs"),
        (Throttled(3), "throttled", "throttled"),
        (Transient("x", code="Not A Code"), "transient", "transient"),
    ]
    for error, category, code in table:
        found = classify(error)
        assert (found.category, found.code) == (category, code), error
    assert classify(table[0][0]).retry_after_s == 7
    assert classify(Throttled(10**9)).retry_after_s == 86_400


def test_declarations_are_refused_all_together() -> None:
    def generator(ctx: Context) -> Any:
        yield 1

    async def mixed_up(ctx: Context) -> None: ...

    def odd(thing: complex) -> None: ...

    broken = [
        handler("Not A Name", lambda: None),
        handler("t.gen", generator),
        handler("t.mixed", mixed_up),
        handler("t.odd", odd, proces=True),
        handler("t.nested", odd, process=True),
    ]
    with pytest.raises(DeclarationError) as wrong:
        App(handlers=broken).registry()
    told = str(wrong.value)
    for words in (
        "is not a task type",
        "is a generator",
        "takes AsyncContext",
        "complex",
        "there is no such option",
        "a module names",
    ):
        assert words in told
    with pytest.raises(DeclarationError, match="has no handlers"):
        App().registry()
    assert {one.name for one in App.from_modules(shop).handlers} >= {"py.measure", "py.total"}


def test_a_job_becomes_data() -> None:
    made = job(
        "t_scenes",
        Scene,
        [stage("one", scene, each("$.x[*]", index="{item}", href="{item}"), max_parallel=3)],
        identity=["href"],
    )
    told = made.declaration()
    assert told["stages"] == [
        {
            "name": "one",
            "task": "t.scene",
            "max_parallel": 3,
            "tasks": {"each": "$.x[*]", "index": "{item}", "parameters": {"href": "{item}"}},
        }
    ]
    assert told["parameters"]["required"] == ["href", "box", "taken"]
    assert told["identity"] == ["href"]


def test_a_handler_is_tried_without_a_server(tmp_path: Any) -> None:
    @handler("t.fold")
    async def fold(ctx: AsyncContext) -> dict[str, Any]:
        shop.logger.warning("folding %s", await ctx.secret("token"))
        ctx.put_items("dem", [{"id": "a"}])
        return {"sum": sum([one async for one in ctx.previous(int)])}

    @handler("t.copy")
    def copy(ctx: Context) -> str:
        path = ctx.zones.download("bronze:a/b.tif")
        assert path.parent == ctx.scratch
        return ctx.zones.publish(path, zone="silver", prefix="a", media_type="image/tiff").ref

    folded = run_handler(fold, previous=[1, 2, 3], secrets={"token": "hunter22"})
    assert folded.result == {"sum": 6}
    assert folded.logs[0][:2] == ("warn", "folding [redacted]")
    assert folded.effects == [{"effect": "put_items", "collection": "dem", "items": [{"id": "a"}]}]
    copied = run_handler(copy, files={"bronze:a/b.tif": b"bytes"})
    assert copied.assets == {copied.result: b"bytes"}
    assert copied.effects[0]["effect"] == "publish"
    refused = run_handler(fold, previous=["one"])
    assert refused.failure is not None
    assert refused.failure.code == "secret_missing"
    assert scene.function is not None and measure_is_callable()


def measure_is_callable() -> bool:
    """A decorated function can still be called as one."""
    return shop.first(shop.Words([], 4)) == 8


def test_secrets_are_found_however_they_are_written() -> None:
    redaction = Redaction()
    redaction.add("s3cret/Value")
    for text in (
        "x s3cret/Value y",
        "S3CRET/VALUE",
        "czNjcmV0L1ZhbHVl",
        "s3cret%2FValue",
        "7333637265742f56616c7565",
        "eulaV/terc3s",
    ):
        assert "[redacted]" in redaction.text(text), text
    assert redaction.text("half s3cret…") == "half [redacted]…"
    assert without_secret_keys({"api_key": "x", "a": {"password": "y", "note": "z"}, "token": "secret://t"}) == {
        "api_key": "[redacted]",
        "a": {"password": "[redacted]", "note": "z"},
        "token": "secret://t",
    }


def test_batches_grow_for_short_tasks_and_surplus_goes_back() -> None:
    load = Load(slots=8, running=0, queued=0, batch_max=1000, per_start_s=None, last_batch=0, youngest_s=0)
    assert wanted(load) == 8
    load.per_start_s, load.last_batch = 0.0001, 8
    assert wanted(load) == 64
    load.last_batch = 500
    assert wanted(load) == 1000
    load.running, load.queued, load.youngest_s = 8, 0, 2.0
    assert wanted(load) == 0
    pace = Pace()
    pace.record(4.0)
    assert pace.per_start(8, 0) == 0.5
    assert surplus(8, 8, [(10, 0.5)], 0.2, 0.1) == 8
    assert surplus(8, 8, [(10, 0.01)], 1.5, 0.1) == 10
    assert surplus(8, 7, [(10, 0.5)], 5, 0.1) == 0
