// Opens an engine on a server or on the embedded database, with its schema in place.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "../core/declare/registry.js";
import { default_policy, type OutboundPolicy } from "../core/places/outbound.js";
import { zone_names } from "../core/places/zones.js";
import { openLargeStore } from "../storage/open_blobs.js";
import { type ZoneSettings, Zones, zonesBelow } from "../storage/zones.js";
import type { Patience } from "./database/await_database.js";
import { openEmbedded } from "./database/embedded_database.js";
import { giveId, readTemplate } from "./database/embedded_template.js";
import { openServer } from "./database/server_database.js";
import { ServerWay } from "./database/server_way.js";
import { boundsOf, session_bounds } from "./database/session_bounds.js";
import { Engine } from "./engine.js";
import type { CatalogChoice } from "./schema/catalog_schema.js";
import { assertCurrent, migrate } from "./schema/migrate.js";
import { keyOfFolder } from "./seal_key_file.js";
import { Sealer, seal_key_bytes } from "./sealing.js";
import type { UploadLimits } from "./verbs/uploads.js";

export interface EngineOptions {
  registry: Registry;
  /** A Postgres server; without it the embedded database in `data_dir` is used. */
  database_url?: string;
  data_dir?: string;
  /** Where large results lie: a folder, s3://bucket/prefix or az://account/container/prefix. */
  storage_dir?: string;
  /** Where bronze, silver and gold are; those left out lie in `data_dir`. */
  zones?: Partial<ZoneSettings>;
  /** Files that attempts left behind are removed when they are so old. Default: 24. */
  leftovers_after_h?: number;
  /** What clients may bring over HTTP at most: bytes of one file, and of all that a tenant has brought. */
  uploads?: UploadLimits;
  tenant?: string;
  /** Connections of the engine's own pool; a worker opens its own. */
  connections?: number;
  /**
   * The catalogue that is installed beside: "stac" the built-in one, "pgstac" ours on pgSTAC, "auto" what the database can have. The
   * embedded database has one when told "stac", and from then on.
   */
  catalog?: CatalogChoice | undefined;
  /** Bring a server's schema up to date first. The embedded one always is. */
  migrate?: boolean;
  /** A statement of the engine's own pool that takes longer is given up (default 300). Other connections: session_bounds.ts. */
  statement_timeout_s?: number;
  /** A caller who has waited so long for a connection of that pool is refused (default 60). */
  wait_s?: number;
  /** The calls of that pool are of many tenants: none is sent down a connection behind one that may wait for its tenant's own locks. */
  apart?: boolean;
  /** For a server that is away when it is opened; without it that is an error at once. */
  patience?: Patience;
  /** Whether statements are prepared. "auto": unless a connection pooler stands before the server, which may not keep track of them. */
  prepare?: boolean | "auto";
  /** A way to the same database on which NOTIFY arrives, for when `database_url` leads through a pooler in transaction mode. */
  listen_url?: string | undefined;
  /**
   * Keys of 32 bytes for what the service keeps sealed for tenants: the first seals, any opens. The embedded database has
   * one of its own, in its folder.
   */
  secret_keys?: readonly Uint8Array[];
  /** What handlers may call, as their workers are told: addresses that it forbids are not kept. */
  outbound?: Partial<OutboundPolicy> | undefined;
  log?: Logger;
}

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { registry, tenant = "default", data_dir = ".fanfold", log } = options;
  const place = options.storage_dir ?? join(data_dir === "memory://" ? ".fanfold" : data_dir, "storage");
  const zones = new Zones({ ...zonesBelow(zonesDir(options)), ...options.zones });
  const store = openLargeStore(
    place,
    { ...options.zones },
    zone_names.map((zone) => zones.place(zone)),
  );
  const outbound = options.outbound && { ...default_policy, ...options.outbound };
  const { leftovers_after_h, uploads } = options;
  const shared = { tenant, registry, store, zones, log, outbound, leftovers_after_h, uploads };
  return options.database_url === undefined
    ? openOnEmbedded(shared, data_dir, options)
    : openOnServer(shared, options.database_url, options);
}

/** Beside the stored files, where only a place for those is named. */
function zonesDir({ data_dir, storage_dir }: EngineOptions): string {
  if (data_dir !== undefined && data_dir !== "memory://") return join(data_dir, "zones");
  return join(storage_dir === undefined || storage_dir.includes("://") ? ".fanfold" : storage_dir, "zones");
}

type Shared = Pick<
  ConstructorParameters<typeof Engine>[0],
  "tenant" | "registry" | "store" | "zones" | "log" | "outbound" | "leftovers_after_h" | "uploads"
>;

async function openOnEmbedded(shared: Shared, data_dir: string, options: EngineOptions): Promise<Engine> {
  const { secret_keys: keys = [], catalog = "auto" } = options;
  const embedded = await openEmbedded(data_dir === "memory://" ? data_dir : join(data_dir, "database"), {
    postgis: catalog === "auto" ? undefined : catalog !== "off",
    load: () => readTemplate(),
  });
  try {
    await migrate(embedded.as(null), { catalog });
    await giveId(embedded);
    const db = embedded.as("fanfold_admin");
    await db.sql`select app.abandon_workers()`;
    const own_key = data_dir === "memory://" ? randomBytes(seal_key_bytes) : keyOfFolder(data_dir);
    return new Engine({
      ...shared,
      db,
      sealer: new Sealer([...keys, own_key]),
      openConnection: () => embedded.as("fanfold_admin"),
      close: () => embedded.close(),
    });
  } catch (error) {
    await embedded.close();
    throw error;
  }
}

async function openOnServer(shared: Shared, url: string, options: EngineOptions): Promise<Engine> {
  const { statement_timeout_s = session_bounds.call.statement_timeout_s } = options;
  const { wait_s = 60, patience = (work) => work() } = options;
  const way = new ServerWay(url, options);
  if (options.migrate) await patience(() => migrateServer(way, options.catalog));
  const db = openServer(url, {
    way,
    max: options.connections ?? 2,
    wait_s,
    apart: options.apart,
    application_name: "fanfold",
    ...session_bounds.call,
    statement_timeout_s,
  });
  try {
    if (!options.migrate) await patience(() => assertCurrent(db));
  } catch (error) {
    await db.close();
    throw error;
  }
  return new Engine({
    ...shared,
    db,
    sealer: new Sealer(options.secret_keys),
    openConnection: (name, max) =>
      openServer(url, { way, max, application_name: `fanfold ${name}`, ...boundsOf(name) }),
    close: () => db.close(),
  });
}

/** On a connection of its own: a migration takes the time it needs. */
async function migrateServer(way: ServerWay, catalog: CatalogChoice = "off"): Promise<void> {
  const db = openServer(way.url, { way, max: 1, application_name: "fanfold migrate", ...session_bounds.migrate });
  try {
    await migrate(db, { catalog });
  } finally {
    await db.close();
  }
}
