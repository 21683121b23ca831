// A primary and its standby, both real, and the programs that know both hosts: a server and two workers, started as they ship.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { openServer } from "../../src/engine/database/server_database.js";
import { migrate } from "../../src/engine/schema/migrate.js";
import { build, type Spawned, spawnFanfold } from "../cli/built_program.js";
import { quietPort } from "../faults/cluster.js";
import {
  type Installation,
  installServer,
  launchServer,
  own,
  serverAnswers,
  serverStopped,
} from "../postgres_server.js";

const durable = { fsync: "on", full_page_writes: "on", wal_keep_size: "256MB", max_wal_senders: "4" };

export type Running = Awaited<ReturnType<typeof started>>;

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

/** A server with the database "failover", and the login of servers and workers in it. */
export async function primaryServer(): Promise<Running> {
  const primary = await started(installServer());
  const maker = openServer(primary.url("postgres"));
  await maker.script("create database failover template template0");
  await maker.close();
  const admin = openServer(primary.url("failover"));
  await migrate(admin);
  await admin.script("create role failover_server login in role fanfold_api, fanfold_worker");
  await admin.sql`select app.map_role('failover_server', null)`;
  await admin.close();
  return primary;
}

/** A standby of this server. `synchronous`: from now on the primary acknowledges no commit that the standby has not. */
export async function standbyOf(primary: Running, { synchronous }: { synchronous: boolean }): Promise<Running> {
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
  if (synchronous) {
    await admin.script("alter system set synchronous_standby_names = '*'");
    await admin.script("alter system set synchronous_commit = 'remote_apply'");
    await admin.sql`select pg_reload_conf()`;
  }
  await expect
    .poll(async () => (await admin.sql`select sync_state from pg_stat_replication`)[0], { timeout: 30_000 })
    .toEqual({ sync_state: synchronous ? "sync" : "async" });
  await admin.close();
  return standby;
}

export interface Programs {
  url: string;
  key: string;
  /** A command of the program with the same settings, on the database that takes writes. */
  command(...argv: string[]): Spawned;
  all: Spawned[];
}

/** A server and two workers that know both hosts, started in `dir`, where a fanfold.config may lie. */
export async function programsOn(dir: string, primary: Running, standby: Running): Promise<Programs> {
  await build();
  const env = { FANFOLD_STORAGE_DIR: join(dir, "storage"), FANFOLD_DATA_DIR: dir, FANFOLD_CATALOG: "off" };
  const start = (argv: string[]) => spawnFanfold(argv, { cwd: dir, env });
  const keyed = await start([
    ...["--json", "keys", "create", "all", "--scope", "all", "--database-url", primary.url("failover")],
  ]).ended;
  expect([keyed.code, keyed.out]).toEqual([0, expect.stringContaining("key")]);
  const { key } = JSON.parse(keyed.out) as { key: string };
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const known = (user: string) => [
    ...["--database-url", `postgres://${user}@${hosts}/failover?target_session_attrs=read-write`],
  ];
  const port = await quietPort();
  const all = [["serve", "--port", String(port)], ["work"], ["work"]].map((argv) =>
    start([...argv, ...known("failover_server")]),
  );
  onTestFinished(async () => {
    for (const { child } of all) child.kill("SIGKILL");
    await Promise.all(all.map(({ ended }) => ended));
  });
  return { url: `http://127.0.0.1:${port}`, key, command: (...argv) => start([...argv, ...known("postgres")]), all };
}
