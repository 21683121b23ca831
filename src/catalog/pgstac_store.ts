// The catalogue on pgSTAC. Its tables are reached only through functions of ours, which know whose tenant a collection is; on 0.9.x items
// are written past its staging tables, in the shape those would give them, and read by the search of the built-in catalogue.

import { NotFound } from "../core/errors/errors.js";
import type { SqlSession } from "../core/task/context.js";
import type { StacCollection, StacItem } from "../geo/stac.js";
import { answer } from "./answers.js";
import type { Catalog, ItemWriter, SearchPage, SearchQuery } from "./catalog.js";
import { assertBatch, assertCollection, batchText } from "./item_check.js";
import { dehydrated, hydrated } from "./pgstac_shape.js";
import { type Found, planSearch } from "./search_request.js";

type Stored = Record<string, unknown>;

export class PgstacStore implements Catalog {
  readonly store = "pgstac";

  constructor(
    private readonly tenant: string,
    readonly version: string,
  ) {}

  /** Whether the release is one whose tables we know. */
  get has_fast_path(): boolean {
    return /^0\.9\.\d+$/.test(this.version);
  }

  async collections(db: SqlSession, { limit, token }: { limit: number; token?: string }) {
    const found = await answer<(StacCollection | null)[]>(
      db.sql`select stac.pgstac_list_collections(${limit + 1}::integer, ${token ?? null}::text, ${this.tenant}::text) as reply`,
    );
    const collections = found.slice(0, limit).filter((one) => one !== null);
    return { collections, next: found.length > collections.length ? (collections.at(-1)?.id ?? null) : null };
  }

  collection(db: SqlSession, id: string): Promise<StacCollection | null> {
    return answer(db.sql`select stac.pgstac_get_collection(${id}::text, ${this.tenant}::text) as reply`);
  }

  async item(db: SqlSession, collection: string, id: string): Promise<StacItem | null> {
    const found = await answer<[Stored, Stored] | null>(
      db.sql`select stac.pgstac_get_item(${collection}::text, ${id}::text, ${this.tenant}::text) as reply`,
    );
    return found === null ? null : this.own(found[0], found[1]);
  }

  async search(db: SqlSession, query: SearchQuery): Promise<SearchPage> {
    const { request, page } = planSearch(this.tenant, query);
    const { found, bases } = await answer<{ found: (Found<Stored> | null)[]; bases: Record<string, Stored> }>(
      db.sql`select stac.pgstac_search(${JSON.stringify(request)}::text::jsonb) as reply`,
    );
    return page(found.map((one) => one && [this.own(one[0], bases[String(one[0].collection)] ?? {}), one[1]]));
  }

  putCollection(db: SqlSession, collection: StacCollection, { replace = false } = {}): Promise<boolean> {
    assertCollection(collection);
    const text = JSON.stringify(collection);
    return answer(
      db.sql`select stac.pgstac_put_collection(${text}::text::jsonb, ${replace}::boolean, ${this.tenant}::text) as reply`,
    );
  }

  async prepare(db: SqlSession, collection: string): Promise<ItemWriter> {
    if (!this.has_fast_path) return { put: (session, items) => this.upsert(session, collection, items) };
    const base = await answer<Stored | null>(
      db.sql`select stac.pgstac_base(${collection}::text, ${this.tenant}::text) as reply`,
    );
    if (base === null)
      throw new NotFound(`there is no collection ${JSON.stringify(collection)}`, { hint: "make the collection first" });
    const base_text = JSON.stringify(base);
    return {
      put: async (session, items) => {
        if (items.length === 0) return;
        assertBatch(collection, items, { needs_geometry: true });
        const text = batchText(items.map((item) => asRow(item, base)));
        await answer(session.sql`
          select stac.pgstac_put_items(
            ${collection}::text, ${text}::text::jsonb, ${base_text}::text::jsonb, ${this.tenant}::text) as reply`);
      },
    };
  }

  /** Through pgSTAC's own staging, whatever its version. */
  async upsert(db: SqlSession, collection: string, items: StacItem[]): Promise<void> {
    if (items.length === 0) return;
    assertBatch(collection, items, { needs_geometry: true });
    const text = batchText(items);
    await answer(
      db.sql`select stac.pgstac_upsert_items(${collection}::text, ${text}::text::jsonb, ${this.tenant}::text) as reply`,
    );
  }

  deleteItems(db: SqlSession, collection: string, ids: string[]): Promise<number> {
    const text = JSON.stringify(ids);
    return answer(
      db.sql`select stac.pgstac_delete_items(${collection}::text, ${text}::text::jsonb, ${this.tenant}::text) as reply`,
    );
  }

  deleteCollection(db: SqlSession, id: string): Promise<boolean> {
    return answer(db.sql`select stac.pgstac_delete_collection(${id}::text, ${this.tenant}::text) as reply`);
  }

  refreshCollection(db: SqlSession, id: string): Promise<StacCollection> {
    return answer(db.sql`select stac.pgstac_refresh_collection(${id}::text, ${this.tenant}::text) as reply`);
  }

  count(db: SqlSession, collection: string): Promise<number> {
    return answer(db.sql`select stac.pgstac_count_items(${collection}::text, ${this.tenant}::text) as reply`);
  }

  /** Whole, and of the collection that its tenant knows. */
  private own(stored: Stored, base: Stored): StacItem {
    const item = hydrated(stored, base);
    const named = String(stored.collection);
    return { ...item, collection: this.tenant === "default" ? named : named.slice(this.tenant.length + 1) };
  }
}

function asRow(item: StacItem, base: Stored) {
  const { datetime, start_datetime, end_datetime } = item.properties as Record<string, string | null | undefined>;
  const is_range = (start_datetime ?? null) !== null && (end_datetime ?? null) !== null;
  return {
    id: item.id,
    geometry: item.geometry,
    datetime: is_range ? start_datetime : datetime,
    end_datetime: is_range ? end_datetime : datetime,
    content: dehydrated(item, base),
  };
}
