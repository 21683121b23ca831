"""Files on standard input: what geoparquet-io, GeoPandas and DuckDB say about each."""
import json
import os
import subprocess
import sys
import tempfile

# DuckDB looks for its extensions below the home folder; this one comes in a package.
os.environ["HOME"] = tempfile.mkdtemp()

import duckdb
import geopandas
from duckdb_extensions import import_extension

import_extension("spatial")

verdicts = []
for file in json.load(sys.stdin):
    checked = subprocess.run(
        [sys.executable, "-m", "geoparquet_io.cli.main", "check", "spec", file, "--json"],
        capture_output=True, text=True,
    )
    frame = geopandas.read_parquet(file)
    connection = duckdb.connect()
    count, least = connection.execute("select count(*), min(bbox.xmin) from read_parquet(?)", [file]).fetchone()
    verdicts.append({
        "gpio": {"code": checked.returncode, "said": (checked.stdout + checked.stderr)[-4000:]},
        "geopandas": {
            "rows": len(frame),
            "crs": str(frame.crs),
            "bounds": list(frame.total_bounds),
            "valid": bool(frame.geometry.is_valid.all()),
            "types": sorted({str(kind) for kind in frame.dtypes}),
        },
        "duckdb": {"rows": count, "xmin": least},
    })
print(json.dumps(verdicts))
