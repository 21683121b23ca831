"""The raster jobs as a script of one's own.

items FOLDER            a STAC item of each COG in the folder (rio-stac), into items.ndjson
cogs FOLDER CRS SOURCE… COGs (rio-cogeo), statistics, pictures, checksums and items (rio-stac), in two processes
load FOLDER             the items into pgSTAC (pypgstac); the database is in PGDATABASE, PGHOST, PGPORT and PGUSER
"""

import datetime
import hashlib
import json
import multiprocessing
import pathlib
import subprocess
import sys

import numpy
import rasterio
from rasterio.vrt import WarpedVRT
from rio_cogeo.cogeo import cog_translate
from rio_cogeo.profiles import cog_profiles
from rio_stac import create_stac_item

WHEN = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def item_of(cog, more):
    name = cog.name.removesuffix(".cog.tif")
    item = create_stac_item(
        str(cog), id=name, input_datetime=WHEN, collection="peers", with_proj=True, asset_name="data"
    ).to_dict(include_self_link=False)
    item["assets"]["data"].update(more)
    item["links"] = []
    return json.dumps(item)


def told(cog):
    sums = cog.with_name(cog.name.replace(".cog.tif", ".sha256")).read_text().split()[0]
    looked = json.loads(cog.with_name(cog.name.replace(".cog.tif", ".json")).read_text())
    bands = [{"statistics": {key: band.get(key) for key in ("min", "max", "mean", "stdDev")}} for band in looked["bands"]]
    return {"file:checksum": "1220" + sums, "raster:bands": bands}


def items(folder):
    lines = [item_of(cog, told(cog)) for cog in sorted(folder.glob("*.cog.tif"))]
    (folder / "items.ndjson").write_text("\n".join(lines))


def one_cog(job):
    source, folder, crs = job
    cog = folder / (pathlib.Path(source).stem + ".cog.tif")
    with rasterio.open(source) as opened:
        predictor = 3 if opened.dtypes[0].startswith("float") else 2
        profile = cog_profiles.get("deflate") | {"PREDICTOR": predictor}
        kept = {"overview_resampling": "average", "in_memory": False, "quiet": True}
        if crs == "source":
            cog_translate(opened, str(cog), profile, **kept)
        else:
            with WarpedVRT(opened, crs=crs, resampling=rasterio.enums.Resampling.bilinear) as warped:
                cog_translate(warped, str(cog), profile, **kept)
    bands = []
    with rasterio.open(cog) as made:
        for at in range(1, made.count + 1):
            band = made.read(at, masked=True)
            wide = band.astype("float64")
            bands.append({"statistics": {"min": float(band.min()), "max": float(band.max()), "mean": float(wide.mean()), "stdDev": float(wide.std())}})
        shape = (max(1, made.height * 512 // max(made.shape)), max(1, made.width * 512 // max(made.shape)))
        small = made.read(1, out_shape=shape, masked=True)
        low, high = bands[0]["statistics"]["min"], bands[0]["statistics"]["max"]
        grey = numpy.clip((small.astype("float64").filled(low) - low) / max(high - low, 1e-9) * 255, 0, 255).astype("uint8")
        alpha = numpy.where(numpy.ma.getmaskarray(small), 0, 255).astype("uint8")
        png = {"driver": "PNG", "width": shape[1], "height": shape[0], "count": 2, "dtype": "uint8"}
        with rasterio.open(str(cog).replace(".cog.tif", ".png"), "w", **png) as picture:
            picture.write(numpy.stack([grey, alpha]))
    sums = hashlib.sha256(cog.read_bytes()).hexdigest()
    return item_of(cog, {"file:checksum": "1220" + sums, "raster:bands": bands})


def cogs(folder, crs, sources):
    with multiprocessing.Pool(2) as pool:
        lines = pool.map(one_cog, [(source, folder, crs) for source in sources], chunksize=4)
    (folder / "items.ndjson").write_text("\n".join(lines))


def load(folder):
    run = lambda *args: subprocess.run([sys.executable, "-m", "pypgstac.pypgstac", *args], check=True)
    run("load", "items", str(folder / "items.ndjson"), "--method", "upsert")


if __name__ == "__main__":
    what, folder, *rest = sys.argv[1:]
    place = pathlib.Path(folder)
    if what == "items":
        items(place)
    elif what == "cogs":
        cogs(place, rest[0], rest[1:])
    else:
        load(place)
