"""A stac-geoparquet file on standard input: its items as rustac and stac-geoparquet read them."""
import asyncio
import json
import sys

import pyarrow.parquet
import rustac
import stac_geoparquet.arrow

file = json.load(sys.stdin)


async def read_by_rustac():
    return await rustac.read(file)


found = asyncio.run(read_by_rustac())
table = pyarrow.parquet.read_table(file)
told = list(stac_geoparquet.arrow.stac_table_to_items(table))
ids = lambda items: sorted(item["id"] for item in items)
print(json.dumps({
    "rustac": ids(found["features"]),
    "stac_geoparquet": ids(told),
    "datetimes": sorted(item["properties"]["datetime"] for item in found["features"]),
    "assets": sorted(told[0]["assets"]),
}))
