// Catalogues for tests: the same tests on each that this machine can have. A file shares one database of each kind; tests keep apart by
// tenant.
import { beforeAll, describe } from "vitest";
import type { Catalog } from "../../src/catalog/catalog.js";
import { openCatalog } from "../../src/catalog/open.js";
import type { Database } from "../../src/engine/database/database.js";
import type { StacCollection, StacItem } from "../../src/geo/stac.js";
import { withoutPgstac, withoutPostgis } from "../catalog_packages.js";
import { atFileEnd } from "../file_end.js";
import { freshDatabase, freshEmbedded } from "../postgres.js";

export interface OpenedCatalog {
  /** Superuser. */
  db: Database;
  /** Null on the embedded database. */
  url: string | null;
  catalog: Catalog;
  tenant: string;
  /** The same store for another tenant, which is made if it is not there. */
  forTenant(tenant: string): Promise<Catalog>;
}

export type CatalogKind = "stac on the embedded database" | "stac on a server" | "pgstac on a server";

/** On the embedded database (minutes with PostGIS) in `npm run test:embedded`, and where the server has no PostGIS. */
const on_embedded = Boolean(process.env.FANFOLD_TEST_EMBEDDED) || (await withoutPostgis()) !== null;
export const catalog_kinds: readonly CatalogKind[] = [
  on_embedded ? "stac on the embedded database" : "stac on a server",
  "pgstac on a server",
];

/** Null, or why this machine cannot have it. */
export async function whyNot(kind: CatalogKind): Promise<string | null> {
  if (kind === "stac on the embedded database") return null;
  return kind === "stac on a server" ? withoutPostgis() : withoutPgstac();
}

const opened = new Map<CatalogKind, Promise<{ db: Database; url: string | null; close(): Promise<void> }>>();

export function databaseOf(kind: CatalogKind): Promise<{ db: Database; url: string | null; close(): Promise<void> }> {
  const known = opened.get(kind);
  if (known !== undefined) return known;
  const opening = (async () => {
    if (kind === "stac on the embedded database") {
      const embedded = await freshEmbedded({ catalog: true });
      return { db: embedded.as(null), url: null, close: () => embedded.close() };
    }
    const { db, url, drop } = await freshDatabase({ variant: kind === "stac on a server" ? "stac" : "pgstac" });
    return { db, url, close: drop };
  })();
  opened.set(kind, opening);
  return opening;
}

/** Starting PostGIS on a machine that does other things too. */
export const patience_ms = 300_000;

atFileEnd(async () => {
  const all = [...opened.values()];
  opened.clear();
  for (const one of all) await (await one).close();
});

let tenants = 0;

export async function openIn(kind: CatalogKind, tenant = `t${process.pid}-${++tenants}`): Promise<OpenedCatalog> {
  const { db, url } = await databaseOf(kind);
  const forTenant = async (name: string) => {
    await db.sql`insert into app.tenants (tenant_id) values (${name}) on conflict do nothing`;
    return openCatalog(db, { tenant: name });
  };
  return { db, url, tenant, catalog: await forTenant(tenant), forTenant };
}

/** `open` gives a catalogue of a tenant of its own, in the block's database. */
export function bothCatalogs(
  name: string,
  tests: (open: (tenant?: string) => Promise<OpenedCatalog>, kind: CatalogKind) => void,
  kinds: readonly CatalogKind[] = catalog_kinds,
): void {
  for (const kind of kinds) {
    const reason = reasons.get(kind) ?? null;
    if (reason !== null) describe.skip(`${name} (${kind}; skipped: ${reason})`, () => tests(() => openIn(kind), kind));
    else
      describe(`${name} (${kind})`, () => {
        beforeAll(async () => {
          await databaseOf(kind);
        }, patience_ms);
        tests((tenant) => openIn(kind, tenant), kind);
      });
  }
}

const reasons = new Map<CatalogKind, string | null>();
for (const kind of catalog_kinds) {
  const reason = await whyNot(kind);
  if (reason !== null) process.stderr.write(`${kind}: skipped, because ${reason}\n`);
  reasons.set(kind, reason);
}

export function aCollection(id: string, more: Partial<StacCollection> = {}): StacCollection {
  return {
    type: "Collection",
    stac_version: "1.1.0",
    stac_extensions: [],
    id,
    description: `Collection ${id}`,
    license: "other",
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    links: [],
    ...more,
  };
}

export function anItem(collection: string, id: string, more: Partial<StacItem> = {}): StacItem {
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: [],
    id,
    collection,
    geometry: { type: "Point", coordinates: [10, 50] },
    bbox: [10, 50, 10, 50],
    properties: { datetime: "2024-05-01T10:00:00Z" },
    links: [],
    assets: { data: { href: `https://example.com/${encodeURIComponent(id)}.tif`, roles: ["data"] } },
    ...more,
  };
}
