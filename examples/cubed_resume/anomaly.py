"""How far the wettest day of a year is above the mean, for every place: an xarray computation that may be killed at any
moment and started again. Chunks that are there are not computed twice.

    python anomaly.py /shared/cubed
"""

import random
import sys
import time

import cubed
import cubed.random
import numpy as np
import xarray as xr
from fanfold.cubed import FanfoldExecutor

random.seed(1)  # the same numbers on every start: another input would be another computation

executor = FanfoldExecutor(sys.argv[1], run="anomaly")
spec = executor.spec(allowed_mem="200MB")


def rainfall(chunk: np.ndarray) -> np.ndarray:
    time.sleep(0.1)  # stands for what takes long
    return -np.log(1 - chunk) * 4


days = cubed.random.random((360, 60, 90), chunks=(60, 20, 30), spec=spec)
rain = xr.DataArray(cubed.map_blocks(rainfall, days, dtype=days.dtype), dims=("day", "lat", "lon"))
worst = (rain - rain.mean("day")).max("day").compute()

print(f"{float(worst.max()):.6f} {float(worst.mean()):.6f} {executor.job_id}")
