"""Scenes into COGs with rasterio, each with a STAC item: fanfold-worker cogs:app --slots 4"""

from typing import Any

from pydantic import BaseModel

from fanfold import App, Context, Permanent, each, handler, job, stage


class Scenes(BaseModel):
    sources: list[str]
    collection: str


class Cog(BaseModel):
    ref: str
    bytes: int


@handler("tiles.cog", process=True, memory_mb=2048, timeout_s=900)  # GDAL in a child: a crash costs one attempt
def cog(source: str, collection: str, ctx: Context) -> Cog:
    import rasterio
    import rasterio.shutil
    import rasterio.warp

    name = source.rsplit("/", 1)[-1].removesuffix(".tif")
    made = ctx.scratch / "cog.tif"
    with rasterio.open(ctx.zones.download(source)) as scene:
        if scene.crs is None:
            raise Permanent(f"{source} has no coordinate system", code="no_crs")  # the other scenes go on
        bbox = [round(one, 6) for one in rasterio.warp.transform_bounds(scene.crs, "EPSG:4326", *scene.bounds)]
        rasterio.shutil.copy(scene, made, driver="COG", compress="deflate", blocksize=256)
    asset = ctx.zones.publish(made, zone="silver", prefix=f"{collection}/{name}", media_type="image/tiff")
    # File, collection and item are there when this task has finished, or none of them.
    ctx.put_collection(stac_collection(collection))
    ctx.put_items(collection, [stac_item(collection, name, bbox, asset.href)])
    ctx.deliver("cogs", count=1)
    return Cog(ref=asset.ref, bytes=asset.bytes)


@handler("tiles.report")
def report(ctx: Context) -> dict[str, int]:
    sizes = [one.bytes for one in ctx.previous(Cog)]
    return {"cogs": len(sizes), "bytes": sum(sizes)}


def stac_collection(name: str) -> dict[str, Any]:
    extent = {"spatial": {"bbox": [[-180, -90, 180, 90]]}, "temporal": {"interval": [[None, None]]}}
    told = {"id": name, "description": "Scenes as COGs", "license": "CC0-1.0", "extent": extent, "links": []}
    return {"type": "Collection", "stac_version": "1.0.0", **told}


def stac_item(collection: str, name: str, bbox: list[float], href: str) -> dict[str, Any]:
    west, south, east, north = bbox
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    media_type = "image/tiff; application=geotiff; profile=cloud-optimized"
    return {
        "type": "Feature",
        "stac_version": "1.0.0",
        "id": name,
        "collection": collection,
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "bbox": bbox,
        "properties": {"datetime": "2026-01-01T00:00:00Z"},
        "links": [],
        "assets": {"cog": {"href": href, "type": media_type, "roles": ["data"]}},
    }


cogs = job(
    "tiles",
    Scenes,
    [
        stage(
            "cog",
            cog,
            each("$.sources[*]", source="{item}", collection="{parameters.collection}"),
            failure_budget={"percent": 30},
        ),
        stage("report", report, parallelism="fan_in"),
    ],
)
app = App(jobs=[cogs], handlers=[cog, report])
