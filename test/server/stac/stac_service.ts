// The service with a catalogue, for tests of the STAC API: on the run's Postgres where that has PostGIS.
import { migrateCatalog } from "../../../src/engine/catalog_schema.js";
import { openServer } from "../../../src/engine/server_database.js";
import type { AppOptions } from "../../../src/server/app.js";
import { realServer } from "../../postgres.js";
import { openService, type TestService } from "../service.js";

/** Whether the run's Postgres can have a catalogue; null, or what is missing. */
export async function withoutPostgis(): Promise<string | null> {
  const admin = openServer((await realServer()).admin_url);
  try {
    const [row] = await admin.sql<{ available: boolean }>`
      select exists (select from pg_available_extensions where name = 'postgis') as available`;
    return row?.available ? null : "the run's Postgres has no PostGIS";
  } finally {
    await admin.close();
  }
}

export async function openStacService(options: Partial<AppOptions> = {}): Promise<TestService> {
  const service = await openService({}, options);
  const { obstacle } = await migrateCatalog(service.db);
  if (obstacle !== null) throw new Error(`${obstacle.problem}: ${obstacle.fix}`);
  return service;
}

// biome-ignore lint/suspicious/noExplicitAny: a test makes what it needs
type Loose = any;

export function collectionOf(id: string, more: Loose = {}): Loose {
  return {
    ...{ type: "Collection", stac_version: "1.1.0", stac_extensions: [], id, title: `The ${id}` },
    ...{ description: `All of ${id}`, license: "CC-BY-4.0", links: [] },
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    ...more,
  };
}

/** A small square at a place, on a day. */
export function itemOf(id: string, collection: string, place: [number, number] = [8, 47], more: Loose = {}): Loose {
  const [west, south] = place;
  const { properties, ...others } = more;
  return {
    ...{ type: "Feature", stac_version: "1.1.0", stac_extensions: [], id, collection },
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [west, south],
          [west + 1, south],
          [west + 1, south + 1],
          [west, south + 1],
          [west, south],
        ],
      ],
    },
    bbox: [west, south, west + 1, south + 1],
    properties: { datetime: "2024-05-06T07:08:09Z", ...properties },
    links: [],
    assets: {
      data: { href: `https://example.com/${encodeURIComponent(id)}.tif`, type: "image/tiff; application=geotiff" },
    },
    ...others,
  };
}

/** Many items in few calls. */
export async function putItems(service: TestService, collection: string, items: Loose[], key?: string): Promise<void> {
  for (let at = 0; at < items.length; at += 500) {
    const body = { type: "FeatureCollection", features: items.slice(at, at + 500) };
    const options = key === undefined ? { body } : { body, key };
    const answer = await service.call("POST", `/stac/collections/${collection}/items`, options);
    if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  }
}
