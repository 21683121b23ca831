// One interface over two catalogues: pgSTAC where its schema is installed, our own `stac` schema otherwise. Everything belongs to
// a tenant; ids are the tenant's own names, whatever the store makes of them.
import type { SqlSession } from "../core/task/context.js";
import type { StacCollection, StacItem } from "../geo/stac.js";

export interface SearchQuery {
  collections?: string[];
  ids?: string[];
  bbox?: number[];
  /** A GeoJSON geometry. */
  intersects?: unknown;
  /** Checked by the caller: RFC 3339, one instant or an interval with ".." for open. */
  datetime?: [start: string | null, end: string | null];
  /** CQL2, as text or JSON; refused with BadRequest where it cannot be answered. */
  filter?: unknown;
  sortby?: { field: string; direction: "asc" | "desc" }[];
  fields?: { include: string[]; exclude: string[] };
  limit: number;
  /** As `next` or `previous` of a page gave it. */
  token?: string;
}

export interface SearchPage {
  items: StacItem[];
  next: string | null;
  previous: string | null;
  /** Only where the store counts for little. */
  matched: number | null;
}

export interface Catalog {
  readonly store: "stac" | "pgstac";
  readonly version: string;
  collections(
    db: SqlSession,
    page: { limit: number; token?: string },
  ): Promise<{ collections: StacCollection[]; next: string | null }>;
  collection(db: SqlSession, id: string): Promise<StacCollection | null>;
  item(db: SqlSession, collection: string, id: string): Promise<StacItem | null>;
  search(db: SqlSession, query: SearchQuery): Promise<SearchPage>;
  /** Made if it is not there; if it is, it stays as it is unless `replace`. Answers whether it was made. */
  putCollection(db: SqlSession, collection: StacCollection, options?: { replace?: boolean }): Promise<boolean>;
  /** Reads what putItems needs to know of the collection, so that the writing itself can be recorded and commit with a task. */
  prepare(db: SqlSession, collection: string): Promise<ItemWriter>;
  deleteItems(db: SqlSession, collection: string, ids: string[]): Promise<number>;
  deleteCollection(db: SqlSession, id: string): Promise<boolean>;
  /** Extent and summaries from the items as they are now; answers the collection. */
  refreshCollection(db: SqlSession, id: string): Promise<StacCollection>;
  /** Items of a collection, counted. */
  count(db: SqlSession, collection: string): Promise<number>;
}

export interface ItemWriter {
  /** Inserts or replaces by id. Statements only, nothing is read: fits `ctx.db(fn, { with_finish: true })`. All or none. */
  put(db: SqlSession, items: StacItem[]): Promise<void>;
}
