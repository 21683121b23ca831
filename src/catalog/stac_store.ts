// The catalogue that is built in: schema `stac` on PostGIS. One statement each; every one says whose tenant it is for.
import type { SqlSession } from "../core/task/context.js";
import type { StacCollection, StacItem } from "../geo/stac.js";
import { answer } from "./answers.js";
import type { Catalog, ItemWriter, SearchPage, SearchQuery } from "./catalog.js";
import { assertBatch, assertCollection, batchText } from "./item_check.js";
import { planSearch } from "./search_request.js";

export class StacStore implements Catalog {
  readonly store = "stac";

  constructor(
    private readonly tenant: string,
    readonly version: string,
  ) {}

  async collections(db: SqlSession, { limit, token }: { limit: number; token?: string }) {
    const found = await answer<(StacCollection | null)[]>(
      db.sql`select stac.list_collections(${limit + 1}::integer, ${token ?? null}::text, ${this.tenant}::text) as reply`,
    );
    const collections = found.slice(0, limit).filter((one) => one !== null);
    return { collections, next: found.length > collections.length ? (collections.at(-1)?.id ?? null) : null };
  }

  collection(db: SqlSession, id: string): Promise<StacCollection | null> {
    return answer(db.sql`select stac.get_collection(${id}::text, ${this.tenant}::text) as reply`);
  }

  item(db: SqlSession, collection: string, id: string): Promise<StacItem | null> {
    return answer(db.sql`select stac.get_item(${collection}::text, ${id}::text, ${this.tenant}::text) as reply`);
  }

  async search(db: SqlSession, query: SearchQuery): Promise<SearchPage> {
    const { request, page } = planSearch(this.tenant, query);
    return page(await answer(db.sql`select stac.search(${JSON.stringify(request)}::text::jsonb) as reply`));
  }

  putCollection(db: SqlSession, collection: StacCollection, { replace = false } = {}): Promise<boolean> {
    assertCollection(collection);
    const text = JSON.stringify(collection);
    return answer(
      db.sql`select stac.put_collection(${text}::text::jsonb, ${replace}::boolean, ${this.tenant}::text) as reply`,
    );
  }

  /** Nothing needs to be known beforehand: the statement itself refuses what has no collection. */
  async prepare(_db: SqlSession, collection: string): Promise<ItemWriter> {
    return {
      put: async (db, items) => {
        if (items.length === 0) return;
        assertBatch(collection, items);
        const text = batchText(items);
        await answer(
          db.sql`select stac.put_items(${collection}::text, ${text}::text::jsonb, ${this.tenant}::text) as reply`,
        );
      },
    };
  }

  deleteItems(db: SqlSession, collection: string, ids: string[]): Promise<number> {
    const text = JSON.stringify(ids);
    return answer(
      db.sql`select stac.delete_items(${collection}::text, ${text}::text::jsonb, ${this.tenant}::text) as reply`,
    );
  }

  deleteCollection(db: SqlSession, id: string): Promise<boolean> {
    return answer(db.sql`select stac.delete_collection(${id}::text, ${this.tenant}::text) as reply`);
  }

  refreshCollection(db: SqlSession, id: string): Promise<StacCollection> {
    return answer(db.sql`select stac.refresh_collection(${id}::text, ${this.tenant}::text) as reply`);
  }

  count(db: SqlSession, collection: string): Promise<number> {
    return answer(db.sql`select stac.count_items(${collection}::text, ${this.tenant}::text) as reply`);
  }
}
