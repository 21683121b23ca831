// stac.conclude_removal: what went, or what would go, in one result. Collections that lost items tell what is left in them, or go when
// nothing is and that was asked for.
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import { stac_id } from "../raster/settings.js";
import { catalogOf } from "./catalog_of.js";
import type { KeptFile } from "./leaving_files.js";
import type { Removed } from "./remove_items.js";
import type { Selection } from "./select_items.js";

export interface Removal {
  dry_run: boolean;
  /** What a run that is not dry would take away; null when this one was none. */
  would_remove: Pick<Selection, "item_count" | "file_count" | "items" | "kept"> | null;
  removed_items: number;
  removed_files: number;
  /** Files that the items had and that stay, with why; the first of them. */
  kept_count: number;
  kept: KeptFile[];
  /** Asked for, but not there; the first of them. */
  missing_count: number;
  missing: string[];
  collections: { collection: string; items_left: number; removed: boolean }[];
}

const most_named = 100;

export const stacConcludeRemoval = defineHandler(
  "stac.conclude_removal",
  { parameters: z.object({ collection: stac_id.optional(), delete_collection: z.boolean() }) },
  async ({ collection: wanted, delete_collection }, ctx): Promise<Removal> => {
    const { missing_count, missing, batches, dry_run, ...selected } = await ctx.previous("select").one<Selection>();
    const { item_count, file_count, items, kept } = selected;
    const removal: Removal = {
      dry_run,
      would_remove: dry_run ? { item_count, file_count, items, kept } : null,
      removed_items: 0,
      removed_files: 0,
      kept_count: 0,
      kept: [],
      missing_count,
      missing,
      collections: [],
    };
    if (dry_run) return removal;
    for await (const { result } of ctx.previous("remove")) {
      const { removed, files, kept } = result as Removed;
      removal.removed_items += removed.length;
      removal.removed_files += files.length;
      removal.kept_count += kept.length;
      removal.kept.push(...kept.slice(0, most_named - removal.kept.length));
    }
    const catalog = await catalogOf(ctx);
    // The one that was named too: it may have been empty before.
    const names = new Set([
      ...(wanted === undefined ? [] : [wanted]),
      ...batches.flatMap(({ collection, item_ids }) => (item_ids.length > 0 ? collection : [])),
    ]);
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
