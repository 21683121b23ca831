// How the COG of a raster is made: what the caller says, and what its type calls for where the caller says nothing. Pure.
import type { BandInfo, BandStatistics, CogOptions, Finding, RasterInfo, RasterType } from "../../../geo/raster.js";
import { compressionProblem, type Purpose, suggestNodata, treatmentOf } from "../../../geo/raster_treatment.js";
import type { RasterEngine } from "../gdal/engine.js";
import { fits } from "../gdal/gdal_options.js";
import type { WantedRaster } from "../settings.js";

type Wanted = Omit<WantedRaster, "max_single_px" | "tile_px" | "overlap_px"> & { purpose: Purpose };
type Codecs = Pick<RasterEngine, "codecs">;

/** What was asked for and cannot be had of this raster. */
export function cogFindings(wanted: Wanted, info: RasterInfo, { codecs }: Codecs): Finding[] {
  const findings: Finding[] = [];
  const refuse = (code: string, message: string, hint: string) =>
    findings.push({ code, severity: "error", message, hint });
  const missing = (wanted.bands ?? []).filter((band) => band > info.bands.length);
  if (missing.length > 0) {
    const has = info.bands.length === 1 ? "one band" : `${info.bands.length} bands`;
    refuse("band_missing", `It has ${has}, and no band ${missing.join(", ")}.`, "Name bands that are there.");
    return findings;
  }
  const bands = wanted.bands?.map((band) => info.bands[band - 1]!) ?? info.bands;
  if (wanted.band_names !== undefined && wanted.band_names.length !== bands.length) {
    const message = `There are ${wanted.band_names.length} band_names for ${bands.length} bands.`;
    refuse("band_names_differ", message, "Give one name for each band.");
  }
  const types = [...new Set(bands.map(({ data_type }) => data_type))];
  if (wanted.nodata !== undefined && !types.every((type) => fits(wanted.nodata!, type))) {
    const message = `No pixel of ${types.join(", ")} can have the value ${wanted.nodata}, given as nodata.`;
    refuse("nodata_impossible", message, "Give a value of that type, or leave `nodata` out.");
  }
  if (wanted.compression !== undefined) {
    const with_nodata =
      wanted.nodata === undefined ? bands : bands.map((band) => ({ ...band, nodata: wanted.nodata! }));
    const problem = compressionProblem(wanted.compression, with_nodata, codecs);
    if (problem !== null) refuse("compression_impossible", `${problem}.`, "Give another compression, or none.");
    else if (wanted.compression === "jpeg" && bands.length === 1 && isReprojected(wanted, info)) {
      const message = "jpeg of one band has no way to tell the empty corners of a reprojection from black.";
      refuse("compression_impossible", message, "Give another compression, or target_crs=source.");
    }
  }
  return findings;
}

export function chooseCog(
  wanted: Wanted,
  info: RasterInfo,
  bands: readonly BandInfo[],
  type: RasterType,
  statistics: readonly (BandStatistics | null)[],
  { codecs }: Codecs,
): CogOptions {
  const treatment = treatmentOf(type, bands, codecs, wanted.purpose);
  const own_crs = ownCrs(wanted, info);
  const target_crs = wanted.target_crs === "source" ? own_crs : wanted.target_crs;
  const compression = wanted.compression ?? treatment.compression;
  const is_lossy = compression === "jpeg" || compression === "webp";
  const quality = is_lossy ? (wanted.quality ?? treatment.quality ?? 85) : undefined;
  const has_alpha = info.bands.some(({ color_interpretation }) => color_interpretation === "alpha");
  const has_nodata = wanted.nodata !== undefined || bands.some(({ nodata }) => nodata !== null);
  // A reprojection leaves corners without data: they need a value that no pixel has. Of a lossy codec none is safe, and of a picture
  // that has every value there is none: an alpha band tells then.
  const corners = target_crs !== own_crs && !has_nodata && !has_alpha;
  const nodata = wanted.nodata ?? (corners && !is_lossy ? suggestNodata(bands[0]!.data_type, statistics) : null);
  return {
    source_crs: wanted.source_crs,
    target_crs,
    resampling: wanted.resampling ?? treatment.resampling,
    overview_resampling: wanted.overview_resampling ?? treatment.overview_resampling,
    compression,
    quality,
    block_size: wanted.block_size,
    source_nodata: wanted.nodata,
    ...(nodata === null ? {} : { nodata }),
    ...(corners && nodata === null ? { add_alpha: true } : {}),
    bands: wanted.bands,
    band_names: wanted.band_names,
  };
}

function ownCrs({ source_crs }: Wanted, { crs }: RasterInfo): string {
  return source_crs ?? crs?.code ?? crs?.wkt ?? "";
}

function isReprojected(wanted: Wanted, info: RasterInfo): boolean {
  return wanted.target_crs !== "source" && wanted.target_crs !== ownCrs(wanted, info);
}
