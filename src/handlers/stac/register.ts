// stac.register: the items of up to a hundred COGs, written in the transaction that ends this task: all of them or none. Whoever
// runs it again writes the same items again. Files that an item had before and has no more go in that transaction too.
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import type { StacItem } from "../../geo/stac.js";
import type { CogResult } from "../raster/facts.js";
import { overwrite_field, stac_id } from "../raster/settings.js";
import { catalogOf } from "./catalog_of.js";
import { itemOf } from "./items.js";
import { leavingFiles } from "./leaving_files.js";
import { refuseMissing } from "./missing_files.js";
import { filesOf, findItems, refuseTaken, zoneRef } from "./taken_items.js";

export interface Registered {
  collection: string;
  item_count: number;
  /** Tiles of nothing but nodata: they have no item. */
  empty: { item_id: string; reason: string }[];
  /** Files of items as they were before. */
  replaced_files: number;
}

export const stacRegister = defineHandler(
  "stac.register",
  { parameters: z.object({ collection: stac_id, ...overwrite_field }) },
  async (given, ctx): Promise<Registered> => {
    const { collection } = given;
    const empty: Registered["empty"] = [];
    const items: StacItem[] = [];
    for await (const { result } of ctx.previous) {
      const made = result as CogResult;
      if (made.empty) empty.push({ item_id: made.item_id, reason: made.reason });
      else items.push(itemOf(made, { collection, job: ctx.job }));
    }
    if (items.length === 0) return { collection, item_count: 0, empty, replaced_files: 0 };

    await refuseMissing(ctx, items);
    const catalog = await catalogOf(ctx);
    const ids = items.map(({ id }) => id);
    const before = await findItems(ctx, catalog, collection, ids);
    refuseTaken(ctx, given, before);
    const kept = new Set(items.flatMap(filesOf));
    const { leaving } = await leavingFiles(ctx, catalog, before, { delete_files: false });
    const replaced = leaving.filter((ref) => !kept.has(ref));
    for (const file of replaced) await ctx.zones.retract(zoneRef(file));
    const writer = await ctx.db((session) => catalog.prepare(session, collection));
    await ctx.db((session) => writer.put(session, items), { with_finish: true });
    ctx.deliver({ name: "stac_items", count: items.length, location: `/stac/collections/${collection}/items` });
    return { collection, item_count: items.length, empty, replaced_files: replaced.length };
  },
);
