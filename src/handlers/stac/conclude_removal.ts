// stac.conclude_removal: collections that lost items tell what is left in them, or go when nothing is and that was asked for.
import { z } from "zod";
import { defineHandler } from "../../core/declare.js";
import { stac_id } from "../raster/settings.js";
import { catalogOf } from "./catalog_of.js";
import type { Removed } from "./remove_items.js";
import type { Selection } from "./select_items.js";

export interface Removal {
  removed_items: number;
  removed_files: number;
  missing_count: number;
  collections: { collection: string; items_left: number; removed: boolean }[];
}

export const stacConcludeRemoval = defineHandler(
  "stac.conclude_removal",
  { parameters: z.object({ collection: stac_id.optional(), delete_collection: z.boolean() }) },
  async ({ collection: wanted, delete_collection }, ctx): Promise<Removal> => {
    const { missing_count, batches } = await ctx.previous("select").one<Selection>();
    const removal: Removal = { removed_items: 0, removed_files: 0, missing_count, collections: [] };
    for await (const { result } of ctx.previous("remove")) {
      const { removed, files } = result as Removed;
      removal.removed_items += removed.length;
      removal.removed_files += files.length;
    }
    const catalog = await catalogOf(ctx);
    // The one that was named too: it may have been empty before.
    const names = new Set([...(wanted === undefined ? [] : [wanted]), ...batches.map(({ collection }) => collection)]);
    for (const collection of names) {
      const told = await ctx.db(async (session) => {
        if ((await catalog.collection(session, collection)) === null) return null;
        const items_left = await catalog.count(session, collection);
        const removed = items_left === 0 && delete_collection && (await catalog.deleteCollection(session, collection));
        if (!removed) await catalog.refreshCollection(session, collection);
        return { collection, items_left, removed };
      });
      if (told !== null) removal.collections.push(told);
    }
    return removal;
  },
);
