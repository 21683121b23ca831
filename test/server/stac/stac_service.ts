// The service with a catalogue, for tests of the STAC API: on the run's Postgres where that has PostGIS, else on the embedded
// database, which has it always.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scopes } from "../../../src/core/api/endpoint.js";
import { createRegistry } from "../../../src/core/declare/registry.js";
import { Engine } from "../../../src/engine/engine.js";
import { Sealer } from "../../../src/engine/sealing.js";
import { createAuthentication } from "../../../src/server/access/authentication.js";
import { FailedSignIns } from "../../../src/server/access/failed_sign_ins.js";
import { type AppOptions, createApp } from "../../../src/server/app.js";
import { openFolderStore } from "../../../src/storage/folder_store.js";
import { Zones, zonesBelow } from "../../../src/storage/zones.js";
import { withoutPgstac, withoutPostgis } from "../../catalog_packages.js";
import { freshEmbedded } from "../../postgres.js";
import { callService, openService, type TestService } from "../service.js";

export type StacKind = "stac" | "pgstac" | "embedded";

/** The stores this machine can have; at least one. */
export const stac_kinds: readonly StacKind[] = [
  (await withoutPostgis()) === null ? "stac" : "embedded",
  ...((await withoutPgstac()) === null ? (["pgstac"] as const) : []),
];

export type StacService = Pick<TestService, "url" | "engine" | "key" | "call" | "close">;

export async function openStacService(
  options: Partial<AppOptions> = {},
  kind: StacKind = stac_kinds[0]!,
): Promise<StacService> {
  return kind === "embedded" ? openEmbeddedService(options) : openService({}, options, { variant: kind });
}

async function openEmbeddedService(options: Partial<AppOptions>): Promise<StacService> {
  const embedded = await freshEmbedded({ catalog: true });
  const db = embedded.as("fanfold_admin");
  const dir = await mkdtemp(join(tmpdir(), "fanfold-test-"));
  const engine = new Engine({
    db,
    tenant: "default",
    registry: createRegistry({}),
    store: openFolderStore(join(dir, "storage")),
    zones: new Zones(zonesBelow(join(dir, "zones"))),
    sealer: new Sealer([randomBytes(32)]),
    openConnection: () => db,
    close: () => embedded.close(),
  });
  const authenticator = createAuthentication({ db, attempts: new FailedSignIns({ burst: 1_000_000 }) });
  const app = createApp({ engine, authenticator, check_replies: true, ...options });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const keys = new Map<string, Promise<string>>();
  const key: StacService["key"] = (tenant = "default", some = scopes, more = {}) => {
    const name = JSON.stringify([tenant, some, more]);
    const known =
      keys.get(name) ??
      embedded.as(null).sql`select app.create_tenant(${tenant})`
        .then(() => engine.forTenant(tenant).keys.create({ name: "test", scopes: some, ...more }))
        .then((made) => made.key);
    keys.set(name, known);
    return known;
  };
  return {
    url,
    engine,
    key,
    call: (method, path, given) => callService(url, key, method, path, given),
    async close() {
      await app.close();
      await engine.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a test makes what it needs
type Loose = any;

export function collectionOf(id: string, more: Loose = {}): Loose {
  return {
    type: "Collection",
    stac_version: "1.1.0",
    stac_extensions: [],
    id,
    title: `The ${id}`,
    description: `All of ${id}`,
    license: "CC-BY-4.0",
    links: [],
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    ...more,
  };
}

/** A small square at a place, on a day. */
export function itemOf(id: string, collection: string, place: [number, number] = [8, 47], more: Loose = {}): Loose {
  const [west, south] = place;
  const { properties, ...others } = more;
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: [],
    id,
    collection,
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
export async function putItems(service: StacService, collection: string, items: Loose[], key?: string): Promise<void> {
  for (let at = 0; at < items.length; at += 500) {
    const body = { type: "FeatureCollection", features: items.slice(at, at + 500) };
    const options = key === undefined ? { body } : { body, key };
    const answer = await service.call("POST", `/stac/collections/${collection}/items`, options);
    if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  }
}
