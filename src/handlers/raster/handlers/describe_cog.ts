// What an item says about a COG, measured from the file itself: its grid, its bands, where it has data; and a small picture of it.
import { join } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import type { TaskContext } from "../../../core/task/context.js";
import { footprintOf } from "../../../geo/footprint.js";
import type { BandStatistics, RasterInfo, RasterType } from "../../../geo/raster.js";
import { quicklookOf } from "../../../geo/raster_treatment.js";
import type { CogFacts } from "../facts.js";
import type { RasterEngine } from "../gdal/engine.js";
import { batched } from "../place/batched.js";

export interface Described {
  facts: Pick<CogFacts, "raster" | "footprint" | "bbox">;
  quicklook_file: string;
}

export interface Measured {
  raster_type: RasterType;
  statistics: readonly (BandStatistics | null)[];
  info: RasterInfo;
}

const quicklook_px = 512;
/** Enough for an outline; a mask of every pixel would be as large as the raster. */
const mask_px = 512;

export async function describeCog(
  ctx: TaskContext,
  engine: RasterEngine,
  file: string,
  { raster_type, statistics, info }: Measured,
): Promise<Described> {
  const { width, height, transform } = info;
  const crs = info.crs?.code ?? info.crs?.wkt ?? null;
  if (transform === null || crs === null) {
    throw new Permanent("the COG does not say where it lies", { code: "no_georeference" });
  }
  const mask = await engine.validMask(file, { size: mask_px }, ctx.signal);
  const to_wgs84 = batched((points) => engine.transform(points, crs, "EPSG:4326"));
  const footprint = await footprintOf(mask, { width, height, transform }, to_wgs84);
  if (footprint === null) {
    throw new Permanent("where its valid pixels lie cannot be told in degrees", { code: "no_footprint" });
  }
  const quicklook_file = join(await ctx.scratch(), "quicklook.png");
  const look = quicklookOf(raster_type, info.bands, statistics);
  await engine.quicklook(file, quicklook_file, { size: quicklook_px, ...look }, ctx.signal);
  const finite = statistics.map((band) => (band && Object.values(band).every(Number.isFinite) ? band : null));
  const raster = { width, height, transform, crs: info.crs!, bands: info.bands, statistics: finite, raster_type };
  return { facts: { raster, footprint, bbox: footprint.bbox }, quicklook_file };
}
