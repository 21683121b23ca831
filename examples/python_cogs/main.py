"""Makes scenes, some of them broken, brings them into bronze, has them turned into COGs, mends what was broken, and resumes."""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import rasterio
from cogs import Scenes, cogs
from rasterio.transform import from_origin

from fanfold import Client

HERE = Path(__file__).parent


def scene(file: Path, number: int, crs: str | None = "EPSG:32632") -> Path:
    heights = np.random.default_rng(number).integers(0, 4000, (1, 300, 300), dtype="int16")
    place = from_origin(400_000 + 9_000 * (number % 20), 5_200_000 - 9_000 * (number // 20), 30, 30)
    shape = {"width": 300, "height": 300, "count": 1, "dtype": "int16"}
    with rasterio.open(file, "w", driver="GTiff", crs=crs, transform=place, **shape) as out:
        out.write(heights)
    return file


def bring(client: Client, folder: Path, count: int, collection: str) -> list[str]:
    """The first three are broken, each in its own way."""
    refs: list[str] = []
    for number in range(count):
        file = scene(folder / f"scene-{number}.tif", number, None if number == 0 else "EPSG:32632")
        if number == 1:
            file.write_bytes(file.read_bytes()[:1000])
        if number == 2:
            file.write_bytes(b"this is no raster")
        refs.append(client.upload(file, f"{collection}/{file.name}")["ref"])
    return refs


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("--scenes", type=int, default=200)
    given.add_argument("--collection", default="example_dem")
    asked = given.parse_args()
    worker = subprocess.Popen([sys.executable, "-m", "fanfold.worker", "cogs:app", "--slots", "2"], cwd=HERE)
    try:
        with Client() as client, tempfile.TemporaryDirectory() as folder:
            refs = bring(client, Path(folder), asked.scenes, asked.collection)
            client.save_job(cogs)  # so does the worker, when it has started
            ended = client.run(cogs, Scenes(sources=refs, collection=asked.collection), timeout_s=1800)
            print(f"{ended['status']}: {client.result(ended['job_id'])['cogs']} of {asked.scenes} scenes")
            codes = Counter[str]()
            for group in client.errors(ended["job_id"]):
                codes[group["code"] or ""] += group["tasks"]
            for code, tasks in sorted(codes.items()):
                print(f"  {tasks} × {code}")
            for number in range(3):
                mended = scene(Path(folder) / f"scene-{number}.tif", number)
                client.upload(mended, f"{asked.collection}/{mended.name}", overwrite=True)
            stages = client.resume(ended["job_id"])["stages"]
            print(f"resumed: {stages[0]['again']} again, {stages[0]['kept']} kept")
            ended = client.wait(ended["job_id"], timeout_s=1800)
            print(f"{ended['status']}: {client.result(ended['job_id'])['cogs']} of {asked.scenes} scenes")
            items = list(client.items(collections=[asked.collection]))
            got = client.download_asset(items[0], "cog", Path(folder) / "got.tif")
            with rasterio.open(got) as cog:
                layout = cog.tags(ns="IMAGE_STRUCTURE").get("LAYOUT")
                print(f"{len(items)} items; the first one's file is a {layout} of {cog.width} × {cog.height}")
    finally:
        worker.terminate()
        worker.wait()


if __name__ == "__main__":
    main()
