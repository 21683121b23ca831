// raster.inspect: a COG that is there already, looked at as if we had made it: checked, measured, recorded as somebody else's file. It
// stays where it is.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { parseZoneRef } from "../../../core/places/zones.js";
import type { Finding } from "../../../geo/raster.js";
import { resolveRasterType } from "../../../geo/raster_kind.js";
import { cog_media_type } from "../../../geo/stac_item.js";
import type { CogResult } from "../facts.js";
import { gdal_process } from "../gdal/gdal_process.js";
import { known_dates, raster_type_field, stac_id, time_fields, zone_object } from "../settings.js";
import { fetchSource, modifiedAt } from "../source/fetch_source.js";
import { datesOf } from "../source/item_dates.js";
import { checkLocalCog } from "../source/local_header.js";
import { refuseFindings } from "../source/refuse_findings.js";
import { describeCog } from "./describe_cog.js";

const parameters = z.object({
  collection: stac_id,
  item_id: stac_id,
  source: zone_object,
  /** The hash, as the job that made the file says it. */
  sha256: z.string().optional(),
  dates: known_dates,
  properties: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  check: z.enum(["refuse", "warn"]).default("refuse"),
  ...time_fields,
  ...raster_type_field,
});

export const rasterInspect = defineHandler(
  "raster.inspect",
  { parameters, ...gdal_process },
  async (given, ctx): Promise<CogResult> => {
    const { source, item_id, collection } = given;
    const { file, engine, sha256, bytes, findings } = await fetchSource(ctx, source);
    if (given.sha256 !== undefined && given.sha256 !== sha256) {
      throw new Permanent(`${source} is not the file that its job made: it has changed since`, {
        code: "source_changed",
      });
    }
    const check = await checkLocalCog(file);
    const severity: Finding["severity"] = given.check === "refuse" ? "error" : "warning";
    const violations = [...check.errors, ...check.warnings].map(({ code, message }) => ({
      code,
      severity,
      message,
      hint: "Make a COG of it with process_raster, or give check=warn.",
    }));
    refuseFindings(source, [...findings, ...(check.valid ? [] : violations)], false);

    const info = await engine.info(file, ctx.signal);
    const statistics = await engine.statistics(file, { approximate: false }, ctx.signal);
    if (statistics.every((band) => band === null)) return { item_id, empty: true, reason: "nothing but nodata" };
    const kind = resolveRasterType(given.raster_type ?? null, info.bands, statistics);
    refuseFindings(source, kind.findings, false);
    const { dates } = datesOf(given, source, info.metadata, await modifiedAt(ctx, source));
    const described = await describeCog(ctx, engine, file, { raster_type: kind.type, statistics, info });
    const media_type = check.valid ? cog_media_type : "image/tiff; application=geotiff";
    const cog = await ctx.zones.adopt(parseZoneRef(source)!, { media_type, bytes, sha256 });
    const quicklook = await ctx.zones.publish(described.quicklook_file, {
      zone: "silver",
      prefix: `${collection}/${item_id}`,
      name: "quicklook.png",
      media_type: "image/png",
    });
    ctx.deliver({ name: "cogs", count: 1, location: source.slice(0, source.lastIndexOf("/") + 1) });
    return {
      item_id,
      empty: false,
      cog,
      quicklook,
      ...described.facts,
      dates,
      tile: null,
      sources: [],
      options: null,
      task_id: ctx.task_id,
      engine: { name: engine.name, version: engine.version },
      ...(check.valid ? {} : { cog_violations: violations.map(({ code }) => code) }),
      properties: given.properties,
    };
  },
);
