// Picks the catalogue of a database: pgSTAC where it is installed, else the one that is built in.

import { Unavailable } from "../core/errors/errors.js";
import type { SqlSession } from "../core/task/context.js";
import type { CatalogSetting } from "../core/task/raster_settings.js";
import type { Catalog } from "./catalog.js";
import { PgstacStore } from "./pgstac_store.js";
import { StacStore } from "./stac_store.js";

export interface CatalogFacts {
  stac: string | null;
  postgis: string | null;
  pgstac: string | null;
}

/** What a database has does not change while it is open; a database without any is asked again. */
const known = new WeakMap<object, Promise<CatalogFacts | null>>();

/** Throws Unavailable, with what to do, where there is no catalogue. */
export async function openCatalog(
  db: SqlSession,
  { tenant, setting = "auto" }: { tenant: string; setting?: CatalogSetting },
): Promise<Catalog> {
  if (setting === "off") throw new Unavailable("the catalogue is switched off", { hint: "set FANFOLD_CATALOG=auto" });
  const facts = await knownFacts(db);
  if (facts === null || facts.stac === null) {
    // Only the message of a failed task is kept.
    throw new Unavailable(
      "this database has no catalogue: start the embedded one with FANFOLD_CATALOG=stac; for a server, fanfold doctor says what is missing",
      { hint: "fanfold doctor says what is missing; then run: fanfold migrate" },
    );
  }
  if (setting === "pgstac" && facts.pgstac === null) {
    throw new Unavailable("FANFOLD_CATALOG=pgstac, and pgSTAC is not installed in this database", {
      hint: "install pgSTAC 0.9 and run fanfold migrate, or set FANFOLD_CATALOG=auto",
    });
  }
  return facts.pgstac === null || setting === "stac"
    ? new StacStore(tenant, facts.stac)
    : new PgstacStore(tenant, facts.pgstac);
}

async function knownFacts(db: SqlSession): Promise<CatalogFacts | null> {
  const asking = known.get(db) ?? readFacts(db);
  known.set(db, asking);
  try {
    const facts = await asking;
    if (facts === null) known.delete(db);
    return facts;
  } catch (error) {
    known.delete(db);
    throw error;
  }
}

async function readFacts(db: SqlSession): Promise<CatalogFacts | null> {
  const [row] = await db.sql<{ installed: boolean }>`
    select exists (
      select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname = 'stac' and p.proname = 'catalog_facts') as installed`;
  if (!row?.installed) return null;
  const [facts] = await db.sql<{ reply: CatalogFacts }>`select stac.catalog_facts() as reply`;
  return facts?.reply ?? null;
}
