// raster.inventory: which files a job is about: those below a prefix, those of a list, those of items in the catalogue, or those
// that a job made. Reads names, never contents. Two runs over the same files give the same list.
import { z } from "zod";
import type { SearchQuery } from "../../../catalog/catalog.js";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { formatZoneRef, parseZoneRef } from "../../../core/places/zones.js";
import type { TaskContext } from "../../../core/task/context.js";
import type { StacItem } from "../../../geo/stac.js";
import type { ItemDates } from "../../../geo/stac_dates.js";
import { catalogOf } from "../../stac/catalog_of.js";
import { ref_field } from "../../stac/item_fields.js";
import { parsePeriod } from "../../stac/periods.js";
import type { CogResult } from "../facts.js";
import { raster_sources, registered_sources, zone_prefix } from "../settings.js";
import { fitsGlob } from "../source/glob.js";
import { type NamedSource, nameSources } from "../source/item_ids.js";

/** What is known of a file beside its name, when an item or a job says so. */
export interface InventorySource extends NamedSource {
  sha256?: string;
  dates?: ItemDates;
  properties?: Record<string, string | number>;
}

export interface Inventory {
  sources: InventorySource[];
  source_count: number;
  /** Below the prefix, but not of that pattern. */
  passed_over: number;
}

/** A list that long is a wrong prefix, and would not fit into a job. */
const most_sources = 100_000;

const parameters = z.union([
  z.object({ sources: z.union([...raster_sources.options, ...registered_sources.options]) }),
  z.object({ prefix: zone_prefix }).transform(({ prefix }) => ({ sources: { prefix, pattern: "**" } })),
]);

export const rasterInventory = defineHandler(
  "raster.inventory",
  { parameters },
  async ({ sources }, ctx): Promise<Inventory> => {
    if ("prefix" in sources) return listed(sources.prefix, sources.pattern, ctx);
    if ("list" in sources) return given(sources.list);
    if ("job_id" in sources) return made(sources.job_id, ctx);
    return catalogued(sources, ctx);
  },
);

async function listed(prefix: string, pattern: string, ctx: TaskContext): Promise<Inventory> {
  const { zone, key } = parseZoneRef(prefix)!;
  // Names count from the last folder of the prefix: bronze:scenes/2024 lists scenes/2024-old/… as well.
  const base = key.lastIndexOf("/") + 1;
  const found: { source: string; path: string }[] = [];
  let passed_over = 0;
  let after: string | undefined;
  do {
    ctx.signal.throwIfAborted();
    const page = await ctx.zones.list(zone, key, { after });
    for (const entry of page.entries) {
      // Some stores keep empty objects in place of folders.
      if (entry.bytes === 0 && entry.key.endsWith("/")) continue;
      const path = entry.key.slice(base);
      if (fitsGlob(pattern, path)) found.push({ source: formatZoneRef({ zone, key: entry.key }), path });
      else passed_over += 1;
    }
    if (found.length > most_sources) {
      throw new Permanent(
        `there are more than ${most_sources} files of that pattern below ${prefix}: take a longer prefix`,
        {
          code: "too_many_sources",
        },
      );
    }
    after = page.next ?? undefined;
    ctx.progress({ done: found.length, total: found.length, message: "listing" });
  } while (after !== undefined);
  if (found.length === 0) {
    const others = passed_over === 0 ? "there is nothing at all there" : `${passed_over} files there have other names`;
    throw new Permanent(`no file below ${prefix} is called ${pattern}: ${others}`, { code: "no_sources" });
  }
  return { sources: nameSources(found), source_count: found.length, passed_over };
}

function given(list: readonly string[]): Inventory {
  const once = [...new Set(list)];
  const sources = nameSources(
    once.map((source) => ({ source, path: parseZoneRef(source)?.key ?? new URL(source).pathname })),
  );
  return { sources, source_count: sources.length, passed_over: 0 };
}

const made_by = JSON.stringify(["raster.cog_tile", "raster.stack", "raster.inspect"]);

/** The COGs of a job's completed tasks, with what their results say: for a job whose catalogue step failed. */
async function made(job_id: string, ctx: TaskContext): Promise<Inventory> {
  const sources: InventorySource[] = [];
  let cursor: string | null = null;
  do {
    ctx.signal.throwIfAborted();
    const page: JobResults = await resultsOf(ctx, job_id, cursor);
    for (const { result } of page.items) {
      if (result === null || result.empty) continue;
      const { item_id, cog, dates, properties } = result;
      sources.push({
        item_id,
        source: formatZoneRef(cog),
        sha256: cog.sha256,
        dates,
        ...(properties ? { properties } : {}),
      });
    }
    cursor = page.next;
  } while (cursor !== null);
  if (sources.length === 0) throw new Permanent(`the job ${job_id} has made no COGs`, { code: "no_sources" });
  return { sources, source_count: sources.length, passed_over: 0 };
}

function resultsOf(ctx: TaskContext, job_id: string, cursor: string | null): Promise<JobResults> {
  return ctx.db(async (session) => {
    const [row] = await session.sql<{ reply: JobResults }>`
      select app.read_job_results(${job_id}::text, ${made_by}::text::json, ${cursor}::text) as reply`;
    return row!.reply;
  });
}

interface JobResults {
  items: { result: CogResult | null }[];
  next: string | null;
}

interface SearchedSources {
  collection: string;
  asset: string;
  bbox?: number[];
  datetime?: string;
}

/** The named asset of every item that is found; it keeps the item's id. */
async function catalogued(
  { collection, asset, bbox, datetime }: SearchedSources,
  ctx: TaskContext,
): Promise<Inventory> {
  const catalog = await catalogOf(ctx);
  const sources: InventorySource[] = [];
  let passed_over = 0;
  const period = datetime === undefined ? null : parsePeriod(datetime);
  const query: SearchQuery = {
    collections: [collection],
    limit: 1000,
    bbox,
    ...(period === null ? {} : { datetime: period }),
  };
  let token: string | undefined;
  do {
    ctx.signal.throwIfAborted();
    const asked = token;
    const page = await ctx.db((session) =>
      catalog.search(session, asked === undefined ? query : { ...query, token: asked }),
    );
    for (const item of page.items) {
      const source = assetSource(item, asset);
      if (source === null) passed_over += 1;
      else sources.push({ item_id: item.id, source, dates: datesOf(item) });
    }
    if (sources.length > most_sources) {
      throw new Permanent(`the search finds more than ${most_sources} items: narrow it`, { code: "too_many_sources" });
    }
    token = page.next ?? undefined;
  } while (token !== undefined);
  if (sources.length === 0) {
    const others = passed_over === 0 ? "there are none" : `${passed_over} have no asset ${asset} that can be read`;
    throw new Permanent(`no item of the collection ${collection} can be used: ${others}`, { code: "no_sources" });
  }
  return { sources, source_count: sources.length, passed_over };
}

function assetSource(item: StacItem, name: string): string | null {
  const asset = item.assets[name];
  const ref = asset?.[ref_field];
  if (typeof ref === "string" && parseZoneRef(ref) !== null) return ref;
  return asset?.href.startsWith("https://") ? asset.href : null;
}

function datesOf({ properties }: StacItem): ItemDates {
  const { datetime, start_datetime, end_datetime } = properties;
  return {
    datetime,
    ...(typeof start_datetime === "string" ? { start_datetime } : {}),
    ...(typeof end_datetime === "string" ? { end_datetime } : {}),
    source: "item",
  };
}
