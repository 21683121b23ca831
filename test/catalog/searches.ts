// The same searches over the same items in every catalogue: the same ids in the same order, which plain TypeScript over the items expects;
// and where pgSTAC's own search means the same, the same that it finds.
import { beforeAll, describe, expect, test } from "vitest";
import type { SearchQuery } from "../../src/catalog/catalog.js";
import { fieldOf } from "../../src/catalog/fields.js";
import type { StacItem } from "../../src/geo/stac.js";
import { type CatalogKind, catalog_kinds, type OpenedCatalog, openIn, patience_ms, whyNot } from "./catalogs.js";
import { corpus_collections, corpus_searches, corpusItems } from "./corpus.js";

const items = corpusItems();

async function filled(kind: CatalogKind): Promise<OpenedCatalog> {
  const opened = await openIn(kind);
  const { catalog, db } = opened;
  for (const collection of corpus_collections) {
    await catalog.putCollection(db, collection);
    const writer = await catalog.prepare(db, collection.id);
    await writer.put(
      db,
      items.filter((item) => item.collection === collection.id),
    );
  }
  return opened;
}

/** What `datetime` sorts by has microseconds, which a Date has not: as text, in UTC, both have the same length. */
function moment(text: string): string {
  const at = new Date(text);
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? "";
  return `${at.toISOString().slice(0, 19)}.${fraction.padEnd(6, "0").slice(0, 6)}`;
}

function keyOf(item: StacItem, field: string): unknown {
  const found = fieldOf(field);
  if (found === null) return null;
  if ("column" in found) {
    const { datetime, start_datetime, end_datetime } = item.properties as Record<string, string>;
    if (found.column === "datetime") return moment((start_datetime ?? datetime) as string);
    if (found.column === "end_datetime") return moment((end_datetime ?? datetime) as string);
    return item[found.column];
  }
  return found.path.reduce((value: unknown, step) => (value as Record<string, unknown> | null)?.[step], item) ?? null;
}

/** As jsonb orders: texts before numbers before booleans. What is absent comes last. */
function compare(a: unknown, b: unknown, descending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const rank = (value: unknown) => ["string", "number", "boolean"].indexOf(typeof value);
  const order =
    rank(a) - rank(b) ||
    (typeof a === "string" ? Buffer.compare(Buffer.from(a), Buffer.from(b as string)) : Number(a) - Number(b));
  return descending ? -order : order;
}

function expectedIds({
  query,
  finds,
}: {
  query: Omit<SearchQuery, "limit">;
  finds: (item: StacItem) => boolean;
}): string[] {
  const asked = query.sortby ?? [{ field: "datetime", direction: "desc" as const }];
  const sorts = [
    ...asked,
    { field: "collection", direction: "asc" as const },
    { field: "id", direction: "asc" as const },
  ];
  return items
    .filter(finds)
    .sort((a, b) => {
      for (const { field, direction } of sorts) {
        const order = compare(keyOf(a, field), keyOf(b, field), direction === "desc");
        if (order !== 0) return order;
      }
      return 0;
    })
    .map(({ collection, id }) => `${collection} ${id}`);
}

const names = (found: readonly StacItem[]) => found.map(({ collection, id }) => `${collection} ${id}`);

for (const kind of catalog_kinds) {
  const reason = await whyNot(kind);
  describe.skipIf(reason !== null)(`searching ${kind}${reason === null ? "" : `, skipped: ${reason}`}`, () => {
    let opened: OpenedCatalog;
    beforeAll(async () => {
      opened = await filled(kind);
    }, patience_ms);

    test.each(Object.entries(corpus_searches))("finds what there is, in order: %s", async (_name, search) => {
      const { catalog, db } = opened;
      const page = await catalog.search(db, { ...search.query, limit: 1_000 });
      expect(names(page.items)).toEqual(expectedIds(search));
      expect(page).toMatchObject({ next: null, previous: null, matched: page.items.length });
    });

    test.each([
      "everything",
      "sorted by a number",
      "sorted by a number, falling",
      "sorted by mixed values",
      "s_intersects",
    ])("pages there and back without a gap or a repetition: %s", async (name) => {
      const { catalog, db } = opened;
      const search = corpus_searches[name]!;
      const ask = (token?: string) => catalog.search(db, { ...search.query, limit: 47, token });
      const there: StacItem[][] = [];
      let page = await ask();
      there.push(page.items);
      while (page.next !== null) {
        page = await ask(page.next);
        there.push(page.items);
      }
      expect(names(there.flat())).toEqual(expectedIds(search));
      const back: StacItem[][] = [page.items];
      while (page.previous !== null) {
        page = await ask(page.previous);
        back.unshift(page.items);
      }
      expect(back.map(names)).toEqual(there.map(names));
    });

    test("gives items back as they were put", async () => {
      const { catalog, db } = opened;
      const loses_nulls = kind === "pgstac on a server";
      const put = (item: StacItem) => (loses_nulls ? withoutNulls(item) : item);
      const { items: found } = await catalog.search(db, { limit: 1_000 });
      const by_name = new Map(found.map((item) => [`${item.collection} ${item.id}`, item]));
      for (const item of items) expect(by_name.get(`${item.collection} ${item.id}`)).toEqual(put(item));
      for (const item of items.slice(-20)) expect(await catalog.item(db, item.collection, item.id)).toEqual(put(item));
    });

    test("gives the fields that were asked for", async () => {
      const { catalog, db } = opened;
      const fields = { include: ["properties.gsd", "platform"], exclude: ["platform"] };
      const { items: found } = await catalog.search(db, { ids: ["item-0003"], fields, limit: 10 });
      // What stands in both lists is included.
      const { gsd, platform } = items[3]!.properties;
      expect(found).toEqual([
        { type: "Feature", id: "item-0003", collection: "scenes", properties: defined({ gsd, platform }) },
      ]);
      const rest = await catalog.search(db, {
        ids: ["item-0003"],
        fields: { include: [], exclude: ["assets", "properties"] },
        limit: 1,
      });
      const { assets: _assets, properties: _properties, ...kept } = items[3]!;
      expect(rest.items).toEqual([kept]);
    });

    test.runIf(kind === "pgstac on a server")("finds what pgSTAC's own search finds", async () => {
      const { db, tenant } = opened;
      const stored = (name: string) => `${tenant}~${name}`;
      const mine = corpus_collections.map(({ id }) => stored(id));
      for (const [name, { query, finds, ask_pgstac = true }] of Object.entries(corpus_searches)) {
        if (!ask_pgstac) continue;
        const { sortby: _, datetime, collections, ...rest } = query;
        const asked = {
          ...rest,
          ...(datetime === undefined ? {} : { datetime: datetime.map((one) => one ?? "..").join("/") }),
          collections: collections?.map(stored) ?? mine,
          limit: 1_000,
          conf: { nohydrate: true },
        };
        const found = await db.transaction(async (tx) => {
          await tx.script("set local search_path = pgstac, public; set local client_min_messages = warning");
          const [row] = await tx.sql<{ reply: { features: { id: string }[] } }>`
            select pgstac.search(${JSON.stringify(asked)}::text::jsonb) as reply`;
          return row!.reply.features.map(({ id }) => id).sort();
        });
        expect([name, found]).toEqual([
          name,
          items
            .filter(finds)
            .map(({ id }) => id)
            .sort(),
        ]);
      }
    });
  });
}

function withoutNulls(item: StacItem): StacItem {
  const properties = Object.fromEntries(
    Object.entries(item.properties).filter(([name, value]) => value !== null || name === "datetime"),
  );
  return { ...item, properties } as StacItem;
}

function defined(properties: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}
