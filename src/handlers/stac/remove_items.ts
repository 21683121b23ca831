// stac.remove_items: up to a hundred items, their files and their records, gone in the transaction that ends this task, with an event
// that says so; or all still there. What is gone already counts as gone. Or up to a hundred files that no item names.
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import type { TaskContext } from "../../core/task/context.js";
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
  {
    parameters: z.object({
      collection: stac_id,
      item_ids: z.array(stac_id),
      files: z.array(z.string()).default([]),
      made_by: z.array(z.string()).default([]),
      delete_files: z.boolean(),
    }),
  },
  async ({ collection, item_ids, files: unnamed, made_by, delete_files }, ctx): Promise<Removed> => {
    if (item_ids.length === 0) return removeFiles(ctx, collection, unnamed);
    const catalog = await catalogOf(ctx);
    const items = await findItems(ctx, catalog, collection, item_ids);
    const removed = items.map(({ id }) => id);
    const { leaving: files, kept } = await leavingFiles(ctx, catalog, items, { delete_files, made_by });
    const missing_count = item_ids.length - removed.length;
    if (removed.length === 0) return { collection, removed, files, kept, missing_count };
    for (const file of files) await ctx.zones.retract(zoneRef(file), { remove_adopted: delete_files });
    const told = JSON.stringify({ collection, item_ids: removed, files, task_id: ctx.task_id });
    await ctx.db(
      async (session) => {
        await catalog.deleteItems(session, collection, removed);
        await session.sql`select app.note_removal(${ctx.job_id}, ${reasonOf(ctx)}::text, ${told}::text::jsonb)`;
      },
      { with_finish: true },
    );
    ctx.deliver({ name: "removed_items", count: removed.length, location: `/stac/collections/${collection}` });
    return { collection, removed, files, kept, missing_count };
  },
);

async function removeFiles(ctx: TaskContext, collection: string, files: string[]): Promise<Removed> {
  for (const file of files) await ctx.zones.retract(zoneRef(file));
  const told = JSON.stringify({ collection, item_ids: [], files, task_id: ctx.task_id });
  await ctx.db(
    (session) => session.sql`select app.note_removal(${ctx.job_id}, ${reasonOf(ctx)}::text, ${told}::text::jsonb)`,
    { with_finish: true },
  );
  return { collection, removed: [], files, kept: [], missing_count: 0 };
}

function reasonOf(ctx: TaskContext): string | null {
  return (ctx.job?.parameters.reason as string | undefined) ?? null;
}
