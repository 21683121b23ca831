// raster.check_alike: whether the sources of a collection go together, and how many of them are broken. Names every difference; what
// that means is the caller's to say. Makes the collection, and hands on what each source is to become.
import { z } from "zod";
import { defineHandler } from "../../core/declare.js";
import { Permanent } from "../../core/errors.js";
import type { Finding } from "../../geo/raster.js";
import { makeCollection } from "../stac/make_collection.js";
import { refuseTakenIds } from "../stac/taken_items.js";
import { itemIdsOf } from "./cog_tasks.js";
import type { RasterPlan, ValidatedRaster } from "./facts.js";
import { planOf } from "./plan_tiles.js";
import { collection_fields, overwrite_field, tile_fields } from "./settings.js";

export interface CheckedSources {
  plans: RasterPlan[];
  source_count: number;
  usable_count: number;
  broken_count: number;
  /** The first of them; the count is true. */
  differences: ({ source: string } & Finding)[];
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
    const differences: CheckedSources["differences"] = [];
    const { collection } = given;
    const plans = rasters.map((raster) => planOf(raster, { ...given, item_id: raster.item_id }));
    await refuseTakenIds(ctx, given, plans.flatMap(itemIdsOf));
    const collection_created = await makeCollection(ctx, given);
    return {
      ...{ plans, source_count, usable_count: plans.length, broken_count },
      differences: differences.slice(0, most_named),
      difference_count: differences.length,
      ...{ collection, collection_created },
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
