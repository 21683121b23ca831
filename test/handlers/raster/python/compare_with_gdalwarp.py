"""COGs beside what gdalwarp makes with the same options: how many values differ, whether the grid is the same; and, where the COG has the
grid of its source, beside the source itself."""
import json
import sys

import numpy as np
from osgeo import gdal

gdal.UseExceptions()
gdal.PushErrorHandler("CPLQuietErrorHandler")
algorithms = {"nearest": "near"}


def values(data, bands):
    return np.stack([data.GetRasterBand(at + 1).ReadAsArray() for at in range(bands)])


def differences(one, other):
    same = (one == other) | ((one != one) & (other != other))
    return int(same.size - same.sum())


def warped(source, options):
    bands = options.get("bands")
    picked = gdal.Translate("", source, format="VRT", bandList=bands) if bands else gdal.Open(source)
    no_data = {}
    if "source_nodata" in options:
        no_data["srcNodata"] = options["source_nodata"]
    if "nodata" in options:
        no_data["dstNodata"] = options["nodata"]
    x, y = options["resolution"]
    return gdal.Warp(
        "", picked, format="MEM", srcSRS=options.get("source_crs"), dstSRS=options["target_crs"], outputBounds=options["bounds"],
        xRes=x, yRes=y, resampleAlg=algorithms.get(options["resampling"], options["resampling"]), overviewLevel="NONE",
        dstAlpha=bool(options.get("add_alpha")), transformerOptions=["METHOD=GEOTRANSFORM"], warpOptions=["UNIFIED_SRC_NODATA=NO"], **no_data,
    )


def compared(one):
    options, made = one["options"], gdal.Open(one["cog"])
    source = gdal.Open(one["source"])
    wide = source.GetRasterBand(1).DataType in (getattr(gdal, "GDT_Int64", -1), getattr(gdal, "GDT_UInt64", -1))
    told = {"name": one["name"], "size": [made.RasterXSize, made.RasterYSize]}
    grid, own = made.GetGeoTransform(), source.GetGeoTransform()
    is_whole = (made.RasterXSize, made.RasterYSize) == (source.RasterXSize, source.RasterYSize)
    if one["target"] == "source" and is_whole and own[2] == 0 and own[4] == 0 and own[1] > 0 and own[5] < 0:
        bands = options.get("bands") or list(range(1, source.RasterCount + 1))
        given = np.stack([source.GetRasterBand(at).ReadAsArray() for at in bands])
        count = made.RasterCount
        # What a mask hides is told by an alpha band, and is nothing then.
        shown = values(made, count)[: len(bands)]
        hidden = values(made, count)[len(bands) :]
        if not len(hidden) and made.GetRasterBand(count).GetColorInterpretation() == gdal.GCI_AlphaBand:
            hidden = shown[-1:]
        if len(hidden):
            given, shown = np.where(hidden[0] > 0, given, 0), np.where(hidden[0] > 0, shown, 0)
        told |= {"differs_from_source": differences(given, shown), "same_grid": tuple(grid) == tuple(own)}
    if not wide:
        other = warped(one["source"], options)
        count = min(made.RasterCount, other.RasterCount)
        told |= {"differs_from_gdalwarp": differences(values(made, count), values(other, count))}
        told |= {"size_of_gdalwarp": [other.RasterXSize, other.RasterYSize]}
    return told


print(json.dumps([compared(one) for one in json.load(sys.stdin)]))
