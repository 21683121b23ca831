// raster.stack: the files of one group become the bands of one COG. Each file is checked as any source is; all of them must have the
// same size, place and type, and what differs is told at once.

import { join } from "node:path";
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import type { Finding } from "../../../geo/raster.js";
import { resolveRasterType } from "../../../geo/raster_kind.js";
import { statisticsFindings } from "../../../geo/statistics_findings.js";
import type { CogResult } from "../facts.js";
import { gdal_process } from "../gdal/gdal_process.js";
import { targetGrid } from "../place/target_grid.js";
import { cog_fields, source_fields, source_ref, stac_id, time_fields } from "../settings.js";
import { type FetchedSource, fetchSource, modifiedAt } from "../source/fetch_source.js";
import { datesOf } from "../source/item_dates.js";
import { refuseFindings } from "../source/refuse_findings.js";
import { chooseCog, cogFindings, digitFindings, onGrid } from "./choose_cog.js";
import { makeCog } from "./make_cog.js";

const parameters = z.object({
  collection: stac_id,
  item_id: stac_id,
  bands: z.array(z.object({ name: z.string(), source: source_ref })).min(1),
  properties: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  ...time_fields,
  source_crs: source_fields.source_crs,
  raster_type: source_fields.raster_type,
  nodata: source_fields.nodata,
  strict: source_fields.strict,
  ...cog_fields,
});

export const rasterStack = defineHandler(
  "raster.stack",
  { parameters, ...gdal_process, timeout_s: 3600 },
  async ({ bands, ...given }, ctx): Promise<CogResult> => {
    const findings: Finding[] = [];
    const files: { file: string; band: number; name: string }[] = [];
    const sources: { source: string; sha256: string }[] = [];
    let modified_at = "";
    let engine: FetchedSource["engine"] | undefined;
    for (const [position, { name, source }] of bands.entries()) {
      ctx.progress({ done: position, total: bands.length, message: "fetching" });
      const fetched = await fetchSource(ctx, source, given);
      engine = fetched.engine;
      findings.push(...fetched.findings.map((one) => ({ ...one, message: `${name}: ${one.message}` })));
      files.push({ file: fetched.file, band: 1, name });
      sources.push({ source, sha256: fetched.sha256 });
      // The newest of them: before that, the stack could not have been made.
      const written = await modifiedAt(ctx, source);
      if (written > modified_at) modified_at = written;
    }
    refuseFindings(given.item_id, findings, given.strict);

    const vrt = join(await ctx.scratch(), "stack.vrt");
    await engine!.stack(files, vrt, ctx.signal);
    const wanted = { ...given, band_names: bands.map(({ name }) => name) };
    const info = await engine!.info(vrt, ctx.signal);
    const statistics = await engine!.statistics(vrt, { approximate: true }, ctx.signal);
    const kind = resolveRasterType(given.raster_type ?? null, info.bands, statistics);
    const { dates, findings: date_findings } = datesOf(given, bands[0]!.source, info.metadata, modified_at);
    findings.push(...cogFindings(wanted, info, engine!), ...kind.findings, ...date_findings);
    findings.push(
      ...statisticsFindings(info.bands, statistics, kind.type).filter(({ code }) => code !== "raster_empty"),
    );
    refuseFindings(given.item_id, findings, given.strict);

    const cog = chooseCog(wanted, info, info.bands, kind.type, statistics, engine!);
    const placed = await targetGrid(engine!, vrt, info, cog, given.resolution, ctx.signal);
    const { grid } = placed;
    refuseFindings(given.item_id, [...placed.findings, ...digitFindings(info, info.bands, statistics, placed)], false);
    const [west, dx, , north, , dy] = grid.transform;
    const bounds: [number, number, number, number] = [west, north + dy * grid.height, west + dx * grid.width, north];
    return makeCog(ctx, engine!, vrt, {
      collection: given.collection,
      item_id: given.item_id,
      raster_type: kind.type,
      dates,
      tile: null,
      sources,
      options: { ...onGrid(cog, placed), bounds, resolution: [dx, -dy] },
      properties: given.properties,
    });
  },
);
