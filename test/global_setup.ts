// Once per test run: a real server, and on it one migrated database to clone. At the end the server's log is read: a
// deadlock in any test fails the run, because retries would hide it from the test itself.
import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { quoteName } from "../src/engine/database/database.js";
import { openServer } from "../src/engine/database/server_database.js";
import { type Pooler, startPooler, withoutPgbouncer } from "./pgbouncer.js";
import { writePlainCode } from "./plain_code.js";
import { foundServer, type RunningServer, startServer, templatePrefix } from "./postgres_server.js";

declare module "vitest" {
  interface ProvidedContext {
    server: { admin_url: string; version: string; log_path: string | null };
    /** FANFOLD_TEST_POOLER: databases are handed out through PgBouncer; its port. */
    pooler_port: string | null;
    /** Where test processes share what is made once: the dump of the embedded database. */
    shared_dir: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await realServer();
  const shared_dir = await mkdtemp(join(tmpdir(), "fanfold-tests-"));
  // Isolated handlers, who may be another user, take the project's code from there.
  await chmod(shared_dir, 0o755);
  const { admin_url, version, log_path } = server;
  project.provide("server", { admin_url, version, log_path });
  project.provide("shared_dir", shared_dir);
  const pooler = process.env.FANFOLD_TEST_POOLER ? await poolerFor(admin_url) : null;
  project.provide("pooler_port", pooler === null ? null : new URL(pooler.through(admin_url)).port);
  writePlainCode(join(shared_dir, "code"));
  return async () => {
    const deadlocks = log_path === null ? [] : linesWithDeadlocks(log_path);
    if (log_path === null) await dropTemplates(admin_url, shared_dir);
    await pooler?.stop();
    await server.stop();
    await rm(shared_dir, { recursive: true, force: true });
    if (deadlocks.length === 0) return;
    // The runner only prints what a teardown throws; its exit code has to be set.
    process.exitCode = 1;
    throw new Error(`the server's log has deadlocks:\n${deadlocks.join("\n")}`);
  };
}

async function poolerFor(admin_url: string): Promise<Pooler> {
  const why_not = await withoutPgbouncer();
  if (why_not !== null) throw new Error(`FANFOLD_TEST_POOLER: ${why_not}`);
  return startPooler(admin_url);
}

function realServer(): Promise<RunningServer> {
  const { DATABASE_URL, FANFOLD_TEST_PG } = process.env;
  if (FANFOLD_TEST_PG === "npm") return startServer({ npm_binaries: true });
  return DATABASE_URL ? foundServer(DATABASE_URL) : startServer();
}

/** A server that stays up must not be left with a database per run. */
async function dropTemplates(admin_url: string, shared_dir: string): Promise<void> {
  const admin = openServer(admin_url);
  try {
    const made = await admin.sql<{ name: string }>`
      select datname::text as name from pg_database where starts_with(datname, ${templatePrefix(shared_dir)})`;
    for (const { name } of made) {
      await admin.script(`alter database ${quoteName(name)} is_template false`);
      await admin.script(`drop database ${quoteName(name)} with (force)`);
    }
  } finally {
    await admin.close();
  }
}

function linesWithDeadlocks(path: string): string[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => / 40P01 |deadlock detected/.test(line));
}
