// Which files go with items that leave the catalogue: those that their own job has made or recorded, and no other item names. A COG may
// be in several collections, because it can be registered again; it stays for as long as one of them has it.
import type { Catalog, SearchQuery } from "../../catalog/catalog.js";
import type { TaskContext } from "../../core/task/context.js";
import type { StacItem } from "../../geo/stac.js";
import { filesOf, zoneRef } from "./taken_items.js";

export interface LeavingFiles {
  leaving: string[];
  kept: KeptFile[];
}

export interface KeptFile {
  file: string;
  why: string;
}

interface NamedFile {
  file: string;
  /** By the item's own job: recorded by no other. */
  is_own: boolean;
  /** No other job has recorded it, so that no other item can name it. */
  is_alone: boolean;
  /** Whose item would be the first to name it. */
  maker: string | null;
}

export async function leavingFiles(
  ctx: TaskContext,
  catalog: Catalog,
  items: readonly StacItem[],
  { delete_files, made_by = [] }: { delete_files: boolean; made_by?: readonly string[] | undefined },
): Promise<LeavingFiles> {
  const named = await recordsOf(ctx, items, made_by);
  const others = await otherItems(ctx, catalog, items, [...named.values()]);
  const result: LeavingFiles = { leaving: [], kept: [] };
  for (const { file, is_own } of named.values()) {
    const other = others.get(file);
    if (other !== undefined) {
      result.kept.push({ file, why: `the item ${other.id} of the collection ${other.collection} has it too` });
    } else if (is_own || delete_files) result.leaving.push(file);
    else result.kept.push({ file, why: "another job has made or recorded it: delete_files=true takes it along" });
  }
  return result;
}

/** `made_by`: jobs that leave together with these items; what they have made is the items' own. */
async function recordsOf(
  ctx: TaskContext,
  items: readonly StacItem[],
  made_by: readonly string[],
): Promise<Map<string, NamedFile>> {
  const jobs = JSON.stringify(made_by);
  const named = new Map<string, NamedFile>();
  await ctx.db(async (session) => {
    for (const item of items) {
      const { "fanfold:job_id": job_id, "fanfold:task_id": task_id } = item.properties;
      for (const file of filesOf(item)) {
        const { zone, key } = zoneRef(file);
        const [row] = await session.sql<{ reply: { job_id: string | null; task_id: string | null } | null }>`
          select app.find_asset(${zone}::text, ${key}::text, ${ctx.tenant_id}::text) as reply`;
        const record = row?.reply ?? null;
        const is_alone = record !== null && record.job_id !== null && record.job_id === job_id;
        // The record of a file that several jobs have recorded still names the task that was first.
        const is_first = record !== null && record.job_id === null && record.task_id === task_id;
        const is_theirs =
          made_by.length > 0 &&
          (
            await session.sql<{ reply: boolean }>`
            select app.is_made_by(${zone}::text, ${key}::text, ${jobs}::text::json, ${ctx.tenant_id}::text) as reply`
          )[0]?.reply === true;
        const known = named.get(file);
        named.set(file, {
          file,
          maker: record?.task_id ?? null,
          is_own: (known?.is_own ?? false) || is_alone || is_first || is_theirs,
          is_alone: (known?.is_alone ?? false) || is_alone,
        });
      }
    }
  });
  return named;
}

/** By file: one item beside these that names it. Only for files that more jobs than one have recorded: it is a look at all items. */
async function otherItems(
  ctx: TaskContext,
  catalog: Catalog,
  items: readonly StacItem[],
  named: readonly NamedFile[],
): Promise<Map<string, StacItem>> {
  const found = new Map<string, StacItem>();
  const shared = named.filter(({ is_alone }) => !is_alone);
  if (shared.length === 0) return found;
  const files = new Set(shared.map(({ file }) => file));
  const going = new Set(items.map(({ collection, id }) => JSON.stringify([collection, id])));
  const makers = [...new Set(shared.flatMap(({ maker }) => maker ?? []))];
  const isOneOf = (property: string, values: string[]) => ({ op: "in", args: [{ property }, values] });
  // An item of register_rasters is its file's own source; the first item of a file is of the task that made it.
  const ways = [
    isOneOf("fanfold:source", [...files]),
    ...(makers.length > 0 ? [isOneOf("fanfold:task_id", makers)] : []),
  ];
  const query: SearchQuery = { filter: ways.length === 1 ? ways[0] : { op: "or", args: ways }, limit: 1000 };
  let token: string | undefined;
  do {
    ctx.signal.throwIfAborted();
    const asked: SearchQuery = token === undefined ? query : { ...query, token };
    const page = await ctx.db((session) => catalog.search(session, asked));
    for (const item of page.items) {
      if (going.has(JSON.stringify([item.collection, item.id]))) continue;
      for (const file of filesOf(item)) if (files.has(file) && !found.has(file)) found.set(file, item);
    }
    token = page.next ?? undefined;
  } while (token !== undefined);
  return found;
}
