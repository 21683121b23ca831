"""A list of files on standard input: what GDAL's own validate_cloud_optimized_geotiff says about each, every block looked at."""
import json
import sys

from osgeo import gdal
from osgeo_utils.samples.validate_cloud_optimized_geotiff import validate

gdal.UseExceptions()
verdicts = []
for file in json.load(sys.stdin):
    try:
        warnings, errors, _ = validate(file, full_check=True)
    except Exception as error:
        warnings, errors = [], [f"{type(error).__name__}: {error}"]
    # Its program has no strict mode: a warning is as bad here.
    verdicts.append({"valid": not errors and not warnings, "errors": errors, "warnings": warnings})
print(json.dumps({"version": gdal.__version__, "verdicts": verdicts}))
