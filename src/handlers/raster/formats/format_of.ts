// Rasters that are not TIFFs: which format a file is by its first bytes, which of GDAL's drivers read it, and what is said where none does.
import { Permanent } from "../../../core/errors/errors.js";

export interface RasterFormat {
  name: string;
  /** The first that the engine has and that can open the file. */
  drivers: readonly string[];
  /** Asked first whether the file leads to others. */
  looks_for: "hdf5" | "hfa" | null;
}

const netcdf: RasterFormat = { name: "netCDF", drivers: ["netCDF"], looks_for: null };
const jpeg_2000: RasterFormat = { name: "JPEG 2000", drivers: ["JP2OpenJPEG"], looks_for: null };

const magic: readonly [number, string, RasterFormat][] = [
  [0, "CDF\x01", netcdf],
  [0, "CDF\x02", netcdf],
  [0, "CDF\x05", netcdf],
  [0, "\x89HDF", { name: "HDF5 or netCDF 4", drivers: ["netCDF", "HDF5"], looks_for: "hdf5" }],
  [0, "GRIB", { name: "GRIB", drivers: ["GRIB"], looks_for: null }],
  [0, "\0\0\0\x0cjP  ", jpeg_2000],
  [0, "\xff\x4f\xff\x51", jpeg_2000],
  [0, "EHFA_HEADER_TAG", { name: "Erdas Imagine", drivers: ["HFA"], looks_for: "hfa" }],
];

export const zarr: RasterFormat = { name: "Zarr", drivers: ["Zarr"], looks_for: null };

/** All that any of them needs: an engine keeps those and no other. */
export const format_drivers: ReadonlySet<string> = new Set(
  [zarr, ...magic.map(([, , format]) => format)].flatMap(({ drivers }) => [
    ...drivers,
    ...drivers.filter((one) => one === "HDF5").map(() => "HDF5Image"),
  ]),
);

/** null: none of them. */
export function formatOf(first_bytes: Uint8Array): RasterFormat | null {
  const head = String.fromCharCode(...first_bytes.subarray(0, 64));
  return magic.find(([at, text]) => head.startsWith(text, at))?.[2] ?? null;
}

export function isVrt(first_bytes: Uint8Array): boolean {
  return /^(\xef\xbb\xbf)?\s*(<\?xml[^>]*\?>\s*)?<VRTDataset\b/.test(Buffer.from(first_bytes).toString("latin1"));
}

/** What would read it, said where this engine does not. */
export function unreadable(format: RasterFormat, engine: { name: string; version: string }): Permanent {
  const own = engine.name === "gdal-wasm" ? "the built-in GDAL" : `GDAL ${engine.version} of this worker`;
  const packages: Readonly<Record<string, string>> = { JP2OpenJPEG: "OpenJPEG", Zarr: "Zarr (3.4 or later)" };
  const wanted = format.drivers.map((driver) => packages[driver] ?? driver).join(" or ");
  const install = `a system GDAL with ${wanted} would (Debian: apt-get install gdal-bin)`;
  return new Permanent(
    `this is ${format.name}, which ${own} cannot read; ${install}. Or give a GeoTIFF: gdal_translate`,
    {
      code: "format_unreadable",
    },
  );
}
