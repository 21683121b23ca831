// stac.finalize: the collection gets the extent and the summaries of what is in it now. The last task of the raster jobs: its result
// is what a caller wants to know of the whole.
import { z } from "zod";
import { defineHandler } from "../../core/declare/declare.js";
import type { TaskContext } from "../../core/task/context.js";
import { publicSource } from "../../geo/stac_ids.js";
import type { ValidatedRaster } from "../raster/facts.js";
import { stac_id } from "../raster/settings.js";
import { catalogOf } from "./catalog_of.js";
import type { Registered } from "./register.js";

export interface Finalized {
  collection: string;
  /** Made or replaced by this job. */
  item_count: number;
  /** In the collection, whoever made them. */
  items_in_collection: number;
  empty_count: number;
  /** The first of them. */
  empty: { item_id: string; reason: string }[];
  /** What the checks found and did not refuse, by code, and the first of it with what to do. */
  warning_counts: Record<string, number>;
  warnings: SourceWarning[];
  bbox: number[] | null;
  interval: [string | null, string | null] | null;
  /** Below the server's address. */
  links: { collection: string; items: string; search: string };
}

export interface SourceWarning {
  source: string;
  code: string;
  message: string;
  hint: string;
}

const most_named = 100;
const checks = JSON.stringify(["raster.validate"]);

export const stacFinalize = defineHandler(
  "stac.finalize",
  { parameters: z.object({ collection: stac_id }) },
  async ({ collection }, ctx): Promise<Finalized> => {
    let item_count = 0;
    let empty_count = 0;
    const empty: Finalized["empty"] = [];
    for await (const { result } of ctx.previous) {
      const registered = result as Registered;
      item_count += registered.item_count;
      empty_count += registered.empty.length;
      empty.push(...registered.empty.slice(0, most_named - empty.length));
    }
    const catalog = await catalogOf(ctx);
    const { refreshed, items_in_collection } = await ctx.db(async (session) => ({
      refreshed: await catalog.refreshCollection(session, collection),
      items_in_collection: await catalog.count(session, collection),
    }));
    const path = `/stac/collections/${encodeURIComponent(collection)}`;
    ctx.deliver({ name: "collection", count: 1, location: path });
    return {
      collection,
      item_count,
      items_in_collection,
      empty_count,
      empty,
      ...(await warningsOf(ctx)),
      bbox: refreshed.extent.spatial.bbox[0] ?? null,
      interval: refreshed.extent.temporal.interval[0] ?? null,
      links: {
        collection: path,
        items: `${path}/items`,
        search: `/stac/search?${new URLSearchParams({ collections: collection, filter: `"fanfold:job_id" = '${ctx.job_id}'` })}`,
      },
    };
  },
);

/** The warnings about every source that was checked, whichever stage that was. */
async function warningsOf(ctx: TaskContext): Promise<Pick<Finalized, "warning_counts" | "warnings">> {
  const warning_counts: Record<string, number> = {};
  const warnings: SourceWarning[] = [];
  let cursor: string | null = null;
  do {
    ctx.signal.throwIfAborted();
    const page: CheckedPage = await checkedPage(ctx, cursor);
    for (const { result } of page.items) {
      for (const { severity, code, message, hint } of result?.findings ?? []) {
        if (severity !== "warning") continue;
        warning_counts[code] = (warning_counts[code] ?? 0) + 1;
        if (warnings.length < most_named) warnings.push({ source: publicSource(result!.source), code, message, hint });
      }
    }
    cursor = page.next;
  } while (cursor !== null);
  return { warning_counts, warnings };
}

interface CheckedPage {
  items: { result: Pick<ValidatedRaster, "source" | "findings"> | null }[];
  next: string | null;
}

function checkedPage(ctx: TaskContext, cursor: string | null): Promise<CheckedPage> {
  return ctx.db(async (session) => {
    const [row] = await session.sql<{ reply: CheckedPage }>`
      select app.read_job_results(${ctx.job_id}::text, ${checks}::text::json, ${cursor}::text) as reply`;
    return row!.reply;
  });
}
