// Everything one run of a fault has: a fresh database on the file's server, a submitter's engine, worker processes,
// proxies, and the effect log. Gone when the run ends.
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { Input, Job } from "../../src/core/declare/declare.js";
import { isTerminal } from "../../src/core/shown/statuses.js";
import type { Database } from "../../src/engine/database/database.js";
import type { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import type { JobRecord, SubmitReply } from "../../src/engine/verbs/records.js";
import { eventually } from "../worker/shop.js";
import { faultRegistry, nobody } from "./cast.js";
import { ClientProcess } from "./client_process.js";
import type { Cluster, ClusterDatabase } from "./cluster.js";
import { readEffects } from "./effects.js";
import { type ChainParameters, chain_job, expectedTotal } from "./job.js";
import { TcpProxy } from "./proxy.js";
import type { HistorySource } from "./read_history.js";
import { type Death, Fleet, type ProcessOptions, WorkerProcess } from "./worker_process.js";

export interface Via {
  /** Connect through this proxy and not to the server itself. */
  via?: TcpProxy;
}

export interface FleetOptions extends ProcessOptions, Via {
  size?: number;
  /** What only the first process of a place is given. */
  first?: (place: number) => ProcessOptions;
}

/** Throws when the job did not end as it should have. */
export type Ending = (job: JobRecord) => void;

export class Scene {
  /** Shown with the counts. */
  readonly notes: string[] = [];
  readonly effects_dir: string;
  readonly storage_dir: string;
  private readonly submitted = new Map<string, Ending>();
  private readonly acknowledged: string[] = [];
  private readonly fleets: Fleet[] = [];
  private readonly workers: WorkerProcess[] = [];
  /** Every process there ever was, for the story of a failure. */
  private readonly processes: WorkerProcess[] = [];
  private readonly engines: Engine[] = [];
  private readonly proxies: TcpProxy[] = [];
  private readonly clients: ClientProcess[] = [];
  private readonly pruned: number[] = [];
  private gates = 0;

  private constructor(
    readonly cluster: Cluster,
    readonly database: ClusterDatabase,
    readonly engine: Engine,
    private readonly dir: string,
    readonly random: () => number,
  ) {
    this.effects_dir = join(dir, "effects");
    this.storage_dir = join(dir, "storage");
    mkdirSync(this.effects_dir);
    this.engines.push(engine);
  }

  static async open(cluster: Cluster, seed: string): Promise<Scene> {
    const database = await cluster.freshDatabase();
    const dir = await mkdtemp(join(tmpdir(), "fanfold-fault-"));
    const engine = await openSubmitter(database.url, join(dir, "storage"));
    return new Scene(cluster, database, engine, dir, seededRandom(seed));
  }

  get db(): Database {
    return this.database.db;
  }

  get source(): HistorySource {
    const { db, effects_dir, acknowledged, pruned } = this;
    return { db, store: this.engine.store, effects_dir, acknowledged, pruned };
  }

  /** Only what was answered counts as acknowledged. */
  async submit(parameters: ChainParameters = {}, engine = this.engine): Promise<SubmitReply> {
    return this.submitJob(chain_job, parameters, completedWith(expectedTotal(parameters.n)), engine);
  }

  /** A job of another type, or one that is meant to end otherwise. */
  async submitJob<J extends Job>(
    job: J,
    parameters: J extends Job<infer Schema> ? Input<Schema> : never,
    ends: Ending,
    engine = this.engine,
  ): Promise<SubmitReply> {
    const reply = await engine.submit(job as Job, parameters);
    this.acknowledged.push(reply.job_id);
    this.submitted.set(reply.job_id, ends);
    return reply;
  }

  /** To be told before an ended job is opened again, and how it should end then. */
  repairing(job_id: string, ends: Ending): void {
    this.submitted.set(job_id, ends);
  }

  /** A further submitter. */
  async connect({ via, tenant }: Via & { tenant?: string } = {}): Promise<Engine> {
    const engine = await openSubmitter(this.urlFor(via), this.storage_dir, tenant);
    this.engines.push(engine);
    return engine;
  }

  /** A further submitter, or an operator, in a process of its own. */
  async client(connections = 2): Promise<ClientProcess> {
    const { storage_dir } = this;
    const client = new ClientProcess({ database_url: this.database.url, storage_dir, connections });
    this.clients.push(client);
    await client.ready;
    return client;
  }

  /** Jobs of another shape than submit()'s: resolves with how they ended. */
  async ended(job_ids: readonly string[], engine = this.engine): Promise<JobRecord[]> {
    const records: JobRecord[] = [];
    for (const job_id of job_ids) {
      await eventually(async () => {
        const record = await this.patiently(() => engine.status(job_id));
        if (!isTerminal(record.status)) return false;
        records.push(record);
        return true;
      });
    }
    return records;
  }

  /** All rows of a job go, children first, as retention would do it. Nobody expects anything of it from here on. */
  async prune(job_id: string, { keep = [] as readonly string[] } = {}): Promise<number[]> {
    const stages = await this.db.sql<{ stage_id: number }>`select stage_id from app.stages where job_id = ${job_id}`;
    const ids = stages.map(({ stage_id }) => stage_id);
    const of_stages = ["results", "claims", "ready", "tasks", "stage_progress", "stages"];
    const text = of_stages
      .filter((table) => !keep.includes(table))
      .map((table) => `delete from app.${table} where stage_id in (${ids.join()});`);
    await this.db.script(`begin; ${text.join(" ")} delete from app.jobs where job_id = '${job_id}'; commit;`);
    this.pruned.push(...ids);
    this.submitted.delete(job_id);
    this.acknowledged.splice(0, this.acknowledged.length, ...this.acknowledged.filter((id) => id !== job_id));
    return ids;
  }

  async proxy(): Promise<TcpProxy> {
    const proxy = await TcpProxy.open(Number(new URL(this.database.url).port));
    this.proxies.push(proxy);
    return proxy;
  }

  /** Resolves when its members are registered, or dead already. */
  async fleet({ size = 3, first, via, ...shared }: FleetOptions = {}): Promise<Fleet> {
    const place = this.fleets.length;
    const start = (name: string, options: ProcessOptions | null) =>
      this.spawn(`f${place}-${name}`, { ...shared, ...options }, via);
    const fleet = new Fleet(size, start, first);
    this.fleets.push(fleet);
    await fleet.ready();
    return fleet;
  }

  /** One process, not replaced when it dies. */
  async worker({ via, ...options }: ProcessOptions & Via = {}): Promise<WorkerProcess> {
    const worker = this.spawn(`worker${this.workers.length}`, options, via);
    this.workers.push(worker);
    await worker.said("ready");
    return worker;
  }

  private spawn(name: string, options: ProcessOptions, via: TcpProxy | undefined): WorkerProcess {
    const { storage_dir, effects_dir } = this;
    const worker = new WorkerProcess({ name, database_url: this.urlFor(via), storage_dir, effects_dir, ...options });
    this.processes.push(worker);
    return worker;
  }

  private urlFor(via: TcpProxy | undefined): string {
    const url = new URL(this.database.url);
    if (via !== undefined) url.port = String(via.port);
    return url.href;
  }

  /** A file that tasks wait for (`hold.until`), and how to make it. */
  gate(): { until: string; open(): void } {
    const until = join(this.dir, `gate${++this.gates}`);
    return { until, open: () => writeFileSync(until, "") };
  }

  effects = () => readEffects(this.effects_dir).effects;

  /** Resolves when this many tasks have results. */
  async progress(count: number): Promise<void> {
    await eventually(async () => {
      const [row] = await this.patiently(() => this.db.sql<{ n: number }>`select count(*) as n from app.results`);
      return row!.n >= count;
    });
  }

  /** Asks again while the server is down or takes nobody; any other error is the test's. */
  async patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!/^(08...|57P0.|53300)$/.test(String((error as { code?: unknown }).code))) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  /** Whether every submitted job has ended. */
  async settled(): Promise<boolean> {
    for (const job_id of this.submitted.keys()) {
      const { status } = await this.patiently(() => this.engine.status(job_id));
      if (!isTerminal(status)) return false;
    }
    return true;
  }

  /** Resolves when every submitted job has ended as it should: completed, with the right total, unless said otherwise. */
  async settle(): Promise<void> {
    await eventually(() => this.settled());
    for (const [job_id, ends] of this.submitted) ends(await this.patiently(() => this.engine.status(job_id)));
  }

  /** Workers leave as they do in a deploy; what they held would be in the history. */
  async leave(): Promise<void> {
    await Promise.all([...this.fleets.map((fleet) => fleet.stop()), ...this.workers.map((worker) => worker.stop())]);
    this.unasked_deaths.push(...this.fleets.flatMap(({ deaths }) => deaths.filter((death) => !this.forgiven(death))));
    for (const worker of this.workers) {
      const death = await worker.exited;
      if (!this.forgiven(death)) this.unasked_deaths.push(death);
    }
  }

  readonly unasked_deaths: Death[] = [];

  /** Deaths that nobody asked for and that a fault accounts for all the same. */
  accounts_for: (death: Death) => boolean = () => false;

  private forgiven(death: Death): boolean {
    return death.asked || this.accounts_for(death);
  }

  /** The last words of every process, for a run that failed. */
  story(): string {
    const brief = ({ logs, name, stderr, lines }: WorkerProcess) => {
      const said = logs.slice(-12).map(({ level, time, msg, err }) => `${time} ${level} ${msg} ${errorText(err)}`);
      return [`-- ${name}: ${lines.at(-1)}`, ...said, ...stderr.slice(-20)].join("\n");
    };
    return this.processes.map(brief).join("\n");
  }

  async close(): Promise<void> {
    await Promise.all([
      ...this.fleets.map((fleet) => fleet.killAll()),
      ...this.workers.map((worker) => worker.kill()),
      ...this.proxies.map((proxy) => proxy.close()),
      ...this.clients.map((client) => client.kill()),
    ]);
    await Promise.all(this.engines.map((engine) => engine.close()));
    await this.database.drop();
    await rm(this.dir, { recursive: true, force: true });
  }
}

export function completedWith(total: number): Ending {
  return ({ status, result, error }) =>
    expect({ status, error, total: (result as { value?: number } | null)?.value }).toEqual({
      status: "completed",
      error: null,
      total,
    });
}

export function endedAs(expected: string): Ending {
  return ({ status, error }) => expect({ status, error }).toMatchObject({ status: expected });
}

function errorText(error: unknown): string {
  const given = error as { code?: string; message?: string } | undefined;
  return given === undefined ? "" : `${given.code ?? ""} ${given.message}`;
}

/** A submitter runs nothing: it needs the declarations only. */
function openSubmitter(database_url: string, storage_dir: string, tenant?: string): Promise<Engine> {
  return openEngine({ database_url, storage_dir, tenant, registry: faultRegistry(nobody) });
}

/** Mulberry32, seeded by the text. */
export function seededRandom(seed: string): () => number {
  let state = 0;
  for (const character of seed) state = (Math.imul(state, 31) + character.charCodeAt(0)) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
