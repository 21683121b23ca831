// export.mosaic: the COGs that touch one part of a mosaic become one COG in zone gold: their pixels as they are, the later over the earlier,
// and nodata where none of them is.
import { join } from "node:path";
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { resolveRasterType } from "../../../geo/raster_kind.js";
import type { CogResult } from "../../raster/facts.js";
import { chooseCog, cogFindings } from "../../raster/handlers/choose_cog.js";
import { makeCog } from "../../raster/handlers/make_cog.js";
import { cog_fields, raster_memory_mb, source_ref, stac_id } from "../../raster/settings.js";
import { type FetchedSource, fetchSource } from "../../raster/source/fetch_source.js";
import { refuseFindings } from "../../raster/source/refuse_findings.js";
import { export_folder, export_module } from "../settings.js";

const parameters = z.object({
  collection: stac_id,
  name: z.string(),
  item_id: stac_id,
  sources: z.array(source_ref).min(1),
  tile: z.object({ x: z.int(), y: z.int() }).nullable(),
  bounds: z.tuple([z.number(), z.number(), z.number(), z.number()]),
  datetimes: z.tuple([z.string(), z.string()]).nullable(),
  purpose: cog_fields.purpose,
  compression: cog_fields.compression,
  block_size: cog_fields.block_size,
});

export const exportMosaic = defineHandler(
  "export.mosaic",
  { parameters, isolation: "process", module: export_module, memory_mb: raster_memory_mb, timeout_s: 4 * 3600 },
  async ({ sources: names, bounds, tile, datetimes, ...given }, ctx): Promise<CogResult> => {
    const files: string[] = [];
    const sources: { source: string; sha256: string }[] = [];
    let engine: FetchedSource["engine"] | undefined;
    for (const [at, source] of names.entries()) {
      ctx.progress({ done: at, total: names.length, message: "fetching" });
      const fetched = await fetchSource(ctx, source);
      engine = fetched.engine;
      files.push(fetched.file);
      sources.push({ source, sha256: fetched.sha256 });
    }
    const vrt = join(await ctx.scratch(), "mosaic.vrt");
    await engine!.mosaic(files, vrt, bounds, ctx.signal);
    const info = await engine!.info(vrt, ctx.signal);
    const statistics = await engine!.statistics(vrt, { approximate: true }, ctx.signal);
    const kind = resolveRasterType(null, info.bands, statistics);
    const wanted = { ...given, target_crs: "source" as const, strict: false };
    refuseFindings(given.item_id, cogFindings(wanted, info, engine!), false);
    const cog = chooseCog(wanted, info, info.bands, kind.type, statistics, engine!);
    const [, dx, , , , dy] = info.transform!;
    return makeCog(ctx, engine!, vrt, {
      collection: given.collection,
      item_id: given.item_id,
      place: { zone: "gold", prefix: `${export_folder}${given.name}/${given.item_id}` },
      raster_type: kind.type,
      dates: datesOf(datetimes),
      tile: tile === null ? null : { ...tile, bounds, width: info.width, height: info.height },
      sources,
      options: { ...cog, bounds, resolution: [dx, -dy] },
    });
  },
);

function datesOf(datetimes: [string, string] | null) {
  const now = new Date().toISOString();
  const [start_datetime, end_datetime] = datetimes ?? [now, now];
  if (start_datetime === end_datetime) return { datetime: start_datetime, source: "item" as const };
  return { datetime: null, start_datetime, end_datetime, source: "item" as const };
}
