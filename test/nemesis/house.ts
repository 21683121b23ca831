// A house as its users see it: a Postgres server, one `fanfold serve` and two `fanfold up --no-http` as processes, each behind a proxy of
// its own, each started again when it dies, as a supervisor would. SQL is used to furnish it and to be a tenant with a login; everything
// that is asked of it afterwards goes through HTTP and the command line.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "../../src/engine/schema/migrate.js";
import { build, type Spawned, spawnFanfold } from "../cli/built_program.js";
import { type Cluster, type ClusterDatabase, quietPort, startCluster } from "../faults/cluster.js";
import { TcpProxy } from "../faults/proxy.js";
import { plainScript } from "../plain_code.js";

const app = plainScript(new URL("./app.ts", import.meta.url));

/** A process that is started again when it dies. */
export class Kept {
  now: Spawned;
  deaths = 0;
  last_words = "";
  private leaving = false;
  private readonly over: Promise<void>;

  constructor(
    readonly name: string,
    readonly proxy: TcpProxy,
    private readonly start: () => Spawned,
  ) {
    this.now = start();
    this.over = this.keep();
  }

  private async keep(): Promise<void> {
    for (;;) {
      await this.now.ended;
      if (this.leaving) return;
      this.deaths++;
      this.last_words = `${this.now.out()}${this.now.err()}`.slice(-2_000);
      await sleep(200);
      if (this.leaving) return;
      this.now = this.start();
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.now.child.kill(signal);
  }

  async stop(): Promise<void> {
    this.leaving = true;
    this.signal("SIGCONT");
    this.signal("SIGKILL");
    await this.over;
  }
}

export class House {
  private constructor(
    readonly dir: string,
    readonly cluster: Cluster,
    readonly database: ClusterDatabase,
    readonly url: string,
    readonly keys: { good: string; evil: string },
    readonly server: Kept,
    readonly workers: readonly Kept[],
    private readonly env: Record<string, string>,
  ) {}

  get processes(): readonly Kept[] {
    return [this.server, ...this.workers];
  }

  /** `receiver_port`: where webhooks may be sent to. `catalog`: with the catalogue, where the server can have it. */
  static async open(dir: string, receiver_port: number, { catalog = false } = {}): Promise<House> {
    await build();
    const cluster = await startCluster();
    const database = await cluster.freshDatabase();
    const { db, name } = database;
    if (catalog) await migrate(db, { catalog: "auto" });
    for (const login of ["nemesis_server", "nemesis_evil"])
      await db.script(`create role ${login} login in role fanfold_api, fanfold_worker`);
    await db.sql`select app.map_role('nemesis_server', null), app.create_tenant('good'), app.create_tenant('evil')`;
    await db.sql`select app.map_role('nemesis_evil', 'evil')`;
    const through = (proxy: { port: number }) => `postgres://nemesis_server@127.0.0.1:${proxy.port}/${name}`;
    const env = {
      NEMESIS_DIR: dir,
      FANFOLD_STORAGE_DIR: join(dir, "storage"),
      FANFOLD_DATA_DIR: dir,
      FANFOLD_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
      FANFOLD_OUTBOUND_ALLOW_PRIVATE: `127.0.0.1:${receiver_port}`,
      FANFOLD_OUTBOUND_ALLOW_HTTP: "on",
    };
    const say = async (...argv: string[]) => {
      const options = ["--json", "--app", app, "--database-url", through({ port: cluster.port }), ...argv];
      const { code, out, err } = await spawnFanfold(options, { cwd: dir, env }).ended;
      if (code !== 0) throw new Error(`fanfold ${argv.join(" ")} ended with ${code}: ${err}${out}`);
      return JSON.parse(out) as { key: string };
    };
    const keyOf = async (tenant: string) =>
      (await say("keys", "create", "nemesis", "--tenant", tenant, "--scope", "all")).key;
    const keys = { good: await keyOf("good"), evil: await keyOf("evil") };
    const port = await quietPort();
    const kept = async (word: string, ...argv: string[]) => {
      const proxy = await TcpProxy.open(cluster.port);
      const options = [...argv, "--app", app, "--database-url", through(proxy)];
      return new Kept(word, proxy, () => spawnFanfold(options, { cwd: dir, env }));
    };
    const server = await kept("server", "serve", "--port", String(port));
    const workers = [
      await kept("worker 1", "up", "--no-http", "--slots", "8"),
      await kept("worker 2", "up", "--no-http", "--slots", "8"),
    ];
    return new House(dir, cluster, database, `http://127.0.0.1:${port}`, keys, server, workers, env);
  }

  /** Until it serves; what cannot start at all says why. */
  async serves(): Promise<void> {
    for (const until = Date.now() + 60_000; ; await sleep(200)) {
      const ready = await fetch(`${this.url}/api/health/ready`).catch(() => null);
      if (ready?.status === 200) return;
      if (Date.now() > until)
        throw new Error(this.processes.map(({ name, last_words }) => `${name}: ${last_words}`).join("\n"));
    }
  }

  /** The command line, straight to the server, when the attack is over. */
  async fanfold(...argv: string[]): Promise<{ code: number | null; out: string; err: string }> {
    const url = `postgres://nemesis_server@127.0.0.1:${this.cluster.port}/${this.database.name}`;
    const options = [...argv, "--json", "--app", app, "--database-url", url, "--tenant", "good"];
    return spawnFanfold(options, { cwd: this.dir, env: this.env }).ended;
  }

  /** A tenant's own SQL login. */
  get evil_url(): string {
    return `postgres://nemesis_evil@127.0.0.1:${this.cluster.port}/${this.database.name}`;
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
    await Promise.all(this.processes.map(({ proxy }) => proxy.close()));
    await this.database.drop();
    await this.cluster.close();
  }
}
