// What the fault suite of remote workers lives in: a Postgres server and a Fanfold server of its own, both of which can be killed, a way between worker
// and server that can be cut, and workers as processes, of any language: FANFOLD_TEST_REMOTE_WORKERS has the commands of others, as JSON.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createRegistry } from "../../src/core/declare/registry.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { type Cluster, type ClusterDatabase, quietPort, startCluster } from "../faults/cluster.js";
import { plainScript } from "../plain_code.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = plainScript(new URL("../../src/cli/main.ts", import.meta.url));
const own_worker = [process.execPath, plainScript(new URL("./worker_main.ts", import.meta.url))];

/** How a worker is started. FANFOLD_TEST_REMOTE_WORKERS: {"python": {"command": […], "cwd": "…", "env": {…}}}. */
export interface WorkerCommand {
  command: string[];
  cwd?: string;
  env?: Record<string, string>;
  /** It has handlers in processes of their own: fault.child. */
  has_children?: boolean;
  /** Its heartbeats do not wait for handlers. */
  beats_apart?: boolean;
}

/** The Python package's worker, where there is a Python to run it with. */
function pythonWorker(): Record<string, WorkerCommand> {
  const made = spawnSync(process.execPath, [join(root, "scripts", "python.mjs"), "venv"], { encoding: "utf8" });
  if (made.status !== 0) {
    process.stderr.write(made.stderr);
    return {};
  }
  const python = made.stdout.trim().split("\n").at(-1)!;
  const command = [python, "-m", "fanfold.worker", "fault_app:app", "--grace-s", "5"];
  const env = { PYTHONPATH: join(root, "python", "tests"), PYTHONDONTWRITEBYTECODE: "1" };
  return { python: { command, env, has_children: true, beats_apart: true } };
}

export const worker_commands: Record<string, WorkerCommand> = {
  typescript: { command: own_worker, has_children: true },
  ...pythonWorker(),
  ...(JSON.parse(process.env.FANFOLD_TEST_REMOTE_WORKERS ?? "{}") as Record<string, WorkerCommand>),
};

/** What processes have of this one: none of its settings, which both languages would refuse if they do not know them. */
function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(FANFOLD_|DATABASE_URL$)/.test(name)));
}

/** Leases that shall end: the shortest there is. */
export const LEASE_S = 5;
/** Leases that shall end, but not before their worker has sent a large file over a busy machine: three that do fail the task. */
export const SENDING_LEASE_S = 20;
/** Where a lease must not end, however busy the machine is. */
export const LONG_LEASE_S = 60;

/** Nothing here takes long on a machine that has time; one that has none gets it. */
const patience_s = 180;

export async function until<T>(
  what: string,
  look: () => Promise<T | null | false> | T | null | false,
  s = patience_s,
): Promise<T> {
  const over = performance.now() + s * 1000;
  for (;;) {
    const found = await Promise.resolve()
      .then(look)
      .catch((error: unknown) => {
        if (performance.now() > over) throw error;
        return null;
      });
    if (found !== null && found !== false) return found;
    if (performance.now() > over) throw new Error(`not within ${s} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Between one worker and the server. */
export class Way {
  private readonly sockets = new Set<Socket>();
  private is_cut = false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async to(port: () => number): Promise<Way> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const way = new Way(server, `http://127.0.0.1:${(server.address() as { port: number }).port}`);
    server.on("connection", (client) => way.take(client, port()));
    return way;
  }

  private take(client: Socket, port: number): void {
    this.sockets.add(client);
    client.on("error", () => {}).on("close", () => this.sockets.delete(client));
    // Nothing passes, and nobody is told.
    if (this.is_cut) return;
    const server = connect({ port, host: "127.0.0.1", noDelay: true });
    this.sockets.add(server);
    server.on("error", () => client.destroy()).on("close", () => this.sockets.delete(server));
    client.pipe(server).pipe(client);
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroy());
  }

  cut(): void {
    this.is_cut = true;
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  heal(): void {
    this.is_cut = false;
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export interface Note {
  what: string;
  n: number;
  attempt: number;
  pid: number;
  key: string | undefined;
}

export class RemoteProcess {
  readonly exited: Promise<number | null>;
  readonly said: string[] = [];
  private readonly child: ChildProcess;

  constructor({ command, cwd, env = {} }: WorkerCommand, given: Record<string, string>) {
    const [program = "", ...args] = command;
    this.child = spawn(program, args, {
      cwd,
      env: { ...inherited(), ...env, ...given },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.child.stdout, this.child.stderr])
      createInterface({ input: stream! }).on("line", (line) => this.said.push(line));
    const killWithUs = () => this.child.kill("SIGKILL");
    process.once("exit", killWithUs);
    this.exited = new Promise((resolve) => {
      this.child.once("close", (code) => {
        process.removeListener("exit", killWithUs);
        resolve(code);
      });
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.exited;
  }

  /** Drains, and says how it left. */
  async stop(): Promise<number | null> {
    this.child.kill("SIGCONT");
    this.child.kill("SIGTERM");
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 30_000);
    return this.exited.finally(() => clearTimeout(timer));
  }
}

export class RemoteHouse {
  private server: ChildProcess | null = null;
  private port = 0;
  readonly ways: Way[] = [];
  readonly workers: RemoteProcess[] = [];

  private constructor(
    readonly cluster: Cluster,
    readonly database: ClusterDatabase,
    private readonly role: string,
    readonly dir: string,
  ) {}

  static async open(): Promise<RemoteHouse> {
    const cluster = await startCluster();
    const database = await cluster.freshDatabase();
    const role = `ff_remote_${Math.random().toString(36).slice(2, 10)}`;
    await database.db.script(`create role ${role} login; grant fanfold_api, fanfold_worker to ${role}`);
    await database.db.sql`select app.map_role(${role}::text::name, null)`;
    const house = new RemoteHouse(cluster, database, role, await mkdtemp(join(tmpdir(), "fanfold-remote-")));
    house.port = await quietPort();
    await house.startServer();
    return house;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async startServer(): Promise<void> {
    const address = new URL(this.database.url);
    address.username = this.role;
    const env = { ...inherited(), DATABASE_URL: address.href, FANFOLD_DATA_DIR: this.dir, FANFOLD_LOG_LEVEL: "silent" };
    const args = [program, "serve", "--port", String(this.port), "--json"];
    const server = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.server = server;
    let said = "";
    for (const stream of [server.stdout, server.stderr])
      stream.on("data", (text: Buffer) => {
        said = (said + text.toString()).slice(-5_000);
      });
    const gone = new Promise<never>((_, reject) => {
      server.once("exit", (code) => reject(new Error(`the server has ended with ${code}:\n${said}`)));
    });
    gone.catch(() => {});
    await Promise.race([gone, until("the server answers", () => this.isReady())]);
  }

  private async isReady(): Promise<boolean> {
    return (await fetch(`${this.url}/api/health/ready`)).ok;
  }

  async killServer(): Promise<void> {
    const { server } = this;
    if (server === null) return;
    this.server = null;
    // It may have ended by itself, when it could not begin.
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((resolve) => server.once("close", resolve));
    server.kill("SIGKILL");
    await gone;
  }

  /** Everything of one scenario: a tenant, its key, a worker of its own by a way of its own. */
  async scene(name: string): Promise<RemoteScene> {
    const tenant = `t_${name.replaceAll(/[^a-z]/g, "_").slice(0, 20)}_${Math.random().toString(36).slice(2, 8)}`;
    const { db } = this.database;
    await db.sql`select app.create_tenant(${tenant})`;
    const engine = await openEngine({
      database_url: this.database.url,
      tenant,
      storage_dir: join(this.dir, "storage"),
      registry: createRegistry({}),
      connections: 1,
    });
    const { key } = await engine.keys.create({
      name: "worker",
      scopes: ["read", "submit", "operate", "work", "admin"],
      actor: "test",
    });
    await engine.close();
    const way = await Way.to(() => this.port);
    this.ways.push(way);
    return new RemoteScene(this, tenant, key, way, join(this.dir, `${tenant}.effects`));
  }

  async close(): Promise<void> {
    for (const worker of this.workers) await worker.kill();
    await this.killServer();
    for (const way of this.ways) await way.close();
    await this.database.drop();
    await this.cluster.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export class RemoteScene {
  constructor(
    readonly house: RemoteHouse,
    readonly tenant: string,
    readonly key: string,
    readonly way: Way,
    readonly effects: string,
  ) {}

  worker(kind: string, lease_s = LEASE_S): RemoteProcess {
    const worker = new RemoteProcess(worker_commands[kind]!, {
      FANFOLD_URL: this.way.url,
      FANFOLD_KEY: this.key,
      FANFOLD_SLOTS: "4",
      FANFOLD_LEASE_S: String(lease_s),
      FANFOLD_EFFECTS: this.effects,
    });
    this.house.workers.push(worker);
    return worker;
  }

  /** One call as the tenant, straight to the server, until it is answered. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  async call(method: string, path: string, body?: unknown): Promise<any> {
    return until(`${method} ${path}`, async () => {
      const answer = await fetch(this.house.url + path, {
        method,
        headers: { authorization: `Bearer ${this.key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (answer.status >= 500 || answer.status === 429) return null;
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return JSON.parse(text) as never;
    });
  }

  /** A job of `items` under one task type, and a fold over it. */
  async submit(task: string, items: Record<string, unknown>[], more: Record<string, unknown> = {}): Promise<string> {
    const stages = [
      { name: "each", task, tasks: { each: "$.items[*]", parameters: "{item}" }, max_attempts: 10, ...more },
      { name: "sum", task: "fault.sum", parallelism: "fan_in" },
    ];
    const type = `fault_${Math.random().toString(36).slice(2, 8)}`;
    await this.call("PUT", `/api/blueprints/${type}`, { stages });
    const { job_id } = await this.call("POST", `/api/jobs/submit/${type}`, { parameters: { items } });
    return job_id as string;
  }

  async ended(job_id: string, s = patience_s): Promise<{ status: string; result: unknown }> {
    return until(
      `job ${job_id} ends`,
      async () => {
        const job = await this.call("GET", `/api/jobs/${job_id}`);
        return ["completed", "partial_success", "failed", "cancelled"].includes(job.status) ? job : null;
      },
      s,
    );
  }

  notes(): Note[] {
    try {
      return readFileSync(this.effects, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => {
          const [what = "", n, attempt, pid, key] = line.split(" ");
          return { what, n: Number(n), attempt: Number(attempt), pid: Number(pid), key };
        });
    } catch {
      return [];
    }
  }

  /** Waits until so many tasks have said this. */
  noted(what: string, count: number): Promise<Note[]> {
    return until(`${count} × ${what}`, () => {
      const found = this.notes().filter((note) => note.what === what);
      return found.length >= count ? found : null;
    });
  }
}
