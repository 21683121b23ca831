// What the catalogues' tests need besides npm's packages, fetched once where this machine lets us: PostGIS for the test server from the
// system's packages, and pgSTAC's SQL from PyPI, kept in a cache outside the repository. Where they cannot be had, tests are skipped
// with the reason in their name.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { openServer } from "../src/engine/database/server_database.js";

const run = promisify(execFile);

/** Those that PyPI gives today to who asks for 0.9 or for anything; the tests of both catalogues run on the first. */
export const pgstac_releases = ["0.9.12", "0.9.11", "0.10.0"] as const;
export type PgstacRelease = (typeof pgstac_releases)[number];
const usual_release = pgstac_releases[0];
const patience_ms = 180_000;

let reason: Promise<string | null> | null = null;

/** Null when the test server has PostGIS, else why not. */
export function withoutPostgis(): Promise<string | null> {
  reason ??= (async () => {
    if (await offersPostgis()) return null;
    const refusal = await installPostgis();
    if (await offersPostgis()) return null;
    return `the test server has no PostGIS: ${refusal ?? "installing it did not help"}`;
  })();
  return reason;
}

/** Null when pgSTAC can be installed in databases of the test server, else why not. */
export async function withoutPgstac(release: PgstacRelease = usual_release): Promise<string | null> {
  const postgis = await withoutPostgis();
  if (postgis !== null) return postgis;
  try {
    await pgstacScript(release);
    return null;
  } catch (error) {
    return `pgSTAC ${release} cannot be had: ${firstLine(error)}`;
  }
}

async function offersPostgis(): Promise<boolean> {
  const admin = openServer(inject("server").admin_url);
  try {
    const rows = await admin.sql`
      select name from pg_available_extensions where name in ('postgis', 'btree_gist', 'unaccent')`;
    return rows.length === 3;
  } finally {
    await admin.close();
  }
}

/** Only for a server of the system's own that this run started, and as root; gives why it was not done. */
async function installPostgis(): Promise<string | null> {
  const { version, log_path } = inject("server");
  const major = Number.parseInt(version, 10);
  if (log_path === null) return "it is a server that was there before";
  if (process.env.FANFOLD_TEST_PG === "npm" || !existsSync(`/usr/lib/postgresql/${major}/bin/postgres`))
    return "it is of the npm package, which has none";
  if (process.getuid?.() !== 0) return `only root can install postgresql-${major}-postgis-3`;
  const lock = join(tmpdir(), "fanfold-tests-apt");
  for (let tries = 0; ; tries++) {
    const mine = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (mine) break;
    // Another process of this run installs it, or one that was killed meant to.
    if ((await offersPostgis()) || tries > patience_ms / 500) return null;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  try {
    const install = ["install", "-y", "-qq", "--no-install-recommends", `postgresql-${major}-postgis-3`];
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    try {
      await run("apt-get", install, { env, timeout: patience_ms });
    } catch {
      await run("apt-get", ["update", "-qq"], { env, timeout: patience_ms });
      await run("apt-get", install, { env, timeout: patience_ms });
    }
    return null;
  } catch (error) {
    return firstLine(error);
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

const scripts = new Map<PgstacRelease, Promise<string>>();

/** The SQL that installs pgSTAC. */
export function pgstacScript(release: PgstacRelease = usual_release): Promise<string> {
  const reading = scripts.get(release) ?? readPgstac(release);
  scripts.set(release, reading);
  return reading;
}

async function readPgstac(release: PgstacRelease): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "fanfold-tests");
  const file = join(cache, `pgstac.${release}.sql`);
  if (!existsSync(file)) await fetchPgstac(release, cache, file);
  return readFile(file, "utf8");
}

async function fetchPgstac(release: PgstacRelease, cache: string, file: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), "fanfold-pgstac-"));
  try {
    const wanted = ["--no-deps", "--quiet", "--disable-pip-version-check", "-d", folder, `pypgstac==${release}`];
    await run("python3", ["-m", "pip", "download", ...wanted], { timeout: patience_ms });
    const wheel = join(folder, `pypgstac-${release}-py3-none-any.whl`);
    await run("python3", ["-m", "zipfile", "-e", wheel, folder], { timeout: patience_ms });
    const part = `${file}.${process.pid}`;
    await cp(join(folder, "pypgstac", "migrations", `pgstac.${release}.sql`), part);
    // It must appear in one piece.
    await rename(part, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function firstLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  const lines = `${stderr ?? ""}\n${message ?? error}`.split("\n").map((line) => line.trim());
  return lines.find((line) => line !== "")?.slice(0, 200) ?? "it failed";
}
