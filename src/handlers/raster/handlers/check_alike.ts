// raster.check_alike: whether the sources of a collection go together, and how many of them are broken. Names every difference; what
// that means is the caller's to say. Makes the collection, and hands on what each source is to become.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { checkHomogeneity } from "../../../geo/homogeneity.js";
import type { Finding } from "../../../geo/raster.js";
import { makeCollection } from "../../stac/make_collection.js";
import { refuseTakenIds } from "../../stac/taken_items.js";
import type { RasterPlan, ValidatedRaster } from "../facts.js";
import { collection_fields, overwrite_field, register_field, tile_fields } from "../settings.js";
import { itemIdsOf } from "./cog_tasks.js";
import { planOf } from "./plan_tiles.js";

export interface CheckedSources {
  plans: RasterPlan[];
  source_count: number;
  usable_count: number;
  broken_count: number;
  /** The first of them; the count is true. */
  differences: (Finding & { name: string })[];
  difference_count: number;
  collection: string;
  collection_created: boolean;
}

const most_named = 100;

const parameters = z.object({
  homogeneity: z.enum(["strict", "warn"]),
  max_broken_percent: z.number(),
  target_crs: z.string(),
  ...collection_fields,
  ...tile_fields,
  ...overwrite_field,
  ...register_field,
});

export const rasterCheckAlike = defineHandler(
  "raster.check_alike",
  { parameters },
  async (given, ctx): Promise<CheckedSources> => {
    const rasters: (ValidatedRaster & { item_id: string })[] = [];
    for await (const { result, index } of ctx.previous) {
      rasters.push({ ...(result as ValidatedRaster), item_id: index });
    }
    const source_count = ctx.previous.count;
    const broken_count = source_count - rasters.length;
    refuseBroken(source_count, broken_count, given.max_broken_percent);
    const differences = differencesIn(rasters, given.target_crs !== "source");
    if (given.homogeneity === "strict") refuseDifferences(differences);
    const { collection } = given;
    const plans = rasters.map((raster) => planOf(raster, { ...given, item_id: raster.item_id }));
    await refuseTakenIds(ctx, given, plans.flatMap(itemIdsOf));
    const collection_created = given.register !== false && (await makeCollection(ctx, given));
    return {
      plans,
      source_count,
      usable_count: plans.length,
      broken_count,
      differences: differences.slice(0, most_named),
      difference_count: differences.length,
      collection,
      collection_created,
    };
  },
);

function refuseBroken(source_count: number, broken_count: number, max_broken_percent: number): void {
  const percent = (100 * broken_count) / source_count;
  if (broken_count < source_count && percent <= max_broken_percent) return;
  const all =
    broken_count === source_count
      ? "none of the sources can be used"
      : `${broken_count} of ${source_count} sources are broken`;
  const allowed = broken_count === source_count ? "" : `; ${max_broken_percent} % may be`;
  throw new Permanent(`${all}${allowed}. What is wrong with each: fanfold errors <job>`, { code: "too_many_broken" });
}

function differencesIn(rasters: readonly ValidatedRaster[], allow_crs: boolean): CheckedSources["differences"] {
  const members = rasters.map(({ source, data_types, crs, resolution, raster_type, nodata }) => ({
    name: source,
    band_count: data_types.length,
    raster_type,
    pixel_size: resolution,
    data_type: [...new Set(data_types)].join(),
    crs: crs ?? "unknown",
    nodata: nodata[0] ?? null,
  }));
  return checkHomogeneity(members, { allow_crs }).differences;
}

function refuseDifferences(differences: CheckedSources["differences"]): void {
  const grave = differences.filter(({ severity }) => severity === "error");
  if (grave.length === 0) return;
  const told = grave.slice(0, most_named).map(({ code, message }) => `${code}: ${message}`);
  const more = grave.length > most_named ? [`and ${grave.length - most_named} more`] : [];
  const what = `the sources do not go together: ${[...told, ...more].join(" · ")}`;
  throw new Permanent(`${what}. Leave them out, or give homogeneity=warn`, { code: "not_homogeneous" });
}
