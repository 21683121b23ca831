// raster.validate: everything that can be said about a source before work begins: its header, its statistics, what it shows, where it
// will lie in the target CRS. What cannot be used is refused with all findings at once; what was chosen for it is told.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import type { Finding, RasterInfo } from "../../../geo/raster.js";
import { resolveRasterType } from "../../../geo/raster_kind.js";
import type { ItemDates } from "../../../geo/stac_dates.js";
import { statisticsFindings } from "../../../geo/statistics_findings.js";
import type { SourceLayer, ValidatedRaster } from "../facts.js";
import { gdal_process } from "../gdal/gdal_process.js";
import { placeOf } from "../place/place.js";
import { targetGrid } from "../place/target_grid.js";
import {
  cog_fields,
  known_dates,
  layer_fields,
  source_fields,
  source_ref,
  tile_fields,
  time_fields,
} from "../settings.js";
import { fetchSource, modifiedAt } from "../source/fetch_source.js";
import { datesOf } from "../source/item_dates.js";
import { refuseFindings } from "../source/refuse_findings.js";
import { chooseCog, cogFindings, digitFindings, onGrid } from "./choose_cog.js";
import { single_max_bytes } from "./cog_tasks.js";

const parameters = z.object({
  source: source_ref,
  dates: known_dates,
  ...time_fields,
  ...source_fields,
  ...layer_fields,
  ...cog_fields,
  max_single_px: tile_fields.max_single_px,
});

/** Larger ones are sampled: what is looked for shows in a sample. */
const exact_pixels = 64_000_000;

export const rasterValidate = defineHandler(
  "raster.validate",
  { parameters, ...gdal_process },
  async (given, ctx): Promise<ValidatedRaster> => {
    const { source, strict } = given;
    const { variable, step } = given;
    const fetched = await fetchSource(ctx, source, { ...given, layer: { variable, step } });
    const { file, engine } = fetched;
    const findings: Finding[] = [...fetched.findings];
    ctx.progress(0.3, "reading");
    const info = await engine.info(file, ctx.signal);
    findings.push(...cogFindings(given, info, engine));
    const approximate = info.width * info.height * info.bands.length > exact_pixels;
    const statistics = await engine.statistics(file, { approximate }, ctx.signal);
    const bands = chosenBands(given.bands, info);
    const chosen_statistics = bands.map((band) => statistics[info.bands.indexOf(band)] ?? null);
    const kind = resolveRasterType(given.raster_type ?? null, bands, chosen_statistics);
    const { dates, findings: date_findings } = datesOf(
      { ...given, dates: given.dates ?? datesOfLayer(fetched.moment) },
      source,
      info.metadata,
      await modifiedAt(ctx, source),
    );
    findings.push(...kind.findings, ...date_findings);
    // Bands that are not there are not empty.
    if (bands.length > 0) findings.push(...statisticsFindings(bands, chosen_statistics, kind.type));
    refuseFindings(source, findings, strict);

    ctx.progress(0.7, "placing");
    const cog = chooseCog(given, info, bands, kind.type, chosen_statistics, engine);
    const grid = await targetGrid(engine, file, info, cog, given.resolution, ctx.signal);
    findings.push(...grid.findings, ...digitFindings(info, bands, chosen_statistics, grid));
    refuseFindings(source, findings, strict);
    const pixels = grid.grid.width * grid.grid.height;
    const is_whole = pixels <= given.max_single_px ** 2 && pixels * bands.length * 16 <= single_max_bytes;
    const place = await placeOf(engine, grid.grid, cog.target_crs, is_whole);
    ctx.log.info("a source was checked", {
      ...{ source, engine: engine.name, version: engine.version, bytes: fetched.bytes, raster_type: kind.type },
      ...{ size: [info.width, info.height, info.bands.length], target: [grid.grid.width, grid.grid.height] },
      findings: findings.map(({ code }) => code),
    });
    const [, dx, , , , dy] = info.transform ?? [0, 0, 0, 0, 0, 0];
    return {
      source,
      bytes: fetched.bytes,
      sha256: fetched.sha256,
      width: info.width,
      height: info.height,
      data_types: bands.map(({ data_type }) => data_type),
      crs: given.source_crs ?? info.crs?.code ?? info.crs?.name ?? null,
      resolution: [Math.abs(dx), Math.abs(dy)],
      nodata: bands.map(({ nodata }) => given.nodata ?? nodata),
      raster_type: kind.type,
      raster_type_reason: given.raster_type === undefined ? kind.detected.reason : "given",
      statistics: chosen_statistics,
      findings,
      dates,
      grid: grid.grid,
      cog: onGrid(cog, grid),
      engine: { name: engine.name, version: engine.version },
      ...layerOf(given),
      ...(Object.keys(fetched.properties).length === 0 ? {} : { properties: fetched.properties }),
      ...place,
    };
  },
);

function layerOf({ variable, step }: SourceLayer): { layer?: SourceLayer } {
  if (variable === undefined && step === undefined) return {};
  return { layer: { ...(variable === undefined ? {} : { variable }), ...(step === undefined ? {} : { step }) } };
}

function datesOfLayer(moment: string | null): ItemDates | undefined {
  return moment === null ? undefined : { datetime: moment, source: "file" };
}

function chosenBands(bands: readonly number[] | undefined, info: RasterInfo): RasterInfo["bands"] {
  return bands === undefined ? info.bands : bands.flatMap((band) => info.bands[band - 1] ?? []);
}
