// The vector layers of a tenant, read for the services: one statement each, decided in SQL (db/geo/functions/serve). What is asked for
// names columns of the layer and nothing else; whose layer it is, the database says.
import { layersError } from "../core/errors/no_layers.js";
import type { SqlSession } from "../core/task/context.js";
import type { Layer } from "../geo/layers/layer.js";
import { answer } from "./answers.js";

/** Which features: as geo.where_text takes it. */
export interface FeatureChoice {
  key?: string;
  /** GeoJSON, with east first. */
  bbox?: unknown;
  bbox_srid?: number;
  starts?: string;
  ends?: string;
  /** In normal form. */
  filter?: unknown;
  filter_srid?: number;
  filter_flips?: boolean;
}

/** And how: as geo.read_features takes it. */
export interface FeatureQuery extends FeatureChoice {
  layer: string;
  version: number;
  properties?: string[];
  no_geometry?: true;
  srid: number;
  flips: boolean;
  digits: number;
  sort?: { column: string; descending: boolean }[];
  after?: (string | null)[];
  rows: number;
  bytes: number;
}

export interface FeaturePiece {
  rows: number;
  more: boolean;
  /** The place of the last in the order. */
  after: (string | null)[] | null;
  /** GeoJSON features with commas between. */
  text: string;
}

export interface TileQuery extends FeatureChoice {
  layer: string;
  version: number;
  srid: number;
  /** The tile's box, in its own reference system. */
  box: readonly number[];
  extent: number;
  buffer: number;
  most_features: number;
  most_bytes: number;
  properties?: string[];
  /** A tile of Web Mercator that was made with the layer is taken where all of the layer is asked for. */
  place?: { zoom: number; column: number; row: number };
  /** As features, for a caller that makes the tile itself. */
  as_features?: true;
}

export interface ReadTile {
  /** Null where this database makes no tiles: then the features are there. */
  tile: Uint8Array | null;
  features: TileFeature[] | null;
  count: number;
  /** Not all that are there. */
  thinned: boolean;
}

/** A feature in the tile's own numbers: [key, GeoJSON geometry, properties]. */
export type TileFeature = [
  key: number | string,
  geometry: { type: string; coordinates: unknown },
  properties: Record<string, unknown>,
];

export class Layers {
  constructor(private readonly tenant: string) {}

  list(db: SqlSession, { limit, after = null }: { limit: number; after?: string | null }): Promise<Layer[]> {
    return installed(
      answer(db.sql`select geo.served_layers(${after}::text, ${limit}::integer, ${this.tenant}::text) as reply`),
    );
  }

  /** `version`: an earlier one, as long as it can be read. */
  layer(db: SqlSession, name: string, version: number | null = null): Promise<Layer | null> {
    return installed(
      answer(db.sql`select geo.served_layer(${name}::text, ${this.tenant}::text, ${version}::bigint) as reply`),
    );
  }

  /** Null where that version of the layer is not there any more. */
  async features(db: SqlSession, query: FeatureQuery): Promise<FeaturePiece | null> {
    const text = await this.#read<string>(
      db.sql`select geo.read_features(${this.#request(query)}::text::jsonb) as reply`,
    );
    if (text === null) return null;
    const end = text.indexOf("\n");
    return { ...(JSON.parse(text.slice(0, end)) as Omit<FeaturePiece, "text">), text: text.slice(end + 1) };
  }

  count(db: SqlSession, query: FeatureChoice & { layer: string; version: number }): Promise<number | null> {
    return this.#read(db.sql`select geo.count_features(${this.#request(query)}::text::jsonb) as reply`);
  }

  async tile(db: SqlSession, query: TileQuery): Promise<ReadTile | null> {
    const rows = db.sql<ReadTile & { reply: true }>`
      select true as reply, r.tile, r.features, r.count, r.thinned from geo.read_tile(${this.#request(query)}::text::jsonb) r`;
    if (!(await this.#read<boolean | null | undefined>(rows as never))) return null;
    return (await rows)[0] ?? null;
  }

  #request(query: object): string {
    return JSON.stringify({ ...query, tenant: this.tenant });
  }

  /** The table of an earlier version may go between the look for it and its reading: then it is gone. */
  async #read<T>(rows: Promise<Record<string, unknown>[]>): Promise<T | null> {
    try {
      return await installed(answer<T | null>(rows));
    } catch (error) {
      if ((error as { code?: unknown }).code === "42P01") return null;
      throw error;
    }
  }
}

async function installed<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw layersError(error);
  }
}
