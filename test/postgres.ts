// Databases for tests. Each is fresh and migrated, and cloned from one that was migrated once: on the real server by
// `create database … template`, embedded by loading a dump.
import { createHash, randomBytes } from "node:crypto";
import { openAsBlob } from "node:fs";
import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, inject, onTestFinished, TestRunner } from "vitest";
import type { Database } from "../src/engine/database/database.js";
import { type EmbeddedDatabase, openEmbedded } from "../src/engine/database/embedded_database.js";
import { openServer } from "../src/engine/database/server_database.js";
import { migrate } from "../src/engine/schema/migrate.js";
import { readSchemaFolder, readSql, schema_folder } from "../src/engine/schema/schema_folder.js";
import { type PgstacRelease, pgstacScript } from "./catalog_packages.js";
import { atFileEnd } from "./file_end.js";
import { emptyDatabase, lendDatabase } from "./lent_databases.js";
import { onAdmin, templatePrefix } from "./postgres_server.js";

export interface RealServer {
  url_for(database: string): string;
  admin_url: string;
  version: string;
  log_path: string | null;
}

export interface FreshDatabase {
  /** Superuser. Through PgBouncer when the run is told so (FANFOLD_TEST_POOLER). */
  db: Database;
  url: string;
  drop(): Promise<void>;
}

/** The server of this test run. */
export async function realServer(): Promise<RealServer> {
  const server = inject("server");
  return {
    ...server,
    url_for: (database) => {
      const url = new URL(server.admin_url);
      url.pathname = `/${database}`;
      return url.href;
    },
  };
}

/** What a database has besides Fanfold's own schema: the catalogues' need PostGIS (see catalog_packages.ts). */
export type Variant = "app" | "stac" | "pgstac";

/**
 * A database on the real server, empty but for Fanfold's schema; `bare` without that. It is lent: emptied when it is dropped, and
 * given to the next test. `own`: made for this test and gone after it. Behind a pooler, which keeps connections open, all are.
 */
export async function freshDatabase(
  options: { bare?: boolean; own?: boolean; variant?: Variant } = {},
): Promise<FreshDatabase> {
  const server = await realServer();
  const { bare = false, variant = "app", own = bare || variant !== "app" || inject("pooler_port") !== null } = options;
  if (!own) return lendDatabase(server, await templateDatabase(server, variant));
  const name = `fanfold_test_${randomBytes(6).toString("hex")}`;
  const template = bare ? "template0" : await templateDatabase(server, variant);
  await onAdmin(server.admin_url, (admin) => admin.script(`create database ${name} template ${template}`));
  const url = throughPooler(server.url_for(name));
  const db = openServer(url, { max: 4, application_name: "fanfold test" });
  let dropped: Promise<void> | null = null;
  const drop = async () => {
    await db.close();
    await onAdmin(server.admin_url, (admin) => admin.script(`drop database if exists ${name} with (force)`));
  };
  return { db, url, drop: () => (dropped ??= drop()) };
}

function throughPooler(url: string): string {
  const port = inject("pooler_port");
  if (port === null) return url;
  const through = new URL(url);
  through.port = port;
  return through.href;
}

/** A migrated embedded database in memory; `as(null)` is the superuser. With a catalogue it takes seconds to start, and 1 GB. */
export async function freshEmbedded(options: { catalog?: boolean } = {}): Promise<EmbeddedDatabase> {
  const { catalog = false } = options;
  return openEmbedded("memory://", { load: await embeddedDump(catalog), postgis: catalog });
}

export type OpenDatabase = () => Promise<Database>;

/** By block: the names of tests, or all of them. */
export type Walks = Readonly<Record<string, "all" | readonly string[]>>;

let walks: Walks | null = null;
atFileEnd(() => {
  walks = null;
});

/** What `declare` declares for both kinds of database is declared for the embedded one, and only these tests of it. */
export async function declareOnEmbedded(chosen: Walks, declare: () => Promise<unknown>): Promise<void> {
  walks = chosen;
  await declare();
}

/**
 * Tests that hold on both kinds of database. They run on a server; on the embedded one in `npm run test:embedded`, and some of them
 * always (engine/embedded_conformance.test.ts). `open` gives a migrated database without rows, as superuser, gone after the test; or,
 * when `shared`, the same one to all tests of the block, which is quicker where they do not disturb each other.
 */
export function bothDatabases(
  name: string,
  tests: (open: OpenDatabase, kind: Database["kind"]) => void,
  options: { shared?: boolean } = {},
): void {
  const kind = walks !== null || process.env.FANFOLD_TEST_EMBEDDED ? "embedded" : "server";
  const chosen = walks?.[name] ?? (walks === null ? "all" : []);
  describe(`${name} (${kind})`, () => {
    const make = kind === "server" ? openOnServer : openInMemory;
    let shared: Promise<Opened> | null = null;
    afterAll(async () => (await shared)?.close());
    tests(async () => {
      if (options.shared) {
        shared ??= make();
        return (await shared).db;
      }
      const { db, close } = await make();
      onTestFinished(close);
      return db;
    }, kind);
    if (chosen !== "all") keepTests(chosen);
  });
}

/** Of the block that is being declared. A name that no test has is a mistake. */
function keepTests(names: readonly string[]): void {
  const { tasks } = TestRunner.getCurrentSuite();
  const kept = tasks.filter((task) => names.includes(task.name));
  const unknown = names.filter((name) => !kept.some((task) => task.name === name));
  if (unknown.length > 0 || kept.length === 0)
    throw new Error(`no test is called: ${unknown.join("; ") || "anything"}`);
  tasks.splice(0, tasks.length, ...kept);
}

interface Opened {
  db: Database;
  close(): Promise<void>;
}

async function openOnServer(): Promise<Opened> {
  const { db, drop } = await freshDatabase();
  return { db, close: drop };
}

let embedded: Promise<EmbeddedDatabase> | null = null;

/** Starting one takes a second: a test file has one, and each test that asks for it finds it empty. */
export async function emptyEmbedded(): Promise<EmbeddedDatabase> {
  embedded ??= freshEmbedded();
  const opened = await embedded;
  await emptyDatabase(opened.as(null));
  return opened;
}

async function openInMemory(): Promise<Opened> {
  const db = (await emptyEmbedded()).as(null);
  return { db, close: () => db.close() };
}

atFileEnd(async () => {
  const opened = embedded;
  embedded = null;
  await (await opened)?.close();
});

const templates = new Map<Variant, Promise<string>>();

/** Named by the schema's text too, so that a run that watches the files never clones an old one. */
function templateDatabase(server: RealServer, variant: Variant): Promise<string> {
  const known = templates.get(variant);
  if (known !== undefined) return known;
  const making = (async () => {
    const name = `${templatePrefix(inject("shared_dir"))}${await schemaHash()}_${variant}`;
    await onAdmin(server.admin_url, async (admin) => {
      // Test processes start together: one makes it, the others wait for this lock.
      await admin.sql`select pg_advisory_lock(7308324466020481)`;
      const [row] = await admin.sql<{ ready: boolean }>`
        select exists (select from pg_database where datname = ${name} and datistemplate) as ready`;
      if (!row?.ready) await makeTemplate(server, admin, name, variant);
    });
    return name;
  })();
  templates.set(variant, making);
  return making;
}

async function makeTemplate(server: RealServer, admin: Database, name: string, variant: Variant): Promise<void> {
  await admin.script(`drop database if exists ${name} with (force)`);
  await admin.script(`create database ${name}`);
  if (variant === "pgstac") await installPgstac(server.url_for(name));
  const db = openServer(server.url_for(name));
  try {
    await migrate(db, { catalog: variant === "app" ? "off" : variant });
  } finally {
    await db.close();
  }
  // Only a finished one is marked, and nobody may connect to what is being cloned.
  await admin.script(`alter database ${name} with is_template true allow_connections false`);
}

/** On a connection of its own: pgSTAC's script leaves a role and a search path behind. */
export async function installPgstac(url: string, release?: PgstacRelease): Promise<void> {
  const db = openServer(url);
  try {
    await db.script(`set client_min_messages = warning; ${await pgstacScript(release)}`);
  } finally {
    await db.close();
  }
}

const dumps = new Map<boolean, Promise<Blob>>();

/** Of a migrated embedded database. */
export function embeddedDump(catalog = false): Promise<Blob> {
  const known = dumps.get(catalog);
  if (known !== undefined) return known;
  const making = (async () => {
    const path = join(inject("shared_dir"), `embedded_${catalog ? "stac_" : ""}${await schemaHash()}.tar`);
    // Starting from nothing takes seconds: one test process does it, the others wait for the file.
    const first = await mkdir(`${path}.making`).then(
      () => true,
      () => false,
    );
    if (first) await makeDump(path, catalog);
    while (!(await exists(path))) await new Promise((resolve) => setTimeout(resolve, 50));
    return openAsBlob(path);
  })();
  dumps.set(catalog, making);
  return making;
}

async function makeDump(path: string, catalog: boolean): Promise<void> {
  const embedded = await openEmbedded("memory://", { postgis: catalog });
  try {
    await migrate(embedded.as(null), { catalog: catalog ? "stac" : "off" });
    await writeFile(`${path}.part`, Buffer.from(await (await embedded.dump()).arrayBuffer()));
    // It must appear in one piece.
    await rename(`${path}.part`, path);
  } catch (error) {
    await rm(`${path}.making`, { recursive: true });
    throw error;
  } finally {
    await embedded.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function schemaHash(): Promise<string> {
  const { migrations, functions } = await readSchemaFolder(schema_folder);
  const catalog = join(schema_folder, "catalog");
  const geo = join(schema_folder, "geo");
  const parts = await Promise.all([
    ...["migrations", "functions", "pgstac"].map((part) => readSql(catalog, part)),
    ...["migrations", "functions"].map((part) => readSql(geo, part)),
  ]);
  const hash = createHash("sha256");
  for (const { path, hash: text } of [...migrations, ...functions, ...parts.flat()]) hash.update(`${path} ${text}\n`);
  return hash.digest("hex").slice(0, 16);
}
