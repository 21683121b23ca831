// The last step of every export: its item, in the transaction that ends the task; and out go, in the same transaction, the files of the
// export that had the name before.
import type { TaskContext } from "../../core/task/context.js";
import type { StacItem } from "../../geo/stac.js";
import { catalogOf } from "../stac/catalog_of.js";
import { leavingFiles } from "../stac/leaving_files.js";
import { filesOfJobs } from "../stac/select_items.js";
import { filesOf, findItems, refuseTaken, zoneRef } from "../stac/taken_items.js";
import { export_folder } from "./settings.js";

export interface PublishedItem {
  replaced_files: number;
  /** Below the server's address. */
  path: string;
}

export async function publishItem(
  ctx: TaskContext,
  item: StacItem,
  overwrite: "refuse" | "replace",
): Promise<PublishedItem> {
  const { collection, id } = item;
  const catalog = await catalogOf(ctx);
  const before = await findItems(ctx, catalog, collection, [id]);
  refuseTaken(ctx, { collection, overwrite }, before);
  const { leaving } = await leavingFiles(ctx, catalog, before, { delete_files: false });
  const jobs = before.map(({ properties }) => String(properties["fanfold:job_id"])).filter((job) => job !== ctx.job_id);
  const replaced = new Set(leaving);
  // An export may have files that its item does not name, such as the items of a static catalogue.
  const below = `gold:${export_folder}${id}/`;
  for (const file of await filesOfJobs(ctx, jobs)) if (file.startsWith(below)) replaced.add(file);
  for (const file of filesOf(item)) replaced.delete(file);
  for (const file of replaced) await ctx.zones.retract(zoneRef(file));
  const writer = await ctx.db((session) => catalog.prepare(session, collection));
  await ctx.db((session) => writer.put(session, [item]), { with_finish: true });
  const path = `/stac/collections/${encodeURIComponent(collection)}/items/${encodeURIComponent(id)}`;
  return { replaced_files: replaced.size, path };
}
