"""A list of files on standard input: what rio-cogeo says about each, errors and warnings apart."""
import json
import sys

import rio_cogeo
from rio_cogeo.cogeo import cog_validate

verdicts = []
for file in json.load(sys.stdin):
    try:
        valid, errors, warnings = cog_validate(file, strict=True, quiet=True)
    except Exception as error:
        valid, errors, warnings = False, [f"{type(error).__name__}: {error}"], []
    verdicts.append({"valid": valid, "errors": errors, "warnings": warnings})
print(json.dumps({"version": rio_cogeo.__version__, "verdicts": verdicts}))
