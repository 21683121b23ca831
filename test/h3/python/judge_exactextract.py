"""A raster of one band and cells as GeoJSON features: of each cell the pixels it touches, how much of each it covers, and the sums of both."""
import json
import sys

import rasterio
from exactextract import exact_extract
from exactextract.raster import NumPyRasterSource

asked = json.load(sys.stdin)
with rasterio.open(asked["raster"]) as dataset:
    values = dataset.read(1, masked=True)
    west, south, east, north = dataset.bounds
source = NumPyRasterSource(values.filled(asked["nodata"]), west, south, east, north, nodata=asked["nodata"])
found = exact_extract(source, asked["cells"], ["count", "sum", "values", "coverage"], include_cols=["h3"])
print(json.dumps([
    {
        "h3": one["properties"]["h3"],
        "count": float(one["properties"]["count"]),
        "sum": float(one["properties"]["sum"]),
        "values": [float(value) for value in one["properties"]["values"]],
        "coverage": [float(share) for share in one["properties"]["coverage"]],
    }
    for one in found
]))
