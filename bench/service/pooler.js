// @ts-check
// How long a task waits for an idle worker that hears no NOTIFY: behind PgBouncer in transaction mode with default settings; and on the
// server itself, beside it. Needs pgbouncer on this machine.
import { execFileSync, spawn } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, unprivilegedUser } from "../postgres_binaries.js";
import { percentile } from "../statistics.js";
import { waits } from "./fairness.js";

const GOAL_MS = 250;

/** @param {import("./place.js").Place} place @param {{ samples?: number }} options
 * @returns {Promise<import("./main.js").Found>} */
export async function pooler(place, { samples = 200 }) {
  const { say } = place;
  const key = await place.key("idle");
  const bouncer = await startPooler(new URL(place.database_url));
  try {
    const rows = [];
    for (const [where, url] of [
      ["behind PgBouncer", bouncer.url],
      ["on the server itself", place.database_url],
    ]) {
      const server = await place.start("server", { database_url: url });
      const worker = await place.start("worker", { slots: 8, database_url: url });
      say(`${samples} tasks, one at a time, ${where}`);
      const waited = await waits(server.ready.url, key, worker, samples, { pause_ms: 250, ms: 0 });
      const [p50, p95] = [percentile(waited, 50), percentile(waited, 95)];
      const before = await commits(place);
      await sleep(5_000);
      const each_s = ((await commits(place)) - before) / 5;
      await worker.stop();
      await server.stop();
      const is_pooled = url === bouncer.url;
      rows.push({
        what: `from the call to the start in an idle worker, ${where}, p95`,
        value: p95,
        unit: "ms",
        more: `p50 ${p50.toFixed(1)} ms, max ${Math.max(...waited).toFixed(0)} ms`,
        ...(is_pooled ? { wanted: `< ${GOAL_MS} ms`, met: p95 < GOAL_MS } : {}),
      });
      rows.push({ what: `transactions of an idle worker and server, ${where}`, value: each_s, unit: "/s" });
    }
    return { title: "Behind a connection pooler", rows, notes: [] };
  } finally {
    await bouncer.stop();
  }
}

/** @param {import("./place.js").Place} place */
async function commits({ server }) {
  const [row] = await server.admin`select xact_commit::int as n from pg_stat_database where datname = 'service'`;
  return row?.n ?? 0;
}

/** @param {URL} server */
async function startPooler(server) {
  try {
    execFileSync("pgbouncer", ["--version"], { stdio: "ignore" });
  } catch {
    throw new Error("pgbouncer is not on this machine: apt-get install pgbouncer");
  }
  const user = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), "fanfold-bench-pooler-"));
  const port = await freePort();
  const config = join(folder, "pgbouncer.ini");
  writeFileSync(join(folder, "users"), `"${server.username}" ""\n`);
  writeFileSync(
    config,
    `[databases]\n* = host=${server.hostname} port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\n` +
      `unix_socket_dir =\nauth_type = trust\nauth_file = ${join(folder, "users")}\npool_mode = transaction\n`,
  );
  for (const path of [folder, config, join(folder, "users")]) {
    if (user.uid !== undefined) chownSync(path, user.uid, user.gid);
  }
  const child = spawn("pgbouncer", [config], { ...user, cwd: folder, stdio: "ignore" });
  const killWithUs = () => child.kill("SIGKILL");
  process.once("exit", killWithUs);
  for (let tries = 0; !(await answers(port)); tries++) {
    if (child.exitCode !== null || tries === 200) throw new Error("pgbouncer did not start");
    await sleep(20);
  }
  const url = new URL(server.href);
  url.port = String(port);
  return {
    url: url.href,
    async stop() {
      process.removeListener("exit", killWithUs);
      const ended = new Promise((resolve) => child.once("exit", resolve));
      killWithUs();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param {number} port @returns {Promise<boolean>} */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
