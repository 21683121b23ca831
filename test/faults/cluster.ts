// A Postgres server of one fault file's own, to be stopped, crashed and robbed of backends. Durable as a server is by
// default: what these tests prove about commits would mean nothing with fsync off. Its log is read at the end: a deadlock
// fails the file, because retries would hide it from the test itself.
import { type ChildProcess, execFileSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { migrate } from "../../src/engine/schema/migrate.js";
import { is_pooled } from "../behind_pooler.js";
import { madeOnce } from "../made_once.js";
import { type Pooler, startPooler } from "../pgbouncer.js";
import { type Installation, installServer, launchServer, serverAnswers, serverStopped } from "../postgres_server.js";

const settings = {
  fsync: "on",
  full_page_writes: "on",
  shared_buffers: "32MB",
  max_wal_size: "128MB",
  max_connections: "80",
};

/** immediate: as if the machine lost its power (no checkpoint, recovery at the next start). fast: an operator's stop. */
export type StopMode = "immediate" | "fast";

export interface ClusterDatabase {
  name: string;
  url: string;
  /** Superuser, and straight to the server, whatever a proxy does to others. */
  db: Database;
  drop(): Promise<void>;
}

const npm_binaries = process.env.FANFOLD_TEST_PG === "npm";

/** The data of a server with a migrated database to clone, made once per run: each cluster starts with a copy. */
async function preparedData(): Promise<string> {
  const made = await madeOnce("fault_server", async (folder) => {
    const installed = installServer({ npm_binaries });
    try {
      const first = new Cluster(installed, await quietPort());
      await first.start();
      await first.makeTemplate();
      await first.stop("fast");
      execFileSync("cp", ["-a", installed.data_dir, folder]);
    } finally {
      rmSync(installed.folder, { recursive: true, force: true });
    }
  });
  return join(made, "data");
}

export async function startCluster(env?: Record<string, string>): Promise<Cluster> {
  const installed = installServer({ npm_binaries, data: await preparedData() });
  try {
    const cluster = new Cluster(installed, await quietPort(), env);
    await cluster.start();
    if (is_pooled) await cluster.putPoolerBefore();
    return cluster;
  } catch (error) {
    rmSync(installed.folder, { recursive: true, force: true });
    throw error;
  }
}

export class Cluster {
  private server: ChildProcess | null = null;
  /** In `npm run test:pooler`: processes reach the server through it. */
  private pooler: Pooler | null = null;

  constructor(
    private readonly installed: Installation,
    readonly port: number,
    private readonly env?: Record<string, string>,
  ) {}

  url(database = "postgres"): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  async start(): Promise<void> {
    if (this.server !== null) throw new Error("the server runs already");
    this.server = launchServer(this.installed, { port: this.port, settings, env: this.env });
    await serverAnswers(this.url(), this.server, this.installed.log_path);
  }

  async stop(mode: StopMode): Promise<void> {
    const { server } = this;
    if (server === null) throw new Error("the server is down already");
    this.server = null;
    await serverStopped(server, mode === "immediate" ? "SIGQUIT" : "SIGINT");
  }

  /** Stops it, leaves it down for a while, and starts it again. */
  async restart(mode: StopMode, down_ms = 0): Promise<void> {
    await this.stop(mode);
    await new Promise((resolve) => setTimeout(resolve, down_ms));
    await this.start();
  }

  /** The server's first process, parent of all others. */
  get pid(): number {
    return Number.parseInt(readFileSync(join(this.installed.data_dir, "postmaster.pid"), "utf8"), 10);
  }

  /** kill -9 of a backend: the postmaster takes all others down with it and recovers. */
  killBackend(pid: number): void {
    process.kill(pid, "SIGKILL");
  }

  /** Ends every session of a database but the asking one; says how many there were. */
  async terminateAll({ db, name }: ClusterDatabase): Promise<number> {
    const ended = await db.sql`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and pid <> pg_backend_pid()`;
    return ended.length;
  }

  log(): string {
    return readFileSync(this.installed.log_path, "utf8");
  }

  /** How often the server has come up: every crash or restart is one more. */
  startCount(): number {
    return this.log().split("database system is ready to accept connections").length - 1;
  }

  async makeTemplate(): Promise<void> {
    await this.onAdmin((admin) => admin.script("create database fanfold_template"));
    const db = openServer(this.url("fanfold_template"));
    await migrate(db).finally(() => db.close());
  }

  async putPoolerBefore(): Promise<void> {
    this.pooler = await startPooler(this.url());
  }

  async freshDatabase(): Promise<ClusterDatabase> {
    const name = `fault_${randomBytes(6).toString("hex")}`;
    await this.onAdmin((admin) => admin.script(`create database ${name} template fanfold_template`));
    const url = this.url(name);
    const db = openServer(url, { max: 2, application_name: "fault test" });
    const drop = async () => {
      await db.close();
      await this.onAdmin((admin) => admin.script(`drop database if exists ${name} with (force)`));
    };
    return { name, url: this.pooler?.through(url) ?? url, db, drop };
  }

  /** Stops the server, removes it, and throws if two transactions ever waited for each other in a circle. */
  async close(): Promise<void> {
    await this.pooler?.stop();
    if (this.server !== null) await this.stop("immediate");
    const deadlocks = deadlocksIn(this.log());
    rmSync(this.installed.folder, { recursive: true, force: true });
    if (deadlocks.length > 0) throw new Error(`the fault server's log has deadlocks:\n${deadlocks.join("\n")}`);
  }

  private async onAdmin<T>(work: (admin: Database) => Promise<T>): Promise<T> {
    const admin = openServer(this.url(), { application_name: "fault test admin" });
    try {
      return await work(admin);
    } finally {
      await admin.close();
    }
  }
}

export function deadlocksIn(log: string): string[] {
  return log.split("\n").filter((line) => / 40P01 |deadlock detected/.test(line));
}

/**
 * Below the range that outgoing connections get their port from: while the server is down, a client that reconnects could
 * otherwise be given the server's port, and talk to itself.
 */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
