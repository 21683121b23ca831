// Items that are in the catalogue already under the ids a job is about to use: found in pages, and refused when another job has made
// them. The job's own are its earlier attempts, which a repair replaces.

import type { Catalog, SearchQuery } from "../../catalog/catalog.js";
import { Permanent } from "../../core/errors/errors.js";
import { parseZoneRef, type ZoneRef } from "../../core/places/zones.js";
import type { TaskContext } from "../../core/task/context.js";
import type { StacItem } from "../../geo/stac.js";
import { catalogOf } from "./catalog_of.js";
import { ref_field } from "./item_fields.js";

const page = 500;
const most_named = 20;

export async function findItems(
  ctx: TaskContext,
  catalog: Catalog,
  collection: string,
  item_ids: readonly string[],
): Promise<StacItem[]> {
  const found: StacItem[] = [];
  for (let at = 0; at < item_ids.length; at += page) {
    const ids = item_ids.slice(at, at + page);
    const query: SearchQuery = { collections: [collection], ids, limit: ids.length };
    let token: string | undefined;
    // Large items come in more pages than one.
    do {
      const asked: SearchQuery = token === undefined ? query : { ...query, token };
      const { items, next } = await ctx.db((session) => catalog.search(session, asked));
      found.push(...items);
      token = next ?? undefined;
    } while (token !== undefined);
  }
  return found;
}

interface Wanted {
  collection: string;
  overwrite: "refuse" | "replace";
}

/** Before any work: throws when items of other jobs would be replaced. */
export async function refuseTakenIds(ctx: TaskContext, wanted: Wanted, item_ids: readonly string[]): Promise<void> {
  if (wanted.overwrite === "replace") return;
  refuseTaken(ctx, wanted, await findItems(ctx, await catalogOf(ctx), wanted.collection, item_ids));
}

export function refuseTaken(ctx: TaskContext, { collection, overwrite }: Wanted, found: readonly StacItem[]): void {
  const taken = found.filter(({ properties }) => properties["fanfold:job_id"] !== ctx.job_id);
  if (overwrite === "replace" || taken.length === 0) return;
  const ids = taken.slice(0, most_named).map(({ id }) => id);
  const more = taken.length > most_named ? `, and ${taken.length - most_named} more` : "";
  throw new Permanent(
    `the collection ${collection} has ${taken.length === 1 ? "an item" : `${taken.length} items`} that this job would make: ${ids.join(", ")}${more}. Give another item_id or collection, or overwrite=replace`,
    { code: "item_exists" },
  );
}

/** The files of an item that are in a zone, as zone:key. */
export function filesOf(item: StacItem): string[] {
  return Object.values(item.assets).flatMap((asset) => {
    const ref = asset[ref_field];
    return typeof ref === "string" && parseZoneRef(ref) !== null ? [ref] : [];
  });
}

export function zoneRef(text: string): ZoneRef {
  return parseZoneRef(text)!;
}
