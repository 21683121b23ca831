// raster.plan_tiles: what a checked raster becomes: one COG or a grid of them. Makes the collection if it is not there and items are to
// be registered, and refuses before any work what would replace the items of another job.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { bytesOf } from "../../../geo/raster.js";
import { makeCollection } from "../../stac/make_collection.js";
import { refuseTakenIds } from "../../stac/taken_items.js";
import type { RasterPlan, ValidatedRaster } from "../facts.js";
import { collection_fields, overwrite_field, register_field, source_ref, stac_id, tile_fields } from "../settings.js";
import { itemIdOf } from "../source/item_ids.js";
import { itemIdsOf, tilesOf } from "./cog_tasks.js";

export interface PlannedRaster {
  plan: RasterPlan;
  tile_count: number;
  columns: number;
  rows: number;
  collection: string;
  collection_created: boolean;
}

const parameters = z.object({
  source: source_ref,
  item_id: stac_id.optional(),
  ...collection_fields,
  ...tile_fields,
  ...overwrite_field,
  ...register_field,
});

export const rasterPlanTiles = defineHandler(
  "raster.plan_tiles",
  { parameters },
  async (given, ctx): Promise<PlannedRaster> => {
    const raster = await ctx.previous.one<ValidatedRaster>();
    const { collection } = given;
    const plan = planOf(raster, { ...given, item_id: given.item_id ?? itemIdOf(given.source) });
    const { tiles, columns, rows } = tilesOf(plan);
    await refuseTakenIds(ctx, given, itemIdsOf(plan));
    const collection_created = given.register !== false && (await makeCollection(ctx, given));
    return { plan, tile_count: tiles.length, columns, rows, collection, collection_created };
  },
);

export interface PlanSettings {
  collection: string;
  item_id: string;
  max_single_px: number;
  tile_px: number;
  overlap_px: number;
}

export function planOf(raster: ValidatedRaster, given: PlanSettings): RasterPlan {
  const { source, sha256: source_sha256, raster_type, dates, cog, grid } = raster;
  const { collection, item_id, max_single_px, tile_px, overlap_px } = given;
  const bytes_per_pixel = raster.data_types.reduce((sum, type) => sum + bytesOf(type), 0);
  const tiling = { max_single_px, tile_px, overlap_px, bytes_per_pixel };
  const { bbox, lattice } = raster;
  const place = { bbox, lattice };
  const { layer, properties } = raster;
  const of_layer = { ...(layer === undefined ? {} : { layer }), ...(properties === undefined ? {} : { properties }) };
  return { collection, item_id, source, source_sha256, raster_type, dates, cog, grid, tiling, ...place, ...of_layer };
}
