// How the COG of a raster is made: what the caller says, and what its type calls for where the caller says nothing. Pure.
import { finding } from "../../../geo/findings.js";
import {
  type BandInfo,
  type BandStatistics,
  type CogOptions,
  type Finding,
  isWide,
  type RasterInfo,
  type RasterType,
} from "../../../geo/raster.js";
import {
  compressionProblem,
  isLossy,
  type Purpose,
  suggestNodata,
  treatmentOf,
} from "../../../geo/raster_treatment.js";
import type { RasterEngine } from "../gdal/engine.js";
import { fits } from "../gdal/gdal_options.js";
import type { Placed } from "../place/target_grid.js";
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
    if (isLossy(wanted.compression) && isLossy(info.compression)) {
      findings.push(
        finding("jpeg_again", `It is packed with ${info.compression}, and is to be with ${wanted.compression}.`),
      );
    }
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
  const treatment = treatmentOf(type, bands, codecs, wanted.purpose, info.compression);
  const own_crs = ownCrs(wanted, info);
  const target_crs = wanted.target_crs === "source" ? own_crs : wanted.target_crs;
  const compression = wanted.compression ?? treatment.compression;
  const is_lossy = isLossy(compression);
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

/** The grid that was found, in what a COG task is told: on its own grid nothing is resampled, and every value stays what it is. */
export function onGrid(cog: CogOptions, { grid, is_own }: Placed): CogOptions {
  const [, dx, , , , dy] = grid.transform;
  return { ...cog, resolution: [dx, -dy], ...(is_own ? { resampling: "nearest" as const } : {}) };
}

/** A reprojection counts in doubles, and so does turning rows round. */
export function digitFindings(
  { transform }: RasterInfo,
  bands: readonly BandInfo[],
  statistics: readonly (BandStatistics | null)[],
  { is_own }: Placed,
): Finding[] {
  const is_copied = is_own && transform !== null && transform[5] < 0;
  if (is_copied || !bands.some(({ data_type }) => isWide(data_type))) return [];
  const known = statistics.filter((one) => one !== null);
  const furthest = Math.max(0, ...known.map(({ minimum, maximum }) => Math.max(Math.abs(minimum), Math.abs(maximum))));
  if (furthest <= Number.MAX_SAFE_INTEGER) return [];
  return [finding("sixty_four_bit_lost", `Its values go up to about ${furthest}, and would lose their last digits.`)];
}

function ownCrs({ source_crs }: Wanted, { crs }: RasterInfo): string {
  return source_crs ?? crs?.code ?? crs?.wkt ?? "";
}

function isReprojected(wanted: Wanted, info: RasterInfo): boolean {
  return wanted.target_crs !== "source" && wanted.target_crs !== ownCrs(wanted, info);
}
