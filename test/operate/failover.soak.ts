// A primary dies while callers submit, and its synchronous standby takes its place. The programs know both hosts and find the one that writes:
// what callers were promised is there and gets done. A call that was cut is no promise. How long it took is printed and decides nothing.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openServer } from "../../src/engine/database/server_database.js";
import { migrate } from "../../src/engine/schema/migrate.js";
import { build, type Spawned, spawnFanfold } from "../cli/built_program.js";
import { quietPort } from "../faults/cluster.js";
import { call, Truth } from "../nemesis/truth.js";
import {
  type Installation,
  installServer,
  launchServer,
  own,
  serverAnswers,
  serverStopped,
} from "../postgres_server.js";

const say = (line: string) => process.stdout.write(`[failover] ${line}\n`);
const times = Array.from({ length: Number(process.env.FANFOLD_TEST_SOAK || 20) }, (_, n) => n + 1);
const durable = { fsync: "on", full_page_writes: "on", wal_keep_size: "256MB", max_wal_senders: "4" };

async function started(installed: Installation) {
  const port = await quietPort();
  const server = launchServer(installed, { port, settings: durable });
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  onTestFinished(async () => {
    if (server.exitCode === null && server.signalCode === null) await serverStopped(server, "SIGQUIT");
    rmSync(installed.folder, { recursive: true, force: true });
  });
  await serverAnswers(url("postgres"), server, installed.log_path);
  return { port, server, url, installed };
}

/** A standby of this server, which from now on acknowledges no commit that the standby has not. */
async function standbyOf(primary: Awaited<ReturnType<typeof started>>) {
  const { bin, user } = primary.installed;
  const folder = mkdtempSync(join(tmpdir(), "fanfold-standby-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  own(folder, user);
  const copy = join(folder, "data");
  const from = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", "postgres"];
  const how = ["-R", "-X", "stream", "-c", "fast", "--no-sync"];
  execFileSync(join(bin, "pg_basebackup"), ["-D", copy, ...from, ...how], { ...user, cwd: folder, stdio: "pipe" });
  const standby = await started(installServer({ data: copy }));
  const admin = openServer(primary.url("postgres"));
  await admin.script("alter system set synchronous_standby_names = '*'");
  await admin.script("alter system set synchronous_commit = 'remote_apply'");
  await admin.sql`select pg_reload_conf()`;
  await expect
    .poll(async () => (await admin.sql`select sync_state from pg_stat_replication`)[0], { timeout: 30_000 })
    .toEqual({ sync_state: "sync" });
  await admin.close();
  return standby;
}

test.each(times)("a standby takes over under load, time %i", { timeout: 300_000 }, async (time) => {
  await build();
  const dir = mkdtempSync(join(tmpdir(), "fanfold-failover-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const primary = await started(installServer());
  const maker = openServer(primary.url("postgres"));
  await maker.script("create database failover template template0");
  await maker.close();
  const admin = openServer(primary.url("failover"));
  await migrate(admin);
  await admin.script("create role failover_server login in role fanfold_api, fanfold_worker");
  await admin.sql`select app.map_role('failover_server', null)`;
  await admin.close();
  const standby = await standbyOf(primary);
  say(`${time}: a primary and its standby`);

  const env = { FANFOLD_STORAGE_DIR: join(dir, "storage"), FANFOLD_DATA_DIR: dir, FANFOLD_CATALOG: "off" };
  const keyed = await spawnFanfold(
    ["--json", "keys", "create", "all", "--scope", "all", "--database-url", primary.url("failover")],
    { cwd: dir, env },
  ).ended;
  expect([keyed.code, keyed.err]).toEqual([0, expect.anything()]);
  const { key } = JSON.parse(keyed.out) as { key: string };
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const known = ["--database-url", `postgres://failover_server@${hosts}/failover?target_session_attrs=read-write`];
  const port = await quietPort();
  const programs: Spawned[] = [["serve", "--port", String(port)], ["work"], ["work"]].map((argv) =>
    spawnFanfold([...argv, ...known], { cwd: dir, env }),
  );
  onTestFinished(async () => {
    for (const { child } of programs) child.kill("SIGKILL");
    await Promise.all(programs.map(({ ended }) => ended));
  });
  const url = `http://127.0.0.1:${port}`;

  const truth = new Truth(dir);
  const promised: string[] = [];
  const answered_at: number[] = [];
  let over = false;
  let n = 0;
  const callers = Array.from({ length: 4 }, async () => {
    while (!over) {
      // Each is a job of its own.
      const parameters = { n: 1 + (n++ % 500) };
      const answer = await truth.ask(() => call(`${url}/api/jobs/submit/hello_world`, key, "POST", { parameters }));
      if (answer?.status === 201) {
        promised.push(answer.body.job_id);
        answered_at.push(performance.now());
      }
      await sleep(50);
    }
  });
  await expect.poll(() => promised.length, { timeout: 60_000 }).toBeGreaterThan(40);

  say(`${time}: ${promised.length} promised, the primary dies`);
  const died_at = performance.now();
  await serverStopped(primary.server, "SIGQUIT");
  const before = promised.length;
  const other = openServer(standby.url("failover"));
  await other.sql`select pg_promote(true, 60)`;
  const promoted_at = performance.now();
  await expect.poll(() => promised.length, { timeout: 120_000 }).toBeGreaterThan(before + 40);
  over = true;
  await Promise.all(callers);
  const first_after = answered_at.find((at) => at > promoted_at)!;

  const left = async () => {
    const [row] = await other.sql<{ there: number; completed: number }>`
      select count(*)::int as there, (count(*) filter (where status = 'completed'))::int as completed
        from app.jobs where job_id in (select json_array_elements_text(${JSON.stringify(promised)}::json))`;
    return row;
  };
  await expect
    .poll(left, { timeout: 120_000, interval: 500 })
    .toEqual({ there: promised.length, completed: promised.length });
  await other.close();
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  say(
    `${time}: ${before} promised before, ${promised.length - before} after, none lost; promoted after ${seconds(promoted_at - died_at)} s, ` +
      `first submit acknowledged ${seconds(first_after - promoted_at)} s later`,
  );
  expect(programs.map(({ child }) => child.exitCode)).toEqual([null, null, null]);
  expect(truth.hung).toEqual([]);
});
