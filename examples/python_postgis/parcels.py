"""GeoPandas into PostGIS: files of parcels are read, reprojected and written with ctx.db: fanfold-worker parcels:app

Each task replaces the rows of its own file in one transaction: run twice, it has written once."""

from pydantic import BaseModel

from fanfold import App, Context, Permanent, each, handler, job, stage


class Ask(BaseModel):
    files: list[str]
    table: str


class Loaded(BaseModel):
    rows: int
    hectares: float


@handler("parcels.load", timeout_s=600)
def load(file: str, table: str, ctx: Context) -> Loaded:
    import geopandas
    from psycopg import sql

    frame = geopandas.read_file(ctx.zones.download(file)).to_crs(2056)
    bad = frame[~frame.geometry.is_valid]
    if len(bad):
        raise Permanent(f"{file}: {len(bad)} of {len(frame)} shapes are not valid", code="invalid_shapes")
    frame["hectares"] = frame.geometry.area / 10_000
    # All that takes long is done: the transaction is short.
    with ctx.db() as connection, connection.cursor() as cursor:
        name = sql.Identifier(table)
        cursor.execute(sql.SQL("delete from {} where file = %s").format(name), (file,))
        with cursor.copy(sql.SQL("copy {} (file, parcel, hectares, shape) from stdin").format(name)) as copy:
            shapes = frame.geometry.to_wkb(hex=True, include_srid=True)
            for parcel, hectares, shape in zip(frame["parcel"], frame["hectares"], shapes, strict=True):
                copy.write_row((file, parcel, hectares, shape))
    return Loaded(rows=len(frame), hectares=float(frame["hectares"].sum()))


@handler("parcels.sum")
def total(ctx: Context) -> Loaded:
    parts = list(ctx.previous(Loaded))
    return Loaded(rows=sum(one.rows for one in parts), hectares=round(sum(one.hectares for one in parts), 1))


parcels = job(
    "parcels",
    Ask,
    [
        stage(
            "load",
            load,
            each("$.files[*]", file="{item}", table="{parameters.table}"),
            failure_budget={"count": 1},
            max_parallel=4,
        ),
        stage("sum", total, parallelism="fan_in"),
    ],
)
app = App(jobs=[parcels], handlers=[load, total])
