// stac.select_items: what an unpublish would take away: the items by ids, by collection or by the jobs that made them, and their
// files; of several jobs also the files that no item names. Changes nothing.
import { z } from "zod";
import type { Catalog, SearchQuery } from "../../catalog/catalog.js";
import { defineHandler } from "../../core/declare/declare.js";
import { Permanent } from "../../core/errors/errors.js";
import type { TaskContext } from "../../core/task/context.js";
import type { StacItem } from "../../geo/stac.js";
import { stac_id } from "../raster/settings.js";
import { catalogOf } from "./catalog_of.js";
import { type KeptFile, leavingFiles } from "./leaving_files.js";
import { filesOf, findItems } from "./taken_items.js";

export interface Selection {
  dry_run: boolean;
  item_count: number;
  file_count: number;
  /** Asked for, but not there: gone already, or never made. */
  missing: string[];
  missing_count: number;
  batches: { collection: string; item_ids: string[]; files?: string[] }[];
  /** The first of them, with their files. */
  items: { collection: string; item_id: string; files: string[] }[];
  /** Files of those that would stay all the same, and why; only looked for in a dry run. */
  kept: KeptFile[];
}

const batch = 100;
const most_named = 100;
/** The selection is one result. */
const most_items = 500_000;
const page = 1000;

const parameters = z.object({
  collection: stac_id.optional(),
  item_ids: z.array(stac_id).optional(),
  job_id: z.string().optional(),
  job_ids: z.array(z.string()).optional(),
  dry_run: z.boolean(),
  delete_files: z.boolean(),
  // Also what the jobs of these items have recorded below this zone:prefix, and no item names.
  unnamed_below: z.string().min(1).optional(),
});

type Wanted = z.output<typeof parameters>;

export const stacSelectItems = defineHandler(
  "stac.select_items",
  { parameters },
  async (wanted, ctx): Promise<Selection> => {
    const catalog = await catalogOf(ctx);
    const by_collection = new Map<string, string[]>();
    const selection: Selection = {
      dry_run: wanted.dry_run,
      item_count: 0,
      file_count: 0,
      missing: [],
      missing_count: 0,
      batches: [],
      items: [],
      kept: [],
    };
    const named: StacItem[] = [];
    const named_files = new Set<string>();
    const seen = new Set<string>();
    const makers = new Set(wanted.job_ids ?? []);
    for await (const item of wantedItems(ctx, catalog, wanted)) {
      const files = filesOf(item);
      selection.item_count += 1;
      selection.file_count += files.length;
      if (wanted.unnamed_below !== undefined) makers.add(String(item.properties["fanfold:job_id"]));
      if (makers.size > 0) for (const file of files) named_files.add(file);
      if (selection.items.length < most_named) {
        selection.items.push({ collection: item.collection, item_id: item.id, files });
        named.push(item);
      }
      seen.add(item.id);
      const ids = by_collection.get(item.collection) ?? [];
      by_collection.set(item.collection, ids);
      ids.push(item.id);
      if (selection.item_count > most_items) {
        throw new Permanent(`more than ${most_items} items: take them by job_id or item_ids`, {
          code: "too_many_items",
        });
      }
    }
    const missing = (wanted.item_ids ?? []).filter((id) => !seen.has(id));
    selection.missing = missing.slice(0, most_named);
    selection.missing_count = missing.length;
    for (const [collection, ids] of by_collection) {
      ids.sort();
      for (let at = 0; at < ids.length; at += batch) {
        selection.batches.push({ collection, item_ids: ids.slice(at, at + batch) });
      }
    }
    if (makers.size > 0 && (wanted.unnamed_below !== undefined || wanted.collection === undefined))
      await addUnnamed(ctx, selection, [...makers], named_files, wanted.unnamed_below);
    const { delete_files, job_ids: made_by } = wanted;
    if (wanted.dry_run) selection.kept = (await leavingFiles(ctx, catalog, named, { delete_files, made_by })).kept;
    if (wanted.dry_run) ctx.log.info("nothing was removed: give dry_run=false", { item_count: selection.item_count });
    return selection;
  },
);

/** Files of these jobs that none of the items names, and no other job has recorded: they go by themselves. */
async function addUnnamed(
  ctx: TaskContext,
  selection: Selection,
  job_ids: string[],
  named: ReadonlySet<string>,
  below = "",
) {
  const files = (await filesOfJobs(ctx, job_ids)).filter((file) => file.startsWith(below) && !named.has(file));
  selection.file_count += files.length;
  for (let at = 0; at < files.length; at += batch)
    selection.batches.push({ collection: "files", item_ids: [], files: files.slice(at, at + batch) });
}

/** What these jobs have recorded, and no other job has. */
export async function filesOfJobs(ctx: TaskContext, job_ids: readonly string[]): Promise<string[]> {
  if (job_ids.length === 0) return [];
  const jobs = JSON.stringify(job_ids);
  const files: string[] = [];
  let after: string | null = null;
  do {
    ctx.signal.throwIfAborted();
    const found = await pageOfFiles(ctx, jobs, after);
    for (const { ref, shared } of found) if (!shared) files.push(ref);
    after = found.length < page ? null : (found.at(-1)?.ref ?? null);
  } while (after !== null);
  return files;
}

async function pageOfFiles(ctx: TaskContext, jobs: string, after: string | null) {
  const [row] = await ctx.db(
    (session) => session.sql<{ reply: { ref: string; shared: boolean }[] }>`
      select app.files_of_jobs(${jobs}::text::json, ${after}::text, ${page}::integer, ${ctx.tenant_id}::text) as reply`,
  );
  return row?.reply ?? [];
}

async function* wantedItems(ctx: TaskContext, catalog: Catalog, wanted: Wanted): AsyncGenerator<StacItem, void, void> {
  const { collection, item_ids } = wanted;
  const named = [...(wanted.job_ids ?? []), ...(wanted.job_id === undefined ? [] : [wanted.job_id])];
  const jobs = named.length === 0 ? undefined : named;
  const is_of_job = ({ properties }: StacItem) =>
    jobs === undefined || jobs.includes(String(properties["fanfold:job_id"]));
  if (collection !== undefined && item_ids !== undefined) {
    const found = await findItems(ctx, catalog, collection, item_ids);
    yield* found.filter(is_of_job);
    return;
  }
  const query: SearchQuery = {
    ...(collection === undefined ? {} : { collections: [collection] }),
    ...(jobs === undefined ? {} : { filter: { op: "in", args: [{ property: "fanfold:job_id" }, jobs] } }),
    limit: page,
  };
  let token: string | undefined;
  do {
    ctx.signal.throwIfAborted();
    const asked: SearchQuery = token === undefined ? query : { ...query, token };
    const { items, next } = await ctx.db((session) => catalog.search(session, asked));
    yield* items;
    token = next ?? undefined;
  } while (token !== undefined);
}
