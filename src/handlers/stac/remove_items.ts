// stac.remove_items: up to a hundred items, their files and their records, gone in the transaction that ends this task, with an event
// that says so; or all still there. What is gone already counts as gone.
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import { stac_id } from "../raster/settings.js";
import { catalogOf } from "./catalog_of.js";
import { type KeptFile, leavingFiles } from "./leaving_files.js";
import { findItems, zoneRef } from "./taken_items.js";

export interface Removed {
  collection: string;
  removed: string[];
  files: string[];
  /** Files of these items that stay, and why. */
  kept: KeptFile[];
  /** Gone before this task looked. */
  missing_count: number;
}

export const stacRemoveItems = defineHandler(
  "stac.remove_items",
  { parameters: z.object({ collection: stac_id, item_ids: z.array(stac_id), delete_files: z.boolean() }) },
  async ({ collection, item_ids, delete_files }, ctx): Promise<Removed> => {
    const catalog = await catalogOf(ctx);
    const items = await findItems(ctx, catalog, collection, item_ids);
    const removed = items.map(({ id }) => id);
    const { leaving: files, kept } = await leavingFiles(ctx, catalog, items, { delete_files });
    const missing_count = item_ids.length - removed.length;
    if (removed.length === 0) return { collection, removed, files, kept, missing_count };
    for (const file of files) await ctx.zones.retract(zoneRef(file), { remove_adopted: delete_files });
    const told = JSON.stringify({ collection, item_ids: removed, files, task_id: ctx.task_id });
    const reason = (ctx.job?.parameters.reason as string | undefined) ?? null;
    await ctx.db(
      async (session) => {
        await catalog.deleteItems(session, collection, removed);
        await session.sql`select app.note_removal(${ctx.job_id}, ${reason}::text, ${told}::text::jsonb)`;
      },
      { with_finish: true },
    );
    ctx.deliver({ name: "removed_items", count: removed.length, location: `/stac/collections/${collection}` });
    return { collection, removed, files, kept, missing_count };
  },
);
