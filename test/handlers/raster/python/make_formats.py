"""Files of formats that hold many rasters, as other people's tools write them, and HDF5 files that lead to others. JSON in, JSON out."""

import json
import os
import sys

import h5py
import numpy as np
import pandas as pd
import xarray as xr
import zarr

folder = json.load(sys.stdin)["folder"]
path = lambda name: os.path.join(folder, name)

lat, lon = np.linspace(50, 45, 21), np.linspace(10, 15, 26)
time = pd.date_range("2024-01-01", periods=3, freq="6h")
values = np.arange(3 * 21 * 26, dtype="f4").reshape(3, 21, 26)
grid = {
    "lat": ("lat", lat, {"units": "degrees_north", "standard_name": "latitude"}),
    "lon": ("lon", lon, {"units": "degrees_east", "standard_name": "longitude"}),
}
weather = xr.Dataset(
    {"t2m": (("time", "lat", "lon"), values, {"units": "K"}), "tp": (("time", "lat", "lon"), values * 2)},
    coords={"time": time, **grid},
)
weather["crs"] = ((), 0, {"grid_mapping_name": "latitude_longitude", "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563})
for name in ("t2m", "tp"):
    weather[name].attrs["grid_mapping"] = "crs"
levels = weather[["t2m", "crs"]].isel(time=0, drop=True).expand_dims(level=[500.0, 850.0])
levels["crs"] = weather["crs"]
levels.t2m.attrs["grid_mapping"] = "crs"

weather.to_netcdf(path("weather.nc"))
weather.isel(lat=slice(None, None, -1)).to_netcdf(path("upwards.nc"))
levels.to_netcdf(path("levels.nc"), format="NETCDF3_CLASSIC")
weather.to_zarr(path("weather.zarr"), zarr_format=2, consolidated=True)
weather.to_zarr(path("third.zarr"), zarr_format=3)

with h5py.File(path("plain.h5"), "w") as file:
    file["group/values"] = values

with h5py.File(path("linked.nc"), "w") as file:
    file["link"] = h5py.ExternalLink("/etc/hostname", "/x")
with h5py.File(path("linked_new.nc"), "w", libver="latest") as file:
    for at in range(30):
        file[f"link{at}"] = h5py.ExternalLink("/etc/hostname", "/x")
with h5py.File(path("raw.nc"), "w") as file:
    file.create_dataset("x", (4, 4), dtype="u1", external=[("/etc/hostname", 0, 16)])
with h5py.File(path("raw_new.nc"), "w", libver="latest") as file:
    file.create_dataset("x", (4, 4), dtype="u1", external=[("/etc/hostname", 0, 16)], track_order=True)
with h5py.File(path("virtual.nc"), "w", libver="latest") as file:
    layout = h5py.VirtualLayout(shape=(21, 26), dtype="f4")
    layout[:] = h5py.VirtualSource("/etc/hostname", "t2m", shape=(21, 26))
    file.create_virtual_dataset("x", layout)

print(json.dumps({"mean": [float(values[at].mean()) for at in range(3)], "zarr": zarr.__version__}))
