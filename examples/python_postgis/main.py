"""Makes files of parcels, one with a shape that crosses itself, loads them into PostGIS, and asks PostGIS what is there."""

import os
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import geopandas
import psycopg
from parcels import Ask, parcels
from psycopg import sql
from shapely.geometry import Polygon, box

from fanfold import Client

HERE = Path(__file__).parent
FILES, PARCELS = 5, 40


def parcel_file(file: Path, number: int, broken: bool) -> Path:
    corner = [(2_600_000 + 100 * place, 1_200_000 + 100 * number) for place in range(PARCELS)]
    shapes = [box(x, y, x + 100, y + 100) for x, y in corner]
    if broken:
        x, y = corner[0]
        shapes[0] = Polygon([(x, y), (x + 100, y + 100), (x + 100, y), (x, y + 100)])
    names = [f"{number}-{place}" for place in range(PARCELS)]
    geopandas.GeoDataFrame({"parcel": names}, geometry=shapes, crs=2056).to_crs(4326).to_file(file, driver="GeoJSON")
    return file


def main() -> None:
    table = f"parcels_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as database:
        columns = "(file text, parcel text, hectares double precision, shape geometry(Polygon, 2056))"
        database.execute(sql.SQL("create table {} " + columns).format(sql.Identifier(table)))
    worker = subprocess.Popen([sys.executable, "-m", "fanfold.worker", "parcels:app", "--slots", "4"], cwd=HERE)
    try:
        with Client() as client, tempfile.TemporaryDirectory() as folder:
            refs: list[str] = []
            for number in range(FILES):
                file = parcel_file(Path(folder) / f"{number}.geojson", number, broken=number == 3)
                refs.append(client.upload(file, f"{table}/{file.name}", media_type="application/geo+json")["ref"])
            client.save_job(parcels)
            ended = client.run(parcels, Ask(files=refs, table=table), timeout_s=300)
            print(f"{ended['status']}: {client.result(ended['job_id'])}")
            print(f"refused: {client.errors(ended['job_id'])[0]['code']}")
            mended = parcel_file(Path(folder) / "3.geojson", 3, broken=False)
            client.upload(mended, f"{table}/3.geojson", overwrite=True)
            client.resume(ended["job_id"])
            again = client.wait(ended["job_id"], timeout_s=300)
            print(f"resumed: {again['status']}: {client.result(ended['job_id'])}")
    finally:
        worker.terminate()
        worker.wait()
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as database:
        asked = sql.SQL("select count(*), count(distinct parcel), round(sum(st_area(shape)) / 10000)::integer from {}")
        rows, different, hectares = database.execute(asked.format(sql.Identifier(table))).fetchone() or (0, 0, 0)
        print(f"PostGIS: {rows} parcels, {different} different, {hectares} ha")
        database.execute(sql.SQL("drop table {}").format(sql.Identifier(table)))


if __name__ == "__main__":
    main()
