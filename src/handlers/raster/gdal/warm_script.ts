// What a warm Python runs: GDAL's own library under the same settings as the programs, one call for each line of JSON it reads. Nothing in
// it decides; options are those the programs would get. What GDAL says goes back with the answer.

export const warm_script = `
import json, os, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
from osgeo import gdal
said = []
def heard(kind, number, text):
    if kind >= gdal.CE_Warning and len(said) < 50:
        said.append(("Warning" if kind == gdal.CE_Warning else "ERROR") + " %d: %s" % (number, text[:2000]))
gdal.PushErrorHandler(heard)
gdal.DontUseExceptions()
def opened(ask):
    os.chdir(ask["folder"])
    dataset = gdal.OpenEx(ask["file"], gdal.OF_RASTER | gdal.OF_VERBOSE_ERROR, allowed_drivers=[ask["driver"]])
    return dataset
def info(ask):
    dataset = opened(ask)
    return None if dataset is None else gdal.Info(dataset, options=gdal.InfoOptions(options=ask["options"], deserialize=False))
def translate(ask):
    dataset = opened(ask)
    made = None if dataset is None else gdal.Translate(ask["target"], dataset, options=gdal.TranslateOptions(options=ask["options"]))
    return None if made is None else ""
def warp(ask):
    dataset = opened(ask)
    made = None if dataset is None else gdal.Warp(ask["target"], [dataset], options=gdal.WarpOptions(options=ask["options"]))
    return None if made is None else ""
does = {"info": info, "translate": translate, "warp": warp}
for line in sys.stdin:
    ask = json.loads(line)
    said.clear()
    try:
        value = does[ask["do"]](ask)
    except Exception as error:
        value = None
        said.append("ERROR 1: " + str(error)[:2000])
    os.chdir("/")
    print(json.dumps({"value": value, "said": said}), file=answers, flush=True)
`;
