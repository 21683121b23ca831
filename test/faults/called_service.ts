// A server process with a dozen steady callers, and what they saw of an outage: how long each call took, and when all was well again.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { createRegistry } from "../../src/core/declare/registry.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { plainScript } from "../plain_code.js";
import { type FreshDatabase, freshDatabase, realServer } from "../postgres.js";
import type { CallersTask } from "./callers_main.js";

const program = plainScript(new URL("../../src/cli/main.ts", import.meta.url));
const callers = plainScript(new URL("./callers_main.ts", import.meta.url));
/** What the product promises: an answer within, and all well again within. */
const ANSWER_MS = 10_000;
const WELL_MS = 20_000;
/** Nothing but good answers for so long is "well again". */
const QUIET_MS = 2_500;

interface CallSeen {
  at: number;
  ms: number;
  status: number;
  caller: number;
  path: string;
}

const CALLERS = 12;

export interface Outage {
  calls: number;
  refused: number;
  longest_ms: number;
  /** From the outage's beginning until the last call that was not answered well. */
  well_after_ms: number;
}

type Onto = (command: readonly string[]) => string[];
const here: Onto = (command) => [...command];

export class CalledService {
  private readonly seen: CallSeen[] = [];
  private readonly children: ChildProcess[] = [];
  private stderr = "";

  private constructor(
    readonly database: FreshDatabase,
    private readonly role: string,
    private readonly dir: string,
  ) {}

  static async open(): Promise<CalledService> {
    const database = await freshDatabase();
    const role = `ff_called_${Math.random().toString(36).slice(2, 10)}`;
    await database.db.script(`create role ${role} login; grant fanfold_api, fanfold_worker to ${role}`);
    await database.db.sql`select app.map_role(${role}::text::name, null)`;
    return new CalledService(database, role, await mkdtemp(join(tmpdir(), "fanfold-called-")));
  }

  /** `host`: of the database, as the server is to know it. Resolves when all callers are answered. */
  async start(host: string, onto: Onto = here): Promise<void> {
    const { url } = this.database;
    const engine = await openEngine({
      database_url: url,
      storage_dir: this.dir,
      registry: createRegistry(builtinRegistry()),
    });
    const { key } = await engine.keys.create({ name: "callers", scopes: ["read", "submit"], actor: "test" });
    const job_ids: string[] = [];
    for (let n = 3; n < 7; n++) job_ids.push((await engine.submit("hello_world", { n })).job_id);
    await engine.close();
    const address = new URL(url);
    address.username = this.role;
    address.host = host;
    const server = this.run(onto([process.execPath, program, "serve", "--port", "0", "--json"]), {
      DATABASE_URL: address.href,
      FANFOLD_DATA_DIR: this.dir,
      FANFOLD_LOG_LEVEL: "silent",
    });
    const said = await new Promise<string>((resolve, reject) => {
      server.stdout!.once("data", (text: Buffer) => resolve(text.toString()));
      server.once("exit", () => reject(new Error(`the server did not start:\n${this.stderr}`)));
    });
    const task: CallersTask = { url: JSON.parse(said).http.url, key, job_ids };
    const asking = this.run(onto([process.execPath, callers, JSON.stringify(task)]), {});
    createInterface({ input: asking.stdout! }).on("line", (line) => {
      const [at = 0, ms = 0, status = 0, caller = 0] = line.split(" ", 4).map(Number);
      this.seen.push({ at, ms, status, caller, path: line.slice(line.indexOf("/")) });
    });
    while (new Set(this.seen.filter(isWell).map(({ caller }) => caller)).size < CALLERS) {
      if (server.exitCode !== null) throw new Error(`the server is gone:\n${this.stderr}`);
      await sleep(20);
    }
  }

  private run([command, ...args]: string[], env: Record<string, string>): ChildProcess {
    const { DATABASE_URL: _, ...inherited } = process.env;
    const child = spawn(command!, args, { env: { ...inherited, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    child.stderr.on("data", (text: Buffer) => {
      this.stderr = (this.stderr + text.toString()).slice(-5_000);
    });
    this.children.push(child);
    return child;
  }

  /** Makes it happen, and waits until all is well, or should be. */
  async during(happen: () => unknown): Promise<Outage> {
    const began = Date.now();
    const before = this.seen.length;
    await happen();
    for (;;) {
      await sleep(100);
      const bad = this.seen.slice(before).filter((call) => !isWell(call));
      const last = Math.max(began, ...bad.map(({ at, ms }) => at + ms));
      const now = Date.now();
      const all_heard = this.unheard(now).every(({ ms }) => ms < 1_000);
      if ((all_heard && now - last >= QUIET_MS) || now - began > WELL_MS + ANSWER_MS) break;
    }
    const calls = this.seen.slice(before);
    const bad = calls.filter((call) => !isWell(call));
    return {
      calls: calls.length,
      refused: bad.length,
      longest_ms: Math.max(...[...this.unheard(Date.now()), ...calls].map(({ ms }) => ms)),
      well_after_ms: Math.max(0, ...bad.map(({ at, ms }) => at + ms - began)),
    };
  }

  /** How long each caller has been without an answer. */
  private unheard(now: number): { path: string; ms: number }[] {
    const last = new Map(this.seen.map((call) => [call.caller, call]));
    return Array.from(last.values(), ({ path, at, ms }) => ({ path, ms: now - at - ms }));
  }

  /** Every call was answered in time, by a result or by "come back", and the process was always alive. */
  expectAnswered(outage: Outage): void {
    const odd = this.seen.filter((call) => !isWell(call) && call.status !== 503);
    expect(odd, this.stderr).toEqual([]);
    expect(this.seen.filter(({ path, status }) => path.endsWith("/live") && status !== 200)).toEqual([]);
    const unheard = this.unheard(Date.now()).filter(({ ms }) => ms > ANSWER_MS);
    expect([...unheard, ...this.seen.filter(({ ms }) => ms > ANSWER_MS)]).toEqual([]);
    expect(outage.well_after_ms).toBeLessThan(WELL_MS);
  }

  async close(): Promise<void> {
    await Promise.all(
      this.children.map(
        (child) =>
          new Promise((resolve) => {
            child.once("close", resolve);
            if (child.exitCode !== null || child.signalCode !== null) resolve(null);
            child.kill("SIGKILL");
          }),
      ),
    );
    await this.database.drop();
    const admin = openServer((await realServer()).admin_url);
    await admin.script(`drop role if exists ${this.role}`).finally(() => admin.close());
    await rm(this.dir, { recursive: true, force: true });
  }
}

function isWell({ status }: CallSeen): boolean {
  return status === 200 || status === 201;
}
