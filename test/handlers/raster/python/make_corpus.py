"""Rasters of every kind people send, made small in a folder that is given on standard input; says what it made. GDAL writes them, so that
neither our reader nor our writer is judged by itself."""
import json
import os
import sys

import numpy as np
from osgeo import gdal, osr

gdal.UseExceptions()
gdal.PushErrorHandler("CPLQuietErrorHandler")
osr.UseExceptions()
wanted = json.load(sys.stdin)
folder, names = wanted["folder"], wanted.get("names")
made = []
utm = (500000, 30, 0, 4000000, 0, -30)
degrees = (10, 0.01, 0, 50, 0, -0.01)
side = 96


def waves(width=side, height=side, low=1, high=200, bands=1):
    """Smooth, without a value that a detector of nodata would take for one."""
    y, x = np.mgrid[0:height, 0:width]
    one = [low + (high - low) * (0.5 + 0.25 * np.sin(x / 9 + b) + 0.25 * np.cos(y / 7 - b)) for b in range(bands)]
    return np.stack(one)


def raster(name, values=None, type=gdal.GDT_Byte, srs="EPSG:32636", place=utm, options=(), nodata=None, given=None, edit=None, copy=None):
    if names is not None and name not in names:
        return
    values = waves() if values is None else values
    file = os.path.join(folder, f"{name}.tif")
    bands, height, width = values.shape
    driver = gdal.GetDriverByName("MEM" if copy else "GTiff")
    data = driver.Create("" if copy else file, width, height, bands, type, list(options) if not copy else [])
    if srs:
        system = osr.SpatialReference()
        system.SetFromUserInput(srs)
        data.SetProjection(system.ExportToWkt())
    if place:
        data.SetGeoTransform(place)
    for at in range(bands):
        band = data.GetRasterBand(at + 1)
        if nodata is not None:
            band.SetNoDataValue(nodata)
        band.WriteArray(values[at])
    if edit:
        edit(data)
    if copy:
        gdal.GetDriverByName(copy).CreateCopy(file, data, options=list(options))
    data = None
    made.append({"name": name, "file": file, "given": given or {}})


whole = {
    "uint8": gdal.GDT_Byte, "uint16": gdal.GDT_UInt16, "int16": gdal.GDT_Int16, "uint32": gdal.GDT_UInt32,
    "int32": gdal.GDT_Int32, "float32": gdal.GDT_Float32, "float64": gdal.GDT_Float64,
}
for name, type in whole.items():
    raster(f"type-{name}", waves(high=120 if name == "uint8" else 30000), type)
if hasattr(gdal, "GDT_Int64"):
    large = (waves() * 2**46).astype(np.int64) + 12345678901234567
    raster("type-int64", large, gdal.GDT_Int64)
    raster("type-uint64", large.astype(np.uint64), gdal.GDT_UInt64)
    raster("type-int64-small", waves(high=9000).astype(np.int64), gdal.GDT_Int64, nodata=-9999)
raster("type-int8", waves(low=-90, high=90), gdal.GDT_Byte, options=["PIXELTYPE=SIGNEDBYTE"])
raster("type-complex", waves().astype(np.complex64), gdal.GDT_CFloat32)
raster("type-1-bit", (waves() > 90).astype(np.uint8), options=["NBITS=1"])
raster("type-4-bits", waves(low=0, high=15).astype(np.uint8), options=["NBITS=4"])
raster("type-12-bits", waves(high=4000), gdal.GDT_UInt16, options=["NBITS=12"])
raster("type-half-float", waves(), gdal.GDT_Float32, options=["NBITS=16"])

creation = gdal.GetDriverByName("GTiff").GetMetadataItem("DMD_CREATIONOPTIONLIST")
for codec in ["LZW", "DEFLATE", "PACKBITS", "ZSTD", "LERC", "LERC_ZSTD", "LZMA", "JXL"]:
    if f">{codec}<" in creation:
        raster(f"packed-{codec.lower()}", waves(), options=[f"COMPRESS={codec}", "TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"])
raster("packed-predictor", waves(high=9000), gdal.GDT_Float32, options=["COMPRESS=DEFLATE", "PREDICTOR=3"])
rgb = waves(bands=3)
raster("jpeg-ycbcr", rgb, options=["COMPRESS=JPEG", "PHOTOMETRIC=YCBCR", "TILED=YES"], copy="GTiff")
raster("jpeg-rgb", rgb, options=["COMPRESS=JPEG", "PHOTOMETRIC=RGB", "INTERLEAVE=PIXEL"], copy="GTiff")
raster("jpeg-gray", options=["COMPRESS=JPEG"], copy="GTiff")
raster("jpeg-seen", rgb, options=["COMPRESS=JPEG", "PHOTOMETRIC=YCBCR"], copy="GTiff", given={"purpose": "visualization"})
raster("jpeg-twice", rgb, options=["COMPRESS=JPEG", "PHOTOMETRIC=YCBCR"], copy="GTiff", given={"compression": "jpeg", "strict": True})
if ">WEBP<" in creation:
    raster("webp", rgb, options=["COMPRESS=WEBP", "WEBP_LOSSLESS=YES"], copy="GTiff")

raster("layout-one-row-strips", options=["BLOCKYSIZE=1"])
raster("layout-bands-apart", waves(bands=4), options=["INTERLEAVE=BAND", "TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32"])
raster("layout-bigtiff", options=["BIGTIFF=YES"])
raster("layout-big-endian", waves(high=9000), gdal.GDT_Int16, options=["ENDIANNESS=BIG"])
raster("layout-cog", waves(700, 600), options=["COMPRESS=DEFLATE"], copy="COG")
raster("layout-overviews", waves(700, 600), options=["TILED=YES"], edit=lambda data: data.BuildOverviews("NEAREST", [2, 4]))
raster("layout-13-bands", waves(bands=13, high=9000), gdal.GDT_UInt16)
sparse = waves(300, 300)
raster("layout-sparse", np.where(np.indices((300, 300))[0] < 150, 0, sparse), options=["TILED=YES", "SPARSE_OK=TRUE", "BLOCKXSIZE=64", "BLOCKYSIZE=64"], nodata=0)


def palette(data):
    colors = gdal.ColorTable()
    for at in range(256):
        colors.SetColorEntry(at, (at, 255 - at, 90, 255))
    data.GetRasterBand(1).SetColorTable(colors)


def masked(data):
    data.CreateMaskBand(gdal.GMF_PER_DATASET)
    data.GetRasterBand(1).GetMaskBand().WriteArray(np.where(waves()[0] > 90, 255, 0).astype(np.uint8))


def scaled(data):
    band = data.GetRasterBand(1)
    band.SetScale(0.0001)
    band.SetOffset(-0.1)
    band.SetUnitType("m")
    band.SetDescription("depth < & >")


alpha = np.concatenate([rgb, np.where(rgb[:1] > 90, 255, 0)])
gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES")
raster("bands-palette", edit=palette)
raster("bands-rgb", rgb, options=["PHOTOMETRIC=RGB"])
raster("bands-rgba", alpha, options=["PHOTOMETRIC=RGB", "ALPHA=YES"])
raster("bands-mask", edit=masked)
raster("bands-scaled", waves(high=9000), gdal.GDT_Int16, edit=scaled)
raster("bands-picked", waves(bands=4, high=9000), gdal.GDT_UInt16, given={"bands": [3, 1], "band_names": ["third", "first"]})

hole = lambda value, **more: np.where(np.indices((1, side, side))[2] < 30, value, waves(**more))
raster("nodata-nan", hole(np.nan), gdal.GDT_Float32, nodata=np.nan)
raster("nodata-lowest-float", hole(-3.4028234663852886e38), gdal.GDT_Float32, nodata=-3.4028234663852886e38)
raster("nodata-float64", hole(-1.7976931348623157e308) / 3 * 1.0, gdal.GDT_Float64, nodata=-1.7976931348623157e308 / 3)
raster("nodata-not-declared", hole(-9999, high=3000), gdal.GDT_Float32)
raster("nodata-zero", hole(0), nodata=0)
raster("nodata-beyond-type", nodata=-9999)
raster("nodata-all", np.full((1, side, side), -1), gdal.GDT_Int16, nodata=-1)
raster("nodata-given", hole(7, low=20), given={"nodata": 7})
raster("values-infinite", hole(np.inf), gdal.GDT_Float32)
raster("values-constant", np.full((1, side, side), 4.5), gdal.GDT_Float32)

places = {
    "crs-degrees": ("EPSG:4326", degrees),
    "crs-web-mercator": ("EPSG:3857", (1000000, 100, 0, 6000000, 0, -100)),
    "crs-europe": ("EPSG:3035", (4000000, 1000, 0, 3000000, 0, -1000)),
    "crs-south-pole": ("EPSG:3031", (-480000, 10000, 0, 480000, 0, -10000)),
    "crs-north-pole": ("EPSG:3413", (-480000, 10000, 0, 480000, 0, -10000)),
    "crs-esri-albers": ("ESRI:102003", (-2000000, 3000, 0, 1000000, 0, -3000)),
    "crs-mollweide": ("ESRI:54009", (0, 5000, 0, 4000000, 0, -5000)),
    "crs-geostationary": ("+proj=geos +h=35785831 +lon_0=-75 +sweep=x +ellps=GRS80 +units=m", (-1440000, 30000, 0, 1440000, 0, -30000)),
    "crs-geostationary-whole": ("+proj=geos +h=35785831 +lon_0=-75 +sweep=x +ellps=GRS80 +units=m", (-5434895.1, 113226.98, 0, 5434895.1, 0, -113226.98)),
    "crs-datum-shift": ("+proj=utm +zone=25 +south +ellps=aust_SA +towgs84=-67.35,3.88,-38.22,0,0,0,0 +units=m", (288000, 89.7, 0, 9120000, 0, -89.7)),
    "crs-datum-shift-of-seven": ("+proj=tmerc +lat_0=0 +lon_0=13.3333333333333 +k=1 +x_0=0 +y_0=-5000000 +ellps=bessel +towgs84=577.326,90.129,463.919,5.137,1.474,5.297,2.4232 +units=m", (0, 90, 0, 340000, 0, -90)),
    "crs-modis-sinusoidal": ("+proj=sinu +R=6371007.181 +units=m", (1111950, 926.625, 0, 5559752, 0, -926.625)),
    "crs-nad27": ("EPSG:4267", (-100, 0.01, 0, 40, 0, -0.01)),
    "crs-swiss": ("EPSG:2056", (2600000, 50, 0, 1200000, 0, -50)),
    "crs-feet": ("EPSG:2263", (980000, 100, 0, 200000, 0, -100)),
    "crs-compound": ("EPSG:4326+5773", degrees),
    "crs-lambert": ("EPSG:2154", (700000, 100, 0, 6600000, 0, -100)),
    "crs-local": ('LOCAL_CS["a site of its own",UNIT["metre",1]]', (0, 1, 0, 100, 0, -1)),
    "place-pole-80-90": ("EPSG:4326", (0, 1, 0, 90, 0, -0.1)),
    "place-globe": ("EPSG:4326", (-180, 3.75, 0, 90, 0, -1.875)),
    "place-globe-0-360": ("EPSG:4326", (0, 3.75, 0, 90, 0, -1.875)),
    "place-half-a-pixel-over": ("EPSG:4326", (-181.875, 3.75, 0, 90.9375, 0, -1.875)),
    "place-antimeridian": ("EPSG:32601", (150000, 1000, 0, 2000000, 0, -1000)),
    "place-rotated": ("EPSG:32636", (500000, 26, 15, 4000000, 15, -26)),
    "place-south-up": ("EPSG:32636", (500000, 30, 0, 4000000, 0, 30)),
    "place-mirrored": ("EPSG:32636", (500000, -30, 0, 4000000, 0, -30)),
    "place-odd-numbers": ("EPSG:32636", (288776.28211304, 28.49999999927454, 0, 9120761.01369241, 0, -28.49999999951154)),
    "place-not-in-degrees": ("EPSG:4326", utm),
    "place-no-crs": (None, utm),
    "place-none": ("EPSG:32636", None),
}
for name, (srs, place) in places.items():
    raster(name, waves(high=9000), gdal.GDT_Float32, srs=srs, place=place)
raster("place-odd-numbers-float64", waves(high=9000) / 3, gdal.GDT_Float64, place=places["place-odd-numbers"][1])
raster("place-crs-given", waves(high=9000), gdal.GDT_Int16, srs=None, given={"source_crs": "EPSG:32636"})
raster("place-point", waves(high=9000), gdal.GDT_Int16, edit=lambda data: data.SetMetadataItem("AREA_OR_POINT", "Point"))
raster("size-1x1", np.full((1, 1, 1), 7))
raster("size-1x90", waves(1, 90))
raster("size-90x1", waves(90, 1))
raster("size-tiled", waves(700, 600, high=9000), gdal.GDT_Int16, given={"max_single_px": 512, "tile_px": 512})


def control_points(data):
    points = [gdal.GCP(500000 + 30 * x, 4000000 - 30 * y, 0, x, y) for x in (0, side) for y in (0, side)]
    system = osr.SpatialReference()
    system.ImportFromEPSG(32636)
    data.SetGCPs(points, system.ExportToWkt())


def rational(data):
    line = {"LINE_OFF": "48", "SAMP_OFF": "48", "LAT_OFF": "50", "LONG_OFF": "10", "HEIGHT_OFF": "0", "LINE_SCALE": "48", "SAMP_SCALE": "48"}
    line |= {"LAT_SCALE": "0.5", "LONG_SCALE": "0.5", "HEIGHT_SCALE": "500"}
    line |= {f"{which}_COEFF": " ".join(["0"] * 20) for which in ("LINE_NUM", "SAMP_NUM")}
    line |= {f"{which}_COEFF": " ".join(["1"] + ["0"] * 19) for which in ("LINE_DEN", "SAMP_DEN")}
    data.SetMetadata(line, "RPC")


raster("place-control-points", srs=None, place=None, edit=control_points)
raster("place-rational", srs=None, place=None, edit=rational)
print(json.dumps(made))
