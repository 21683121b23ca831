// What the operator says about raster work on a machine, as handlers see it: ctx.raster. Pure.

export const raster_engines = ["auto", "gdal", "wasm"] as const;
export type RasterEngineChoice = (typeof raster_engines)[number];

export const catalog_settings = ["auto", "stac", "pgstac", "off"] as const;
export type CatalogSetting = (typeof catalog_settings)[number];

export interface RasterSettings {
  /** auto: the system's GDAL where there is one, the WASM build otherwise. */
  engine: RasterEngineChoice;
  /** Where GDAL's programs are looked for, as in PATH. */
  path: string;
  /** Where a GDAL in an unusual place keeps its data: GDAL_DATA, PROJ_DATA, PROJ_LIB, LD_LIBRARY_PATH. */
  env: Readonly<Record<string, string>>;
  /** Sources that are kept on this machine from task to task; null: each task fetches its own. */
  source_cache: { dir: string; bytes: number } | null;
  /** Larger sources are refused before they are fetched. */
  source_max_bytes: number;
  /** The catalogue that items go into: the one that is served. */
  catalog: CatalogSetting;
}

export const default_raster_settings: Readonly<RasterSettings> = Object.freeze({
  engine: "auto",
  path: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/opt/homebrew/bin:/opt/local/bin",
  env: {},
  source_cache: null,
  source_max_bytes: 16 * 2 ** 30,
  catalog: "auto",
});
