"""Scenes with STAC items, and their median over time: one task for each tile, one small Dask graph in each task.

    fanfold-worker composite:app --slots 4
"""

import os
from dataclasses import dataclass

from fanfold import App, Context, each, handler, job, stage

TIFF = "image/tiff; application=geotiff"


@dataclass
class Ask:
    collection: str
    days: list[str]
    tiles: list[list[float]]


@handler("odc.scene", process=True, memory_mb=1024)
def scene(day: str, ctx: Context) -> str:
    """A scene of one degree: stands for those that you have already."""
    import numpy as np
    import rasterio
    from rasterio.transform import from_bounds

    values = np.full((100, 100), int(day[-2:]), dtype="float32") + np.arange(100, dtype="float32") / 100
    path = ctx.scratch / f"{day}.tif"
    shape = {"width": 100, "height": 100, "count": 1, "dtype": "float32", "nodata": -1}
    with rasterio.open(path, "w", driver="COG", crs="EPSG:4326", transform=from_bounds(10, 50, 11, 51, 100, 100), **shape) as out:
        out.write(values, 1)
    asset = ctx.zones.publish(path, zone="silver", prefix=f"odc/{day}", media_type=TIFF)
    collection = ctx.job.parameters["collection"]
    extent = {"spatial": {"bbox": [[10, 50, 11, 51]]}, "temporal": {"interval": [["2024-01-01T00:00:00Z", None]]}}
    ctx.put_collection(
        {"type": "Collection", "stac_version": "1.0.0", "id": collection, "description": "NDVI", "license": "CC0-1.0", "extent": extent, "links": []}
    )
    ring = [[10, 50], [11, 50], [11, 51], [10, 51], [10, 50]]
    item = {
        "type": "Feature",
        "stac_version": "1.0.0",
        "id": day,
        "collection": collection,
        "bbox": [10, 50, 11, 51],
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": {"datetime": f"{day}T10:00:00Z"},
        "links": [],
        "assets": {"ndvi": {"href": asset.href, "type": TIFF, "roles": ["data"]}},
    }
    ctx.put_items(collection, [item])  # with the file, when this task has finished
    return asset.ref


@handler("odc.composite", timeout_s=600)
def composite(bbox: list[float], ctx: Context) -> dict[str, object]:
    import odc.geo.xr  # noqa: F401: teaches xarray to write COGs
    import odc.stac
    from pystac_client import Client

    key = ctx.secret("stac_key")
    catalog = Client.open(f"{os.environ['FANFOLD_URL']}/stac", headers={"authorization": f"Bearer {key}"})
    found = list(catalog.search(collections=[ctx.job.parameters["collection"]], bbox=bbox).items())
    cube = odc.stac.load(found, bands=["ndvi"], bbox=bbox, crs="EPSG:4326", resolution=0.01, chunks={"x": 32, "y": 32})
    with ctx.dask():  # the cluster that the operator configured; the addresses of the assets are signed, so that it needs no key
        median = cube.ndvi.chunk(time=-1).median("time").load()
    path = ctx.scratch / "median.tif"
    median.odc.write_cog(path)
    asset = ctx.zones.publish(path, zone="gold", prefix=f"odc/composite/{ctx.index}", media_type=TIFF)
    ctx.deliver("composites", count=1)
    return {"ref": asset.ref, "scenes": len(found), "mean": float(median.mean()), "shape": list(median.shape)}


composites = job(
    "odc_composites",
    Ask,
    [
        stage("scenes", scene, each("$.days[*]", index="{item}", day="{item}")),
        stage("composites", composite, each("$.tiles[*]", bbox="{item}"), failure_budget={"percent": 10}),
    ],
)
app = App(jobs=[composites], handlers=[scene, composite])
