// What GDAL may do, said in its own settings: the drivers that stay, no neighbours of a file, no network, no Python, small caches.
// Both engines take these; nothing of the worker's own environment reaches GDAL.

/** Drivers that are left when everything else has been taken away. VRT reads only text that we have written: see gdal_vrt.ts. */
export const kept_drivers: ReadonlySet<string> = new Set(["GTiff", "COG", "MEM", "VRT"]);

/** An allow-list: a driver that a later GDAL brings is gone before anybody has heard of it. */
export function skippedDrivers(all: readonly string[], kept: ReadonlySet<string> = kept_drivers): string {
  // With commas between, names may have spaces in them.
  return all.filter((name) => !kept.has(name)).join(",");
}

/** For blocks of pixels, in megabytes; the warper's own buffer comes on top. */
export const cache_mb = 128;
/** Of programs, which have memory of their own: with less, a wide raster that moves to another CRS takes a third more processor time. The
 * task's memory_mb leaves room for it. */
export const program_cache_mb = 512;
export const warp_mb = 128;

export const gdal_settings: Readonly<Record<string, string>> = Object.freeze({
  // A file is what is in it: no sidecars, no world files, no folder listing, and none written beside it.
  GDAL_DISABLE_READDIR_ON_OPEN: "EMPTY_DIR",
  GDAL_PAM_ENABLED: "NO",
  GDAL_GEOREF_SOURCES: "INTERNAL",
  GTIFF_IGNORE_READ_ERRORS: "NO",
  // Code inside data.
  GDAL_VRT_ENABLE_PYTHON: "NO",
  GDAL_VRT_ENABLE_RAWRASTERBAND: "NO",
  // No way out, even for a name that slipped in: no suffix is allowed for what lies behind a URL, and grids are not fetched.
  CPL_VSIL_CURL_ALLOWED_EXTENSIONS: "{none}",
  CPL_VSIL_CURL_ALLOWED_FILENAME: "/nothing",
  CPL_VSIL_CURL_CACHE_SIZE: "16384",
  GDAL_HTTP_TIMEOUT: "1",
  GDAL_HTTP_CONNECTTIMEOUT: "1",
  GDAL_HTTP_PROXY: "",
  PROJ_NETWORK: "OFF",
  AWS_EC2_METADATA_DISABLED: "true",
  CPL_AWS_AUTODETECT_EC2: "NO",
  CPL_GCE_SKIP: "YES",
  GDAL_CACHEMAX: String(cache_mb),
  GDAL_NUM_THREADS: "1",
  GDAL_MAX_DATASET_POOL_SIZE: "64",
  GDAL_DRIVER_PATH: "disable",
  CPL_DEBUG: "OFF",
  CPL_LOG_ERRORS: "OFF",
  LC_ALL: "C",
  TZ: "UTC",
});
