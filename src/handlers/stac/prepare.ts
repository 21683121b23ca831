// stac.prepare: before files are looked at: the collection is there, and none of the items belongs to another job.
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import type { Inventory } from "../raster/handlers/inventory.js";
import { collection_fields, overwrite_field } from "../raster/settings.js";
import { makeCollection } from "./make_collection.js";
import { refuseTakenIds } from "./taken_items.js";

export interface PreparedSources extends Inventory {
  collection: string;
  collection_created: boolean;
}

export const stacPrepare = defineHandler(
  "stac.prepare",
  { parameters: z.object({ ...collection_fields, ...overwrite_field }) },
  async (given, ctx): Promise<PreparedSources> => {
    const inventory = await ctx.previous.one<Inventory>();
    const ids = inventory.sources.map(({ item_id }) => item_id);
    await refuseTakenIds(ctx, given, ids);
    const collection_created = await makeCollection(ctx, given);
    return { ...inventory, collection: given.collection, collection_created };
  },
);
