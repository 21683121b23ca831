// @ts-check
// A private Postgres for one run: found on the machine, or taken from the npm binaries of the root package; durable
// commits, loopback only, its own folder, gone at the end. Touches nothing but that folder.
import { execFileSync, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { findBinaries, freePort, own, unprivilegedUser } from "./postgres_binaries.js";

/** The settings every contender runs on; all else is the server's default. */
const SETTINGS = {
  shared_buffers: "1GB",
  fsync: "on",
  synchronous_commit: "on",
  max_connections: 100,
  // A checkpoint in the middle of one contender's run would be charged to that contender alone.
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
};
const PLACE = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  log_line_prefix: "%m [%p] %d %e ",
};

/**
 * @typedef {object} Server
 * @property {(database: string) => string} url
 * @property {import("postgres").Sql} admin a connection to the maintenance database
 * @property {string} version
 * @property {Record<string, string | number>} settings
 * @property {() => { sqlstate: string, database: string, count: number }[]} logged_errors
 * @property {() => Promise<void>} stop
 */

/** @returns {Promise<Server>} */
export async function startServer() {
  const user = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), "fanfold-bench-"));
  const data_dir = join(folder, "data");
  const log_path = join(folder, "server.log");
  let binary = "";
  try {
    own(folder, user);
    const bin = findBinaries(folder, user);
    binary = join(bin, "postgres");
    execFileSync(join(bin, "initdb"), ["-D", data_dir, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"], {
      ...user,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  const settings = { ...SETTINGS, ...PLACE, port: await freePort() };
  const job = JSON.stringify({ postgres: binary, data_dir, folder, log_path, settings, user });
  const guard = fork(fileURLToPath(new URL("server_guard.js", import.meta.url)), [job]);
  /** @type {Promise<never>} */
  const failed = new Promise((_, reject) => {
    guard.on("message", (message) => reject(new Error(Object(message).failed)));
  });
  failed.catch(() => {});
  const url = (/** @type {string} */ database) => `postgres://postgres@127.0.0.1:${settings.port}/${database}`;
  const admin = postgres(url("postgres"), { max: 1, onnotice: () => {}, idle_timeout: 0 });
  await Promise.race([failed, answers(admin)]);
  const [row] = await admin`select current_setting('server_version') as version`;
  return {
    url,
    admin,
    version: row?.version,
    settings: SETTINGS,
    logged_errors: () => readLog(log_path),
    async stop() {
      await admin.end({ timeout: 5 });
      const gone = new Promise((resolve) => guard.once("exit", resolve));
      if (guard.exitCode !== null) return;
      guard.send("stop");
      await gone;
    },
  };
}

/** @param {import("postgres").Sql} admin */
async function answers(admin) {
  for (let tries = 0; ; tries++) {
    try {
      await admin`select 1`;
      return;
    } catch (error) {
      if (tries === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Errors by SQLSTATE and database, so that a deadlock names whose it is. @param {string} path */
function readLog(path) {
  const counts = new Map();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const found = /\[\d+\] (\S*) (\S{5}) (?:ERROR|FATAL|PANIC):/.exec(line);
    if (!found) continue;
    const key = `${found[2]} ${found[1]}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => {
    const [sqlstate = "", database = ""] = key.split(" ");
    return { sqlstate, database, count };
  });
}
